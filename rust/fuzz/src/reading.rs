//! One reading of a session file in memory, as plain facts.

use pi_event_search_core::checkpoint::Checkpoint;
use pi_event_search_core::error::ErrorKind;
use pi_event_search_core::session::{Plan, Record, SessionReader, read_record};
use pi_event_search_core::source::{Observation, ScriptedSource};

/// Long after every time of a file here, so that times can prove something.
pub const LATER: i64 = i64::MAX - 1;

/// What a reading gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What the reader decided to do.
    pub plan: Plan,
    /// Format version of the header, where one was read.
    pub version: Option<i64>,
    /// The records in append order.
    pub records: Vec<Seen>,
    /// Receipts with their places, sorted: what they tell does not depend on their order.
    pub receipts: Vec<(String, u64)>,
    /// Where the next reading goes on.
    pub checkpoint: Checkpoint,
}

/// What can be told of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// First byte, the byte behind the last one, and the line.
    pub place: (u64, u64, u64),
    /// Id, type, and what was said of them.
    pub names: (Option<String>, String, bool, bool),
    /// Hashes of the record as it stands and as a copy would have it.
    pub hashes: (i64, i64),
    /// Texts with their kinds.
    pub texts: Vec<(u8, u32, String)>,
}

impl Seen {
    fn of(record: &Record) -> Self {
        let event = &record.event;
        Self {
            place: (record.byte_start, record.byte_end, record.line),
            names: (
                event.id.clone(),
                event.entry_type.clone(),
                record.detached,
                record.idless,
            ),
            hashes: (record.record_hash, event.copy_hash),
            texts: event
                .fragments
                .iter()
                .map(|f| (f.kind.code(), f.n, f.text.clone()))
                .collect(),
        }
    }
}

/// A file in memory: `age` tells its states apart, as the times of a real file do.
pub fn file(bytes: &[u8], age: i64) -> ScriptedSource {
    let source = ScriptedSource::new(bytes);
    source.set_observation(Observation {
        device: 1,
        inode: 1,
        size: 0,
        mtime_ns: age,
        ctime_ns: age,
    });
    source
}

/// Reads a file to its end; `None` when it is no session.
pub fn read(
    source: ScriptedSource,
    known: Option<(Checkpoint, i64)>,
    budget: u64,
) -> Option<Reading> {
    let mut reader = match SessionReader::open(source, known, LATER) {
        Ok(reader) => reader,
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::NotASession, "{error}");
            return None;
        }
    };
    let (mut records, mut receipts) = (Vec::new(), Vec::new());
    while let Some(batch) = reader.next_batch(budget).expect("memory can be read") {
        records.extend(batch.records.iter().map(Seen::of));
        receipts.extend(
            batch
                .receipts
                .iter()
                .map(|(receipt, at)| (receipt.as_str().to_owned(), *at)),
        );
    }
    receipts.sort();
    let checkpoint = reader.checkpoint(LATER).expect("nobody has touched it");
    Some(Reading {
        plan: reader.plan(),
        version: reader.header().map(|header| header.version),
        records,
        receipts,
        checkpoint,
    })
}

/// Each record lies in the file where it says, behind the one before, and can be read again.
pub fn check_places(bytes: &[u8], reading: &Reading) {
    let source = ScriptedSource::new(bytes);
    let (mut end, mut line) = (0, 0);
    for seen in &reading.records {
        let (start, stop, number) = seen.place;
        assert!(end <= start && start < stop && stop <= bytes.len() as u64);
        assert!(line <= number);
        (end, line) = (stop, number);
        let again = read_record(&source, start, stop, seen.hashes.0)
            .expect("memory can be read")
            .expect("the record is still there");
        assert_eq!(again.event.copy_hash, seen.hashes.1);
        // In a file of version 1 an id has no meaning.
        if again.event.id.is_some() && reading.version.is_none_or(|version| version > 1) {
            assert_eq!(again.event.id, seen.names.0);
        }
    }
}
