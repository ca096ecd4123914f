//! Where the clauses of a query stand in a text, in one pass over its words, as far as needed.
//!
//! A clause stands where its tokens are words side by side, or parts side by side in one
//! identifier or number; a term of several parts (`userName`) also stands where these parts do.

use std::collections::HashMap;
use std::ops::Range;

use super::parts::Parts;
use super::query::{Clause, Query};
use super::scan::Scanner;
use super::word::Span;

/// One place where a clause stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// Index of the clause in the query.
    pub(super) clause: usize,
    /// From its first token to its last.
    pub(super) span: Span,
    hits: Range<usize>,
    in_parts: bool,
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

    /// Appends the occurrences in the new `hits` that do not overlap each other.
    fn find(&self, hits: &[Hit], at: &mut Progress, in_parts: bool, found: &mut Vec<Occurrence>) {
        for (i, hit) in hits.iter().enumerate().skip(at.next_hit) {
            if i > 0 && hit.position != hits[i - 1].position + 1 {
                at.matched = 0;
            }
            while at.matched > 0 && self.ids[at.matched] != hit.id {
                at.matched = self.failure[at.matched - 1];
            }
            if self.ids[at.matched] == hit.id {
                at.matched += 1;
            }
            if at.matched == self.ids.len() {
                let first = i + 1 - at.matched;
                let mut span = hits[first].span;
                span.stretch(hit.span);
                found.push(Occurrence {
                    clause: self.clause,
                    span,
                    hits: first..i + 1,
                    in_parts,
                });
                at.matched = 0;
            }
        }
        at.next_hit = hits.len();
    }
}

/// How far a pattern has come in the hits.
#[derive(Debug, Clone, Default)]
struct Progress {
    next_hit: usize,
    matched: usize,
}

/// A search under way in one text; it can stop where enough is known.
pub(super) struct Search<'m, 't> {
    matcher: &'m Matcher,
    text: &'t str,
    scanner: Scanner<'t>,
    parts: Parts,
    part_position: usize,
    in_words: Vec<Hit>,
    in_parts: Vec<Hit>,
    word_progress: Vec<Progress>,
    part_progress: Vec<Progress>,
    found: Vec<Occurrence>,
}

impl<'m, 't> Search<'m, 't> {
    pub(super) fn new(matcher: &'m Matcher, text: &'t str) -> Self {
        Self {
            matcher,
            text,
            scanner: Scanner::with_shapes(text),
            parts: Parts::default(),
            part_position: 0,
            in_words: Vec::new(),
            in_parts: Vec::new(),
            word_progress: vec![Progress::default(); matcher.words.len()],
            part_progress: vec![Progress::default(); matcher.parts.len()],
            found: Vec::new(),
        }
    }

    /// What was found so far, by its start, then clause.
    pub(super) fn found(&self) -> &[Occurrence] {
        &self.found
    }

    /// The tokens of an occurrence.
    pub(super) fn tokens(&self, occurrence: &Occurrence) -> impl Iterator<Item = Span> {
        let hits = if occurrence.in_parts {
            &self.in_parts
        } else {
            &self.in_words
        };
        hits[occurrence.hits.clone()].iter().map(|hit| hit.span)
    }

    /// Goes on for as many words, or to the end of the text. False at the end.
    pub(super) fn advance(&mut self, words: usize) -> bool {
        let more = (0..words).all(|_| self.take_word().is_some());
        self.settle();
        more
    }

    /// Goes on past byte `end` of the text.
    pub(super) fn advance_past(&mut self, end: usize) {
        while self.take_word().is_some_and(|start| start < end) {}
        self.settle();
    }

    /// Takes the next word; gives the byte it starts at.
    fn take_word(&mut self) -> Option<usize> {
        let word = self.scanner.advance()?;
        if let Some(id) = self.matcher.id(&word.text) {
            self.in_words.push(Hit {
                id,
                position: word.position,
                span: word.span,
            });
        }
        self.parts.take(self.text, word);
        // A gap in the numbers keeps the parts of different identifiers apart.
        self.part_position += usize::from(!self.parts.joined);
        for (part, span) in self.parts.found() {
            if let Some(id) = self.matcher.id(part) {
                self.in_parts.push(Hit {
                    id,
                    position: self.part_position,
                    span,
                });
            }
            self.part_position += 1;
        }
        Some(word.span.start_byte)
    }

    /// Finds the patterns in what came in.
    fn settle(&mut self) {
        let before = self.found.len();
        let patterns = self.matcher.words.iter().zip(&mut self.word_progress);
        for (pattern, progress) in patterns {
            pattern.find(&self.in_words, progress, false, &mut self.found);
        }
        let patterns = self.matcher.parts.iter().zip(&mut self.part_progress);
        for (pattern, progress) in patterns {
            pattern.find(&self.in_parts, progress, true, &mut self.found);
        }
        if self.found.len() > before {
            let order = |found: &Occurrence| (found.span.start, found.clause);
            self.found.sort_by_key(order);
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
