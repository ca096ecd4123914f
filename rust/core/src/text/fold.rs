//! What a character counts as in a word, and its folded form.
//!
//! Folding is compatibility decomposition (NFKD), removal of diacritics and of invisible format
//! characters, lower case with the folds that lower case lacks (`ß` -> `ss`, `ø` -> `o`), and
//! composition. Diacritics are the marks with a canonical combining class, except the two voicing
//! marks of kana, which make other letters (`は`, `ば`).

use std::sync::OnceLock;

use unicode_normalization::char::{
    canonical_combining_class, compose, decompose_compatible, is_combining_mark,
};
use unicode_normalization::{IsNormalized, is_nfc_quick};

use super::word::Span;

/// What a folded character does in a word. Case is that of the source, before folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends a word and belongs to none.
    Separator,
    /// Any numeric character of an alphabetic script.
    Digit,
    /// An upper case letter.
    Upper,
    /// A lower case letter.
    Lower,
    /// A letter without case.
    Letter,
    /// A character of a script written without spaces: always a token of its own.
    Single,
}

/// One folded character and the source characters it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) ch: char,
    pub(super) class: Class,
    pub(super) span: Span,
}

/// What folding gives for a character taken alone, where that is simple. Most text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quick {
    Separator,
    /// Folds to itself and is a token of its own, unless a character follows that composes.
    Single,
    /// Folds to this one letter or digit, whatever follows.
    Letter(char, Class),
    /// A mark or an invisible character: leaves nothing.
    Vanishes,
    /// Ask [`fold_into`]. With `true` it may merge with the character before it.
    Slow(bool),
}

/// Answers for the characters of the basic plane, by page of 256, worked out when a page is first
/// met: asking the Unicode tables takes far longer than all the rest of scanning.
struct Pages<T>([OnceLock<Box<[T; 256]>>; 256]);

impl<T: Copy> Pages<T> {
    const fn new() -> Self {
        Self([const { OnceLock::new() }; 256])
    }

    /// The answer for `c`, which `work_out` gives for any character.
    fn get(&self, c: char, work_out: fn(char) -> T) -> T {
        let code = u32::from(c);
        let Some(page) = self.0.get((code >> 8) as usize) else {
            return work_out(c);
        };
        let answers = page.get_or_init(|| {
            Box::new(std::array::from_fn(|low| {
                let low = u32::try_from(low).unwrap_or_default();
                // The gap of the surrogates gets answers that nothing asks for.
                work_out(char::from_u32(code & !0xFF | low).unwrap_or_default())
            }))
        });
        answers[(code & 0xFF) as usize]
    }
}

static QUICK: Pages<Quick> = Pages::new();
/// The class of a decomposed character; nothing when it vanishes.
static CLASSES: Pages<Option<Class>> = Pages::new();

/// Classifies a character beyond ASCII without folding it.
pub(super) fn quick(c: char) -> Quick {
    QUICK.get(c, work_out)
}

fn work_out(c: char) -> Quick {
    let mut units = Vec::new();
    fold_into(c, Span::default(), &mut units);
    let all = |class| units.iter().all(|unit: &Unit| unit.class == class);
    match units.as_slice() {
        [] if !is_voicing_form(c) => Quick::Vanishes,
        units if merges(c, units) => Quick::Slow(true),
        [_, ..] if all(Class::Separator) => Quick::Separator,
        [unit] if unit.class == Class::Single && unit.ch == c => Quick::Single,
        // In these scripts no letter composes with a letter behind it.
        [unit] if all(unit.class) && matches!(c, '\0'..='\u{97F}' | '\u{1E00}'..='\u{1FFF}') => {
            Quick::Letter(unit.ch, unit.class)
        }
        _ => Quick::Slow(false),
    }
}

/// True when `c`, which folds to `units`, can be the second half of a composition: the vowels and
/// final consonants of Hangul, the voicing marks of kana, some Indic vowel signs.
fn merges(c: char, units: &[Unit]) -> bool {
    let first = units.first().map(|unit| unit.ch);
    is_voicing_form(c) || is_nfc_quick(first.into_iter()) == IsNormalized::Maybe
}

