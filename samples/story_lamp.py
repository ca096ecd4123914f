"""The main story: a lamp goes off an hour early; with a rewind, a compaction and a fork."""

from __future__ import annotations

from datetime import UTC, datetime

from payloads import lamp_chart, suite_log
from session_writer import PROVIDER, Session, call, image, thinking, usage

LIGHTHOUSE = "/home/ada/work/lighthouse"

FIRST_VERSION = """\
def lamp_off(on: datetime, darkness: timedelta) -> datetime:
    return on + darkness
"""
SPECIAL_CASE = """\
def lamp_off(on: datetime, darkness: timedelta) -> datetime:
    off = on + darkness
    if off.date() in CHANGEOVER_DAYS:
        off += timedelta(hours=1)
    return off
"""
ELAPSED_TIME = """\
def lamp_off(on: datetime, darkness: timedelta) -> datetime:
    return (on.astimezone(UTC) + darkness).astimezone(on.tzinfo)
"""
AUTUMN_FAILURE = """\
tests/test_schedule.py ..F.                                                [100%]

=================================== FAILURES ===================================
_________________________ test_lamp_off[2026-10-25] ____________________________
    def test_lamp_off(evening, darkness, expected):
>       assert lamp_off(evening, darkness) == expected
E       assert datetime(2026, 10, 25, 7, 44) == datetime(2026, 10, 25, 5, 44)
=========================== short test summary info ============================
FAILED tests/test_schedule.py::test_lamp_off[2026-10-25] - two hours late
1 failed, 3 passed in 0.31s

Command exited with code 1"""

RELEASE_NOTE = (
    "On the nights when clocks change, lamps now burn until the computed dawn. "
    "Before, they went off an hour early in spring and an hour late in autumn.\n"
)


def edited(path: str, before: str, after: str) -> dict[str, object]:
    """The arguments of an edit."""
    return {"path": path, "edits": [{"oldText": before, "newText": after}]}


def lamp_session() -> tuple[Session, str]:
    """The main session, and the entry at which it is forked later."""
    session = Session(
        "019d3840-5c1e-7a42-9b16-2f4d8c7e1a05",
        datetime(2026, 3, 30, 7, 12, 4, 318000, tzinfo=UTC),
        LIGHTHOUSE,
    )
    _open(session)
    cause = _find_cause(session)
    session.add("label", targetId=cause, label="root cause", after=20)
    crossroads = session.leaf
    dead_end = _special_case(session)
    # The rewind: Pi moves the leaf back and leaves a summary of what was abandoned.
    session.leaf = crossroads
    _elapsed_time(session, dead_end)
    fork_point = _hakodate(session)
    _release(session)
    return session, fork_point


def _open(session: Session) -> None:
    session.add("model_change", provider=PROVIDER, modelId="beacon-large", after=0)
    session.add("thinking_level_change", thinkingLevel="medium", after=0)
    session.message(
        "system",
        after=0,
        content="",
        sections={
            "preamble": "You are a coding agent working in a terminal.",
            "tools": "<tools>\n- bash\n- read\n- edit\n- run_tests\n</tools>",
            "cwd": LIGHTHOUSE,
        },
    )


