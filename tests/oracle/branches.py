"""Session files -> what a branch read of an event shows: neighbours, and a receipt at each fork."""

from tests.oracle.relations import File, Ref, forks_of, parent_of

Receipt = tuple[str, Ref, tuple[Ref, ...], Ref | None]
"""Kind, where, all ways on, the way taken."""


def read(
    file: File, key: str, files: list[File], before: int, after: int
) -> tuple[list[str], list[str], list[Receipt]]:
    """Neighbours on the branch, and the receipts in the order of reading."""
    nodes, up, down = file.tree.nodes, [key], [key]
    while key in nodes and len(up) <= before:
        parent = nodes[up[-1]].parent
        if parent not in nodes or parent in up:
            break
        up.append(parent)
    met: list[Receipt] = []
    for at, chosen in zip(up[1:], up, strict=False):
        met[:0] = _receipts(file, at, chosen, files)
    while key in nodes and len(down) <= after:
        at = down[-1]
        on = _next(file, at)
        met += _receipts(file, at, on, files)
        if on is None or on in down:
            break
        down.append(on)
    return up[:0:-1], down[1:], met


def _next(file: File, at: str) -> str | None:
    path, children = file.tree.path, file.tree.children.get(at, [])
    if at in path:
        return next(iter(path[path.index(at) + 1 :]), None)
    return children[0] if len(children) == 1 else None


def _receipts(file: File, at: str, chosen: str | None, files: list[File]) -> list[Receipt]:
    children = tuple(file.ref(child) for child in file.tree.children.get(at, []))
    followed = None if chosen is None else file.ref(chosen)
    found: list[Receipt] = []
    if len(children) > 1:
        found.append(("in-session", file.ref(at), children, followed))
    here: File | None = file
    seen: list[File] = []
    while here is not None and at in here.tree.nodes and here not in seen:
        seen.append(here)
        children = tuple(here.ref(child) for child in here.tree.children.get(at, []))
        grown = [f.ref(k) for f in forks_of(here, files) for a, k in f.grown(here) if a == at]
        if grown:
            all_ways = (*children, *grown)
            found.append(
                ("session-fork", here.ref(at), all_ways, followed if followed in all_ways else None)
            )
        parent = parent_of(here, files)
        if parent is None or at not in here.copies(parent):
            break
        if followed is not None and followed[0] == here.id and followed[1] in here.copies(parent):
            followed = _under(parent, at, followed[1]) or followed
        here = parent
    return found


def _under(parent: File, at: str, key: str) -> Ref | None:
    """The child of `at` from which the copy is reached, through labels only."""
    nodes, way = parent.tree.nodes, [key]
    while nodes[way[-1]].parent != at:
        above = nodes[way[-1]].parent
        if above not in nodes or nodes[above].type != "label" or above in way:
            return None
        way.append(above)
    return parent.ref(way[-1])
