use super::*;

/// The verdict on a whole text, as `JSON.parse` would give it.
fn verdict(text: &[u8]) -> Result<(), JsonError> {
    let mut reader = Reader::new(text);
    reader.skip_value()?;
    reader.finish()
}

fn refused_at(text: &str) -> usize {
    verdict(text.as_bytes()).expect_err(text).offset
}

fn decoded(text: &str) -> (String, bool, bool) {
    let mut reader = Reader::new(text.as_bytes());
    let out = reader.string().expect(text).into_owned();
    reader.finish().expect(text);
    (out, reader.lossy_utf8(), reader.repaired_surrogate())
}

/// Every verdict here is the one of `JSON.parse` in Node 20.
#[test]
fn accepts_what_json_parse_accepts() {
    let accepted = [
        "0",
        "-0",
        "0.0",
        "1e5",
        "1E+05",
        "1e-05",
        "-1.25e+300",
        "1e999",
        "null",
        "true",
        "false",
        "\"\"",
        " \t\r\n1\n",
        "[]",
        "{}",
        "[ ]",
        "{ }",
        "[[],{}]",
        r#"{"a":1,"a":2}"#,
        r#"{"":0}"#,
        r#"{"__proto__":null}"#,
        r#""\u0000""#,
        r#""\ud83d""#,
        r#""\udc00\ud83d""#,
        r#""\ud83d\ude00""#,
        r#""\"\\\/\b\f\n\r\t""#,
        "\"\u{2028}\u{2029}\u{85}\u{7f}\"",
        "\"\u{feff}\"",
    ];
    for text in accepted {
        assert_eq!(verdict(text.as_bytes()), Ok(()), "{text:?}");
    }
}

