"""Building a whole index anew beside the one that answers, and switching to it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pi_event_search.config import Config, SessionDir
from pi_event_search.reconcile import Counts, Reconciler, Report
from pi_event_search.store.recovery import KnownFile, known_files
from pi_event_search.store.sources import add_listing, add_source
from pi_event_search.store.store import Store


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
            for directory in file.directories:
                add_listing(connection, directory, record.source)
            more |= set(file.directories) - directories
    others = tuple(SessionDir(Path(os.fsdecode(path)), archive=True) for path in sorted(more))
    everything = replace(config, session_dirs=(*config.session_dirs, *others))
    return Reconciler(store, everything, progress).directories()
