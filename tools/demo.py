"""`make demo`: indexes real Pi sessions, or the samples, and shows a search, a read and a trace.

Nothing of the user's is written: sessions are only read, and the index lives in a temporary
directory that is gone at the end.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLES = REPOSITORY / "samples" / "sessions"
PROGRAM = Path(sys.executable).with_name("pi-event-search")
SAMPLE_WORDS = "daylight saving"
# Words that stand in every message say nothing about it.
COMMON = frozenset(
    re.findall(
        r"\w+",
        "about after again also because been before but can could does from have here into just "
        "like make more need only please should some than that the their them then there these "
        "they this what when where which will with would your",
    )
)
CANDIDATES = 6

Json = dict[str, Any]


class DemoError(Exception):
    """A command of the demo failed; the message says which."""


def paint(code: str, text: str) -> str:
    """`text` in colour where somebody can see it."""
    if "NO_COLOR" in os.environ or not (sys.stdout.isatty() or "FORCE_COLOR" in os.environ):
        return text
    return f"\033[{code}m{text}\033[0m"


def say(text: str = "") -> None:
    """Prints at once, so that lines stay in order with those of the commands."""
    print(text, flush=True)


def holds_sessions(directory: Path) -> bool:
    """Whether a session file lies anywhere below."""
    try:
        return next(directory.rglob("*.jsonl"), None) is not None
    except OSError:
        return False


def own_sessions() -> Path | None:
    """Where this user's Pi keeps its sessions, if there are any."""

    def candidates() -> Iterator[Path]:
        if directory := os.environ.get("PI_CODING_AGENT_SESSION_DIR"):
            yield Path(directory).expanduser()
        if directory := os.environ.get("PI_CODING_AGENT_DIR"):
            yield Path(directory).expanduser() / "sessions"
        else:
            yield Path("~/.pi/agent/sessions").expanduser()

    return next((place for place in candidates() if holds_sessions(place)), None)


class Demo:
    """Runs the installed command line against one sessions directory and one throw-away index."""

    def __init__(self, sessions: Path, index: Path) -> None:
        self.settings = {
            "PI_CODING_AGENT_SESSION_DIR": str(sessions),
            "PI_EVENT_SEARCH_INDEX_DIR": str(index),
        }
        # Archives and excludes of the user's own set-up would change what the demo shows.
        mine = ("PI_EVENT_SEARCH_EXTRA_DIRS", "PI_EVENT_SEARCH_EXCLUDE")
        inherited = {name: value for name, value in os.environ.items() if name not in mine}
        self.environment = {**inherited, **self.settings}

    def show(self, *arguments: str) -> None:
        """Prints a command line, then lets it write to this terminal."""
        say("\n" + paint("1;36", "$ " + shlex.join(["pi-event-search", *arguments])))
        finished = self._run(arguments, capture=False)
        if finished.returncode != 0:
            raise DemoError(f"pi-event-search {arguments[0]} ended with {finished.returncode}.")

    def ask(self, *arguments: str) -> Json:
        """Runs a command quietly and returns its JSON answer."""
        finished = self._run([*arguments, "--json"], capture=True)
        if finished.returncode != 0:
            raise DemoError(f"pi-event-search {arguments[0]}: {finished.stderr.strip()}")
        answer: Json = json.loads(finished.stdout)
        return answer

    def hits(self, *arguments: str, limit: int = 1) -> list[Json]:
        """The hits of a search over every workspace."""
        fixed = ("--all-workspaces", "--no-sync", "--limit", str(limit))
        found: list[Json] = self.ask("search", *arguments, *fixed)["hits"]
        return found

    def _run(
        self, arguments: tuple[str, ...] | list[str], *, capture: bool
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PROGRAM), *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.PIPE if capture else None,
            text=True,
            encoding="utf-8",
            check=False,
        )


def telling_word(demo: Demo) -> str | None:
    """A word of the newest user message that stands in many events."""
    newest = demo.hits("--kind", "user.text")
    if not newest:
        return None
    words = re.findall(r"[^\W\d_]{4,}", newest[0]["snippet"].casefold())
    telling = [word for word in dict.fromkeys(words) if word not in COMMON][:CANDIDATES]
    return max(telling, key=lambda word: len(demo.hits(word, limit=200)), default=None)


def tour(demo: Demo, words: str | None) -> None:
    """Sync, search, read, trace."""
    for name, value in demo.settings.items():
        say(paint("2", f"  {name}={value}"))
    demo.show("sync", "--all-workspaces")
    words = words or telling_word(demo)
    query = [words] if words else ["--kind", "tool.call"]
    demo.show("search", *query, "--limit", "5", "--all-workspaces")
    found = demo.hits(*query)
    if not found:
        say("Nothing was found, so there is nothing to read.")
        return
    event = (found[0]["sessionId"], found[0]["entryId"])
    demo.show("read", *event, "--all-workspaces")
    demo.show("trace", *event, "--all-workspaces")


def main() -> int:
    """The exit status."""
    mine = own_sessions()
    if mine is not None:
        say(f"Your own Pi sessions in {mine}: they are read, never written.")
    else:
        say("No Pi sessions of your own were found, so these are the samples of this repository.")
    try:
        with tempfile.TemporaryDirectory(prefix="pi-event-search-demo-") as index:
            tour(Demo(mine or SAMPLES, Path(index)), None if mine else SAMPLE_WORDS)
    except DemoError as error:
        print(f"The demo stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; the index of the demo is removed.", file=sys.stderr)
        return 130
    say()
    activate = shlex.quote(os.path.relpath(PROGRAM.parent / "activate"))
    say(f"Next: . {activate}, then `pi-event-search search ...` inside a project of yours.")
    say("Its index is kept in Pi's agent directory; README.md tells the rest, also for Python.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
