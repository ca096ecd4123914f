//! A session file, read whole, in pieces, and after it has grown: always the same records.

use pi_event_search_core::session::Plan;

use super::input::Input;
use super::reading::{Reading, check_places, file, read};

/// Orders: a read limit, a budget, then points at which the file was looked at before.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let limit = usize::from(input.byte()) + 1;
    let budget = u64::from(input.byte()) + 1;
    let bytes = input.content;
    let whole = read(file(bytes, 0), None, u64::MAX);
    assert_eq!(
        whole,
        read(file(bytes, 0).with_limits(vec![limit, 1, 7]), None, budget),
        "short reads and small budgets"
    );
    if let Some(whole) = &whole {
        check_places(bytes, whole);
        check_checkpoint(bytes, whole);
    }
    while input.has_more() {
        let cut = input.number(bytes.len());
        grow(bytes, cut, whole.as_ref());
    }
}

/// The checkpoint stands behind the last line feed, and counts all of them.
fn check_checkpoint(bytes: &[u8], whole: &Reading) {
    let checkpoint = &whole.checkpoint;
    let complete = bytes
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |at| at + 1) as u64;
    let lines = bytes.split(|b| *b == b'\n').count() as u64 - 1;
    assert!(checkpoint.complete_offset <= complete);
    if checkpoint.complete_offset > 0 {
        assert_eq!(checkpoint.complete_offset, complete);
        assert_eq!(checkpoint.complete_lines, lines);
    }
    assert_eq!(checkpoint.entries, whole.records.len() as u64);
    if let Some(tail) = &checkpoint.tail {
        assert!(tail.offset + tail.length <= bytes.len() as u64);
    }
}

/// The file was first seen when it had `cut` bytes.
fn grow(bytes: &[u8], cut: usize, whole: Option<&Reading>) {
    let Some(first) = read(file(&bytes[..cut], 0), None, u64::MAX) else {
        return;
    };
    let version = first.version.expect("a whole reading has a header");
    let known = Some((first.checkpoint, version));
    let second = read(file(bytes, 1), known, u64::MAX);
    let (Some(second), Some(whole)) = (second, whole) else {
        panic!("a session stays one while it grows");
    };
    let (records, receipts) = match second.plan {
        Plan::Append => {
            let mut receipts = [first.receipts, second.receipts].concat();
            receipts.sort();
            ([first.records, second.records].concat(), receipts)
        }
        Plan::Rebuild(_) => (second.records, second.receipts),
        Plan::Unchanged => {
            assert_eq!(cut, bytes.len());
            (first.records, first.receipts)
        }
        Plan::Fresh => panic!("there was a checkpoint"),
    };
    assert_eq!(records, whole.records, "grown from {cut}");
    assert_eq!(receipts, whole.receipts, "grown from {cut}");
    let (now, wanted) = (&second.checkpoint, &whole.checkpoint);
    assert_eq!(
        (now.complete_offset, now.complete_lines, now.entries),
        (
            wanted.complete_offset,
            wanted.complete_lines,
            wanted.entries
        )
    );
    assert_eq!(now.tail, wanted.tail);
    assert_eq!(now.boundary, wanted.boundary);
    assert_eq!(now.header, wanted.header);
}
