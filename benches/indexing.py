"""How long it takes to index a corpus, what that needs, and what others need for the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from benches import jobs
from benches.corpus.generate import Corpus
from benches.goals import Row, at
from benches.measure import Times, bytes_below, timed
from benches.place import Place, opened

ROUNDS = 3
RESTARTS = 15
_LARGE = 300
"""From so many megabytes on, one round has to do."""


def rows(place: Place, corpus: Corpus, megabytes: float) -> Iterator[Row]:
    """The cold index beside its floors; it stays for what is measured next."""
    work = f"cold index, {megabytes:g} MB"
    index_dir = place.index_of(corpus)
    found: dict[str, list[jobs.Figures]] = {}
    for _ in range(ROUNDS if megabytes < _LARGE else 1):
        shutil.rmtree(index_dir, ignore_errors=True)
        taken = {
            "ours": jobs.run("sync", index_dir, corpus.sessions_dir),
            "orjson, every line": jobs.run("every_line", corpus.sessions_dir),
            "tantivy alone": jobs.run("engine_alone", index_dir, place.scratch("engine")),
            "SQLite FTS5 alone": jobs.run("sqlite_alone", index_dir, place.scratch("sqlite")),
        }
        assert taken["ours"]["bytes_read"] == corpus.bytes
        for name, figures in taken.items():
            found.setdefault(name, []).append(figures)
    seconds = {name: Times([f["seconds"] for f in some]).median for name, some in found.items()}
    ratio = seconds["ours"] / seconds["tantivy alone"]
    peak, anonymous = (Times([f[n] for f in found["ours"]]).median for n in ("peak", "anonymous"))
    speed = corpus.bytes / 1e6 / seconds["ours"]
    share = bytes_below(index_dir) / corpus.bytes
    yield Row(work, "time", seconds["ours"], "s", note=f"{speed:.1f} MB/s")
    yield Row(work, "against tantivy alone", ratio, "x", at(megabytes, 500, 1.6))
    yield Row(work, "peak memory", peak / 1e6, "MB", at(megabytes, 500, 400))
    yield Row(work, "of this anonymous", anonymous / 1e6, "MB")
    yield Row(work, "index, share of the corpus", share, "x", at(megabytes, 500, 0.85))
    for name in list(seconds)[1:]:
        yield Row(work, name, seconds[name], "s")
    yield from _restart(place, corpus, megabytes)


def _restart(place: Place, corpus: Corpus, megabytes: float) -> Iterator[Row]:
    work = f"restart, nothing changed, {megabytes:g} MB"
    taken: list[float] = []
    read = 0
    for _ in range(RESTARTS):
        with opened(place.index_of(corpus), corpus.sessions_dir) as index:
            taken.append(timed(index.sync))
            again = index.sync()
            assert again.unchanged == len(corpus.sessions)
            read += again.bytes_read + again.probed_bytes
    files = f"{len(corpus.sessions)} files"
    yield Row(work, "sync", Times(taken).median, goal=at(megabytes, 1_000, 25), note=files)
    yield Row(work, "bytes read", read, "B", goal=0)
