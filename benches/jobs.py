"""What is measured in a process of its own: whatever fills memory, and the floors.

`python -m benches.jobs NAME ARGUMENTS` does one job and prints its figures as JSON; `run` starts
that and watches its memory meanwhile.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import tantivy
from pi_event_search import _core
from pi_event_search.store.dictionary import dictionary_of
from pi_event_search.store.layout import newest_database
from pi_event_search.store.text_index import BULK_THREADS

from benches.measure import status_bytes
from benches.place import opened

_SAMPLE_SECONDS = 0.01
_FLOOR_BYTES = 128_000_000
"""Heap of the engine alone: 64 MB a thread."""
_COMMIT_EVERY = 200_000
"""Fragments that the SQLite build holds in one transaction."""

Figures = dict[str, float]


def run(job: str, *arguments: Path | str) -> Figures:
    """Does a job in a new process; adds ``peak``, the most memory it had, and ``anonymous``, the
    most of its own (without files mapped into it), both in bytes."""
    command = [sys.executable, "-m", "benches.jobs", job, *map(str, arguments)]
    anonymous = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while process.poll() is None:
            anonymous = max(anonymous, status_bytes("RssAnon", process.pid))
            time.sleep(_SAMPLE_SECONDS)
        assert process.stdout is not None
        output = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    figures: Figures = json.loads(output)
    return figures | {"anonymous": anonymous}


def sync(index_dir: str, sessions_dir: str) -> Figures:
    """Brings an index up to date."""
    began = time.perf_counter()
    with opened(Path(index_dir), Path(sessions_dir)) as index:
        report = index.sync()
        took = time.perf_counter() - began
    problems = len(report.coverage.problems) + report.failed
    assert report.coverage.state == "ready", report.coverage
    assert not problems, report.coverage
    return {"seconds": took, "events": report.events_added, "bytes_read": report.bytes_read}


def every_line(sessions_dir: str) -> Figures:
    """Parses each line, and does nothing with it."""
    began = time.perf_counter()
    lines = 0
    for path in Path(sessions_dir).rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)
                lines += 1
    return {"seconds": time.perf_counter() - began, "lines": lines}


def engine_alone(index_dir: str, scratch: str) -> Figures:
    """The engine fed with the texts of an index: one field with positions, nothing else."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="word", index_option="position")
    schema = builder.build()
    index = tantivy.Index(schema, path=scratch)
    analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    index.register_tokenizer("word", analyzer.filter(tantivy.Filter.lowercase()).build())
    texts = list(_texts(index_dir))
    began = time.perf_counter()
    writer = index.writer(heap_size=_FLOOR_BYTES, num_threads=BULK_THREADS)
    for text in texts:
        writer.add_document(tantivy.Document(text=text))
    writer.commit()
    took = time.perf_counter() - began
    writer.wait_merging_threads()
    return {"seconds": took, "texts": len(texts), "characters": sum(map(len, texts))}


def sqlite_alone(index_dir: str, scratch: str) -> Figures:
    """SQLite's own full-text search fed with the same texts, storing none of them."""
    texts = list(_texts(index_dir))
    connection = sqlite3.connect(Path(scratch, "fts.sqlite"), isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -128000")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, content = '')")
    began = time.perf_counter()
    for start in range(0, len(texts), _COMMIT_EVERY):
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO texts (rowid, text) VALUES (?, ?)",
            enumerate(texts[start : start + _COMMIT_EVERY], start + 1),
        )
        connection.execute("COMMIT")
    took = time.perf_counter() - began
    connection.close()
    return {"seconds": took, "texts": len(texts)}


def _texts(index_dir: str) -> Iterator[str]:
    database = newest_database(Path(index_dir))
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    dictionary_of(connection)
    for text, head in connection.execute("SELECT text, head FROM fragments ORDER BY key"):
        yield " ".join(_core.bounded_text(text, head))
    connection.close()


_JOBS: dict[str, Callable[..., Figures]] = {
    job.__name__: job for job in (sync, every_line, engine_alone, sqlite_alone)
}


def _main() -> None:
    name, *arguments = sys.argv[1:]
    figures: dict[str, Any] = _JOBS[name](*arguments)
    print(json.dumps(figures | {"peak": status_bytes("VmHWM")}))


if __name__ == "__main__":
    _main()
