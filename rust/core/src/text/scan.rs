//! The one scanner behind index, query and highlights: a text in, its words out.
//!
//! A word is a run of alphanumeric characters after folding, cut at [`TOKEN_LIMIT`]; a character
//! of a script without spaces is a word of its own. Control sequences of terminals only separate.
//! The scanner reads the text once and holds one word and one cluster (a character with the marks
//! on it) at a time.

use super::fold::{Class, Quick, Unit, fold_into, quick};
use super::word::{Span, TOKEN_LIMIT, Word};

/// Starts control sequences of terminals, which logs are full of.
pub(super) const ESCAPE: u8 = 0x1B;
/// Most parameter bytes of a control sequence; more are no sequence.
const SEQUENCE_LIMIT: usize = 64;

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

    /// Passes over words that stand for themselves: ASCII letters in one case or capitalised, with
    /// no sign of a longer identifier on either side. They are most of what people write, and
    /// whoever looks for identifiers has nothing to see in them.
    pub(super) fn skip_prose(&mut self) {
        let bytes = self.source.as_bytes();
        let starts_linked = bytes.get(self.at).is_some_and(|byte| is_link(*byte));
        if starts_linked || self.next_unit < self.units.len() {
            return;
        }
        let mut at = self.at;
        while let Some(byte) = bytes.get(at) {
            match ascii_class(*byte) {
                Class::Separator if byte.is_ascii() && *byte != ESCAPE => at += 1,
                Class::Upper | Class::Lower => {
                    let Some(length) = plain_word(&bytes[at..]) else {
                        break;
                    };
                    at += length;
                    self.words += 1;
                }
                _ => break,
            }
        }
        self.index += at - self.at;
        self.at = at;
    }

    /// Takes a run of ASCII letters and digits, or skips what separates.
    fn take_ascii(&mut self) -> Step {
        let rest = &self.source.as_bytes()[self.at..];
        let room = TOKEN_LIMIT - self.word.chars;
        let within = &rest[..room.min(rest.len())];
        let run = within
            .iter()
            .position(|byte| !in_word(*byte))
            .unwrap_or(within.len());
        if run > 0 {
            let goes_on = rest.get(run).is_some_and(|byte| !byte.is_ascii());
            self.push_ascii(run);
            // A mark may follow the last letter of a full word as well.
            return if goes_on { Step::More } else { Step::Done };
        }
        if self.word.chars > 0 {
            return Step::Done;
        }
        let skipped = separated(rest);
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
        let taken = self.word.chars > 0;
        match quick(c) {
            Quick::Separator | Quick::Single if taken => return Step::Done,
            Quick::Letter(..) if self.word.is_full() => return Step::Done,
            Quick::Separator => {
                self.consume(c);
            }
            Quick::Single => return self.take_single(c),
            Quick::Letter(ch, class) => {
                let span = self.consume(c);
                self.push(Unit { ch, class, span });
            }
            Quick::Vanishes => {
                let span = self.consume(c);
                if taken {
                    self.word.lengthen(span, self.shapes);
                }
            }
            Quick::Slow(_) => self.fold_cluster(c),
        }
        Step::More
    }

    /// Takes a character that is a word, unless what follows makes another one of it.
    fn take_single(&mut self, c: char) -> Step {
        let (at, index) = (self.at, self.index);
        let mut span = self.consume(c);
        while let Some(next) = self.wide_next() {
            match quick(next) {
                Quick::Vanishes => span.stretch(self.consume(next)),
                Quick::Slow(true) => {
                    (self.at, self.index) = (at, index);
                    self.fold_cluster(c);
                    return Step::More;
                }
                _ => break,
            }
        }
        let word = &mut self.word;
        word.span = span;
        word.text.push(c);
        word.chars = 1;
        if self.shapes {
            word.classes.push(Class::Single);
        }
        Step::Done
    }

    /// Folds `c` and everything that may merge with it into `units`.
    fn fold_cluster(&mut self, c: char) {
        self.units.clear();
        self.next_unit = 0;
        let mut span = self.consume(c);
        fold_into(c, span, &mut self.units);
        while let Some(next) = self.wide_next()
            && matches!(quick(next), Quick::Vanishes | Quick::Slow(true))
        {
            let more = self.consume(next);
            fold_into(next, more, &mut self.units);
            span.stretch(more);
        }
        if self.units.is_empty() && self.word.chars > 0 {
            self.word.lengthen(span, self.shapes);
        }
    }

    /// The next character, if it is beyond ASCII.
    fn wide_next(&self) -> Option<char> {
        let rest = &self.source[self.at..];
        if rest.as_bytes().first()?.is_ascii() {
            return None;
        }
        rest.chars().next()
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
}

/// The length of the word that starts with the letter `bytes[0]`, unless there may be more to it.
fn plain_word(bytes: &[u8]) -> Option<usize> {
    let rest = if bytes.get(1).is_some_and(u8::is_ascii_uppercase) {
        bytes[0].is_ascii_uppercase().then_some(Class::Upper)?
    } else {
        Class::Lower
    };
    let length = bytes
        .iter()
        .skip(1)
        .position(|byte| ascii_class(*byte) != rest)
        .map_or(bytes.len(), |more| more + 1);
    let ends = bytes
        .get(length)
        .is_none_or(|byte| byte.is_ascii() && !in_word(*byte) && !is_link(*byte));
    (ends && length <= TOKEN_LIMIT).then_some(length)
}

/// True for the signs that hold identifiers together.
pub(super) fn is_link(byte: u8) -> bool {
    matches!(byte, b'_' | b'-')
}

/// How many of the first bytes separate words: everything up to a letter, a digit or a character
/// beyond ASCII, and whole control sequences, whose parameters are no part of the text they colour.
fn separated(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            ESCAPE => at += control_sequence(&bytes[at..]),
            byte if byte.is_ascii() && !in_word(byte) => at += 1,
            _ => break,
        }
    }
    at
}

/// The length of the control sequence that starts with this escape (`ESC [ 31 m`); 1, the escape
/// alone, when none does.
fn control_sequence(bytes: &[u8]) -> usize {
    if bytes.get(1) != Some(&b'[') {
        return 1;
    }
    let parameters = bytes[2..]
        .iter()
        .take(SEQUENCE_LIMIT)
        .take_while(|byte| matches!(byte, 0x20..=0x3F))
        .count();
    match bytes.get(2 + parameters) {
        Some(0x40..=0x7E) => parameters + 3,
        _ => 1,
    }
}

/// The class of each ASCII byte; bytes beyond ASCII are not asked for.
static ASCII: [Class; 256] = {
    let mut table = [Class::Separator; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'0'..=b'9' => Class::Digit,
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            _ => Class::Separator,
        };
        byte += 1;
    }
    table
};

fn ascii_class(byte: u8) -> Class {
    ASCII[usize::from(byte)]
}

/// True for ASCII letters and digits.
fn in_word(byte: u8) -> bool {
    ascii_class(byte) != Class::Separator
}
