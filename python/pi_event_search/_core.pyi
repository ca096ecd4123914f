"""The Rust half: session files to events, places in the tree, text.

Pure functions and small objects; no state is shared. Offsets and lengths of texts are Unicode code
points, offsets of files bytes, times milliseconds since 1970 unless the name says ``ns``. Work on
files and texts runs without the GIL. Constants are the core's own, so they exist once.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias, final

from pi_event_search.types.vocabulary import ContextRole, OmissionKind, SemanticKind

PROJECTOR_VERSION: Final[int]
TOKENIZER_VERSION: Final[int]
INDEXED_LIMIT: Final[int]
"""Code points of a fragment that are indexed; of a longer one, head and tail."""
KINDS: Final[list[SemanticKind]]
"""Public name by the code of a kind; likewise for the next two."""
CONTEXT_ROLES: Final[list[ContextRole]]
OMISSIONS: Final[list[OmissionKind]]
LOSING_RECEIPTS: Final[list[str]]
"""Receipts that mean text which cannot be found."""

RELATIONSHIP_TOOL_CALL: Final[int]
RELATIONSHIP_TOOL_RESULT: Final[int]
RELATIONSHIP_COMPACTS: Final[int]
RELATIONSHIP_BRANCH_SUMMARY_FROM: Final[int]
RELATIONSHIP_LABELS: Final[int]
RELATIONSHIP_CONTEXT_EDIT: Final[int]
RELATIONSHIP_FILE_READ: Final[int]
RELATIONSHIP_FILE_CHANGED: Final[int]
RELATIONSHIP_NAMES: Final[int]
CONTRIBUTION_NEVER: Final[int]
CONTRIBUTION_MESSAGE: Final[int]
CONTRIBUTION_SYSTEM: Final[int]
CONTRIBUTION_COMPACTION: Final[int]
ORIGIN_ROOT: Final[int]
ORIGIN_CYCLE: Final[int]
EDIT_OMITS: Final[str]
FACET_ERROR: Final[str]
"""Exact terms of the text index."""
FACET_RETRIEVAL: Final[str]
FACET_STAMP: Final[str]
FACET_LIMIT: Final[int]
FLAG_ERROR: Final[int]
"""Flags of events, fragments and relationships; see ``store/rows.py``."""
FLAG_DETACHED: Final[int]
FLAG_IDLESS: Final[int]
FLAG_SUPERSEDED: Final[int]
FLAG_RETRIEVAL: Final[int]
FLAG_INFERRED: Final[int]

Checkpoint: TypeAlias = tuple[int | bytes | None, ...]
"""The columns of a checkpoint, in the order of ``store.sources.CHECKPOINT_COLUMNS``."""
Columns: TypeAlias = tuple[int | str | bytes | None, ...]
"""A row, in the order of the columns of its table."""
Place: TypeAlias = tuple[int, int]
"""Number of the segment within its session, and depth; the root has depth 0."""
Segment: TypeAlias = tuple[int, Place | None, int, str | None]
"""Number, the place it branches off from, code of its origin, id of a missing parent."""
Ranges: TypeAlias = list[tuple[int, int]]
"""Code points, end exclusive, ascending."""

class NotASession(Exception):  # noqa: N818
    """The first record of the file is no Pi session header, or it is no regular file."""

class SourceChanged(Exception):  # noqa: N818
    """The file was replaced or rewritten while it was being read."""

@final
class Header:
    """The first record of a session file."""

    @property
    def id(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def timestamp(self) -> str | None: ...
    @property
    def timestamp_ms(self) -> int | None: ...
    @property
    def cwd(self) -> str:
        """Working directory; empty when the header has none."""
    @property
    def parent_session(self) -> str | None: ...

@final
class ParsedFragment:
    """One searchable part of an event."""

    @property
    def kind(self) -> int: ...
    @property
    def n(self) -> int:
        """Counts the fragments of this kind within the entry, from 0."""
    @property
    def tool_name(self) -> str | None: ...
    @property
    def custom_type(self) -> str | None: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def retrieval(self) -> bool:
        """A call or result of history retrieval, as far as the record itself tells."""
    @property
    def text(self) -> str:
        """The full source text."""

@final
class ParsedRelationship:
    """A reference that a record makes."""

    @property
    def kind(self) -> int: ...
    @property
    def reference(self) -> str: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def retrieval(self) -> bool: ...
    @property
    def inferred(self) -> bool: ...

@final
class ParsedEvent:
    """One record that was read back."""

    @property
    def id(self) -> str:
        """The recorded id, or one derived from position and content."""
    @property
    def parent_id(self) -> str | None: ...
    @property
    def entry_type(self) -> str: ...
    @property
    def role(self) -> str | None: ...
    @property
    def context_role(self) -> int: ...
    @property
    def contribution(self) -> int: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def retrieval(self) -> bool:
        """Some call or result in it is one of history retrieval."""
    @property
    def detached(self) -> bool:
        """Found on a line that Pi skips."""
    @property
    def idless(self) -> bool: ...
    @property
    def timestamp_ms(self) -> int:
        """0 when the record has no time."""
    @property
    def timestamp(self) -> str | None:
        """The recorded time, unless it is just ``timestamp_ms`` as Pi writes times."""
    @property
    def byte_start(self) -> int: ...
    @property
    def byte_end(self) -> int: ...
    @property
    def line(self) -> int:
        """From 1."""
    @property
    def record_hash(self) -> int: ...
    @property
    def copy_hash(self) -> int:
        """Equal in fork copies of one entry, which may have other parents."""
    @property
    def session_name(self) -> str | None:
        """The session's name from here on; empty when it is taken away."""
    @property
    def result_of(self) -> str | None:
        """Id of the tool call that the record answers."""
    @property
    def omissions(self) -> list[int]:
        """How much was left out, in the order of ``OMISSIONS``."""
    @property
    def fragments(self) -> list[ParsedFragment]: ...
    @property
    def relationships(self) -> list[ParsedRelationship]: ...
    @property
    def attributes(self) -> dict[str, str | int | float | bool]: ...

