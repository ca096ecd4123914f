//! Parsed records as Python sees them.

use std::convert::Infallible;

use pi_event_search_core::entry;
use pi_event_search_core::project::{Fragment, Relationship, Scalar, canonical_timestamp};
use pi_event_search_core::session::{self, Record};
use pi_event_search_core::text::{INDEXED_LIMIT, bound, compress, index_text, parts_text};
use pi_event_search_core::tree::Node;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
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

/// A fragment, with the texts that the index keeps prepared while the GIL is free.
#[pyclass(frozen, get_all)]
pub struct ParsedFragment {
    kind: u8,
    n: u32,
    tool_name: Option<String>,
    custom_type: Option<String>,
    is_error: bool,
    retrieval: bool,
    chars: usize,
    head: Option<usize>,
    words: Vec<String>,
    parts: Vec<String>,
    source_text: Option<String>,
    text: Blob,
}

/// Bytes that reach Python as `bytes`.
#[derive(Clone)]
pub struct Blob(Vec<u8>);

impl<'py> IntoPyObject<'py> for &Blob {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(PyBytes::new(py, &self.0))
    }
}

impl ParsedFragment {
    /// For the index: bounded, compressed, tokenised.
    fn indexed(fragment: Fragment) -> Self {
        let bounded = bound(&fragment.text, INDEXED_LIMIT);
        let (chars, head) = (
            bounded.total,
            (!bounded.is_whole()).then_some(bounded.head_chars),
        );
        let (text, words, parts) = if bounded.is_whole() {
            let text = compress(&fragment.text);
            (
                text,
                analyse(&[&fragment.text], words_of),
                analyse(&[&fragment.text], parts_text),
            )
        } else {
            let halves = [bounded.head, bounded.tail];
            let text = compress(&halves.concat());
            (
                text,
                analyse(&halves, words_of),
                analyse(&halves, parts_text),
            )
        };
        Self {
            chars,
            head,
            words,
            parts,
            text: Blob(text),
            ..Self::bare(fragment, false)
        }
    }

    /// For a read: the full source text alone.
    fn read(fragment: Fragment) -> Self {
        Self::bare(fragment, true)
    }

    fn bare(fragment: Fragment, keep_text: bool) -> Self {
        Self {
            kind: fragment.kind.code(),
            n: fragment.n,
            tool_name: fragment.tool_name,
            custom_type: fragment.custom_type,
            is_error: fragment.is_error,
            retrieval: fragment.retrieval,
            chars: 0,
            head: None,
            words: Vec::new(),
            parts: Vec::new(),
            source_text: keep_text.then_some(fragment.text),
            text: Blob(Vec::new()),
        }
    }
}

/// The values of one field for the pieces of a text; a field without a token has no value.
pub fn analyse(pieces: &[&str], analysis: fn(&str) -> String) -> Vec<String> {
    pieces
        .iter()
        .map(|piece| analysis(piece))
        .filter(|value| !value.is_empty())
        .collect()
}

/// The text of the word field.
pub fn words_of(text: &str) -> String {
    index_text(text).into_owned()
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

/// What a record becomes before Python objects are made of it.
pub struct Prepared {
    record: Record,
    fragments: Vec<ParsedFragment>,
}

impl Prepared {
    /// Prepares a record for the index; the expensive part, without the GIL.
    pub fn indexed(mut record: Record) -> Self {
        let fragments = std::mem::take(&mut record.event.fragments);
        Self {
            record,
            fragments: fragments.into_iter().map(ParsedFragment::indexed).collect(),
        }
    }

    /// Prepares a record that was read back.
    pub fn read(mut record: Record) -> Self {
        let fragments = std::mem::take(&mut record.event.fragments);
        Self {
            record,
            fragments: fragments.into_iter().map(ParsedFragment::read).collect(),
        }
    }

    /// The record as the tree sees it.
    pub fn node(&self, ord: u64) -> Node<'_> {
        let event = &self.record.event;
        Node {
            ord,
            id: event.id.as_deref().filter(|_| !self.record.idless),
            parent_id: event.parent_id.as_deref(),
            detached: self.record.detached,
        }
    }

    pub fn into_python(self, py: Python<'_>) -> PyResult<ParsedEvent> {
        let Record { event, .. } = self.record;
        let attributes = PyDict::new(py);
        for (name, value) in event.attributes {
            match value {
                Scalar::Text(text) => attributes.set_item(name, text)?,
                Scalar::Integer(number) => attributes.set_item(name, number)?,
                Scalar::Float(number) => attributes.set_item(name, number)?,
                Scalar::Bool(flag) => attributes.set_item(name, flag)?,
            }
        }
        Ok(ParsedEvent {
            id: event.id.unwrap_or_default(),
            parent_id: event.parent_id,
            entry_type: event.entry_type,
            role: event.role,
            context_role: event.context_role as u8,
            contribution: event.contribution as u8,
            is_error: event.is_error,
            retrieval: event.retrieval,
            detached: self.record.detached,
            idless: self.record.idless,
            timestamp: unless_canonical(event.timestamp, event.timestamp_ms),
            timestamp_ms: event.timestamp_ms.unwrap_or_default(),
            byte_start: self.record.byte_start,
            byte_end: self.record.byte_end,
            line: self.record.line,
            record_hash: self.record.record_hash,
            copy_hash: event.copy_hash,
            session_name: event.session_name,
            result_of: event.result_of,
            omissions: event.omissions.to_vec(),
            fragments: objects(py, self.fragments)?,
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
fn unless_canonical(recorded: Option<String>, milliseconds: Option<i64>) -> Option<String> {
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

/// Records handed out together.
#[pyclass]
pub struct Batch {
    pub(crate) records: Vec<Prepared>,
    receipts: Vec<(&'static str, u64, u64)>,
    #[pyo3(get)]
    weight: u64,
    #[pyo3(get)]
    fragment_count: usize,
}

impl Batch {
    /// Prepares what a reader handed out. `weight` counts the bytes of its records.
    pub fn prepare(batch: session::Batch) -> Self {
        let weight = batch
            .records
            .iter()
            .map(|r| r.byte_end - r.byte_start)
            .sum();
        let mut receipts: Vec<(&'static str, u64, u64)> = Vec::new();
        for (receipt, offset) in batch.receipts {
            match receipts
                .iter_mut()
                .find(|(kind, ..)| *kind == receipt.as_str())
            {
                Some((_, count, _)) => *count += 1,
                None => receipts.push((receipt.as_str(), 1, offset)),
            }
        }
        let records: Vec<Prepared> = batch.records.into_iter().map(Prepared::indexed).collect();
        let fragment_count = records.iter().map(|record| record.fragments.len()).sum();
        Self {
            records,
            receipts,
            weight,
            fragment_count,
        }
    }

    /// The records as the tree sees them, numbered from `first_ord`.
    pub fn nodes(&self, first_ord: u64) -> Vec<Node<'_>> {
        (first_ord..)
            .zip(&self.records)
            .map(|(ord, record)| record.node(ord))
            .collect()
    }
}

#[pymethods]
impl Batch {
    /// Takes the events out of the batch.
    fn take_events(&mut self, py: Python<'_>) -> PyResult<Vec<ParsedEvent>> {
        std::mem::take(&mut self.records)
            .into_iter()
            .map(|record| record.into_python(py))
            .collect()
    }

    #[getter]
    fn receipts(&self) -> Vec<(&'static str, u64, u64)> {
        self.receipts.clone()
    }
}
