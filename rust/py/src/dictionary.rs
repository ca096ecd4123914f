//! Dictionaries as Python keeps and hands them on.

use std::sync::Arc;

use pi_event_search_core::text::{self, decompress};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What the texts of an index have in common.
#[pyclass(frozen)]
pub struct Dictionary {
    opened: Arc<text::Dictionary>,
}

impl Dictionary {
    pub fn opened(&self) -> &text::Dictionary {
        &self.opened
    }
}

#[pymethods]
impl Dictionary {
    /// From texts as they are stored; what cannot be read of them is left out.
    #[staticmethod]
    fn learn(py: Python<'_>, stored: Vec<Vec<u8>>) -> Option<Self> {
        let opened = py.detach(|| {
            let texts: Vec<String> = stored.iter().flat_map(|blob| decompress(blob)).collect();
            text::Dictionary::learn(&texts)
        });
        opened.map(|opened| Self { opened })
    }

    #[staticmethod]
    fn open(content: Vec<u8>, content_hash: i64) -> PyResult<Self> {
        let refused = || PyValueError::new_err("this is another dictionary, or none");
        let opened = text::Dictionary::open(content, content_hash).ok_or_else(refused)?;
        Ok(Self { opened })
    }

    #[staticmethod]
    fn opened_as(content_hash: i64) -> Option<Self> {
        text::Dictionary::opened(content_hash).map(|opened| Self { opened })
    }

    #[getter]
    fn content_hash(&self) -> i64 {
        self.opened.hash()
    }

    #[getter]
    fn content(&self) -> &[u8] {
        self.opened.content()
    }
}