def _find_cause(session: Session) -> str:
    session.user(
        "On Sunday morning the lamp at Skarvholm went off at 04:41 instead of 05:41, in full "
        "darkness. The night before it was right. Find out why before you change anything."
    )
    session.assistant(
        thinking("An hour, and the last Sunday of March: that smells of the clock change."),
        "That was the night daylight saving began. I will read how the off time is computed.",
        call("call_01", "read", path="lighthouse/schedule.py"),
        call("call_02", "read", path="lighthouse/clock.py"),
    )
    session.result("call_01", "read", FIRST_VERSION)
    session.result(
        "call_02",
        "read",
        "ENOENT: no such file or directory, open 'lighthouse/clock.py'",
        error=True,
        after=0.1,
    )
    session.assistant(
        "There is no clock module; let me see where `lamp_off` gets its time from.",
        call("call_03", "bash", command="grep -rn 'lamp_off(' lighthouse | head", timeout=20),
    )
    session.result(
        "call_03",
        "bash",
        "lighthouse/plan.py:58:    off = lamp_off(sunset_local(day, post), darkness(day, post))\n"
        "lighthouse/schedule.py:12:def lamp_off(on: datetime, darkness: timedelta) -> datetime:",
    )
    return session.assistant(
        "Found it. `sunset_local` gives a time with a zone, and Python adds a timedelta to such a "
        "time on the wall clock: 18:58 plus 9 h 43 min is 04:41 whatever happens in between. But "
        "at 02:00 daylight saving moved the wall clock to 03:00, so the lamp burned for 8 h 43 "
        "min only. In October the same line will keep it burning an hour too long."
    )


def _special_case(session: Session) -> str:
    session.user("Quick fix please: add the hour on the changeover days, we deploy at noon.")
    session.assistant(
        "Adding a table of changeover days.",
        call("call_04", "edit", **edited("lighthouse/schedule.py", FIRST_VERSION, SPECIAL_CASE)),
    )
    session.result(
        "call_04",
        "edit",
        "Successfully replaced 1 block(s) in lighthouse/schedule.py.",
        details={"diff": "+    if off.date() in CHANGEOVER_DAYS:", "firstChangedLine": 14},
    )
    session.assistant(
        call("call_05", "bash", command="python -m pytest -q tests/test_schedule.py", timeout=60)
    )
    session.result("call_05", "bash", AUTUMN_FAILURE, error=True, after=2.2)
    return session.assistant(
        "The special case is wrong in autumn: it adds an hour where one has to go, so the lamp "
        "would burn two hours too long on 25 October. It needs a sign, and a table that somebody "
        "keeps up to date. I would not ship this."
    )


def _elapsed_time(session: Session, dead_end: str) -> None:
    session.add(
        "branch_summary",
        fromId=dead_end,
        summary="A table of changeover days was tried in lighthouse/schedule.py and given up: "
        "tests/test_schedule.py failed for 2026-10-25, two hours late.",
        details={"readFiles": [], "modifiedFiles": ["lighthouse/schedule.py"]},
        after=55,
    )
    kept = session.user(
        "No special days. Darkness is elapsed time, so add it in UTC and convert back at the end."
    )
    session.assistant(
        "Agreed, then daylight saving needs no code at all.",
        call("call_06", "edit", **edited("lighthouse/schedule.py", FIRST_VERSION, ELAPSED_TIME)),
    )
    session.result("call_06", "edit", "Successfully replaced 1 block(s) in lighthouse/schedule.py.")
    session.add(
        "compaction",
        summary="## Goal\nThe lamp at Skarvholm went off one hour early on 2026-03-29.\n\n"
        "## Findings\n- `lamp_off` added elapsed time to a wall clock; daylight saving moved it.\n"
        "- A table of changeover days fails in autumn.\n\n## Next Steps\n"
        "1. Add in UTC, convert back.\n2. Run the whole suite for every station.",
        firstKeptEntryId=kept,
        tokensBefore=38122,
        details={
            "readFiles": ["lighthouse/plan.py"],
            "modifiedFiles": ["lighthouse/schedule.py"],
        },
        usage=usage(38122, 214),
        after=9,
    )


