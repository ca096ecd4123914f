//! A pull parser with the verdict of `JSON.parse`, over bytes and without recursion.
//!
//! Pi decides with `JSON.parse` which lines are records, so this parser accepts exactly the same
//! grammar: RFC 8259, no byte order mark, numbers of any length, any nesting depth. It is lossy
//! where Pi is lossy: invalid UTF-8 inside a string becomes U+FFFD, and so does an escaped lone
//! surrogate, because no Rust string (and no index) can hold one. Values nobody asks for are
//! validated and passed over; only [`Reader::string`] ever allocates, and only for escapes or
//! invalid UTF-8.

mod decode;
mod scan;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

pub(crate) use decode::has_lone_surrogate;
use scan::Nesting;

/// Why bytes are not JSON: a reason and the byte offset, from the start of the input, of the offending byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset of the first byte that cannot belong to a JSON text; the input length at a premature end.
    pub offset: usize,
    /// A short English phrase naming what was expected or refused.
    pub what: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.offset)
    }
}

impl std::error::Error for JsonError {}

/// What the next value is, told from its first byte alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// `-` or a digit
    Number,
    /// `t` or `f`
    Bool,
    /// `n`
    Null,
}

/// A cursor in a JSON text. The caller consumes one value after each key or element it is told of.
///
/// After an error the position is unspecified; make a new reader to look again.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// The same input, when it is known to be text: then no string needs to be looked at again.
    text: Option<&'a str>,
    at: usize,
    /// The cursor stands right behind an opening bracket: no comma is due yet.
    opened: bool,
    lossy_utf8: bool,
    repaired_surrogate: bool,
}

