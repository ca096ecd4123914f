//! From the bytes of one record to an event.
//!
//! The projection is total: every well-formed JSON value gives an event, whatever its types and
//! shapes, and what is not understood is typed but not searchable. Images, thinking, signatures,
//! prompts, `details` and extension state are validated and passed over, never decoded.

mod arguments;
mod draft;
mod entries;
mod event;
mod fields;
mod kinds;
mod message;
mod shell;
mod tools;
mod values;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use crate::boundary::record_hash;
use crate::entry::Receipt;
use crate::json::{JsonError, Reader, ValueKind, has_lone_surrogate};
use draft::Draft;
use fields::Record;

pub use event::{Event, Fragment, Relationship, Scalar};
pub use kinds::{ContextRole, Contribution, Kind, Omission, RelationshipKind};
pub use shell::runs_retrieval;
pub use tools::RETRIEVAL_TOOLS;
pub use values::canonical_timestamp;
pub(crate) use values::parse_timestamp;

/// Projects one record, given without white space around it.
///
/// Invalid UTF-8 is decoded first, as Pi does, so that a fork's copy (which Pi writes decoded) gives
/// the same event. The error is about JSON alone; its offset counts in the decoded text. A value that is no object gives an event without anything but
/// the receipt [`Receipt::NonObject`]. Whether a missing id is odd depends on the version of the
/// file, so that receipt is left to the caller.
pub fn project(record: &[u8]) -> Result<Event, JsonError> {
    let text = decoded(record);
    let mut event = project_text(&text)?;
    if matches!(text, Cow::Owned(_)) {
        event.note(Receipt::InvalidUtf8);
    }
    Ok(event)
}

/// `from_utf8_lossy`, but fast where nothing is lost.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn project_text(record: &str) -> Result<Event, JsonError> {
    // Line ends of another system are no part of the content that copies share.
    let record = record.trim_end_matches([' ', '\t', '\r', '\n']);
    let mut reader = Reader::of_text(record);
    if reader.peek()? != ValueKind::Object {
        reader.skip_value()?;
        reader.finish()?;
        let mut event = Event::empty(record_hash(record.as_bytes()));
        event.note(Receipt::NonObject);
        return Ok(event);
    }
    let mut fields = Record::default();
    fields.read(&mut reader)?;
    let mut event = build(record, &fields);
    if has_lone_surrogate(record) {
        event.note(Receipt::RepairedSurrogate);
    }
    Ok(event)
}

/// Projects what can be read in the kept head of a record over the size limit: id, parent, type,
/// timestamp, role and other members in front of the cut. It has no fragments.
pub fn project_oversized(head: &[u8]) -> Event {
    let head = decoded(head);
    let mut fields = Record::default();
    // The cut always ends the reading with an error; what stood in front of it is in the fields.
    let _ = fields.read(&mut Reader::of_text(&head));
    let mut event = build(&head, &fields);
    event.fragments.clear();
    event.session_name = None;
    event.receipts.insert(0, Receipt::Oversized);
    event
}

fn build(record: &str, fields: &Record<'_>) -> Event {
    let mut draft = Draft::new(copy_hash(record.as_bytes(), &fields.rechained));
    entries::read_entry(&mut draft, fields);
    draft.event
}

/// Hashes a record without the ranges in which copies of it may differ: the value of
/// [`record_hash`] for what remains.
fn copy_hash(record: &[u8], rechained: &[Range<usize>]) -> i64 {
    let mut state = Xxh3::new();
    let mut from = 0;
    for range in rechained {
        state.update(&record[from..range.start]);
        from = range.end;
    }
    state.update(&record[from..]);
    state.digest().cast_signed()
}