@final
class Batch:
    """Records handed out together, in append order."""

    @property
    def weight(self) -> int:
        """Bytes of its records."""
    @property
    def fragment_count(self) -> int: ...
    @property
    def receipts(self) -> list[tuple[str, int, int]]:
        """What was skipped or repaired: kind, count, byte offset of the first line."""
    def calls(self) -> list[tuple[int, list[tuple[str, bool]], str | None]]:
        """Records with tool calls or results: their number in the batch, id and retrieval mark of
        each call, and the id of the call they answer."""
    def take_rows(
        self,
        numbering: tuple[int, int, int, int],
        places: Sequence[Place | None],
        answers: list[int],
    ) -> Rows:
        """The rows; the batch gives them away, so ask the tree before.

        ``numbering``: epoch, workspace, number of the first event, first key. ``places``: segment
        as stored and depth of each event, None for one that a later event of its id supersedes.
        ``answers``: the events that belong to a call that was retrieval, ascending.
        """

@final
class Rows:
    """A batch as the stores take it."""

    @property
    def events(self) -> list[Columns]: ...
    @property
    def fragments(self) -> list[Columns]:
        """Those of events that are not superseded; numbered without gaps."""
    @property
    def documents(self) -> list[str]:
        """What the text index is told of these fragments, as JSON."""
    @property
    def relationships(self) -> list[Columns]: ...
    @property
    def placed(self) -> int:
        """Events that are not superseded."""
    @property
    def last_ts(self) -> int:
        """The latest time of an event."""
    @property
    def named(self) -> bool:
        """Whether the session's name was given or taken away."""
    @property
    def name(self) -> str | None: ...

@final
class Dictionary:
    """What the texts of an index have in common, so that each alone can be made small. Whatever was
    opened here makes texts readable that need it, everywhere in this process and until it ends."""

    @staticmethod
    def learn(stored: list[bytes]) -> Dictionary | None:
        """Learns from texts as they are stored; None when they have nothing in common."""
    @staticmethod
    def open(content: bytes, content_hash: int) -> Dictionary:
        """Makes a stored one ready.

        :raises ValueError: it is not the one that has this hash.
        """
    @staticmethod
    def opened_as(content_hash: int) -> Dictionary | None:
        """The one with this hash, if it was opened or learned before."""
    @property
    def content_hash(self) -> int: ...
    @property
    def content(self) -> bytes:
        """What to store of it."""

@final
class SessionReader:
    """One reading of one session file, from its checkpoint or whole.

    :raises OSError: the file cannot be opened or read.
    :raises NotASession: see there.
    """

    def __new__(
        cls, path: bytes, checkpoint: Checkpoint | None, version: int | None, now_ns: int
    ) -> SessionReader: ...
    @property
    def plan(self) -> str:
        """``unchanged``, ``append``, ``fresh`` or ``rebuild``."""
    @property
    def reason(self) -> str | None:
        """Why it is a rebuild."""
    @property
    def header(self) -> Header | None:
        """Of a whole reading."""
    @property
    def bytes_read(self) -> int:
        """Bytes read to be parsed."""
    @property
    def probed_bytes(self) -> int:
        """Bytes read to verify the checkpoint."""
    def next_batch(self, budget: int, dictionary: Dictionary | None) -> Batch | None:
        """At least ``budget`` bytes of records unless the file ends; None at the end. Their texts
        are compressed with the dictionary of their index, where it has one."""
    def checkpoint(self, now_ns: int) -> Checkpoint:
        """The checkpoint of what was handed out.

        :raises SourceChanged: the file is not the one that was opened any more.
        """

def read_header(path: bytes) -> Header:
    """The header of a session file; raises as :class:`SessionReader` does."""

def read_record(
    path: bytes, byte_start: int, byte_end: int, record_hash: int
) -> ParsedEvent | None:
    """The record of a byte range again; None when its bytes are not the indexed ones.

    :raises OSError: the file cannot be opened or read.
    """

def first_changed(path: bytes, records: list[tuple[int, int, int]]) -> int | None:
    """Which of some records, given by first byte, byte behind the last, and hash, is the first
    whose bytes are not the indexed ones.

    :raises OSError: the file cannot be opened or read.
    """

