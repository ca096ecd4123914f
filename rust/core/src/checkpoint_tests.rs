//! Pure decisions over scripted sources; those on real files are in `checkpoint_file_tests`.

use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::source::{Action, ScriptedSource};

pub(super) const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":3,\"id\":\"a\"}";

/// Long after every time a test file can carry.
pub(super) const LATER: i64 = i64::MAX - 1;

/// A file of a header and `count` records that all differ.
pub(super) fn session(count: usize) -> Vec<u8> {
    let mut bytes = [HEADER, b"\n"].concat();
    for n in 0..count {
        bytes.extend(format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", "x".repeat(n * 40)).bytes());
    }
    bytes
}

/// The checkpoint that reading `bytes` leaves behind. What follows the last LF is a published
/// tail when it ends in `}` and a partial record otherwise.
pub(super) fn checkpoint_of<S: Source>(source: &S, bytes: &[u8], now_ns: i64) -> Checkpoint {
    let observation = source.observe().unwrap();
    assert_eq!(observation.size, bytes.len() as u64);
    let complete = bytes
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |at| at + 1);
    let mut boundary = Boundary::of_bytes(0, b"");
    let (mut at, mut lines, mut entries) = (0, 0, 0);
    for line in bytes[..complete].split_inclusive(|b| *b == b'\n') {
        let content = &line[..line.len() - 1];
        if !is_blank(content) {
            boundary = Boundary::of_bytes(at, content);
            entries += 1;
        }
        at += line.len() as u64;
        lines += 1;
    }
    let rest = &bytes[complete..];
    Checkpoint {
        observation,
        settled: settled(&observation, now_ns),
        complete_offset: at,
        complete_lines: lines,
        tail: rest.ends_with(b"}").then(|| Boundary::of_bytes(at, rest)),
        header: HeaderPrint::of_bytes(0, HEADER),
        boundary,
        entries,
    }
}

/// A scripted source that was read long after its last change, and its checkpoint.
pub(super) fn scripted(bytes: &[u8]) -> (ScriptedSource, Checkpoint) {
    let source = ScriptedSource::new(bytes);
    let checkpoint = checkpoint_of(&source, bytes, LATER);
    assert!(checkpoint.settled);
    (source, checkpoint)
}

/// Replaces the content as a write does, moving both times.
pub(super) fn write(source: &ScriptedSource, bytes: impl Into<Vec<u8>>) {
    let mut observation = source.observe().unwrap();
    observation.mtime_ns += 1;
    observation.ctime_ns += 1;
    source.set_bytes(bytes);
    source.set_observation(observation);
}

pub(super) fn decision(source: &ScriptedSource, checkpoint: &Checkpoint) -> Decision {
    let (before, mut probed) = (source.bytes_read(), 0);
    let decision = decide(source, checkpoint, LATER, &mut probed).unwrap();
    assert_eq!(source.bytes_read() - before, probed);
    assert!(probed <= 16 << 10);
    decision
}

pub(super) fn rebuild(reason: RebuildReason) -> Decision {
    Decision::Rebuild(reason)
}

pub(super) fn append_to(checkpoint: &Checkpoint) -> Decision {
    Decision::Append {
        from: checkpoint.complete_offset,
        first_line: checkpoint.complete_lines + 1,
    }
}

#[test]
fn a_settled_equal_stat_is_believed_without_reading() {
    let (source, checkpoint) = scripted(&session(5));
    let refreshed = checkpoint;
    assert_eq!(
        decision(&source, &checkpoint),
        Decision::Unchanged { refreshed }
    );
    assert_eq!(source.calls(), 0);
}

#[test]
fn a_racy_equal_stat_is_verified_until_it_settles() {
    let source = ScriptedSource::new(session(5));
    let racy = checkpoint_of(&source, &session(5), RACY_WINDOW_NS - 1);
    assert!(!racy.settled);
    let mut probed = 0;
    let decision = decide(&source, &racy, RACY_WINDOW_NS, &mut probed).unwrap();
    let refreshed = Checkpoint {
        settled: true,
        ..racy
    };
    assert_eq!(decision, Decision::Unchanged { refreshed });
    assert!(probed > 0);
    // The same stat over another last record: a write within one tick of the clock.
    let mut changed = session(5);
    let last = changed.len() - 3;
    changed[last] = b'y';
    source.set_bytes(changed);
    let decision = decide(&source, &racy, RACY_WINDOW_NS, &mut probed).unwrap();
    assert_eq!(decision, rebuild(RebuildReason::BoundaryChanged));
}

#[test]
fn racy_bytes_that_no_print_covers_are_read_again() {
    let bytes = [&session(2)[..], b"{\"id\":\"par"].concat();
    let source = ScriptedSource::new(bytes.clone());
    let racy = checkpoint_of(&source, &bytes, 0);
    assert!(!racy.settled && racy.tail.is_none());
    assert_eq!(decision(&source, &racy), append_to(&racy));
}

