"""What a query finds, through the index: the core's own table decides the words, this one that the
index is asked for the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pi_event_search import EventIndex

from tests.contract.place import EVERYWHERE
from tests.contract.writing import Pi

SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TABLE: list[tuple[str, str, bool]] = [
    ("The Quick brown fox", "quick", True),
    ("The Quick brown fox", "QUICK fox", True),
    ("The Quick brown fox", '"quick brown"', True),
    ("The Quick brown fox", '"brown quick"', False),
    ("The Quick brown fox", '"quick fox"', False),
    ("The Quick brown fox", "quic", False),
    ("The Quick brown fox", "quick wolf", False),
    ("Crème brûlée", "creme BRULEE", True),
    ("Straße nach Łódź", "strasse lodz", True),
    ("ﬁle Ｗｉｄｅ", "file wide", True),
    ("请修改文件名称", "修改", True),
    ("请修改文件名称", "改修", False),
    ("请修改文件名称", "修改 名称", True),
    ("修改File名", "修改File名", True),
    ("修改File名", "file", True),
    ("データベースの検索", "検索", True),
    ("검색어를 입력", "검색", True),
    ("ภาษาไทยง่าย", "ไทย", True),
    ("getUserName()", "getUserName", True),
    ("getUserName()", "getusername", True),
    ("getUserName()", "user", True),
    ("getUserName()", "userName", True),
    ("getUserName()", '"user name"', True),
    ("getUserName()", "user.name", True),
    ("getUserName()", "username", False),
    ("getUserName()", "nameUser", False),
    ("new HTTPServer2", "http server", True),
    ("new HTTPServer2", "httpServer", True),
    ("new HTTPServer2", "httpserver", False),
    ("snake_case_name", "case_name", True),
    ("snake_case_name", "snake case", True),
    ("snake_case_name", "snakecase", False),
    ("kebab-case-name", "kebab_case", True),
    ("utf8 sha256sum", "sha256", True),
    ("utf8 sha256sum", "utf 8", True),
    ("edit ./src/text/mod.rs:42", "text/mod.rs:42", True),
    ("edit ./src/text/mod.rs:42", "src/mod.rs", False),
    ("at v1.2.3-rc.1 now", "1.2.3", True),
    ("at v1.2.3-rc.1 now", "v1.2.3", True),
    ("at v1.2.3-rc.1 now", "1.2.4", False),
    ("on 2024-05-06T07:08 sharp", "2024-05-06", True),
    ("on 2024-05-06T07:08 sharp", "07:08", True),
    (f"sha256:{SHA}", SHA, True),
    (f"sha256:{SHA}", SHA[:20], False),
    ("std::io::Error in C++", "io::error", True),
    ("std::io::Error in C++", "C++", True),
    ("error[E0308]: mismatched", "E0308", True),
    ("cargo test --all-targets -v", '"test --all-targets"', True),
    ("a && b || !c", "a && b", True),
    ("AND OR NOT near* ^x", "AND NOT near*", True),
    ("AND OR NOT near* ^x", "nea", False),
    ("x\u2028y", "y", True),
    ("half \ufffd an emoji", "half emoji", True),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventIndex, dict[str, str]]]:
    base = tmp_path_factory.mktemp("texts")
    session = Pi("texts", "/w")
    ids = {text: session.user(text) for text in dict.fromkeys(text for text, _, _ in TABLE)}
    session.write(base / "sessions")
    with EventIndex.open(index_dir=base / "index", session_dirs=[base / "sessions"]) as opened:
        opened.sync()
        yield opened, ids


@pytest.mark.parametrize(("text", "query", "found"), TABLE)
def test_found_or_not(
    index: tuple[EventIndex, dict[str, str]], text: str, query: str, found: bool
) -> None:
    opened, ids = index
    page = opened.search(query, invocation=EVERYWHERE, limit=200)
    assert (ids[text] in [hit.entry_id for hit in page.hits]) is found


@pytest.mark.parametrize("query", sorted({query for _, query, found in TABLE if found}))
def test_what_is_found_is_shown_marked(
    index: tuple[EventIndex, dict[str, str]], query: str
) -> None:
    opened, _ = index
    for hit in opened.search(query, invocation=EVERYWHERE, limit=200).hits:
        assert hit.highlights
        assert hit.score > 0


@pytest.mark.parametrize("whole", [1, 60])
def test_whole_words_outrank_parts_however_common_they_are(
    tmp_path_factory: pytest.TempPathFactory, whole: int
) -> None:
    """A part that is rare must not weigh more than a word that is not."""
    base = tmp_path_factory.mktemp("ranks")
    session = Pi("ranks", "/w")
    part = session.user("userName")
    phrase = session.user("fn readUserName")
    filler = " ".join(f"filler{chr(97 + n % 26)}" for n in range(400))
    words = [session.user(f"the user {filler if n % 2 else ''}") for n in range(whole)]
    session.user("nothing of this")
    session.write(base / "sessions")
    with EventIndex.open(index_dir=base / "index", session_dirs=[base / "sessions"]) as opened:
        opened.sync()
        found = [h.entry_id for h in opened.search("user", invocation=EVERYWHERE, limit=200).hits]
        assert set(found[:whole]) == set(words)
        assert set(found[whole:]) == {part, phrase}
        page = opened.search("userName", invocation=EVERYWHERE)
        assert [hit.entry_id for hit in page.hits] == [part, phrase]
        assert page.hits[0].score > page.hits[1].score
