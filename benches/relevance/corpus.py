"""The generated histories: scenes and noise as session files, with the answers they hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benches.relevance.known import Known
from benches.relevance.noise import Dice, echoes, filler
from benches.relevance.scenes import SCENES, Scene, Step
from tests.quality.history import Story, call

SEED = 1
_FIRST_DAY = datetime(2026, 4, 1, 8, 0, tzinfo=UTC)
_SCENES_A_SESSION = 9


def write(directory: Path) -> list[Known]:
    """Writes the session files; gives every query with the event that answers it."""
    directory.mkdir(parents=True, exist_ok=True)
    known: list[Known] = []
    by_project: dict[str, list[Scene]] = {}
    for scene in _all_scenes():
        by_project.setdefault(scene.project, []).append(scene)
    number = 0
    for project, scenes in by_project.items():
        for first in range(0, len(scenes), _SCENES_A_SESSION):
            number += 1
            story = Story(
                f"{project}-{number:03d}",
                cwd=f"/home/ada/work/{project}",
                start=_FIRST_DAY + timedelta(days=number),
            )
            for scene in scenes[first : first + _SCENES_A_SESSION]:
                known += _tell(story, scene)
            story.write(directory)
    return known


def _all_scenes() -> list[Scene]:
    dice = Dice(SEED)
    scenes = list(SCENES)
    for scene in SCENES:
        for step in scene.steps:
            for _, query in step.queries:
                scenes += echoes(dice, _words(query))
                scenes.append(filler(dice))
    return dice.shuffled(scenes)


def _words(query: str) -> list[str]:
    """The words of a query; a quoted phrase is one."""
    return [query.strip('"')] if query.startswith('"') else query.split()


def _tell(story: Story, scene: Scene) -> Iterator[Known]:
    for number, step in enumerate(scene.steps):
        entry_id = _append(story, step, f"{story.session_id}-{len(story.records)}-{number}")
        for kind, query in step.queries:
            yield Known(kind, query, story.session_id, entry_id)


def _append(story: Story, step: Step, name: str) -> str:
    match step.kind:
        case "u":
            return story.user(step.text)
        case "a":
            return story.assistant(step.text)
        case "c":
            return story.assistant(call(f"call-{name}", step.tool, **step.arguments))
        case "r":
            called = story.records[-1]["message"]["content"][0]
            return story.result(called["id"], called["name"], step.text, error=step.failed)
        case "b":
            message = {
                "role": "bashExecution",
                "command": step.arguments["command"],
                "output": step.text,
                "exitCode": 1 if step.failed else 0,
            }
            return story.add("message", message=message)
        case "s":
            return story.add(
                "compaction", summary=step.text, firstKeptEntryId=story.leaf, tokensBefore=20_000
            )
    raise ValueError(step.kind)
