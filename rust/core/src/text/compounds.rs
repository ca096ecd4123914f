//! Compound identifiers as wholes: `snake_case`, `kebab-case`, `--long-flag`.
//!
//! They are several words, so a phrase finds them as well inside `other_snake_case_name`. The whole
//! one is one more word of the parts, by which a search can tell that it is exactly what was typed.

use super::fold::Class;
use super::parts::PARTS_BORDER;
use super::scan::is_link;
use super::word::{TOKEN_LIMIT, Word};

/// Most words of a compound; longer chains are prose or data.
const WORD_LIMIT: usize = 8;

/// Walks over the words of a text and notices compounds.
#[derive(Default)]
pub(super) struct Compounds {
    /// The compound so far, its words held apart by [`PARTS_BORDER`].
    joined: String,
    chars: usize,
    words: usize,
    /// The byte behind the last word, where a link may stand.
    end: usize,
    fits: bool,
}

impl Compounds {
    /// Takes the next word of `source`, which must have its shape, and calls `found` with the
    /// compound that ended before it, if one did.
    pub(super) fn take(&mut self, source: &str, word: &Word, found: impl FnOnce(&str)) {
        let span = word.span;
        let linked = self.words > 0 && is_linked(source.get(self.end..span.start_byte));
        if !linked {
            self.finish(found);
            self.words = 0;
        }
        let goes_on = is_linked(source.get(span.end_byte..=span.end_byte));
        if !linked && !goes_on {
            return;
        }
        if self.words == 0 {
            self.joined.clear();
            self.chars = 0;
            self.fits = word.classes.first() != Some(&Class::Digit);
        } else {
            self.joined.push(PARTS_BORDER);
        }
        self.joined.push_str(&word.text);
        self.chars += word.chars;
        self.words += 1;
        self.end = span.end_byte;
        self.fits &= is_name(&word.classes)
            && self.words <= WORD_LIMIT
            && self.chars + self.words <= TOKEN_LIMIT;
        if !self.fits {
            // Nothing is gained by growing what will not be given.
            self.joined.clear();
        }
    }

    /// Calls `found` with the compound that ends here, if one does.
    pub(super) fn finish(&self, found: impl FnOnce(&str)) {
        if self.words > 1 && self.fits {
            found(&self.joined);
        }
    }

    /// The number of words of the compound that ends here; 0 for none.
    pub(super) fn words(&self) -> usize {
        if self.fits { self.words } else { 0 }
    }
}

/// True when nothing but a sign that holds identifiers together stands there.
fn is_linked(between: Option<&str>) -> bool {
    between.is_some_and(|sign| sign.len() == 1 && is_link(sign.as_bytes()[0]))
}

/// False for the groups of a UUID and the like (`9c0b`), and for scripts without identifiers.
fn is_name(classes: &[Class]) -> bool {
    let number = classes.first() == Some(&Class::Digit);
    let letters = classes.iter().any(|class| *class != Class::Digit);
    !(number && letters || classes.contains(&Class::Single))
}

#[cfg(test)]
mod tests {
    use super::super::scan::Scanner;
    use super::*;

    fn compounds(text: &str) -> Vec<String> {
        let mut scanner = Scanner::with_shapes(text);
        let mut compounds = Compounds::default();
        let mut found = Vec::new();
        while let Some(word) = scanner.advance() {
            compounds.take(text, word, |whole| found.push(whole.to_owned()));
        }
        compounds.finish(|whole| found.push(whole.to_owned()));
        found
    }

    #[test]
    fn compounds_are_found_whole() {
        for (text, expected) in [
            ("def snake_case_name(self)", &["snakeªcaseªname"][..]),
            (
                "MAX_RETRY=3 --all-targets -v",
                &["maxªretry", "allªtargets"],
            ),
            ("myClass_doThis utf-8", &["myclassªdothis", "utfª8"]),
            ("größe_ändern", &["grosseªandern"]),
            ("src/my_file.rs", &["myªfile"]),
            ("a_b", &["aªb"]),
        ] {
            assert_eq!(compounds(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_identifier_is_none() {
        let long = "x_".repeat(9) + "x";
        let wide = "y".repeat(40) + "_" + &"z".repeat(40);
        for text in [
            "plain words, a - b, a__b, __init__, x- _y",
            "2024-05-06 1_000_000",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "修改-文件 修改_x",
            &long,
            &wide,
            "",
        ] {
            assert_eq!(compounds(text), [""; 0], "{text}");
        }
    }
}