#[test]
fn refuses_what_json_parse_refuses_and_says_where() {
    let refused = [
        ("", 0),
        (" ", 1),
        ("-", 1),
        ("+1", 0),
        ("01", 1),
        ("-01", 2),
        (".5", 0),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+", 3),
        ("0x10", 1),
        ("1_000", 1),
        ("NaN", 0),
        ("Infinity", 0),
        ("-Infinity", 1),
        ("undefined", 0),
        ("nul", 0),
        ("nullx", 4),
        ("True", 0),
        ("'a'", 0),
        ("\"a", 2),
        ("\"a\nb\"", 2),
        ("\"\u{1f}\"", 1),
        ("\"\u{0}\"", 1),
        (r#""\x41""#, 2),
        (r#""\u12g4""#, 5),
        (r#""\u12"#, 5),
        ("\"\\", 2),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[1", 2),
        ("[1}", 2),
        ("]", 0),
        ("{\"a\":1,}", 7),
        ("{,}", 1),
        ("{a:1}", 1),
        ("{\"a\" 1}", 5),
        ("{\"a\":}", 5),
        ("{\"a\":1", 6),
        ("{\"a\":1]", 6),
        ("{\"a\"}", 4),
        ("{1:2}", 1),
        ("{} {}", 3),
        ("{}x", 2),
        ("1 2", 2),
        ("// c\n1", 0),
        ("[1]/**/", 3),
        ("\u{feff}{}", 0),
        ("\u{a0}1", 0),
        ("1\u{b}", 1),
        ("1\u{c}", 1),
        ("1\0", 1),
    ];
    for (text, offset) in refused {
        assert_eq!(refused_at(text), offset, "{text:?}");
    }
}

#[test]
fn control_characters_are_found_wherever_they_fall_in_a_word() {
    for length in 0..40 {
        for at in 0..length {
            for byte in 0..=255_u8 {
                let mut text = vec![b'x'; length];
                text[at] = byte;
                let text = [b"\"".as_slice(), &text, b"\""].concat();
                let accepted = verdict(&text).is_ok();
                assert_eq!(
                    accepted,
                    byte >= 0x20 && byte != b'"' && byte != b'\\',
                    "{byte} at {at} of {length}"
                );
            }
        }
    }
}

#[test]
fn depth_costs_no_stack_and_brackets_must_match() {
    for depth in [1, 63, 64, 65, 128, 129, 200, 100_000] {
        let mixed: String = (0..depth)
            .map(|i| if i % 3 == 0 { "{\"k\":" } else { "[" })
            .collect();
        let close: String = (0..depth)
            .rev()
            .map(|i| if i % 3 == 0 { '}' } else { ']' })
            .collect();
        let text = format!("{mixed}1{close}");
        assert_eq!(verdict(text.as_bytes()), Ok(()), "{depth}");
        assert_eq!(
            object_prefix(format!("{text}tail").as_bytes()),
            Some(text.len())
        );
        let wrong = format!("{mixed}1{}}}", &close[..close.len() - 1]);
        assert_eq!(
            verdict(wrong.as_bytes()).is_ok(),
            close.ends_with('}'),
            "{depth}"
        );
        assert_eq!(refused_at(&text[..text.len() - 1]), text.len() - 1);
    }
}

#[test]
fn numbers_may_be_of_any_length() {
    let digits = "7".repeat(5_000);
    let text = format!("-{digits}.{digits}e{digits}");
    let mut reader = Reader::new(text.as_bytes());
    assert_eq!(reader.number(), Ok(text.as_str()));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn strings_are_decoded_and_borrowed_when_unchanged() {
    assert_eq!(
        decoded(r#""\u0041\u00e9\u4e2d\"\\\/\b\f\n\r\t""#).0,
        "Aé中\"\\/\u{8}\u{c}\n\r\t"
    );
    assert_eq!(decoded(r#""\ud83d\ude00""#), ("😀".into(), false, false));
    assert_eq!(decoded(r#""a\u0000b""#), ("a\0b".into(), false, false));
    let mut reader = Reader::new("\"plain é\"".as_bytes());
    assert!(matches!(reader.string(), Ok(Cow::Borrowed("plain é"))));
}

#[test]
fn lone_surrogates_become_one_replacement_character_each() {
    assert_eq!(decoded(r#""a\ud83dz""#), ("a\u{fffd}z".into(), false, true));
    assert_eq!(decoded(r#""\udc00""#), ("\u{fffd}".into(), false, true));
    assert_eq!(
        decoded(r#""\ud83d\ud83d\ude00""#),
        ("\u{fffd}😀".into(), false, true)
    );
    assert_eq!(
        decoded(r#""\ude00\ud83d""#),
        ("\u{fffd}\u{fffd}".into(), false, true)
    );
    assert_eq!(decoded(r#""\ud83d\n""#), ("\u{fffd}\n".into(), false, true));
    assert_eq!(
        decoded(r#""\ud83d\u0041""#),
        ("\u{fffd}A".into(), false, true)
    );
}

#[test]
fn invalid_utf8_is_replaced_inside_strings_and_refused_outside() {
    let mut reader = Reader::new(b"\"a\xC3\\n\xE2\x82b\xFF\"");
    assert_eq!(
        reader.string().as_deref(),
        Ok("a\u{fffd}\n\u{fffd}b\u{fffd}")
    );
    assert!(reader.lossy_utf8());
    assert!(!reader.repaired_surrogate());
    assert_eq!(verdict(b"[\xFF]").map_err(|e| e.offset), Err(1));
    // A cut sequence takes only its own bytes, never the quote behind it.
    assert_eq!(
        Reader::new(b"\"\xF0\x9F\x98\"").string().as_deref(),
        Ok("\u{fffd}")
    );
}

#[test]
fn an_object_is_walked_key_by_key() {
    let text = r#" { "a" : [ 1 , {"x":null} , [ ] ] , "b":"t","c":{}, "d" : false } "#;
    let mut reader = Reader::new(text.as_bytes());
    reader.begin_object().unwrap();
    assert_eq!(reader.next_key().unwrap().as_deref(), Some("a"));
    assert_eq!(reader.peek(), Ok(ValueKind::Array));
    reader.begin_array().unwrap();
    assert!(reader.next_element().unwrap());
    assert_eq!(reader.number(), Ok("1"));
    assert!(reader.next_element().unwrap());
    reader.begin_object().unwrap();
    assert_eq!(reader.next_key().unwrap().as_deref(), Some("x"));
    reader.null().unwrap();
    assert_eq!(reader.next_key(), Ok(None));
    assert!(reader.next_element().unwrap());
    reader.begin_array().unwrap();
    assert!(!reader.next_element().unwrap());
    assert!(!reader.next_element().unwrap());
    assert_eq!(reader.next_key().unwrap().as_deref(), Some("b"));
    assert_eq!(reader.string().as_deref(), Ok("t"));
    assert_eq!(reader.next_key().unwrap().as_deref(), Some("c"));
    assert_eq!(reader.raw_value(), Ok(b"{}".as_slice()));
    assert_eq!(reader.next_key().unwrap().as_deref(), Some("d"));
    assert_eq!(reader.boolean(), Ok(false));
    assert_eq!(reader.next_key(), Ok(None));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn the_walk_refuses_what_the_scan_refuses() {
    let mut reader = Reader::new(b"[1,]");
    reader.begin_array().unwrap();
    assert!(reader.next_element().unwrap());
    reader.skip_value().unwrap();
    assert!(reader.next_element().unwrap());
    assert_eq!(reader.peek().map_err(|e| e.offset), Err(3));
    let mut reader = Reader::new(b"{,\"a\":1}");
    reader.begin_object().unwrap();
    assert_eq!(reader.next_key().map_err(|e| e.offset), Err(1));
    let mut reader = Reader::new(b"{}");
    assert_eq!(reader.begin_array().map_err(|e| e.offset), Err(0));
    assert_eq!(reader.string().map_err(|e| e.offset), Err(0));
    assert_eq!(reader.number().map_err(|e| e.offset), Err(0));
    assert_eq!(reader.boolean().map_err(|e| e.offset), Err(0));
    assert_eq!(reader.null().map_err(|e| e.offset), Err(0));
}

#[test]
fn errors_read_as_one_sentence() {
    let error = verdict(b"[1 2]").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a comma or a closing bracket at byte 3"
    );
}

#[test]
fn a_prefix_ends_with_its_object() {
    assert_eq!(object_prefix(b"{\"a\":{}}{\"b\""), Some(8));
    assert_eq!(object_prefix(b"{\"a\":{}"), None);
    assert_eq!(object_prefix(b"[1]"), None);
    assert_eq!(object_prefix(b" {}"), None);
    assert_eq!(object_prefix(b""), None);
}
