//! Reading session files: the whole file or its tail, one record, the header alone.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use pi_event_search_core::boundary::Print;
use pi_event_search_core::checkpoint::{Checkpoint, settled};
use pi_event_search_core::session::{self, Plan};
use pi_event_search_core::source::{FileSource, Observation};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::batch::Batch;
use crate::dictionary::Dictionary;
use crate::errors::to_python;
use crate::records::{Header, ParsedEvent};

/// Columns of a stored checkpoint, in the order of `CHECKPOINT_COLUMNS` in `store/sources.py`.
const CHECKPOINT_COLUMNS: usize = 18;

#[pyclass]
pub struct SessionReader {
    reader: session::SessionReader<FileSource>,
}

#[pymethods]
impl SessionReader {
    #[new]
    fn new(
        py: Python<'_>,
        path: Vec<u8>,
        checkpoint: Option<Bound<'_, PyTuple>>,
        version: Option<i64>,
        now_ns: i64,
    ) -> PyResult<Self> {
        let known = match checkpoint {
            Some(columns) => Some((checkpoint_from(&columns)?, version.unwrap_or(1))),
            None => None,
        };
        let reader = py.detach(|| {
            session::SessionReader::open(FileSource::open(&path_of(path))?, known, now_ns)
        });
        Ok(Self {
            reader: reader.map_err(to_python)?,
        })
    }

    #[getter]
    fn plan(&self) -> &'static str {
        match self.reader.plan() {
            Plan::Unchanged => "unchanged",
            Plan::Append => "append",
            Plan::Fresh => "fresh",
            Plan::Rebuild(_) => "rebuild",
        }
    }

    #[getter]
    fn reason(&self) -> Option<&'static str> {
        match self.reader.plan() {
            Plan::Rebuild(reason) => Some(reason.as_str()),
            _ => None,
        }
    }

    #[getter]
    fn header(&self) -> Option<Header> {
        self.reader.header().cloned().map(Header::from)
    }

    #[getter]
    fn bytes_read(&self) -> u64 {
        self.reader.bytes_read()
    }

    #[getter]
    fn probed_bytes(&self) -> u64 {
        self.reader.probed_bytes()
    }

    fn next_batch(
        &mut self,
        py: Python<'_>,
        budget: u64,
        dictionary: Option<&Dictionary>,
    ) -> PyResult<Option<Batch>> {
        let dictionary = dictionary.map(Dictionary::opened);
        let batch = py.detach(|| {
            let batch = self.reader.next_batch(budget)?;
            Ok(batch.map(|batch| Batch::analyse(batch, dictionary)))
        });
        batch.map_err(to_python)
    }

    fn checkpoint<'py>(&mut self, py: Python<'py>, now_ns: i64) -> PyResult<Bound<'py, PyTuple>> {
        let checkpoint = py
            .detach(|| self.reader.checkpoint(now_ns))
            .map_err(to_python)?;
        columns_of(py, &checkpoint)
    }
}

#[pyfunction]
pub fn read_header(py: Python<'_>, path: Vec<u8>) -> PyResult<Header> {
    let reader =
        py.detach(|| session::SessionReader::open(FileSource::open(&path_of(path))?, None, 0));
    let reader = reader.map_err(to_python)?;
    let header = reader.header().cloned().map(Header::from);
    Ok(header.expect("a fresh reading that opened has a header"))
}

#[pyfunction]
pub fn read_record(
    py: Python<'_>,
    path: Vec<u8>,
    byte_start: u64,
    byte_end: u64,
    record_hash: i64,
) -> PyResult<Option<ParsedEvent>> {
    let record = py.detach(|| {
        session::read_record(
            &FileSource::open(&path_of(path))?,
            byte_start,
            byte_end,
            record_hash,
        )
    });
    match record.map_err(to_python)? {
        Some(record) => ParsedEvent::read(py, record).map(Some),
        None => Ok(None),
    }
}

