//! What the projection makes of one record.

use super::kinds::{ContextRole, Contribution, Kind, Omission, RelationshipKind};
use super::message::OLD_CUSTOM;
use crate::entry::Receipt;

/// One searchable part of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    /// What the text is.
    pub kind: Kind,
    /// Counts the fragments of this kind within the entry, from 0.
    pub n: u32,
    /// Tool of a call or result, at most 1000 code points.
    pub tool_name: Option<String>,
    /// Type of a custom message, at most 1000 code points.
    pub custom_type: Option<String>,
    /// The fragment reports a failure.
    pub is_error: bool,
    /// The fragment is a call or result of history retrieval, as far as the record itself tells.
    pub retrieval: bool,
    /// The full source text, never empty, with lone surrogates and invalid UTF-8 replaced by U+FFFD.
    pub text: String,
}

/// A reference that a record makes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Relationship {
    /// What the reference means.
    pub kind: RelationshipKind,
    /// An id (shortened like an entry's own when it is too long) or a file path as written.
    pub reference: String,
    /// See [`RelationshipKind`].
    pub detail: Option<String>,
    /// A tool call that asks for history.
    pub retrieval: bool,
    /// File evidence, which is concluded from arguments rather than recorded as such.
    pub inferred: bool,
}

/// A bounded attribute value.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// At most 1000 code points; longer values are cut.
    Text(String),
    /// A number without a fraction.
    Integer(i64),
    /// Any other finite number.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
}

/// The typed reading of one record. It holds no file position, so equal records give equal events.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The recorded type, at most 1000 code points; empty when it is missing or no string.
    pub entry_type: String,
    /// Role of a message, as recorded until [`Self::read_as`] translates an old name.
    pub role: Option<String>,
    /// Entry id, at most 512 bytes (see [`Receipt::LongId`]). `None` when missing, empty or no string.
    pub id: Option<String>,
    /// Recorded parent, shortened like an id. `None` for a root.
    pub parent_id: Option<String>,
    /// Whether the record has the key `parentId` at all; version 1 has none.
    pub has_parent_id: bool,
    /// Timestamp as recorded.
    pub timestamp: Option<String>,
    /// The timestamp in milliseconds since 1970, when it is ISO 8601.
    pub timestamp_ms: Option<i64>,
    /// Its part in the conversation.
    pub context_role: ContextRole,
    /// Whether it can reach the model.
    pub contribution: Contribution,
    /// A failed tool, a command with an exit code other than 0, or a model request that ended in an error.
    pub is_error: bool,
    /// Searchable parts in the order of the record.
    pub fragments: Vec<Fragment>,
    /// References in the order of the record.
    pub relationships: Vec<Relationship>,
    /// Known scalar fields in the order of the record, each name once.
    pub attributes: Vec<(String, Scalar)>,
    /// How much was left out, in the order of [`Omission::ALL`].
    pub omissions: [u32; 5],
    /// The session's name from here on, white space made canonical; `Some("")` takes the name away.
    pub session_name: Option<String>,
    /// Some call or result in it is history retrieval.
    pub retrieval: bool,
    /// Id of the tool call that a tool result answers.
    pub result_of: Option<String>,
    /// The first kept entry of a version 1 compaction, counting the header as 0.
    pub first_kept_index: Option<i64>,
    /// XXH3-64 of the record without the values of its top-level `parentId` and `firstKeptEntryId`,
    /// which alone differ in a fork's copy.
    pub copy_hash: i64,
    /// What had to be repaired or is missing.
    pub receipts: Vec<Receipt>,
}

impl Event {
    /// How often content of one sort was left out.
    pub fn omitted(&self, omission: Omission) -> u32 {
        self.omissions[omission as usize]
    }

    /// Evens out what a file of an older format version means differently.
    pub fn read_as(&mut self, version: i64) {
        if version < 3 && self.role.as_deref() == Some(OLD_CUSTOM) {
            self.role = Some("custom".to_owned());
            self.contribution = Contribution::Message;
        }
    }

    /// Replaces what a compaction keeps, for version 1, whose compactions name a position instead.
    pub fn set_first_kept(&mut self, first_kept: Option<String>) {
        self.relationships
            .retain(|edge| edge.kind != RelationshipKind::Compacts);
        if let Some(id) = first_kept {
            self.relate(RelationshipKind::Compacts, id);
        }
    }

    /// An event of which nothing is known but its content's hash.
    pub(crate) fn empty(copy_hash: i64) -> Self {
        Self {
            entry_type: String::new(),
            role: None,
            id: None,
            parent_id: None,
            has_parent_id: false,
            timestamp: None,
            timestamp_ms: None,
            context_role: ContextRole::Metadata,
            contribution: Contribution::Never,
            is_error: false,
            fragments: Vec::new(),
            relationships: Vec::new(),
            attributes: Vec::new(),
            omissions: [0; 5],
            session_name: None,
            retrieval: false,
            result_of: None,
            first_kept_index: None,
            copy_hash,
            receipts: Vec::new(),
        }
    }

    pub(super) fn omit(&mut self, omission: Omission, count: usize) {
        let counter = &mut self.omissions[omission as usize];
        *counter = counter.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Adds a receipt once.
    pub(super) fn note(&mut self, receipt: Receipt) {
        if !self.receipts.contains(&receipt) {
            self.receipts.push(receipt);
        }
    }

    pub(super) fn relate(
        &mut self,
        kind: RelationshipKind,
        reference: String,
    ) -> &mut Relationship {
        let inferred = matches!(
            kind,
            RelationshipKind::FileRead | RelationshipKind::FileChanged
        );
        self.relationships.push(Relationship {
            kind,
            reference,
            detail: None,
            retrieval: false,
            inferred,
        });
        self.relationships.last_mut().expect("just pushed")
    }
}
