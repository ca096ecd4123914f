//! A long text within a budget: head and tail around an omission, or one window.
//!
//! Ranges are code points of the full text, end exclusive. The budget counts shown source code
//! points; the omission marker comes on top, so that the same budget always shows the same text.

use super::bounds::{Bounded, slice};

/// What is shown of a text, and what is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The shown text; between head and tail stands a line that says how much is left out.
    pub text: String,
    /// The ranges that `text` shows, in order; none is empty.
    pub shown: Vec<(usize, usize)>,
    /// The rest of the text, in order; none is empty. Empty means that nothing is cut.
    pub omitted: Vec<(usize, usize)>,
    /// Code points of the full text.
    pub total: usize,
}

/// The whole text if it has at most `limit` code points, else half of the limit from its head and
/// half from its tail.
pub fn preview(text: &str, limit: usize) -> Preview {
    preview_bounded(&Bounded::whole(text), limit)
}

/// [`preview`] of a text of which head and tail are held.
pub fn preview_bounded(held: &Bounded<'_>, limit: usize) -> Preview {
    if held.is_whole() && held.total <= limit {
        let text = [held.head, held.tail].concat();
        return assemble(text, vec![(0, held.total)], held.total);
    }
    let (mut first, mut last) = (limit / 2, limit - limit / 2);
    if !held.is_whole() {
        first = first.min(held.head_chars);
        last = last.min(held.tail_chars);
    }
    let behind = held.total - last;
    let start = piece(held, 0, first);
    let end = piece(held, behind, held.total);
    let text = format!("{start}{}{end}", omission(behind - first));
    assemble(text, vec![(0, first), (behind, held.total)], held.total)
}

/// At most `len` code points from `offset` on, in one piece; nothing behind the end.
pub fn window(text: &str, offset: usize, len: usize) -> Preview {
    window_bounded(&Bounded::whole(text), offset, len)
}

/// [`window`] into a text of which head and tail are held: what stands at `offset`, up to where it
/// is held. Inside the omission that is nothing, and `omitted` says so.
pub fn window_bounded(held: &Bounded<'_>, offset: usize, len: usize) -> Preview {
    let until = offset.saturating_add(len).min(held.total);
    let in_one_piece = held.is_whole() || offset >= held.tail_start();
    let end = if in_one_piece {
        until
    } else {
        until.min(held.head_chars)
    };
    let text = piece(held, offset, end);
    assemble(text, vec![(offset, end)], held.total)
}

/// What is held of `from..to`.
fn piece(held: &Bounded<'_>, from: usize, to: usize) -> String {
    let behind = |at: usize| at.saturating_sub(held.tail_start());
    let in_tail = slice(held.tail, behind(from), behind(to));
    [slice(held.head, from, to), in_tail].concat()
}

/// The line between head and tail.
fn omission(chars: usize) -> String {
    format!("\n[… {chars} characters omitted …]\n")
}

/// Drops empty ranges, joins touching ones and derives the omitted ranges.
fn assemble(text: String, ranges: Vec<(usize, usize)>, total: usize) -> Preview {
    let mut shown: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    let mut omitted = Vec::new();
    let mut at = 0;
    for (start, end) in ranges {
        if start >= end {
            continue;
        }
        if at < start {
            omitted.push((at, start));
        }
        match shown.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ => shown.push((start, end)),
        }
        at = end;
    }
    if at < total {
        omitted.push((at, total));
    }
    Preview {
        text,
        shown,
        omitted,
        total,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::bounds::{bound, count};
    use super::*;

    #[test]
    fn short_text_is_shown_whole() {
        let all = preview("héllo", 5);
        assert_eq!(all.text, "héllo");
        assert_eq!(
            (all.shown, all.omitted, all.total),
            (vec![(0, 5)], vec![], 5)
        );
        assert_eq!(preview("", 5).shown, vec![]);
    }

    #[test]
    fn long_text_shows_head_and_tail() {
        let cut = preview("0123456789é", 5);
        assert_eq!(cut.text, "01\n[… 6 characters omitted …]\n89é");
        assert_eq!(cut.shown, vec![(0, 2), (8, 11)]);
        assert_eq!(cut.omitted, vec![(2, 8)]);
        assert_eq!(preview("abc", 0).omitted, vec![(0, 3)]);
    }

    #[test]
    fn held_evidence_is_shown_as_far_as_it_goes() {
        let held = Bounded::held("abcd", "wxyz", 26);
        let cut = preview_bounded(&held, 4);
        assert_eq!(cut.text, "ab\n[… 22 characters omitted …]\nyz");
        assert_eq!(cut.shown, vec![(0, 2), (24, 26)]);
        let wide = preview_bounded(&held, 100);
        assert_eq!(wide.shown, vec![(0, 4), (22, 26)]);
        assert_eq!(wide.omitted, vec![(4, 22)]);
        assert_eq!(
            preview_bounded(&Bounded::held("ab", "cd", 4), 4).text,
            "abcd"
        );
    }

    #[test]
    fn a_window_is_one_piece() {
        let middle = window("01é3456", 2, 3);
        assert_eq!(middle.text, "é34");
        assert_eq!(middle.shown, vec![(2, 5)]);
        assert_eq!(middle.omitted, vec![(0, 2), (5, 7)]);
        assert_eq!(window("abc", 9, 3).omitted, vec![(0, 3)]);
        assert_eq!(window("abc", 1, usize::MAX).text, "bc");
    }

    #[test]
    fn a_window_into_an_omission_is_empty() {
        let held = Bounded::held("abcd", "wxyz", 26);
        let inside = window_bounded(&held, 10, 5);
        assert_eq!(inside.text, "");
        assert_eq!((inside.shown, inside.omitted), (vec![], vec![(0, 26)]));
        assert_eq!(window_bounded(&held, 2, 24).text, "cd");
        assert_eq!(window_bounded(&held, 23, 2).text, "xy");
    }

    fn covers(preview: &Preview) -> bool {
        let mut ranges = [preview.shown.clone(), preview.omitted.clone()].concat();
        ranges.sort_unstable();
        let mut at = 0;
        for (start, end) in ranges {
            if start != at || start >= end {
                return false;
            }
            at = end;
        }
        at == preview.total
    }

    proptest! {
        #[test]
        fn shown_and_omitted_cover_the_text(text in ".{0,50}", limit in 0usize..60) {
            let cut = preview(&text, limit);
            prop_assert!(covers(&cut));
            let shown: usize = cut.shown.iter().map(|(start, end)| end - start).sum();
            prop_assert_eq!(shown, limit.min(count(&text)));
        }

        #[test]
        fn bounded_evidence_gives_the_same_preview(text in ".{0,50}", limit in 0usize..20) {
            prop_assert_eq!(preview_bounded(&bound(&text, 20), limit), preview(&text, limit));
        }

        #[test]
        fn windows_show_what_they_say(
            text in ".{0,50}", kept in 0usize..60, offset in 0usize..60, len in 0usize..60,
        ) {
            let shown = window_bounded(&bound(&text, kept), offset, len);
            prop_assert!(covers(&shown));
            prop_assert!(shown.shown.len() <= 1);
            let expected: String = match shown.shown.first() {
                Some(&(start, end)) => text.chars().skip(start).take(end - start).collect(),
                None => String::new(),
            };
            prop_assert_eq!(&shown.text, &expected);
            if kept >= count(&text) {
                let all: String = text.chars().skip(offset).take(len).collect();
                prop_assert_eq!(&shown.text, &all);
            }
        }
    }
}
