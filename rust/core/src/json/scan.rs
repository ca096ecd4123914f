//! Passing over JSON tokens: the inner loops every byte of a session goes through.

use super::{JsonError, Reader};

/// Which kind each open bracket has, one bit a level.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    /// The innermost levels, the lowest bit being the innermost; 1 = object.
    near: u64,
    depth: usize,
    /// Full words of 64 outer levels, outermost first.
    far: Vec<u64>,
}

impl Nesting {
    pub(super) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.far.push(self.near);
            self.near = 0;
        }
        self.near = (self.near << 1) | u64::from(object);
        self.depth += 1;
    }

    /// Whether the innermost open bracket is an object's; `None` outside of all.
    pub(super) fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.near & 1 == 1)
    }

    pub(super) fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.near >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.near = self.far.pop().unwrap_or_default();
        }
    }
}

impl Reader<'_> {
    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    /// Consumes a string whose opening quote is next.
    pub(super) fn skip_string(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        loop {
            self.at = next_special(self.bytes, self.at);
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.skip_escape()?,
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("unterminated string")),
            }
        }
    }

    fn skip_escape(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.byte().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return Err(self.error("expected four hexadecimal digits"));
                    }
                    self.at += 1;
                }
                Ok(())
            }
            _ => Err(self.error("unknown escape")),
        }
    }

    pub(super) fn skip_number(&mut self) -> Result<(), JsonError> {
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        // A leading zero stands alone: what may follow it is decided by the caller.
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.skip_digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        while self.byte().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == from {
            return Err(self.error("expected a digit"));
        }
        Ok(())
    }

    pub(super) fn skip_word(&mut self, word: &[u8]) -> Result<(), JsonError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.error("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;

/// Bytes that do not stand for themselves in a string: they end it, escape, or are refused.
fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

/// Offset of the next special byte at or after `from`; the length of `bytes` when there is none.
///
/// One pass finds all three sorts. Looking only for the quote and the backslash (`memchr2`) would
/// need a second pass for the control characters, which JSON refuses raw.
fn next_special(bytes: &[u8], from: usize) -> usize {
    let mut rest = bytes.get(from..).unwrap_or_default();
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        let marks = special_marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return bytes.len() - rest.len() + marks.trailing_zeros() as usize / 8;
        }
        rest = tail;
    }
    let found = rest.iter().position(|&b| is_special(b));
    bytes.len() - rest.len() + found.unwrap_or(rest.len())
}

/// The high bit of the first special byte of a word, and perhaps of later bytes: a subtraction
/// borrows only upwards, from a byte that is special itself, so the lowest mark is exact. Bytes
/// that have their high bit set are never special and are masked out.
fn special_marks(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * u64::from(b'"'))).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    (control | quote | backslash) & !word & HIGH
}
