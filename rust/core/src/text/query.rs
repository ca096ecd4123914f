//! The query language: plain terms and quoted phrases, all of which must be found.
//!
//! There is no syntax to get wrong: any other character only separates words. A term of several
//! words (`foo.bar`, `修改`) asks for them side by side, as a phrase does.

use std::fmt;

use super::bounds::count;
use super::compounds::Compounds;
use super::parts::split;
use super::scan::Scanner;

/// Longest query, in code points.
pub const QUERY_LIMIT: usize = 1_000;
/// Most terms and phrases of one query.
pub const TERM_LIMIT: usize = 32;

/// One thing that must be found. The texts are tokens as [`super::tokens`] gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clause {
    /// One token.
    Term(String),
    /// At least two tokens, side by side in this order.
    Phrase(Vec<String>),
}

/// A parsed query. The lists run in parallel, one item a clause, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What must be found; no clause stands twice.
    pub clauses: Vec<Clause>,
    /// Each clause as it was typed, quotes included.
    pub display: Vec<String>,
    /// For a term that is an identifier of several parts, these parts (`userName` -> user, name):
    /// side by side in the parts of a longer identifier they find it. Empty for other clauses.
    pub parts: Vec<Vec<String>>,
    /// For a term that is one compound identifier (`snake_case`), the word by which the parts of a
    /// text name it as a whole. It is no condition: what it finds, the clause finds.
    pub wholes: Vec<Option<String>>,
}

/// Why a query is refused; nothing else ever is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryError {
    /// Nothing in it is a letter, a digit or an ideograph.
    NoTerms,
    /// It has more than [`QUERY_LIMIT`] code points.
    TooLong,
    /// It has more than [`TERM_LIMIT`] terms and phrases.
    TooManyTerms,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTerms => f.write_str(
                "The query holds nothing to search for: give a letter, a digit or an ideograph.",
            ),
            Self::TooLong => write!(
                f,
                "The query is longer than {QUERY_LIMIT} characters; a few telling words do better."
            ),
            Self::TooManyTerms => write!(
                f,
                "The query has more than {TERM_LIMIT} words and phrases; leave out common ones."
            ),
        }
    }
}

impl std::error::Error for QueryError {}

/// Parses a query. Terms without a letter, digit or ideograph (`--`, `=>`) are dropped; a quote
/// that is not closed reaches to the end.
///
/// ```
/// use pi_event_search_core::text::{Clause, parse_query};
/// let query = parse_query(r#"C++ "Lock Busy" --force"#).unwrap();
/// assert_eq!(query.clauses[0], Clause::Term("c".into()));
/// assert_eq!(query.clauses[1], Clause::Phrase(vec!["lock".into(), "busy".into()]));
/// assert_eq!(query.display[2], "--force");
/// ```
pub fn parse_query(text: &str) -> Result<Query, QueryError> {
    if count(text) > QUERY_LIMIT {
        return Err(QueryError::TooLong);
    }
    let mut query = Query {
        clauses: Vec::new(),
        display: Vec::new(),
        parts: Vec::new(),
        wholes: Vec::new(),
    };
    let mut terms = 0;
    for piece in pieces(text) {
        let Some((clause, parts, whole)) = clause(piece) else {
            continue;
        };
        terms += 1;
        if terms > TERM_LIMIT {
            return Err(QueryError::TooManyTerms);
        }
        if !query.clauses.contains(&clause) {
            query.clauses.push(clause);
            query.display.push(piece.to_owned());
            query.parts.push(parts);
            query.wholes.push(whole);
        }
    }
    if query.clauses.is_empty() {
        return Err(QueryError::NoTerms);
    }
    Ok(query)
}

/// The clause of one typed piece, its identifier parts if it is one word of several, and the whole
/// identifier if it is one of several words.
fn clause(piece: &str) -> Option<(Clause, Vec<String>, Option<String>)> {
    let mut scanner = Scanner::with_shapes(piece);
    let mut words = Vec::new();
    let mut parts = Vec::new();
    let mut found = Vec::new();
    let mut compounds = Compounds::default();
    while let Some(word) = scanner.advance() {
        compounds.take(piece, word, |_| ());
        if words.is_empty() {
            split(word, &mut found);
            parts.extend(
                found
                    .iter()
                    .map(|part| word.text[part.text.clone()].to_owned()),
            );
        }
        words.push(word.text.clone());
    }
    match words.len() {
        0 => None,
        1 => words.pop().map(|word| (Clause::Term(word), parts, None)),
        count => {
            let mut whole = None;
            if compounds.words() == count {
                compounds.finish(|joined| whole = Some(joined.to_owned()));
            }
            Some((Clause::Phrase(words), Vec::new(), whole))
        }
    }
}

/// Cuts a query into terms and phrases as typed, the latter with their quotes.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match quote_family(first) {
            Some(family) => {
                let inside = &rest[first.len_utf8()..];
                inside
                    .char_indices()
                    .find(|&(_, c)| quote_family(c) == Some(family))
                    .map_or(rest.len(), |(i, c)| first.len_utf8() + i + c.len_utf8())
            }
            None => rest
                .find(|c: char| c.is_whitespace() || quote_family(c).is_some())
                .unwrap_or(rest.len()),
        };
        pieces.push(rest[..end].trim_end());
        rest = rest[end..].trim_start();
    }
    pieces
}

/// Quotes that close each other. Languages disagree on which of a pair opens, so either may.
fn quote_family(c: char) -> Option<u8> {
    match c {
        '"' | '＂' | '“' | '”' | '„' | '‟' => Some(0),
        '«' | '»' => Some(1),
        '「' | '」' | '『' | '』' | '｢' | '｣' => Some(2),
        _ => None,
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
