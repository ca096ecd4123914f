//! Identifier parts: `getUserName` -> get user name, `HTTPServer2` -> http server 2.
//!
//! Only borders inside one word are looked for; `snake_case` and `a.b` are several words already.
//! One thing goes beyond a word: numbers of which one is glued to letters (`v1.2.3`, `12.5ms`,
//! `2024-05-06T07:08`) stand side by side with all their fellows, so that `1.2.3`, `12.5`,
//! `2024-05-06` and `07:08` are found as well.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::compounds::Compounds;
use super::fold::Class;
use super::scan::Scanner;
use super::word::{Span, Word};

/// With more borders between letters and digits than this a word is taken for a hash or an
/// encoded value, whose digits separate nothing.
const DIGIT_BORDERS: usize = 3;

/// Most words before the glued one, and most behind it, that numbers may take up.
const NUMBER_WORDS: usize = 8;

/// One part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Its bytes in the folded text of the word.
    pub(super) text: Range<usize>,
    /// Where it stands in the source.
    pub(super) span: Span,
}

/// Stands between the parts of different words, so that no phrase is found across them. Analyzers
/// take it for a word; folding makes `a` of it, so no query asks for it.
pub const PARTS_BORDER: char = 'ª';

/// What an index is told of the identifiers of a text. What occurs again is given once, where it is
/// first: only whether it occurs is ever asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identifiers {
    /// The parts of all words that have at least two, separated by spaces, with a
    /// [`PARTS_BORDER`] where the parts of another word begin.
    pub parts: String,
    /// The compound identifiers, each as one word, separated by spaces.
    pub wholes: String,
}

/// The identifiers of a text.
///
/// ```
/// use pi_event_search_core::text::identifiers;
/// assert_eq!(identifiers("getUserName(utf8) plain").parts, "get user name ª utf 8");
/// assert_eq!(identifiers("at v1.2.3, v1.2.3").parts, "v 1 2 3");
/// assert_eq!(identifiers("userName in snake_case").wholes, "snakeªcase");
/// ```
pub fn identifiers(text: &str) -> Identifiers {
    let mut scanner = Scanner::with_shapes(text);
    let mut parts = Parts::default();
    let mut compounds = Compounds::default();
    let mut divided = Once::separated_by(BETWEEN_PARTS);
    let mut wholes = Once::separated_by(" ");
    let mut identifier = String::new();
    loop {
        if parts.is_idle() {
            scanner.skip_prose();
        }
        let Some(word) = scanner.advance() else {
            break;
        };
        compounds.take(text, word, |whole| wholes.add(whole));
        parts.take(text, word);
        if !parts.joined {
            divided.add(&identifier);
            identifier.clear();
        }
        for (part, _) in parts.found() {
            if !identifier.is_empty() {
                identifier.push(' ');
            }
            identifier.push_str(part);
        }
    }
    divided.add(&identifier);
    compounds.finish(|whole| wholes.add(whole));
    Identifiers {
        parts: divided.text,
        wholes: wholes.text,
    }
}

/// [`PARTS_BORDER`] as a word.
const BETWEEN_PARTS: &str = " ª ";

/// Texts one after the other, each only once.
struct Once {
    text: String,
    separator: &'static str,
    /// Where a text of this hash stands. Of two texts with one hash the second may come again.
    known: HashMap<u64, Range<usize>>,
}

impl Once {
    fn separated_by(separator: &'static str) -> Self {
        Self {
            text: String::new(),
            separator,
            known: HashMap::new(),
        }
    }

    fn add(&mut self, one: &str) {
        if one.is_empty() {
            return;
        }
        let known = self.known.entry(xxh3_64(one.as_bytes()));
        if matches!(&known, Entry::Occupied(at) if &self.text[at.get().clone()] == one) {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str(self.separator);
        }
        let from = self.text.len();
        self.text.push_str(one);
        known.or_insert(from..self.text.len());
    }
}

/// Walks over the parts of a text, word by word.
#[derive(Default)]
pub(super) struct Parts {
    /// True when what the last word gave goes on right behind what the word before gave.
    pub(super) joined: bool,
    given: Pieces,
    /// The words before this one, as long as they are linked numbers and gave nothing.
    numbers: Pieces,
    behind: Behind,
    /// The parts of the last word alone.
    own: Vec<Part>,
}

