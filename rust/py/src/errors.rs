//! One map from the core's errors to Python's.

use pi_event_search_core::error::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};

create_exception!(
    _core,
    NotASession,
    PyException,
    "The first record of the file is no Pi session header, or it is no regular file."
);
create_exception!(
    _core,
    SourceChanged,
    PyException,
    "The file was replaced or rewritten while it was being read."
);

/// `OSError` for what the system refused, else the class that the caller would act on.
pub fn to_python(error: Error) -> PyErr {
    match (error.kind, error.io) {
        (_, Some(io)) => io.into(),
        (ErrorKind::NotASession | ErrorKind::NotRegularFile, None) => {
            NotASession::new_err(error.detail)
        }
        (ErrorKind::SourceChanged, None) => SourceChanged::new_err(error.detail),
        (ErrorKind::Io, None) => PyOSError::new_err(error.detail),
    }
}