def is_settled(mtime_ns: int, ctime_ns: int, now_ns: int) -> bool:
    """Whether equal times will prove that nothing was written."""

@final
class TreeNeeds:
    """What must be looked up before a batch is appended."""

    @property
    def parents(self) -> list[str]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def branches(self) -> bool:
        """All segments and path rows of the session are needed."""

@final
class TreeDelta:
    """What a batch changes in the stored tree."""

    @property
    def new_segments(self) -> list[Segment]: ...
    @property
    def next_segment(self) -> int: ...
    @property
    def leaf_ord(self) -> int | None: ...
    @property
    def leaf_unknown(self) -> bool: ...
    @property
    def removed(self) -> list[int]:
        """Segments that leave the selected path."""
    @property
    def set(self) -> list[tuple[int, int]]:
        """(segment, deepest selected depth) of new or moved rows of the path."""
    @property
    def orphans(self) -> list[int]:
        """Ords of records whose recorded parent is missing."""

@final
class Tree:
    """Appends one batch to the tree of a session. ``leaf``: id, segment, depth, has a child."""

    def __new__(
        cls, next_segment: int, leaf: tuple[str, int, int, bool] | None, leaf_unknown: bool
    ) -> Tree: ...
    def needs(self, batch: Batch) -> TreeNeeds: ...
    def learn_place(
        self, entry_id: str, segment: int, depth: int, has_first_child: bool
    ) -> None: ...
    def learn_segment(self, number: int, parent: Place | None, origin: int) -> None: ...
    def learn_path(self, segment: int, upto: int) -> None: ...
    def learn_awaited(self, entry_id: str) -> None: ...
    def append(self, batch: Batch, first_ord: int) -> list[Place] | None:
        """Places of the batch's records; None when the whole tree must be rebuilt."""
    def finish(self) -> TreeDelta | None:
        """The changes; None as for :meth:`append`. Ends the tree."""

@final
class FullTree:
    """The tree of all records of a session."""

    @property
    def places(self) -> list[Place | None]:
        """None for a record that a later one of the same id supersedes."""
    @property
    def segments(self) -> list[Segment]: ...
    @property
    def path(self) -> list[tuple[int, int]]: ...
    @property
    def leaf_ord(self) -> int | None: ...
    @property
    def leaf_unknown(self) -> bool: ...
    @property
    def superseded(self) -> int: ...
    @property
    def orphans(self) -> int: ...
    @property
    def cycles(self) -> int: ...

def rebuild_tree(
    stored: list[tuple[int, str | None, str | None, bool]], batch: Batch, first_ord: int
) -> FullTree:
    """The tree of stored records (ord, id, parent id, detached) with the batch behind them."""

def window(
    path: list[tuple[int, int]], compactions: list[tuple[Place, Place | None]]
) -> tuple[Place, int] | None:
    """The newest compaction on the path, and the depth at which its kept range begins."""

@final
class Query:
    """A parsed query; the lists run in parallel, one item a clause."""

    @property
    def clauses(self) -> list[list[str]]:
        """One word, or several that stand side by side."""
    @property
    def parts(self) -> list[list[str]]:
        """Parts of a word that is an identifier of several; else empty."""
    @property
    def wholes(self) -> list[str | None]:
        """The word that names a whole identifier of several words among the parts of a text."""
    @property
    def display(self) -> list[str]:
        """Each clause as typed."""
    def only(self, number: int) -> Query:
        """The query of one clause alone."""

def parse_query(text: str) -> Query:
    """:raises ValueError: one sentence that says why nothing can be searched for."""

def bounded_text(blob: bytes, head: int | None) -> tuple[str, str]:
    """Head and tail of a stored text; the tail is empty when nothing was left out.

    This and the next four raise :exc:`ValueError` for a damaged blob.
    """

def stored_document(
    event: tuple[int, int, int, int, str, str | None, int],
    fragment: tuple[int, int, str | None, int],
    blob: bytes,
    head: int | None,
) -> str:
    """What the text index is told of a stored fragment, as JSON.

    ``event``: number, epoch, workspace, time, entry type, role, flags. ``fragment``: key, kind,
    tool name, flags.
    """

def stamp_document(key: int, token: int) -> str:
    """The document that marks a commit of the text index with a token."""

def snippet(blob: bytes, head: int | None, query: Query | None, limit: int) -> tuple[str, Ranges]:
    """An excerpt of at most ``limit`` code points, and what of it matches the query."""

def preview(text: str, limit: int) -> tuple[str, Ranges, Ranges, int]:
    """Head and tail of a text: what is shown, shown ranges, omitted ranges, its length."""

def preview_bounded(
    blob: bytes, head: int | None, total: int, limit: int
) -> tuple[str, Ranges, Ranges]:
    """:func:`preview` of a stored text whose source has ``total`` code points."""

def window_bounded(
    blob: bytes, head: int | None, total: int, offset: int, length: int
) -> tuple[str, Ranges, Ranges]:
    """One contiguous window of a stored text; empty where it was left out."""

def tokens(text: str) -> list[tuple[str, int, int, int]]:
    """Word, first code point, the one behind the last, and position of each token."""
