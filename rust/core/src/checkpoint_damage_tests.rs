//! Checkpoints as a damaged database may hand them over: never a panic, never a skipped record.

use proptest::prelude::*;

use super::tests::{append_to, decision, rebuild, scripted, session, write};
use super::*;
use crate::source::ScriptedSource;

#[test]
fn an_offset_beside_a_record_edge_is_never_believed() {
    let (source, good) = scripted(&session(4));
    write(&source, session(9));
    assert_eq!(decision(&source, &good), append_to(&good));
    let nonsense = [u64::MAX, u64::MAX - 1, i64::MAX as u64, 1 << 63];
    for complete_offset in (0..=source.observe().unwrap().size).chain(nonsense) {
        if complete_offset == good.complete_offset {
            continue;
        }
        let mut bad = Checkpoint {
            complete_offset,
            ..good
        };
        let answer = decision(&source, &bad);
        assert_eq!(
            answer,
            rebuild(RebuildReason::CheckpointInvalid),
            "{complete_offset}"
        );
        // Nor when the damaged row also claims the size of now.
        bad.observation.size = source.observe().unwrap().size;
        let answer = decision(&source, &bad);
        assert_eq!(
            answer,
            rebuild(RebuildReason::CheckpointInvalid),
            "{complete_offset}"
        );
    }
}

#[test]
fn an_offset_inside_an_indented_or_blank_line_is_no_edge() {
    let (source, good) = scripted(&session(2));
    write(&source, [&session(2)[..], b" \r{}\n"].concat());
    assert_eq!(decision(&source, &good), append_to(&good));
    for inside in 1..=2 {
        let mut bad = good;
        bad.complete_offset += inside;
        bad.observation.size += 2;
        let answer = decision(&source, &bad);
        assert_eq!(answer, rebuild(RebuildReason::CheckpointInvalid));
    }
}

#[test]
fn contradictions_are_invalid_without_reading() {
    let (source, good) = scripted(&session(4));
    let print = |offset, length| Boundary {
        offset,
        length,
        hash: [7; 16],
    };
    let header = |offset, length| HeaderPrint {
        offset,
        length,
        hash: [7; 16],
    };
    let end = good.complete_offset;
    let bad = [
        Checkpoint {
            complete_lines: 0,
            ..good
        },
        Checkpoint {
            complete_lines: u64::MAX,
            ..good
        },
        Checkpoint {
            entries: u64::MAX,
            ..good
        },
        Checkpoint {
            tail: Some(print(end - 1, 1)),
            ..good
        },
        Checkpoint {
            tail: Some(print(end, 0)),
            ..good
        },
        Checkpoint {
            tail: Some(print(end, 1)),
            ..good
        },
        Checkpoint {
            tail: Some(print(u64::MAX, 1)),
            ..good
        },
        Checkpoint {
            header: header(0, 0),
            ..good
        },
        Checkpoint {
            header: header(u64::MAX, 1),
            ..good
        },
        Checkpoint {
            header: header(1, end),
            ..good
        },
        Checkpoint {
            boundary: print(0, end),
            ..good
        },
        Checkpoint {
            boundary: print(u64::MAX, u64::MAX),
            ..good
        },
        Checkpoint {
            complete_offset: 0,
            complete_lines: 0,
            ..good
        },
    ];
    for checkpoint in bad {
        let answer = decision(&source, &checkpoint);
        assert_eq!(
            answer,
            rebuild(RebuildReason::CheckpointInvalid),
            "{checkpoint:?}"
        );
    }
    assert_eq!(source.calls(), 0);
}

fn any_offset() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..600, any::<u64>(), Just(u64::MAX)]
}

prop_compose! {
    fn any_checkpoint()(
        numbers in prop::array::uniform8(any_offset()),
        times in prop::array::uniform2(any::<i64>()),
        tail in prop::option::of((any_offset(), any_offset())),
        settled in any::<bool>(),
        hash in any::<[u8; 16]>(),
    ) -> Checkpoint {
        let [size, complete_offset, complete_lines, h0, h1, b0, b1, entries] = numbers;
        let [mtime_ns, ctime_ns] = times;
        Checkpoint {
            observation: Observation { device: 1, inode: 1, size, mtime_ns, ctime_ns },
            settled,
            complete_offset,
            complete_lines,
            tail: tail.map(|(offset, length)| Boundary { offset, length, hash }),
            header: HeaderPrint { offset: h0, length: h1, hash },
            boundary: Boundary { offset: b0, length: b1, hash },
            entries,
        }
    }
}

proptest! {
    #[test]
    fn nonsense_is_rebuilt_and_never_panics(checkpoint in any_checkpoint(), now in any::<i64>()) {
        let source = ScriptedSource::new(session(3));
        let decision = decide(&source, &checkpoint, now, &mut 0).unwrap();
        prop_assert!(matches!(decision, Decision::Rebuild(_)), "{:?}", decision);
    }

    #[test]
    fn one_damaged_number_never_moves_an_append(
        field in 0usize..9,
        value in any_offset(),
        with_tail in any::<bool>(),
    ) {
        let tail: &[u8] = if with_tail { b"{\"id\":\"tail\"}" } else { b"" };
        let before = [&session(3)[..], tail].concat();
        let (source, good) = scripted(&before);
        write(&source, [&before[..], b"\n", &session(5)].concat());
        let mut bad = good;
        match field {
            0 => bad.observation.size = value,
            1 => bad.complete_offset = value,
            2 => bad.entries = value,
            3 => bad.header.offset = value,
            4 => bad.header.length = value,
            5 => bad.boundary.offset = value,
            6 => bad.boundary.length = value,
            7 => bad.boundary.hash[0] ^= 1,
            _ => bad.tail = Some(Boundary { length: value, ..good.boundary }),
        }
        match decision(&source, &bad) {
            Decision::Append { .. } => prop_assert_eq!(decision(&source, &bad), append_to(&good)),
            Decision::Rebuild(_) => prop_assert_ne!(bad, good),
            Decision::Unchanged { .. } => prop_assert!(false, "it grew"),
        }
    }
}