impl<'a> Reader<'a> {
    /// Starts in front of the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            text: None,
            at: 0,
            opened: false,
            lossy_utf8: false,
            repaired_surrogate: false,
        }
    }

    /// Starts in front of a text, which is known to be valid UTF-8.
    pub fn of_text(text: &'a str) -> Self {
        Self {
            text: Some(text),
            ..Self::new(text.as_bytes())
        }
    }

    /// Whether the bytes are one JSON text, as `JSON.parse` would have it.
    pub fn is_json(bytes: &[u8]) -> bool {
        let mut reader = Reader::new(bytes);
        reader.skip_value().is_ok() && reader.finish().is_ok()
    }

    /// Byte offset of the cursor.
    pub fn position(&self) -> usize {
        self.at
    }

    /// True once a decoded string held invalid UTF-8.
    pub fn lossy_utf8(&self) -> bool {
        self.lossy_utf8
    }

    /// True once a decoded string held an escaped lone surrogate.
    pub fn repaired_surrogate(&self) -> bool {
        self.repaired_surrogate
    }

    /// Tells the kind of the next value without consuming it.
    pub fn peek(&mut self) -> Result<ValueKind, JsonError> {
        self.skip_space();
        match self.byte() {
            Some(b'{') => Ok(ValueKind::Object),
            Some(b'[') => Ok(ValueKind::Array),
            Some(b'"') => Ok(ValueKind::String),
            Some(b'-' | b'0'..=b'9') => Ok(ValueKind::Number),
            Some(b't' | b'f') => Ok(ValueKind::Bool),
            Some(b'n') => Ok(ValueKind::Null),
            _ => Err(self.error("expected a value")),
        }
    }

    /// Consumes `{`; continue with [`Self::next_key`].
    pub fn begin_object(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        self.expect(b'{', "expected an object")?;
        self.opened = true;
        Ok(())
    }

    /// The next key of the open object, with its colon consumed; `None` once `}` is consumed.
    pub fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, JsonError> {
        if !self.next_member(b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.skip_space();
        self.expect(b':', "expected a colon")?;
        Ok(Some(key))
    }

    /// Consumes `[`; continue with [`Self::next_element`].
    pub fn begin_array(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        self.expect(b'[', "expected an array")?;
        self.opened = true;
        Ok(())
    }

    /// True when an element of the open array follows; false once `]` is consumed.
    pub fn next_element(&mut self) -> Result<bool, JsonError> {
        self.next_member(b']')
    }

    /// Consumes a string and decodes it, borrowed from the input when it needs no change.
    pub fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.skip_space();
        if self.byte() != Some(b'"') {
            return Err(self.error("expected a string"));
        }
        let from = self.at + 1;
        self.skip_string()?;
        let to = self.at - 1;
        if let Some(body) = self.text.and_then(|text| text.get(from..to)) {
            return Ok(decode::unescape(body, &mut self.repaired_surrogate));
        }
        let body = self.bytes.get(from..to).unwrap_or_default();
        Ok(match decode::lossy(body, &mut self.lossy_utf8) {
            Cow::Borrowed(body) => decode::unescape(body, &mut self.repaired_surrogate),
            Cow::Owned(body) => {
                let plain = decode::unescape(&body, &mut self.repaired_surrogate);
                Cow::Owned(plain.into_owned())
            }
        })
    }

    /// Consumes a number and gives its source text.
    pub fn number(&mut self) -> Result<&'a str, JsonError> {
        if self.peek()? != ValueKind::Number {
            return Err(self.error("expected a number"));
        }
        let from = self.at;
        self.skip_number()?;
        // Only ASCII can have passed the grammar.
        Ok(std::str::from_utf8(self.slice(from)).unwrap_or_default())
    }

    /// Consumes `true` or `false`.
    pub fn boolean(&mut self) -> Result<bool, JsonError> {
        self.skip_space();
        if self.byte() == Some(b't') {
            self.skip_word(b"true")?;
            return Ok(true);
        }
        self.skip_word(b"false")?;
        Ok(false)
    }

    /// Consumes `null`.
    pub fn null(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        self.skip_word(b"null")
    }

    /// Consumes the next value of any kind and gives its source bytes, without white space around it.
    pub fn raw_value(&mut self) -> Result<&'a [u8], JsonError> {
        self.skip_space();
        let from = self.at;
        self.skip_value()?;
        Ok(self.slice(from))
    }

    /// Like [`Self::raw_value`], of a reader made by [`Self::of_text`]; empty of any other.
    pub fn raw_text(&mut self) -> Result<&'a str, JsonError> {
        let raw = self.raw_value()?;
        let from = self.at - raw.len();
        let text = self.text.and_then(|text| text.get(from..self.at));
        Ok(text.unwrap_or_default())
    }

    /// Validates and consumes the next value of any kind. Needs memory only beyond 64 open brackets: one bit each.
    pub fn skip_value(&mut self) -> Result<(), JsonError> {
        let mut open = Nesting::default();
        loop {
            self.skip_space();
            match self.byte() {
                Some(b'"') => self.skip_string()?,
                Some(b'{') => {
                    self.at += 1;
                    self.skip_space();
                    if self.byte() != Some(b'}') {
                        open.push(true);
                        self.skip_key()?;
                        continue;
                    }
                    self.at += 1;
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_space();
                    if self.byte() != Some(b']') {
                        open.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                Some(b't') => self.skip_word(b"true")?,
                Some(b'f') => self.skip_word(b"false")?,
                Some(b'n') => self.skip_word(b"null")?,
                Some(b'-' | b'0'..=b'9') => self.skip_number()?,
                _ => return Err(self.error("expected a value")),
            }
            if !self.close_finished(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Accepts white space up to the end of the input and nothing else.
    pub fn finish(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        if self.at < self.bytes.len() {
            return Err(self.error("unexpected text after the value"));
        }
        Ok(())
    }

    /// After a whole value: closes what ends here. True when another value must follow.
    fn close_finished(&mut self, open: &mut Nesting) -> Result<bool, JsonError> {
        while let Some(in_object) = open.top() {
            self.skip_space();
            match self.byte() {
                Some(b',') => {
                    self.at += 1;
                    if in_object {
                        self.skip_space();
                        self.skip_key()?;
                    }
                    return Ok(true);
                }
                Some(b'}') if in_object => self.at += 1,
                Some(b']') if !in_object => self.at += 1,
                _ => return Err(self.error("expected a comma or a closing bracket")),
            }
            open.pop();
        }
        self.opened = false;
        Ok(false)
    }

    fn next_member(&mut self, close: u8) -> Result<bool, JsonError> {
        self.skip_space();
        let first = std::mem::take(&mut self.opened);
        if self.byte() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        if !first {
            self.expect(b',', "expected a comma or a closing bracket")?;
        }
        Ok(true)
    }

    fn skip_key(&mut self) -> Result<(), JsonError> {
        if self.byte() != Some(b'"') {
            return Err(self.error("expected a key"));
        }
        self.skip_string()?;
        self.skip_space();
        self.expect(b':', "expected a colon")
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), JsonError> {
        if self.byte() != Some(byte) {
            return Err(self.error(what));
        }
        self.at += 1;
        Ok(())
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn slice(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..self.at).unwrap_or_default()
    }

    fn error(&self, what: &'static str) -> JsonError {
        JsonError {
            offset: self.at.min(self.bytes.len()),
            what,
        }
    }
}

/// Decodes a string that was validated before, given as its source with the quotes. `None` when the
/// text is no string.
pub(crate) fn decode_string(raw: &str) -> Option<Cow<'_, str>> {
    let body = raw.strip_prefix('"')?.strip_suffix('"')?;
    Some(decode::unescape(body, &mut false))
}

/// Byte offset of the end of the JSON object that `bytes` begin with, whatever follows it.
///
/// JSON objects delimit themselves, which is what makes records glued on one line separable.
pub fn object_prefix(bytes: &[u8]) -> Option<usize> {
    if bytes.first() != Some(&b'{') {
        return None;
    }
    let mut reader = Reader::new(bytes);
    reader.skip_value().ok()?;
    Some(reader.position())
}
