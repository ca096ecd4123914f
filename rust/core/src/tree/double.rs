//! A store that keeps one session in memory and drives [`Tree`] as the real one does, for property
//! tests and fuzzing. It has no path to this crate in it, so that the fuzzers can take it in.

use std::collections::{BTreeMap, BTreeSet};

use super::oracle::{Oracle, Record};
use super::{
    FullTree, Irregular, Leaf, Needs, Node, Place, Segment, Tree, TreeDelta, rebuild, selected,
};

/// What a store keeps of one session.
#[derive(Debug)]
pub struct Database {
    /// As the store has them, by record.
    pub places: Vec<Option<Place>>,
    /// By number.
    pub segments: Vec<Segment>,
    path: BTreeMap<u32, u32>,
    /// Where the next append goes on.
    pub leaf: Leaf,
    /// How often the whole tree was written anew.
    pub rebuilds: usize,
}

impl Database {
    /// Of a session without records.
    pub fn new() -> Self {
        Self {
            places: Vec::new(),
            segments: Vec::new(),
            path: BTreeMap::new(),
            leaf: Leaf::None,
            rebuilds: 0,
        }
    }

    /// Appends `records[from..]`; the records before are stored. Answers only what is asked.
    pub fn append(&mut self, records: &[Record], from: usize) -> Result<TreeDelta, Irregular> {
        let nodes: Vec<_> = records.iter().enumerate().map(|(i, r)| r.node(i)).collect();
        let next = u32::try_from(self.segments.len()).expect("few segments");
        let mut tree = Tree::resume(next, self.leaf.clone());
        let needs = tree.needs(&nodes[from..]);
        self.answer(&needs, &records[..from], &mut tree);
        let appended: Result<Vec<_>, _> = nodes[from..].iter().map(|n| tree.append(n)).collect();
        let delta = appended.and_then(|places| Ok((places, tree.finish()?)));
        match delta {
            Ok((places, delta)) => {
                self.places.extend(places.into_iter().map(Some));
                self.apply(&delta);
                Ok(delta)
            }
            Err(irregular) => {
                self.replace(rebuild(&nodes));
                Err(irregular)
            }
        }
    }

    /// Teaches the tree what it asks for, and nothing else.
    pub fn answer(&self, needs: &Needs, stored: &[Record], tree: &mut Tree) {
        for id in needs.parents.iter().chain(&needs.ids) {
            let known = (0..stored.len())
                .find(|&i| {
                    stored[i].id.as_ref() == Some(id)
                        && !stored[i].detached
                        && self.places[i].is_some()
                })
                .and_then(|i| self.places[i]);
            if let Some(place) = known {
                let below = Place {
                    depth: place.depth + 1,
                    ..place
                };
                let has_first_child = self.places.contains(&Some(below));
                tree.learn_place(id.clone(), place, has_first_child);
            }
        }
        for id in &needs.ids {
            if self
                .segments
                .iter()
                .any(|s| s.missing_parent.as_ref() == Some(id))
            {
                tree.learn_awaited(id.clone());
            }
        }
        if needs.branches {
            for segment in &self.segments {
                tree.learn_segment(segment.number, segment.parent, segment.origin);
            }
            for (&segment, &upto) in &self.path {
                tree.learn_path(segment, upto);
            }
        }
    }

    /// Stores what a batch has changed.
    pub fn apply(&mut self, delta: &TreeDelta) {
        for segment in &delta.path.removed {
            assert!(
                self.path.remove(segment).is_some(),
                "removed a row that is not there"
            );
        }
        for &(segment, upto) in &delta.path.set {
            let before = self.path.insert(segment, upto);
            assert_ne!(before, Some(upto), "touched a row without need");
        }
        self.segments.extend(delta.new_segments.iter().cloned());
        assert_eq!(self.segments.len(), delta.next_segment as usize);
        self.leaf = delta.leaf.clone();
    }

    pub fn replace(&mut self, full: FullTree) {
        self.places = full.places;
        self.segments = full.segments;
        self.path = full.path.into_iter().collect();
        self.leaf = full.leaf;
        self.rebuilds += 1;
    }

    pub fn path_rows(&self) -> Vec<(u32, u32)> {
        let mut rows: Vec<_> = self.path.iter().map(|(&s, &u)| (s, u)).collect();
        rows.sort_by_key(|&(_, upto)| upto);
        rows
    }

