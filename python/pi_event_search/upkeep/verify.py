"""Proving an index: its own consistency, and its equality with one built afresh.

Any history of appends, rewrites and crashes that ends in the same bytes must have led to the same
facts, states, texts and hits. Numbers that differ with the history (epochs, keys, segments) are
replaced by what they stand for before anything is compared.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.access.directory import Directory
from pi_event_search.config import Config
from pi_event_search.errors import InvalidQuery
from pi_event_search.ingest.reconcile import Reconciler, Report
from pi_event_search.services.query import parse
from pi_event_search.store.database import Contradiction, is_damage, metadata, refusal
from pi_event_search.store.dictionary import stored_dictionary
from pi_event_search.store.layout import Condition
from pi_event_search.store.lease import writer_lease
from pi_event_search.store.recovery import KnownFile, text_trouble
from pi_event_search.store.rows import SessionRow
from pi_event_search.store.sources import READY, load_sources
from pi_event_search.store.store import Snapshot, Store
from pi_event_search.store.text_hits import matching_keys
from pi_event_search.store.text_query import TextFilter, build
from pi_event_search.types.sessions import Verification
from pi_event_search.upkeep.facts import Fact, documents_of, facts_of, fragments_named
from pi_event_search.upkeep.maintain import fill

ROUNDS = 3
"""How often both indexes are brought up to date when session files change meanwhile."""
SAMPLES = 200
"""Fragments that give a word to search for in both."""
HIT_LIMIT = 5_000
"""A word with more hits is not compared."""
REPORTED = 100
"""Differences that are told one by one."""
_SHOWN = 160


class _Source(NamedTuple):
    """A source as an index has it, and what it was when it was read."""

    row: SessionRow
    seen: tuple[int | None, ...]


@dataclass(slots=True)
class _Report:
    differences: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, sentence: str) -> None:
        if len(self.differences) < REPORTED:
            self.differences.append(sentence)
        else:
            self.more += 1


def damage_of(store: Store) -> list[str]:
    """What is wrong with the files of an index, one sentence each. Repairs nothing.

    :raises IndexBusy: another process is writing.
    """
    with writer_lease(store.directory, at_work=False):  # a look is no recovery
        condition = store.database.condition()
        if condition is not Condition.READY:
            return [refusal(store.database.path, condition).message]
        with store.database.connection() as connection:
            found = _unsound_pages(connection)
            if found:
                return [f"The database is damaged: {what}." for what in found]
            try:
                stored_dictionary(connection)
            except (sqlite3.Error, Contradiction) as error:
                if not is_damage(error):
                    raise
                store.database.condemn()  # where it is in use already, no sync would see this
                return [f"The dictionary of the texts is damaged: {error}"]
            directory = store.directory / str(metadata(connection, "text_directory"))
            trouble = text_trouble(connection, directory, thorough=True)
    return [] if trouble is None else [f"The text index in {directory} cannot stay: {trouble}."]


def _unsound_pages(connection: sqlite3.Connection) -> list[str]:
    try:
        rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return [str(error)]
    return [row[0] for row in rows if row[0] != "ok"]


def verify(
    store: Store, config: Config, sync: Callable[[], object], progress: Report | None = None
) -> Verification:
    """Builds an index of the same files in a temporary place and compares.

    Files that keep changing meanwhile, and those that cannot be read now, are left out.
    """
    sync()
    with store.database.snapshot() as connection:
        explicit = [
            KnownFile(record.path, True, ())
            for record in load_sources(connection)
            if record.explicit
        ]
    with TemporaryDirectory(prefix="pi-event-search-") as place:
        fresh = Store.open(Path(place))
        try:
            fill(fresh, config, explicit, progress)
            for _ in range(ROUNDS):
                if _seen(store, config) == _seen(fresh, config):
                    break
                sync()
                Reconciler(fresh, config).directories()
            with store.snapshot() as ours, fresh.snapshot() as theirs:
                return compare(ours, theirs, config)
        finally:
            fresh.close()


def compare(ours: Snapshot, theirs: Snapshot, config: Config) -> Verification:
    """The differences between an index and one of the same files that is known to be right."""
    report = _Report()
    mine, right = _sources(ours, config), _sources(theirs, config)
    pairs: list[tuple[SessionRow, SessionRow]] = []
    for path in sorted(mine.keys() | right.keys()):
        pair = _pair(path, mine.get(path), right.get(path), report)
        if pair is not None:
            pairs.append(pair)
    for one, other in pairs:
        try:
            _compare_source(ours, one, theirs, other, report)
        except (LookupError, TypeError, ValueError, ArithmeticError, AssertionError) as error:
            detail = f"{type(error).__name__}: {error}"
            report.add(f"{os.fsdecode(one.path)} cannot be compared ({detail}).")
    _compare_hits(ours, theirs, pairs, report)
    if report.more:
        report.differences.append(f"There are {report.more:,} more differences.")
    return Verification(
        equal=not report.differences,
        sessions=len(pairs),
        events=sum(other.events for _, other in pairs),
        differences=tuple(report.differences),
    )


def _seen(store: Store, config: Config) -> dict[bytes, tuple[int | None, ...]]:
    with store.snapshot() as snapshot:
        return {path: source.seen for path, source in _sources(snapshot, config).items()}


def _sources(snapshot: Snapshot, config: Config) -> dict[bytes, _Source]:
    rows = Directory(snapshot.connection, config).covered()
    seen = {record.path: record.observation[:5] for record in load_sources(snapshot.connection)}
    return {row.path: _Source(row, seen[row.path]) for row in rows}


def _pair(
    path: bytes, mine: _Source | None, right: _Source | None, report: _Report
) -> tuple[SessionRow, SessionRow] | None:
    """Both readings of a source, where there are two of the same file in the same state."""
    name = os.fsdecode(path)
    if right is None:
        if mine is not None and mine.row.epoch is not None and mine.row.state == READY:
            report.add(f"{name} is indexed, and a fresh index does not find it.")
        return None
    if mine is None:
        report.add(f"{name} is not indexed.")
        return None
    if mine.seen != right.seen:
        return None
    if mine.row.epoch is None or right.row.epoch is None:
        if (mine.row.epoch is None) != (right.row.epoch is None) and mine.row.state == READY:
            report.add(f"{name} is a session in one of the two indexes only.")
        return None
    return mine.row, right.row


def _compare_source(
    ours: Snapshot, mine: SessionRow, theirs: Snapshot, right: SessionRow, report: _Report
) -> None:
    name = os.fsdecode(mine.path)
    for (kind, left), (_, other) in zip(
        _all_facts(ours, mine), _all_facts(theirs, right), strict=True
    ):
        for one, two in zip_longest(left, other):
            if one != two:
                report.add(_difference(name, kind, one, two))
                break


def _all_facts(snapshot: Snapshot, session: SessionRow) -> Iterator[tuple[str, Iterator[Fact]]]:
    yield from facts_of(snapshot.connection, session)
    yield "documents", documents_of(snapshot, session)


def _difference(name: str, kind: str, one: Fact | None, two: Fact | None) -> str:
    if one is not None and two is not None and len(one) == len(two):
        # Only the part that differs, behind what names the row.
        at = next(n for n, (a, b) in enumerate(zip(one, two, strict=True)) if a != b)
        return (
            f"{name}: {kind} {_show(one[:1])}: value {at} is {_show(one[at])} and should be"
            f" {_show(two[at])}."
        )
    return f"{name}: {kind}: there is {_show(one)} and should be {_show(two)}."


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _compare_hits(
    ours: Snapshot,
    theirs: Snapshot,
    pairs: Sequence[tuple[SessionRow, SessionRow]],
    report: _Report,
) -> None:
    """Searches both for words that occur in the texts."""
    mine = {one.epoch: one.path for one, _ in pairs}
    right = {other.epoch: other.path for _, other in pairs}
    for word in _words(theirs):
        try:
            query = build(parse(word), TextFilter())
        except InvalidQuery:
            continue
        found = matching_keys(ours.searcher, query, HIT_LIMIT)
        expected = matching_keys(theirs.searcher, query, HIT_LIMIT)
        if max(len(found), len(expected)) == HIT_LIMIT:
            continue
        one = fragments_named(ours.connection, found, mine)
        two = fragments_named(theirs.connection, expected, right)
        if one != two:
            report.add(
                f"A search for {word!r} finds {len(one - two)} fragments that do not have it and"
                f" misses {len(two - one)}."
            )


def _words(snapshot: Snapshot) -> Iterator[str]:
    """Words of fragments spread over the index: the first and the longest of each."""
    connection = snapshot.connection
    last = connection.execute("SELECT ifnull(max(key), 0) FROM fragments").fetchone()[0]
    seen: set[str] = set()
    step = max(last // SAMPLES, 1)
    for start in range(0, last + 1, step):
        row = connection.execute(
            "SELECT text, head FROM fragments WHERE key >= ? ORDER BY key LIMIT 1", (start,)
        ).fetchone()
        if row is None:
            return
        head, tail = _core.bounded_text(*row)
        words = [token[0] for text in (head, tail) for token in _core.tokens(text)]
        for word in (*words[:1], *sorted(words, key=len)[-1:]):
            if word not in seen:
                seen.add(word)
                yield word
