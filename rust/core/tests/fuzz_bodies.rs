//! The bodies of the fuzz targets, run over their corpus and over mutations of it.
//!
//! `make fuzz` runs the same bodies for longer, led by coverage.

#[path = "../../fuzz/src/lib.rs"]
mod bodies;

use std::fmt;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

type Body = fn(&[u8]);

const BODIES: [(&str, Body); 5] = [
    ("tail", bodies::tail::run),
    ("checkpoint", bodies::checkpoint::run),
    ("project", bodies::project::run),
    ("tree", bodies::tree::run),
    ("query", bodies::query::run),
];

/// The corpus of a target, in the order of its names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(target);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("every target has a corpus")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    paths.sort();
    let found: Vec<_> = paths
        .iter()
        .map(|path| fs::read(path).expect("it can be read"))
        .collect();
    assert!(!found.is_empty(), "{target} has no corpus");
    found
}

#[test]
fn every_body_stands_its_corpus() {
    for (target, body) in BODIES {
        for data in corpus(target) {
            body(&data);
        }
    }
}

#[test]
fn every_body_stands_nothing() {
    for (_, body) in BODIES {
        for data in [&b""[..], b"\n", b"\n\n", b"\0", b"\xff\n\xff"] {
            body(data);
        }
    }
}

/// What is done to a corpus file.
#[derive(Debug, Clone)]
enum Edit {
    Set(usize, u8),
    Insert(usize, u8),
    Cut(usize, usize),
    Repeat(usize, usize),
    Splice(usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let place = any::<usize>;
    let byte = || {
        prop_oneof![
            any::<u8>(),
            prop::sample::select(b"\n\r\"\\{}[]:,0e. \0".to_vec())
        ]
    };
    prop_oneof![
        3 => (place(), byte()).prop_map(|(at, to)| Edit::Set(at, to)),
        3 => (place(), byte()).prop_map(|(at, what)| Edit::Insert(at, what)),
        2 => (place(), 0..64usize).prop_map(|(at, count)| Edit::Cut(at, count)),
        1 => (place(), 0..200usize).prop_map(|(at, count)| Edit::Repeat(at, count)),
        1 => (place(), place()).prop_map(|(at, other)| Edit::Splice(at, other)),
    ]
}

/// Bytes that are shown as a corpus file would be written.
#[derive(Clone)]
struct Data(Vec<u8>);

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// A corpus file after some edits, or any bytes.
fn mutated(target: &'static str) -> impl Strategy<Value = Data> {
    let seeds = corpus(target);
    let others = seeds.clone();
    let edited = (
        prop::sample::select(seeds),
        prop::collection::vec(edit(), 0..8),
    )
        .prop_map(move |(mut data, edits)| {
            for edit in edits {
                apply(&mut data, &edit, &others);
            }
            data
        });
    prop_oneof![8 => edited, 1 => prop::collection::vec(any::<u8>(), 0..300)].prop_map(Data)
}

fn apply(data: &mut Vec<u8>, edit: &Edit, others: &[Vec<u8>]) {
    let length = data.len();
    let place = |at: usize| at % (length + 1);
    match *edit {
        Edit::Set(at, to) => {
            if let Some(byte) = data.get_mut(place(at)) {
                *byte = to;
            }
        }
        Edit::Insert(at, what) => data.insert(place(at), what),
        Edit::Cut(at, count) => {
            data.drain(place(at)..(place(at) + count).min(length));
        }
        Edit::Repeat(at, count) => {
            data.extend_from_within(place(at)..(place(at) + count).min(length));
        }
        Edit::Splice(at, other) => {
            let other = &others[other % others.len()];
            data.truncate(place(at));
            data.extend_from_slice(&other[at % (other.len() + 1)..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tail(data in mutated("tail")) {
        bodies::tail::run(&data.0);
    }

    #[test]
    fn checkpoint(data in mutated("checkpoint")) {
        bodies::checkpoint::run(&data.0);
    }

    #[test]
    fn project(data in mutated("project")) {
        bodies::project::run(&data.0);
    }

    #[test]
    fn tree(data in mutated("tree")) {
        bodies::tree::run(&data.0);
    }

    #[test]
    fn query(data in mutated("query")) {
        bodies::query::run(&data.0);
    }
}
