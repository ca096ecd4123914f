//! Cuts a byte range of a source into lines. A line ends in LF and in nothing else: CR, U+2028,
//! U+0085 and form feeds are content.

use std::ops::Range;

use memchr::memchr;

use crate::error::{Error, ErrorKind, Result};
use crate::source::{Source, read_some};

/// Longest line that is kept whole, in bytes without its LF.
pub const RECORD_LIMIT: u64 = 64 << 20;

/// How many bytes of a longer line are kept, from its start.
pub const OVERSIZED_HEAD: usize = 64 << 10;

/// How much is read at once, in bytes.
const CHUNK: usize = 1 << 20;

/// One line, borrowed from its reader until the next one is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Byte offset of the first byte in the file.
    pub start: u64,
    /// Byte offset behind the last byte, the LF not included.
    pub end: u64,
    /// Number of the line in the file, from 1.
    pub number: u64,
    /// Whether an LF follows. Only the last line of a range can lack it.
    pub terminated: bool,
    /// The content without the LF, a CR included; of an oversized line only the head.
    pub bytes: &'a [u8],
    /// Whether the line is longer than the limit, so that `bytes` is not all of it.
    pub oversized: bool,
}

impl Line<'_> {
    /// Whether the line holds nothing but JSON white space, and so no record.
    ///
    /// The checkpoint uses the same definition for what may follow its last record.
    pub fn is_blank(&self) -> bool {
        !self.oversized && is_blank(self.bytes)
    }
}

pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Reads lines forward from a byte range, each byte once.
///
/// Memory is bounded by the chunk plus one record of the limit: a longer line is dropped while
/// it is read, except for its head. After an error the next call begins the same line anew.
#[derive(Debug)]
pub struct LineReader<'s, S: Source + ?Sized> {
    source: &'s S,
    to: u64,
    chunk: usize,
    record_limit: u64,
    /// The last chunk read; `buffer[cursor..filled]` is still to be cut.
    buffer: Vec<u8>,
    cursor: usize,
    filled: usize,
    /// File offset behind `buffer[..filled]`.
    read_to: u64,
    /// Number of the next line.
    number: u64,
    bytes: u64,
    spanning: Spanning,
}

/// Where the bytes of a line lie after the search for its end.
struct Found {
    length: u64,
    terminated: bool,
    /// The range of the chunk that holds the whole line; otherwise it was collected.
    in_buffer: Option<Range<usize>>,
}

impl<'s, S: Source + ?Sized> LineReader<'s, S> {
    /// Reads bytes `from..to`, where `to` is the size seen when the source was observed: bytes
    /// appended since are left for the next look. `from` must be the start of a line.
    pub fn new(source: &'s S, from: u64, to: u64, first_line_number: u64) -> Self {
        Self {
            source,
            to,
            chunk: CHUNK,
            record_limit: RECORD_LIMIT,
            buffer: Vec::new(),
            cursor: 0,
            filled: 0,
            read_to: from,
            number: first_line_number,
            bytes: 0,
            spanning: Spanning::new(RECORD_LIMIT),
        }
    }

    /// Other limits in bytes, for tests: a chunk of 1 works.
    #[must_use]
    pub fn with_limits(mut self, chunk: usize, record_limit: u64) -> Self {
        self.chunk = chunk.max(1);
        self.record_limit = record_limit;
        self.spanning = Spanning::new(record_limit);
        self
    }

