//! From the source bytes of a string to its text.

use std::borrow::Cow;

/// UTF-8 as a lossy decoder reads it: each maximal invalid part becomes U+FFFD and sets `lossy`.
pub(super) fn lossy<'a>(body: &'a [u8], lossy: &mut bool) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(body);
    // Borrowed text is the input itself, so nothing had to be replaced.
    *lossy |= matches!(text, Cow::Owned(_));
    text
}

/// Resolves the escapes of a string that the scanner has validated. Lone surrogates become U+FFFD and set `repaired`.
pub(super) fn unescape(text: &str, repaired: &mut bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let mut chars = rest.chars();
        match chars.next() {
            Some('u') => {
                let (decoded, behind) = unicode_escape(chars.as_str());
                *repaired |= decoded.is_none();
                out.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
                rest = behind;
                continue;
            }
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some(itself) => out.push(itself),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
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
