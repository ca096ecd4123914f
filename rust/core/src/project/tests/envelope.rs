use super::*;

#[test]
fn the_envelope_is_kept_as_recorded() {
    let e = event(
        r#"{"type":"label","id":"12345678","parentId":"1234e567","timestamp":"2026-01-10T15:23:02.688Z"}"#,
    );
    assert_eq!(
        (
            e.entry_type.as_str(),
            e.id.as_deref(),
            e.parent_id.as_deref()
        ),
        ("label", Some("12345678"), Some("1234e567"))
    );
    assert!(e.has_parent_id);
    assert_eq!(e.timestamp.as_deref(), Some("2026-01-10T15:23:02.688Z"));
    assert_eq!(e.timestamp_ms, Some(1_768_058_582_688));
    assert_eq!(e.receipts, []);
}

#[test]
fn roots_and_version_1_records_are_told_apart() {
    let root = event(r#"{"type":"custom","id":"a","parentId":null}"#);
    assert_eq!((root.parent_id, root.has_parent_id), (None, true));
    let v1 = event(r#"{"type":"custom"}"#);
    assert_eq!((v1.id, v1.parent_id, v1.has_parent_id), (None, None, false));
    let odd = event(r#"{"id":5,"parentId":7,"type":["x"],"timestamp":99}"#);
    assert_eq!(
        (odd.id, odd.parent_id.as_deref(), odd.entry_type.as_str()),
        (None, Some("~7"), "")
    );
    assert_eq!((odd.timestamp, odd.timestamp_ms), (None, None));
    assert_eq!(event(r#"{"id":"","parentId":""}"#).id, None);
}

#[test]
fn the_last_of_equal_keys_wins() {
    let e = event(
        r#"{"type":"x","type":"message","id":"a","id":"b","message":{"role":"assistant","content":"no"},"message":{"role":"system","role":"user","content":"no","content":[{"type":"image","type":"text","text":"no","text":"yes"}]}}"#,
    );
    assert_eq!(
        (e.entry_type.as_str(), e.id.as_deref()),
        ("message", Some("b"))
    );
    assert_eq!(texts(&e), [("user.text:0".into(), "yes")]);
    assert!(
        event(r#"{"type":"message","message":{"role":"user","content":"x"},"message":7}"#)
            .fragments
            .is_empty()
    );
}

#[test]
fn timestamps_are_read_as_iso_8601() {
    let ms = |text: &str| parse_timestamp(text);
    assert_eq!(ms("1970-01-01T00:00:00.001Z"), Some(1));
    assert_eq!(ms("1970-01-01T01:00:00+01:00"), Some(0));
    assert_eq!(ms("1969-12-31T23:59:59.999Z"), Some(-1));
    assert_eq!(ms("1970-01-01T00:00:01"), Some(1_000));
    assert_eq!(ms("1970-01-02"), Some(86_400_000));
    for bad in [
        "",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "1768058582688",
        "99999-01-01T00:00:00Z",
    ] {
        assert_eq!(ms(bad), None, "{bad}");
    }
}

#[test]
fn times_are_written_as_pi_writes_them() {
    for text in ["2026-01-05T09:00:00.000Z", "1969-12-31T23:59:59.999Z"] {
        assert_eq!(
            parse_timestamp(text).map(canonical_timestamp).as_deref(),
            Some(text)
        );
    }
    assert_eq!(canonical_timestamp(i64::MAX), "");
}

#[test]
fn long_ids_are_shortened_and_stay_distinct() {
    let long = |last: &str| "é".repeat(300) + last;
    let record = |id: &str| {
        event(&format!(
            r#"{{"id":"{id}","parentId":"{id}","type":"label","targetId":"{id}"}}"#
        ))
    };
    let (a, b) = (record(&long("a")), record(&long("b")));
    let id = a.id.as_deref().unwrap();
    assert_eq!(id.len(), 448 + 1 + 32);
    assert!(id.starts_with(&"é".repeat(224)));
    assert_ne!(a.id, b.id);
    assert_eq!(
        (
            a.parent_id.as_deref(),
            a.relationships[0].reference.as_str()
        ),
        (Some(id), id)
    );
    assert_eq!(a.receipts, [Receipt::LongId]);
    let fits = "x".repeat(512);
    assert_eq!(record(&fits).id.as_deref(), Some(fits.as_str()));
    assert_eq!(record(&fits).receipts, []);
    assert_eq!(record(&"x".repeat(70_000)).id.map(|id| id.len()), Some(481));
}

#[test]
fn broken_text_is_repaired_with_a_receipt() {
    let e = message(r#"{"role":"user","content":"cut \ud83d here"}"#);
    assert_eq!(texts(&e), [("user.text:0".into(), "cut \u{fffd} here")]);
    assert_eq!(e.receipts, [Receipt::RepairedSurrogate]);
    // As with invalid UTF-8, what counts is the record: also where its text is not kept.
    for content in [r#""\ud83d""#, r#"[{"\uDC00":1}]"#, r#""\uD83D\u0041""#] {
        let record = format!(r#"{{"role":"system","content":{content}}}"#);
        assert_eq!(message(&record).receipts, [Receipt::RepairedSurrogate]);
    }
    for whole in [
        r"\ud83e\udd80",
        r"\\ud83d",
        r"\u0041 ud83d",
        r"\\\ud83e\udd80",
    ] {
        let record = format!(r#"{{"role":"user","content":"{whole}"}}"#);
        assert_eq!(message(&record).receipts, [], "{whole}");
    }
    let bytes = b"{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"a\xffb\\u0000c\"}}";
    let e = project(bytes).unwrap();
    assert_eq!(texts(&e), [("user.text:0".into(), "a\u{fffd}b\0c")]);
    assert_eq!(
        (e.id.as_deref(), e.receipts.as_slice()),
        (Some("a"), [Receipt::InvalidUtf8].as_slice())
    );
}

#[test]
fn values_that_are_no_objects_are_events_without_anything() {
    for text in [
        "42",
        "\"x\"",
        "[{\"type\":\"message\",\"id\":\"a\"}]",
        "null",
    ] {
        let e = event(text);
        assert_eq!(e.receipts, [Receipt::NonObject]);
        assert_eq!(
            (e.id, e.entry_type.as_str(), e.fragments.len()),
            (None, "", 0)
        );
    }
}

#[test]
fn only_json_is_refused() {
    let refused = [
        "",
        "{",
        "{}x",
        "\u{feff}{}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "{'a':1}",
    ];
    for text in refused {
        assert!(project(text.as_bytes()).is_err(), "{text}");
    }
    let error = project(b"{\"a\":1 \"b\":2}").unwrap_err();
    assert_eq!(error.offset, 7);
    let deep = format!(
        "{{\"type\":\"x\",\"data\":{}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(event(&deep).entry_type, "x");
    let number = format!(
        r#"{{"type":"compaction","tokensBefore":{}}}"#,
        "9".repeat(5_000)
    );
    assert_eq!(attribute(&event(&number), "tokensBefore"), None);
}

#[test]
fn copies_of_a_record_have_equal_hashes() {
    let hash = |parent: &str, kept: &str, summary: &str| {
        event(&format!(r#"{{"type":"compaction","id":"c","parentId":{parent},"summary":"{summary}","firstKeptEntryId":{kept}}}"#)).copy_hash
    };
    let first = hash("\"a\"", "\"b\"", "s");
    assert_eq!(first, hash("null", "\"other\"", "s"));
    assert_ne!(first, hash("\"a\"", "\"b\"", "t"));
    let without = r#"{"type":"compaction","id":"c","parentId":,"summary":"s","firstKeptEntryId":}"#;
    assert_eq!(first, record_hash(without.as_bytes()));
    let ended = format!("{without} \r\n")
        .replace(":,", ":null,")
        .replace(":}", ":null}");
    assert_eq!(first, event(&ended).copy_hash);
    // A nested key of that name is content.
    let nested = |id: &str| {
        event(&format!(
            r#"{{"type":"custom","data":{{"parentId":"{id}"}}}}"#
        ))
        .copy_hash
    };
    assert_ne!(nested("a"), nested("b"));
}

#[test]
fn attributes_are_bounded_scalars() {
    let long = "é".repeat(2_000);
    let e = event(&format!(
        r#"{{"type":"usage","kind":"{long}","note":null,"provider":["x"],"model":"a","model":"m","usage":{{"kind":"no"}},"name":1e3,"label":-0.5,"display":true,"tokensBefore":1e999}}"#
    ));
    let expected = [
        ("kind", Scalar::Text("é".repeat(1_000))),
        ("model", Scalar::Text("m".into())),
        ("name", Scalar::Integer(1_000)),
        ("label", Scalar::Float(-0.5)),
        ("display", Scalar::Bool(true)),
    ];
    assert_eq!(
        e.attributes,
        expected.map(|(name, value)| (name.to_owned(), value))
    );
}

#[test]
fn an_oversized_head_keeps_what_stands_before_the_cut() {
    let head = r#"{"type":"message","id":"a","parentId":"p","timestamp":"1970-01-01T00:00:00Z","message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"xxxxxx"#;
    let e = project_oversized(head.as_bytes());
    assert_eq!(
        (e.id.as_deref(), e.parent_id.as_deref(), e.timestamp_ms),
        (Some("a"), Some("p"), Some(0))
    );
    assert_eq!(
        (e.entry_type.as_str(), e.role.as_deref(), e.contribution),
        ("message", Some("toolResult"), Contribution::Message)
    );
    assert_eq!(e.result_of.as_deref(), Some("c"));
    assert_eq!(
        (e.fragments.len(), e.receipts.as_slice()),
        (0, [Receipt::Oversized].as_slice())
    );
    for cut in 0..head.len() {
        assert!(
            project_oversized(&head.as_bytes()[..cut])
                .fragments
                .is_empty()
        );
    }
    let name = project_oversized(br#"{"type":"session_info","name":"n","data":""#);
    assert_eq!(
        (
            name.entry_type.as_str(),
            name.session_name,
            name.fragments.len()
        ),
        ("session_info", None, 0)
    );
    assert_eq!(
        project_oversized(b"\xff\xfe").receipts,
        [Receipt::Oversized]
    );
}

#[test]
fn stored_numbers_and_names_of_kinds_are_fixed() {
    let names = [
        "user.text",
        "assistant.text",
        "tool.call",
        "tool.result",
        "bash.command",
        "bash.output",
        "summary.compaction",
        "summary.branch",
        "custom.message",
        "session.name",
    ];
    for (code, name) in (0_u8..).zip(names) {
        let kind = Kind::from_code(code).unwrap();
        assert_eq!((kind.code(), kind.as_str()), (code, name));
    }
    assert_eq!(Kind::from_code(10), None);
    let omissions = Omission::ALL.map(Omission::as_str);
    assert_eq!(
        omissions,
        ["thinking", "image", "details", "system", "custom-state"]
    );
}
