//! Limits in code points.

/// Most code points of one fragment that are indexed; a longer text keeps its head and its tail.
pub const INDEXED_LIMIT: usize = 65_536;

/// The number of code points in `text`.
pub fn count(text: &str) -> usize {
    text.chars().count()
}

/// A text within a limit: whole, or its head and its tail around an omission.
///
/// `head` is a prefix and `tail` a suffix of the text, and they never overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounded<'a> {
    /// The whole text, or its first `head_chars` code points.
    pub head: &'a str,
    /// Empty when nothing is omitted, else the last `tail_chars` code points.
    pub tail: &'a str,
    /// Code points of the full text.
    pub total: usize,
    /// Code points of `head`.
    pub head_chars: usize,
    /// Code points of `tail`.
    pub tail_chars: usize,
}

impl<'a> Bounded<'a> {
    /// All of `text`.
    pub fn whole(text: &'a str) -> Self {
        let total = count(text);
        Self {
            head: text,
            tail: "",
            total,
            head_chars: total,
            tail_chars: 0,
        }
    }

    /// Puts together what a store kept of a text of `total` code points.
    ///
    /// A `total` smaller than what is held is raised to it: held text is never denied.
    pub fn held(head: &'a str, tail: &'a str, total: usize) -> Self {
        let (head_chars, tail_chars) = (count(head), count(tail));
        Self {
            head,
            tail,
            total: total.max(head_chars + tail_chars),
            head_chars,
            tail_chars,
        }
    }

    /// True when no code point of the text is missing.
    pub fn is_whole(&self) -> bool {
        self.head_chars + self.tail_chars == self.total
    }

    /// Where the tail starts in the full text.
    pub fn tail_start(&self) -> usize {
        self.total - self.tail_chars
    }
}

/// Bounds `text` to `limit` code points: beyond it the first half and the last half of the limit
/// remain (of an odd limit the tail has the larger half, since errors stand at the end of output).
pub fn bound(text: &str, limit: usize) -> Bounded<'_> {
    let whole = Bounded::whole(text);
    if whole.total <= limit {
        return whole;
    }
    let head_chars = limit / 2;
    let tail_chars = limit - head_chars;
    Bounded {
        head: &text[..byte_at(text, head_chars)],
        tail: &text[byte_from_end(text, tail_chars)..],
        total: whole.total,
        head_chars,
        tail_chars,
    }
}

/// A session name as it is shown and compared: white space runs become one space, none at the ends.
/// Pi trims names, and to JavaScript the byte order mark is white space too.
pub fn canonical_name(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let space = |c: char| c.is_whitespace() || c == '\u{FEFF}';
    for word in text.split(space).filter(|word| !word.is_empty()) {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    }
    name
}

/// The part of `text` in `from..to` (code points); a range beyond the end is cut.
pub(super) fn slice(text: &str, from: usize, to: usize) -> &str {
    let rest = &text[byte_at(text, from)..];
    &rest[..byte_at(rest, to.saturating_sub(from))]
}

/// Byte offset of code point `at`, or the length when the text is shorter.
fn byte_at(text: &str, at: usize) -> usize {
    text.char_indices().nth(at).map_or(text.len(), |(i, _)| i)
}

/// Byte offset at which the last `chars` code points start.
fn byte_from_end(text: &str, chars: usize) -> usize {
    let Some(skip) = chars.checked_sub(1) else {
        return text.len();
    };
    text.char_indices().rev().nth(skip).map_or(0, |(i, _)| i)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_within_the_limit_is_whole() {
        let bounded = bound("héllo", 5);
        assert_eq!((bounded.head, bounded.tail), ("héllo", ""));
        assert_eq!((bounded.total, bounded.head_chars), (5, 5));
        assert!(bounded.is_whole());
        assert!(bound("", 0).is_whole());
    }

    #[test]
    fn beyond_the_limit_head_and_tail_remain() {
        let bounded = bound("a€𝄞dé", 3);
        assert_eq!((bounded.head, bounded.tail), ("a", "dé"));
        assert_eq!((bounded.total, bounded.tail_start()), (5, 3));
        assert!(!bounded.is_whole());
        let nothing = bound("abc", 0);
        assert_eq!((nothing.head, nothing.tail, nothing.total), ("", "", 3));
    }

    #[test]
    fn held_text_is_never_denied() {
        assert_eq!(Bounded::held("ab", "cd", 3).total, 4);
        assert_eq!(Bounded::held("ab", "cd", 9).tail_start(), 7);
    }

    #[test]
    fn names_are_trimmed_and_single_spaced() {
        assert_eq!(canonical_name(" \t my\u{3000}\n session  "), "my session");
        assert_eq!(canonical_name(" \n\u{FEFF}"), "");
        assert_eq!(canonical_name("\u{FEFF}a\u{FEFF} b"), "a b");
    }

    proptest! {
        #[test]
        fn bounds_partition_the_text(text in ".{0,60}", limit in 0usize..70) {
            let bounded = bound(&text, limit);
            prop_assert!(text.starts_with(bounded.head));
            prop_assert!(text.ends_with(bounded.tail));
            prop_assert_eq!(count(bounded.head), bounded.head_chars);
            prop_assert_eq!(count(bounded.tail), bounded.tail_chars);
            prop_assert_eq!(bounded.total, count(&text));
            prop_assert_eq!(bounded.head_chars + bounded.tail_chars, limit.min(bounded.total));
        }

        #[test]
        fn slices_count_code_points(text in ".{0,40}", from in 0usize..50, len in 0usize..50) {
            let expected: String = text.chars().skip(from).take(len).collect();
            prop_assert_eq!(slice(&text, from, from + len), expected);
        }
    }
}
