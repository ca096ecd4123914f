//! Records on their way into the stores: analysed while the GIL is free, then handed out as the
//! rows of a whole batch at once. An object for each event would cost more than parsing it.

use pi_event_search_core::document::{Facts, Texts, document};
use pi_event_search_core::project::{Fragment, Kind, RelationshipKind};
use pi_event_search_core::session::{self, Record};
use pi_event_search_core::text::{Dictionary, INDEXED_LIMIT, bound, compress};
use pi_event_search_core::tree::Node;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::records::unless_canonical;

/// The event (of a fragment: its event) counts for the error filter.
pub const ERROR: u32 = 1;
/// Found on a line that Pi skips.
pub const DETACHED: u32 = 2;
/// The record has no id where its format needs one.
pub const IDLESS: u32 = 4;
/// A later record of the session has the same id.
pub const SUPERSEDED: u32 = 8;
/// A retrieval tool's own call or result.
pub const RETRIEVAL: u32 = 16;
/// Of a relationship: concluded, not recorded as such.
pub const INFERRED: u32 = 1;
/// Code points of a role, tool name or entry type that are kept; a longer one is damage.
pub const FACET_LIMIT: usize = 200;

/// A segment number as stored, and a depth; none for an event that another supersedes.
type StoredPlace = Option<(i64, i64)>;
/// Tool calls of one record: its number in the batch, their ids and whether each is retrieval, the
/// id of the call it answers.
type Calls<'a> = (usize, Vec<(&'a str, bool)>, Option<&'a str>);

/// A fragment with everything that is stored of it.
struct Analysed {
    kind: Kind,
    n: u32,
    tool_name: Option<String>,
    custom_type: Option<String>,
    is_error: bool,
    retrieval: bool,
    chars: usize,
    head: Option<usize>,
    stored: Vec<u8>,
    texts: Texts,
}

impl Analysed {
    fn new(fragment: Fragment, dictionary: Option<&Dictionary>) -> Self {
        let bounded = bound(&fragment.text, INDEXED_LIMIT);
        let stored = if bounded.is_whole() {
            compress(&fragment.text, dictionary)
        } else {
            compress(&[bounded.head, bounded.tail].concat(), dictionary)
        };
        Self {
            kind: fragment.kind,
            n: fragment.n,
            tool_name: fragment.tool_name.map(limited),
            custom_type: fragment.custom_type,
            is_error: fragment.is_error,
            retrieval: fragment.retrieval,
            chars: bounded.total,
            head: (!bounded.is_whole()).then_some(bounded.head_chars),
            stored,
            texts: Texts::of(&bounded),
        }
    }

    fn flags(&self, event_flags: u32) -> u32 {
        let retrieval = if self.retrieval {
            RETRIEVAL
        } else {
            event_flags & RETRIEVAL
        };
        retrieval | if self.is_error { ERROR } else { 0 }
    }
}

fn limited(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(FACET_LIMIT) {
        text.truncate(end);
    }
    text
}

/// A record whose fragments were taken out of it and analysed.
struct Entry {
    record: Record,
    fragments: Vec<Analysed>,
}

impl Entry {
    fn new(mut record: Record, dictionary: Option<&Dictionary>) -> Self {
        let event = &mut record.event;
        let fragments = std::mem::take(&mut event.fragments);
        event.entry_type = limited(std::mem::take(&mut event.entry_type));
        event.role = event.role.take().map(limited);
        Self {
            record,
            fragments: fragments
                .into_iter()
                .map(|fragment| Analysed::new(fragment, dictionary))
                .collect(),
        }
    }

