//! The pure core of pi-event-search: from the bytes of a session file to events.
//!
//! Data flows one way: [`source`] (bytes and what the file system says of them) ->
//! [`lines`] (complete records) -> [`entry`] and [`project`] (typed events with fragments) ->
//! [`tree`] (position on branches). [`checkpoint`] decides how much of that must be done again.
//! [`text`] holds everything that counts code points: bounds, tokens, snippets.
//! Nothing in this crate knows Python, `SQLite` or Tantivy.

/// Version of the projection: raised when the same record gives other events, fragments or places.
pub const PROJECTOR_VERSION: u32 = 1;
/// Version of the analysis of text: raised when the same text gives another document.
pub const TOKENIZER_VERSION: u32 = 3;

pub mod boundary;
pub mod checkpoint;
pub mod document;
pub mod entry;
pub mod error;
pub mod json;
pub mod lines;
pub mod project;
pub mod session;
pub mod source;
pub mod text;
pub mod tree;
