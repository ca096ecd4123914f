"""`file`: which events touched a file, however it was named."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pi_event_search import EventIndex, Invocation

from tests.quality.history import EVERYTHING, START, Story, call, entries, indexed

HOME = str(Path.home())
CWD = "/home/ada/work/boat"


def touched(recorded: str, asked: str, place: Path, cwd: str = CWD, here: str = CWD) -> bool:
    """Whether asking for a file finds the event of a session in `cwd` that named it so."""
    story = Story("s", cwd=cwd)
    wanted = story.assistant(call("c1", "edit", path=recorded, oldText="a", newText="b"))
    story.assistant(call("c2", "read", path="somewhere/else.txt"))
    story.assistant(f"talks about {recorded} only")
    with indexed(place, story) as index:
        who = Invocation(cwd=here, workspace_root="/")
        found = entries(index.search(invocation=who, file=asked))
    assert found in ([], [wanted])
    return bool(found)


ROWS = [
    # recorded, asked for, found
    ("src/hull.py", "src/hull.py", True),
    ("src/hull.py", "./src/hull.py", True),
    ("./src/hull.py", "src/hull.py", True),
    ("src/hull.py", "hull.py", True),
    ("src/hull.py", "boat/src/hull.py", True),
    ("src/hull.py", f"{CWD}/src/hull.py", True),
    ("src/hull.py", f"{CWD}/src/../src//hull.py", True),
    ("src/hull.py", "/home/ada/work/other/src/hull.py", False),
    ("src/hull.py", "ull.py", False),
    ("src/hull.py", "src", False),
    ("src/hull.py", "hull", False),
    (f"{CWD}/src/hull.py", "src/hull.py", True),
    (f"{CWD}/src/hull.py", f"{CWD}/src/hull.py", True),
    ("src/../src/hull.py", "src/hull.py", True),
    ("../shore/pier.md", "/home/ada/work/shore/pier.md", True),
    ("../shore/pier.md", "../shore/pier.md", True),
    ("../shore/pier.md", "shore/pier.md", True),
    ("/home/ada/work/shore/pier.md", "../shore/pier.md", True),
    ("../shore/pier.md", "../../pier.md", False),
    ("~/notes.md", "~/notes.md", True),
    ("~/notes.md", f"{HOME}/notes.md", True),
    ("@src/hull.py", "src/hull.py", True),
    ("Cafe\u0301.md", "Café.md", True),
    ("Screenshot 9\u202fAM.png", "Screenshot 9 AM.png", True),
    ("it\u2019s.md", "it's.md", True),
    ("100%_done_?.md", "100%_done_?.md", True),
    ("100x_done_y.md", "100%_done_?.md", False),
    ("…", "…", True),
]  # fmt: skip


@pytest.mark.parametrize(("recorded", "asked", "found"), ROWS)
def test_forms(recorded: str, asked: str, found: bool, tmp_path: Path) -> None:
    assert touched(recorded, asked, tmp_path) == found


def test_relative_to_where_the_caller_works(tmp_path: Path) -> None:
    """`../x` in another directory than that of the session."""
    here = "/home/ada/work/shore/old"
    assert touched("/home/ada/work/shore/pier.md", "../pier.md", tmp_path, here=here)


def test_a_session_without_a_directory(tmp_path: Path) -> None:
    """Only the end of the path is known then."""
    assert touched("src/hull.py", "src/hull.py", tmp_path / "a", cwd="")
    assert touched("src/hull.py", "/anywhere/src/hull.py", tmp_path / "b", cwd="")
    assert not touched("src/hull.py", "/anywhere/hull.py", tmp_path / "c", cwd="")


def boat(place: Path) -> tuple[Story, dict[str, str]]:
    """A file is read, changed on a branch that was left, changed again, and summarized."""
    story = Story("boat", cwd=CWD)
    ids = {
        "read": story.assistant("Reading.", call("c1", "read", path="src/hull.py")),
        "result": story.result("c1", "read", "hull = 1"),
    }
    ids["tried"] = story.assistant(call("c2", "edit", path="src/hull.py", newText="hull = 2"))
    story.leaf = ids["result"]
    ids["kept"] = story.assistant(call("c3", "write", path=f"{CWD}/src/hull.py", content="hull=3"))
    ids["summary"] = story.add(
        "compaction",
        summary="The boat floats.",
        firstKeptEntryId=ids["kept"],
        details={"readFiles": [], "modifiedFiles": ["src/hull.py"]},
    )
    return story, ids


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["summary", "kept", "tried", "read"]),
        ({"branch_states": ["selected"]}, ["summary", "kept", "read"]),
        ({"branch_states": ["alternate"]}, ["tried"]),
        ({"tool_names": ["edit", "write"]}, ["kept", "tried"]),
        ({"sort": "oldest"}, ["read", "tried", "kept", "summary"]),
        ({"query": "hull 3"}, ["kept"]),
        ({"query": "nowhere"}, []),
    ],
)
def test_with_other_filters(filters: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    story, ids = boat(tmp_path)
    with indexed(tmp_path, story) as index:
        page = index.search(**filters, invocation=EVERYTHING, file="hull.py")  # type: ignore[arg-type]
        assert entries(page) == [ids[name] for name in expected]


def test_the_evidence_is_where_the_file_is_named(tmp_path: Path) -> None:
    story, ids = boat(tmp_path)
    with indexed(tmp_path, story) as index:
        hits = {
            hit.entry_id: hit for hit in index.search(invocation=EVERYTHING, file="hull.py").hits
        }
    read = hits[ids["read"]]
    assert (read.matching_fragment_id, read.matching_fragment_count) == ("tool.call:0", 2)
    (mark,) = read.highlights
    assert read.snippet[mark.start : mark.end] == "hull.py"
    assert hits[ids["summary"]].matching_fragment_id == "summary.compaction:0"


def test_a_copy_in_another_directory_names_another_file(tmp_path: Path) -> None:
    """A fork keeps what a relative path says, but works elsewhere."""
    parent = Story("parent", cwd="/w/one")
    entry_id = parent.assistant(call("c1", "edit", path="a.txt", newText="b"))
    later = START + timedelta(days=1)
    fork = Story("fork", cwd="/w/two", start=later, parent=tmp_path / "sessions" / "parent.jsonl")
    fork.records = list(parent.records)

    def found(index: EventIndex, asked: str) -> list[tuple[str, str, tuple[str, ...]]]:
        page = index.search(invocation=EVERYTHING, file=asked)
        return [(hit.session_id, hit.entry_id, hit.also_in) for hit in page.hits]

    with indexed(tmp_path, parent, fork) as index:
        assert found(index, "/w/one/a.txt") == [("parent", entry_id, ())]
        assert found(index, "/w/two/a.txt") == [("fork", entry_id, ())]
        assert found(index, "a.txt") == [("parent", entry_id, ("fork",))]
