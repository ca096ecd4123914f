"""The server: reads frames, hands requests to threads, writes answers, ends in good order.

The main thread only reads and hands on, so that a closed input or a signal is noticed at once
whatever the threads are doing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from pi_event_search.serve.catch_up import CatchUp
from pi_event_search.serve.frames import FrameReader, FrameWriter, TooLong
from pi_event_search.serve.log import Log
from pi_event_search.serve.methods import Methods, told
from pi_event_search.serve.protocol import (
    FAILED,
    INVALID_REQUEST,
    Batch,
    Call,
    Id,
    Message,
    Refused,
    RpcError,
    batch_frame,
    error_frame,
    parse_frame,
    result_frame,
)

THREADS = 8
MAX_BATCH = 100
"""Messages of one batch: its answer is one frame, which has to be held."""
MAX_OPEN = 4_096
MAX_BACKLOG = 16 << 20
"""Requests without an answer, and bytes of unread answers, at which no more is read."""
ANSWER_SECONDS = 10.0
"""How long answers to what was asked may take after the input was closed."""
GRACE_SECONDS = 2.0
"""How long they may take after a signal, and everything else may take to end."""
_BUSY_SECONDS = 0.02
_PIECE = 1 << 16
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass(slots=True)
class _Answers:
    """Collects the answers of a batch, and sends them when the last one is there."""

    send: Callable[[bytes], None]
    missing: int
    frames: list[bytes] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, frame: bytes) -> None:
        """Takes one answer."""
        with self.lock:
            self.frames.append(frame)
            complete = len(self.frames) == self.missing
        if complete:
            self.send(batch_frame(self.frames))


@dataclass(eq=False, slots=True)
class _Task:
    """A call on its way to its answer, which is sent once, whoever is first to have one."""

    call: Call
    send: Callable[[bytes], None]
    lock: threading.Lock = field(default_factory=threading.Lock)
    answered: bool = False

    def answer(self, frame: bytes) -> None:
        """Sends the answer, unless there was one already or nobody waits."""
        with self.lock:
            first, self.answered = not self.answered, True
        if first and not self.call.notification:
            self.send(frame)


class Server:
    """One connection: a descriptor to read from, one to write to."""

    def __init__(self, methods: Methods, log: Log, source: int, target: int) -> None:
        self._methods = methods
        self._log = log
        self._source = source
        self._writer = FrameWriter(target)
        self._catch_up = CatchUp(methods.engine, log)
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._open: set[_Task] = set()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name=f"worker-{n}", daemon=True)
            for n in range(THREADS)
        ]
        self._shutdown: _Task | None = None

    def run(self, signals: int) -> bool:
        """Serves until the input ends, `shutdown` is called, or a byte comes on `signals`.

        Returns whether every thread has ended; what an unended one was writing is undone by the
        next process that opens the index.
        """
        for thread in self._threads:
            thread.start()
        interrupted = self._read(signals)
        self._methods.engine.stopping.set()
        if interrupted:
            self._drop_waiting()
        ended = self._finish(GRACE_SECONDS if interrupted else ANSWER_SECONDS)
        if self._shutdown is not None:
            self._shutdown.answer(result_frame(self._shutdown.call.id, b"null"))
        until = time.monotonic() + GRACE_SECONDS
        ended &= self._writer.close(until - time.monotonic())
        return self._catch_up.stop(until - time.monotonic()) and ended

    def _read(self, signals: int) -> bool:
        """Reads frames until there are no more; returns whether a signal ended that."""
        reader = FrameReader()
        while True:
            busy = len(self._open) >= MAX_OPEN or self._writer.backlog >= MAX_BACKLOG
            sources = [signals] if busy else [self._source, signals]
            ready, _, _ = select.select(sources, [], [], _BUSY_SECONDS if busy else None)
            if signals in ready:
                return True
            if self._source not in ready:
                continue
            try:
                piece = os.read(self._source, _PIECE)
            except BlockingIOError:
                continue
            except OSError:
                piece = b""
            for frame in reader.feed(piece):
                self._frame(frame)
                if self._shutdown is not None:
                    return False
            if not piece:
                self._last(reader.rest())
                return False

    def _last(self, rest: bytes) -> None:
        """A whole call without its line end counts; half of one was never sent."""
        message = parse_frame(rest)
        if isinstance(message, Call | Batch):
            self._frame(rest)

    def _frame(self, frame: bytes | TooLong) -> None:
        if isinstance(frame, TooLong):
            error = RpcError(INVALID_REQUEST, "A frame may have at most 8 MiB.")
            self._writer.write(error_frame(None, error))
            return
        message = parse_frame(frame)
        if isinstance(message, Batch):
            self._batch(message)
        elif message is not None:
            self._accept(message, self._writer.write)

    def _batch(self, batch: Batch) -> None:
        if len(batch.messages) > MAX_BATCH:
            error = RpcError(INVALID_REQUEST, f"A batch may hold at most {MAX_BATCH} requests.")
            self._writer.write(error_frame(None, error))
            return
        waiting = sum(not (isinstance(m, Call) and m.notification) for m in batch.messages)
        answers = _Answers(self._writer.write, waiting)
        for message in batch.messages:
            self._accept(message, answers.add)

    def _accept(self, message: Message, send: Callable[[bytes], None]) -> None:
        if isinstance(message, Refused):
            send(error_frame(message.id, message.error))
            return
        task = _Task(message, send)
        match message.method:
            case "$/cancel":
                self._cancel(message)
                task.answer(result_frame(message.id, b"null"))
            case "shutdown":
                self._shutdown = task
            case "initialize":  # needs nothing, and no other request has to wait for it
                self._carry_out(task)
                self._catch_up.wake()
            case _:
                with self._lock:
                    self._open.add(task)
                self._tasks.put(task)
                self._catch_up.wake()

    def _cancel(self, call: Call) -> None:
        """Answers what waits or runs under an id; a result that comes later is dropped."""
        wanted = call.params.get("id")
        error = RpcError(FAILED, "The request was cancelled.", "INTERNAL")
        with self._lock:
            found = [task for task in self._open if _same(task.call.id, wanted)]
        for task in found:
            task.answer(error_frame(task.call.id, error))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if not task.answered:
                self._carry_out(task)
            with self._lock:
                self._open.discard(task)

    def _carry_out(self, task: _Task) -> None:
        call, began = task.call, time.monotonic()
        try:
            frame = result_frame(call.id, self._methods.call(call.method, call.params))
            outcome = "done"
        except BaseException as error:  # the engine's panics are no Exception
            answer = told(error)
            outcome = f"{answer.code} {answer.word or ''} {answer.message}"
            if answer.code == FAILED and answer.word in ("INTERNAL", "INDEX_ERROR"):
                self._log.failure(call.method[:80], error)
            frame = error_frame(call.id, answer)
        self._log.write(
            f"{call.method[:80]}: {outcome}, {(time.monotonic() - began) * 1000:.0f} ms"
        )
        task.answer(frame)

    def _finish(self, seconds: float) -> bool:
        """Lets the threads finish what was asked; returns whether they did in time."""
        until = time.monotonic() + seconds
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads)

    def _drop_waiting(self) -> None:
        with suppress(Empty):
            while True:
                self._tasks.get_nowait()


def _same(one: Id, other: object) -> bool:
    return type(one) is type(other) and one == other


@contextmanager
def signals_as_bytes() -> Iterator[int]:
    """A descriptor that becomes readable when the process is asked to end."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for number in _SIGNALS:
        signal.signal(number, lambda *_: None)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)


def take_standard_output() -> int:
    """A descriptor for frames. Whatever else is printed goes to standard error from now on."""
    frames = os.dup(1)
    os.set_inheritable(frames, False)
    sys.stdout.flush()
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr
    return frames
