//! Parsed records as Python sees them.

use pi_event_search_core::entry;
use pi_event_search_core::project::{Fragment, Relationship, Scalar, canonical_timestamp};
use pi_event_search_core::session::Record;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyClass, PyClassInitializer};

#[pyclass(frozen, get_all)]
#[derive(Clone)]
pub struct Header {
    id: String,
    version: i64,
    timestamp: Option<String>,
    timestamp_ms: Option<i64>,
    cwd: String,
    parent_session: Option<String>,
}

impl From<entry::Header> for Header {
    fn from(header: entry::Header) -> Self {
        Self {
            id: header.id,
            version: header.version,
            timestamp: header.timestamp,
            timestamp_ms: header.timestamp_ms,
            cwd: header.cwd,
            parent_session: header.parent_session,
        }
    }
}

/// A fragment with its full text.
#[pyclass(frozen, get_all)]
pub struct ParsedFragment {
    kind: u8,
    n: u32,
    tool_name: Option<String>,
    custom_type: Option<String>,
    is_error: bool,
    retrieval: bool,
    text: String,
}

impl From<Fragment> for ParsedFragment {
    fn from(fragment: Fragment) -> Self {
        Self {
            kind: fragment.kind.code(),
            n: fragment.n,
            tool_name: fragment.tool_name,
            custom_type: fragment.custom_type,
            is_error: fragment.is_error,
            retrieval: fragment.retrieval,
            text: fragment.text,
        }
    }
}

#[pyclass(frozen, get_all)]
pub struct ParsedRelationship {
    kind: u8,
    reference: String,
    detail: Option<String>,
    retrieval: bool,
    inferred: bool,
}

impl From<Relationship> for ParsedRelationship {
    fn from(relationship: Relationship) -> Self {
        Self {
            kind: relationship.kind as u8,
            reference: relationship.reference,
            detail: relationship.detail,
            retrieval: relationship.retrieval,
            inferred: relationship.inferred,
        }
    }
}

// Each is a fact of its own that Python stores as a flag.
#[allow(clippy::struct_excessive_bools)]
#[pyclass(frozen, get_all)]
pub struct ParsedEvent {
    id: String,
    parent_id: Option<String>,
    entry_type: String,
    role: Option<String>,
    context_role: u8,
    contribution: u8,
    is_error: bool,
    retrieval: bool,
    detached: bool,
    idless: bool,
    timestamp_ms: i64,
    timestamp: Option<String>,
    byte_start: u64,
    byte_end: u64,
    line: u64,
    record_hash: i64,
    copy_hash: i64,
    session_name: Option<String>,
    result_of: Option<String>,
    omissions: Vec<u32>,
    fragments: Vec<Py<ParsedFragment>>,
    relationships: Vec<Py<ParsedRelationship>>,
    attributes: Py<PyDict>,
}

impl ParsedEvent {
    /// A record that was read back.
    pub fn read(py: Python<'_>, record: Record) -> PyResult<Self> {
        let event = record.event;
        let attributes = PyDict::new(py);
        for (name, value) in event.attributes {
            match value {
                Scalar::Text(text) => attributes.set_item(name, text)?,
                Scalar::Integer(number) => attributes.set_item(name, number)?,
                Scalar::Float(number) => attributes.set_item(name, number)?,
                Scalar::Bool(flag) => attributes.set_item(name, flag)?,
            }
        }
        Ok(Self {
            id: event.id.unwrap_or_default(),
            parent_id: event.parent_id,
            entry_type: event.entry_type,
            role: event.role,
            context_role: event.context_role as u8,
            contribution: event.contribution as u8,
            is_error: event.is_error,
            retrieval: event.retrieval,
            detached: record.detached,
            idless: record.idless,
            timestamp: unless_canonical(event.timestamp.as_deref(), event.timestamp_ms)
                .map(str::to_owned),
            timestamp_ms: event.timestamp_ms.unwrap_or_default(),
            byte_start: record.byte_start,
            byte_end: record.byte_end,
            line: record.line,
            record_hash: record.record_hash,
            copy_hash: event.copy_hash,
            session_name: event.session_name,
            result_of: event.result_of,
            omissions: event.omissions.to_vec(),
            fragments: objects(py, event.fragments.into_iter().map(ParsedFragment::from))?,
            relationships: objects(
                py,
                event
                    .relationships
                    .into_iter()
                    .map(ParsedRelationship::from),
            )?,
            attributes: attributes.unbind(),
        })
    }
}

/// The recorded time, unless writing the milliseconds as Pi does gives the same text.
pub fn unless_canonical(recorded: Option<&str>, milliseconds: Option<i64>) -> Option<&str> {
    let recorded = recorded.unwrap_or_default();
    let canonical = milliseconds.is_some_and(|ms| canonical_timestamp(ms) == recorded);
    (!canonical).then_some(recorded)
}

fn objects<C>(py: Python<'_>, values: impl IntoIterator<Item = C>) -> PyResult<Vec<Py<C>>>
where
    C: PyClass + Into<PyClassInitializer<C>>,
{
    values.into_iter().map(|value| Py::new(py, value)).collect()
}
