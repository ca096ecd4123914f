//! Text as Python asks for it: queries, snippets, previews, what the text index is told.

use pi_event_search_core::document::{self, Facts, Texts};
use pi_event_search_core::project::Kind;
use pi_event_search_core::text::{self, Bounded, Clause, Preview};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::batch::{ERROR, RETRIEVAL};

type Ranges = Vec<(usize, usize)>;

/// A parsed query. `clauses` holds the words of each clause: one, or several that stand side by
/// side; `parts` and `wholes` run in parallel.
#[pyclass(frozen)]
pub struct Query {
    query: text::Query,
}

#[pymethods]
impl Query {
    #[getter]
    fn clauses(&self) -> Vec<Vec<String>> {
        self.query
            .clauses
            .iter()
            .map(|clause| match clause {
                Clause::Term(word) => vec![word.clone()],
                Clause::Phrase(words) => words.clone(),
            })
            .collect()
    }

    #[getter]
    fn parts(&self) -> Vec<Vec<String>> {
        self.query.parts.clone()
    }

    #[getter]
    fn wholes(&self) -> Vec<Option<String>> {
        self.query.wholes.clone()
    }

    #[getter]
    fn display(&self) -> Vec<String> {
        self.query.display.clone()
    }

    /// The query of one clause alone.
    fn only(&self, number: usize) -> PyResult<Self> {
        let missing = || PyValueError::new_err("the query has no such clause");
        Ok(Self {
            query: text::Query {
                clauses: vec![self.query.clauses.get(number).ok_or_else(missing)?.clone()],
                display: vec![self.query.display.get(number).ok_or_else(missing)?.clone()],
                parts: vec![self.query.parts.get(number).ok_or_else(missing)?.clone()],
                wholes: vec![self.query.wholes.get(number).ok_or_else(missing)?.clone()],
            },
        })
    }
}

#[pyfunction]
pub fn parse_query(text: &str) -> PyResult<Query> {
    let query =
        text::parse_query(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Query { query })
}

/// A fragment's stored text: head and tail, the tail empty when nothing was left out.
struct Stored {
    text: String,
    /// Bytes of the head.
    cut: usize,
}

impl Stored {
    fn read(blob: &[u8], head: Option<usize>) -> PyResult<Self> {
        let text =
            text::decompress(blob).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let cut = match head {
            None => text.len(),
            Some(chars) => text
                .char_indices()
                .nth(chars)
                .map_or(text.len(), |(at, _)| at),
        };
        Ok(Self { text, cut })
    }

    fn halves(&self) -> (&str, &str) {
        self.text.split_at(self.cut)
    }

    fn bounded(&self, total: usize) -> Bounded<'_> {
        let (head, tail) = self.halves();
        Bounded::held(head, tail, total)
    }
}

#[pyfunction]
pub fn bounded_text(blob: &[u8], head: Option<usize>) -> PyResult<(String, String)> {
    let stored = Stored::read(blob, head)?;
    let (head, tail) = stored.halves();
    Ok((head.to_owned(), tail.to_owned()))
}

/// Of an event row: number, epoch, workspace, time, entry type, role, flags.
type EventFacts<'a> = (i64, i64, i64, i64, &'a str, Option<&'a str>, u32);
/// Of a fragment row: key, kind, tool name, flags.
type FragmentFacts<'a> = (i64, u8, Option<&'a str>, u32);

#[pyfunction]
pub fn stored_document(
    event: EventFacts<'_>,
    fragment: FragmentFacts<'_>,
    blob: &[u8],
    head: Option<usize>,
) -> PyResult<String> {
    let (number, epoch, workspace, ts, entry_type, role, event_flags) = event;
    let (key, kind, tool, flags) = fragment;
    let unknown = || PyValueError::new_err("stored text is damaged: its kind is unknown");
    let kind = *Kind::ALL.get(usize::from(kind)).ok_or_else(unknown)?;
    let facts = Facts {
        key,
        event: number,
        epoch,
        workspace,
        ts,
        kind,
        entry_type,
        role,
        tool,
        is_error: event_flags & ERROR != 0,
        retrieval: flags & RETRIEVAL != 0,
    };
    let stored = Stored::read(blob, head)?;
    let texts = Texts::of(&stored.bounded(0));
    Ok(document::document(&facts, &texts))
}

#[pyfunction]
pub fn stamp_document(key: i64, token: i64) -> String {
    document::stamp_document(key, token)
}

#[pyfunction]
pub fn snippet(
    blob: &[u8],
    head: Option<usize>,
    query: Option<&Query>,
    limit: usize,
) -> PyResult<(String, Ranges)> {
    let stored = Stored::read(blob, head)?;
    let (head, tail) = stored.halves();
    let found = text::snippet(head, tail, query.map(|query| &query.query), limit);
    Ok((found.text, found.highlights))
}

#[pyfunction]
pub fn preview(text: &str, limit: usize) -> (String, Ranges, Ranges, usize) {
    let shown = text::preview(text, limit);
    (shown.text, shown.shown, shown.omitted, shown.total)
}

#[pyfunction]
pub fn preview_bounded(
    blob: &[u8],
    head: Option<usize>,
    total: usize,
    limit: usize,
) -> PyResult<(String, Ranges, Ranges)> {
    let stored = Stored::read(blob, head)?;
    Ok(without_total(text::preview_bounded(
        &stored.bounded(total),
        limit,
    )))
}

#[pyfunction]
pub fn window_bounded(
    blob: &[u8],
    head: Option<usize>,
    total: usize,
    offset: usize,
    length: usize,
) -> PyResult<(String, Ranges, Ranges)> {
    let stored = Stored::read(blob, head)?;
    Ok(without_total(text::window_bounded(
        &stored.bounded(total),
        offset,
        length,
    )))
}

fn without_total(shown: Preview) -> (String, Ranges, Ranges) {
    (shown.text, shown.shown, shown.omitted)
}

/// The tokens of a text: word, first code point, the one behind the last, position.
#[pyfunction]
pub fn tokens(text: &str) -> Vec<(String, usize, usize, u32)> {
    text::tokens(text)
        .into_iter()
        .map(|token| (token.text, token.start, token.end, token.position))
        .collect()
}
