use super::*;

fn pieces(line: &[u8]) -> (Vec<(&str, bool)>, Vec<Receipt>) {
    let (pieces, receipts) = split_line(line);
    let text = |p: &Piece| std::str::from_utf8(&line[p.start..p.end]).unwrap();
    (
        pieces.iter().map(|p| (text(p), p.detached)).collect(),
        receipts,
    )
}

const A: &str =
    r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}"#;
const B: &str = r#"{"type":"custom","id":"b","timestamp":"2026-01-01T00:00:00Z"}"#;

#[test]
fn a_header_is_read_whole() {
    let text = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-10T15:23:02.688Z","cwd":"/w/a b","parentSession":"/old.jsonl","extra":[1]}"#;
    let header = parse_header(text.as_bytes()).unwrap();
    let expected = Header {
        id: "s1".into(),
        version: 3,
        timestamp: Some("2026-01-10T15:23:02.688Z".into()),
        timestamp_ms: Some(1_768_058_582_688),
        cwd: "/w/a b".into(),
        parent_session: Some("/old.jsonl".into()),
    };
    assert_eq!(header, expected);
}

#[test]
fn a_header_needs_only_its_type_and_an_id() {
    let header =
        parse_header(br#" {"id":"x.y_z-1","cwd":null,"version":null,"type":"session"} "#).unwrap();
    assert_eq!(
        (header.id.as_str(), header.version, header.cwd.as_str()),
        ("x.y_z-1", 1, "")
    );
    assert_eq!(
        (header.timestamp, header.timestamp_ms, header.parent_session),
        (None, None, None)
    );
    let last_wins =
        parse_header(br#"{"type":"x","id":1,"id":"b","type":"session","version":9.7}"#).unwrap();
    assert_eq!((last_wins.id.as_str(), last_wins.version), ("b", 3));
    let padding = "p".repeat(100_000);
    let large = format!(r#"{{"type":"session","cwd":"/{padding}","id":"s"}}"#);
    assert_eq!(parse_header(large.as_bytes()).unwrap().cwd.len(), 100_001);
}

#[test]
fn a_version_is_what_javascript_compares() {
    let versions = [
        ("1", 1),
        ("0", 1),
        ("-3", 1),
        ("1.9", 1),
        ("2", 2),
        ("2.5", 2),
        ("3", 3),
        ("9", 3),
        ("1e400", 3),
        ("null", 1),
        ("true", 1),
        ("false", 1),
        (r#""2""#, 2),
        (r#"" 2.0\ufeff""#, 2),
        (r#""3""#, 3),
        (r#""""#, 1),
        (r#""two""#, 3),
        (r#""nan""#, 3),
        (r#""inf""#, 3),
        ("{}", 3),
    ];
    for (text, version) in versions {
        let header = format!(r#"{{"type":"session","id":"a","version":{text}}}"#);
        let header = parse_header(header.as_bytes()).unwrap();
        assert_eq!(header.version, version, "{text}");
    }
}

#[test]
fn other_values_are_no_header() {
    let others = [
        r#"{"type":"message","id":"a"}"#,
        r#"{"type":"session","id":""}"#,
        r#"{"type":"session","id":7}"#,
        r#"{"type":"session"}"#,
        r#"{"type":"session","id":"a"}x"#,
        r#"{"type":"session","id":"a""#,
        r#"["session"]"#,
        "",
    ];
    for text in others {
        assert_eq!(parse_header(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn a_normal_line_is_one_piece_without_its_margins() {
    assert_eq!(pieces(A.as_bytes()), (vec![(A, false)], vec![]));
    assert_eq!(
        pieces(format!(" \t{A}\r").as_bytes()),
        (vec![(A, false)], vec![])
    );
    for value in ["null", "42", "\"text\"", "[1]", "{}"] {
        assert_eq!(pieces(value.as_bytes()), (vec![(value, false)], vec![]));
    }
}

#[test]
fn blank_lines_leave_nothing() {
    for line in [
        "",
        " ",
        "\r",
        "\t \r",
        "\u{a0}",
        "\u{2028}\u{feff}\u{c}\u{b}",
    ] {
        assert_eq!(pieces(line.as_bytes()), (vec![], vec![]), "{line:?}");
    }
}

#[test]
fn raw_separators_inside_strings_are_no_ends() {
    let text = "{\"type\":\"label\",\"label\":\"\u{2028}\u{2029}\u{85}\"}";
    assert_eq!(pieces(text.as_bytes()), (vec![(text, false)], vec![]));
    // A raw form feed is a control character, which `JSON.parse` refuses in a string.
    assert_eq!(
        pieces(b"{\"a\":\"\x0c\"}"),
        (vec![], vec![Receipt::Malformed])
    );
}

#[test]
fn a_torn_record_yields_to_the_whole_one_behind_it() {
    for cut in 1..A.len() {
        let line = format!("{}{B}", &A[..cut]);
        assert_eq!(
            pieces(line.as_bytes()),
            (vec![(B, true)], vec![Receipt::Torn, Receipt::Glued]),
            "{cut}"
        );
    }
}

#[test]
fn whole_records_on_one_line_are_all_recovered() {
    let both = format!("{A}{B}");
    assert_eq!(
        pieces(both.as_bytes()),
        (vec![(A, true), (B, true)], vec![Receipt::Glued; 2])
    );
    let spaced = format!(" {A} \t{B} {A}\r");
    assert_eq!(
        pieces(spaced.as_bytes()).0,
        [(A, true), (B, true), (A, true)]
    );
    let then_torn = format!("{A}{}", &B[..20]);
    assert_eq!(
        pieces(then_torn.as_bytes()),
        (vec![(A, true)], vec![Receipt::Glued, Receipt::Malformed])
    );
}

#[test]
fn a_record_with_garbage_behind_it_is_malformed_as_pi_says() {
    for line in [
        format!("{A}x"),
        format!("{A},"),
        format!("{A}]"),
        A[..50].to_owned(),
        "not json".into(),
        "{}{}".into(),
    ] {
        assert_eq!(
            pieces(line.as_bytes()),
            (vec![], vec![Receipt::Malformed]),
            "{line}"
        );
    }
}

#[test]
fn a_block_inside_a_torn_record_is_no_record() {
    let block = r#"{"type":"toolCall","id":"call_1","name":"read","arguments":{}}"#;
    let torn =
        format!(r#"{{"type":"message","id":"a","message":{{"role":"assistant","content":[{block}"#);
    let alone = pieces(torn.as_bytes());
    assert_eq!(alone, (vec![], vec![Receipt::Malformed]));
    let glued = format!("{torn}{B}");
    assert_eq!(
        pieces(glued.as_bytes()),
        (vec![(B, true)], vec![Receipt::Torn, Receipt::Glued])
    );
    let many = format!("{torn}{}{B}", format!(",{block}").repeat(500));
    assert_eq!(pieces(many.as_bytes()).0, [(B, true)]);
}

#[test]
fn byte_order_marks_and_nul_holes_are_told_apart() {
    let marked = format!("\u{feff}{A}");
    assert_eq!(
        pieces(marked.as_bytes()),
        (vec![(A, true)], vec![Receipt::Bom, Receipt::Glued])
    );
    assert_eq!(
        pieces("\u{feff}x".as_bytes()),
        (vec![], vec![Receipt::Bom, Receipt::Malformed])
    );
    assert_eq!(pieces(&[0; 4096]), (vec![], vec![Receipt::NulFilled]));
    let hole = format!("{}{A}", "\0".repeat(100));
    assert_eq!(
        pieces(hole.as_bytes()),
        (vec![(A, true)], vec![Receipt::NulFilled, Receipt::Glued])
    );
    let utf16: Vec<u8> = A.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(split_line(&utf16), (vec![], vec![Receipt::Malformed]));
}

#[test]
fn invalid_utf8_is_left_to_the_projection() {
    let line = b"{\"type\":\"label\",\"label\":\"\xff\"}";
    assert_eq!(
        split_line(line).0,
        [Piece {
            start: 0,
            end: line.len(),
            detached: false
        }]
    );
}

#[test]
fn hostile_lines_take_linear_time() {
    let open = r#"{"type":"#.repeat(100_000);
    assert_eq!(
        split_line(open.as_bytes()),
        (vec![], vec![Receipt::Malformed])
    );
    let closed = format!("{open}1{}", "}".repeat(100_001));
    assert_eq!(
        split_line(closed.as_bytes()),
        (vec![], vec![Receipt::Malformed])
    );
}

#[test]
fn receipts_have_distinct_names_and_say_what_is_lost() {
    let all = Receipt::ALL;
    let names: std::collections::HashSet<_> = all.iter().map(|r| r.as_str()).collect();
    assert_eq!(names.len(), all.len());
    let lost: Vec<_> = all.into_iter().filter(|r| r.loses_record()).collect();
    assert_eq!(
        lost,
        [
            Receipt::Malformed,
            Receipt::Oversized,
            Receipt::Torn,
            Receipt::NulFilled
        ]
    );
}
