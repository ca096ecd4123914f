use super::*;
use crate::source::ScriptedSource;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#;
/// Long after every time that a scripted source reports.
const NOW: i64 = i64::MAX;

fn entry(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"text of {id}"}}}}"#
    )
}

fn file(lines: &[&str]) -> Vec<u8> {
    let mut bytes = lines.join("\n").into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Ids and receipts of one reading, and the checkpoint it ends with.
fn read(bytes: &[u8], known: Option<Checkpoint>) -> (Plan, Vec<String>, Vec<Receipt>, Checkpoint) {
    read_with(bytes, known, 1)
}

fn read_with(
    bytes: &[u8],
    known: Option<Checkpoint>,
    budget: u64,
) -> (Plan, Vec<String>, Vec<Receipt>, Checkpoint) {
    let source = ScriptedSource::new(bytes);
    let mut reader =
        SessionReader::open(source, known.map(|known| (known, 3)), NOW).expect("a session");
    let (mut ids, mut receipts) = (Vec::new(), Vec::new());
    while let Some(batch) = reader.next_batch(budget).expect("readable") {
        ids.extend(batch.records.iter().filter_map(|r| r.event.id.clone()));
        receipts.extend(batch.receipts.iter().map(|(receipt, _)| *receipt));
    }
    let checkpoint = reader.checkpoint(NOW).expect("unchanged");
    (reader.plan(), ids, receipts, checkpoint)
}

#[test]
fn a_whole_file_gives_its_entries_in_order_whatever_the_batches() {
    let bytes = file(&[HEADER, &entry("a", ""), &entry("b", "a"), &entry("c", "b")]);
    for budget in [1, 100, 1 << 20] {
        let (plan, ids, receipts, checkpoint) = read_with(&bytes, None, budget);
        assert_eq!(plan, Plan::Fresh);
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(receipts, []);
        assert_eq!(checkpoint.complete_offset, bytes.len() as u64);
        assert_eq!((checkpoint.complete_lines, checkpoint.entries), (4, 3));
    }
}

#[test]
fn cut_anywhere_and_completed_later_gives_the_same_entries() {
    let bytes = file(&[HEADER, &entry("a", ""), "", "{\"type\":", &entry("b", "a")]);
    let header_end = HEADER.len();
    let whole = read(&bytes, None);
    for cut in header_end..bytes.len() {
        let (_, mut ids, mut receipts, checkpoint) = read(&bytes[..cut], None);
        let (plan, more, later, end) = read(&bytes, Some(checkpoint));
        assert_eq!(plan, Plan::Append, "cut at {cut}");
        ids.extend(more);
        receipts.extend(later);
        assert_eq!((&ids, &receipts), (&whole.1, &whole.2), "cut at {cut}");
        assert_eq!(end.complete_offset, whole.3.complete_offset, "cut at {cut}");
        assert_eq!(end.entries, whole.3.entries, "cut at {cut}");
    }
}

#[test]
fn a_complete_record_without_line_feed_is_published_once() {
    let mut bytes = file(&[HEADER]);
    bytes.extend(entry("a", "").bytes());
    let (_, ids, _, checkpoint) = read(&bytes, None);
    assert_eq!(ids, ["a"]);
    assert_eq!(checkpoint.complete_offset, HEADER.len() as u64 + 1);
    assert_eq!(checkpoint.entries, 1);

    bytes.push(b'\n');
    bytes.extend(entry("b", "a").bytes());
    bytes.push(b'\n');
    let (plan, ids, _, _) = read(&bytes, Some(checkpoint));
    assert_eq!((plan, ids), (Plan::Append, vec!["b".to_owned()]));
}

#[test]
fn something_glued_to_a_published_tail_starts_the_file_over() {
    let mut bytes = file(&[HEADER]);
    bytes.extend(entry("a", "").bytes());
    let (.., checkpoint) = read(&bytes, None);
    bytes.extend(entry("b", "a").bytes());
    bytes.push(b'\n');
    let (plan, ids, receipts, _) = read(&bytes, Some(checkpoint));
    assert_eq!(plan, Plan::Rebuild(RebuildReason::TailChanged));
    assert_eq!(ids, ["a", "b"]);
    assert!(receipts.contains(&Receipt::Glued));
}

#[test]
fn a_header_alone_without_line_feed_is_a_session_that_can_grow() {
    let (_, ids, _, checkpoint) = read(HEADER.as_bytes(), None);
    assert_eq!((ids.len(), checkpoint.complete_offset), (0, 0));
    let bytes = file(&[HEADER, &entry("a", "")]);
    let (plan, ids, _, _) = read(&bytes, Some(checkpoint));
    assert_eq!((plan, ids), (Plan::Append, vec!["a".to_owned()]));
}

#[test]
fn an_append_reads_only_the_new_bytes() {
    let mut bytes = file(&[HEADER, &entry("a", "")]);
    let (.., checkpoint) = read(&bytes, None);
    let added = entry("b", "a") + "\n";
    bytes.extend(added.bytes());
    let mut reader = SessionReader::open(
        ScriptedSource::new(bytes.as_slice()),
        Some((checkpoint, 3)),
        NOW,
    )
    .expect("open");
    while reader.next_batch(1 << 20).expect("readable").is_some() {}
    assert_eq!(reader.bytes_read(), added.len() as u64);
    assert!(reader.probed_bytes() <= 64 << 10);
}

#[test]
fn version_1_entries_get_ids_and_parents_by_position() {
    let header = r#"{"type":"session","id":"old","cwd":"/w"}"#;
    let first = r#"{"type":"message","message":{"role":"user","content":"one"}}"#;
    let kept = r#"{"type":"compaction","summary":"sum","firstKeptEntryIndex":1}"#;
    let bytes = file(&[header, first, kept]);
    let mut reader =
        SessionReader::open(ScriptedSource::new(bytes.as_slice()), None, NOW).expect("open");
    let batch = reader
        .next_batch(1 << 20)
        .expect("readable")
        .expect("entries");
    let [one, two] = batch.records.as_slice() else {
        panic!("two entries")
    };
    assert_eq!(two.event.parent_id, one.event.id);
    let names = &two.event.relationships[0].reference;
    assert_eq!(Some(names), one.event.id.as_ref());
    assert!(batch.receipts.is_empty() && !one.idless);
}

#[test]
fn version_1_ids_and_links_do_not_survive() {
    let bytes = file(&[
        "",
        r#"{"type":"session","id":"old","cwd":"/w"}"#,
        r#"{"type":"message","id":"a","parentId":"z","message":{"role":"hookMessage","content":"one"}}"#,
        "null",
        r#"{"type":"session","id":"other"}"#,
        r#"{"type":"message","message":{"role":"user","content":"two"}}"#,
        r#"x{"type":"message","timestamp":"t","id":"c"}"#,
        r#"{"type":"compaction","id":"k","firstKeptEntryId":"a","firstKeptEntryIndex":3}"#,
        r#"{"type":"compaction","firstKeptEntryId":"a","firstKeptEntryIndex":2}"#,
    ]);
    let mut reader = SessionReader::open(ScriptedSource::new(bytes), None, NOW).expect("open");
    let batch = reader.next_batch(1 << 20).expect("readable").expect("a");
    let links: Vec<_> = batch
        .records
        .iter()
        .map(|record| {
            let event = &record.event;
            let kept = event.relationships.first().map(|edge| &edge.reference);
            (event.id.clone(), event.parent_id.clone(), kept.cloned())
        })
        .collect();
    let id = |at: usize| links[at].0.clone();
    assert!(
        [0, 1, 3, 4]
            .iter()
            .all(|&at| id(at).is_some_and(|id| id.starts_with('~')))
    );
    assert_eq!(id(2).as_deref(), Some("c"), "it stands outside the list");
    let parents: Vec<_> = links.iter().map(|link| link.1.clone()).collect();
    assert_eq!(parents, [None, id(0), None, id(1), id(3)]);
    assert_eq!(links[3].2, id(1), "headers count, dropped lines do not");
    assert_eq!(links[4].2, None, "a header is nothing to keep");
    assert_eq!(batch.records[0].event.role.as_deref(), Some("custom"));
}

#[test]
fn what_stands_before_the_header_is_read_too() {
    let glued = format!("{{\"type\":\"mes{}", entry("a", ""));
    let bytes = file(&["\u{feff}", &glued, "null", HEADER, &entry("b", "")]);
    for budget in [1, 1 << 20] {
        let (_, ids, receipts, checkpoint) = read_with(&bytes, None, budget);
        assert_eq!(ids, ["a", "b"]);
        let expected = [
            Receipt::Bom,
            Receipt::Torn,
            Receipt::Glued,
            Receipt::NonObject,
        ];
        assert_eq!(receipts, expected);
        assert_eq!(checkpoint.complete_lines, 5);
    }
}

#[test]
fn a_mark_inside_the_file_detaches_its_record() {
    let marked = format!("\u{feff}{}", entry("a", ""));
    let bytes = file(&[HEADER, &marked]);
    let mut reader = SessionReader::open(ScriptedSource::new(bytes), None, NOW).expect("open");
    let batch = reader.next_batch(1 << 20).expect("readable").expect("a");
    assert!(batch.records[0].detached);
    assert_eq!(batch.records[0].byte_start, HEADER.len() as u64 + 4);
}

#[test]
fn white_space_around_a_record_is_not_part_of_it() {
    let plain = file(&[HEADER, &entry("a", "")]);
    let padded = file(&[HEADER, &format!("{} \t\r", entry("a", ""))]);
    let record = |bytes: Vec<u8>| {
        let mut reader = SessionReader::open(ScriptedSource::new(bytes), None, NOW).expect("open");
        let batch = reader.next_batch(1 << 20).expect("readable");
        let record = batch.expect("a").records.pop().expect("one");
        (record.byte_start, record.byte_end, record.record_hash)
    };
    assert_eq!(record(plain), record(padded));
}

#[test]
fn what_is_no_session_is_refused() {
    for bytes in [
        &b""[..],
        b"\n\n",
        b"{\"type\":\"message\"}\n",
        b"[1]\n",
        b"garbage only\n",
    ] {
        let error = SessionReader::open(ScriptedSource::new(bytes), None, NOW).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotASession);
    }
}

