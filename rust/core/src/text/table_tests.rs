//! Which query finds which text, by class of text; and the laws behind the table.
//!
//! "Finds" is what the search does: each clause in the words, or in the identifier parts.

use proptest::prelude::*;

use super::{Clause, identifiers, parse_query, tokens};

fn words(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.text).collect()
}

fn stands(words: &[String], wanted: &[String]) -> bool {
    words.windows(wanted.len()).any(|window| window == wanted)
}

fn finds(query: &str, text: &str) -> bool {
    let Ok(query) = parse_query(query) else {
        return false;
    };
    // The border between the parts of two words is a word that no query asks for.
    let parts: Vec<String> = identifiers(text)
        .parts
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let words = words(text);
    query
        .clauses
        .iter()
        .zip(&query.parts)
        .all(|(clause, of_term)| {
            let wanted = match clause {
                Clause::Term(term) => std::slice::from_ref(term),
                Clause::Phrase(words) => words,
            };
            let by_parts = !of_term.is_empty() && stands(&parts, of_term);
            stands(&words, wanted) || stands(&parts, wanted) || by_parts
        })
}

/// Checks rows of a text, queries that find it and queries that do not.
fn check(rows: &[(&str, &[&str], &[&str])]) {
    for (text, found, missed) in rows {
        for query in *found {
            assert!(finds(query, text), "{query:?} must find {text:?}");
        }
        for query in *missed {
            assert!(!finds(query, text), "{query:?} must not find {text:?}");
        }
    }
}

#[test]
fn words_numbers_case_and_diacritics() {
    check(&[
        (
            "The Quick brown",
            &["quick", "QUICK", "the brown", "\"quick brown\""],
            &["quic", "\"brown quick\""],
        ),
        (
            "Crème brûlée",
            &["creme", "crème", "BRULEE", "cre\u{300}me"],
            &["crem"],
        ),
        (
            "Straße nach Łódź",
            &["strasse", "STRASSE", "lodz", "Łódź"],
            &["strase"],
        ),
        (
            "İstanbul ISPARTA",
            &["istanbul", "ISTANBUL", "ısparta"],
            &["stanbul"],
        ),
        ("Σίσυφος", &["σισυφοσ", "ΣΊΣΥΦΟΣ", "σίσυφος"], &["σισυφο"]),
        ("ёлка Привет", &["елка", "привет", "ЁЛКА"], &["прив"]),
        (
            "ﬁle Ｗｉｄｅ x² Ⅷ ½",
            &["file", "wide", "x2", "viii", "1 2"],
            &["ide"],
        ),
        (
            "naïve co\u{AD}op zero\u{200B}width",
            &["naive", "coop", "width", "zero"],
            &["zerowidth"],
        ),
        (
            "Foo™ don't п’ять",
            &["foo", "don't", "don’t", "пʼять"],
            &["footm", "dont"],
        ),
        (
            "42 3.14 1,000",
            &["42", "3.14", "1,000", "1.000"],
            &["4", "1000"],
        ),
        ("שָׁלוֹם مُحَمَّد", &["שלום", "محمد"], &["שלו"]),
        ("हिन्दी भाषा", &["हिन्दी", "भाषा"], &["हिन"]),
    ]);
}

#[test]
fn scripts_without_spaces() {
    check(&[
        (
            "请修改文件名称",
            &["修改", "文件", "改文", "名", "请修改文件名称", "修改 名称"],
            &["改修", "修文", "修\u{3000}書"],
        ),
        (
            "修改File名",
            &["修改File名", "file", "改file", "名"],
            &["改名", "fil"],
        ),
        (
            "データベースの検索",
            &["データ", "ベース", "検索", "の", "ー"],
            &["デタ", "索検", "ヘース"],
        ),
        ("ﾃﾞｰﾀ と データ", &["データ", "ﾃﾞｰﾀ"], &["テータ"]),
        (
            "검색어를 입력",
            &["검색", "검색어", "를", "\u{1100}\u{1165}\u{11B7}색"],
            &["색검", "검어"],
        ),
        ("ภาษาไทยง่าย", &["ไทย", "ภาษา", "ง่าย", "งาย"], &["ยไท"]),
        ("ພາສາລາວ ភាសាខ្មែរ", &["ລາວ", "ខ្មែរ"], &["ວລາ"]),
        ("ㄅㄆㄇ ꀀꀁ", &["ㄆㄇ", "ꀁ"], &["ㄇㄅ"]),
        (
            "「設定」を、変更",
            &["設定", "「設定」", "を変更"],
            &["設変"],
        ),
        ("𠮷野家", &["𠮷", "野家"], &["家野"]),
    ]);
}

#[test]
fn identifiers_whole_and_by_part() {
    check(&[
        (
            "getUserName()",
            &[
                "getUserName",
                "getusername",
                "user",
                "name",
                "userName",
                "GETUSERNAME",
            ],
            &["username", "getuser"],
        ),
        (
            "new HTTPServer2",
            &["HTTPServer2", "http", "server", "2", "httpserver2"],
            &["httpserver"],
        ),
        (
            "XMLHttpRequest",
            &["xml", "http request", "httpRequest"],
            &["xmlhttp"],
        ),
        (
            "snake_case_name",
            &[
                "snake_case_name",
                "snake",
                "case_name",
                "snake case",
                "snake-case",
            ],
            &["snakecase"],
        ),
        (
            "SCREAMING_CASE",
            &["screaming_case", "case"],
            &["screamingcase"],
        ),
        (
            "kebab-case-name",
            &["kebab-case", "kebab_case_name", "name"],
            &["kebabcase"],
        ),
        (
            "utf8 sha256sum",
            &["utf8", "utf", "8", "sha256", "sha256sum"],
            &["sha2"],
        ),
        ("getURLs of myIDs", &["urls", "ids"], &["ur"]),
        (
            "getUser, then nameOf",
            &["user", "name", "nameOf"],
            &["userName", "getUserName", "\"user name\""],
        ),
        (
            "_private $var @dec",
            &["_private", "$var", "@dec", "private"],
            &["priv"],
        ),
    ]);
}

