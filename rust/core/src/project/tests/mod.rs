//! One test file a concern; each row of the format's tables has its test.

mod entries;
mod envelope;
mod messages;
mod properties;
mod tool_calls;

use super::*;

pub(super) fn event(record: &str) -> Event {
    project(record.as_bytes()).expect(record)
}

/// The event of a message entry with the given `message`.
pub(super) fn message(message: &str) -> Event {
    event(&format!(
        r#"{{"type":"message","id":"m","parentId":"p","message":{message}}}"#
    ))
}

/// Fragments as `kind:n`, text and error flag.
pub(super) fn fragments(event: &Event) -> Vec<(String, &str, bool)> {
    let name = |f: &Fragment| format!("{}:{}", f.kind.as_str(), f.n);
    event
        .fragments
        .iter()
        .map(|f| (name(f), f.text.as_str(), f.is_error))
        .collect()
}

/// Fragments without their error flags.
pub(super) fn texts(event: &Event) -> Vec<(String, &str)> {
    fragments(event)
        .into_iter()
        .map(|(id, text, _)| (id, text))
        .collect()
}

/// Relationships as kind, reference and detail.
pub(super) fn edges(event: &Event) -> Vec<(RelationshipKind, &str, Option<&str>)> {
    let edges = event.relationships.iter();
    edges
        .map(|e| (e.kind, e.reference.as_str(), e.detail.as_deref()))
        .collect()
}

pub(super) fn attribute<'e>(event: &'e Event, name: &str) -> Option<&'e Scalar> {
    event
        .attributes
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value)
}

pub(super) fn text_attribute<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    match attribute(event, name) {
        Some(Scalar::Text(text)) => Some(text),
        _ => None,
    }
}
