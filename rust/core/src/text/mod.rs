//! Everything that counts code points: bounds, tokens, queries, snippets, previews, stored text.
//!
//! One scanner (`scan`) turns text into words. [`index_text`], [`identifiers`], [`tokens`],
//! [`parse_query`] and [`snippet`] all stand on it, so that what is written to the index, what is
//! asked of it and what is highlighted in the answer cannot drift apart:
//!
//! - `bounds`: limits in code points, head and tail of oversized text
//! - `fold`: what a character counts as (separator, digit, letter, a token of its own) and its
//!   folded form
//! - `scan` (gives a `word`) -> `tokens`: words of a text; `parts`: identifier parts inside one word,
//!   `compounds`: identifiers of several words
//! - `query`: terms and phrases; `matches` -> `snippet`: where they stand in a text
//! - `preview`: head and tail, or one window, of a long text
//! - `compress`: text at rest; `dictionary`: what makes it small
//!
//! Units: offsets and lengths are Unicode code points of the source text unless a name says bytes.

mod bounds;
mod compounds;
mod compress;
mod dictionary;
mod fold;
mod matches;
mod parts;
mod preview;
mod query;
mod scan;
mod snippet;
mod tokens;
mod word;

#[cfg(test)]
mod table_tests;

pub use bounds::{Bounded, INDEXED_LIMIT, bound, canonical_name, count};
pub use compress::{DECOMPRESSED_LIMIT, DamagedText, compress, decompress};
pub use dictionary::Dictionary;
pub use parts::{Identifiers, PARTS_BORDER, identifiers};
pub use preview::{Preview, preview, preview_bounded, window, window_bounded};
pub use query::{Clause, QUERY_LIMIT, Query, QueryError, TERM_LIMIT, parse_query};
pub use snippet::{Snippet, snippet};
pub use tokens::{Token, index_text, tokens};
pub use word::TOKEN_LIMIT;
