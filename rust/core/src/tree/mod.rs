//! Where each entry stands in its session's tree, stored so that an append touches few rows.
//!
//! A *segment* is a maximal chain of first children: the first child of an entry (in append
//! order) continues the entry's segment one level deeper, every later child opens a new segment
//! that remembers the [`Place`] it left from. A place never changes while the session stays
//! regular. The selected path is a short list of `(segment, deepest depth)` rows, from the root
//! to the leaf, with strictly growing depths; an entry is selected when one of them covers it
//! ([`selected`]).
//!
//! A session is *regular* as long as every record comes after its parent and no id is used twice.
//! [`Tree`] appends to such sessions, loading only what [`Tree::needs`] asks for. Where a record
//! breaks that order it answers [`Irregular`], and the caller drops it and computes the whole
//! session anew with [`rebuild`]. Both give the same facts where both apply, and appending may
//! go on after a rebuild.
//!
//! Rules (as Pi resolves a file): the last record of an id wins; an empty `parentId` is none;
//! a record whose parent is missing starts its own chain; a cycle is cut, never followed; records
//! without id and records found behind a partial one on their line stand alone, outside the tree.
//! No function here recurses over its input, and all take linear time (plus hashing).

mod append;
mod path;
mod rebuild;
mod window;

#[cfg(test)]
mod double;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use std::fmt;

pub use append::Tree;
pub use rebuild::rebuild;
pub use window::{CompactionFact, Window, selected, window};

/// The position of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Number of the segment, local to one build (epoch) of the session.
    pub segment: u32,
    /// Distance from the root of the entry's chain; the root has 0.
    pub depth: u32,
}

/// How the chain of a segment begins. Inherited by all segments that branch off from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A recorded root: no `parentId`.
    Root,
    /// The root of the chain names a parent that the file does not have.
    Orphan,
    /// The chain runs into a cycle; it begins where the cycle was cut.
    Cycle,
    /// A single record found behind a partial one on its line: Pi does not see it.
    Detached,
    /// A single record without an id.
    Idless,
}

impl Origin {
    /// All origins, in the order of their codes.
    pub const ALL: [Self; 5] = [
        Self::Root,
        Self::Orphan,
        Self::Cycle,
        Self::Detached,
        Self::Idless,
    ];

    /// The stable name, as used across the language border.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Orphan => "orphan",
            Self::Cycle => "cycle",
            Self::Detached => "detached",
            Self::Idless => "idless",
        }
    }

    /// The stable number for storage.
    pub const fn code(self) -> u8 {
        match self {
            Self::Root => 0,
            Self::Orphan => 1,
            Self::Cycle => 2,
            Self::Detached => 3,
            Self::Idless => 4,
        }
    }

    /// The origin of a stored number; `None` for a number that no origin has.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// One segment, written once when its first entry is placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Counts from 0 in append order of the segments' topmost entries.
    pub number: u32,
    /// The entry that the segment branches off from; `None` when it begins a chain.
    pub parent: Option<Place>,
    /// How the chain begins that this segment belongs to.
    pub origin: Origin,
    /// The recorded parent that the file lacks. Only on the segment that begins an orphaned
    /// chain, not inherited: these are the ids that [`Tree::learn_awaited`] is about.
    pub missing_parent: Option<String>,
}

/// What the tree needs to know about one record. Records are given in append order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node<'a> {
    /// The record's ordinal in the file; only handed back in reports.
    pub ord: u64,
    /// The recorded id; `None` or empty = the record has none.
    pub id: Option<&'a str>,
    /// The recorded parent id; `None` or empty = a root.
    pub parent_id: Option<&'a str>,
    /// The record was found behind a partial one on its line.
    pub detached: bool,
}

