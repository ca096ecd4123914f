"""The schemas that models are told, against what the index takes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from pi_event_search.errors import InvalidArgument
from pi_event_search.serve.arguments import (
    invocation_of,
    read_arguments,
    search_arguments,
    session_file,
    session_id,
    trace_arguments,
)
from pi_event_search.serve.protocol import RpcError
from pi_event_search.serve.schemas import tools
from pi_event_search.types.requests import Invocation, ReadRequest, SearchRequest, TraceRequest

TREE = Path(__file__).resolve().parents[2]
PACKAGE = TREE / "python" / "pi_event_search" / "pi_extension"
CALLER = Invocation(cwd="/w/a")
TOOLS = {tool["name"]: tool["parameters"] for tool in tools()}


def _values(schema: dict[str, Any]) -> list[Any]:
    """Every value at an edge of what a schema of a property allows."""
    if "enum" in schema:
        return list(schema["enum"])
    match schema["type"]:
        case "string":
            return ["2026-01-31"]  # a time where one is asked for, text elsewhere
        case "boolean":
            return [True, False]
        case "integer":
            return [schema["minimum"], schema.get("maximum", 10**9)]
        case "array":
            return [[], _values(schema["items"])]
        case "object":
            return [{key: value} for key, s in schema["properties"].items() for value in _values(s)]
    raise AssertionError(schema)


def _requests(tool: str, arguments: dict[str, Any]) -> Any:
    params = {"arguments": arguments}
    if tool == "event_search":
        return SearchRequest(**search_arguments(params, CALLER))
    if tool == "event_read":
        return ReadRequest(**read_arguments(params))
    return TraceRequest(**trace_arguments(params))


@pytest.mark.parametrize("tool", TOOLS)
def test_everything_a_schema_allows_is_taken(tool: str) -> None:
    base = dict.fromkeys(TOOLS[tool]["required"], "x") or {"query": "word"}
    for name, schema in TOOLS[tool]["properties"].items():
        for value in _values(schema):
            _requests(tool, {**base, name: value})


@pytest.mark.parametrize("tool", TOOLS)
def test_whole_numbers_beyond_the_schema_are_refused(tool: str) -> None:
    base = dict.fromkeys(TOOLS[tool]["required"], "x") or {"query": "word"}
    for name, schema in TOOLS[tool]["properties"].items():
        if schema.get("type") != "integer":
            continue
        for value in {schema["minimum"] - 1, schema.get("maximum", -2) + 1}:
            with pytest.raises(InvalidArgument):
                _requests(tool, {**base, name: value})


def test_the_schemas_are_strict_and_every_argument_is_described() -> None:
    assert list(TOOLS) == ["event_search", "event_read", "event_trace"]
    for tool in tools():
        assert tool["parameters"]["additionalProperties"] is False
        assert len(tool["description"]) < 400
        for schema in tool["parameters"]["properties"].values():
            assert schema["description"][0].isupper() or schema["description"].split(":")[0]
        unknown = {**dict.fromkeys(tool["parameters"]["required"], "x"), "limitt": 1}
        with pytest.raises(InvalidArgument, match="limitt"):
            _requests(tool["name"], unknown)


def test_names_are_those_of_the_contract() -> None:
    arguments = search_arguments(
        {
            "arguments": {
                "query": "q", "sessionId": "s", "cwd": "sub", "kinds": ["user.text"],
                "entryTypes": ["message"], "roles": ["user"], "toolNames": ["bash"],
                "errorOnly": True, "time": {"from": "2026-01-01", "to": None},
                "branchStates": ["selected"], "selectionStates": ["direct"], "file": "f",
                "sort": "newest", "limit": 3,
            }
        },
        CALLER,
    )  # fmt: skip
    assert arguments == {
        "query": "q", "session_id": "s", "cwd": "/w/a/sub", "kinds": ("user.text",),
        "entry_types": ("message",), "roles": ("user",), "tool_names": ("bash",),
        "error_only": True, "time_from": "2026-01-01", "branch_states": ("selected",),
        "selection_states": ("direct",), "file": "f", "sort": "newest", "limit": 3,
    }  # fmt: skip


def test_the_invocation_says_who_asks() -> None:
    full = {
        "cwd": "/w/a", "workspaceRoot": ["/w", "/v"], "currentSessionId": "s",
        "currentSessionFile": "/s/x.jsonl", "toolCallId": "c", "invocationEntryId": "e",
    }  # fmt: skip
    assert invocation_of({"invocation": full}, ("/r",)) == Invocation(
        "/w/a", ("/w", "/v"), "s", "/s/x.jsonl", "c", "e"
    )
    assert invocation_of({"invocation": {"cwd": "/w", "toolCallId": None}}, ("/r",)) == Invocation(
        "/w", ("/r",)
    )


@pytest.mark.parametrize(
    "invocation",
    [
        None, [], "x", {}, {"cwd": None}, {"cwd": ""}, {"cwd": 7}, {"cwd": "relative"},
        {"cwd": "/a\0b"}, {"cwd": "/w", "workspaceRoot": 7}, {"cwd": "/w", "workspaceRoot": [7]},
        {"cwd": "/w", "toolCallId": 7}, {"cwd": "/w", "root": "/"},
        {"cwd": "/w", "currentSessionFile": "x.jsonl"},
    ],
)  # fmt: skip
def test_what_is_no_invocation_is_refused(invocation: Any) -> None:
    with pytest.raises(RpcError):
        invocation_of({"invocation": invocation}, None)


def test_other_parameters() -> None:
    assert session_id({"sessionId": "s"}) == session_id({"arguments": {"sessionId": "s"}}) == "s"
    assert session_file({"sessionFile": "/x"}) == "/x"
    for params in ({}, {"sessionFile": None}, {"sessionFile": "x"}):
        with pytest.raises(RpcError):
            session_file(params)
    with pytest.raises(InvalidArgument):
        session_id({"arguments": {}})
    with pytest.raises(RpcError):
        read_arguments({})
    with pytest.raises(InvalidArgument):
        read_arguments({"arguments": {"sessionId": "s"}})
    with pytest.raises(InvalidArgument):
        search_arguments({"arguments": {"query": "q", "time": "today"}}, CALLER)
    with pytest.raises(InvalidArgument, match=r"time\.to"):
        search_arguments({"arguments": {"query": "q", "time": {"until": "today"}}}, CALLER)


def test_the_pi_package_has_these_tools_written_down() -> None:
    written = json.dumps(tools(), indent="\t", ensure_ascii=False) + "\n"
    path = PACKAGE / "tools.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(written, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == written


def test_the_version_of_the_pi_package_is_that_of_the_project() -> None:
    cargo = (TREE / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.+)"$', cargo, re.MULTILINE)
    assert version is not None
    package = json.loads((PACKAGE / "package.json").read_text())
    assert package["version"] == version[1]
    assert "dependencies" not in package  # Pi installs none for a directory
