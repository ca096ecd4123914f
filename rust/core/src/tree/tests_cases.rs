//! Single cases: touched rows, depths that would break recursion, damaged files, hostile ids.

use super::*;

fn record(id: &str, parent: Option<&str>) -> Record {
    Record {
        id: Some(id.to_owned()),
        parent_id: parent.map(str::to_owned),
        detached: false,
    }
}

/// Records named by their index, each with the index of its parent.
fn numbered(parents: impl IntoIterator<Item = Option<usize>>) -> Vec<Record> {
    let name = |index: usize| format!("{index:08x}");
    let one =
        |(index, parent): (usize, Option<usize>)| record(&name(index), parent.map(name).as_deref());
    parents.into_iter().enumerate().map(one).collect()
}

fn place(segment: u32, depth: u32) -> Place {
    Place { segment, depth }
}

fn append_all(records: &[Record]) -> (Vec<Place>, TreeDelta) {
    let mut tree = Tree::resume(0, Leaf::None);
    let nodes = nodes_of(records);
    let places = nodes
        .iter()
        .map(|node| tree.append(node).unwrap())
        .collect();
    (places, tree.finish().unwrap())
}

#[test]
fn a_linear_append_loads_nothing_and_touches_one_row() {
    let records = numbered((0..50).map(|i: usize| i.checked_sub(1)));
    let mut database = run(&records[..20], &[1, 1, 3]);
    for (from, size) in [(20, 1), (21, 1), (22, 28)] {
        let nodes = nodes_of(&records[..from + size]);
        let needs = Tree::resume(1, database.leaf.clone()).needs(&nodes[from..]);
        assert!(needs.parents.is_empty() && !needs.branches);
        assert_eq!(needs.ids.len(), size);
        let delta = database.append(&records[..from + size], from).unwrap();
        let deepest = u32::try_from(from + size - 1).unwrap();
        assert_eq!(delta.new_segments, []);
        assert_eq!(delta.path.removed, Vec::<u32>::new());
        assert_eq!(delta.path.set, [(0, deepest)]);
    }
    database.check(&records);
}

#[test]
fn a_linear_append_on_a_branch_touches_one_row() {
    // The example of the concepts: A -> B -> C -> D, then E -> F below B.
    let records = numbered([None, Some(0), Some(1), Some(2), Some(1), Some(4)]);
    let mut database = run(&records[..5], &[4]);
    assert_eq!(database.path_rows(), [(0, 1), (1, 2)]);
    let delta = database.append(&records, 5).unwrap();
    assert_eq!(delta.path.set, [(1, 3)]);
    assert_eq!((delta.path.removed.len(), delta.new_segments.len()), (0, 0));
    database.check(&records);
}

#[test]
fn a_switch_back_yields_only_the_difference() {
    let records = numbered([None, Some(0), Some(1), Some(1), Some(3), Some(3), Some(2)]);
    let mut database = run(&records[..6], &[]);
    assert_eq!(database.path_rows(), [(0, 1), (1, 2), (2, 3)]);
    let delta = database.append(&records, 6).unwrap();
    assert_eq!(delta.path.removed, [1, 2]);
    assert_eq!(delta.path.set, [(0, 3)]);
    database.check(&records);
}

#[test]
fn a_new_session_needs_nothing() {
    let records = numbered([None, Some(0), Some(0), Some(7)]);
    let needs = Tree::resume(0, Leaf::None).needs(&nodes_of(&records));
    assert_eq!(needs, Needs::default());
}

#[test]
fn lone_records_need_a_path_only_to_clear_it() {
    let leaf = Leaf::At {
        id: "a".into(),
        place: place(0, 0),
        has_first_child: false,
    };
    let idless = Node {
        ord: 1,
        id: None,
        parent_id: Some("a"),
        detached: false,
    };
    let detached = Node {
        id: Some("b"),
        detached: true,
        ..idless
    };
    assert_eq!(
        Tree::resume(1, leaf.clone()).needs(&[detached]),
        Needs::default()
    );
    assert!(Tree::resume(1, leaf).needs(&[idless]).branches);
    assert_eq!(
        Tree::resume(1, Leaf::Unknown).needs(&[idless]),
        Needs::default()
    );
}

#[test]
fn a_chain_of_100_000() {
    let mut records = numbered((0..100_000).map(|i: usize| i.checked_sub(1)));
    let (places, delta) = append_all(&records);
    let full = rebuild(&nodes_of(&records));
    assert_eq!(places[99_999], place(0, 99_999));
    assert_eq!(full.places[99_999], Some(place(0, 99_999)));
    assert_eq!(full.path, delta.path.set);
    records.reverse();
    let reversed = rebuild(&nodes_of(&records));
    assert_eq!(reversed.places[0], Some(place(0, 99_999)));
    assert_eq!(reversed.path, [(0, 0)]);
}

#[test]
fn a_cycle_of_100_000() {
    let records = numbered((0..100_000).map(|i: usize| Some((i + 1) % 100_000)));
    let full = rebuild(&nodes_of(&records));
    assert_eq!((full.cycles, full.segments.len()), (vec![0], 1));
    assert_eq!(full.segments[0].origin, Origin::Cycle);
    assert_eq!(full.places[1], Some(place(0, 99_999)));
    assert_eq!((full.leaf, full.path), (Leaf::Unknown, vec![]));
}

