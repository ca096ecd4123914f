"""Making the stores agree again: new ones, Tantivy from SQLite, leftovers of what was interrupted.

Tantivy can be in six states as seen from SQLite, told apart by the stamp of its last commit:

================  ==============================================  ============================
state             how it comes                                    what is done
================  ==============================================  ============================
equal             a clean end                                     nothing
ahead             killed between the two commits                  the batch's keys are dead
behind            power loss brought back its previous commit     text anew from SQLite
foreign           copied there, or SQLite came from a backup      text anew from SQLite
unreadable        files gone or damaged, or another Tantivy       text anew from SQLite
of another cut    the tokenizer has changed                       text anew from SQLite
================  ==============================================  ============================
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeGuard

from pi_event_search import _core
from pi_event_search.errors import IndexProblem
from pi_event_search.faults import point
from pi_event_search.store.database import (
    Contradiction,
    Database,
    connect,
    create,
    metadata,
    new_uuid,
    number,
    set_metadata,
)
from pi_event_search.store.documents import all_documents
from pi_event_search.store.epochs import remove_epoch
from pi_event_search.store.layout import (
    BUILDING,
    TEXT_PREFIX,
    log_of,
    next_database,
    remove_tree,
    sync_directory,
)
from pi_event_search.store.publish import new_stamp, settle_reservation
from pi_event_search.store.sources import add_source
from pi_event_search.store.text_files import damaged_file, missing_file
from pi_event_search.store.text_index import TextIndex, TextProblem


class KnownFile(NamedTuple):
    """A session file that an index knows, whatever it holds of it."""

    path: bytes
    explicit: bool
    listings: tuple[tuple[bytes, bytes], ...]
    """Session directories that list it, and the way to it from there."""


SUSPECT = "suspect"
"""A file of this name in a text directory says that Tantivy failed there: look at every byte."""


def create_index(directory: Path, explicit: Iterable[bytes] = ()) -> None:
    """Makes an empty index in a directory that has none. For the holder of the writer lock.

    ``explicit``: paths of session files that answers are to cover. The database gets its name
    last, so a crash leaves nothing that could be taken for an index.
    """
    index_uuid = new_uuid()
    building = directory / BUILDING
    remove_tree(building)
    building.mkdir(mode=0o700)
    database = building / "index.sqlite"
    text = f"{TEXT_PREFIX}{index_uuid}-1"
    stamp = _write_text(directory / text, ())
    point("create.text")
    create(database, index_uuid=index_uuid, text_directory=text, text_stamp=stamp)
    with closing(connect(database)) as connection:
        for path in explicit:
            add_source(connection, path, explicit=True)
    install(database, directory, index_uuid)
    remove_tree(building)


def install(database: Path, directory: Path, index_uuid: str) -> None:
    """Makes a closed database the index of a directory: from now on it is the one that answers.

    :raises IndexProblem: it has a log that could not be taken in.
    """
    if log_of(database).exists():
        raise IndexProblem(f"The new index {database} could not be finished; is the disk full?")
    point("install.rename")
    database.rename(next_database(directory, index_uuid))
    point("install.renamed")
    sync_directory(directory)


def known_files(database: Path) -> list[KnownFile]:
    """What a database of any version or damage still tells of session files."""
    try:
        with closing(connect(database)) as connection:
            rows = connection.execute("SELECT source, path, explicit FROM sources").fetchall()
            listings = connection.execute("SELECT * FROM listings").fetchall()
    except sqlite3.Error:
        return []
    listed: dict[object, list[tuple[bytes, bytes]]] = {}
    paths = {source: path for source, path, _ in rows}
    for directory, source, *way in listings:
        path = way[0] if way else paths.get(source)  # schema 1 did not keep the way
        if _is_path(directory) and _is_path(path):
            listed.setdefault(source, []).append((directory, path))
    return [
        KnownFile(path, explicit == 1, tuple(listed.get(source, ())))
        for source, path, explicit in rows
        if _is_path(path)
    ]


def text_trouble(
    connection: sqlite3.Connection,
    directory: Path,
    *,
    thorough: bool,
    opened: TextIndex | None = None,
) -> str | None:
    """Why a text index cannot stay as it is, if it cannot.

    ``thorough``: every file is read and compared with its checksum, before Tantivy sees it.
    ``opened``: the index of the directory, where somebody has it open already.
    """
    name = (damaged_file if thorough else missing_file)(directory)
    if name is not None:
        return f"{name} is damaged or missing"
    if metadata(connection, "tokenizer_version") != _core.TOKENIZER_VERSION:
        return "it was made with another tokenizer"
    try:
        if not is_paired(connection, opened or TextIndex(directory)):
            return "it is not the one that the database was published with"
    except TextProblem as error:
        return error.message.rstrip(".")
    return None


def is_paired(connection: sqlite3.Connection, text: TextIndex) -> bool:
    """Whether Tantivy's last commit is one that this database knows of.

    A publication that ends meanwhile has a stamp that is known before or after the look at it.
    """
    known = _known_stamps(connection)
    newest = text.newest_stamp()
    return newest is not None and (newest in known or newest in _known_stamps(connection))


def check_database(connection: sqlite3.Connection) -> None:
    """For when the stores disagree: SQLite looks through its own pages.

    :raises Contradiction: they do not fit together.
    """
    found = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found is None or found[0] != "ok":
        raise Contradiction(f"The database is damaged: {found and found[0]}.")


def rebuild_text(database: Database, directory: Path) -> Path:
    """Builds the text index anew from SQLite in a new directory and points SQLite to it.

    For the holder of the writer lock. Returns the new directory; the old one may be removed.
    """
    with database.connection() as connection:
        count = number(connection, "text_directories") + 1
        name = f"{TEXT_PREFIX}{metadata(connection, 'index_uuid')}-{count}"
        stamp = _write_text(directory / name, all_documents(connection))
        point("rebuild.committed")
    with database.transaction() as connection:
        set_metadata(
            connection,
            text_directory=name,
            text_directories=count,
            text_stamp=stamp,
            tokenizer_version=_core.TOKENIZER_VERSION,
            generation=number(connection, "generation") + 1,
        )
        # The new directory was made from rows: there is no document without one.
        for table in ("reservations", "dead_keys", "dead_epochs"):
            connection.execute(f"DELETE FROM {table}")
        point("rebuild.switch")
    point("rebuild.switched")
    return directory / name


def recover(database: Database, directory: Path, *, unclean: bool) -> None:
    """Makes the stores agree. For the holder of the writer lock.

    ``unclean``: the last holder did not end by itself, so that the bytes of the text index must
    be proven; an unfinished batch says the same.

    :raises Contradiction: the database is damaged.
    """
    with database.connection() as connection:
        trouble = _trouble(connection, directory, unclean=unclean)
        if trouble is not None:
            check_database(connection)
    if trouble is not None:
        rebuild_text(database, directory)
    with database.transaction() as connection:
        if _is_left_over(connection):
            text = TextIndex(directory / str(metadata(connection, "text_directory")))
            settle_reservation(connection, text)
        discard_unfinished(connection)


def discard_unfinished(connection: sqlite3.Connection) -> None:
    """Removes readings that a crash left beside the live one of their source."""
    orphans = [
        row[0]
        for row in connection.execute(
            "SELECT epoch FROM sessions WHERE epoch NOT IN"
            " (SELECT epoch FROM sources WHERE epoch IS NOT NULL)"
        )
    ]
    for epoch in orphans:
        remove_epoch(connection, epoch)
        point("recovery.discarded")


def _trouble(connection: sqlite3.Connection, directory: Path, *, unclean: bool) -> str | None:
    """Why the text index must be made anew, if it must."""
    text_directory = directory / str(metadata(connection, "text_directory"))
    suspect = text_directory / SUSPECT
    thorough = unclean or suspect.exists() or _is_left_over(connection)
    trouble = text_trouble(connection, text_directory, thorough=thorough)
    if trouble is None:
        suspect.unlink(missing_ok=True)
    return trouble


def _known_stamps(connection: sqlite3.Connection) -> set[int]:
    rows = connection.execute(
        "SELECT value FROM metadata WHERE name = 'text_stamp' UNION SELECT stamp FROM reservations"
    )
    return {row[0] for row in rows}


def _is_path(value: object) -> TypeGuard[bytes]:
    return isinstance(value, bytes) and value.startswith(b"/") and b"\0" not in value


def _is_left_over(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM reservations").fetchone() is not None


def _write_text(directory: Path, batches: Iterable[list[str]]) -> int:
    """A new text index of some documents; returns its stamp."""
    text = TextIndex.create(directory)
    point("rebuild.created")
    stamp = new_stamp()
    bulk = False
    try:
        for documents in batches:
            bulk = True
            text.add(documents, bulk=bulk)
            point("rebuild.documents")
        text.stamp(0, stamp, bulk=bulk)
        text.commit()
    finally:
        text.close()
    return stamp