impl<'a> Node<'a> {
    /// The id under which other records can find this one; `None` when it stands alone.
    fn standing_id(&self) -> Option<&'a str> {
        self.id.filter(|id| !self.detached && !id.is_empty())
    }

    fn parent(&self) -> Option<&'a str> {
        self.parent_id.filter(|id| !id.is_empty())
    }

    /// The origin of a node that has no [`Self::standing_id`].
    const fn lone_origin(&self) -> Origin {
        if self.detached {
            Origin::Detached
        } else {
            Origin::Idless
        }
    }
}

/// The materialized leaf: where the last record that Pi sees stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    /// No record yet, or only detached ones.
    None,
    /// The last record has no id, or its chain is a cycle: there is no path.
    Unknown,
    /// The last record.
    At {
        /// Its id.
        id: String,
        /// Its place.
        place: Place,
        /// Whether some record already is its child; only a rebuilt session can say true
        /// (a parent that came last).
        has_first_child: bool,
    },
}

/// Why a session cannot be continued by appending. The [`Tree`] is of no further use: drop it and
/// [`rebuild`] over all records of the session, those of the batch included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Irregular {
    /// The id was used before.
    DuplicateId,
    /// An earlier record names this one as its parent.
    LateParent,
    /// The record names itself as its parent.
    OwnParent,
    /// What was learned contradicts itself or lacks something that was asked for.
    Inconsistent,
}

impl Irregular {
    /// The stable name, as used across the language border.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DuplicateId => "duplicate-id",
            Self::LateParent => "late-parent",
            Self::OwnParent => "own-parent",
            Self::Inconsistent => "inconsistent",
        }
    }
}

impl fmt::Display for Irregular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DuplicateId => "the record's id was used before",
            Self::LateParent => "the record is the parent of an earlier one",
            Self::OwnParent => "the record names itself as its parent",
            Self::Inconsistent => "the stored places contradict each other or are incomplete",
        })
    }
}

impl std::error::Error for Irregular {}

/// What must be looked up before a batch can be appended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Parents named by the batch: each that is stored goes to [`Tree::learn_place`].
    pub parents: Vec<String>,
    /// Ids brought by the batch: each that is stored goes to [`Tree::learn_place`], each that is
    /// the `missing_parent` of a stored segment to [`Tree::learn_awaited`]. Regularly none is.
    pub ids: Vec<String>,
    /// Also give all stored segments to [`Tree::learn_segment`] and all path rows to
    /// [`Tree::learn_path`].
    pub branches: bool,
}

/// The change of the selected path: delete `removed`, then insert or update `set`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathDelta {
    /// Segments that leave the path, ascending.
    pub removed: Vec<u32>,
    /// `(segment, deepest selected depth)` of new or moved rows, from the root to the leaf.
    pub set: Vec<(u32, u32)>,
}

/// What a batch of appends changed beyond the places of its own records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeDelta {
    /// Segments opened by the batch, in order of their numbers.
    pub new_segments: Vec<Segment>,
    /// What [`Tree::resume`] takes next time.
    pub next_segment: u32,
    /// The leaf after the batch.
    pub leaf: Leaf,
    /// The change of the selected path.
    pub path: PathDelta,
    /// Ordinals of the batch's records whose recorded parent is missing.
    pub orphans: Vec<u64>,
}

/// The tree of a whole session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTree {
    /// One for each node given; `None` = superseded by a later record of the same id.
    pub places: Vec<Option<Place>>,
    /// In order of their numbers, which are their indices; their count is the next number.
    pub segments: Vec<Segment>,
    /// `(segment, deepest selected depth)`, from the root to the leaf.
    pub path: Vec<(u32, u32)>,
    /// The materialized leaf.
    pub leaf: Leaf,
    /// Ordinals of the superseded records.
    pub superseded: Vec<u64>,
    /// Ordinals of the records whose recorded parent is missing.
    pub orphans: Vec<u64>,
    /// Ordinals of the records at which a cycle was cut (the earliest member), one for each cycle.
    pub cycles: Vec<u64>,
}
