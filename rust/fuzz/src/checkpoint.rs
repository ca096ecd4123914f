//! A checkpoint against a file that is another one, or against itself after damage: what is
//! decided must be true as far as it was looked at, and looking must stay cheap.

use pi_event_search_core::checkpoint::{Checkpoint, Decision, decide};
use pi_event_search_core::session::SessionReader;

use super::input::Input;
use super::reading::{LATER, file, read};

/// What may be read at most to verify a checkpoint.
const PROBE_LIMIT: u64 = 64 << 10;

/// Orders: what happens to the file, then what happens to the checkpoint.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let before = input.content;
    let Some(reading) = read(file(before, 0), None, u64::MAX) else {
        return;
    };
    let mut after = before.to_vec();
    for _ in 0..input.byte() % 4 {
        change(&mut after, &mut input);
    }
    check(before, &after, &reading.checkpoint);
    let mut damaged = reading.checkpoint;
    while input.has_more() {
        damage(&mut damaged, &mut input);
    }
    survive(&after, &damaged);
}

fn change(bytes: &mut Vec<u8>, input: &mut Input<'_>) {
    let at = input.number(bytes.len());
    match input.byte() % 6 {
        0 => bytes.truncate(at),
        1 => bytes.extend_from_within(at..),
        2 => bytes.extend_from_slice(b"{\"type\":\"message\",\"id\":\"new\"}\n"),
        3 => bytes.rotate_left(at),
        4 => bytes.insert(at, input.byte()),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= input.byte() | 1;
            }
        }
    }
}

/// The decision about an honest checkpoint.
fn check(before: &[u8], after: &[u8], checkpoint: &Checkpoint) {
    let source = file(after, 1);
    let mut probed = 0;
    let decision = decide(&source, checkpoint, LATER, &mut probed).expect("memory can be read");
    assert!(probed <= PROBE_LIMIT, "{probed} bytes were looked at");
    assert_eq!(probed, source.bytes_read());
    if matches!(decision, Decision::Rebuild(_)) {
        return;
    }
    let complete = usize::try_from(checkpoint.complete_offset).expect("it lies in memory");
    assert!(after.len() >= complete, "a file that shrank");
    for (offset, length) in [
        (checkpoint.header.offset, checkpoint.header.length),
        (checkpoint.boundary.offset, checkpoint.boundary.length),
    ] {
        let start = usize::try_from(offset).expect("it lies in memory");
        let end = start + usize::try_from(length).expect("it lies in memory");
        if length <= 512 {
            assert_eq!(
                before[start..end],
                after[start..end],
                "a record that was looked at"
            );
        }
    }
    assert!(
        before.len() != after.len() || !matches!(decision, Decision::Unchanged { .. }),
        "written to, with another time and the old size"
    );
}

fn damage(checkpoint: &mut Checkpoint, input: &mut Input<'_>) {
    let value = match input.byte() % 4 {
        0 => u64::from(input.byte()),
        1 => u64::MAX - u64::from(input.byte()),
        2 => 1 << (input.byte() % 64),
        _ => input.number(1 << 12) as u64,
    };
    match input.byte() % 12 {
        0 => checkpoint.complete_offset = value,
        1 => checkpoint.complete_lines = value,
        2 => checkpoint.entries = value,
        3 => checkpoint.header.offset = value,
        4 => checkpoint.header.length = value,
        5 => checkpoint.boundary.offset = value,
        6 => checkpoint.boundary.length = value,
        7 => checkpoint.observation.size = value,
        8 => checkpoint.tail = Some(checkpoint.boundary),
        9 => checkpoint.boundary.hash[0] ^= 1,
        10 => checkpoint.settled = !checkpoint.settled,
        _ => checkpoint.tail = None,
    }
}

/// A damaged checkpoint costs at most a reading; it is never believed beyond the file's end.
fn survive(bytes: &[u8], checkpoint: &Checkpoint) {
    for version in [1, 3] {
        let known = Some((*checkpoint, version));
        let Ok(mut reader) = SessionReader::open(file(bytes, 1), known, LATER) else {
            continue;
        };
        while let Ok(Some(batch)) = reader.next_batch(64) {
            for record in &batch.records {
                assert!(record.byte_end <= bytes.len() as u64);
            }
        }
        assert!(reader.bytes_read() <= 2 * bytes.len() as u64);
    }
}
