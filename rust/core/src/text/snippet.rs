//! The stretch of a text that shows best why it was found.

use super::matches::{Matcher, Occurrence, Search};
use super::query::Query;
use super::word::Span;

/// Stands where a snippet leaves out text.
const CUT: char = '…';
/// Below this limit there is no room for marks at the edges.
const MARKED_LIMIT: usize = 16;
/// How far an edge moves inwards, in code points, to not cut a word in two.
const SNAP: usize = 16;
/// How many words are searched before the first look at what was found.
const STRETCH: usize = 512;

/// A stretch of a text, white space runs made single spaces, `…` at the edges where text is left
/// out. Nothing else is changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// At most as many code points as asked for.
    pub text: String,
    /// What matched, as code point ranges of `text`: in order, not overlapping. A phrase is one
    /// range from its first to its last token.
    pub highlights: Vec<(usize, usize)>,
}

/// One of the two held pieces of a text, and whether text is missing at its ends.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    cut_before: bool,
    cut_after: bool,
}

/// Cuts the best window of at most `limit` code points: the one with most different clauses of the
/// query, then the earliest; without a query, or when nothing of it stands in the text, the start.
///
/// `tail` is empty for a whole text. A window never joins head and tail.
pub fn snippet(head: &str, tail: &str, query: Option<&Query>, limit: usize) -> Snippet {
    let cut = !tail.is_empty();
    let start = Piece {
        text: head,
        cut_before: false,
        cut_after: cut,
    };
    let end = Piece {
        text: tail,
        cut_before: cut,
        cut_after: false,
    };
    let Some(query) = query else {
        return show(start, None, Span::default(), limit);
    };
    let matcher = Matcher::new(query);
    let clauses = query.clauses.len();
    let mut in_head = Search::new(&matcher, head);
    let best = search(&mut in_head, clauses, limit);
    if best.distinct < clauses && cut {
        let mut in_tail = Search::new(&matcher, tail);
        let in_tail_best = search(&mut in_tail, clauses, limit);
        if in_tail_best.distinct > best.distinct {
            return show(end, Some(&mut in_tail), in_tail_best.span, limit);
        }
    }
    show(start, Some(&mut in_head), best.span, limit)
}

/// Searches until a window with all clauses is known, or to the end.
fn search(search: &mut Search<'_, '_>, clauses: usize, limit: usize) -> Window {
    // Looking at all that was found after ever longer stretches keeps the whole linear.
    let mut stretch = STRETCH;
    loop {
        let more = search.advance(stretch);
        let best = best_window(search.found(), clauses, limit);
        if !more || best.distinct == clauses {
            return best;
        }
        stretch *= 2;
    }
}

/// A run of occurrences close enough to be shown together.
#[derive(Default)]
struct Window {
    distinct: usize,
    span: Span,
}

/// The first window with most different clauses, without repeats at its start.
fn best_window(found: &[Occurrence], clauses: usize, limit: usize) -> Window {
    let mut best = Window::default();
    let mut counts = vec![0_usize; clauses];
    let mut distinct = 0;
    let mut first = 0;
    for (last, occurrence) in found.iter().enumerate() {
        counts[occurrence.clause] += 1;
        distinct += usize::from(counts[occurrence.clause] == 1);
        while first < last {
            let clause = found[first].clause;
            let fits = occurrence.span.end.saturating_sub(found[first].span.start) + 2 <= limit;
            if fits && counts[clause] == 1 {
                break;
            }
            counts[clause] -= 1;
            distinct -= usize::from(counts[clause] == 0);
            first += 1;
        }
        if distinct > best.distinct {
            best.distinct = distinct;
            best.span = found[first].span;
            for inner in &found[first..=last] {
                best.span.stretch(inner.span);
            }
            if distinct == clauses {
                break;
            }
        }
    }
    best
}

/// Shows `core` (which holds no white space at its ends) with as much around it as fits.
fn show(
    piece: Piece<'_>,
    search: Option<&mut Search<'_, '_>>,
    core: Span,
    limit: usize,
) -> Snippet {
    let text = piece.text;
    let marks = usize::from(limit >= MARKED_LIMIT);
    let first = text.len() - text.trim_start().len();
    let (all, end) = forward(text, first, limit);
    let edges = usize::from(piece.cut_before) + usize::from(piece.cut_after);
    if text[end..].trim_start().is_empty() && all + edges * marks <= limit {
        return render(piece, search, (0, text.len()), marks > 0);
    }
    let room = limit.saturating_sub(2 * marks);
    let core_start = core.start_byte.max(first);
    let (held, core_end) = forward(&text[..core.end_byte.max(first)], core_start, room);
    let spare = room - held;
    let (after, _) = forward(text, core_end, spare);
    let (before, _) = backward(text, core_start, spare);
    // A third of the room goes to what leads up to the match, or more where less follows it.
    let right = after.min(spare - before.min(spare / 3));
    let (_, from) = backward(text, core_start, spare - right);
    let (_, to) = forward(text, core_end, right);
    let from = snap_start(text, from, core_start);
    let to = snap_end(text, to, core_end.max(from));
    render(piece, search, (from, to), marks > 0)
}

