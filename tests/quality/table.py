"""Which query finds which text: a line of reasons for the tokeniser, class by class.

A text is one event; a tuple is one event of several fragments. `REFUSED` are the queries that
cannot be searched for at all; everything else is answered.
"""

from __future__ import annotations

from typing import NamedTuple

Text = str | tuple[str, ...]


class Row(NamedTuple):
    """One expectation."""

    kind: str
    text: Text
    query: str
    found: bool


_SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_LONG = "0123456789abcdef" * 8
_FILLER = "sediment " * 9_000
"""More than the 65,536 characters of a text that are searchable."""

_Group = tuple[Text, tuple[str, ...], tuple[str, ...]]

_GROUPS: dict[str, tuple[_Group, ...]] = {
    "words": (
        (
            "The Quick brown fox",
            ("quick", "QUICK", "fox the", "quick fox", '"quick brown"', "“brown fox”"),
            ("quic", "foxes", '"brown quick"', '"quick fox"', "quick wolf"),
        ),
        ("42 items cost 3.14 or 1,000", ("42", "3.14", "1,000", "items 42"), ("4", "1000", "14.3")),
        ("don't panic, it’s fine", ("don't", "don’t", "it's", "panic"), ("dont",)),
        ("Привет, мир", ("привет", "МИР", "мир привет"), ("прив",)),
        ("Σίσυφος και ΟΔΥΣΣΕΎΣ", ("σισυφος", "ΣΊΣΥΦΟΣ", "οδυσσευς"), ("σισυφο",)),
        ("שָׁלוֹם ומוּסָר", ("שלום", "שָׁלוֹם"), ("שלו",)),
        ("السَّلامُ عليكم", ("السلام", "عليكم"), ("سلام",)),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा"), ("हिन",)),
    ),
    "folding": (
        ("Crème brûlée", ("creme", "CRÈME", "cre\u0300me", "brulee"), ("crem",)),
        ("Straße nach Łódź", ("strasse", "STRASSE", "straße", "lodz"), ("strase",)),
        ("İstanbul ve ISPARTA", ("istanbul", "ISTANBUL", "ısparta"), ("stanbul",)),
        ("ﬁle Ｗｉｄｅ x² Ⅷ", ("file", "wide", "x2", "viii", "ｗｉｄｅ"), ("ide",)),
        ("Ærø, Þingvellir, smørrebrød", ("aero", "thingvellir", "smorrebrod"), ("rodd",)),
        ("Việt Nam, Tiếng Việt", ("viet nam", "tieng", "Tiếng"), ("vit",)),
        (
            "co\u00adop re\u200dsult zero\u200bwidth",
            ("coop", "result", "zero width"),
            ("zerowidth",),
        ),
        ("\ufeffmarked \u202ertl\u202c end", ("marked", "rtl", "end"), ("markedrtl",)),
        ("e\u0301tude and étude", ("etude", "étude", "e\u0301tude"), ("tude",)),
    ),
    "han": (
        (
            "请修改文件名称",
            ("修改", "改文", "名", "请修改文件名称", "修改 名称", '"文件名"'),
            ("改修", "修文", "請", "文件夹"),
        ),
        ("𠮷野家で会う", ("𠮷", "野家", "𠮷野家"), ("家野",)),
        ("資料庫連線逾時", ("逾時", "連線逾", "庫", "資料庫 逾時"), ("时", "線連")),
    ),
    "kana": (
        (
            "データベースの検索",
            ("データ", "ベース", "検索", "の", "ー", "タベ"),
            ("デタ", "ヘース"),
        ),
        ("ﾃﾞｰﾀを取得できません", ("データ", "ﾃﾞｰﾀ", "取得", "ません", "で"), ("テータ", "せま")),
        ("「設定」を、変更", ("設定", "「設定」", "を変更", "を、変"), ("設変",)),
        ("か\u3099っこう", ("がっこう", "が"), ("かっこう",)),
    ),
    "hangul": (
        ("검색어를 입력하세요", ("검색", "색어", "를", "입력", "하세"), ("색검", "검어")),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", ("한글", "한", "글"), ("하", "그")),
    ),
    "mixed script": (
        ("修改File名", ("修改File名", "file", "改file", "File名", "名"), ("改名", "fil")),
        ("用useState钩子", ("useState", "state", "钩子", "用useState"), ("用钩", "usestat")),
        ("バージョン2.0を公開", ("2.0", "バージョン2.0", "公開", "0を"), ("20",)),
        ("엔드포인트/api/v2를 호출", ("/api/v2", "api", "를", "포인트"), ("apiv2",)),
    ),
    "unspaced scripts": (
        ("ภาษาไทยง่ายมาก", ("ไทย", "ภาษา", "ง่าย", "งาย", "ยง"), ("ยไท", "ทไ")),
        ("ພາສາລາວ", ("ລາວ", "ສາລ"), ("ວລາ",)),
        ("ភាសាខ្មែរ", ("ខ្មែរ", "ភាសា"), ("ខរ",)),
        ("မြန်မာစာ", ("မာစာ", "မြန်မာ"), ("စာမာ",)),
        ("བོད་སྐད", ("སྐད", "བོད"), ("དབོ",)),
        ("ㄅㄆㄇ ꀀꀁ", ("ㄆㄇ", "ꀁ"), ("ㄇㄅ",)),
    ),
    "identifiers": (
        (
            "const id = getUserName(user)",
            ("getUserName", "getusername", "GETUSERNAME", "name", "UserName", "get user name"),
            ("username", "getuser", "sername"),
        ),
        (
            "new HTTPServer2()",
            ("HTTPServer2", "http", "server", "2", "httpserver2", "HttpServer"),
            ("httpserver", "ttp"),
        ),
        (
            "XMLHttpRequest.send",
            ("xml", "httpRequest", "xmlhttprequest", "XMLHttpRequest.send"),
            ("xmlh",),
        ),
        (
            "def snake_case_name(self):",
            ("snake_case_name", "snake", "case_name", "snake case", "snake-case", "SNAKE_CASE"),
            ("snakecase", "snake_name", "case_snake"),
        ),
        ("MAX_RETRY_COUNT=3", ("MAX_RETRY_COUNT", "max_retry", "retry", "count=3"), ("maxretry",)),
        ("kebab-case-name: on", ("kebab-case", "case-name", "kebab_case", "name"), ("kebabcase",)),
        ("utf8 sha256sum base64", ("utf8", "utf", "sha256", "sum", "64"), ("sha2", "tf8")),
        ("getURLs of myIDs", ("urls", "ids", "getURLs", "my"), ("ur", "geturl")),
        (
            "_private $scope @decorator #tag",
            ("_private", "$scope", "@decorator", "#tag"),
            ("scop",),
        ),
        ("OAuth2Token v2Beta", ("OAuth2Token", "oauth2token", "auth2", "beta"), ("oauth2",)),
        ("getUser, then nameOf", ("get", "user", "name"), ("userName", '"user name"')),
        ("größeÄndern", ("größe", "grosse", "ändern", "größeändern"), ("rosse",)),
    ),
    "paths": (
        (
            "edit ./src/text/mod.rs:42 now",
            ("src/text/mod.rs", "mod.rs", "text/mod.rs:42", "./src", "mod", "src text"),
            ("src/mod.rs", "text.rs", "mod.r"),
        ),
        (
            r"C:\Users\me\notes.txt",
            (r"C:\Users", "users/me", "notes.txt", r"me\notes"),
            ("usersme",),
        ),
        ("~/.config/pi/settings.json", ("~/.config", "settings.json", "pi/settings"), ("setting",)),
        ("node_modules/@types/node/fs.d.ts", ("@types/node", "fs.d.ts", "node_modules"), ("fsd",)),
    ),
    "versions": (
        (
            "upgrade v1.2.3-rc.1 to python3.11",
            ("v1.2.3", "1.2.3", "1.2.3-rc.1", "rc.1", "python3.11", "3.11", "python"),
            ("v1.3", "1.2.4", "2.1", "python3.1"),
        ),
        (
            "at 2024-05-06T07:08:09.123Z",
            ("2024-05-06", "07:08", "2024-05-06T07:08:09.123Z", "05-06", "2024"),
            ("2024-06", "07:09"),
        ),
        ("took 12.5ms, 1_000_000 rows, 0x1F", ("12.5ms", "12.5", "1_000_000", "0x1F"), ("2.5",)),
    ),
    "hashes": (
        (
            f"sha256:{_SHA} sha512:{_LONG}",
            (_SHA, f"sha256:{_SHA}", _LONG, _SHA.upper()),
            (_SHA[:20], _SHA[1:]),
        ),
        (
            "uuid 550e8400-e29b-41d4-a716-446655440000",
            ("550e8400-e29b-41d4-a716-446655440000", "550e8400", "41d4-a716"),
            ("550e84", "e29b-a716"),
        ),
        ("commit 9f51603 by me", ("9f51603", "commit 9f51603"), ("9f516",)),
    ),
    "addresses": (
        (
            "see https://example.com/a/b?id=7#top",
            ("https://example.com/a/b", "example.com", "id=7", "#top", "example.com/a"),
            ("example.org", "examplecom"),
        ),
        (
            "mail jane.doe+tag@example.net",
            ("jane.doe+tag@example.net", "jane", "doe+tag", "@example.net"),
            ("jane@example", "janedoe"),
        ),
        ("bind 127.0.0.1:8080 [::1]", ("127.0.0.1:8080", "127.0.0.1", ":8080", "::1"), ("127.1",)),
    ),
    "signs": (
        ("cargo test --all-targets -v", ("--all-targets", "-v", "cargo test"), ("--targets-all",)),
        (
            "std::io::Error in C++, C# and F#",
            ("std::io::Error", "io::error", "C++", "C#", "f#", "std::io"),
            ("std::Error", "D"),
        ),
        ("if (a && b || !c) { x => y }", ("a && b", "!c", "x => y", "|| c"), ("z",)),
        ("say AND, OR, NOT or near* ^x", ("AND", "not", "near*", "^x", "OR NOT"), ("nea*",)),
        (
            "field:value -excluded +must ~2",
            ("field:value", "-excluded", "+must"),
            ("fields:value",),
        ),
        ("a\0b \x1b[31mred\x1b[0m", ("a", "b", "red", "\x1b[31mred\x1b[0m"), ("ab", "31mred")),
    ),
    "error codes": (
        (
            "error[E0308]: mismatched types",
            ("E0308", "error[E0308]", "e0308", "0308", "mismatched types"),
            ("E030", "error308"),
        ),
        ("TS2345 in app.ts(3,14)", ("TS2345", "ts2345", "2345", "app.ts(3,14)"), ("TS234",)),
        ("ENOENT (os error 2)", ("ENOENT", '"os error 2"', "enoent 2"), ("ENOEN", '"error os"')),
        ("0x80070005 HTTP/1.1 404", ("0x80070005", "HTTP/1.1", "404", '"404"'), ("0x8007",)),
        ("exit code 137: SIGKILL", ("137", '"code 137"', "sigkill"), ("13",)),
    ),
    "fragments": (
        (
            ("the first block ends here", "and the second begins"),
            ("first block", "second begins", '"ends here"'),
            ('"here and"', "first second", "ends begins"),
        ),
    ),
    "omission": (
        (
            f"overture {_FILLER}tail finale",
            ("overture", "finale", "overture finale", '"overture sediment"', '"tail finale"'),
            ('"overture tail"', "characters omitted"),
        ),
        (
            "x" * 40_000 + " buriedtreasure " + "y" * 40_000,
            (),
            ("buriedtreasure",),
        ),
    ),
}

ROWS: tuple[Row, ...] = tuple(
    Row(kind, text, query, expected)
    for kind, groups in _GROUPS.items()
    for text, found, missed in groups
    for expected, queries in ((True, found), (False, missed))
    for query in queries
)

REFUSED: tuple[str, ...] = (
    " \t\n",
    '""',
    '"',
    "--",
    "=> && ||",
    "…!?;:",
    "🙂 👩\u200d💻",
    "\u200b\u200e",
    "\u0301",
    "\x00\x07",
    "x" * 1_001,
    "字" * 100_000,
    " ".join(f"w{number}" for number in range(33)),
)
"""Nothing to search for, more than 1,000 code points, more than 32 terms."""

ANSWERED: tuple[str, ...] = (
    "x" * 1_000,
    "字" * 1_000,
    " ".join(f"w{number}" for number in range(32)),
    '"unbalanced quote',
    'a "b" "c',
    "(a OR b) AND NOT c",
    "text:^a~2 [1 TO 5] {x}",
    "/re(g/ex.*/",
    "a\\",
    "*a* ?b?",
    "\udc80a",
    "a\x00b",
    "\u202ea",
)
"""At the limits, or full of what other engines take for syntax."""