#[test]
fn settling_needs_both_times_and_trusts_neither_end_of_time() {
    let at = |mtime_ns, ctime_ns| Observation {
        device: 1,
        inode: 1,
        size: 1,
        mtime_ns,
        ctime_ns,
    };
    let now = 10 * RACY_WINDOW_NS;
    let safe = now - RACY_WINDOW_NS;
    assert!(settled(&at(safe, safe), now));
    assert!(settled(&at(-5, safe), now));
    assert!(!settled(&at(safe + 1, safe), now));
    assert!(!settled(&at(safe, safe + 1), now));
    assert!(!settled(&at(i64::MAX, i64::MAX), now));
    assert!(!settled(&at(i64::MIN, safe), now));
    assert!(!settled(&at(safe, safe), i64::MIN));
}

#[test]
fn times_that_jump_decide_nothing_alone() {
    for time in [i64::MIN, -1, 0, i64::MAX] {
        let (source, mut checkpoint) = scripted(&session(3));
        checkpoint.observation.mtime_ns = 5;
        let at = |source: &ScriptedSource| Observation {
            mtime_ns: time,
            ..source.observe().unwrap()
        };
        source.set_observation(at(&source));
        let answer = decision(&source, &checkpoint);
        assert_eq!(answer, rebuild(RebuildReason::Rewritten));
        source.set_bytes(session(4));
        assert_eq!(decision(&source, &checkpoint), append_to(&checkpoint));
        source.set_bytes(session(2));
        let answer = decision(&source, &checkpoint);
        assert_eq!(answer, rebuild(RebuildReason::Truncated));
    }
}

#[test]
fn a_tail_stays_published_while_its_bytes_stand() {
    let tail = b"{\"id\":\"tail\"}";
    let bytes = [&session(2)[..], tail].concat();
    let (source, checkpoint) = scripted(&bytes);
    assert!(checkpoint.tail.is_some());
    for more in ["\n", "\n{\"id\":\"n\"}\n", "{\"id\":\"glued\"}\n", " "] {
        write(&source, [&bytes[..], more.as_bytes()].concat());
        assert_eq!(
            decision(&source, &checkpoint),
            append_to(&checkpoint),
            "{more}"
        );
    }
    let other = [&session(2)[..], b"{\"id\":\"liar\"}\n"].concat();
    write(&source, other);
    assert_eq!(
        decision(&source, &checkpoint),
        rebuild(RebuildReason::TailChanged)
    );
    write(&source, &bytes[..bytes.len() - 1]);
    assert_eq!(
        decision(&source, &checkpoint),
        rebuild(RebuildReason::Truncated)
    );
}

#[test]
fn an_unterminated_header_alone_can_grow() {
    let (source, checkpoint) = scripted(HEADER);
    assert_eq!(
        (checkpoint.complete_offset, checkpoint.complete_lines),
        (0, 0)
    );
    write(&source, session(1));
    let from_start = Decision::Append {
        from: 0,
        first_line: 1,
    };
    assert_eq!(decision(&source, &checkpoint), from_start);
    write(&source, session(1).to_ascii_uppercase());
    assert_eq!(
        decision(&source, &checkpoint),
        rebuild(RebuildReason::HeaderChanged)
    );
}

#[test]
fn blank_lines_may_follow_the_boundary() {
    let bytes = [&session(2)[..], b"\n \t\r\n", &[b'\n'; 9_000]].concat();
    let (source, checkpoint) = scripted(&bytes);
    write(&source, [&bytes[..], b"{}\n"].concat());
    assert_eq!(decision(&source, &checkpoint), append_to(&checkpoint));
}

#[test]
fn a_cut_partial_record_costs_no_rebuild() {
    let bytes = [&session(2)[..], b"{\"id\":\"par"].concat();
    let (source, checkpoint) = scripted(&bytes);
    write(&source, session(2));
    assert_eq!(decision(&source, &checkpoint), append_to(&checkpoint));
}

#[test]
fn a_source_that_fails_gives_an_error_and_no_decision() {
    let (source, checkpoint) = scripted(&session(2));
    write(&source, session(3));
    let source = source.at_call(1, Action::Fail(5));
    let error = decide(&source, &checkpoint, LATER, &mut 0).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io);
}

#[test]
fn a_file_cut_between_stat_and_probe_is_rebuilt() {
    let (source, checkpoint) = scripted(&session(2));
    write(&source, session(3));
    let source = source.at_call(1, Action::Swap(HEADER.to_vec()));
    assert_eq!(
        decision(&source, &checkpoint),
        rebuild(RebuildReason::BoundaryChanged)
    );
}

#[test]
fn reasons_have_distinct_names() {
    use RebuildReason as R;
    let names = [
        (R::Replaced, "replaced"),
        (R::Truncated, "truncated"),
        (R::HeaderChanged, "header-changed"),
        (R::BoundaryChanged, "boundary-changed"),
        (R::TailChanged, "tail-changed"),
        (R::Rewritten, "rewritten"),
        (R::CheckpointInvalid, "checkpoint-invalid"),
        (R::Requested, "requested"),
    ];
    for (reason, name) in names {
        assert_eq!(reason.as_str(), name);
    }
}

proptest! {
    #[test]
    fn an_append_is_found_whatever_the_cut(cut in any::<prop::sample::Index>()) {
        let whole = session(6);
        let least = HEADER.len();
        let cut = least + cut.index(whole.len() - least);
        let (source, checkpoint) = scripted(&whole[..cut]);
        write(&source, whole.clone());
        prop_assert_eq!(decision(&source, &checkpoint), append_to(&checkpoint));
    }
}
