"""File evidence: which events say that they read or changed a file."""

from __future__ import annotations

import posixpath

from pi_event_search.store.schema import epoch_of
from pi_event_search.view import View


def events_touching(view: View, path: str) -> list[int]:
    """Numbers of the visible events whose recognised tool calls or summaries touched a file.

    Recorded paths that are relative count from the working directory of their session. An absolute
    ``path`` names one file, a relative one every file whose path ends in it, name by name; one that
    begins with ``..`` counts from where the caller works.
    """
    wanted = posixpath.normpath(path.strip() or ".")
    if wanted == ".." or wanted.startswith("../"):
        wanted = view.scope.absolute(wanted) or ""
    name = posixpath.basename(wanted)
    if name in ("", "."):
        return []
    return sorted(
        {
            event
            for event, reference in view.file_references(name)
            if _is(reference, view.scope.sessions[epoch_of(event)].cwd or "", wanted)
        }
    )


def _is(reference: str, cwd: str, wanted: str) -> bool:
    """Whether a recorded path is the wanted one, or ends in it."""
    recorded = posixpath.normpath(posixpath.join(cwd, reference))
    if wanted.startswith("/"):
        return recorded == wanted
    return recorded == wanted or recorded.endswith(f"/{wanted}")
