"""The index as programs use it.

What a search does not need is loaded by the first call that does: a search from the shell is over
sooner than all of it is loaded.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pi_event_search import _core, config
from pi_event_search.access.coverage import coverage_of, problems_of
from pi_event_search.access.scope import scope_of
from pi_event_search.access.view import View
from pi_event_search.access.visible import Catalogs
from pi_event_search.errors import IndexBusy, IndexProblem, InvalidArgument
from pi_event_search.ingest.reconcile import Counts, Pace, Reconciler
from pi_event_search.services.search import Search
from pi_event_search.store.lease import WAIT_SECONDS
from pi_event_search.store.schema import SCHEMA_VERSION
from pi_event_search.store.store import Snapshot, Store
from pi_event_search.types.coverage import Change, Coverage, Problem, Progress, SyncReport
from pi_event_search.types.requests import (
    Invocation,
    Moment,
    PathText,
    ReadRequest,
    SearchRequest,
    SessionsRequest,
    TraceRequest,
    words,
)
from pi_event_search.types.search import SearchPage
from pi_event_search.upkeep.audit import PIECE_BYTES, Audit
from pi_event_search.upkeep.maintain import bring_up_to_date, rebuild

if TYPE_CHECKING:
    from pi_event_search.types.event import Event
    from pi_event_search.types.sessions import Lineage, SessionPage, Status, Verification
    from pi_event_search.types.trace import Trace

_SMALL_BATCH_BYTES = 8_000_000
"""Session records after which a batch is published while questions are answered."""

_LIVE = "FROM sources so JOIN sessions se ON se.epoch = so.epoch"
_TRUSTED = Invocation(cwd="/", workspace_root="/")
"""The program that owns the index, asking for everything."""


class EventIndex:
    """The index of Pi's session files. Use :meth:`open`, best in a ``with`` statement.

    One object may be used by several threads. Results are frozen objects with ``to_json()``.
    Every method raises the errors of :mod:`pi_event_search.errors` and no others on purpose.
    """

    def __init__(self, store: Store, settings: config.Config, *, bridged: bool = False) -> None:
        self._store = store
        self._config = settings
        self._bridged = bridged
        self._catalogs = Catalogs(settings)
        self._audit = Audit(store.database)
        self._auditing = threading.Lock()

    @classmethod
    def open(
        cls,
        index_dir: PathText | None = None,
        session_dirs: Iterable[PathText] | None = None,
        exclude: Sequence[str] = (),
        *,
        bridged: bool = False,
    ) -> Self:
        """Opens the index, and makes an empty one where there is none; ``sync`` fills it.

        :param index_dir: where it lies; ``None``: ``pi-event-search`` in Pi's agent directory.
        :param session_dirs: directories with session files; ``None``: Pi's own, and archives
            named by the environment.
        :param exclude: glob patterns of session files to leave out.
        :param bridged: the answers go to somebody who must not learn of other workspaces, so files
            of which nobody can say the workspace are not counted.
        :raises IndexProblem: the directory cannot be used, or a newer program wrote the index.
        """
        settings = config.load(index_dir=index_dir, session_dirs=session_dirs, exclude=exclude)
        return cls(Store.open(Path(settings.index_dir)), settings, bridged=bridged)

    def close(self) -> None:
        """Releases files and locks. Closing twice is fine."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def sync(
        self,
        path: PathText | None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        changed: Callable[[Change], None] | None = None,
    ) -> SyncReport:
        """Brings the index up to date with the session directories, or with one file.

        ``changed`` is told of each file as soon as answers show what became of it.

        :raises IndexBusy: another process is writing and did not finish in time.
        :raises InvalidArgument: ``path`` cannot be opened.
        """
        started = time.monotonic()
        with self._guarded():
            one = None if path is None else os.fspath(path)
            counts = bring_up_to_date(self._store, self._config, one, progress, changed)
            coverage = self._whole_coverage()
        return _report(counts, coverage, started)

    def refresh(
        self,
        path: PathText | None = None,
        *,
        patience: float = WAIT_SECONDS,
        progress: Callable[[Progress], None] | None = None,
    ) -> bool:
        """Brings the index up to date before a question, or one session file of it: `sync` for who
        wants no report, which takes as long as finding out that nothing has changed.

        ``patience``: seconds to wait for another writer. Returns whether there is such a file.

        :raises IndexBusy: another process is writing and did not hand over in that time, or, for
            one file, the whole index has to be built anew first.
        """
        one = None if path is None else os.fspath(path)
        with self._guarded():
            if one is not None and self._store.is_outdated():
                raise IndexBusy
            try:
                pace = Pace(wait=patience)
                bring_up_to_date(self._store, self._config, one, progress, pace=pace)
            except InvalidArgument:
                return False
        return True

    def catch_up(self, progress: Callable[[Progress], None]) -> None:
        """`sync` for a process that answers questions meanwhile: published in small batches, the
        newest sessions first, leaving the turn to whoever waits for it.

        What ``progress`` raises ends it; everything published until then stays.

        :raises IndexBusy: another process is writing and did not finish in time.
        """
        pace = Pace(batch_bytes=_SMALL_BATCH_BYTES)
        with self._guarded():
            bring_up_to_date(self._store, self._config, None, progress, pace=pace)

    def audit(
        self,
        budget: int = PIECE_BYTES,
        *,
        progress: Callable[[Progress], None] | None = None,
        changed: Callable[[Change], None] | None = None,
    ) -> bool:
        """Compares about ``budget`` bytes of what is indexed with the session files, record by
        record, and reads a file afresh that holds something else. Returns whether more is left.

        It finds what a sync may miss: an edit in place of a file that grew as well. For whoever
        has time; `watch` and `serve` do it when there is nothing else to do. What was compared is
        not compared again by this object before its file has changed.

        :raises IndexBusy: another process is writing and did not finish in time.
        """
        with self._guarded(), self._auditing:
            found = self._audit.step(budget)
            if found.changed is not None:
                reconciler = Reconciler(self._store, self._config, progress, changed)
                with suppress(InvalidArgument):  # it has gone; the next sync tells
                    reconciler.file(os.fsdecode(found.changed), explicit=False, afresh=True)
        return not found.finished

    def watch(
        self,
        changed: Callable[[Change], None],
        *,
        stop: threading.Event | None = None,
        busy: Callable[[IndexBusy], None] | None = None,
        wakeups: Iterable[object] | None = None,
    ) -> None:
        """Keeps the index current until ``stop`` is set, or an exception such as Ctrl-C ends it.

        :param changed: is told of each session file whose change has become visible.
        :param busy: is told when another process has the index; the next wake-up tries again.
        :param wakeups: when to look; ``None``: whenever something happens in the session
            directories, and every 15 seconds.
        """
        from pi_event_search.upkeep.watch import Notifications, keep_current

        ended = threading.Event() if stop is None else stop
        if wakeups is None:
            directories = [directory.path for directory in self._config.session_dirs]
            wakeups = Notifications(directories, Path(self._config.index_dir), ended)
        keep_current(self.sync, self.audit, wakeups, changed=changed, busy=busy, stop=ended)

    def rebuild(self, *, progress: Callable[[Progress], None] | None = None) -> SyncReport:
        """Builds a new index beside this one from all session files, and switches to it.

        Until then this one answers. Whoever has it open finds the new one with the next question.

        :raises IndexBusy: another process is writing and did not finish in time.
        """
        started = time.monotonic()
        with self._guarded():
            counts = rebuild(self._store, self._config, progress)
            coverage = self._whole_coverage()
        return _report(counts, coverage, started)

    def verify(self, *, progress: Callable[[Progress], None] | None = None) -> Verification:
        """Brings the index up to date, builds another one from the session files in a temporary
        place, and compares: facts, states, texts, and what searches find.

        Damage that is found is reported and left as it is; the next ``sync`` or ``rebuild``
        repairs it. A file that holds other records than the indexed ones is read afresh at once.

        :raises IndexBusy: another process is writing and did not finish in time.
        """
        from pi_event_search.types.sessions import Verification
        from pi_event_search.upkeep.verify import damage_of, verify

        with self._guarded():
            damage = damage_of(self._store)
            if damage:
                return Verification(equal=False, sessions=0, events=0, differences=tuple(damage))
            result = verify(self._store, self._config, self.sync, progress)
        if not result.equal:
            with suppress(IndexBusy):
                while self.audit():
                    pass
        return result

    def search(
        self,
        query: str = "",
        *,
        invocation: Invocation | None = None,
        limit: int = 20,
        session_id: str | None = None,
        cwd: str | None = None,
        kinds: Iterable[str] = (),
        entry_types: Iterable[str] = (),
        roles: Iterable[str] = (),
        tool_names: Iterable[str] = (),
        branch_states: Iterable[str] = (),
        selection_states: Iterable[str] = (),
        error_only: bool = False,
        time_from: Moment | None = None,
        time_to: Moment | None = None,
        file: str | None = None,
        sort: str = "relevance",
    ) -> SearchPage:
        """Events that match all words and phrases of the query and all filters.

        Without words at least one filter is needed, and the newest events come first.

        :raises InvalidQuery: nothing to search for, or too much.
        :raises InvalidArgument: a filter is out of range.
        :raises NotFound: ``session_id`` names no session the caller may see.
        """
        request = SearchRequest(
            query=query,
            limit=limit,
            session_id=session_id,
            cwd=cwd,
            kinds=words("kinds", kinds),
            entry_types=words("entry_types", entry_types),
            roles=words("roles", roles),
            tool_names=words("tool_names", tool_names),
            branch_states=words("branch_states", branch_states),
            selection_states=words("selection_states", selection_states),
            error_only=error_only,
            time_from=time_from,
            time_to=time_to,
            file=file,
            sort=sort,
        )
        with self._asking(), self._view(invocation) as (snapshot, view):
            search = Search(snapshot, view.scope, request)
            hits = search.hits()
            return SearchPage(
                hits,
                self._coverage(snapshot, view),
                None if hits else search.diagnostics(),
            )

    def read(
        self,
        session_id: str,
        entry_id: str,
        *,
        invocation: Invocation | None = None,
        fragment_id: str | None = None,
        offset: int | None = None,
        window: int | None = None,
        order: str = "branch",
        before: int = 1,
        after: int = 1,
    ) -> Event:
        """One event from its source file, with bounded texts and its neighbours.

        A file that changed under the index is synced and read again; where that does not help,
        ``source.state`` says so and the texts are the bounded ones of the index.

        :raises NotFound: no such event, or the caller may not see it.
        :raises InvalidArgument: an argument is out of range.
        """
        request = ReadRequest(
            session_id=session_id,
            entry_id=entry_id,
            fragment_id=fragment_id,
            offset=offset,
            window=window,
            order=order,
            before=before,
            after=after,
        )
        from pi_event_search.services.read import SourceModified

        with self._asking():
            try:
                return self._read(request, invocation, accept_modified=False)
            except SourceModified:
                # Where that fails, the answer says that the source was modified.
                with suppress(IndexBusy, IndexProblem, InvalidArgument):
                    self._resync(request.session_id, invocation)
                return self._read(request, invocation, accept_modified=True)

    def trace(
        self,
        session_id: str,
        entry_id: str,
        *,
        invocation: Invocation | None = None,
        depth: int = 1,
    ) -> Trace:
        """What an event is related to: parent, children, siblings.

        :raises NotFound: no such event, or the caller may not see it.
        """
        request = TraceRequest(session_id=session_id, entry_id=entry_id, depth=depth)
        from pi_event_search.services.trace import trace_event

        with self._asking(), self._view(invocation) as (_, view):
            return trace_event(view, request)

    def sessions(
        self,
        *,
        invocation: Invocation | None = None,
        limit: int = 50,
        name: str | None = None,
        time_from: Moment | None = None,
        time_to: Moment | None = None,
    ) -> SessionPage:
        """Sessions the caller may see, the newest activity first."""
        request = SessionsRequest(limit=limit, name=name, time_from=time_from, time_to=time_to)
        from pi_event_search.services.sessions import list_sessions

        with self._asking(), self._view(invocation) as (snapshot, view):
            coverage = self._coverage(snapshot, view)
            return list_sessions(view, request, coverage)

    def lineage(self, session_id: str, *, invocation: Invocation | None = None) -> Lineage:
        """The session a session was forked from, and those forked from it.

        :raises NotFound: no such session, or the caller may not see it.
        """
        from pi_event_search.services.sessions import lineage_of

        with self._asking(), self._view(invocation) as (_, view):
            return lineage_of(view, session_id)

    def coverage(self, *, invocation: Invocation | None = None) -> Coverage:
        """How much of the history in the caller's scope is indexed."""
        with self._guarded(), self._view(invocation) as (snapshot, view):
            return self._coverage(snapshot, view)

    def status(self, *, invocation: Invocation | None = None) -> Status:
        """What is indexed, and what is not and why."""
        from pi_event_search.types.sessions import IndexFacts, Status

        with self._asking(), self._view(invocation) as (snapshot, view):
            count = snapshot.connection.execute
            return Status(
                index=IndexFacts(
                    path=str(self._store.directory),
                    schema_version=SCHEMA_VERSION,
                    projector_version=_core.PROJECTOR_VERSION,
                    size_bytes=self._store.size_bytes(),
                    sessions=count(f"SELECT count(*) {_LIVE}").fetchone()[0],
                    events=count(f"SELECT ifnull(sum(se.events), 0) {_LIVE}").fetchone()[0],
                    fragments=count("SELECT count(*) FROM fragments").fetchone()[0],
                ),
                coverage=self._coverage(snapshot, view),
                problems=(
                    *(
                        Problem(os.fsdecode(found.path), found.kind, found.detail, 1)
                        for found in self._config.problems
                    ),
                    *problems_of(snapshot.connection, view.scope),
                ),
            )

    def _read(
        self, request: ReadRequest, invocation: Invocation | None, *, accept_modified: bool
    ) -> Event:
        from pi_event_search.services.read import read_event

        with self._view(invocation) as (snapshot, view):
            coverage = self._coverage(snapshot, view)
            return read_event(view, request, coverage, accept_modified=accept_modified)

    def _resync(self, session_id: str, invocation: Invocation | None) -> None:
        with self._view(invocation) as (_, view):
            path = os.fsdecode(view.scope.resolve(session_id).path)
        Reconciler(self._store, self._config).file(path, explicit=False, afresh=True)

    def _whole_coverage(self) -> Coverage:
        with self._view(_TRUSTED) as (snapshot, view):
            return self._coverage(snapshot, view)

    @contextmanager
    def _view(self, invocation: Invocation | None) -> Iterator[tuple[Snapshot, View]]:
        caller = invocation if invocation is not None else Invocation(cwd=".")
        steps = self._store.database.steps
        with self._store.snapshot() as snapshot:
            catalog = self._catalogs.of(snapshot.connection, snapshot.generation, steps)
            scope = scope_of(snapshot.connection, catalog, caller, self._config)
            yield snapshot, View(snapshot.connection, scope)

    def _coverage(self, snapshot: Snapshot, view: View) -> Coverage:
        return coverage_of(
            snapshot.connection,
            view.scope,
            being_written=self._store.being_written(),
            overtaken=lambda: self._store.is_overtaken(snapshot),
            attributed=self._bridged,
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """What goes wrong in the stores becomes an error of this package."""
        with self._store.guarded():
            yield

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """As :meth:`_guarded`, for questions. Rows of a damaged index may be of any kind; what
        they lead to is its problem, and the cause is kept for whoever looks for a mistake of ours.
        """
        with self._guarded():
            try:
                yield
            except (LookupError, TypeError, ValueError, ArithmeticError, AssertionError) as error:
                raise IndexProblem(
                    f"The index holds something that makes no sense ({type(error).__name__}:"
                    f" {error}); `verify` tells what differs, `rebuild` makes a new index."
                ) from error


def _report(counts: Counts, coverage: Coverage, started: float) -> SyncReport:
    values: dict[str, Any] = {name: getattr(counts, name) for name in Counts.__slots__}
    duration_ms = int((time.monotonic() - started) * 1000)
    return SyncReport(**values, duration_ms=duration_ms, coverage=coverage)