/// Folds one source character and appends the result to `units`, composing it with what stands
/// there. Marks that vanish widen the span of the unit before them.
pub(super) fn fold_into(c: char, span: Span, units: &mut Vec<Unit>) {
    let before = units.len();
    let mut merged = false;
    if separates(c) {
        units.push(Unit {
            ch: ' ',
            class: Class::Separator,
            span,
        });
        return;
    }
    decompose_compatible(c, |d| {
        if is_voicing(d) {
            // Behind anything but a kana it voices, it is noise.
            merged |= compose_last(d, units, span);
            return;
        }
        let Some(class) = CLASSES.get(d, class_of) else {
            return;
        };
        for lower in d.to_lowercase() {
            if vanishes(lower) {
                continue;
            }
            match expand(lower) {
                Some(letters) => units.extend(letters.chars().map(|ch| Unit { ch, class, span })),
                None if compose_last(lower, units, span) => merged = true,
                // A separator is written as a space, so that it cannot become part of a token.
                None => units.push(Unit {
                    ch: if class == Class::Separator {
                        ' '
                    } else {
                        lower
                    },
                    class,
                    span,
                }),
            }
        }
    });
    if units.len() == before
        && !merged
        && let Some(last) = units.last_mut()
    {
        last.span.stretch(span);
    }
}

/// Composes `second` with the last unit, if they make one character.
fn compose_last(second: char, units: &mut [Unit], span: Span) -> bool {
    // The first characters that are the second half of any composition of non-marks.
    if second < '\u{9BE}' {
        return false;
    }
    let Some(last) = units.last_mut() else {
        return false;
    };
    let Some(whole) = compose(last.ch, second) else {
        return false;
    };
    last.ch = whole;
    last.class = CLASSES.get(whole, class_of).unwrap_or(last.class);
    last.span.stretch(span);
    true
}

fn class_of(c: char) -> Option<Class> {
    (!vanishes(c)).then(|| classify(c))
}

/// The class of a decomposed character that does not vanish.
fn classify(c: char) -> Class {
    if !c.is_alphanumeric() || is_apostrophe(c) {
        Class::Separator
    } else if is_single(c) {
        Class::Single
    } else if c.is_numeric() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else if c.is_lowercase() {
        Class::Lower
    } else {
        Class::Letter
    }
}

/// Characters that stand between words although compatibility folding would make letters of them
/// (`Foo™` is no `footm`).
fn separates(c: char) -> bool {
    matches!(c, '\u{200B}' | '™' | '℠')
}

/// Formally letters, but used for and typed as the apostrophes and primes that separate.
fn is_apostrophe(c: char) -> bool {
    matches!(c, '\u{2B9}'..='\u{2BF}')
}

/// Decomposed characters that leave no trace.
fn vanishes(c: char) -> bool {
    c > '\u{7F}'
        && (is_invisible(c)
            || canonical_combining_class(c) != 0
            || (is_combining_mark(c) && !c.is_alphanumeric()))
}

/// The combining voiced and semi-voiced sound marks of kana.
fn is_voicing(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309A}')
}

/// The same marks, also in half width.
fn is_voicing_form(c: char) -> bool {
    is_voicing(c) || matches!(c, '\u{FF9E}' | '\u{FF9F}')
}

/// `Default_Ignorable_Code_Point` without the zero width space, which separates words, and with the
/// Arabic tatweel, which only stretches a line.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{640}' | '\u{115F}' | '\u{1160}'
        | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200C}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Folds of lower case letters that neither decomposition nor lower case gives.
fn expand(lower: char) -> Option<&'static str> {
    Some(match lower {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'ı' => "i",
        'ς' => "σ",
        _ => return None,
    })
}

/// Characters of scripts that are written without spaces between words: Han, kana, Bopomofo, Yi,
/// Hangul (spaced, but with endings glued to its words), Tangut, Nushu, and those of South East
/// Asia. By block, since the whole block shares the habit.
fn is_single(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{109F}'         // Thai, Lao, Tibetan, Myanmar
        | '\u{1100}'..='\u{11FF}'      // Hangul letters
        | '\u{1780}'..='\u{17FF}'      // Khmer
        | '\u{1950}'..='\u{19FF}'      // Tai Le, New Tai Lue
        | '\u{1A20}'..='\u{1AAF}'      // Tai Tham
        | '\u{1B00}'..='\u{1B7F}'      // Balinese
        | '\u{2E80}'..='\u{2FDF}'      // radicals
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303C}'
        | '\u{3041}'..='\u{31BF}'      // kana, Bopomofo, Hangul compatibility letters
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{A4CF}'      // Han, Yi
        | '\u{A960}'..='\u{A97F}'
        | '\u{A980}'..='\u{A9FF}'      // Javanese, Myanmar
        | '\u{AA60}'..='\u{AADF}'      // Myanmar, Tai Viet
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{16FE0}'..='\u{18DFF}'    // Tangut, Khitan
        | '\u{1AFF0}'..='\u{1B2FF}'    // kana, Nushu
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
