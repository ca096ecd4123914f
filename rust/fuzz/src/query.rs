//! Any text as a query, and any text as what is searched: tokens, matches, snippets, previews,
//! and the text at rest.

use std::sync::{Arc, LazyLock};

use pi_event_search_core::text::{
    Bounded, Clause, Dictionary, QUERY_LIMIT, Query, QueryError, TERM_LIMIT, TOKEN_LIMIT, bound,
    compress, count, decompress, identifiers, index_text, parse_query, preview, snippet, tokens,
    window,
};

use super::input::Input;

/// Orders: two limits, then the query. Content: the text.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (limit, offset) = (usize::from(input.byte()), usize::from(input.byte()));
    let mut query = Vec::new();
    while input.has_more() {
        query.push(input.byte());
    }
    let asked = String::from_utf8_lossy(&query);
    let text = String::from_utf8_lossy(input.content);
    let parsed = parse_query(&asked);
    check_query(&asked, parsed.as_ref());
    check_tokens(&text);
    check_tokens(&asked);
    let bounded = bound(&text, limit.max(2));
    check_snippet(&bounded, parsed.as_ref().ok(), limit);
    check_windows(&text, offset, limit);
    check_rest(&text, limit, input.content);
    let _ = identifiers(&text);
}

fn check_query(asked: &str, parsed: Result<&Query, &QueryError>) {
    match parsed {
        Err(QueryError::TooLong) => assert!(count(asked) > QUERY_LIMIT),
        Err(QueryError::NoTerms) => assert!(tokens(asked).is_empty()),
        Err(QueryError::TooManyTerms) => assert!(tokens(asked).len() > TERM_LIMIT),
        Ok(query) => {
            let clauses = query.clauses.len();
            assert!((1..=TERM_LIMIT).contains(&clauses));
            assert_eq!(query.display.len(), clauses);
            assert_eq!(query.parts.len(), clauses);
            assert_eq!(query.wholes.len(), clauses);
            for clause in &query.clauses {
                match clause {
                    Clause::Term(word) => assert!(!word.is_empty()),
                    Clause::Phrase(words) => assert!(words.len() > 1),
                }
            }
        }
    }
}

/// What the engine will find in the prepared text are the tokens of the text.
fn check_tokens(text: &str) {
    let found = tokens(text);
    let prepared = index_text(text);
    let simple: Vec<String> = prepared
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let words: Vec<&str> = found.iter().map(|token| token.text.as_str()).collect();
    assert_eq!(words, simple, "the engine's analyzer finds other words");
    let length = count(text);
    let mut start = 0;
    for (number, token) in found.iter().enumerate() {
        assert!(start <= token.start && token.start < token.end && token.end <= length);
        assert_eq!(token.position as usize, number);
        assert!(count(&token.text) <= TOKEN_LIMIT);
        start = token.start;
    }
}

fn check_snippet(text: &Bounded<'_>, query: Option<&Query>, limit: usize) {
    let cut = snippet(text.head, text.tail, query, limit);
    let length = count(&cut.text);
    assert!(length <= limit);
    let mut end = 0;
    for &(start, stop) in &cut.highlights {
        assert!(end <= start && start < stop && stop <= length);
        end = stop;
    }
}

/// With a dictionary and without one, whole and with one byte that is another.
fn check_rest(text: &str, at: usize, any: &[u8]) {
    static DICTIONARY: LazyLock<Arc<Dictionary>> = LazyLock::new(|| {
        let line = |n: usize| format!("line {n} of src/main.rs: no such file or directory ({n})");
        let texts: Vec<String> = (0..100).map(line).collect();
        Dictionary::learn(&texts).expect("these texts have much in common")
    });
    for dictionary in [None, Some(&**DICTIONARY)] {
        let mut stored = compress(text, dictionary);
        assert_eq!(decompress(&stored).as_deref(), Ok(text));
        let at = at % stored.len();
        stored[at] ^= any.first().copied().unwrap_or(1);
        assert!(decompress(&stored).map_or(true, |found| found == text));
    }
    let _ = decompress(any);
}

fn check_windows(text: &str, offset: usize, limit: usize) {
    let total = count(text);
    for shown in [preview(text, limit), window(text, offset, limit)] {
        assert_eq!(shown.total, total);
        let mut covered = 0;
        for &(start, end) in &shown.shown {
            assert!(start < end && end <= total);
            covered += end - start;
        }
        assert!(covered <= limit, "more is shown than was asked for");
    }
}