/// Walks from byte `from` over at most `budget` code points, a white space run being one. Gives
/// what it counted and where it stopped.
fn forward(text: &str, from: usize, budget: usize) -> (usize, usize) {
    let mut counted = 0;
    let mut in_space = false;
    for (i, c) in text[from..].char_indices() {
        let space = c.is_whitespace();
        if !(space && in_space) {
            if counted == budget {
                return (counted, from + i);
            }
            counted += 1;
        }
        in_space = space;
    }
    (counted, text.len())
}

/// [`forward`], towards the start of the text.
fn backward(text: &str, from: usize, budget: usize) -> (usize, usize) {
    let mut counted = 0;
    let mut in_space = false;
    for (i, c) in text[..from].char_indices().rev() {
        let space = c.is_whitespace();
        if !(space && in_space) {
            if counted == budget {
                return (counted, i + c.len_utf8());
            }
            counted += 1;
        }
        in_space = space;
    }
    (counted, 0)
}

/// Moves a start inside a word behind it, if its end is near and before byte `most`.
fn snap_start(text: &str, from: usize, most: usize) -> usize {
    let cuts_word = text[..from].ends_with(|c: char| !c.is_whitespace());
    if !cuts_word {
        return from;
    }
    let inside = &text[from..most.max(from)];
    inside
        .char_indices()
        .take(SNAP)
        .find(|&(_, c)| c.is_whitespace())
        .map_or(from, |(i, _)| from + i)
}

/// Moves an end inside a word before it, if its start is near and after byte `least`.
fn snap_end(text: &str, to: usize, least: usize) -> usize {
    let cuts_word = text[to..].starts_with(|c: char| !c.is_whitespace());
    if !cuts_word {
        return to;
    }
    let inside = &text[least.min(to)..to];
    inside
        .char_indices()
        .rev()
        .take(SNAP)
        .find(|&(_, c)| c.is_whitespace())
        .map_or(to, |(i, _)| least.min(to) + i)
}

/// Writes bytes `from..to` of the piece as a snippet.
fn render(
    piece: Piece<'_>,
    search: Option<&mut Search<'_, '_>>,
    (from, to): (usize, usize),
    marks: bool,
) -> Snippet {
    let inner = piece.text[from..to].trim();
    let from = to - piece.text[from..to].trim_start().len();
    let to = from + inner.len();
    let left_out = |text: &str| !text.trim().is_empty();
    let mut text = String::with_capacity(inner.len() + 2 * CUT.len_utf8());
    let mut written = 0;
    if marks && (piece.cut_before || left_out(&piece.text[..from])) {
        text.push(CUT);
        written += 1;
    }
    let ranges = search.map_or(Vec::new(), |search| visible(search, from, to));
    let mut places = Places::new(&ranges);
    let mut in_space = false;
    for (i, c) in inner.char_indices() {
        places.reach(from + i, written);
        let space = c.is_whitespace();
        if !(space && in_space) {
            text.push(if space { ' ' } else { c });
            written += 1;
        }
        in_space = space;
    }
    places.reach(to, written);
    if marks && (piece.cut_after || left_out(&piece.text[to..])) {
        text.push(CUT);
    }
    Snippet {
        text,
        highlights: places.done,
    }
}

/// Turns byte ranges of the source into code point ranges of what is written.
struct Places<'r> {
    waiting: &'r [(usize, usize)],
    opened: Option<usize>,
    done: Vec<(usize, usize)>,
}

impl<'r> Places<'r> {
    fn new(ranges: &'r [(usize, usize)]) -> Self {
        Self {
            waiting: ranges,
            opened: None,
            done: Vec::with_capacity(ranges.len()),
        }
    }

    /// Notes that source byte `at` is written as code point number `written`.
    fn reach(&mut self, at: usize, written: usize) {
        if let (Some(start), Some((range, rest))) = (self.opened, self.waiting.split_first())
            && range.1 == at
        {
            self.done.push((start, written));
            self.opened = None;
            self.waiting = rest;
        }
        if self.opened.is_none() && self.waiting.first().is_some_and(|range| range.0 == at) {
            self.opened = Some(written);
        }
    }
}

/// The byte ranges to highlight in `from..to`, in order and without overlaps. Of a phrase that
/// does not fit its fitting tokens are shown.
fn visible(search: &mut Search<'_, '_>, from: usize, to: usize) -> Vec<(usize, usize)> {
    let inside = |span: &Span| span.start_byte >= from && span.end_byte <= to;
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    search.advance_past(to);
    for occurrence in search.found() {
        if inside(&occurrence.span) {
            ranges.push((occurrence.span.start_byte, occurrence.span.end_byte));
        } else if occurrence.span.start_byte < to && occurrence.span.end_byte > from {
            let tokens = search.tokens(occurrence).filter(inside);
            ranges.extend(tokens.map(|span| (span.start_byte, span.end_byte)));
        }
    }
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.0 < last.1 => last.1 = last.1.max(range.1),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
#[path = "snippet_tests.rs"]
mod tests;