#[test]
fn garbage_before_the_header_leaves_receipts() {
    let bytes = file(&["torn {", HEADER, &entry("a", "")]);
    let (_, ids, receipts, _) = read(&bytes, None);
    assert_eq!((ids.len(), receipts), (1, vec![Receipt::Malformed]));
}

#[test]
fn a_record_is_read_again_only_as_it_was() {
    let bytes = file(&[HEADER, &entry("a", "")]);
    let mut reader =
        SessionReader::open(ScriptedSource::new(bytes.as_slice()), None, NOW).expect("open");
    let batch = reader
        .next_batch(1 << 20)
        .expect("readable")
        .expect("entries");
    let known = &batch.records[0];
    let again = |source: &ScriptedSource| {
        read_record(source, known.byte_start, known.byte_end, known.record_hash).expect("readable")
    };
    let source = ScriptedSource::new(bytes.as_slice());
    assert_eq!(again(&source).expect("the record").event, known.event);
    let mut changed = bytes.clone();
    let at = usize::try_from(known.byte_end).expect("small") - 4;
    changed[at] ^= 1;
    assert!(again(&ScriptedSource::new(changed)).is_none());
}

#[test]
fn the_first_record_that_changed_is_found_among_many() {
    let bytes = file(&[HEADER, &entry("a", ""), &entry("b", "a"), &entry("c", "b")]);
    let source = ScriptedSource::new(bytes.as_slice());
    let mut reader = SessionReader::open(source, None, NOW).expect("open");
    let batch = reader.next_batch(1 << 20).expect("readable");
    let ranges: Vec<_> = batch
        .expect("entries")
        .records
        .iter()
        .map(|record| (record.byte_start, record.byte_end, record.record_hash))
        .collect();
    let first = |bytes: &[u8]| first_changed(&ScriptedSource::new(bytes), &ranges).expect("read");
    assert_eq!(first(&bytes), None);
    for (number, (start, end, _)) in ranges.iter().enumerate() {
        for at in *start..*end {
            let mut changed = bytes.clone();
            changed[usize::try_from(at).expect("small")] ^= 1;
            assert_eq!(first(&changed), Some(number));
        }
        let cut = usize::try_from(*end - 1).expect("small");
        assert_eq!(first(&bytes[..cut]), Some(number));
    }
}