def _hakodate(session: Session) -> str:
    session.user("Now the whole suite, every station of the year, not only ours.")
    session.assistant(call("call_07", "run_tests", target="all", workers=2))
    log = session.result("call_07", "run_tests", suite_log(), error=True, after=48.2)
    session.assistant(error="529 overloaded: the provider asks to try again in 8 seconds", after=3)
    session.assistant(
        "1104 nights pass, the changeover nights among them. The one failure is not about the "
        "schedule: config/stations.toml gives Hakodate the zone Asia/Hakodate, which does not "
        "exist. All of Japan is Asia/Tokyo.",
        after=11,
    )
    # 100 KB of passing tests need not travel with every later request.
    session.add("context_edit", targetId=log, replacement=None)
    session.user(
        "函館灯台の当直からも問い合わせが来ています。日本には夏時間がないのに、なぜ函館だけ試験が"
        "失敗するのですか？日本語で答えてください。",
        after=180,
    )
    session.assistant(
        "夏時間とは関係ありません。設定ファイルのタイムゾーン名「Asia/Hakodate」が存在しないため、"
        "時刻を計算する前に止まっています。「Asia/Tokyo」に直します。",
        call(
            "call_08",
            "edit",
            **edited("config/stations.toml", 'zone = "Asia/Hakodate"', 'zone = "Asia/Tokyo"'),
        ),
    )
    session.result("call_08", "edit", "Successfully replaced 1 block(s) in config/stations.toml.")
    session.assistant(call("call_09", "run_tests", target="hakodate", workers=1))
    session.result("call_09", "run_tests", "221 passed in 9.87s", after=9.9)
    return session.assistant("函館の試験は221件すべて成功しました。")


def _release(session: Session) -> None:
    session.add("session_info", name="Lamp off an hour early at daylight saving", after=8)
    session.user(
        "The keeper sent this chart of the last six nights. Is Sunday the red one?",
        image(lamp_chart()),
        after=95,
    )
    session.assistant(
        "Yes: five nights reach the same column, the last row stops two half hours short of it. "
        "That is the hour between 04:41 and 05:41."
    )
    session.add("model_change", provider=PROVIDER, modelId="beacon-small", after=30)
    session.model = "beacon-small"
    session.add("thinking_level_change", thinkingLevel="off", after=0)
    session.user("请为秦皇岛的同事写一条中文提交说明，一句话即可。")
    session.assistant("修复夏令时切换当晚灯塔提前一小时熄灯的问题：熄灯时间改为按协调世界时累加。")
    session.bash(
        "git push origin lamp-off-in-utc",
        " ! [rejected]        lamp-off-in-utc -> lamp-off-in-utc (fetch first)\n"
        "error: failed to push some refs: the remote contains work that you do not have",
        1,
    )
    session.bash("date", "Mon Mar 30 09:25:24 CEST 2026", 0, hidden=True)
    session.add("custom", customType="deploy-watch", data={"polls": 4, "last": "canary"}, after=60)
    session.add(
        "custom_message",
        customType="deploy-watch",
        content="Canary utsira runs 5f0c2e1; tonight's off time 05:37 CEST, as computed by hand.",
        display=True,
        details={"host": "utsira-2"},
        after=300,
    )
    session.user("Good. Anything left that I should tell the other keepers?")
    session.assistant(
        "Two things: no station needs a table of changeover days any more, and whoever adds a "
        "station should take its zone from the list, since a misspelt one stops the whole plan."
    )


def release_note_fork(parent: Session, fork_point: str) -> Session:
    """A fork of the main session in which the release note is written."""
    session = Session(
        "019d3a11-07b3-7c58-8e2d-64a0f3b95d17",
        datetime(2026, 3, 30, 15, 39, 40, 275000, tzinfo=UTC),
        LIGHTHOUSE,
        parent=parent,
    )
    session.copy_path(parent, fork_point)
    session.user("From here, write the release note instead. Two sentences, no jargon.")
    session.assistant(
        "Writing it to CHANGES.md.",
        call(
            "call_21",
            "write",
            path="CHANGES.md",
            content=RELEASE_NOTE,
        ),
    )
    session.result(
        "call_21", "write", f"Successfully wrote {len(RELEASE_NOTE)} bytes to CHANGES.md"
    )
    session.assistant("Done; it names both nights, since the autumn one would have come next.")
    session.add("session_info", name="Release note for the clock change")
    return session
