//! The window against walking the path entry by entry.

use super::*;

/// The places on a path, from the root to the leaf.
fn entries(path: &[(u32, u32)]) -> Vec<Place> {
    let mut entries = Vec::new();
    for &(segment, upto) in path {
        let from = u32::try_from(entries.len()).expect("a short path");
        entries.extend((from..=upto).map(|depth| Place { segment, depth }));
    }
    entries
}

fn naive(path: &[(u32, u32)], compactions: &[CompactionFact]) -> Option<Window> {
    let entries = entries(path);
    let newest = entries.iter().rev().find_map(|&place| {
        compactions
            .iter()
            .find(|compaction| compaction.place == place)
    })?;
    let before = entries.iter().take_while(|&&place| place != newest.place);
    let kept = before
        .into_iter()
        .find(|&&place| Some(place) == newest.first_kept);
    Some(Window {
        compaction: newest.place,
        kept_depth: kept.unwrap_or(&newest.place).depth,
    })
}

fn some_path() -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec((0..3u32, 1..4u32), 0..5).prop_map(|steps| {
        let (mut segment, mut length) = (0, 0);
        let mut path = Vec::new();
        for (skip, entries) in steps {
            length += entries;
            path.push((segment, length - 1));
            segment += 1 + skip;
        }
        path
    })
}

fn some_place() -> impl Strategy<Value = Place> {
    (0..6u32, 0..12u32).prop_map(|(segment, depth)| Place { segment, depth })
}

/// Mostly places on the path, else any.
fn resolve(path: &[(u32, u32)], pick: Option<usize>, other: Place) -> Place {
    let entries = entries(path);
    match pick {
        Some(index) if !entries.is_empty() => entries[index % entries.len()],
        _ => other,
    }
}

proptest! {
    #[test]
    fn the_window_equals_a_walk_along_the_path(
        path in some_path(),
        facts in prop::collection::vec(
            (
                prop::option::weighted(0.7, any::<usize>()),
                some_place(),
                prop::option::weighted(0.8, (prop::option::weighted(0.7, any::<usize>()), some_place())),
            ),
            0..5,
        ),
    ) {
        let mut compactions: Vec<CompactionFact> = Vec::new();
        for (pick, other, kept) in facts {
            let place = resolve(&path, pick, other);
            let first_kept = kept.map(|(pick, other)| resolve(&path, pick, other));
            if compactions.iter().all(|fact| fact.place != place) {
                compactions.push(CompactionFact { place, first_kept });
            }
        }
        prop_assert_eq!(window(&path, &compactions), naive(&path, &compactions));
    }

    #[test]
    fn selected_equals_a_walk_along_the_path(path in some_path(), place in some_place()) {
        prop_assert_eq!(selected(&path, place), entries(&path).contains(&place));
    }
}

#[test]
fn an_own_later_or_foreign_first_kept_keeps_nothing() {
    let path = [(0, 4), (2, 9)];
    let at = |segment, depth| Place { segment, depth };
    let compaction = at(2, 7);
    let foreign = [
        None,
        Some(compaction),
        Some(at(2, 8)),
        Some(at(1, 5)),
        Some(at(0, 5)),
    ];
    for first_kept in foreign {
        let facts = [CompactionFact {
            place: compaction,
            first_kept,
        }];
        assert_eq!(
            window(&path, &facts),
            Some(Window {
                compaction,
                kept_depth: 7
            })
        );
    }
    let facts = [CompactionFact {
        place: compaction,
        first_kept: Some(at(0, 3)),
    }];
    assert_eq!(
        window(&path, &facts),
        Some(Window {
            compaction,
            kept_depth: 3
        })
    );
    assert_eq!(window(&[], &facts), None);
}
