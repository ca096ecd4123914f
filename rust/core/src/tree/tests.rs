//! Properties against the naive [`Oracle`], driving [`Tree`] as a store would.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::oracle::{Oracle, Record};
use super::*;

/// What a store keeps of one session.
#[derive(Debug)]
struct Database {
    places: Vec<Option<Place>>,
    segments: Vec<Segment>,
    path: BTreeMap<u32, u32>,
    leaf: Leaf,
    rebuilds: usize,
}

impl Database {
    fn new() -> Self {
        Self {
            places: Vec::new(),
            segments: Vec::new(),
            path: BTreeMap::new(),
            leaf: Leaf::None,
            rebuilds: 0,
        }
    }

    /// Appends `records[from..]`; the records before are stored. Answers only what is asked.
    fn append(&mut self, records: &[Record], from: usize) -> Result<TreeDelta, Irregular> {
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

    fn answer(&self, needs: &Needs, stored: &[Record], tree: &mut Tree) {
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

    fn apply(&mut self, delta: &TreeDelta) {
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

    fn replace(&mut self, full: FullTree) {
        self.places = full.places;
        self.segments = full.segments;
        self.path = full.path.into_iter().collect();
        self.leaf = full.leaf;
        self.rebuilds += 1;
    }

    fn path_rows(&self) -> Vec<(u32, u32)> {
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

    fn check(&self, records: &[Record]) {
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

fn nodes_of(records: &[Record]) -> Vec<Node<'_>> {
    records.iter().enumerate().map(|(i, r)| r.node(i)).collect()
}

fn assert_equals_rebuild(database: &Database, records: &[Record]) {
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

#[derive(Debug, Clone)]
enum Step {
    Linear,
    Branch(usize),
    Root,
    EmptyParent,
    Orphan(u8),
    Idless(usize, bool),
    Detached(usize, u8),
    LateParent(u8),
    Duplicate(usize, usize),
    OwnParent,
    Wild(u8, u8),
}

fn regular_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Linear),
        4 => any::<usize>().prop_map(Step::Branch),
        1 => Just(Step::Root),
        1 => Just(Step::EmptyParent),
        1 => (0..4u8).prop_map(Step::Orphan),
        1 => any::<(usize, bool)>().prop_map(|(at, empty)| Step::Idless(at, empty)),
        1 => (any::<usize>(), 0..4u8).prop_map(|(at, id)| Step::Detached(at, id)),
    ]
}

fn wild_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => regular_step(),
        1 => (0..4u8).prop_map(Step::LateParent),
        1 => any::<(usize, usize)>().prop_map(|(id, at)| Step::Duplicate(id, at)),
        1 => Just(Step::OwnParent),
        2 => (0..4u8, 0..4u8).prop_map(|(id, parent)| Step::Wild(id, parent)),
    ]
}

fn records_of(steps: &[Step]) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for step in steps {
        let pick = |at: usize| (!ids.is_empty()).then(|| ids[at % ids.len()].clone());
        let fresh = Some(format!("n{}", records.len()));
        let (id, parent_id, detached) = match *step {
            Step::Linear => (fresh, ids.last().cloned(), false),
            Step::Branch(at) => (fresh, pick(at), false),
            Step::Root => (fresh, None, false),
            Step::EmptyParent => (fresh, Some(String::new()), false),
            Step::Orphan(parent) => (fresh, Some(format!("m{parent}")), false),
            Step::Idless(at, empty) => (empty.then(String::new), pick(at), false),
            Step::Detached(at, id) => (Some(format!("m{id}")), pick(at), true),
            Step::LateParent(id) => (Some(format!("m{id}")), ids.last().cloned(), false),
            Step::Duplicate(id, at) => (pick(id), pick(at), false),
            Step::OwnParent => (fresh.clone(), fresh, false),
            Step::Wild(id, parent) => (Some(format!("m{id}")), Some(format!("m{parent}")), false),
        };
        if let Some(id) = id.clone().filter(|id| !detached && !id.is_empty()) {
            ids.push(id);
        }
        records.push(Record {
            id,
            parent_id,
            detached,
        });
    }
    records
}

/// Runs `records` in batches of the given sizes, checking every fact after each of them.
fn run(records: &[Record], sizes: &[usize]) -> Database {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn regular_batches_equal_the_oracle_and_never_rebuild(
        steps in prop::collection::vec(regular_step(), 0..40),
        sizes in prop::collection::vec(0..6usize, 0..12),
    ) {
        let database = run(&records_of(&steps), &sizes);
        prop_assert_eq!(database.rebuilds, 0);
    }

    #[test]
    fn any_batches_equal_the_oracle(
        steps in prop::collection::vec(wild_step(), 0..40),
        sizes in prop::collection::vec(0..6usize, 0..12),
    ) {
        run(&records_of(&steps), &sizes);
    }

    #[test]
    fn appending_goes_on_after_a_rebuild(
        wild in prop::collection::vec(wild_step(), 1..20),
        regular in prop::collection::vec(regular_step(), 0..20),
    ) {
        let steps: Vec<_> = wild.iter().chain(&regular).cloned().collect();
        run(&records_of(&steps), &vec![1; steps.len()]);
    }

    #[test]
    fn one_tree_may_take_several_rounds(
        steps in prop::collection::vec(regular_step(), 0..30),
        stored in 0..10usize,
        round in 1..5usize,
    ) {
        let records = records_of(&steps);
        let stored = stored.min(records.len());
        let mut database = run(&records[..stored], &[]);
        let nodes = nodes_of(&records);
        let next = u32::try_from(database.segments.len()).unwrap();
        let mut tree = Tree::resume(next, database.leaf.clone());
        let mut placed = Vec::new();
        for batch in nodes[stored..].chunks(round) {
            let needs = tree.needs(batch);
            database.answer(&needs, &records[..stored], &mut tree);
            for node in batch {
                placed.push(Some(tree.append(node).unwrap()));
            }
        }
        let delta = tree.finish().unwrap();
        database.places.extend(placed);
        database.apply(&delta);
        database.check(&records);
        assert_equals_rebuild(&database, &records);
    }

    #[test]
    fn nothing_learned_makes_it_panic_or_hang(
        segments in prop::collection::vec((0..6u32, prop::option::of((0..6u32, any::<u32>())), 0..5u8), 0..8),
        path in prop::collection::vec((0..6u32, any::<u32>()), 0..6),
        leaf in (0..6u32, any::<u32>()),
        places in prop::collection::vec((0..4u8, 0..6u32, any::<u32>(), any::<bool>()), 0..6),
        steps in prop::collection::vec(wild_step(), 0..10),
        next in prop_oneof![Just(0), Just(6), Just(u32::MAX)],
    ) {
        let at = |(segment, depth)| Place { segment, depth };
        let id = "n0".to_owned();
        let mut tree = Tree::resume(next, Leaf::At { id, place: at(leaf), has_first_child: true });
        for (number, parent, origin) in segments {
            tree.learn_segment(number, parent.map(at), Origin::from_code(origin).unwrap());
        }
        for (segment, upto) in path {
            tree.learn_path(segment, upto);
        }
        for (id, segment, depth, child) in places {
            tree.learn_place(format!("m{id}"), at((segment, depth)), child);
        }
        let records = records_of(&steps);
        let failed = nodes_of(&records).iter().any(|node| tree.append(node).is_err());
        prop_assert!(!failed || tree.finish().is_err());
    }
}

#[path = "tests_cases.rs"]
mod cases;
#[path = "tests_window.rs"]
mod window_tests;