#[test]
fn ten_thousand_children() {
    let records = numbered((0..=10_000).map(|i| (i > 0).then_some(0)));
    let (places, delta) = append_all(&records);
    assert_eq!(places[1], place(0, 1));
    assert_eq!(places[10_000], place(9_999, 1));
    assert!(
        delta.new_segments[1..]
            .iter()
            .all(|s| s.parent == Some(place(0, 0)))
    );
    assert_eq!(delta.path.set, [(0, 0), (9_999, 1)]);
    assert_eq!(rebuild(&nodes_of(&records)).segments, delta.new_segments);
}

#[test]
fn five_thousand_forks_on_the_path() {
    // Every even record gets a dead end first, then the next even record.
    let records = numbered((0..10_000).map(|i: usize| match i {
        0 => None,
        odd if odd % 2 == 1 => Some(odd - 1),
        even => Some(even - 2),
    }));
    let (_, delta) = append_all(&records[..9_999]);
    let full = rebuild(&nodes_of(&records[..9_999]));
    assert_eq!(delta.path.set.len(), 5_000);
    assert_eq!(full.path, delta.path.set);
    let mut database = Database::new();
    database.replace(full);
    let delta = database.append(&records, 9_999).unwrap();
    assert_eq!(delta.path.set, [(4_999, 5_000)]);
}

#[test]
fn an_irregular_record_breaks_the_tree_for_good() {
    let cases = [
        (record("a", Some("b")), Irregular::DuplicateId),
        (record("m", None), Irregular::LateParent),
        (record("x", Some("x")), Irregular::OwnParent),
    ];
    for (bad, expected) in cases {
        let mut tree = Tree::resume(0, Leaf::None);
        let good = [record("a", None), record("b", Some("m"))];
        for node in nodes_of(&good) {
            tree.append(&node).unwrap();
        }
        assert_eq!(tree.append(&bad.node(2)), Err(expected));
        assert_eq!(
            tree.append(&record("new", Some("a")).node(3)),
            Err(expected)
        );
        assert_eq!(tree.finish(), Err(expected));
    }
}

#[test]
fn stored_facts_that_were_asked_for_but_not_given_are_noticed() {
    let leaf = Leaf::At {
        id: "b".into(),
        place: place(0, 1),
        has_first_child: false,
    };
    let root = record("r", None);
    let mut tree = Tree::resume(1, leaf.clone());
    assert!(tree.needs(&[root.node(2)]).branches);
    tree.append(&root.node(2)).unwrap();
    assert_eq!(tree.finish(), Err(Irregular::Inconsistent));

    let mut tree = Tree::resume(1, leaf);
    tree.learn_place("a".into(), place(0, 0), true);
    let branch = record("c", Some("a"));
    assert_eq!(tree.append(&branch.node(2)), Err(Irregular::Inconsistent));
}

#[test]
fn stored_segments_in_a_circle_are_noticed() {
    let mut tree = Tree::resume(3, Leaf::Unknown);
    tree.learn_segment(1, Some(place(2, 0)), Origin::Root);
    tree.learn_segment(2, Some(place(1, 0)), Origin::Root);
    tree.learn_place("a".into(), place(1, 1), false);
    let node = record("b", Some("a"));
    assert_eq!(tree.append(&node.node(2)), Ok(place(1, 2)));
    assert_eq!(tree.finish(), Err(Irregular::Inconsistent));
}

#[test]
fn the_last_of_an_id_wins_and_takes_the_children_along() {
    let records = [
        record("a", None),
        record("b", Some("a")),
        record("c", Some("b")),
        record("b", None),
        record("d", Some("c")),
    ];
    let full = rebuild(&nodes_of(&records));
    assert_eq!(full.superseded, [10]);
    let expected = [
        Some(place(0, 0)),
        None,
        Some(place(1, 1)),
        Some(place(1, 0)),
        Some(place(1, 2)),
    ];
    assert_eq!(full.places, expected);
    assert_eq!(full.path, [(1, 2)]);
}

#[test]
fn a_duplicate_below_its_own_id_is_its_own_parent() {
    let records = [record("a", None), record("a", Some("a"))];
    let full = rebuild(&nodes_of(&records));
    assert_eq!(full.places, [None, Some(place(0, 0))]);
    assert_eq!((full.superseded, full.cycles), (vec![0], vec![10]));
    assert_eq!((full.leaf, full.path), (Leaf::Unknown, vec![]));
}

#[test]
fn a_late_parent_as_leaf_already_has_its_child() {
    let records = [
        record("child", Some("late")),
        record("late", None),
        record("other", Some("late")),
    ];
    let mut database = run(&records[..2], &[1, 1]);
    let Leaf::At {
        has_first_child, ..
    } = database.leaf
    else {
        panic!("the late parent is the leaf");
    };
    assert!(has_first_child);
    let delta = database.append(&records, 2).unwrap();
    assert_eq!(delta.new_segments[0].parent, Some(place(0, 0)));
    database.check(&records);
}

#[test]
fn hostile_ids_are_only_names() {
    let long = "x".repeat(1 << 16);
    let ids = [
        "\0",
        "null",
        "12345678",
        "1234e567",
        "'; --",
        "\u{202e}\u{feff}",
        " ",
        &long,
    ];
    let mut records = vec![record(ids[0], None)];
    for pair in ids.windows(2) {
        records.push(record(pair[1], Some(pair[0])));
    }
    let database = run(&records, &[1, 2, 3]);
    assert_eq!(database.path_rows(), [(0, 7)]);
    assert_eq!(database.rebuilds, 0);
}

#[test]
fn names_and_codes_of_origins_agree() {
    for origin in Origin::ALL {
        assert_eq!(Origin::from_code(origin.code()), Some(origin));
        assert!(!origin.as_str().is_empty());
    }
    assert_eq!(Origin::from_code(5), None);
    assert_eq!(Irregular::LateParent.as_str(), "late-parent");
}