    /// Bytes read so far, those of failed and repeated lines included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line, or `None` at the end of the range.
    ///
    /// Fails with [`ErrorKind::Io`] when a read does, and with [`ErrorKind::SourceChanged`] when
    /// the file ends before the range does.
    // No Iterator: the line borrows the reader's buffers.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Line<'_>>> {
        let start = self.position();
        match self.find_line() {
            Ok(Some(found)) => Ok(Some(self.line(start, &found))),
            Ok(None) => Ok(None),
            Err(error) => {
                (self.cursor, self.filled, self.read_to) = (0, 0, start);
                Err(error)
            }
        }
    }

    /// File offset of the first byte that was not cut yet.
    fn position(&self) -> u64 {
        self.read_to - (self.filled - self.cursor) as u64
    }

    fn line(&mut self, start: u64, found: &Found) -> Line<'_> {
        let number = self.number;
        self.number = number.saturating_add(1);
        let oversized = found.length > self.record_limit;
        let bytes = match &found.in_buffer {
            Some(range) if oversized => &self.buffer[range.clone()][..self.spanning.head],
            Some(range) => &self.buffer[range.clone()],
            None => &self.spanning.bytes,
        };
        Line {
            start,
            end: start + found.length,
            number,
            terminated: found.terminated,
            bytes,
            oversized,
        }
    }

    /// Moves the cursor behind the next line. Looks at each byte once: what came before the
    /// chunk has been searched already.
    fn find_line(&mut self) -> Result<Option<Found>> {
        self.spanning.clear();
        let mut length: u64 = 0;
        while self.cursor < self.filled || self.fill()? {
            let first = self.cursor;
            let rest = &self.buffer[first..self.filled];
            let newline = memchr(b'\n', rest);
            let piece = &rest[..newline.unwrap_or(rest.len())];
            let terminated = newline.is_some();
            self.cursor += piece.len() + usize::from(terminated);
            let whole = length == 0;
            length += piece.len() as u64;
            let last = terminated || self.read_to >= self.to;
            if whole && last {
                let in_buffer = Some(first..first + piece.len());
                return Ok(Some(Found {
                    length,
                    terminated,
                    in_buffer,
                }));
            }
            self.spanning.push(piece);
            if last {
                let in_buffer = None;
                return Ok(Some(Found {
                    length,
                    terminated,
                    in_buffer,
                }));
            }
        }
        Ok(None)
    }

    /// Reads the next chunk over the used one; `false` at the end of the range.
    fn fill(&mut self) -> Result<bool> {
        let left = self.to.saturating_sub(self.read_to);
        if left == 0 {
            return Ok(false);
        }
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(self.chunk);
        if self.buffer.len() < want {
            self.buffer.resize(want, 0);
        }
        let read = read_some(self.source, self.read_to, &mut self.buffer[..want])
            .map_err(|error| Error::io(self.read_to, "read", error))?;
        if read == 0 {
            let detail = "it ends before the size it had";
            return Err(Error::new(ErrorKind::SourceChanged, self.read_to, detail));
        }
        self.bytes += read as u64;
        self.read_to += read as u64;
        (self.cursor, self.filled) = (0, read);
        Ok(true)
    }
}

/// Collects a line that spans chunks.
#[derive(Debug)]
struct Spanning {
    bytes: Vec<u8>,
    limit: usize,
    /// What is kept of a line over the limit.
    head: usize,
    oversized: bool,
}

impl Spanning {
    fn new(record_limit: u64) -> Self {
        let limit = usize::try_from(record_limit).unwrap_or(usize::MAX);
        Self {
            bytes: Vec::new(),
            limit,
            head: limit.min(OVERSIZED_HEAD),
            oversized: false,
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        // One huge record must not pin its memory for the rest of the file.
        self.bytes.shrink_to(CHUNK);
        self.oversized = false;
    }

    fn push(&mut self, piece: &[u8]) {
        if !self.oversized && piece.len() > self.limit - self.bytes.len() {
            self.oversized = true;
            self.bytes.truncate(self.head);
            self.bytes.shrink_to(self.head);
        }
        let bound = if self.oversized {
            self.head
        } else {
            self.limit
        };
        let kept = piece.len().min(bound.saturating_sub(self.bytes.len()));
        self.grow(self.bytes.len() + kept, bound);
        self.bytes.extend_from_slice(&piece[..kept]);
    }

    /// Doubles like a vector does, but never beyond what can be used.
    fn grow(&mut self, needed: usize, bound: usize) {
        let capacity = self.bytes.capacity();
        if needed > capacity {
            let target = capacity.saturating_mul(2).min(bound).max(needed);
            self.bytes.reserve_exact(target - self.bytes.len());
        }
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
