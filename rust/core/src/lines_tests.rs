use std::io;

use proptest::prelude::*;

use super::*;
use crate::source::{Action, Observation, ScriptedSource};

/// A line that outlives its reader.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    start: u64,
    end: u64,
    number: u64,
    terminated: bool,
    bytes: Vec<u8>,
    oversized: bool,
}

impl From<Line<'_>> for Owned {
    fn from(line: Line<'_>) -> Self {
        Self {
            start: line.start,
            end: line.end,
            number: line.number,
            terminated: line.terminated,
            bytes: line.bytes.to_vec(),
            oversized: line.oversized,
        }
    }
}

fn collect<S: Source>(reader: &mut LineReader<'_, S>) -> Result<Vec<Owned>> {
    let mut lines = Vec::new();
    while let Some(line) = reader.next()? {
        lines.push(Owned::from(line));
    }
    Ok(lines)
}

fn lines_of(bytes: &[u8], chunk: usize, limit: u64) -> Vec<Owned> {
    let source = ScriptedSource::new(bytes);
    let mut reader = LineReader::new(&source, 0, bytes.len() as u64, 1).with_limits(chunk, limit);
    collect(&mut reader).unwrap()
}

/// The definition, without buffers: what lies between line feeds.
fn oracle(bytes: &[u8], limit: u64) -> Vec<Owned> {
    let pieces: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
    let mut lines = Vec::new();
    let mut start = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let terminated = index + 1 < pieces.len();
        if !terminated && piece.is_empty() {
            break;
        }
        let oversized = piece.len() as u64 > limit;
        let head = usize::try_from(limit).unwrap().min(OVERSIZED_HEAD);
        lines.push(Owned {
            start,
            end: start + piece.len() as u64,
            number: index as u64 + 1,
            terminated,
            bytes: if oversized { &piece[..head] } else { piece }.to_vec(),
            oversized,
        });
        start += piece.len() as u64 + 1;
    }
    lines
}

#[test]
fn only_line_feeds_end_lines() {
    let text = "a\u{2028}b\u{85}c\u{c}d\r\n\rx\n";
    let lines = lines_of(text.as_bytes(), 3, 100);
    let parts: Vec<&[u8]> = lines.iter().map(|l| l.bytes.as_slice()).collect();
    assert_eq!(
        parts,
        ["a\u{2028}b\u{85}c\u{c}d\r".as_bytes(), b"\rx".as_slice()]
    );
}

#[test]
fn degenerate_files() {
    assert_eq!(lines_of(b"", 1, 9), []);
    let newlines = lines_of(b"\n\n\n", 2, 9);
    assert_eq!(newlines.len(), 3);
    assert!(newlines.iter().all(|l| l.terminated && l.start == l.end));
    let spaces = lines_of(b"  ", 1, 9);
    assert_eq!(spaces.len(), 1);
    assert!(!spaces[0].terminated);
}

#[test]
fn blank_means_json_white_space_only() {
    let source = ScriptedSource::new("\n \t\r\n\u{2003}\nx\n");
    let mut reader = LineReader::new(&source, 0, source.observe().unwrap().size, 1);
    let mut blank = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        blank.push(line.is_blank());
    }
    assert_eq!(blank, [true, true, false, false]);
}

#[test]
fn every_cut_then_the_rest_equals_one_read() {
    let file = "{\"a\":\"\u{e9}\u{1f600}\"}\r\n\n{\"b\":1}\nnot json\n{\"c\":[\n]}tail".as_bytes();
    let whole = oracle(file, 100);
    for cut in 0..=file.len() {
        for chunk in [1, 2, 7, 64] {
            let source = ScriptedSource::new(file);
            let mut first = LineReader::new(&source, 0, cut as u64, 1).with_limits(chunk, 100);
            let mut lines = collect(&mut first).unwrap();
            assert_eq!(lines, oracle(&file[..cut], 100), "cut {cut} chunk {chunk}");
            // As a checkpoint does: go on from the last complete line.
            lines.retain(|line| line.terminated);
            let from = lines.last().map_or(0, |line| line.end + 1);
            let number = lines.len() as u64 + 1;
            let mut second =
                LineReader::new(&source, from, file.len() as u64, number).with_limits(chunk, 100);
            lines.extend(collect(&mut second).unwrap());
            assert_eq!(lines, whole, "cut {cut} chunk {chunk}");
        }
    }
}

#[test]
fn the_limit_is_exact() {
    for (length, oversized) in [(9, false), (10, false), (11, true)] {
        let mut file = vec![b'x'; length];
        file.extend_from_slice(b"\nnext\n");
        for chunk in [1, 4, 10, 11, 12, 100] {
            let lines = lines_of(&file, chunk, 10);
            assert_eq!(lines[0].oversized, oversized, "{length} {chunk}");
            assert_eq!(lines[0].bytes.len(), length.min(10));
            assert_eq!(lines[0].end, length as u64);
            assert_eq!(lines[1].bytes, b"next");
        }
    }
}