/// Where the next word stands.
#[derive(Default, Clone, Copy)]
enum Behind {
    /// Behind nothing that it could go on with.
    #[default]
    Words,
    /// Behind a word of several parts that ends, at this byte, in a digit.
    Digit { end: usize },
    /// Behind such a word and further numbers; so many words may follow.
    Numbers { end: usize, left: usize },
}

impl Parts {
    /// What the last word gave: no part, its parts, or itself as one of several linked numbers.
    pub(super) fn found(&self) -> impl Iterator<Item = (&str, Span)> {
        let text = &self.given.text;
        let parts = self.given.parts.iter();
        parts.map(|part| (&text[part.text.clone()], part.span))
    }

    /// Takes the next word of `source`, which must have its shape.
    pub(super) fn take(&mut self, source: &str, word: &Word) {
        if self.is_idle() && !is_mixed(&word.classes) {
            self.joined = false;
            return;
        }
        let left = self.words_left(source, word);
        let number = word.classes.first() == Some(&Class::Digit);
        self.joined = left.is_some();
        self.given.clear();
        split(word, &mut self.own);
        let splits = !self.own.is_empty();
        if splits && number && left.is_none() && self.numbers.lead_to(source, word) {
            std::mem::swap(&mut self.given, &mut self.numbers);
        }
        if left.is_some() && !(splits && number) {
            let whole = part(word, 0..word.chars, 0..word.text.len());
            self.given.push(&word.text, &[whole]);
        }
        self.given.push(&word.text, &self.own);

        let end = word.span.end_byte;
        self.behind = match left {
            Some(left) if number || !splits => Behind::Numbers { end, left },
            None if splits && word.classes.last() == Some(&Class::Digit) => Behind::Digit { end },
            _ => Behind::Words,
        };
        self.remember(source, word, left.is_none() && !splits);
    }

    /// True when no word before matters for the next one, as in most prose.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.behind, Behind::Words)
            && self.numbers.parts.is_empty()
            && self.given.parts.is_empty()
    }

    /// When `word` goes on with the numbers before it: how many more words may.
    fn words_left(&self, source: &str, word: &Word) -> Option<usize> {
        match self.behind {
            Behind::Digit { end } => {
                let number = word.classes.first() == Some(&Class::Digit);
                (number && is_link(source, end, word)).then_some(NUMBER_WORDS - 1)
            }
            Behind::Numbers { end, left } if left > 0 => {
                is_link(source, end, word).then_some(left - 1)
            }
            Behind::Numbers { .. } | Behind::Words => None,
        }
    }

    /// Keeps a number for the case that the next word goes on with it.
    fn remember(&mut self, source: &str, word: &Word, free: bool) {
        if !free || word.classes.iter().any(|class| *class != Class::Digit) {
            self.numbers.clear();
            return;
        }
        if self.numbers.parts.len() == NUMBER_WORDS || !self.numbers.lead_to(source, word) {
            self.numbers.clear();
        }
        let whole = part(word, 0..word.chars, 0..word.text.len());
        self.numbers.push(&word.text, &[whole]);
    }
}

/// Parts of several words with their text.
#[derive(Default)]
struct Pieces {
    text: String,
    parts: Vec<Part>,
}

impl Pieces {
    fn clear(&mut self) {
        self.text.clear();
        self.parts.clear();
    }

    /// Appends parts whose ranges point into `word`.
    fn push(&mut self, word: &str, parts: &[Part]) {
        if parts.is_empty() {
            return;
        }
        let at = self.text.len();
        self.text.push_str(word);
        self.parts.extend(parts.iter().map(|part| Part {
            text: part.text.start + at..part.text.end + at,
            span: part.span,
        }));
    }

    /// True when a link stands between the last of the pieces and `word`.
    fn lead_to(&self, source: &str, word: &Word) -> bool {
        let last = self.parts.last();
        last.is_some_and(|part| is_link(source, part.span.end_byte, word))
    }
}

/// True when just one of the signs that hold numbers together stands between byte `end` and `word`.
fn is_link(source: &str, end: usize, word: &Word) -> bool {
    let between = source.get(end..word.span.start_byte);
    matches!(between, Some("." | "-" | ":" | "+"))
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
