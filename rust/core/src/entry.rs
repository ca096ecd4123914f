//! What one line of a session file holds: a header, a record, several of them, or nothing usable.
//!
//! [`split_line`] cuts a line into pieces, each of which is a header ([`parse_header`]) or a record
//! ([`project`](crate::project::project)). Everything that is odd about them is told as a
//! [`Receipt`], so that no loss is silent.

mod split;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;

use crate::json::{JsonError, Reader, ValueKind};
use crate::project::parse_timestamp;

pub(crate) use split::BOM;
pub use split::{Piece, split_line};

/// How the ids of entries begin that have none of their own: Pi's ids never do.
pub(crate) const DERIVED: char = '~';

/// The version that files have which do not name one.
const OLDEST: i64 = 1;
/// The version that all later ones are read as.
pub(crate) const NEWEST: i64 = 3;

/// The first record of a session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The session id; never empty. Any text, usually a UUID.
    pub id: String,
    /// Format version as Pi understands what is recorded: 1, 2 or 3. See [`read_version`].
    pub version: i64,
    /// Creation time as recorded.
    pub timestamp: Option<String>,
    /// Creation time in milliseconds since 1970; `None` when missing or not ISO 8601.
    pub timestamp_ms: Option<i64>,
    /// Working directory of the session, the authority on where it belongs; empty when missing.
    pub cwd: String,
    /// Path of the session file this one was forked from, as recorded.
    pub parent_session: Option<String>,
}

/// Something about a line or record that was repaired, set aside or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Receipt {
    /// A line, or a stretch of one, that holds no readable record.
    Malformed,
    /// A record over the size limit: its text was passed over.
    Oversized,
    /// A whole record on a line that Pi skips, because something else shares the line.
    Glued,
    /// A partial record in front of a whole one on its line.
    Torn,
    /// A byte order mark was dropped.
    Bom,
    /// Invalid UTF-8 was replaced by U+FFFD.
    InvalidUtf8,
    /// An escaped lone surrogate, somewhere in the record, was replaced by U+FFFD.
    RepairedSurrogate,
    /// A stretch of NUL bytes, as a stale writer leaves behind a truncation.
    NulFilled,
    /// A line that is JSON but no object. Pi keeps it as an entry without an id.
    NonObject,
    /// A record without a usable id. Normal in version 1 files.
    MissingId,
    /// A record whose id comes again later in the file.
    DuplicateId,
    /// A record whose recorded parent is not in the file.
    Orphan,
    /// A record on a cycle of parents.
    Cycle,
    /// An id that was shortened to stay indexable.
    LongId,
}

impl Receipt {
    /// Every receipt.
    pub const ALL: [Self; 14] = [
        Self::Malformed,
        Self::Oversized,
        Self::Glued,
        Self::Torn,
        Self::Bom,
        Self::InvalidUtf8,
        Self::RepairedSurrogate,
        Self::NulFilled,
        Self::NonObject,
        Self::MissingId,
        Self::DuplicateId,
        Self::Orphan,
        Self::Cycle,
        Self::LongId,
    ];

    /// The kebab-case name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Oversized => "oversized",
            Self::Glued => "glued",
            Self::Torn => "torn",
            Self::Bom => "bom",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::RepairedSurrogate => "repaired-surrogate",
            Self::NulFilled => "nul-filled",
            Self::NonObject => "non-object",
            Self::MissingId => "missing-id",
            Self::DuplicateId => "duplicate-id",
            Self::Orphan => "orphan",
            Self::Cycle => "cycle",
            Self::LongId => "long-id",
        }
    }

    /// True when text that somebody wrote cannot be found because of this.
    pub fn loses_record(self) -> bool {
        matches!(
            self,
            Self::Malformed | Self::Oversized | Self::Torn | Self::NulFilled
        )
    }
}

/// Reads a header: a JSON object of type `session` whose id is a non-empty string.
pub fn parse_header(bytes: &[u8]) -> Option<Header> {
    let found = HeaderFields::read(bytes).ok()?;
    let is_session = found.record_type.as_deref() == Some("session");
    let id = found.id.filter(|id| is_session && !id.is_empty())?;
    Some(Header {
        id,
        version: found.version.unwrap_or(OLDEST),
        timestamp_ms: found.timestamp.as_deref().and_then(parse_timestamp),
        timestamp: found.timestamp,
        cwd: found.cwd.unwrap_or_default(),
        parent_session: found.parent_session,
    })
}

#[derive(Default)]
struct HeaderFields {
    record_type: Option<String>,
    id: Option<String>,
    version: Option<i64>,
    timestamp: Option<String>,
    cwd: Option<String>,
    parent_session: Option<String>,
}

impl HeaderFields {
    fn read(bytes: &[u8]) -> Result<Self, JsonError> {
        let mut found = Self::default();
        let mut reader = Reader::new(bytes);
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match key.as_ref() {
                "type" => found.record_type = text(&mut reader)?,
                "id" => found.id = text(&mut reader)?,
                "timestamp" => found.timestamp = text(&mut reader)?,
                "cwd" => found.cwd = text(&mut reader)?,
                "parentSession" => found.parent_session = text(&mut reader)?,
                "version" => found.version = Some(read_version(&mut reader)?),
                _ => reader.skip_value()?,
            }
        }
        reader.finish()?;
        Ok(found)
    }
}

/// Consumes a value of any kind; `None` when it is no string.
fn text(reader: &mut Reader<'_>) -> Result<Option<String>, JsonError> {
    if reader.peek()? == ValueKind::String {
        return Ok(Some(reader.string()?.into_owned()));
    }
    reader.skip_value()?;
    Ok(None)
}

/// Consumes a version of any kind. Pi takes a missing one or null for 1 and asks only whether it is
/// below 2 and below 3, in JavaScript: a text counts as the number it spells, a boolean as 0 or 1,
/// and what is no number at all is below neither.
fn read_version(reader: &mut Reader<'_>) -> Result<i64, JsonError> {
    let number = match reader.peek()? {
        ValueKind::Number => reader.number()?.parse().unwrap_or(f64::NAN),
        ValueKind::String => spelled_number(&reader.string()?),
        ValueKind::Bool | ValueKind::Null => {
            reader.skip_value()?;
            0.0
        }
        ValueKind::Object | ValueKind::Array => {
            reader.skip_value()?;
            f64::NAN
        }
    };
    Ok(match number {
        old if old < 2.0 => OLDEST,
        old if old < 3.0 => 2,
        _ => NEWEST,
    })
}

/// The decimal number that JavaScript reads in a text; the empty text is 0.
fn spelled_number(text: &str) -> f64 {
    let text = text.trim_matches(is_js_space);
    let decimal = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
    match text {
        "" => 0.0,
        _ if text.bytes().all(decimal) => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}

/// White space to JavaScript's `trim`.
fn is_js_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{FEFF}'
}
