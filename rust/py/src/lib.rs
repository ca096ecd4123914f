//! Python binding: conversions, the GIL, the error map; nothing else.

use pyo3::prelude::*;

/// The native half of `pi_event_search`.
#[pymodule]
mod _core {}
