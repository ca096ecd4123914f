//! Bytes as a record, a header and a line: never a panic, and the verdict of the standard.

use std::collections::HashMap;

use pi_event_search_core::entry::{parse_header, split_line};
use pi_event_search_core::json::Reader;
use pi_event_search_core::project::{Event, project, project_oversized};

use super::input::Input;
use super::naive_json;

/// Bytes of an id that are kept.
const LONGEST_ID: usize = 512;

/// Orders: how much of the record was kept of an oversized one.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let kept = input.number(input.content.len());
    let bytes = input.content;
    if let Some(verdict) = naive_json::is_json(bytes) {
        assert_eq!(
            Reader::is_json(bytes),
            verdict,
            "the standard has another verdict"
        );
    }
    let projected = project(bytes);
    assert_eq!(projected.is_ok(), Reader::is_json(bytes));
    if let Ok(event) = projected {
        check(&event);
        let again = project(bytes).expect("it was a record before");
        assert_eq!(again.copy_hash, event.copy_hash);
        assert_eq!(again.fragments.len(), event.fragments.len());
    }
    check(&project_oversized(&bytes[..kept]));
    if let Some(header) = parse_header(bytes) {
        assert!(!header.id.is_empty());
        assert!(Reader::is_json(bytes));
    }
    check_line(bytes);
}

fn check(event: &Event) {
    assert!(event.id.as_ref().is_none_or(|id| id.len() <= LONGEST_ID));
    let mut counts = HashMap::new();
    for fragment in &event.fragments {
        let next = counts.entry(fragment.kind.code()).or_insert(0);
        assert_eq!(fragment.n, *next, "fragments of a kind are counted from 0");
        *next += 1;
    }
}

/// What stands on a line: pieces in order, each a record that ends where it says.
fn check_line(bytes: &[u8]) {
    if bytes.contains(&b'\n') {
        return;
    }
    let (pieces, _) = split_line(bytes);
    let mut end = 0;
    for piece in &pieces {
        assert!(end <= piece.start && piece.start < piece.end && piece.end <= bytes.len());
        end = piece.end;
        assert!(Reader::is_json(&bytes[piece.start..piece.end]));
    }
}
