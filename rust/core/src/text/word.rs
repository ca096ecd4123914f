//! One word of a text, folded, with the way back to its source.

use super::fold::Class;

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
    pub(super) fn of_ascii(start: usize, start_byte: usize, i: usize) -> Self {
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
    pub(super) spans: Vec<Span>,
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

    /// Makes it no word.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.chars = 0;
        self.classes.clear();
        self.spans.clear();
    }

    /// True when nothing more fits in.
    pub(super) fn is_full(&self) -> bool {
        self.chars == TOKEN_LIMIT
    }

    /// Writes down the spans that were implied so far, before a character breaks the rule.
    pub(super) fn settle_spans(&mut self) {
        for i in self.spans.len()..self.chars {
            self.spans.push(self.char_span(i));
        }
    }

    /// Adds the source of marks that vanish behind the last character.
    pub(super) fn lengthen(&mut self, by: Span, shapes: bool) {
        if shapes {
            self.settle_spans();
        }
        self.span.stretch(by);
        if let Some(last) = self.spans.last_mut() {
            last.stretch(by);
        }
    }

    /// Starts or lengthens the source span.
    pub(super) fn cover(&mut self, span: Span) {
        if self.chars == 0 {
            self.span = span;
        } else {
            self.span.stretch(span);
        }
    }
}
