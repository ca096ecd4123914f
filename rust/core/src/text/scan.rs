//! The one scanner behind index, query and highlights: a text in, its words out.
//!
//! A word is a run of alphanumeric characters after folding, cut at [`TOKEN_LIMIT`]; a character
//! of a script without spaces is a word of its own. The scanner reads the text once and holds one
//! word and one cluster (a character with the marks on it) at a time.

use super::fold::{Class, Quick, Unit, extends, fold_into, quick};

/// Most code points of one token. Longer runs (hashes, base64) become adjacent tokens, which a
/// phrase of the same run finds again.
pub const TOKEN_LIMIT: usize = 64;

/// A stretch of the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    /// First code point.
    pub(super) start: usize,
    /// One after the last code point.
    pub(super) end: usize,
    /// The same two places in bytes.
    pub(super) start_byte: usize,
    pub(super) end_byte: usize,
}

impl Span {
    /// The span of the character `i` of an ASCII run starting at `start` and `start_byte`.
    fn of_ascii(start: usize, start_byte: usize, i: usize) -> Self {
        Self {
            start: start + i,
            end: start + i + 1,
            start_byte: start_byte + i,
            end_byte: start_byte + i + 1,
        }
    }

    /// Moves the end out to that of `other`.
    pub(super) fn stretch(&mut self, other: Self) {
        self.end = self.end.max(other.end);
        self.end_byte = self.end_byte.max(other.end_byte);
    }
}

/// The word the scanner stands on.
#[derive(Debug, Default)]
pub(super) struct Word {
    /// Folded text.
    pub(super) text: String,
    /// Code points of `text`.
    pub(super) chars: usize,
    /// Where it stands in the source.
    pub(super) span: Span,
    /// Words before it in the text.
    pub(super) position: usize,
    /// The class of each character of `text`; empty unless the scanner was asked for shapes.
    pub(super) classes: Vec<Class>,
    /// The source of each character; empty when each one comes from one ASCII character.
    spans: Vec<Span>,
}

impl Word {
    /// The source of the character number `i` of the word.
    pub(super) fn char_span(&self, i: usize) -> Span {
        let implied = Span::of_ascii(self.span.start, self.span.start_byte, i);
        self.spans.get(i).copied().unwrap_or(implied)
    }

    /// True when the folded text has the bytes of an ASCII source.
    pub(super) fn is_plain(&self) -> bool {
        self.spans.is_empty()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.chars = 0;
        self.classes.clear();
        self.spans.clear();
    }

    fn is_full(&self) -> bool {
        self.chars == TOKEN_LIMIT
    }

    /// Writes down the spans that were implied so far, before a character breaks the rule.
    fn settle_spans(&mut self) {
        for i in self.spans.len()..self.chars {
            self.spans.push(self.char_span(i));
        }
    }

    /// Starts or lengthens the source span.
    fn cover(&mut self, span: Span) {
        if self.chars == 0 {
            self.span = span;
        } else {
            self.span.stretch(span);
        }
    }
}

/// Whether the current word goes on.
enum Step {
    More,
    Done,
}

/// Walks over the words of a text. See [`Scanner::advance`].
pub(super) struct Scanner<'t> {
    source: &'t str,
    /// Next byte to read, and the code points before it.
    at: usize,
    index: usize,
    /// The folded cluster being consumed.
    units: Vec<Unit>,
    next_unit: usize,
    word: Word,
    words: usize,
    shapes: bool,
}

impl<'t> Scanner<'t> {
    /// A scanner that gives texts and spans.
    pub(super) fn new(source: &'t str) -> Self {
        Self {
            source,
            at: 0,
            index: 0,
            units: Vec::new(),
            next_unit: 0,
            word: Word::default(),
            words: 0,
            shapes: false,
        }
    }

    /// A scanner that also keeps the class of each character, as identifier parts need it.
    pub(super) fn with_shapes(source: &'t str) -> Self {
        Self {
            shapes: true,
            ..Self::new(source)
        }
    }

    /// The next word, or `None` at the end.
    pub(super) fn advance(&mut self) -> Option<&Word> {
        self.word.clear();
        loop {
            let step = if self.next_unit < self.units.len() {
                self.take_units()
            } else {
                match self.source.as_bytes().get(self.at) {
                    None if self.word.chars == 0 => return None,
                    None => Step::Done,
                    Some(byte) if byte.is_ascii() => self.take_ascii(),
                    Some(_) => self.take_wide(),
                }
            };
            if matches!(step, Step::Done) {
                self.word.position = self.words;
                self.words += 1;
                return Some(&self.word);
            }
        }
    }

