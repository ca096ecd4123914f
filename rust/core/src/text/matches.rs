//! Where the clauses of a query stand in a text, in one pass over its words.
//!
//! A clause stands where its tokens are words side by side, or parts side by side in one
//! identifier or number; a term of several parts (`userName`) also stands where these parts do.

use std::collections::HashMap;

use super::parts::Parts;
use super::query::{Clause, Query};
use super::scan::{Scanner, Span};

/// One place where a clause stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// Index of the clause in the query.
    pub(super) clause: usize,
    /// From its first token to its last.
    pub(super) span: Span,
    /// Its tokens, for a phrase of which only some fit into a window; empty for a term.
    pub(super) tokens: Vec<Span>,
}

/// A query prepared for finding.
pub(super) struct Matcher {
    ids: HashMap<String, usize>,
    /// Rules out most words without hashing them: a bit for each query token.
    sieve: [u64; 16],
    words: Vec<Pattern>,
    parts: Vec<Pattern>,
}

/// A sequence of token ids to be found, with its Knuth-Morris-Pratt failure table.
struct Pattern {
    clause: usize,
    ids: Vec<usize>,
    failure: Vec<usize>,
}

/// A word or part that is some token of the query.
#[derive(Clone, Copy)]
struct Hit {
    id: usize,
    position: usize,
    span: Span,
}

impl Matcher {
    pub(super) fn new(query: &Query) -> Self {
        let mut matcher = Self {
            ids: HashMap::new(),
            sieve: [0; 16],
            words: Vec::new(),
            parts: Vec::new(),
        };
        for (clause, wanted) in query.clauses.iter().enumerate() {
            let tokens = match wanted {
                Clause::Term(token) => std::slice::from_ref(token),
                Clause::Phrase(tokens) => tokens,
            };
            let ids = matcher.learn(tokens);
            matcher.words.push(Pattern::new(clause, ids.clone()));
            matcher.parts.push(Pattern::new(clause, ids));
            if let Some(parts) = query.parts.get(clause).filter(|parts| !parts.is_empty()) {
                let ids = matcher.learn(parts);
                matcher.parts.push(Pattern::new(clause, ids));
            }
        }
        matcher
    }

    /// All occurrences in `text`, by their start, then clause.
    pub(super) fn find(&self, text: &str) -> Vec<Occurrence> {
        let mut scanner = Scanner::with_shapes(text);
        let mut parts = Parts::default();
        let (mut in_words, mut in_parts) = (Vec::new(), Vec::new());
        let mut position = 0;
        while let Some(word) = scanner.advance() {
            if let Some(id) = self.id(&word.text) {
                in_words.push(Hit {
                    id,
                    position: word.position,
                    span: word.span,
                });
            }
            parts.take(text, word);
            // A gap in the numbers keeps the parts of different identifiers apart.
            position += usize::from(!parts.joined);
            for (part, span) in parts.found() {
                if let Some(id) = self.id(part) {
                    in_parts.push(Hit { id, position, span });
                }
                position += 1;
            }
        }
        let mut found = Vec::new();
        for (patterns, hits) in [(&self.words, &in_words), (&self.parts, &in_parts)] {
            for pattern in patterns {
                pattern.find(hits, &mut found);
            }
        }
        found.sort_by_key(|occurrence| (occurrence.span.start, occurrence.clause));
        found
    }

    /// The ids of `tokens`; new ones are given to new tokens.
    fn learn(&mut self, tokens: &[String]) -> Vec<usize> {
        let mut ids = Vec::with_capacity(tokens.len());
        for token in tokens {
            let bit = sieve_bit(token);
            self.sieve[bit / 64] |= 1 << (bit % 64);
            let next = self.ids.len();
            ids.push(*self.ids.entry(token.clone()).or_insert(next));
        }
        ids
    }

    fn id(&self, token: &str) -> Option<usize> {
        let bit = sieve_bit(token);
        if self.sieve[bit / 64] >> (bit % 64) & 1 == 0 {
            return None;
        }
        self.ids.get(token).copied()
    }
}

impl Pattern {
    fn new(clause: usize, ids: Vec<usize>) -> Self {
        let mut failure = vec![0; ids.len()];
        let mut matched = 0;
        for i in 1..ids.len() {
            while matched > 0 && ids[i] != ids[matched] {
                matched = failure[matched - 1];
            }
            if ids[i] == ids[matched] {
                matched += 1;
            }
            failure[i] = matched;
        }
        Self {
            clause,
            ids,
            failure,
        }
    }

    /// Appends the occurrences in `hits` that do not overlap each other.
    fn find(&self, hits: &[Hit], found: &mut Vec<Occurrence>) {
        let mut matched = 0;
        for (i, hit) in hits.iter().enumerate() {
            if i > 0 && hit.position != hits[i - 1].position + 1 {
                matched = 0;
            }
            while matched > 0 && self.ids[matched] != hit.id {
                matched = self.failure[matched - 1];
            }
            if self.ids[matched] == hit.id {
                matched += 1;
            }
            if matched == self.ids.len() {
                found.push(self.occurrence(&hits[i + 1 - matched..=i]));
                matched = 0;
            }
        }
    }

    fn occurrence(&self, hits: &[Hit]) -> Occurrence {
        let mut span = hits[0].span;
        span.stretch(hits[hits.len() - 1].span);
        let tokens = match hits {
            [_] => Vec::new(),
            _ => hits.iter().map(|hit| hit.span).collect(),
        };
        Occurrence {
            clause: self.clause,
            span,
            tokens,
        }
    }
}

/// A number below 1024 from three bytes and the length of a token.
fn sieve_bit(token: &str) -> usize {
    let bytes = token.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return 0;
    };
    let middle = bytes[bytes.len() / 2];
    let mixed = usize::from(*first)
        .wrapping_mul(0x9E37)
        .wrapping_add(usize::from(middle).wrapping_mul(0x85EB))
        .wrapping_add(usize::from(*last).wrapping_mul(0xC2B3))
        .wrapping_add(bytes.len().wrapping_mul(0x27D5));
    (mixed >> 5) % 1024
}
