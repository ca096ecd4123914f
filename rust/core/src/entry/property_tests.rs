use proptest::prelude::*;

use super::*;
use crate::project::{project, project_oversized};

/// Lines made of the stuff that broken lines are made of.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let record = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[{"type":"text","text":"x \ud83d \n y"},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls","n":[1,{}]}}]}}"#;
    let part = prop_oneof![
        Just(record.as_bytes().to_vec()),
        Just(br#"{"type":"label","id":"l","targetId":"a"}"#.to_vec()),
        (0..record.len()).prop_map(move |cut| record.as_bytes()[..cut].to_vec()),
        (0..record.len()).prop_map(move |cut| record.as_bytes()[cut..].to_vec()),
        prop::collection::vec(any::<u8>(), 0..8),
        Just(vec![0; 5]),
        Just(b" \t\r".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn pieces_stay_inside_the_line_in_order_and_are_json(line in line()) {
        let (pieces, receipts) = split_line(&line);
        let mut from = 0;
        for piece in &pieces {
            prop_assert!(from <= piece.start && piece.start < piece.end && piece.end <= line.len());
            prop_assert!(Reader::is_json(&line[piece.start..piece.end]));
            prop_assert!(project(&line[piece.start..piece.end]).is_ok());
            from = piece.end;
        }
        // Whatever is no record is accounted for.
        let covered: usize = pieces.iter().map(|p| p.end - p.start).sum();
        let text = String::from_utf8_lossy(&line);
        let solid = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').count();
        prop_assert!(covered > 0 || solid == 0 || !receipts.is_empty());
        let glued = receipts.iter().filter(|r| **r == Receipt::Glued).count();
        prop_assert_eq!(glued, pieces.iter().filter(|p| p.detached).count());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(line in line(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6)) {
        let mut line = line;
        for (at, byte) in edits {
            if !line.is_empty() {
                let at = at.index(line.len());
                line[at] = byte;
            }
        }
        let _ = split_line(&line);
        let _ = parse_header(&line);
        let oversized = project_oversized(&line);
        prop_assert!(oversized.fragments.is_empty());
        prop_assert_eq!(oversized.receipts[0], Receipt::Oversized);
        let _ = project(&line);
    }
}
