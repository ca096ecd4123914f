//! Identifier parts: `getUserName` -> get user name, `HTTPServer2` -> http server 2.
//!
//! Only borders inside one word are looked for; `snake_case` and `a.b` are several words already.

use std::ops::Range;

use super::fold::Class;
use super::scan::{Scanner, Span, Word};

/// With more borders between letters and digits than this a word is taken for a hash or an
/// encoded value, whose digits separate nothing.
const DIGIT_BORDERS: usize = 3;

/// One part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Its bytes in the folded text of the word.
    pub(super) text: Range<usize>,
    /// Where it stands in the source.
    pub(super) span: Span,
}

/// The parts of all words of `text` that have at least two, separated by spaces, in order.
///
/// ```
/// use pi_event_search_core::text::parts_text;
/// assert_eq!(parts_text("getUserName(utf8) plain"), "get user name utf 8");
/// ```
pub fn parts_text(text: &str) -> String {
    let mut scanner = Scanner::with_shapes(text);
    let mut parts = Vec::new();
    let mut spaced = String::new();
    while let Some(word) = scanner.advance() {
        split(word, &mut parts);
        for part in &parts {
            if !spaced.is_empty() {
                spaced.push(' ');
            }
            spaced.push_str(&word.text[part.text.clone()]);
        }
    }
    spaced
}

/// Puts the parts of `word`, which must have its shape, into `parts`: none, or at least two.
pub(super) fn split(word: &Word, parts: &mut Vec<Part>) {
    parts.clear();
    if !is_mixed(&word.classes) {
        return;
    }
    let digits = digit_borders(&word.classes) <= DIGIT_BORDERS;
    let mut first = 0;
    let mut from = 0;
    for (i, (byte, _)) in word.text.char_indices().enumerate().skip(1) {
        if is_border(word, i, digits) {
            parts.push(part(word, first..i, from..byte));
            (first, from) = (i, byte);
        }
    }
    if !parts.is_empty() {
        parts.push(part(word, first..word.chars, from..word.text.len()));
    }
}

fn part(word: &Word, chars: Range<usize>, text: Range<usize>) -> Part {
    let mut span = word.char_span(chars.start);
    if chars.end == word.chars {
        span.stretch(word.span);
    } else {
        span.stretch(word.char_span(chars.end - 1));
    }
    Part { text, span }
}

/// False for the many words that cannot have a border: all of one class, or only capitalised.
fn is_mixed(classes: &[Class]) -> bool {
    match classes {
        [_, rest @ ..] => {
            rest.iter()
                .any(|c| matches!(c, Class::Upper | Class::Digit))
                || classes[0] == Class::Digit
        }
        [] => false,
    }
}

fn digit_borders(classes: &[Class]) -> usize {
    classes
        .windows(2)
        .filter(|pair| (pair[0] == Class::Digit) != (pair[1] == Class::Digit))
        .count()
}

/// True when a part ends before character `i` of the word.
fn is_border(word: &Word, i: usize, digits: bool) -> bool {
    let classes = &word.classes;
    let before_lower = classes.get(i + 1) == Some(&Class::Lower);
    match (classes[i - 1], classes[i]) {
        (Class::Lower | Class::Letter, Class::Upper) => true,
        // The last capital of a run starts the next word: HTTP|Server. But URLs is one word.
        (Class::Upper, Class::Upper) => before_lower && !is_plural(word, i + 1),
        (Class::Digit, Class::Digit) => false,
        (Class::Digit, Class::Upper) => digits || before_lower,
        (Class::Digit, _) | (_, Class::Digit) => digits,
        _ => false,
    }
}

/// True when character `i` is the `s` of several acronyms, as in `getURLs` or `IDsByName`.
fn is_plural(word: &Word, i: usize) -> bool {
    word.is_plain()
        && word.text.as_bytes().get(i) == Some(&b's')
        && word.classes.get(i + 1) != Some(&Class::Lower)
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
