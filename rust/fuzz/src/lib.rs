//! What the fuzzers do with their bytes. The same bodies are run by property tests of the core
//! (`rust/core/tests/fuzz_bodies.rs`), which needs no nightly compiler.
//!
//! Each body takes any bytes and panics when something is wrong: where a naive second answer
//! exists, when the two differ.

pub mod checkpoint;
pub mod input;
pub mod naive_json;
pub mod project;
pub mod query;
pub mod reading;
pub mod tail;
pub mod tree;
