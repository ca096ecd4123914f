"""Hypothesis strategies for whole session files, from realistic to badly damaged.

`sessions()` gives the records of a file and how they stand on its lines; `.data` is its bytes.
`appends(data)` cuts bytes at arbitrary points, also in the middle of characters.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Record = dict[str, Any]

_WORDS = [
    "lock", "Tantivy", "commit", "src/main.rs", "eventSearch", "snake_case_name", "naïve", "Straße",
    "検索する", "한국어", "ไทย", "👩‍💻", "🦀", "e\u0301tude", "ﬁle", "٣",
    "x" * 70, "E0308", "--flag=1", "4.2e10",
]  # fmt: skip
_RAW = [
    "\ud83d", "\udc00", "\0", "\x1b[31m", "\u2028", "\x85", "\x0c", "\r\n", "\t", "\ufeff", '"',
    "\\",
]  # fmt: skip
TIMES = [
    "2026-01-05T09:00:00.000Z", "2026-01-05T09:00:00.001Z", "2025-12-31T23:59:59.999Z",
    "2026-01-05T10:00:00+01:00",
]  # fmt: skip


_word = (
    st.sampled_from(_WORDS) | st.sampled_from(_WORDS) | st.text(max_size=6) | st.sampled_from(_RAW)
)
_joints = st.sampled_from([" ", " ", " ", "\n", "", "-"])


def _joined(most: int) -> st.SearchStrategy[str]:
    return st.tuples(st.lists(_word, max_size=most), _joints).map(lambda p: p[1].join(p[0]))


TEXTS = _joined(5)
"""Words of many scripts with, now and then, something that breaks naive readers."""
SHORT = _joined(2)
_image = st.just({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"})
_said = TEXTS.map(lambda t: {"type": "text", "text": t})
CONTENTS: st.SearchStrategy[Any] = (
    TEXTS | st.lists(_said | _image, max_size=3) | st.sampled_from(["", [], None])
)
"""Message content: text, blocks, and what old or hand-made files hold instead."""

_scalars = st.none() | st.booleans() | st.integers() | SHORT | st.sampled_from([1.5, 1e300, -0.0])
_arguments = st.dictionaries(
    st.sampled_from(["path", "command", "deep", "0", "a.b", ""]),
    st.recursive(
        _scalars,
        lambda s: st.lists(s, max_size=3) | st.dictionaries(SHORT, s, max_size=2),
        max_leaves=6,
    ),
    max_size=3,
)
TOOLS = st.sampled_from(["bash", "read", "edit", "write", "event_search", "mcp__docs__lookup"])
CALL_IDS = st.sampled_from(["call_1", "call_2", "call_3", "cm1/2"])
_call = st.builds(
    lambda i, n, a: {"type": "toolCall", "id": i, "name": n, "arguments": a},
    CALL_IDS, TOOLS, _arguments,
)  # fmt: skip
_thinking = st.just({"type": "thinking", "thinking": "private", "thinkingSignature": "s"})
_flag = st.booleans()


def _fields(**parts: Any) -> st.SearchStrategy[Record]:
    """A record of these fields; what is no strategy stands for itself."""
    ready = {k: v if isinstance(v, st.SearchStrategy) else st.just(v) for k, v in parts.items()}
    return st.fixed_dictionaries(ready)


MESSAGES: dict[str, st.SearchStrategy[Record]] = {
    "user": _fields(role="user", content=CONTENTS),
    "assistant": _fields(
        role="assistant", content=st.lists(_thinking | _call | _said, max_size=4),
        stopReason=st.sampled_from(["stop", "toolUse"]), provider="faux", model="scripted",
    ),
    "failed": _fields(
        role="assistant", content=st.lists(_said, max_size=1), errorMessage=TEXTS,
        stopReason=st.sampled_from(["error", "aborted"]), provider="faux", model="scripted",
    ),
    "toolResult": _fields(
        role="toolResult", toolCallId=CALL_IDS, toolName=TOOLS, isError=_flag, content=CONTENTS,
        details={"secret": "never shown"},
    ),
    "bashExecution": _fields(
        role="bashExecution", command=TEXTS, output=TEXTS, excludeFromContext=_flag,
        exitCode=st.sampled_from([0, 1, 127, None]),
    ),
    "custom": _fields(role="custom", customType=SHORT, content=CONTENTS, display=_flag),
    "system": _fields(role="system", content=CONTENTS, sections={"preamble": "You are helpful."}),
    "branchSummary": _fields(role="branchSummary", summary=TEXTS),
    "compactionSummary": _fields(role="compactionSummary", summary=TEXTS),
    "robot": _fields(role="robot", content=CONTENTS),
}  # fmt: skip
_often = ["user"] * 3 + ["assistant"] * 3 + ["toolResult"] * 3 + list(MESSAGES)


def _names() -> st.SearchStrategy[str]:
    """Session names; trimming differs between languages for a few code points, left out here."""
    odd = str.maketrans("", "", "\x1c\x1d\x1e\x1f\x85\u180e")
    return SHORT.map(lambda t: t.translate(odd)) | st.sampled_from(["", "  two\nlines  "])


_details = {"readFiles": ["src/a.rs"], "modifiedFiles": ["src/b.rs"]}
_label = st.sampled_from([{"label": "good"}, {"label": "bad"}, {"label": ""}, {}])
_plain: dict[str, st.SearchStrategy[Record]] = {
    "compaction": _fields(summary=TEXTS, tokensBefore=9, details=_details),
    "context_edit": _fields(replacement=st.sampled_from([None, None, {"content": "shorter"}])),
    "label": _label,
    "branch_summary": _fields(summary=TEXTS, details=_details),
    "custom_message": _fields(customType=SHORT, content=CONTENTS, display=_flag),
    "session_info": _fields(name=_names()),
    "custom": _fields(customType="todo", data={"note": "extension state"}),
    "model_change": _fields(provider="faux", modelId="m-2"),
    "thinking_level_change": _fields(thinkingLevel="high"),
    "usage": _fields(kind="classifier", provider="faux", model="m", usage={}),
    "title": _fields(title=TEXTS),
    "from_the_future": _fields(content=CONTENTS),
}
_kinds = ["message"] * 14 + ["compaction", "context_edit", "label"] * 2 + list(_plain)
_REFERENCES = {
    "compaction": "firstKeptEntryId", "context_edit": "targetId", "label": "targetId",
    "branch_summary": "fromId",
}  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn, ids: list[str], own: str) -> Record:
    """An entry without its place in the tree; `ids` are those it may refer to."""
    kind = draw(st.sampled_from(_kinds))
    if kind == "message":
        return {"type": kind, "message": draw(MESSAGES[draw(st.sampled_from(_often))])}
    record = {"type": kind, **draw(_plain[kind])}
    if kind in _REFERENCES:
        record[_REFERENCES[kind]] = draw(st.sampled_from([*ids[-6:] * 4, *ids, own, "gone"]))
    return record


@dataclass(frozen=True)
class SessionFile:
    header: Record
    records: list[Record]
    """As written, also those a reader cannot get back from damaged lines."""
    data: bytes


@st.composite
def sessions(
    draw: st.DrawFn,
    *,
    damaged: bool = True,
    version: int | None = 3,
    max_entries: int = 24,
    session_id: str = "0199-session",
    cwd: str = "/work",
    odd: bool = False,
) -> SessionFile:
    """`damaged=False`: what Pi itself could have written, so Pi has an answer to everything.

    `version=None` draws one. Version 1 records have no ids and name the kept entry by index.
    `odd` adds what no Pi has written and no crash leaves behind: ids and parents of other types,
    further headers, fields of another format version, lines in front of the header.
    """
    version = draw(st.sampled_from([1, 2, 3, 3, 3])) if version is None else version
    header: Record = {"type": "session", "version": version, "id": session_id, "cwd": cwd}
    header["timestamp"] = TIMES[0]
    if version == 1:
        del header["version"]
    records = draw(_records(draw(st.integers(0, max_entries)), damaged=damaged))
    spoiled = draw(_some(len(records), damaged=odd))
    for n in spoiled:
        records[n] = draw(_odd_record(records[n]))
    if version < 3:
        records = [
            _older(record, version, draw(st.integers(0, 30)))
            if n not in spoiled or draw(_flag)
            else record
            for n, record in enumerate(records)
        ]
    lines = [dump(record) + b"\n" for record in [header, *records]]
    for n in draw(_some(len(records), damaged=damaged)):
        lines[n + 1] = draw(_damaged_line(lines[n + 1][:-1]))
    if lines[-1].endswith(b"}\n") and draw(_flag):  # only an object is a record without its LF
        lines[-1] = lines[-1].removesuffix(b"\n")
    if damaged and draw(_rarely):
        lines.insert(0, draw(st.sampled_from([b"\n", b"null\n", b"no json\n", b'{"type":"se\n'])))
    if odd:
        lines = draw(_odd_lines(lines))
    return SessionFile(header, records, b"".join(lines))


_ODD = [5, 0, True, False, "", ["gone"], {"id": "gone"}, None]


@st.composite
def _odd_record(draw: st.DrawFn, record: Record) -> Record:
    """The record with an id, a parent or a role that makes no sense in its file."""
    name = draw(st.sampled_from(["id", "parentId", "parentId", "role", "type"]))
    if name == "role":
        message = draw(MESSAGES["custom"]) | {"role": "hookMessage"}
        return record | {"type": "message", "message": message}
    if name == "type":
        return record | {"type": draw(st.sampled_from(["session", "", 7, None]))}
    return record | {name: draw(st.sampled_from(_ODD))}


@st.composite
def _odd_lines(draw: st.DrawFn, lines: list[bytes]) -> list[bytes]:
    """The lines with others before them, or all of them with other ends."""
    glued = b'{"type":"mes{"type":"message","id":"early","message":{"role":"user","content":"x"}}\n'
    before = [b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"0\n", b'""\n', b" \t\r\n", glued, b"[]\n"]
    lines = draw(st.lists(st.sampled_from(before), max_size=2)) + lines
    if draw(_rarely):
        lines = [line.replace(b"\n", b"\r\n") for line in lines]
    return lines


_rarely = st.sampled_from([False] * 9 + [True])


def _some(count: int, *, damaged: bool) -> st.SearchStrategy[list[int]]:
    """Which of `count` things are damaged: few or none."""
    if not damaged or not count:
        return st.just([])
    return st.lists(st.integers(0, count - 1), max_size=3, unique=True)


@st.composite
def _records(draw: st.DrawFn, count: int, *, damaged: bool) -> list[Record]:
    """Mostly a chain, with branches, new roots, and in damaged files impossible parents and ids."""
    pool = [f"{n:08x}" for n in range(0xA0, 0xA0 + count)] if draw(_flag) else NUMBERLIKE
    pool = (pool + [f"id-{n}" for n in range(count)])[:count]
    wrong = draw(_some(count, damaged=damaged))
    found: list[Record] = []
    last: str | None = None
    for n, own in enumerate(pool):
        before = pool[:n]
        parents = [last] * 12 + [None, *before[-8:]]
        record = draw(bodies(before, own))
        fate = draw(st.sampled_from(FATES)) if n in wrong else ""
        if fate == "duplicate" and before:
            own = draw(st.sampled_from(before))
        elif fate == "misplaced":
            parents = ["gone", own, *pool]  # an orphan, a self-parent, a parent that comes later
        record |= {"id": own, "parentId": draw(st.sampled_from(parents))}
        record["timestamp"] = draw(st.sampled_from(TIMES))
        if fate == "idless":
            del record["id"]
        else:
            last = own
        found.append(record)
    return found


FATES = ["duplicate", "misplaced", "misplaced", "idless"]
NUMBERLIKE = ["12345678", "1234e567", "00000000", "1e5", "-1", "NaN", "0x10", "１２"]


def _older(record: Record, version: int, index: int) -> Record:
    """The record as a version 1 or 2 Pi would have written it."""
    old = dict(record)
    message = old.get("message")
    if isinstance(message, dict) and message["role"] == "custom":
        old["message"] = message | {"role": "hookMessage"}
    if version == 1:
        old = {key: value for key, value in old.items() if key not in ("id", "parentId")}
        if old.pop("firstKeptEntryId", None) is not None:
            old["firstKeptEntryIndex"] = index
    return old


@st.composite
def _damaged_line(draw: st.DrawFn, raw: bytes) -> bytes:
    cut = draw(st.integers(1, len(raw) - 1))
    behind = [b"\r\n", b" \n\n", b"\n17\n", b"\n[1]\n", b"\nnull\n"]
    outcomes = [
        raw[:cut] + b"\n",  # torn, and the line ended by the next writer
        raw[:cut],  # torn, and the next record glued on, or the file's end
        raw,  # whole, and the next record glued on, or the file's end
        raw[:cut] + b"\xff\xc3" + raw[cut:] + b"\n",  # invalid UTF-8, mostly inside a text
        b"\0" * cut + raw + b"\n",  # the hole a stale writer leaves behind
        b"\xef\xbb\xbf" + raw + b"\n",
        *(raw + ending for ending in behind),
    ]
    return draw(st.sampled_from(outcomes))


def dump(record: Record) -> bytes:
    """As Node writes it: compact UTF-8, lone surrogates as escapes."""
    plain = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", plain).encode()


def appends(data: bytes, max_cuts: int = 8) -> st.SearchStrategy[list[bytes]]:
    """The bytes as consecutive appends, cut anywhere; joined they are `data`."""
    cuts = st.lists(st.integers(0, len(data)), max_size=max_cuts).map(sorted)
    return cuts.map(lambda c: [data[a:b] for a, b in zip([0, *c], [*c, len(data)], strict=True)])
