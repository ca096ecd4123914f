"""The smaller stories: a session of an old Pi (version 1) and one of another workspace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from session_writer import (
    PROVIDER,
    Entry,
    Session,
    call,
    file_name,
    folder,
    iso,
    milliseconds,
    usage,
    write_records,
)
from story_lamp import LIGHTHOUSE

STARTED = datetime(2025, 11, 18, 20, 3, 55, 102000, tzinfo=UTC)


def write_old_session(root: Path) -> Path:
    """A version 1 file: no ids, a compaction that counts records from the header, number 0."""
    moment = STARTED
    header = {
        "type": "session",
        "id": "7b0e9d52-33c4-4f0a-a1d8-90f1c2b7e6aa",
        "timestamp": iso(STARTED),
        "cwd": LIGHTHOUSE,
        "provider": PROVIDER,
        "modelId": "beacon-small",
        "thinkingLevel": "off",
    }
    records: list[Entry] = [header]

    def add(seconds: float, kind: str, **fields: object) -> None:
        nonlocal moment
        moment += timedelta(seconds=seconds)
        records.append({"type": kind, "timestamp": iso(moment), **fields})

    def message(seconds: float, role: str, content: object, **fields: object) -> None:
        at = milliseconds(moment + timedelta(seconds=seconds))
        add(
            seconds,
            "message",
            message={"role": role, "content": content, **fields, "timestamp": at},
        )

    def answer(seconds: float, *blocks: Entry) -> None:
        stop = "toolUse" if blocks[-1]["type"] == "toolCall" else "stop"
        message(
            seconds,
            "assistant",
            list(blocks),
            api="harbour-messages",
            provider=PROVIDER,
            model="beacon-small",
            usage=usage(900, 60),
            stopReason=stop,
        )

    message(12, "user", "The relay clicks twice when the lamp turns on. Debounce it in relay.py.")
    answer(
        5,
        {"type": "text", "text": "Reading the driver first."},
        call("call_a1", "read", path="lighthouse/relay.py"),
    )
    message(
        1,
        "toolResult",
        [
            {
                "type": "text",
                "text": "def switch(on: bool) -> None:\n    PIN.write(on)\n    PIN.write(on)\n",
            }
        ],
        toolCallId="call_a1",
        toolName="read",
        isError=False,
    )
    answer(
        6,
        {
            "type": "text",
            "text": "No bounce at all: `switch` writes the pin twice. Remove the second write.",
        },
    )
    message(40, "user", "Ha. Do that, and measure the inrush current while you are there.")
    add(
        3,
        "compaction",
        summary="The relay clicked twice because switch() in lighthouse/relay.py wrote the pin "
        "twice; the second write goes. Still open: measure the inrush current.",
        firstKeptEntryIndex=5,
        tokensBefore=2210,
    )
    answer(8, call("call_a2", "bash", command="python tools/inrush.py --samples 200"))
    message(
        9,
        "toolResult",
        [
            {
                "type": "text",
                "text": "Traceback (most recent call last):\nPermissionError: [Errno 13] "
                "Permission denied: '/dev/ttyUSB0'\n\nCommand exited with code 1",
            }
        ],
        toolCallId="call_a2",
        toolName="bash",
        isError=True,
    )
    answer(
        6,
        {
            "type": "text",
            "text": "I may not open the serial port. Join the group dialout, log in again, and I "
            "will measure then.",
        },
    )
    path = root / folder(LIGHTHOUSE) / file_name(STARTED, header["id"])
    return write_records(path, records)


def orchard_session() -> Session:
    """Another workspace: nothing of it may show where only the lighthouse is asked for."""
    session = Session(
        "019d2f6c-91d0-7e33-b5a4-0c7751ee8b20",
        datetime(2026, 3, 28, 13, 51, 9, 640000, tzinfo=UTC),
        "/home/ada/work/orchard",
    )
    session.add("model_change", provider=PROVIDER, modelId="beacon-large", after=0)
    session.user(
        "Valve 7 waters the pear trees at noon. Daylight saving starts tomorrow; will it drift?"
    )
    session.assistant(
        "Let me look at the timer.",
        call("call_31", "bash", command="systemctl list-timers valve-7 --no-pager"),
    )
    session.result(
        "call_31",
        "bash",
        "NEXT                         LEFT  LAST                         UNIT\n"
        "Sun 2026-03-29 12:00:00 CEST 21h   Sat 2026-03-28 12:00:00 CET  valve-7.timer\n\n"
        "1 timers listed.",
    )
    session.assistant(
        "It will not: the timer follows local time and the next run is 12:00 CEST. Pears at noon "
        "lose half of the water to the sun, though; 05:00 would be kinder."
    )
    session.user("Then 05:00. And call this session what it is about.")
    session.assistant(
        call(
            "call_32",
            "edit",
            path="units/valve-7.timer",
            edits=[{"oldText": "OnCalendar=12:00", "newText": "OnCalendar=05:00"}],
        )
    )
    session.result(
        "call_32",
        "edit",
        "Could not find the exact text in units/valve-7.timer. The old text must match exactly.",
        error=True,
    )
    session.assistant(
        "The unit spells it `OnCalendar=*-*-* 12:00`; corrected.",
        call(
            "call_33",
            "edit",
            path="units/valve-7.timer",
            edits=[{"oldText": "OnCalendar=*-*-* 12:00", "newText": "OnCalendar=*-*-* 05:00"}],
        ),
    )
    session.result("call_33", "edit", "Successfully replaced 1 block(s) in units/valve-7.timer.")
    session.assistant("Valve 7 opens at 05:00 from tomorrow on.")
    session.add("session_info", name="Watering times for the pear trees")
    return session
