//! Appending to a regular session.

use std::collections::{HashMap, HashSet};

use super::path::StoredPath;
use super::{Irregular, Leaf, Needs, Node, Origin, Place, Segment, TreeDelta};

/// The growing end of a session's tree.
///
/// One batch is: [`Self::resume`], [`Self::needs`], look up and `learn_*` what it asks for,
/// [`Self::append`] every record in order, [`Self::finish`].
///
/// ```
/// use pi_event_search_core::tree::{Leaf, Node, Place, Tree};
/// let place = Place { segment: 0, depth: 41 };
/// let leaf = Leaf::At { id: "a".into(), place, has_first_child: false };
/// let node = Node { ord: 42, id: Some("b"), parent_id: Some("a"), detached: false };
/// let mut tree = Tree::resume(1, leaf);
/// let needs = tree.needs(&[node]);
/// assert_eq!((needs.parents.len(), needs.ids, needs.branches), (0, vec!["b".to_owned()], false));
/// assert_eq!(tree.append(&node), Ok(Place { segment: 0, depth: 42 }));
/// assert_eq!(tree.finish().unwrap().path.set, [(0, 42)]);
/// ```
#[derive(Debug)]
pub struct Tree {
    /// Nothing that could matter is stored: whatever a batch names is in the batch.
    fresh: bool,
    path: StoredPath,
    known: HashMap<String, Known>,
    awaited: HashSet<String>,
    segments: HashMap<u32, Stem>,
    next_segment: u32,
    new_segments: Vec<Segment>,
    orphans: Vec<u64>,
    tip: Tip,
    /// Set by the first irregular record; nothing is accepted after it.
    broken: Option<Irregular>,
}

/// An entry that can be a parent.
#[derive(Debug, Clone, Copy)]
struct Known {
    place: Place,
    has_first_child: bool,
}

/// What a later segment must know of an earlier one.
#[derive(Debug, Clone, Copy)]
struct Stem {
    parent: Option<Place>,
    origin: Origin,
}

/// The running leaf; its facts are in `known`.
#[derive(Debug)]
enum Tip {
    None,
    Unknown,
    At(String),
}

impl Tree {
    /// Continues a session. `next_segment` is one more than the greatest stored segment number
    /// (0 for none), `leaf` the stored leaf; a new session has `(0, Leaf::None)`.
    pub fn resume(next_segment: u32, leaf: Leaf) -> Self {
        let mut tree = Self {
            fresh: leaf == Leaf::None,
            path: StoredPath::default(),
            known: HashMap::new(),
            awaited: HashSet::new(),
            segments: HashMap::new(),
            next_segment,
            new_segments: Vec::new(),
            orphans: Vec::new(),
            tip: Tip::None,
            broken: None,
        };
        match leaf {
            Leaf::None => {}
            Leaf::Unknown => tree.tip = Tip::Unknown,
            Leaf::At {
                id,
                place,
                has_first_child,
            } => {
                tree.path = StoredPath::ending_at(place);
                tree.learn_place(id.clone(), place, has_first_child);
                tree.tip = Tip::At(id);
            }
        }
        tree
    }