    /// Takes a run of ASCII letters and digits, or skips what separates.
    fn take_ascii(&mut self) -> Step {
        let rest = &self.source.as_bytes()[self.at..];
        let room = TOKEN_LIMIT - self.word.chars;
        let run = rest
            .iter()
            .take(room)
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        if run > 0 {
            self.push_ascii(run);
            return Step::More;
        }
        if self.word.chars > 0 {
            return Step::Done;
        }
        let skipped = rest
            .iter()
            .take_while(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())
            .count();
        self.at += skipped;
        self.index += skipped;
        Step::More
    }

    fn push_ascii(&mut self, run: usize) {
        let span = Span {
            start: self.index,
            end: self.index + run,
            start_byte: self.at,
            end_byte: self.at + run,
        };
        let letters = &self.source[self.at..self.at + run];
        let word = &mut self.word;
        word.cover(span);
        let from = word.text.len();
        word.text.push_str(letters);
        word.text[from..].make_ascii_lowercase();
        if self.shapes {
            word.classes.extend(letters.bytes().map(ascii_class));
            if !word.spans.is_empty() {
                let runs = (0..run).map(|i| Span::of_ascii(span.start, span.start_byte, i));
                word.spans.extend(runs);
            }
        }
        word.chars += run;
        self.at += run;
        self.index += run;
    }

    /// Takes one character beyond ASCII, together with what extends it.
    fn take_wide(&mut self) -> Step {
        let Some(c) = self.source[self.at..].chars().next() else {
            return Step::Done;
        };
        match quick(c) {
            Quick::Separator | Quick::Single if self.word.chars > 0 => Step::Done,
            Quick::Separator => {
                self.consume(c);
                Step::More
            }
            Quick::Single if !self.extended_after(c) => {
                let span = self.consume(c);
                self.push(Unit {
                    ch: c,
                    class: Class::Single,
                    span,
                });
                Step::Done
            }
            Quick::Letter(..) if self.word.is_full() => Step::Done,
            Quick::Letter(ch, class) => {
                let span = self.consume(c);
                self.push(Unit { ch, class, span });
                Step::More
            }
            Quick::Single | Quick::No => {
                self.fold_cluster(c);
                Step::More
            }
        }
    }

    /// Folds `c` and everything that may merge with it into `units`.
    fn fold_cluster(&mut self, c: char) {
        self.units.clear();
        self.next_unit = 0;
        let from = self.consume(c);
        fold_into(c, from, &mut self.units);
        while let Some(next) = self.source[self.at..].chars().next()
            && extends(next)
        {
            let span = self.consume(next);
            fold_into(next, span, &mut self.units);
        }
        if self.units.is_empty() && self.word.chars > 0 {
            // Marks on an ASCII letter: they vanish, but belong to the word.
            let end = Span {
                end: self.index,
                end_byte: self.at,
                ..from
            };
            if self.shapes {
                self.word.settle_spans();
            }
            self.word.span.stretch(end);
            if let Some(last) = self.word.spans.last_mut() {
                last.stretch(end);
            }
        }
    }

    fn take_units(&mut self) -> Step {
        let unit = self.units[self.next_unit];
        let taken = self.word.chars > 0;
        match unit.class {
            Class::Separator | Class::Single if taken => return Step::Done,
            Class::Separator => {}
            Class::Single => {
                self.push(unit);
                self.next_unit += 1;
                return Step::Done;
            }
            _ if self.word.is_full() => return Step::Done,
            _ => self.push(unit),
        }
        self.next_unit += 1;
        Step::More
    }

    fn push(&mut self, unit: Unit) {
        let word = &mut self.word;
        if self.shapes {
            word.settle_spans();
            word.spans.push(unit.span);
            word.classes.push(unit.class);
        }
        word.cover(unit.span);
        word.text.push(unit.ch);
        word.chars += 1;
    }

    /// Passes over `c` and gives its span.
    fn consume(&mut self, c: char) -> Span {
        let span = Span {
            start: self.index,
            end: self.index + 1,
            start_byte: self.at,
            end_byte: self.at + c.len_utf8(),
        };
        self.index = span.end;
        self.at = span.end_byte;
        span
    }

    /// True when the character behind `c`, which stands at the current place, extends it.
    fn extended_after(&self, c: char) -> bool {
        self.source[self.at + c.len_utf8()..]
            .chars()
            .next()
            .is_some_and(extends)
    }
}

fn ascii_class(byte: u8) -> Class {
    match byte {
        b'0'..=b'9' => Class::Digit,
        b'A'..=b'Z' => Class::Upper,
        _ => Class::Lower,
    }
}
