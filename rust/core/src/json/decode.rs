//! From the source bytes of a string to its text.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// UTF-8 as a lossy decoder reads it: each maximal invalid part becomes U+FFFD and sets `lossy_utf8`.
pub(super) fn lossy<'a>(body: &'a [u8], lossy_utf8: &mut bool) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(body) {
        return Cow::Borrowed(text);
    }
    *lossy_utf8 = true;
    String::from_utf8_lossy(body)
}

/// Resolves the escapes between the quotes of a string whose grammar was checked. Borrowed when there
/// are none. Lone surrogates become U+FFFD and set `repaired`.
pub(super) fn unescape<'a>(text: &'a str, repaired: &mut bool) -> Cow<'a, str> {
    let Some(first) = memchr(b'\\', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        rest = unescape_one(&rest[at + 1..], &mut out, repaired);
        next = memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether valid JSON holds an escaped lone surrogate, in whichever string or key of it.
pub(crate) fn has_lone_surrogate(json: &str) -> bool {
    let mut escapes = memmem::find_iter(json.as_bytes(), b"\\u");
    if !escapes.any(|at| json[at + 2..].starts_with(['d', 'D'])) {
        return false; // nearly always, and found out at memory speed
    }
    let mut repaired = false;
    let mut rest = json;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        rest = unescape_one(&rest[at + 1..], &mut String::new(), &mut repaired);
    }
    repaired
}

/// Resolves what stands behind one backslash and gives the text behind it.
fn unescape_one<'a>(text: &'a str, out: &mut String, repaired: &mut bool) -> &'a str {
    let mut chars = text.chars();
    let plain = match chars.next() {
        Some('u') => {
            let (decoded, behind) = unicode_escape(chars.as_str());
            *repaired |= decoded.is_none();
            out.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
            return behind;
        }
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some(itself) => itself,
        None => return "",
    };
    out.push(plain);
    chars.as_str()
}

/// Decodes what stands behind `\u`, together with a second escape when both form a surrogate pair.
/// Gives the text behind; `None` for a lone surrogate.
fn unicode_escape(rest: &str) -> (Option<char>, &str) {
    let (unit, behind) = hex_unit(rest);
    if !(0xD800..0xDC00).contains(&unit) {
        return (char::from_u32(unit), behind);
    }
    if let Some(second) = behind.strip_prefix("\\u") {
        let (low, after) = hex_unit(second);
        if (0xDC00..0xE000).contains(&low) {
            let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            return (char::from_u32(code), after);
        }
    }
    (None, behind)
}

fn hex_unit(text: &str) -> (u32, &str) {
    let (digits, behind) = text.split_at_checked(4).unwrap_or((text, ""));
    let unit = u32::from_str_radix(digits, 16).unwrap_or(0xFFFD);
    (unit, behind)
}
