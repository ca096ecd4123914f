"""Many requests at once: all answered, as the Python API answers, in memory that does not grow."""

from __future__ import annotations

import json
import random
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, EventSearchError, Invocation

from tests.serve.client import Client

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "sessions"
ROOT = "/home/ada/work/lighthouse"
CALLER = {"cwd": ROOT, "workspaceRoot": ROOT}
REQUESTS = 1_000
IN_FLIGHT = 8
MAX_GROWTH = 8 << 20
WORDS = (
    "lamp", "daylight saving", '"daylight saving"', "error", "夏時間", "utc", "test", "nothingever",
    "ZoneInfoNotFoundError", "the", "fix lamp", "***", "", "x" * 1_001,
)  # fmt: skip


def _requests(index: EventIndex, seed: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, name in Python and arguments (as in a frame) of mixed requests, wrong ones too."""
    choose = random.Random(seed)
    ada = Invocation(cwd=ROOT, workspace_root=ROOT)
    hits = index.search("the", invocation=ada, limit=50).hits
    known = [(hit.session_id, hit.entry_id) for hit in hits] + [("nope", "x")]
    made: list[tuple[str, str, dict[str, Any]]] = []
    for _ in range(REQUESTS):
        session_id, entry_id = choose.choice(known)
        event = {"sessionId": session_id, "entryId": entry_id}
        match choose.randrange(10):
            case 0:
                read = event | {
                    "before": choose.randrange(7),
                    "order": choose.choice(["append", "x"]),
                }
                made.append(("event/read", "read", read))
            case 1 | 2:
                made.append(("event/read", "read", event))
            case 3 | 4:
                made.append(("event/trace", "trace", event | {"depth": choose.randrange(1, 7)}))
            case 5:
                made.append(("session/lineage", "lineage", {"sessionId": session_id}))
            case _:
                query = {"query": choose.choice(WORDS), "limit": choose.choice([1, 20, 201])}
                if choose.random() < 0.3:
                    query |= {"kinds": [choose.choice(["user.text", "tool.result", "nokind"])]}
                if choose.random() < 0.2:
                    query |= {"branchStates": ["selected"], "sort": "newest"}
                made.append(("event/search", "search", query))
    return made


def _expected(index: EventIndex, name: str, arguments: dict[str, Any]) -> Any:
    """The answer of the Python API, or the word of its error."""
    spelled = {
        "sessionId": "session_id", "entryId": "entry_id", "branchStates": "branch_states",
    }  # fmt: skip
    given = {spelled.get(key, key): value for key, value in arguments.items()}
    try:
        answer = getattr(index, name)(**given, invocation=Invocation(ROOT, ROOT))
    except EventSearchError as error:
        return error.code
    return answer.to_plain(local=False)


def _answered(frame: Any) -> Any:
    return frame["result"] if "result" in frame else frame["error"]["data"]["code"]


def _resident(client: Client) -> int:
    """Bytes of memory of the server."""
    status = Path(f"/proc/{client.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


@pytest.fixture
def served(tmp_path: Path) -> Any:
    with Client(tmp_path / "index", SAMPLES) as client:
        client.caught_up(CALLER, 3)
        with EventIndex.open(tmp_path / "index", [SAMPLES], bridged=True) as index:
            yield client, index


def test_a_thousand_mixed_requests(served: tuple[Client, EventIndex]) -> None:
    client, index = served
    coverage = client.result("index/status", {"invocation": CALLER})
    requests = _requests(index, seed=7)
    before = 0
    waiting: deque[tuple[int, str, dict[str, Any]]] = deque()
    answers = []
    for number, (method, name, arguments) in enumerate(requests):
        if number == REQUESTS // 5 and Path("/proc/self/status").exists():
            before = _resident(client)
        call = client.begin(method, {"arguments": arguments, "invocation": CALLER})
        waiting.append((call, name, arguments))
        if len(waiting) == IN_FLIGHT:
            call, name, arguments = waiting.popleft()
            answers.append((_answered(client.answer(call)), name, arguments))
    for call, name, arguments in waiting:
        answers.append((_answered(client.answer(call)), name, arguments))
    if before:
        assert _resident(client) - before <= MAX_GROWTH
    assert len(answers) == REQUESTS
    expected: dict[str, Any] = {}
    for answer, name, arguments in answers:
        key = json.dumps([name, arguments])
        if key not in expected:
            expected[key] = _expected(index, name, arguments)
        # When the directories were last looked at may differ, and nothing else.
        for side in (answer, expected[key]):
            if isinstance(side, dict) and "coverage" in side:
                side["coverage"]["lastReconciledAt"] = coverage["lastReconciledAt"]
        assert answer == expected[key], key
    assert client.end() == 0
