//! Cutting a line into records.
//!
//! A line is normally one record. After a torn append, older versions of Pi wrote the next record
//! right behind the partial one, and a record that lacked its line feed may have been followed by
//! another; Pi then skips the whole line, but the whole records on it are evidence all the same.

use memchr::memmem;

use super::{Receipt, is_js_space};
use crate::json::{Reader, ValueKind};

/// One record's byte range inside its line, without white space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset behind its last byte.
    pub end: usize,
    /// Pi does not see this record, because it skips the line: it stands outside the tree.
    pub detached: bool,
}

pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";
/// How every record begins, in every known version of Pi.
const RECORD_START: &[u8] = b"{\"type\"";
/// Blocks of a message begin like a record; torn behind one, a record would seem to hold another.
const BLOCK_TYPES: [&str; 4] = ["text", "image", "thinking", "toolCall"];
/// How often a broken line may be read over again while looking for records on it.
const RESCANS: usize = 32;

/// Cuts one line, without its line feed, into records in order, and says what was odd about it.
///
/// A line that is one JSON value gives one piece, whatever value that is. A blank line gives
/// nothing at all. From any other line, one with a byte order mark in front too, whole records are
/// recovered as detached pieces: objects with a record's fields that run to the end of the line or
/// to the start of another object. Takes linear time on any input.
pub fn split_line(bytes: &[u8]) -> (Vec<Piece>, Vec<Receipt>) {
    let (start, end) = trim(bytes, 0, bytes.len());
    if start == end {
        return (Vec::new(), Vec::new());
    }
    if Reader::is_json(&bytes[start..end]) {
        let piece = Piece {
            start,
            end,
            detached: false,
        };
        return (vec![piece], Vec::new());
    }
    split_broken(bytes, start, end)
}

fn split_broken(bytes: &[u8], mut start: usize, end: usize) -> (Vec<Piece>, Vec<Receipt>) {
    if is_blank(&bytes[start..end]) {
        return (Vec::new(), Vec::new());
    }
    let mut receipts = Vec::new();
    if bytes[start..end].starts_with(BOM) {
        receipts.push(Receipt::Bom);
        start = trim(bytes, start + BOM.len(), end).0;
    }
    let mut pieces = Vec::new();
    let mut search = Search {
        line: &bytes[..end],
        work_left: (end - start).saturating_mul(RESCANS),
    };
    let mut unexplained = start;
    let mut at = start;
    while let Some(candidate) = search.next_candidate(at, at == unexplained) {
        let Some(behind) = search.record_at(candidate) else {
            at = candidate + 1;
            continue;
        };
        explain(&bytes[unexplained..candidate], true, &mut receipts);
        receipts.push(Receipt::Glued);
        pieces.push(Piece {
            start: candidate,
            end: behind,
            detached: true,
        });
        at = trim(bytes, behind, end).0;
        unexplained = at;
    }
    explain(&bytes[unexplained..end], false, &mut receipts);
    (pieces, receipts)
}

/// Receipts for a stretch of a line that is no record.
fn explain(stretch: &[u8], before_record: bool, receipts: &mut Vec<Receipt>) {
    let nul = |b: &&u8| matches!(b, 0 | b' ' | b'\t' | b'\r');
    let filled = stretch.iter().take_while(nul).count();
    if stretch[..filled].contains(&0) {
        receipts.push(Receipt::NulFilled);
    }
    match stretch.get(filled) {
        Some(b'{') if before_record => receipts.push(Receipt::Torn),
        Some(_) => receipts.push(Receipt::Malformed),
        None => {}
    }
}

/// The hunt for whole records on one broken line.
struct Search<'a> {
    line: &'a [u8],
    /// Bytes that may still be read over, so that hostile lines cost no more than long ones.
    work_left: usize,
}

impl Search<'_> {
    /// The next place, at or after `at`, where a record may begin. Behind a whole record (and at
    /// the start of the line) an object may also begin with another key than its type.
    fn next_candidate(&self, at: usize, at_border: bool) -> Option<usize> {
        if at_border && self.line.get(at) == Some(&b'{') {
            return Some(at);
        }
        let rest = self.line.get(at..)?;
        memmem::find(rest, RECORD_START).map(|found| at + found)
    }

    /// The end of the whole record that begins at `start`, if one does.
    fn record_at(&mut self, start: usize) -> Option<usize> {
        let rest = &self.line[start..];
        let mut reader = Reader::new(rest);
        let whole = self.work_left > 0 && reader.skip_value().is_ok();
        let read = reader.position();
        self.work_left = self.work_left.saturating_sub(read);
        if !whole {
            return None;
        }
        let behind = start + read;
        let next = trim(self.line, behind, self.line.len()).0;
        let ends = next == self.line.len() || self.line[next] == b'{';
        (ends && looks_like_record(&rest[..read])).then_some(behind)
    }
}

/// Whether a whole object has what every record has and a block inside a record has not.
fn looks_like_record(object: &[u8]) -> bool {
    let mut reader = Reader::new(object);
    record_fields(&mut reader).unwrap_or(false)
}

fn record_fields(reader: &mut Reader<'_>) -> Option<bool> {
    let mut typed = false;
    let mut placed = false;
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        match key.as_ref() {
            "type" => {
                typed = reader.peek().ok()? == ValueKind::String;
                if typed {
                    typed = !BLOCK_TYPES.contains(&reader.string().ok()?.as_ref());
                    continue;
                }
            }
            "id" | "parentId" | "timestamp" => placed = true,
            _ => {}
        }
        reader.skip_value().ok()?;
    }
    Some(typed && placed)
}

/// Whether Pi takes a line for blank: it holds nothing but what `String.prototype.trim` removes.
fn is_blank(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(is_js_space))
}

/// Narrows `start..end` by JSON's white space.
fn trim(bytes: &[u8], start: usize, end: usize) -> (usize, usize) {
    let space = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
    let inner = bytes.get(start..end).unwrap_or_default();
    let front = inner.iter().take_while(|b| space(b)).count();
    let back = inner[front..].iter().rev().take_while(|b| space(b)).count();
    (start + front, end - back)
}
