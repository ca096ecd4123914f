//! Properties against the naive [`Oracle`], driving [`Tree`] as a store would.

use proptest::prelude::*;

use super::double::{Database, assert_equals_rebuild, nodes_of, run};
use super::oracle::Record;
use super::*;

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
