"""One session file, turn by turn, in the format of Pi version 3."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from benches.corpus.plants import Waiting
from benches.corpus.vocabulary import Vocabulary

_COMPACT_AFTER = 500_000
"""Bytes of entries after which a session is compacted."""
_BRANCHES = 0.3
"""Chance that a turn starts from one of the last turns."""
_TOOLS = ("read", "bash", "edit", "write")
_TOOL_WEIGHTS = (24, 44, 26, 6)
_FLUSH_AT = 4_000_000

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

Entry = dict[str, Any]


class SessionWriter:
    """Writes one file. ``planted`` says which entries hold what was planted."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        path: Path,
        *,
        session_id: str,
        cwd: str,
        begins: float,
        waiting: Waiting,
        copied: list[bytes] | None = None,
        parent: str | None = None,
    ) -> None:
        self._with = vocabulary
        self._dice = vocabulary.dice
        self._waiting = waiting
        self._now = begins
        self._cwd = cwd
        self._modern = self._dice.random() < 0.6
        self._ids: set[str] = set()
        self._turns: list[str] = []
        self._since_compaction = 0
        self._lines: list[bytes] = []
        self.last: str | None = None
        self.bytes = 0
        self.entries = 0
        self.planted: list[tuple[str, str, str]] = []
        """Name of the plant, kind of text, entry id."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        header = {"type": "session", "version": 3, "id": session_id, "timestamp": self._stamp()}
        header["cwd"] = cwd
        if parent is not None:
            header["parentSession"] = parent
        self._line(_encode(header).encode())
        for line in copied or ():
            self._line(line)
            self.last = json.loads(line)["id"]
            self._ids.add(self.last)
            self.entries += 1

    def write(self, size: int) -> None:
        """Turns until the file is about so long and everything that waits is planted."""
        self._add("model_change", provider="anthropic", modelId="claude-sonnet-4-5")
        while self.bytes < size:
            self._turn()
        for kind in self._waiting.left():
            self._forced(kind)
        self._flush()
        self._file.close()

    def _turn(self) -> None:
        if len(self._turns) > 3 and self._dice.random() < _BRANCHES:
            left, self.last = self.last, self._turns[-self._dice.randint(1, 3)]
            if self._dice.random() < 0.3:
                self._add("branch_summary", fromId=left, summary=self._prose("branch_summary", 900))
        if self.last is not None:
            self._turns.append(self.last)
        self._aside()
        asks = self._with.text(self._with.prose, self._with.length(105, 1.0, 6_000), " ")
        if self._dice.random() < 0.06:
            asks = "".join(self._dice.choices(self._with.ideographs, k=2))
        asks = self._waiting.into("user", asks)
        self._message("user", content=[{"type": "text", "text": asks}])
        for _ in range(min(40, int(self._dice.expovariate(1 / 7)))):
            calls = [self._call() for _ in range(2 if self._dice.random() < 0.12 else 1)]
            self._assistant(calls)
            for call in calls:
                self._result(call)
        self._assistant([])
        if self._since_compaction > _COMPACT_AFTER:
            summary = self._prose("compaction", 4_000)
            kept = self._turns[-1] if self._turns else self.last
            self._add("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=150_000)
            self._since_compaction = 0

    def _aside(self) -> None:
        """What stands between turns now and then."""
        chance = self._dice.random()
        if chance < 0.05:
            self._bash(f"git log -n {self._dice.randint(1, 20)} {self._with.path()}")
        elif chance < 0.08:
            self._add("model_change", provider="openai", modelId="gpt-5.1-codex")
        elif chance < 0.12:
            level = self._dice.choice(("low", "medium", "high"))
            self._add("thinking_level_change", thinkingLevel=level)
        elif chance < 0.16:
            self._custom()
        elif chance < 0.24:
            data = {"count": self._dice.randint(0, 999), "note": self._with.identifier()}
            self._add("custom", customType="my-ext-state", data=data)
        elif chance < 0.27:
            self._add("label", targetId=self.last, label=f"checkpoint-{self._with.digits(4)}")
        elif chance < 0.29:
            self._add("context_edit", targetId=self.last, replacement=None)

    def _assistant(self, calls: list[Entry], said: str = "") -> None:
        content: list[Entry] = []
        if self._modern and self._dice.random() < 0.35:
            content.append(self._thinking(self._with.length(420, 0.9, 6_000)))
        if said or not calls or self._dice.random() < 0.5:
            length = self._with.length(115 if calls else 420, 0.9, 8_000)
            content.append({"type": "text", "text": said or self._prose("assistant", length)})
        chance = self._dice.random()
        ends = "aborted" if chance < 0.03 else "error" if chance < 0.035 else "stop"
        self._message(
            "assistant",
            content=content + calls,
            api="anthropic-messages",
            provider="anthropic",
            model="claude-sonnet-4-5",
            usage=self._usage(),
            stopReason="toolUse" if calls else ends,
        )

    def _thinking(self, chars: int) -> Entry:
        signature = self._with.image(int(200 + self._dice.random() * 700))
        text = self._prose("thinking", chars)
        return {"type": "thinking", "thinking": text, "thinkingSignature": signature}

    def _call(self) -> Entry:
        name = self._dice.choices(_TOOLS, _TOOL_WEIGHTS)[0]
        arguments: Entry = {"path": f"{self._cwd}/{self._with.path()}"}
        if name == "bash":
            arguments = {"command": self._waiting.into("arguments", self._command())}
        elif name == "edit":
            length = self._with.length(240, 1.0, 9_000)
            arguments["oldText"] = self._with.text(self._with.code, length)
            arguments["newText"] = self._with.text(self._with.code, length * 5 // 4)
        elif name == "write":
            length = self._with.length(2_400, 1.1, 30_000)
            arguments["content"] = self._with.text(self._with.code, length)
        return {
            "type": "toolCall",
            "id": f"toolu_{self._with.digits(24)}",
            "name": name,
            "arguments": arguments,
        }

    def _command(self) -> str:
        path, name = self._with.path(), self._with.identifier()
        tried = (f'grep -rn "{name}" {path}', f"npm test -- {path}", f'node -e "{name}()"')
        return f"cd {self._cwd} && {self._dice.choice(tried)}"

    def _result(self, call: Entry) -> None:
        name, arguments, more = call["name"], call["arguments"], dict[str, Any]()
        content: list[Entry] = []
        failed = self._dice.random() < 0.05
        if failed:
            logs = self._with.text(self._with.logs, self._with.length(200, 0.8, 3_000))
            text = self._waiting.into("failure", f"Error: {logs}")
        elif name == "read" and self._dice.random() < 0.0012:
            text = "Read image file [image/png]"
            data = self._with.image(int(200_000 + self._dice.random() * 60_000))
            content = [{"type": "image", "data": data, "mimeType": "image/png"}]
        elif name == "read":
            length = self._with.length(2_300, 1.25, 50_000)
            text = self._waiting.into("result", self._with.text(self._with.code, length))
        elif name == "bash":
            length = self._with.length(300, 1.6, 50_000)
            text = self._waiting.into("result", self._with.text(self._with.logs, length))
        elif name == "edit":
            text = f"Successfully replaced 1 block(s) in {arguments['path']}."
            numbered = enumerate(arguments["newText"].split("\n"), 17)
            diff = "\n".join(f"{self._dice.choice(' +-')}{n} {line}" for n, line in numbered)
            more = {"details": {"diff": diff, "firstChangedLine": 17}}
        else:
            text = f"Successfully wrote {len(arguments['content'])} bytes to {arguments['path']}"
        self._message(
            "toolResult",
            toolCallId=call["id"],
            toolName=name,
            content=[{"type": "text", "text": text}, *content],
            **more,
            isError=failed,
        )

    def _bash(self, command: str) -> None:
        logs = self._with.text(self._with.logs, self._with.length(500, 1.4, 50_000))
        self._message(
            "bashExecution",
            command=command,
            output=self._waiting.into("bash", logs),
            exitCode=0 if self._dice.random() > 0.1 else 1,
            cancelled=False,
            truncated=False,
        )

    def _custom(self) -> None:
        text = self._prose("custom", 300)
        self._add("custom_message", customType="my-ext", content=text, display=True)

    def _forced(self, kind: str) -> None:
        """An entry for a plant that no turn has taken in."""
        text = self._prose(kind, 200)
        call = {"id": f"toolu_{self._with.digits(24)}", "name": "bash"}
        if kind == "user":
            self._message("user", content=[{"type": "text", "text": text}])
        elif kind == "assistant":
            self._assistant([], said=text)
        elif kind == "thinking":
            content = [{"type": "thinking", "thinking": text}]
            self._message("assistant", content=content, stopReason="stop")
        elif kind == "arguments":
            self._assistant([{"type": "toolCall", **call, "arguments": {"command": text}}])
        elif kind in ("result", "failure"):
            self._message(
                "toolResult",
                toolCallId=call["id"],
                toolName="bash",
                content=[{"type": "text", "text": text}],
                isError=kind == "failure",
            )
        elif kind == "bash":
            self._message("bashExecution", command="ls", output=text, exitCode=0)
        elif kind == "custom":
            self._add("custom_message", customType="my-ext", content=text, display=True)
        elif kind == "branch_summary":
            self._add("branch_summary", fromId=self.last, summary=text)
        else:
            self._add("compaction", summary=text, firstKeptEntryId=self.last, tokensBefore=1_000)

    def _prose(self, kind: str, chars: int) -> str:
        return self._waiting.into(kind, self._with.text(self._with.prose, chars, " "))

    def _usage(self) -> Entry:
        sent, got, cached = (self._dice.randint(1, most) for most in (4_000, 3_000, 120_000))
        cost = {"input": sent * 3e-6, "output": got * 15e-6, "cacheRead": cached * 3e-7}
        return {"input": sent, "output": got, "cacheRead": cached, "cacheWrite": 0, "cost": cost}

    def _message(self, role: str, **message: Any) -> None:
        self._add("message", message={"role": role, **message, "timestamp": int(self._now * 1000)})

    def _add(self, entry_type: str, **members: Any) -> None:
        self._now += self._dice.random() * 9 + 0.2
        entry = {"type": entry_type, "id": self._new_id(), "parentId": self.last}
        entry |= {"timestamp": self._stamp(), **members}
        line = _encode(entry).encode()
        self._line(line)
        self._since_compaction += len(line)
        self.last = str(entry["id"])
        self.entries += 1
        self.planted += [(name, kind, self.last) for name, kind in self._waiting.taken]
        self._waiting.taken.clear()

    def _new_id(self) -> str:
        new = self._with.digits(8)
        while new in self._ids:
            new = f"{self._dice.getrandbits(32):08x}"
        self._ids.add(new)
        return new

    def _stamp(self) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(self._now)))
        return f"{seconds}.{int(self._now * 1000) % 1000:03d}Z"

    def _line(self, line: bytes) -> None:
        self._lines.append(line)
        self.bytes += len(line) + 1
        if self.bytes // _FLUSH_AT != (self.bytes - len(line) - 1) // _FLUSH_AT:
            self._flush()

    def _flush(self) -> None:
        self._file.write(b"".join(line + b"\n" for line in self._lines))
        self._lines.clear()
