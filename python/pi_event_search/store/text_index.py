"""The Tantivy side of the index: postings and the facts that never change, keyed by fragment.

This module, :mod:`.text_query` and :mod:`.text_hits` are the only importers of ``tantivy``. The
rules they keep were measured on tantivy-py 0.27: keys are signed integers (a delete by an unsigned
term deletes nothing), a writer is never used as a context manager (leaving it commits, also after
an error), never kept after an exception (it may confirm commits and write nothing), and the
directory is synced after a commit (Tantivy renames its meta file last and does not sync after).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

import tantivy

from pi_event_search import _core
from pi_event_search.errors import IndexProblem
from pi_event_search.faults import point
from pi_event_search.store.layout import sync_directory
from pi_event_search.store.text_files import make_private, remove_temporary, wait_until_free

TOKENIZER = "word"
WRITER_BYTES = 15_000_000
"""Heap of a writer for small batches, the least Tantivy accepts."""
BULK_WRITER_BYTES = 80_000_000
BULK_THREADS = 2

_T = TypeVar("_T")


def facet(name: str, value: str) -> str:
    """The term for an unchanging fact, such as ``kind`` = ``tool.result``."""
    return f"{name}:{value}"


def _schema() -> tantivy.Schema:
    """See ``rust/core/src/document.rs`` for what the fields mean.

    Keys and moments are not indexed: ranges of them are looked for in their columns.
    """
    builder = tantivy.SchemaBuilder()
    for name in ("event", "epoch", "workspace"):
        builder.add_integer_field(name, indexed=True, fast=True)
    for name in ("key", "moment"):
        builder.add_integer_field(name, fast=True)
    builder.add_text_field("facet", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name=TOKENIZER, index_option="position")
    builder.add_text_field("parts", tokenizer_name=TOKENIZER, index_option="position")
    builder.add_text_field("wholes", tokenizer_name=TOKENIZER, index_option="basic")
    return builder.build()


SCHEMA = _schema()


class TextProblem(IndexProblem):
    """Tantivy failed or panicked, or its directory is not what SQLite says."""


def guarded(what: str, action: Callable[[], _T]) -> _T:
    """Runs an engine call; every failure, panics included, becomes a :class:`TextProblem`.

    A panic of the engine arrives as ``PanicException``, which is no ``Exception``.
    """
    try:
        return action()
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise TextProblem(f"The text index failed to {what}: {error}") from error


class TextIndex:
    """A Tantivy directory: a reader for every thread, and a writer for the lock's holder."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        wait_until_free(directory)
        self._index = guarded("open", lambda: _open(directory))
        self._writer: tantivy.IndexWriter | None = None
        self._bulk = False
        self.paired_with: tuple[int, int, int] | None = None
        """The last commit that was found to be one of the database's."""

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
        """A view of what is committed now.

        :raises IndexBusy: a process that was stopped keeps the files locked.
        """

        def newest() -> tantivy.Searcher:
            self._index.reload()
            return self._index.searcher()

        wait_until_free(self.directory)
        return guarded("be read", newest)

    def newest_stamp(self) -> int | None:
        """What :meth:`stamp` was last given in a commit that is on disk."""

        def look() -> int | None:
            self._index.reload()
            searcher = self._index.searcher()
            query = tantivy.Query.term_query(SCHEMA, "facet", _core.FACET_STAMP, "basic")
            newest = searcher.search(
                query, 1, count=False, order_by_field="key", order=tantivy.Order.Asc
            )
            addresses = [address for _, address in newest.hits]
            found = cast(list[int], searcher.fast_field_values("event", addresses))
            return found[0] if found else None

        wait_until_free(self.directory)
        return guarded("be read", look)

    def stamp(self, key: int, token: int, *, bulk: bool) -> None:
        """Marks the coming commit with a token, so that SQLite can tell which commits are there.

        The mark is a document of its own, for there is no commit payload in Tantivy's Python
        interface. ``key`` is above all keys before; the newest mark is the one that counts, so
        none needs to be deleted.
        """
        self.add((_core.stamp_document(-key, token),), bulk=bulk)

    def add(self, documents: Iterable[str], *, bulk: bool) -> None:
        """Adds documents, given as the core writes them; they exist after :meth:`commit`."""
        writer = self._open_writer(bulk)
        point("text.add")

        def add_all() -> None:
            for document in documents:
                writer.add_json(document)

        self._written("add documents", add_all)

    def delete(self, keys: Iterable[tuple[int, int]], epochs: Iterable[int], *, bulk: bool) -> None:
        """Deletes the documents of inclusive ranges of keys, and of whole epochs."""
        writer = self._open_writer(bulk)
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

    def commit(self) -> None:
        """Makes everything added and deleted durable."""
        writer = self._open_writer(self._bulk)
        point("text.commit")

        def commit() -> None:
            writer.commit()
            point("text.committed")
            make_private(self.directory)
            sync_directory(self.directory)

        self._written("commit", commit)

    def discard_writer(self) -> None:
        """Ends the writer and forgets everything that was not committed.

        Letting go of the object is not enough: an exception on its way up still refers to it
        through its traceback, and as long as it lives nobody can open another.
        """
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(TextProblem):
                guarded("end", writer.wait_merging_threads)

    def close(self) -> None:
        """Ends the writer after its merges; without that, merges in progress are thrown away."""
        if self._writer is not None:
            self.discard_writer()  # a merge that fails costs nothing that was committed
            with suppress(OSError):
                make_private(self.directory)

    def _open_writer(self, bulk: bool) -> tantivy.IndexWriter:
        if self._writer is not None and bulk and not self._bulk:
            self.close()
        if self._writer is None:
            heap, threads = (BULK_WRITER_BYTES, BULK_THREADS) if bulk else (WRITER_BYTES, 1)

            def open_writer() -> tantivy.IndexWriter:
                remove_temporary(self.directory)
                return self._index.writer(heap_size=heap, num_threads=threads)

            self._writer = guarded("be opened for writing", open_writer)
            self._bulk = bulk
            point("text.writer")
        return self._writer

    def _written(self, what: str, action: Callable[[], _T]) -> _T:
        try:
            return guarded(what, action)
        except BaseException:
            self.discard_writer()
            raise


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
