//! Questions about a selected path: who is on it, and where its newest compaction cuts.

use super::Place;

/// One compaction entry of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionFact {
    /// Where the compaction entry stands.
    pub place: Place,
    /// Where its `firstKeptEntryId` stands; `None` = the file has no such entry.
    pub first_kept: Option<Place>,
}

/// What the newest compaction leaves of the selected path: its summary stands for all depths
/// below `kept_depth`; the entries from `kept_depth` on, and all after the compaction, are direct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The compaction entry.
    pub compaction: Place,
    /// Depth of the first kept entry; the compaction's own depth = nothing before it is kept.
    pub kept_depth: u32,
}

/// Whether an entry is on a path, given as its rows from the root to the leaf.
pub fn selected(path: &[(u32, u32)], place: Place) -> bool {
    // Depths grow along the path, so the first row that reaches this depth is the only candidate.
    let row = path.partition_point(|&(_, upto)| upto < place.depth);
    path.get(row)
        .is_some_and(|&(segment, _)| segment == place.segment)
}

/// The window of a path (rows from the root to the leaf); `None` when no compaction is on it.
/// Only the newest compaction on the path counts, and it keeps something only from an earlier
/// entry of the same path on.
pub fn window(path: &[(u32, u32)], compactions: &[CompactionFact]) -> Option<Window> {
    let newest = compactions
        .iter()
        .filter(|fact| selected(path, fact.place))
        .max_by_key(|fact| fact.place.depth)?;
    let own_depth = newest.place.depth;
    let kept_depth = newest
        .first_kept
        .filter(|&kept| kept.depth < own_depth && selected(path, kept))
        .map_or(own_depth, |kept| kept.depth);
    Some(Window {
        compaction: newest.place,
        kept_depth,
    })
}
