//! The stored path of a session that grows, and how a new leaf changes it.

use std::collections::HashMap;

use super::{Irregular, PathDelta, Place};

/// What is known of the stored path.
#[derive(Debug, Default)]
pub(super) struct StoredPath {
    /// Where it ends; `None` = there is no path.
    leaf: Option<Place>,
    /// Depth by segment. Until [`Self::learn`] only the deepest row, the leaf's own: all that a
    /// linear append needs.
    rows: HashMap<u32, u32>,
    learned: bool,
}

impl StoredPath {
    pub fn ending_at(leaf: Place) -> Self {
        Self {
            leaf: Some(leaf),
            rows: HashMap::from([(leaf.segment, leaf.depth)]),
            learned: false,
        }
    }

    pub fn learn(&mut self, segment: u32, upto: u32) {
        self.learned = true;
        self.rows.insert(segment, upto);
    }

    pub const fn exists(&self) -> bool {
        self.leaf.is_some()
    }

    pub fn contains(&self, segment: u32) -> bool {
        self.rows.contains_key(&segment)
    }

    /// The difference to no path at all.
    pub fn cleared(&self) -> Result<PathDelta, Irregular> {
        self.require_all()?;
        Ok(PathDelta {
            removed: self.deeper_than(None),
            set: Vec::new(),
        })
    }

    /// The difference to the path that ends at `leaf`. A segment's ancestors never change, so
    /// both paths agree above the deepest segment they share. `parent_of` tells where a segment
    /// branches off; there are `segments` of them.
    pub fn moved_to(
        &self,
        leaf: Place,
        segments: usize,
        parent_of: impl Fn(u32) -> Result<Option<Place>, Irregular>,
    ) -> Result<PathDelta, Irregular> {
        let mut set = Vec::new();
        let mut shared = None;
        let mut at = Some(leaf);
        while let Some(place) = at {
            if let Some(&depth) = self.rows.get(&place.segment) {
                if depth != place.depth {
                    set.push((place.segment, place.depth));
                }
                shared = Some(Place { depth, ..place });
                break;
            }
            // More steps than segments: the stored parents run in a circle.
            if set.len() > segments {
                return Err(Irregular::Inconsistent);
            }
            set.push((place.segment, place.depth));
            at = parent_of(place.segment)?;
        }
        if shared.is_none() || shared != self.leaf {
            self.require_all()?;
        }
        set.reverse();
        Ok(PathDelta {
            removed: self.deeper_than(shared.map(|place| place.depth)),
            set,
        })
    }

    /// Checks that the rows of the whole path were learned.
    fn require_all(&self) -> Result<(), Irregular> {
        let Some(leaf) = self.leaf else {
            return Ok(());
        };
        let ends_there = self.rows.get(&leaf.segment) == Some(&leaf.depth)
            && self.rows.values().all(|&upto| upto <= leaf.depth);
        if self.learned && ends_there {
            Ok(())
        } else {
            Err(Irregular::Inconsistent)
        }
    }

    /// Segments whose rows go deeper than `depth` (all of them for `None`), ascending.
    fn deeper_than(&self, depth: Option<u32>) -> Vec<u32> {
        let deeper = |&(_, upto): &(&u32, &u32)| depth.is_none_or(|depth| *upto > depth);
        let mut removed: Vec<u32> = self.rows.iter().filter(deeper).map(|(s, _)| *s).collect();
        removed.sort_unstable();
        removed
    }
}
