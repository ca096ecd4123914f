"""Places: the same as Pi's own, from the same sources, in the same order."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_event_search import config
from pi_event_search.config import Config, SessionDir, agent_dir, load


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home/.pi/agent").mkdir(parents=True)
    (tmp_path / "work/.pi").mkdir(parents=True)
    return tmp_path / "home"


def resolve(home: Path, **variables: str) -> Config:
    return load(env={"HOME": str(home), **variables}, cwd=home.parent / "work")


def effective(home: Path, **variables: str) -> Path:
    found = resolve(home, **variables)
    assert len(found.session_dirs) == 1
    assert not found.session_dirs[0].archive
    return found.session_dirs[0].path


def user_settings(home: Path, text: str) -> None:
    (home / ".pi/agent/settings.json").write_text(text, encoding="utf-8")


def project_settings(home: Path, text: str) -> None:
    (home.parent / "work/.pi/settings.json").write_text(text, encoding="utf-8")


def test_defaults_without_any_file(home: Path) -> None:
    assert resolve(home) == Config(
        session_dirs=(SessionDir(home / ".pi/agent/sessions"),),
        index_dir=home / ".pi/agent/pi-event-search",
    )


def test_each_source_gives_way_to_the_one_before(home: Path) -> None:
    agent = home.parent / "agent"
    agent.mkdir()
    in_agent = {"PI_CODING_AGENT_DIR": str(agent)}
    assert effective(home, **in_agent) == agent / "sessions"
    (agent / "settings.json").write_text('{"sessionDir": "/user"}')
    assert effective(home, **in_agent) == Path("/user")
    project_settings(home, '{"sessionDir": "/project"}')
    assert effective(home, **in_agent) == Path("/project")
    variables = {**in_agent, "PI_CODING_AGENT_SESSION_DIR": "/variable"}
    assert effective(home, **variables) == Path("/variable")
    explicit = load(session_dirs=["/given"], env={"HOME": str(home), **variables})
    assert explicit.session_dirs == (SessionDir(Path("/given")),)


def test_empty_variables_count_as_unset(home: Path) -> None:
    found = resolve(
        home,
        PI_CODING_AGENT_DIR="",
        PI_CODING_AGENT_SESSION_DIR="",
        PI_EVENT_SEARCH_INDEX_DIR="",
        PI_EVENT_SEARCH_EXTRA_DIRS=os.pathsep,
        PI_EVENT_SEARCH_WORKSPACE_ROOT="",
        PI_EVENT_SEARCH_EXCLUDE=os.pathsep * 2,
    )
    assert found == resolve(home)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("~", "{home}"),
        ("~/a/../b", "{home}/b"),
        ("~//a", "{home}/a"),
        ("~bob/x", "{cwd}/~bob/x"),
        ("relative/dir", "{cwd}/relative/dir"),
        ("/kept/link/../x", "/kept/link/../x"),
        (" /a", "{cwd}/ /a"),
        ("file:///a/b%20c/../d", "/a/d"),
        ("file:///a/%2e%2e/b", "/b"),
        ("file://localhost/a", "/a"),
        ("file:///a?query#part", "/a"),
        ("file:///a\\b", "/a/b"),
        ("FILE:///a", "{cwd}/FILE:/a"),
    ],
)
@pytest.mark.parametrize("source", ["variable", "settings"])
def test_paths_read_as_pi_reads_them(home: Path, source: str, text: str, expected: str) -> None:
    wanted = Path(expected.format(home=home, cwd=home.parent / "work"))
    if source == "variable":
        assert effective(home, PI_CODING_AGENT_SESSION_DIR=text) == wanted
    else:
        user_settings(home, '{"sessionDir": "%s"}' % text.replace("\\", "\\\\"))  # noqa: UP031
        assert effective(home) == wanted


@pytest.mark.parametrize(
    "text", ["file://host/a", "file:///a%2Fb", "file:///a%2fb", "file:///%ff", "file://["]
)
def test_impossible_file_urls_are_reported(home: Path, text: str) -> None:
    found = resolve(home, PI_CODING_AGENT_SESSION_DIR=text, PI_CODING_AGENT_DIR=text)
    assert found.session_dirs == (SessionDir(home / ".pi/agent/sessions"),)
    assert [p.kind for p in found.problems] == ["invalid-path"] * 2
    assert found.problems[0].path == text.encode()


def test_agent_dir_folds_dots_as_pi_does(home: Path) -> None:
    assert agent_dir({"PI_CODING_AGENT_DIR": "/a/link/../x"}) == Path("/a/x")
    assert agent_dir({"PI_CODING_AGENT_DIR": "rel/../x"}, "/work") == Path("/work/x")
    assert agent_dir({"PI_CODING_AGENT_DIR": "~/x", "HOME": "/h"}) == Path("/h/x")


def test_home_unset_and_empty() -> None:
    account = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert agent_dir({}) == account / ".pi/agent"
    assert agent_dir({"HOME": ""}, "/work") == Path("/work/.pi/agent")


@pytest.mark.parametrize("value", ['""', "null", "0", "0.0", "false"])
def test_empty_project_value_hides_the_users(home: Path, value: str) -> None:
    user_settings(home, '{"sessionDir": "/user"}')
    project_settings(home, f'{{"sessionDir": {value}}}')
    assert effective(home) == home / ".pi/agent/sessions"
    assert resolve(home).problems == ()


@pytest.mark.parametrize("value", ["5", "true", '["/a"]', "[]", '{"a": 1}', '"file://host/a"'])
def test_unusable_project_value_is_reported(home: Path, value: str) -> None:
    user_settings(home, '{"sessionDir": "/user"}')
    project_settings(home, f'{{"sessionDir": {value}}}')
    found = resolve(home)
    assert found.session_dirs == (SessionDir(Path("/user")),)
    assert [p.kind for p in found.problems] == ["invalid-settings"]
    assert found.problems[0].path.endswith(b"/work/.pi/settings.json")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"sessionDir": "/x",}',
        "[1]",
        '"text"',
        "null",
        "7",
        "NaN",
        '{"a": Infinity}',
        "[" * 200_000,
        " ",
        "// note\n{}",
    ],
)
def test_broken_settings_are_ignored_and_reported(home: Path, text: str) -> None:
    user_settings(home, text)
    found = resolve(home)
    assert found.session_dirs == (SessionDir(home / ".pi/agent/sessions"),)
    assert [p.kind for p in found.problems] == ["invalid-settings"]
    assert found.problems[0].path == os.fsencode(home / ".pi/agent/settings.json")
    assert found.problems[0].detail.startswith("Settings ignored: ")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'\xef\xbb\xbf{"sessionDir": "/bom"}', "/bom"),
        (b'{"sessionDir": "/a", "sessionDir": "/last"}', "/last"),
        (b'{"n": %s, "sessionDir": "/x"}' % (b"9" * 5000), "/x"),
        (b'{"sessionDir": "/x\xff"}', "/x\ufffd"),
        (b'{"sessionDir": "/x\\ud83d"}', "/x\ufffd"),
        (b'{"sessionDir": "/x\\ud83d\\ude00"}', "/x\U0001f600"),
    ],
)
def test_settings_read_as_javascript_reads_them(home: Path, data: bytes, expected: str) -> None:
    (home / ".pi/agent/settings.json").write_bytes(data)
    found = resolve(home)
    assert found.problems == ()
    assert found.session_dirs == (SessionDir(Path(expected)),)
    assert os.fsencode(found.session_dirs[0].path)


def test_empty_settings_file_is_no_problem(home: Path) -> None:
    user_settings(home, "")
    project_settings(home, "\ufeff")
    assert resolve(home).problems == ()


def test_settings_that_are_no_ordinary_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(home / ".pi/agent/settings.json")
    (home.parent / "work/.pi/settings.json").mkdir()
    found = resolve(home)
    assert [p.kind for p in found.problems] == ["invalid-settings"] * 2
    user = home / ".pi/agent/settings.json"
    user.unlink()
    user.symlink_to(user)
    assert [p.kind for p in resolve(home).problems] == ["invalid-settings", "unreadable-settings"]
    user.unlink()
    user.write_text('{"sessionDir": "/user"}')
    monkeypatch.setattr(config, "SETTINGS_LIMIT", 10)
    assert "larger than 10 bytes" in resolve(home).problems[1].detail


def test_settings_in_the_way_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = load(env={"HOME": str(tmp_path / "file")}, cwd=tmp_path / "file")
    assert found.problems == ()


def test_settings_are_not_read_when_they_do_not_matter(home: Path) -> None:
    user_settings(home, "{")
    project_settings(home, "{")
    assert resolve(home, PI_CODING_AGENT_SESSION_DIR="/x").problems == ()
    assert load(session_dirs=[], env={"HOME": str(home)}).problems == ()


def test_extra_directories_are_archives_and_yield_to_explicit_ones(home: Path) -> None:
    extra = os.pathsep.join(["/one", "", "~/two", "three", "/one", "/pi"])
    found = resolve(home, PI_EVENT_SEARCH_EXTRA_DIRS=extra, PI_CODING_AGENT_SESSION_DIR="/pi")
    assert found.session_dirs == (
        SessionDir(Path("/pi")),
        SessionDir(Path("/one"), archive=True),
        SessionDir(home / "two", archive=True),
        SessionDir(home.parent / "work/three", archive=True),
    )
    explicit = load(session_dirs="/given", env={"PI_EVENT_SEARCH_EXTRA_DIRS": "/one"})
    assert explicit.session_dirs == (SessionDir(Path("/given")),)


def test_explicit_directories(home: Path) -> None:
    env = {"HOME": str(home)}
    found = load(session_dirs=["~/x", Path("rel"), "/y", "/y"], env=env, cwd="/work")
    paths = [d.path for d in found.session_dirs]
    assert paths == [home / "x", Path("/work/rel"), Path("/y")]
    assert load(session_dirs=Path("/one"), env=env).session_dirs == (SessionDir(Path("/one")),)
    assert load(session_dirs=(), env=env).session_dirs == ()


def test_index_directory(home: Path) -> None:
    env = {"HOME": str(home), "PI_CODING_AGENT_DIR": "/agent"}
    assert load(env=env).index_dir == Path("/agent/pi-event-search")
    env["PI_EVENT_SEARCH_INDEX_DIR"] = "~/index"
    assert load(env=env).index_dir == home / "index"
    assert load(env=env, index_dir="rel", cwd="/work").index_dir == Path("/work/rel")


def test_excludes_add_up_and_know_the_home_directory(home: Path) -> None:
    env = {"HOME": "/h", "PI_EVENT_SEARCH_EXCLUDE": f"*.tmp.jsonl{os.pathsep}~/old/**"}
    found = load(env=env, exclude=["~/x", "a/**"])
    assert found.exclude == ("*.tmp.jsonl", "/h/old/**", "/h/x", "a/**")


def test_workspace_roots_stay_relative_if_given_so(home: Path) -> None:
    roots = os.pathsep.join(["/a", "~/b", "relative"])
    found = resolve(home, PI_EVENT_SEARCH_WORKSPACE_ROOT=roots)
    assert found.workspace_roots == (Path("/a"), home / "b", Path("relative"))


def test_environment_of_the_process_is_the_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "agent")
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR", raising=False)
    monkeypatch.chdir(home)
    assert load().session_dirs[0].path == home / "agent/sessions"
    assert load(cwd="sub").session_dirs[0].path == home / "sub/agent/sessions"
    assert agent_dir() == home / "agent"


def test_deleted_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    env = {"HOME": "/h", "PWD": str(gone), "PI_CODING_AGENT_SESSION_DIR": "x"}
    assert load(env=env).session_dirs[0].path == gone / "x"
    del env["PWD"]
    assert load(env=env).session_dirs[0].path == Path("/x")


VARIABLES = [
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "PI_EVENT_SEARCH_INDEX_DIR",
    "PI_EVENT_SEARCH_EXTRA_DIRS",
    "PI_EVENT_SEARCH_WORKSPACE_ROOT",
    "PI_EVENT_SEARCH_EXCLUDE",
    "HOME",
]
# What a process can find in its environment: any bytes but NUL.
TEXTS = st.binary(max_size=20).map(lambda raw: os.fsdecode(raw.replace(b"\0", b"")))
PREFIXES = st.sampled_from(["", "~", "~/", "file://", "file:///", "/", "//", "./"])


@given(st.dictionaries(st.sampled_from(VARIABLES), st.builds(str.__add__, PREFIXES, TEXTS)))
def test_no_environment_is_an_error(env: dict[str, str]) -> None:
    found = load(env=env, cwd="/nowhere")
    for path in (found.index_dir, *(d.path for d in found.session_dirs)):
        assert path.is_absolute()
