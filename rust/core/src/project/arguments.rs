//! The arguments of a tool call as searchable text: one `key.path: value` line a scalar.

use std::fmt::Write;

use super::fields::Members;
use super::values::{self, present};
use crate::json::{JsonError, Reader, ValueKind};

/// What key paths may add to a text beyond the length of the arguments themselves, in bytes.
const PATH_ALLOWANCE: usize = 64 << 10;

/// The name on the first line, then one line an argument, in source order. Values are decoded.
///
/// An empty object or list gives no line; list positions are path parts. Arguments that are no
/// object stand under the key `arguments`. Below the first level a repeated key gives a line each.
pub(super) fn call_text(name: &str, raw: &str, members: &Members<'_>) -> String {
    let mut lines = Lines {
        out: name.to_owned(),
        path: String::new(),
        path_left: raw.len() + PATH_ALLOWANCE,
    };
    if Reader::of_text(raw).peek() == Ok(ValueKind::Object) {
        for (key, value) in members.iter() {
            lines.add(key, value);
        }
    } else if present(Some(raw)) {
        lines.add("arguments", raw);
    }
    lines.out
}

/// The text so far and the place in the arguments.
struct Lines {
    out: String,
    path: String,
    /// Bytes that paths may still take. Deep or long keys over many values would otherwise make
    /// the text grow with the product of both; when it is used up, values stand alone.
    path_left: usize,
}

/// An open container.
struct Level {
    /// Length of the path to it, in bytes.
    path_len: usize,
    /// Position of the next element of a list; `None` in an object.
    next: Option<usize>,
}

impl Lines {
    fn add(&mut self, key: &str, value: &str) {
        self.path.clear();
        self.path.push_str(key);
        // The value was validated when its record was read.
        let _ = self.walk(&mut Reader::of_text(value));
    }

    /// Walks one value in source order with an explicit stack.
    fn walk(&mut self, reader: &mut Reader<'_>) -> Result<(), JsonError> {
        let mut open: Vec<Level> = Vec::new();
        loop {
            let path_len = self.path.len();
            match reader.peek()? {
                ValueKind::Object => {
                    reader.begin_object()?;
                    open.push(Level {
                        path_len,
                        next: None,
                    });
                }
                ValueKind::Array => {
                    reader.begin_array()?;
                    open.push(Level {
                        path_len,
                        next: Some(0),
                    });
                }
                _ => {
                    let scalar = reader.raw_text()?;
                    self.line(scalar);
                }
            }
            if !self.advance(reader, &mut open)? {
                return Ok(());
            }
        }
    }

    /// Moves to the next value and sets the path to it. False when the walk is over.
    fn advance(
        &mut self,
        reader: &mut Reader<'_>,
        open: &mut Vec<Level>,
    ) -> Result<bool, JsonError> {
        while let Some(level) = open.last_mut() {
            self.path.truncate(level.path_len);
            match &mut level.next {
                None => {
                    if let Some(key) = reader.next_key()? {
                        self.path.push('.');
                        self.path.push_str(&key);
                        return Ok(true);
                    }
                }
                Some(position) => {
                    if reader.next_element()? {
                        // Writing into a string cannot fail.
                        let _ = write!(self.path, ".{position}");
                        *position += 1;
                        return Ok(true);
                    }
                }
            }
            open.pop();
        }
        Ok(false)
    }

    fn line(&mut self, scalar: &str) {
        self.out.push('\n');
        if let Some(left) = self.path_left.checked_sub(self.path.len()) {
            self.path_left = left;
            self.out.push_str(&self.path);
            self.out.push_str(": ");
        } else {
            self.path_left = 0;
        }
        match values::text(Some(scalar)) {
            Some(text) => self.out.push_str(&text),
            None => self.out.push_str(scalar),
        }
    }
}
