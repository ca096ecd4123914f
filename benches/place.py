"""Where a run keeps its corpora and indexes, and how it opens them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pi_event_search import EventIndex, Invocation
from pi_event_search.store.text_index import TextIndex

from benches.corpus.generate import Corpus, Sizes, corpus, mixed


@dataclass(frozen=True)
class Place:
    """A directory for everything; corpora stay in it from one run to the next."""

    directory: Path
    seed: int

    def mixed(self, megabytes: float) -> Corpus:
        """The usual corpus of a size."""
        return self.corpus(f"mixed-{megabytes:g}", mixed(megabytes))

    def corpus(self, name: str, sizes: Sizes) -> Corpus:
        """A corpus by its name, generated when it is asked for the first time."""
        return corpus(self.directory / f"{name}-{self.seed}", sizes, seed=self.seed)

    def index_of(self, found: Corpus) -> Path:
        """Where the index of a corpus is."""
        return self.directory / f"index-{found.directory.name}"

    def scratch(self, name: str) -> Path:
        """An empty directory."""
        directory = self.directory / f"scratch-{name}"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return directory


@contextmanager
def opened(index_dir: Path, sessions_dir: Path) -> Iterator[EventIndex]:
    """The index, looking at one directory only, whatever the environment says."""
    with EventIndex.open(index_dir, [sessions_dir]) as index:
        yield index


def somebody(found: Corpus) -> Invocation:
    """A caller who may see every workspace of the corpus, each by its path."""
    return Invocation(cwd=str(found.work), workspace_root=str(found.work))


def text_index(index_dir: Path) -> TextIndex:
    """The engine's part of an index, without anything of this program around it."""
    (directory,) = index_dir.glob("text-*")
    return TextIndex(directory)