#[test]
fn paths_versions_hashes_and_signs() {
    let sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let long = "0123456789abcdef".repeat(8);
    let text = format!("sha256:{sha} sha512:{long}");
    assert!(finds(sha, &text));
    assert!(finds(&long, &text));
    assert!(finds(&format!("sha512:{long}"), &text));
    assert!(!finds(&sha[..20], &text));
    check(&[
        (
            "edit ./src/text/mod.rs:42",
            &[
                "src/text/mod.rs",
                "mod.rs",
                "text/mod.rs:42",
                "mod",
                "./src",
            ],
            &["src/mod.rs", "text.rs"],
        ),
        (
            r"C:\Users\me\a.txt",
            &[r"C:\Users", "users/me", "a.txt"],
            &["userme"],
        ),
        (
            "v1.2.3-rc.1 python3.11 2024-05-06T07:08",
            &[
                "v1.2.3",
                "1.2.3",
                "1.2.3-rc.1",
                "rc.1",
                "2024-05-06",
                "07:08",
            ],
            &["v1.3", "1.2.4"],
        ),
        (
            "https://example.com/a?b=c#d",
            &["https://example.com", "example.com/a", "b=c"],
            &["example.org"],
        ),
        (
            "mail jane.doe+x@example.com",
            &["jane.doe+x@example.com", "jane", "@example.com"],
            &["jane@example"],
        ),
        (
            "cargo test --all-targets -v",
            &[
                "--all-targets",
                "-v",
                "cargo test",
                "\"test --all-targets\"",
            ],
            &["--targets-all"],
        ),
        (
            "std::io::Error in C++ and C#",
            &["std::io::Error", "io::error", "C++", "C#", "c"],
            &["std::Error"],
        ),
        (
            "error[E0308]: TS2345 ENOENT (os error 2)",
            &[
                "E0308",
                "error[E0308]",
                "TS2345",
                "enoent",
                "\"os error 2\"",
            ],
            &["E030"],
        ),
        ("a && b || !c => {}", &["a && b", "!c", "=> b"], &["d"]),
        (
            "AND OR NOT near* ^x",
            &["AND", "not", "near*", "^x"],
            &["nea"],
        ),
        (
            "uuid 550e8400-e29b-41d4-a716-446655440000",
            &["550e8400-e29b-41d4-a716-446655440000", "550e8400"],
            &["50e84"],
        ),
        ("👩\u{200D}💻 done 🙂", &["done", "🙂 done"], &["🙂"]),
        (
            "\u{1B}[1;31merror\u{1B}[0m[E1] \u{1B}[Kline \u{1B}[9 \u{1B}]0;title\u{7}",
            &["error", "error[E1]", "line", "9", "title"],
            &["31merror", "kline", "31"],
        ),
        (
            "x\0y \u{202E}rtl\u{202C} \u{FFFD}z",
            &["x", "y", "rtl", "z"],
            &["xy"],
        ),
    ]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_token_of_a_text_finds_it(text in any::<String>()) {
        for token in tokens(&text) {
            prop_assert!(finds(&token.text, &text), "{:?}", token);
        }
    }

    #[test]
    fn every_part_of_a_text_finds_it(text in "[A-Za-z0-9éß修_ ]{0,40}") {
        for part in identifiers(&text).parts.split_whitespace().filter(|part| !part.contains('ª')) {
            prop_assert!(finds(part, &text), "{}", part);
        }
    }

    #[test]
    fn every_word_as_typed_finds_its_text(text in "[A-Za-z0-9éß修改_.:/ -]{0,40}") {
        for typed in text.split_whitespace().filter(|typed| !words(typed).is_empty()) {
            prop_assert!(finds(typed, &text), "{}", typed);
        }
    }

    #[test]
    fn every_substring_of_a_cjk_run_finds_it(
        run in "[一-龥ぁ-んァ-ン가-힣]{1,12}",
        before in "[a-z ]{0,4}",
        after in "[a-z ]{0,4}",
        from in 0usize..12,
        len in 1usize..12,
    ) {
        let part: String = run.chars().skip(from).take(len).collect();
        prop_assume!(!part.is_empty());
        let text = format!("{before}{run}{after}");
        prop_assert!(finds(&part, &text), "{} in {}", part, text);
        let wanted: Vec<String> = part.chars().map(|c| c.to_string()).collect();
        prop_assert!(stands(&words(&text), &wanted));
    }

    #[test]
    fn every_substring_of_a_thai_run_finds_it(
        run in "[\u{E01}-\u{E2E}\u{E30}-\u{E3A}\u{E40}-\u{E4E}]{1,12}",
        from in 0usize..12,
        len in 1usize..12,
    ) {
        let part: String = run.chars().skip(from).take(len).collect();
        prop_assume!(!words(&part).is_empty());
        prop_assert!(finds(&part, &run));
    }
}