#[pyfunction]
pub fn first_changed(
    py: Python<'_>,
    path: Vec<u8>,
    records: Vec<(u64, u64, i64)>,
) -> PyResult<Option<usize>> {
    py.detach(|| session::first_changed(&FileSource::open(&path_of(path))?, &records))
        .map_err(to_python)
}

#[pyfunction]
pub fn is_settled(mtime_ns: i64, ctime_ns: i64, now_ns: i64) -> bool {
    let observation = Observation {
        device: 0,
        inode: 0,
        size: 0,
        mtime_ns,
        ctime_ns,
    };
    settled(&observation, now_ns)
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// The columns of a checkpoint. Device and inode keep their bits; SQLite's integers are signed.
fn columns_of<'py>(py: Python<'py>, checkpoint: &Checkpoint) -> PyResult<Bound<'py, PyTuple>> {
    let seen = &checkpoint.observation;
    let mut columns: Vec<Bound<'py, PyAny>> = Vec::with_capacity(CHECKPOINT_COLUMNS);
    for number in [
        seen.device.cast_signed(),
        seen.inode.cast_signed(),
        seen.size.cast_signed(),
        seen.mtime_ns,
        seen.ctime_ns,
        i64::from(checkpoint.settled),
        checkpoint.complete_offset.cast_signed(),
        checkpoint.complete_lines.cast_signed(),
        checkpoint.entries.cast_signed(),
    ] {
        columns.push(number.into_pyobject(py)?.into_any());
    }
    push_print(py, &mut columns, Some(&checkpoint.header))?;
    push_print(py, &mut columns, Some(&checkpoint.boundary))?;
    push_print(py, &mut columns, checkpoint.tail.as_ref())?;
    PyTuple::new(py, columns)
}

fn push_print<'py, const WINDOW: usize>(
    py: Python<'py>,
    columns: &mut Vec<Bound<'py, PyAny>>,
    print: Option<&Print<WINDOW>>,
) -> PyResult<()> {
    let Some(print) = print else {
        columns.extend(std::iter::repeat_n(py.None().into_bound(py), 3));
        return Ok(());
    };
    columns.push(print.offset.cast_signed().into_pyobject(py)?.into_any());
    columns.push(print.length.cast_signed().into_pyobject(py)?.into_any());
    columns.push(PyBytes::new(py, &print.hash).into_any());
    Ok(())
}

/// A stored checkpoint. Columns that a damaged database made impossible give one that no file
/// agrees with, so that the session is read anew.
fn checkpoint_from(columns: &Bound<'_, PyTuple>) -> PyResult<Checkpoint> {
    let number = |at: usize| -> PyResult<i64> {
        let value = columns.get_item(at)?;
        Ok(value.extract::<i64>().unwrap_or(-1))
    };
    let offset =
        |at: usize| -> PyResult<u64> { Ok(u64::try_from(number(at)?).unwrap_or(u64::MAX)) };
    Ok(Checkpoint {
        observation: Observation {
            device: number(0)?.cast_unsigned(),
            inode: number(1)?.cast_unsigned(),
            size: offset(2)?,
            mtime_ns: number(3)?,
            ctime_ns: number(4)?,
        },
        settled: number(5)? == 1,
        complete_offset: offset(6)?,
        complete_lines: offset(7)?,
        entries: offset(8)?,
        header: print_from(columns, 9)?,
        boundary: print_from(columns, 12)?,
        tail: if columns.get_item(15)?.is_none() {
            None
        } else {
            Some(print_from(columns, 15)?)
        },
    })
}

fn print_from<const WINDOW: usize>(
    columns: &Bound<'_, PyTuple>,
    at: usize,
) -> PyResult<Print<WINDOW>> {
    let number = |at: usize| -> PyResult<u64> {
        let value = columns.get_item(at)?.extract::<i64>().unwrap_or(-1);
        Ok(u64::try_from(value).unwrap_or(u64::MAX))
    };
    let hash = columns.get_item(at + 2)?.extract::<[u8; 16]>();
    Ok(Print {
        offset: number(at)?,
        length: number(at + 1)?,
        hash: hash.unwrap_or_default(),
    })
}