    /// What must be looked up before `batch` is appended. A batch that continues the leaf in a
    /// straight line needs nothing but the proof that its ids are new.
    pub fn needs(&self, batch: &[Node<'_>]) -> Needs {
        let mut needs = Needs::default();
        if self.fresh {
            return needs;
        }
        let mut tip = self.childless_tip();
        let mut defined = HashSet::new();
        let mut asked = HashSet::new();
        for node in batch.iter().filter(|node| !node.detached) {
            let Some(id) = node.standing_id() else {
                // The path ends here: its rows go, so they must be known.
                needs.branches |= self.path.exists();
                tip = None;
                continue;
            };
            let parent = node.parent();
            if let Some(parent) = parent
                && !self.known.contains_key(parent)
                && !defined.contains(parent)
                && asked.insert(parent)
            {
                needs.parents.push(parent.to_owned());
            }
            needs.branches |= parent.is_none() || parent != tip;
            if defined.insert(id) && !self.known.contains_key(id) {
                needs.ids.push(id.to_owned());
            }
            tip = Some(id);
        }
        needs
    }

    fn childless_tip(&self) -> Option<&str> {
        match &self.tip {
            Tip::At(id) => self
                .known
                .get(id)
                .is_some_and(|known| !known.has_first_child)
                .then_some(id),
            Tip::None | Tip::Unknown => None,
        }
    }

    /// Tells the place of a stored entry. `has_first_child`: an entry stands in the same segment
    /// one level deeper. Superseded, idless and detached records are never told.
    pub fn learn_place(&mut self, id: String, place: Place, has_first_child: bool) {
        // What the batch itself has found out since is newer.
        self.known.entry(id).or_insert(Known {
            place,
            has_first_child,
        });
    }

    /// Tells a stored segment.
    pub fn learn_segment(&mut self, number: u32, parent: Option<Place>, origin: Origin) {
        self.segments
            .entry(number)
            .or_insert(Stem { parent, origin });
    }

    /// Tells a stored path row: `upto` is the deepest selected depth of the segment.
    pub fn learn_path(&mut self, segment: u32, upto: u32) {
        self.path.learn(segment, upto);
    }

    /// Tells that a stored segment's `missing_parent` is `id`.
    pub fn learn_awaited(&mut self, id: String) {
        self.awaited.insert(id);
    }

    /// Places the next record. After an error the tree accepts nothing more and repeats the
    /// error, also from [`Self::finish`].
    pub fn append(&mut self, node: &Node<'_>) -> Result<Place, Irregular> {
        if let Some(irregular) = self.broken {
            return Err(irregular);
        }
        let placed = self.place(node);
        self.broken = placed.err();
        placed
    }

    fn place(&mut self, node: &Node<'_>) -> Result<Place, Irregular> {
        let Some(id) = node.standing_id() else {
            if !node.detached {
                self.tip = Tip::Unknown;
            }
            return self.open_segment(None, node.lone_origin(), None);
        };
        if node.parent() == Some(id) {
            return Err(Irregular::OwnParent);
        }
        if self.known.contains_key(id) {
            return Err(Irregular::DuplicateId);
        }
        if self.awaited.contains(id) {
            return Err(Irregular::LateParent);
        }
        let place = match node.parent() {
            None => self.open_segment(None, Origin::Root, None)?,
            Some(parent) => match self.known.get(parent).copied() {
                Some(known) => self.place_child(parent, known)?,
                None => self.place_orphan(node.ord, parent)?,
            },
        };
        self.known.insert(
            id.to_owned(),
            Known {
                place,
                has_first_child: false,
            },
        );
        self.move_tip(id);
        Ok(place)
    }

    fn place_child(&mut self, parent: &str, known: Known) -> Result<Place, Irregular> {
        if known.has_first_child {
            let origin = self
                .segments
                .get(&known.place.segment)
                .ok_or(Irregular::Inconsistent)?
                .origin;
            return self.open_segment(Some(known.place), origin, None);
        }
        if let Some(known) = self.known.get_mut(parent) {
            known.has_first_child = true;
        }
        Ok(Place {
            segment: known.place.segment,
            depth: deeper(known.place)?,
        })
    }

    fn place_orphan(&mut self, ord: u64, parent: &str) -> Result<Place, Irregular> {
        self.orphans.push(ord);
        self.awaited.insert(parent.to_owned());
        self.open_segment(None, Origin::Orphan, Some(parent.to_owned()))
    }

    fn open_segment(
        &mut self,
        parent: Option<Place>,
        origin: Origin,
        missing_parent: Option<String>,
    ) -> Result<Place, Irregular> {
        let number = self.next_segment;
        let depth = parent.map_or(Ok(0), deeper)?;
        self.next_segment = number.checked_add(1).ok_or(Irregular::Inconsistent)?;
        self.segments.insert(number, Stem { parent, origin });
        self.new_segments.push(Segment {
            number,
            parent,
            origin,
            missing_parent,
        });
        Ok(Place {
            segment: number,
            depth,
        })
    }

    fn move_tip(&mut self, id: &str) {
        if let Tip::At(tip) = &mut self.tip {
            id.clone_into(tip);
        } else {
            self.tip = Tip::At(id.to_owned());
        }
    }

    /// Ends the batch. Fails when a record was irregular, or when the stored segments and path
    /// rows do not fit together.
    pub fn finish(mut self) -> Result<TreeDelta, Irregular> {
        if let Some(irregular) = self.broken {
            return Err(irregular);
        }
        let leaf = self.leaf()?;
        let path = match leaf {
            Leaf::None | Leaf::Unknown => self.path.cleared()?,
            Leaf::At { place, .. } => {
                let parent_of = |segment| Ok(self.stem(segment)?.parent);
                self.path.moved_to(place, self.segments.len(), parent_of)?
            }
        };
        Ok(TreeDelta {
            new_segments: self.new_segments,
            next_segment: self.next_segment,
            leaf,
            path,
            orphans: self.orphans,
        })
    }

    fn leaf(&mut self) -> Result<Leaf, Irregular> {
        let id = match std::mem::replace(&mut self.tip, Tip::None) {
            Tip::None => return Ok(Leaf::None),
            Tip::Unknown => return Ok(Leaf::Unknown),
            Tip::At(id) => id,
        };
        let &Known {
            place,
            has_first_child,
        } = self.known.get(&id).ok_or(Irregular::Inconsistent)?;
        // A segment on the stored path is no cycle, or there would be no such path.
        if !self.path.contains(place.segment) && self.stem(place.segment)?.origin == Origin::Cycle {
            return Ok(Leaf::Unknown);
        }
        Ok(Leaf::At {
            id,
            place,
            has_first_child,
        })
    }

    fn stem(&self, segment: u32) -> Result<Stem, Irregular> {
        self.segments
            .get(&segment)
            .copied()
            .ok_or(Irregular::Inconsistent)
    }
}

fn deeper(place: Place) -> Result<u32, Irregular> {
    place.depth.checked_add(1).ok_or(Irregular::Inconsistent)
}