    fn children(&self, place: Place) -> Vec<usize> {
        let at = |wanted: Place| self.places.iter().position(|&p| p == Some(wanted));
        let first = Place {
            depth: place.depth + 1,
            ..place
        };
        let opened = self.segments.iter().filter(|s| s.parent == Some(place));
        let heads = opened.map(|s| Place {
            segment: s.number,
            depth: place.depth + 1,
        });
        std::iter::once(first).chain(heads).filter_map(at).collect()
    }

    /// Holds everything stored to the oracle.
    pub fn check(&self, records: &[Record]) {
        let oracle = Oracle::new(records);
        let selected_rows = self.path_rows();
        let mut on_path = BTreeSet::new();
        for (index, place) in self.places.iter().enumerate() {
            assert_eq!(place.is_none(), oracle.superseded(index));
            let Some(place) = *place else { continue };
            let segment = &self.segments[place.segment as usize];
            assert_eq!(
                place.depth as usize,
                oracle.depth(index),
                "depth of {index}"
            );
            assert_eq!(
                self.children(place),
                oracle.children(index),
                "children of {index}"
            );
            assert_eq!(segment.origin, oracle.origin(index), "origin of {index}");
            if oracle.orphan(index) {
                assert_eq!(segment.missing_parent.as_deref(), records[index].parent());
                assert_eq!(segment.parent, None);
            }
            if selected(&selected_rows, place) {
                on_path.insert(index);
            }
        }
        let missing = self
            .segments
            .iter()
            .filter(|s| s.missing_parent.is_some())
            .count();
        let orphans = (0..records.len()).filter(|&i| oracle.orphan(i)).count();
        assert_eq!(missing, orphans);
        assert_eq!(on_path, oracle.selected());
        self.check_leaf(&oracle);
    }

    fn check_leaf(&self, oracle: &Oracle<'_>) {
        let Leaf::At {
            id,
            place,
            has_first_child,
        } = &self.leaf
        else {
            assert_eq!(oracle.leaf(), None);
            assert_eq!(self.leaf == Leaf::None, oracle.last().is_none());
            assert!(self.path.is_empty());
            return;
        };
        let index = oracle.leaf().expect("a leaf");
        assert_eq!(oracle.records[index].id.as_ref(), Some(id));
        assert_eq!(self.places[index], Some(*place));
        assert_eq!(*has_first_child, !oracle.children(index).is_empty());
    }
}

/// The records as the tree takes them.
pub fn nodes_of(records: &[Record]) -> Vec<Node<'_>> {
    records.iter().enumerate().map(|(i, r)| r.node(i)).collect()
}

/// What was appended is what computing the whole gives.
pub fn assert_equals_rebuild(database: &Database, records: &[Record]) {
    let full = rebuild(&nodes_of(records));
    assert_eq!(database.places, full.places);
    assert_eq!(database.segments, full.segments);
    assert_eq!(database.path_rows(), full.path);
    assert_eq!(database.leaf, full.leaf);
    let oracle = Oracle::new(records);
    let ords = |wanted: &dyn Fn(usize) -> bool| -> Vec<u64> {
        let matching = (0..records.len()).filter(|&i| wanted(i));
        matching.map(|i| records[i].node(i).ord).collect()
    };
    assert_eq!(full.superseded, ords(&|i| oracle.superseded(i)));
    assert_eq!(full.orphans, ords(&|i| oracle.orphan(i)));
    assert_eq!(full.cycles, ords(&|i| oracle.cut(i)));
}

/// Runs `records` in batches of the given sizes, checking every fact after each of them.
pub fn run(records: &[Record], sizes: &[usize]) -> Database {
    let mut database = Database::new();
    let mut from = 0_usize;
    for size in sizes.iter().copied().chain([usize::MAX]) {
        let to = from.saturating_add(size).min(records.len());
        let now = &records[..to];
        let outcome = database.append(now, from);
        let oracle = Oracle::new(now);
        let irregular = (from..to).any(|i| oracle.irregular(i));
        assert_eq!(outcome.is_err(), irregular, "{outcome:?}");
        assert_ne!(outcome.as_ref().err(), Some(&Irregular::Inconsistent));
        if let Ok(delta) = outcome {
            let orphans = (from..to).filter(|&i| oracle.orphan(i));
            let ords: Vec<_> = orphans.map(|i| now[i].node(i).ord).collect();
            assert_eq!(delta.orphans, ords);
        }
        database.check(now);
        assert_equals_rebuild(&database, now);
        from = to;
    }
    database
}
