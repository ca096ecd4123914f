use proptest::prelude::*;

use super::super::tokens::tokens;
use super::*;

fn term(text: &str) -> Clause {
    Clause::Term(text.to_owned())
}

fn phrase(words: &str) -> Clause {
    Clause::Phrase(words.split(' ').map(str::to_owned).collect())
}

fn clauses(text: &str) -> Vec<Clause> {
    parse_query(text).map_or(Vec::new(), |query| query.clauses)
}

#[test]
fn terms_and_phrases() {
    assert_eq!(clauses("Lock  busy"), [term("lock"), term("busy")]);
    assert_eq!(
        clauses("\"Lock busy\" now"),
        [phrase("lock busy"), term("now")]
    );
    assert_eq!(clauses("\"one\""), [term("one")]);
    assert_eq!(
        clauses("foo\"bar baz\"qux"),
        [term("foo"), phrase("bar baz"), term("qux")]
    );
    assert_eq!(
        clauses("\"never closed at all"),
        [phrase("never closed at all")]
    );
}

#[test]
fn punctuation_separates_or_vanishes() {
    assert_eq!(clauses("C++"), [term("c")]);
    assert_eq!(clauses("foo.bar"), [phrase("foo bar")]);
    assert_eq!(clauses("--flag => x"), [term("flag"), term("x")]);
    assert_eq!(clauses("std::io::Error"), [phrase("std io error")]);
    assert_eq!(clauses("修改File名"), [phrase("修 改 file 名")]);
    assert_eq!(
        clauses("AND (a OR b*)"),
        [term("and"), term("a"), term("or"), term("b")]
    );
}

#[test]
fn quotes_of_other_languages() {
    for text in [
        "“a b”",
        "„a b“",
        "«a b»",
        "»a b«",
        "「a b」",
        "＂a b＂",
        "“a b\"",
    ] {
        assert_eq!(clauses(text), [phrase("a b")], "{text}");
    }
    assert_eq!(clauses("don't"), [phrase("don t")]);
}

#[test]
fn the_query_is_shown_as_typed() {
    let query = parse_query(" C++  \"Lock  Busy\" -- \"open end ").unwrap();
    assert_eq!(query.display, ["C++", "\"Lock  Busy\"", "\"open end"]);
}

#[test]
fn a_clause_stands_once() {
    let query = parse_query("Foo foo FOO bar").unwrap();
    assert_eq!(query.clauses, [term("foo"), term("bar")]);
    assert_eq!(query.display, ["Foo", "bar"]);
}

#[test]
fn identifier_terms_know_their_parts() {
    let query = parse_query("userName plain a.bC").unwrap();
    assert_eq!(query.parts, [vec!["user", "name"], vec![], vec![]]);
}

#[test]
fn three_refusals() {
    for text in ["", " ", "--", "\"\"", "🙂", "™", "\u{301}"] {
        assert_eq!(parse_query(text), Err(QueryError::NoTerms), "{text:?}");
    }
    assert!(parse_query(&"é".repeat(1_000)).is_ok());
    assert_eq!(parse_query(&"é".repeat(1_001)), Err(QueryError::TooLong));
    let terms = |n: usize| {
        let terms: Vec<String> = (0..n).map(|i| format!("t{i}")).collect();
        terms.join(" ")
    };
    assert_eq!(
        parse_query(&terms(32)).map(|query| query.clauses.len()),
        Ok(32)
    );
    assert_eq!(parse_query(&terms(33)), Err(QueryError::TooManyTerms));
    assert!(QueryError::TooLong.to_string().contains("1000"));
}

#[test]
fn a_compound_identifier_is_also_one_word() {
    let query =
        parse_query("snake_case_name --all-targets x.y_z name \"a_b\" \"c d\" 修_改").unwrap();
    let wholes: Vec<_> = query.wholes.iter().map(Option::as_deref).collect();
    let (name, flag) = (Some("snakeªcaseªname"), Some("allªtargets"));
    assert_eq!(wholes, [name, flag, None, None, Some("aªb"), None, None]);
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        match parse_query(&text) {
            Ok(query) => {
                prop_assert!(!query.clauses.is_empty() && query.clauses.len() <= TERM_LIMIT);
                prop_assert_eq!(query.clauses.len(), query.display.len());
                prop_assert_eq!(query.clauses.len(), query.parts.len());
                prop_assert_eq!(query.clauses.len(), query.wholes.len());
            }
            Err(QueryError::NoTerms) => prop_assert!(tokens(&text).is_empty()),
            Err(QueryError::TooLong) => prop_assert!(count(&text) > QUERY_LIMIT),
            Err(QueryError::TooManyTerms) => prop_assert!(tokens(&text).len() > TERM_LIMIT),
        }
    }

    #[test]
    fn no_word_of_a_query_is_lost(text in "[a-c修é\"« .\\-]{0,40}") {
        let asked: Vec<String> = clauses(&text)
            .into_iter()
            .flat_map(|clause| match clause {
                Clause::Term(token) => vec![token],
                Clause::Phrase(tokens) => tokens,
            })
            .collect();
        for token in tokens(&text) {
            prop_assert!(asked.contains(&token.text));
        }
    }
}
