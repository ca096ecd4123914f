//! From the source text of one validated value to a Rust value.

use std::borrow::Cow;

use super::event::Scalar;
use crate::boundary::fingerprint;
use crate::json::{Reader, ValueKind, decode_string};

/// Longest attribute, name or type kept, in code points.
const SCALAR_LIMIT: usize = 1_000;
/// Longest id kept whole, in bytes. Longer ones would not fit an index term.
const ID_LIMIT: usize = 512;
/// What is kept of a longer id in front of its fingerprint, in bytes.
const ID_HEAD: usize = 448;

/// The text of a string; `None` for any other value and for none at all.
pub(super) fn text(raw: Option<&str>) -> Option<Cow<'_, str>> {
    decode_string(raw?)
}

/// Like [`text`], without empty strings.
pub(super) fn some_text(raw: Option<&str>) -> Option<Cow<'_, str>> {
    text(raw).filter(|text| !text.is_empty())
}

/// A name or type of at most 1000 code points.
pub(super) fn name(raw: Option<&str>) -> Option<String> {
    text(raw).map(|text| cut(&text).to_owned())
}

/// A non-empty id, shortened when it is long.
pub(super) fn id(raw: Option<&str>) -> Option<String> {
    some_text(raw).map(|id| bounded_id(&id).into_owned())
}

/// A scalar attribute; `None` for null, containers, and numbers beyond what a double holds.
pub(super) fn scalar(raw: &str) -> Option<Scalar> {
    match Reader::of_text(raw).peek().ok()? {
        ValueKind::String => name(Some(raw)).map(Scalar::Text),
        ValueKind::Number => number(raw),
        ValueKind::Bool => Some(Scalar::Bool(raw == "true")),
        ValueKind::Object | ValueKind::Array | ValueKind::Null => None,
    }
}

/// A number in the form JavaScript would print it: without a fraction when it has none.
pub(super) fn number(raw: &str) -> Option<Scalar> {
    let text = Reader::of_text(raw).number().ok()?;
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Scalar::Integer(whole));
    }
    let value = text.parse::<f64>().ok().filter(|v| v.is_finite())?;
    Some(whole_number(value).map_or(Scalar::Float(value), Scalar::Integer))
}

/// The integer a double stands for, when it stands for exactly one.
fn whole_number(value: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

/// Whether JavaScript takes a value for true. A missing one is false.
pub(super) fn truthy(raw: Option<&str>) -> bool {
    let Some(raw) = raw else { return false };
    match Reader::of_text(raw).peek() {
        Ok(ValueKind::Bool) => raw == "true",
        Ok(ValueKind::String) => raw.len() > 2,
        Ok(ValueKind::Number) => number(raw) != Some(Scalar::Integer(0)),
        Ok(ValueKind::Object | ValueKind::Array) => true,
        Ok(ValueKind::Null) | Err(_) => false,
    }
}

/// Whether a value is there and not null.
pub(super) fn present(raw: Option<&str>) -> bool {
    raw.is_some_and(|raw| raw != "null")
}

/// The first 1000 code points.
pub(super) fn cut(text: &str) -> &str {
    if text.len() <= SCALAR_LIMIT {
        return text;
    }
    let end = text.char_indices().nth(SCALAR_LIMIT).map(|(at, _)| at);
    &text[..end.unwrap_or(text.len())]
}

/// An id short enough for every index: unchanged up to 512 bytes, otherwise its head and its fingerprint.
pub(super) fn bounded_id(id: &str) -> Cow<'_, str> {
    if id.len() <= ID_LIMIT {
        return Cow::Borrowed(id);
    }
    let mut end = ID_HEAD;
    while !id.is_char_boundary(end) {
        end -= 1;
    }
    let head = &id[..end];
    let print = u128::from_be_bytes(fingerprint(&[id.as_bytes()]));
    Cow::Owned(format!("{head}~{print:032x}"))
}

/// Milliseconds since 1970 of an ISO 8601 timestamp. One without an offset is read as UTC, so that
/// the answer does not depend on the machine.
pub(crate) fn parse_timestamp(text: &str) -> Option<i64> {
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Some(instant.as_millisecond());
    }
    let civil = text.parse::<jiff::civil::DateTime>().ok()?;
    let instant = jiff::tz::Offset::UTC.to_timestamp(civil).ok()?;
    Some(instant.as_millisecond())
}

/// A time the way Pi writes it, such as `2026-01-05T09:00:00.000Z`; empty outside the years it can
/// be written for.
pub fn canonical_timestamp(milliseconds: i64) -> String {
    jiff::Timestamp::from_millisecond(milliseconds)
        .map(|instant| format!("{instant:.3}"))
        .unwrap_or_default()
}
