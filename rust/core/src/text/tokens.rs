//! Tokens of a text, and the form of a text that makes the search engine find the same tokens.

use std::borrow::Cow;

use memchr::memchr;

use super::scan::{ESCAPE, Scanner};
use super::word::TOKEN_LIMIT;

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Folded text.
    pub text: String,
    /// First code point in the source text.
    pub start: usize,
    /// One after the last code point in the source text.
    pub end: usize,
    /// The number of tokens before it.
    pub position: u32,
}

/// The tokens of `text`, in order.
///
/// ```
/// use pi_event_search_core::text::tokens;
/// let words = |text| tokens(text).into_iter().map(|t| t.text).collect::<Vec<_>>();
/// assert_eq!(words("Crème brûlée, src/x.ts"), ["creme", "brulee", "src", "x", "ts"]);
/// assert_eq!(words("修改File名"), ["修", "改", "file", "名"]);
/// ```
pub fn tokens(text: &str) -> Vec<Token> {
    let mut scanner = Scanner::new(text);
    let mut found = Vec::new();
    while let Some(word) = scanner.advance() {
        found.push(Token {
            text: word.text.clone(),
            start: word.span.start,
            end: word.span.end,
            position: u32::try_from(word.position).unwrap_or(u32::MAX),
        });
    }
    found
}

/// The text to give to an analyzer made of Tantivy's `simple` tokenizer and `lowercase` filter, so
/// that it yields exactly [`tokens`] of `text`.
///
/// ASCII text needs no change unless it holds control sequences, or a run longer than a token.
pub fn index_text(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    if text.is_ascii() && memchr(ESCAPE, bytes).is_none() && !has_long_run(bytes) {
        return Cow::Borrowed(text);
    }
    let mut scanner = Scanner::new(text);
    let mut spaced = String::with_capacity(text.len() + text.len() / 4);
    while let Some(word) = scanner.advance() {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push_str(&word.text);
    }
    Cow::Owned(spaced)
}

/// True when more than [`TOKEN_LIMIT`] letters and digits stand in a row.
fn has_long_run(bytes: &[u8]) -> bool {
    let mut from = 0;
    while let Some(run) = bytes.get(from..=from + TOKEN_LIMIT) {
        // Looking from the far end skips most bytes: one separator rules out every run across it.
        match run.iter().rposition(|byte| !byte.is_ascii_alphanumeric()) {
            Some(i) => from += i + 1,
            None => return true,
        }
    }
    false
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
