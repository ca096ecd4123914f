"""One directory with good session files and every sort of bad one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pi_event_search.cli import main

from tests.facts import hits
from tests.indexes import EVERYTHING, Place

MIB = 1 << 20


class Writer:
    """Lines of one session file; every text holds a word that stands nowhere else."""

    def __init__(self, name: str, version: int = 3) -> None:
        self.name = name
        self.words: dict[str, str] = {}
        """Word -> id of the entry that must be found by it; empty where that is derived."""
        self._version = version
        self._count = 0
        header = {"type": "session", "version": version, "id": name, "cwd": "/w"}
        if version == 1:
            del header["version"]
        self.header = json.dumps(header)

    def record(self, entry_id: str, parent: str | None, *, lost: bool = False, **more: Any) -> str:
        """A message; `lost`: nobody can find it again."""
        word = f"{self.name}word{self._count}"
        self._count += 1
        body: dict[str, Any] = {"type": "message", "timestamp": "2026-01-05T09:00:00.000Z"}
        if self._version > 1:
            body |= {"id": entry_id, "parentId": parent}
        body["message"] = {"role": "user", "content": f"a {word} stands here", **more}
        if not lost:
            self.words[word] = entry_id if self._version > 1 else ""
        return json.dumps(body)


def lines(*texts: str, end: str = "\n") -> bytes:
    return "".join(text + end for text in texts).encode()


def good(n: int) -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer(f"good{n}")
    return w, lines(w.header, w.record("a", None), w.record("b", "a"), w.record("c", "b")), {}


def version_1() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("first", 1)
    custom = w.record("", None, role="hookMessage", customType="note")
    kept = {"type": "compaction", "summary": "all of it", "firstKeptEntryIndex": 1}
    return w, lines(w.header, w.record("", None), custom, json.dumps(kept)), {}


def version_2() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("second", 2)
    custom = w.record("b", "a", role="hookMessage", customType="note")
    return w, lines(w.header, w.record("a", None), custom), {}


def crlf() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("crlf")
    return w, lines(w.header, w.record("a", None), w.record("b", "a"), end="\r\n"), {}


def torn() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("torn")
    cut = w.record("b", "a", lost=True)[:60]
    data = lines(w.header, w.record("a", None), cut, w.record("c", "b"))
    return w, data, {"malformed": 1, "orphan": 1}


def glued() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("glued")
    cut = w.record("b", "a", lost=True)[:60]
    data = lines(w.header, w.record("a", None), cut + w.record("c", "b"), w.record("d", "a"))
    return w, data, {"torn": 1, "glued": 1}


def duplicate_id() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("twice")
    old = w.record("b", "a", lost=True)
    return w, lines(w.header, w.record("a", None), old, w.record("b", "a")), {"duplicate-id": 1}


def orphan() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("orphan")
    return w, lines(w.header, w.record("a", "gone"), w.record("b", "a")), {"orphan": 1}


def cyclic() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("cyclic")
    data = lines(w.header, w.record("a", "b"), w.record("b", "a"), w.record("c", "c"))
    return w, data, {"cycle": 2}


def large_record() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("large")
    blocks = [{"type": "text", "text": "largeblock"}, {"type": "image", "data": "A" * 20 * MIB}]
    big = w.record("b", "a", lost=True, content=blocks)
    w.words["largeblock"] = "b"
    return w, lines(w.header, w.record("a", None), big, w.record("c", "b")), {}


def hostile() -> tuple[Writer, bytes, dict[str, int]]:
    w = Writer("hostile")
    data = lines(w.header, w.record("a", None))
    data += b"\0\0\0" + lines(w.record("b", "a")) + b"\xef\xbb\xbf" + lines(w.record("c", "a"))
    data += b"no json\n17\n\n" + lines(w.record("d", "a")).replace(b"stands", b"st\xffnds")
    data += lines(w.record("e", "d").replace("stands", r"st\ud83dnds"))
    found = {"nul-filled": 1, "glued": 2, "bom": 1, "malformed": 1, "non-object": 1}
    return w, data, found | {"missing-id": 1, "invalid-utf8": 1, "repaired-surrogate": 1}


FILES = [
    *(good(n) for n in range(3)),
    *(make() for make in (version_1, version_2, crlf, torn, glued, duplicate_id)),
    *(make() for make in (orphan, cyclic, large_record, hostile)),
]
REFUSED = {
    "empty": b"",
    "text": b"not a session at all\n",
    "binary": bytes(range(256)) * 40,
    "entries": lines(Writer("x").record("a", None, lost=True)),
}


@pytest.fixture
def full(place: Place) -> Place:
    for writer, data, _ in FILES:
        place.put(writer.name, data)
    for name, data in REFUSED.items():
        place.put(name, data)
    return place


def test_all_good_content_is_found(full: Place) -> None:
    with full.index() as index:
        report = index.sync()
        assert (report.rebuilt, report.failed) == (len(FILES), len(REFUSED))
        for writer, _, _ in FILES:
            for word, entry_id in writer.words.items():
                ((session_id, found),) = hits(index, word)
                assert session_id == writer.name
                assert found == entry_id or not entry_id
                event = index.read(session_id, found, invocation=EVERYTHING)
                assert word in event.fragments[0].preview.text
                assert event.source.state == "exact"


def test_each_loss_is_in_the_status(full: Place, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--sessions-dir", str(full.sessions), "--index-dir", str(full.base / "index")]
    for command in ("sync", "status"):
        assert main([command, *where, "--all-workspaces", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
    found: dict[str, dict[str, int]] = {}
    for problem in answer["problems"]:
        assert problem["detail"] or problem["kind"] in ("orphan", "cycle", "duplicate-id")
        found.setdefault(Path(problem["path"]).stem, {})[problem["kind"]] = problem["count"]
    expected = {writer.name: problems for writer, _, problems in FILES if problems}
    assert found == expected | {name: {"not-a-session": 1} for name in REFUSED}
    coverage = answer["coverage"]
    assert coverage["indexedSessions"] == coverage["discoveredSessions"] == len(FILES)
    assert coverage["state"] == "ready", "skipped records are only counted"
    losing = ("malformed", "torn", "nul-filled", "oversized")
    lost = sum(count for p in expected.values() for kind, count in p.items() if kind in losing)
    assert coverage["skippedRecords"] == lost
    kinds = {problem["kind"]: problem["count"] for problem in coverage["problems"]}
    assert kinds["glued"] == 3
    assert kinds["not-a-session"] == len(REFUSED)


def test_sources_are_only_read(full: Place) -> None:
    def seen() -> dict[Path, tuple[Any, ...]]:
        return dict(states_of(full.sessions.rglob("*")))

    before = seen()
    with full.index() as index:
        index.sync()
        for writer, _, _ in FILES:
            index.search(writer.name, invocation=EVERYTHING)
        index.read("good0", "b", invocation=EVERYTHING)
        index.trace("cyclic", "a", invocation=EVERYTHING)
        index.status(invocation=EVERYTHING)
    with full.index() as index:
        index.sync()
    assert seen() == before


def states_of(paths: Iterable[Path]) -> Iterable[tuple[Path, tuple[Any, ...]]]:
    """Names, bytes, times and modes; the time of the last reading alone may change."""
    for path in paths:
        stat = path.stat()
        bytes_ = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        yield path, (bytes_, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_mode, stat.st_ino)


def test_a_record_beyond_the_limit_keeps_its_place(place: Place) -> None:
    """Its text is passed over, with a receipt; id, parent, type and time stay."""
    w = Writer("huge")
    big = w.record("b", "a", lost=True, content="x" * (64 * MIB))
    assert len(big) > 64 * MIB
    path = place.put("huge", lines(w.header, w.record("a", None), big, w.record("c", "b")))
    with place.index() as index:
        report = index.sync()
        assert report.events_added == 3
        for word, entry_id in w.words.items():
            assert hits(index, word) == {("huge", entry_id)}
        event = index.read("huge", "b", invocation=EVERYTHING)
        assert (event.entry_type, event.parent_id) == ("message", "a")
        assert event.timestamp == "2026-01-05T09:00:00.000Z"
        assert (event.branch_state, event.selection_state) == ("selected", "direct")
        assert (event.fragments, event.source.state) == ((), "exact")
        assert index.read("huge", "c", invocation=EVERYTHING).parent_id == "b"
        problems = index.status(invocation=EVERYTHING).problems
        assert [(p.path, p.kind, p.count) for p in problems] == [(str(path), "oversized", 1)]
        assert report.coverage.skipped_records == 1
        assert index.sync().bytes_read == 0
