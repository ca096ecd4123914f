"""Bringing an index up to date, whatever state it is in, and building a whole one anew."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from pi_event_search.config import Config, SessionDir
from pi_event_search.errors import IndexProblem
from pi_event_search.ingest.reconcile import Announce, Counts, Pace, Reconciler, Report
from pi_event_search.store.database import is_damage
from pi_event_search.store.recovery import KnownFile, known_files
from pi_event_search.store.sources import add_listing, add_source
from pi_event_search.store.store import Store


def bring_up_to_date(
    store: Store,
    config: Config,
    path: str | None = None,
    progress: Report | None = None,
    changed: Announce | None = None,
    pace: Pace | None = None,
) -> Counts:
    """Looks at all session directories, or at one file; see :meth:`EventIndex.sync`.

    Everything is in the session files, so a database that is found damaged on the way is set
    aside and filled again, once.
    """
    try:
        return _sync(store, config, path, progress, changed, pace)
    except (sqlite3.Error, IndexProblem) as error:
        if not is_damage(error):
            raise
    store.database.condemn()
    return _sync(store, config, path, progress, changed, pace)


def _sync(
    store: Store,
    config: Config,
    path: str | None,
    progress: Report | None,
    changed: Announce | None,
    pace: Pace | None,
) -> Counts:
    if store.is_outdated():
        counts = rebuild(store, config, progress)
        if path is None:
            return counts
    store.prepare()
    reconciler = Reconciler(store, config, progress, changed, pace)
    if path is not None:
        return reconciler.file(path)
    counts = reconciler.directories()
    store.compact()
    return counts


def rebuild(store: Store, config: Config, progress: Report | None = None) -> Counts:
    """Fills a new index from all files that the old one knows and all that are found, and puts it
    in the place of the old one.

    Files that cannot be looked at now are carried over by name: they come back with the first
    sync that can read them, and until then coverage says that they are missing.

    :raises IndexBusy: another process is writing.
    """
    known = known_files(store.database.path)
    with store.replacing() as new:
        return fill(new, config, known, progress)


def fill(
    store: Store, config: Config, known: Iterable[KnownFile], progress: Report | None = None
) -> Counts:
    """Fills an empty index with all known files and all that its directories hold."""
    directories = {os.fsencode(directory.path) for directory in config.session_dirs}
    more: set[bytes] = set()
    with store.database.transaction() as connection:
        for file in known:
            record = add_source(connection, file.path, explicit=file.explicit)
            for directory, path in file.listings:
                add_listing(connection, directory, record.source, path)
                more.add(directory)
    others = tuple(
        SessionDir(Path(os.fsdecode(path)), archive=True) for path in sorted(more - directories)
    )
    everything = config._replace(session_dirs=(*config.session_dirs, *others))
    return Reconciler(store, everything, progress).directories()