    /// The record as the tree sees it.
    fn node(&self, ord: u64) -> Node<'_> {
        let event = &self.record.event;
        Node {
            ord,
            id: event.id.as_deref().filter(|_| !self.record.idless),
            parent_id: event.parent_id.as_deref(),
            detached: self.record.detached,
        }
    }

    /// `answers`: it belongs to a call that was retrieval.
    fn flags(&self, answers: bool, place: StoredPlace) -> u32 {
        let event = &self.record.event;
        // Of an event with text its fragments say it, each for itself.
        let retrieval = answers || (event.retrieval && self.fragments.is_empty());
        [
            (event.is_error, ERROR),
            (self.record.detached, DETACHED),
            (self.record.idless, IDLESS),
            (place.is_none(), SUPERSEDED),
            (retrieval, RETRIEVAL),
        ]
        .iter()
        .filter_map(|(is, flag)| is.then_some(flag))
        .sum()
    }

    fn calls(&self, at: usize) -> Option<Calls<'_>> {
        let calls: Vec<(&str, bool)> = self
            .record
            .event
            .relationships
            .iter()
            .filter(|edge| edge.kind == RelationshipKind::ToolCall)
            .map(|edge| (edge.reference.as_str(), edge.retrieval))
            .collect();
        let answered = self.record.event.result_of.as_deref();
        (!calls.is_empty() || answered.is_some()).then_some((at, calls, answered))
    }
}

/// The numbers that a batch gets in the index.
#[derive(Clone, Copy)]
struct Numbering {
    epoch: i64,
    workspace: i64,
    /// Number of the first event.
    event: i64,
    /// Number of the first fragment.
    key: i64,
}

/// Records handed out together.
#[pyclass]
pub struct Batch {
    entries: Vec<Entry>,
    receipts: Vec<(&'static str, u64, u64)>,
    #[pyo3(get)]
    weight: u64,
    #[pyo3(get)]
    fragment_count: usize,
}

impl Batch {
    /// Analyses what a reader handed out. `weight` counts the bytes of its records.
    /// Its texts are compressed with the dictionary of their index, where it has one.
    pub fn analyse(batch: session::Batch, dictionary: Option<&Dictionary>) -> Self {
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
        let entries: Vec<Entry> = batch
            .records
            .into_iter()
            .map(|record| Entry::new(record, dictionary))
            .collect();
        let fragment_count = entries.iter().map(|entry| entry.fragments.len()).sum();
        Self {
            entries,
            receipts,
            weight,
            fragment_count,
        }
    }

    /// The records as the tree sees them, numbered from `first_ord`.
    pub fn nodes(&self, first_ord: u64) -> Vec<Node<'_>> {
        (first_ord..)
            .zip(&self.entries)
            .map(|(ord, entry)| entry.node(ord))
            .collect()
    }
}

#[pymethods]
impl Batch {
    #[getter]
    fn receipts(&self) -> Vec<(&'static str, u64, u64)> {
        self.receipts.clone()
    }

    fn calls(&self) -> Vec<Calls<'_>> {
        let numbered = self.entries.iter().enumerate();
        numbered.filter_map(|(at, entry)| entry.calls(at)).collect()
    }

    fn take_rows(
        &mut self,
        py: Python<'_>,
        numbering: (i64, i64, i64, i64),
        places: Vec<StoredPlace>,
        answers: Vec<usize>,
    ) -> PyResult<Rows> {
        let (epoch, workspace, event, key) = numbering;
        let entries = std::mem::take(&mut self.entries);
        if places.len() != entries.len() {
            return Err(PyValueError::new_err("each event needs its place"));
        }
        let mut flags = Vec::with_capacity(entries.len());
        let mut answers = answers.into_iter().peekable();
        for (at, (entry, place)) in entries.iter().zip(&places).enumerate() {
            flags.push(entry.flags(answers.next_if_eq(&at).is_some(), *place));
        }
        let numbering = Numbering {
            epoch,
            workspace,
            event,
            key,
        };
        let documents = py.detach(|| documents(&entries, &flags, numbering));
        Rows::of(py, entries, &places, &flags, numbering, &documents)
    }
}

/// The documents of all fragments of events that are not superseded.
fn documents(entries: &[Entry], flags: &[u32], numbering: Numbering) -> Vec<String> {
    let mut key = numbering.key;
    let mut documents = Vec::new();
    for ((entry, flags), number) in entries.iter().zip(flags).zip(numbering.event..) {
        if flags & SUPERSEDED != 0 {
            continue;
        }
        for fragment in &entry.fragments {
            let facts = Facts {
                key,
                event: number,
                epoch: numbering.epoch,
                workspace: numbering.workspace,
                ts: entry.record.event.timestamp_ms.unwrap_or_default(),
                kind: fragment.kind,
                entry_type: &entry.record.event.entry_type,
                role: entry.record.event.role.as_deref(),
                tool: fragment.tool_name.as_deref(),
                is_error: flags & ERROR != 0,
                retrieval: fragment.flags(*flags) & RETRIEVAL != 0,
            };
            documents.push(document(&facts, &fragment.texts));
            key += 1;
        }
    }
    documents
}