#[test]
fn bytes_behind_the_observed_size_are_not_read() {
    let source = ScriptedSource::new(*b"one\ntwo\nthree\n");
    let mut reader = LineReader::new(&source, 0, 6, 1);
    let lines = collect(&mut reader).unwrap();
    assert_eq!(lines, oracle(b"one\ntw", 100));
    assert_eq!((reader.bytes(), source.bytes_read()), (6, 6));
}

#[test]
fn an_empty_or_inverted_range_has_no_lines() {
    let source = ScriptedSource::new(*b"one\n");
    for (from, to) in [(4, 4), (9, 4), (u64::MAX, 0)] {
        let mut reader = LineReader::new(&source, from, to, u64::MAX);
        assert_eq!(reader.next().unwrap(), None);
    }
    assert_eq!(source.calls(), 0);
}

#[test]
fn a_line_inside_one_chunk_is_not_copied() {
    let source = ScriptedSource::new(*b"one\ntwo\nthree");
    let mut reader = LineReader::new(&source, 0, 13, 1);
    assert_eq!(collect(&mut reader).unwrap().len(), 3);
    assert_eq!(reader.spanning.bytes.capacity(), 0);
}

#[test]
fn a_file_that_became_shorter_is_reported() {
    let source = ScriptedSource::new(*b"one\ntw");
    let mut reader = LineReader::new(&source, 0, 9, 1).with_limits(3, 9);
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"one");
    let error = reader.next().unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::SourceChanged, 6));
}

#[test]
fn after_a_read_error_the_line_begins_anew() {
    let source = ScriptedSource::new(*b"one\ntwo\n").at_call(2, Action::Fail(5));
    let mut reader = LineReader::new(&source, 0, 8, 1).with_limits(3, 9);
    assert_eq!(reader.next().unwrap().unwrap().bytes, b"one");
    let error = reader.next().unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::Io, 6));
    let line = Owned::from(reader.next().unwrap().unwrap());
    assert_eq!(line, oracle(b"one\ntwo\n", 9)[1]);
    assert_eq!(reader.next().unwrap(), None);
}

/// `length` times `x`, then LFs without end, without holding any of it.
struct Huge {
    length: u64,
}

impl Source for Huge {
    fn observe(&self) -> io::Result<Observation> {
        unimplemented!("lines never ask")
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        buf.fill(b'x');
        let newline = self.length.saturating_sub(offset);
        if let Ok(at) = usize::try_from(newline)
            && at < buf.len()
        {
            buf[at..].fill(b'\n');
        }
        Ok(buf.len())
    }
}

#[test]
fn an_oversized_line_costs_bounded_memory_and_leaves_its_head() {
    let length = RECORD_LIMIT + (50 << 20);
    let source = Huge { length };
    let mut reader = LineReader::new(&source, 0, length + 2, 1);
    let line = reader.next().unwrap().unwrap();
    assert!(line.oversized && line.terminated);
    assert_eq!((line.start, line.end), (0, length));
    assert_eq!(line.bytes.len(), OVERSIZED_HEAD);
    let held = reader.spanning.bytes.capacity() + reader.buffer.capacity();
    assert!(held <= CHUNK + OVERSIZED_HEAD, "{held}");
    assert_eq!(reader.next().unwrap().unwrap().start, length + 1);
    assert_eq!(reader.next().unwrap(), None);
    assert_eq!(reader.bytes(), length + 2);
}

#[test]
fn a_collected_line_never_reserves_more_than_the_limit() {
    let mut spanning = Spanning::new(1000);
    let mut most = 0;
    for _ in 0..100 {
        spanning.push(&[b'x'; 10]);
        most = most.max(spanning.bytes.capacity());
    }
    assert_eq!(spanning.bytes.len(), 1000);
    assert_eq!(most, 1000);
    spanning.push(b"y");
    assert!(spanning.oversized);
    assert_eq!(spanning.bytes.len(), 1000);
}

#[test]
fn a_long_line_releases_its_memory() {
    let source = Huge { length: 3 << 20 };
    let mut reader = LineReader::new(&source, 0, (3 << 20) + 2, 1);
    assert_eq!(reader.next().unwrap().unwrap().bytes.len(), 3 << 20);
    reader.next().unwrap();
    assert!(reader.spanning.bytes.capacity() <= CHUNK);
}

proptest! {
    #[test]
    fn any_chunking_gives_the_lines_of_a_split(
        bytes in prop::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), Just(0xc3), any::<u8>()], 0..120),
        chunk in 1usize..40,
        limit in 0u64..30,
        limits in prop::collection::vec(1usize..9, 0..5),
        interrupts in prop::collection::vec(0u64..60, 0..6),
    ) {
        let mut source = ScriptedSource::new(bytes.clone()).with_limits(limits);
        for call in interrupts {
            source = source.at_call(call, Action::Interrupt);
        }
        let mut reader = LineReader::new(&source, 0, bytes.len() as u64, 1)
            .with_limits(chunk, limit);
        prop_assert_eq!(collect(&mut reader).unwrap(), oracle(&bytes, limit));
        prop_assert_eq!(reader.bytes(), bytes.len() as u64);
        prop_assert_eq!(source.bytes_read(), bytes.len() as u64);
    }
}
