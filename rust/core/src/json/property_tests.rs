use proptest::prelude::*;

use super::*;

/// One element of a string literal: source text and the text it stands for.
fn piece() -> impl Strategy<Value = (String, String)> {
    let plain = any::<char>().prop_map(|c| match c {
        '"' | '\\' | '\0'..='\u{1f}' => (format!("\\u{:04x}", u32::from(c)), c.to_string()),
        _ => (c.to_string(), c.to_string()),
    });
    let escaped = any::<char>().prop_map(|c| {
        let mut units = [0; 2];
        let units = c.encode_utf16(&mut units).iter();
        let source: Vec<_> = units.map(|u| format!("\\u{u:04X}")).collect();
        (source.concat(), c.to_string())
    });
    let short = prop::sample::select(vec![
        ("\\n", "\n"),
        ("\\t", "\t"),
        ("\\/", "/"),
        ("\\\"", "\""),
        ("\\\\", "\\"),
        ("\\b", "\u{8}"),
    ]);
    prop_oneof![6 => plain, 1 => escaped, 1 => short.prop_map(|(a, b)| (a.into(), b.into()))]
}

fn literal() -> impl Strategy<Value = (String, String)> {
    prop::collection::vec(piece(), 0..20).prop_map(|pieces| {
        let (source, text): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
        (format!("\"{}\"", source.concat()), text.concat())
    })
}

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", " ", "\n", "\t \r"])
}

/// The source text of any JSON value.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(String::from),
        "-?(0|[1-9][0-9]{0,18})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?",
        literal().prop_map(|(source, _)| source),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        let members = prop::collection::vec((literal(), inner.clone(), space()), 0..5);
        let object = (members, space()).prop_map(|(members, pad)| {
            let members: Vec<_> = members
                .into_iter()
                .map(|(k, v, s)| format!("{s}{}{s}:{s}{v}{s}", k.0))
                .collect();
            format!("{{{pad}{}}}", members.join(","))
        });
        let array =
            (prop::collection::vec((inner, space()), 0..5), space()).prop_map(|(items, pad)| {
                let items: Vec<_> = items
                    .into_iter()
                    .map(|(v, s)| format!("{s}{v}{s}"))
                    .collect();
                format!("[{pad}{}]", items.join(","))
            });
        prop_oneof![object, array]
    })
}

/// The grammar written down once more, naively and recursively: the model for small inputs.
fn model(bytes: &[u8], at: usize) -> Option<usize> {
    let space = |mut at: usize| {
        while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            at += 1;
        }
        at
    };
    let at = space(at);
    match bytes.get(at)? {
        b'"' => model_string(bytes, at),
        open @ (b'{' | b'[') => {
            let object = *open == b'{';
            let close = if object { b'}' } else { b']' };
            let mut at = space(at + 1);
            if bytes.get(at) == Some(&close) {
                return Some(at + 1);
            }
            loop {
                if object {
                    at = space(model_string(bytes, space(at))?);
                    at = (bytes.get(at) == Some(&b':')).then_some(at + 1)?;
                }
                at = space(model(bytes, at)?);
                match *bytes.get(at)? {
                    b',' => at += 1,
                    b if b == close => return Some(at + 1),
                    _ => return None,
                }
            }
        }
        _ => {
            let word = |w: &str| {
                bytes[at..]
                    .starts_with(w.as_bytes())
                    .then_some(at + w.len())
            };
            word("null")
                .or_else(|| word("true"))
                .or_else(|| word("false"))
                .or_else(|| model_number(bytes, at))
        }
    }
}

fn model_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = (bytes.get(at) == Some(&b'"')).then_some(at + 1)?;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            0..=0x1f => return None,
            b'\\' if *bytes.get(at + 1)? == b'u' => {
                let digits = bytes.get(at + 2..at + 6)?;
                at = digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 6)?;
            }
            b'\\' => {
                at = b"\"\\/bfnrt"
                    .contains(bytes.get(at + 1)?)
                    .then_some(at + 2)?;
            }
            _ => at += 1,
        }
    }
}

fn model_number(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = |at: usize| {
        at + bytes
            .get(at..)
            .map_or(0, |b| b.iter().take_while(|b| b.is_ascii_digit()).count())
    };
    let mut at = if bytes.get(at) == Some(&b'-') {
        at + 1
    } else {
        at
    };
    let whole = digits(at);
    let end = if bytes.get(at) == Some(&b'0') {
        at + 1
    } else {
        whole
    };
    at = (whole > at).then_some(end)?;
    if bytes.get(at) == Some(&b'.') {
        let end = digits(at + 1);
        at = (end > at + 1).then_some(end)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let from = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(from);
        at = (end > from).then_some(end)?;
    }
    Some(at)
}

proptest! {
    #[test]
    fn skipping_consumes_exactly_one_value(text in value(), tail in "[ ,x\\]}]{0,3}") {
        let joined = format!("{text}{tail}");
        let mut reader = Reader::new(joined.as_bytes());
        prop_assert_eq!(reader.skip_value(), Ok(()));
        // Only a number could swallow part of the tail, and the tail holds none of its characters.
        prop_assert_eq!(reader.position(), text.len());
    }

    #[test]
    fn literals_decode_to_their_text((source, text) in literal()) {
        let mut reader = Reader::new(source.as_bytes());
        prop_assert_eq!(reader.string().unwrap(), text);
        prop_assert_eq!(reader.finish(), Ok(()));
        prop_assert!(!reader.lossy_utf8() && !reader.repaired_surrogate());
    }

    #[test]
    fn mutated_bytes_get_the_verdict_of_the_model(
        text in value(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = text.into_bytes();
        for (at, byte) in edits {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let mut reader = Reader::new(&bytes);
        let end = reader.skip_value().ok().map(|()| reader.position());
        prop_assert_eq!(end, model(&bytes, 0));
    }

    #[test]
    fn json_like_noise_gets_the_verdict_of_the_model(text in "[{}\\[\\]\",:\\\\u0-9eE.+\\-tfnal \n\0]{0,24}") {
        let mut reader = Reader::new(text.as_bytes());
        let end = reader.skip_value().ok().map(|()| reader.position());
        prop_assert_eq!(end, model(text.as_bytes(), 0));
    }
}