/// What the stores are given of a batch.
#[pyclass(frozen, get_all)]
pub struct Rows {
    events: Py<PyList>,
    fragments: Py<PyList>,
    documents: Py<PyList>,
    relationships: Py<PyList>,
    placed: usize,
    last_ts: i64,
    named: bool,
    name: Option<String>,
}

impl Rows {
    fn of(
        py: Python<'_>,
        entries: Vec<Entry>,
        places: &[StoredPlace],
        flags: &[u32],
        numbering: Numbering,
        documents: &[String],
    ) -> PyResult<Self> {
        let mut rows = Self {
            events: PyList::empty(py).unbind(),
            fragments: PyList::empty(py).unbind(),
            documents: PyList::new(py, documents)?.unbind(),
            relationships: PyList::empty(py).unbind(),
            placed: places.iter().flatten().count(),
            last_ts: i64::MIN,
            named: false,
            name: None,
        };
        let mut key = numbering.key;
        let numbered = (numbering.event..).zip(entries);
        for (((number, entry), place), flags) in numbered.zip(places).zip(flags) {
            // What is true of the whole file counts whether or not a later record has the same
            // id: the answer must not depend on how the records were spread over readings.
            let event = &entry.record.event;
            rows.last_ts = rows.last_ts.max(event.timestamp_ms.unwrap_or_default());
            if let Some(name) = &event.session_name
                && !entry.record.detached
            {
                rows.named = true;
                rows.name = Some(name.clone()).filter(|name| !name.is_empty());
            }
            let kept = place.map_or(0, |_| entry.fragments.len());
            rows.events.bind(py).append(event_row(
                py,
                &entry,
                number,
                *flags,
                *place,
                (key, kept),
            )?)?;
            for edge in &event.relationships {
                let row = (
                    number,
                    edge.kind as u8,
                    &edge.reference,
                    &edge.detail,
                    (if edge.retrieval { RETRIEVAL } else { 0 })
                        | (if edge.inferred { INFERRED } else { 0 }),
                );
                rows.relationships.bind(py).append(row)?;
            }
            // Of an id its last record answers.
            for fragment in entry.fragments.iter().take(kept) {
                let row = (
                    key,
                    number,
                    fragment.kind.code(),
                    fragment.n,
                    interned(py, fragment.tool_name.as_deref()),
                    &fragment.custom_type,
                    fragment.flags(*flags),
                    fragment.chars,
                    fragment.head,
                    PyBytes::new(py, &fragment.stored),
                );
                rows.fragments.bind(py).append(row)?;
                key += 1;
            }
        }
        Ok(rows)
    }
}

/// The columns of an event, in the order of `EventRow` in `store/rows.py`.
fn event_row<'py>(
    py: Python<'py>,
    entry: &Entry,
    number: i64,
    flags: u32,
    place: StoredPlace,
    (first_key, fragments): (i64, usize),
) -> PyResult<Bound<'py, PyTuple>> {
    let record = &entry.record;
    let event = &record.event;
    let recorded = unless_canonical(event.timestamp.as_deref(), event.timestamp_ms);
    let before = (
        number,
        event.id.as_deref().unwrap_or_default(),
        event.parent_id.as_deref(),
        interned(py, Some(&event.entry_type)),
        interned(py, event.role.as_deref()),
        event.context_role as u8,
        event.contribution as u8,
        flags,
        event.timestamp_ms.unwrap_or_default(),
        recorded,
    );
    let behind = (
        record.byte_start,
        record.byte_end,
        record.line,
        record.record_hash,
        event.copy_hash,
        place.map(|(segment, _)| segment),
        place.map(|(_, depth)| depth),
        first_key,
        fragments,
    );
    let row = before
        .into_pyobject(py)?
        .as_sequence()
        .concat(behind.into_pyobject(py)?.as_sequence())?;
    Ok(row.cast_into::<PyTuple>()?)
}

/// A text that comes again and again.
fn interned<'py>(py: Python<'py>, text: Option<&str>) -> Option<Bound<'py, PyString>> {
    text.map(|text| PyString::intern(py, text))
}
