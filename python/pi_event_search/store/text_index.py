"""The Tantivy side of the index: postings and the facts that never change, keyed by fragment.

This module and :mod:`.text_query` are the only importers of ``tantivy``. The rules they keep were
measured on tantivy-py 0.27: keys are signed integers (a delete by an unsigned term deletes
nothing), a writer is never used as a context manager (leaving it commits, also after an error),
never kept after an exception (it may confirm commits and write nothing), and the directory is
synced after a commit (Tantivy renames its meta file last and does not sync after that).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import tantivy

from pi_event_search.errors import IndexProblem
from pi_event_search.faults import point

TOKENIZER = "word"
WRITER_BYTES = 15_000_000
"""Heap of a writer for small batches, the least Tantivy accepts."""
BULK_WRITER_BYTES = 128_000_000
BULK_THREADS = 2

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class TextDocument:
    """One fragment as it is indexed.

    ``words`` and ``parts`` are texts prepared by the core: one value, or two when the middle of a
    long text is left out, so that no phrase matches across the omission. ``facets`` are exact
    terms, see :func:`facet`.
    """

    key: int
    event: int
    epoch: int
    workspace: int
    ts: int
    facets: Sequence[str]
    words: Sequence[str]
    parts: Sequence[str]


def facet(name: str, value: str) -> str:
    """The term for an unchanging fact, such as ``kind`` = ``tool.result``."""
    return f"{name}:{value}"


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("key", "event", "epoch", "workspace", "ts"):
        builder.add_integer_field(name, indexed=True, fast=True)
    builder.add_text_field("facet", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name=TOKENIZER, index_option="position")
    builder.add_text_field("parts", tokenizer_name=TOKENIZER, index_option="position")
    return builder.build()


SCHEMA = _schema()


def guarded(what: str, action: Callable[[], _T]) -> _T:
    """Runs an engine call; every failure, panics included, becomes an :class:`IndexProblem`.

    A panic of the engine arrives as ``PanicException``, which is no ``Exception``.
    """
    try:
        return action()
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise IndexProblem(f"The text index failed to {what}: {error}") from error


class TextIndex:
    """A Tantivy directory: a reader for every thread, and a writer for the lock's holder."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._index = guarded("open", lambda: _open(directory))
        self._writer: tantivy.IndexWriter | None = None
        self._bulk = False

    @classmethod
    def create(cls, directory: Path) -> TextIndex:
        """A new empty index; whatever stood in ``directory`` is removed."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(mode=0o700, parents=True)
        point("text.create")
        guarded("be created", lambda: tantivy.Index(SCHEMA, path=str(directory)))
        make_private(directory)
        return cls(directory)

    def searcher(self) -> tantivy.Searcher:
        """A view of what is committed now."""

        def newest() -> tantivy.Searcher:
            self._index.reload()
            return self._index.searcher()

        return guarded("be read", newest)

    def committed_opstamp(self) -> int:
        """The stamp of the last commit that is on disk."""
        meta = json.loads((self.directory / "meta.json").read_bytes())
        return int(meta["opstamp"])

    def add(self, documents: Iterable[TextDocument], *, bulk: bool) -> None:
        """Adds documents; they exist after :meth:`commit`."""
        writer = self._open_writer(bulk)
        point("text.add")

        def add_all() -> None:
            for document in documents:
                writer.add_document(
                    tantivy.Document.from_dict(
                        {
                            "key": document.key,
                            "event": document.event,
                            "epoch": document.epoch,
                            "workspace": document.workspace,
                            "ts": document.ts,
                            "facet": document.facets,
                            "words": document.words,
                            "parts": document.parts,
                        },
                        SCHEMA,
                    )
                )

        self._written("add documents", add_all)

    def delete(self, keys: Iterable[tuple[int, int]], epochs: Iterable[int]) -> None:
        """Deletes the documents of inclusive ranges of keys, and of whole epochs."""
        writer = self._open_writer(self._bulk)
        point("text.delete")

        def delete_all() -> None:
            for epoch in epochs:
                writer.delete_documents_by_term("epoch", epoch)
            for first, last in keys:
                query = tantivy.Query.range_query(
                    SCHEMA, "key", tantivy.FieldType.Integer, first, last
                )
                writer.delete_documents_by_query(query)

        self._written("delete documents", delete_all)

    def commit(self) -> int:
        """Makes everything added and deleted durable. Returns the commit's stamp."""
        writer = self._open_writer(self._bulk)
        point("text.commit")
        stamp = self._written("commit", writer.commit)
        point("text.committed")
        self._written("be synced", lambda: settle(self.directory))
        return int(stamp)

    def discard_writer(self) -> None:
        """Forgets everything that was not committed, together with the writer object."""
        self._writer = None

    def close(self) -> None:
        """Ends the writer after its merges; without that, merges in progress are thrown away."""
        writer, self._writer = self._writer, None
        if writer is not None:
            guarded("finish its merges", writer.wait_merging_threads)
            make_private(self.directory)

    def _open_writer(self, bulk: bool) -> tantivy.IndexWriter:
        if self._writer is not None and bulk and not self._bulk:
            self.close()
        if self._writer is None:
            guarded("be tidied", lambda: remove_leftovers(self.directory))
            heap, threads = (BULK_WRITER_BYTES, BULK_THREADS) if bulk else (WRITER_BYTES, 1)
            self._writer = guarded(
                "be opened for writing",
                lambda: self._index.writer(heap_size=heap, num_threads=threads),
            )
            self._bulk = bulk
            point("text.writer")
        return self._writer

    def _written(self, what: str, action: Callable[[], _T]) -> _T:
        try:
            return guarded(what, action)
        except BaseException:
            self.discard_writer()
            raise


def settle(directory: Path) -> None:
    """Makes the names in the directory survive a loss of power, and the files private."""
    make_private(directory)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private(directory: Path) -> None:
    """Takes the files of an index away from other users, whom the engine lets read them."""
    with os.scandir(directory) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # a merge has replaced it meanwhile
                if entry.stat().st_mode & 0o077:
                    os.chmod(entry.path, 0o600)  # noqa: PTH101 - a Path an entry is slow


def remove_leftovers(directory: Path) -> None:
    """Deletes temporary files of killed writers, which Tantivy never collects.

    Only for the holder of the writer lock: a living writer uses such files for an instant.
    """
    for path in directory.glob(".tmp*"):
        path.unlink(missing_ok=True)


def _open(directory: Path) -> tantivy.Index:
    if not tantivy.Index.exists(str(directory)):
        raise FileNotFoundError(f"there is no index in {directory}")
    index = tantivy.Index.open(str(directory))
    analyzer = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.lowercase())
        .build()
    )
    # Registration belongs to the Index object; it is not stored in the directory.
    index.register_tokenizer(TOKENIZER, analyzer)
    index.config_reader(reload_policy="manual")
    return index
