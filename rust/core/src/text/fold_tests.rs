//! Exhaustive checks over all characters: there are only a million of them.

use super::*;

fn every_char() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

fn fold(text: &str) -> Vec<(char, Class)> {
    let mut units = Vec::new();
    for c in text.chars() {
        fold_into(c, Span::default(), &mut units);
    }
    units.iter().map(|unit| (unit.ch, unit.class)).collect()
}

fn folded(text: &str) -> String {
    fold(text).into_iter().map(|(c, _)| c).collect()
}

#[test]
fn words_fold_as_people_expect() {
    for (text, expected) in [
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("İstanbul", "istanbul"),
        ("ılık", "ilik"),
        ("Ὀδυσσεύς", "οδυσσευσ"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("Łódź", "lodz"),
        ("smørrebrød", "smorrebrod"),
        ("Þór", "thor"),
        ("ﬁne", "fine"),
        ("Ｗｉｄｅ１", "wide1"),
        ("Ⅷ", "viii"),
        ("x²", "x2"),
        ("ёлка Йод", "елка иод"),
        ("e\u{301}\u{327}x", "ex"),
        ("مُحَمَّد", "محمد"),
        ("كـــتاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("co\u{AD}operate", "cooperate"),
        ("می\u{200C}خواهم", "میخواهم"),
        ("น้ำ", "นํา"),
        ("क्षि", "कषि"),
    ] {
        assert_eq!(folded(text), expected, "{text}");
    }
}

#[test]
fn kana_and_hangul_stay_composed() {
    for (text, expected) in [
        ("ガ", "ガ"),
        ("カ\u{3099}", "ガ"),
        ("ﾊﾟ", "パ"),
        ("か\u{3099}\u{3099}", "が"),
        ("한", "한"),
        ("\u{1112}\u{1161}\u{11AB}", "한"),
        ("㍿", "株式会社"),
    ] {
        assert_eq!(folded(text), expected, "{text}");
        assert!(fold(text).iter().all(|(_, class)| *class == Class::Single));
    }
}

#[test]
fn signs_that_look_like_letters_separate() {
    for text in ["™", "℠", "\u{2BC}", "\u{200B}", "\u{FFFD}", "\0", "🙂", "¨"] {
        let units = fold(text);
        assert!(!units.is_empty(), "{text:?}");
        assert!(units.iter().all(|(_, class)| *class == Class::Separator));
    }
}

#[test]
fn quick_answers_agree_with_folding() {
    for c in every_char() {
        let folded = fold(&c.to_string());
        match quick(c) {
            Quick::Separator => {
                assert!(!folded.is_empty(), "{c:?}");
                assert!(folded.iter().all(|(_, class)| *class == Class::Separator));
            }
            Quick::Single => assert_eq!(folded, [(c, Class::Single)]),
            Quick::Letter(letter, class) => {
                assert_eq!(folded, [(letter, class)]);
                assert!(!matches!(class, Class::Single | Class::Separator), "{c:?}");
            }
            Quick::Vanishes => assert_eq!(folded, []),
            Quick::Slow(_) => {}
        }
    }
}

#[test]
fn quick_letters_never_compose_with_what_follows() {
    let letters: Vec<char> = every_char()
        .filter_map(|c| match quick(c) {
            Quick::Letter(letter, _) => Some(letter),
            _ => None,
        })
        .collect();
    for second in every_char().filter(|c| matches!(quick(*c), Quick::Slow(true))) {
        for (second, _) in fold(&second.to_string()) {
            assert!(
                letters
                    .iter()
                    .all(|first| compose(*first, second).is_none())
            );
        }
    }
}

#[test]
fn what_vanishes_never_composes() {
    for c in every_char().filter(|c| quick(*c) == Quick::Vanishes) {
        for base in ["は", "カ", "한", "\u{1112}", "\u{9C7}", "a"] {
            assert_eq!(fold(&format!("{base}{c}")), fold(base), "{base} {c:?}");
        }
    }
}

#[test]
fn what_is_not_said_to_merge_never_composes() {
    // One first half of each family of compositions.
    let firsts = [
        'か', 'ハ', '\u{1112}', '하', '\u{9C7}', '\u{B47}', '\u{BC6}', '\u{CCA}', '\u{D46}',
    ];
    for second in every_char().filter(|c| quick(*c) != Quick::Slow(true)) {
        if let Some((folded, _)) = fold(&second.to_string()).first() {
            let whole = firsts.iter().find_map(|first| compose(*first, *folded));
            assert_eq!(whole, None, "{second:?}");
        }
    }
}

#[test]
fn second_halves_of_compositions_merge() {
    for c in [
        '\u{3099}',
        '\u{309A}',
        'ﾞ',
        'ﾟ',
        '\u{1161}',
        '\u{11A8}',
        'ㅏ',
        'ﾡ',
        '\u{9BE}',
        '\u{16D67}',
    ] {
        let first_half_only = c == 'ﾡ';
        assert_eq!(quick(c) == Quick::Slow(true), !first_half_only, "{c:?}");
    }
}

#[test]
fn folding_is_stable() {
    for c in every_char() {
        let once = folded(&c.to_string());
        assert_eq!(folded(&once), once, "{c:?}");
    }
}

#[test]
fn folded_words_survive_the_filters_of_the_engine() {
    for c in every_char() {
        for (folded, class) in fold(&c.to_string()) {
            assert_eq!(folded.is_alphanumeric(), class != Class::Separator);
            if class != Class::Separator {
                assert!(folded.to_lowercase().eq([folded]), "{c:?} gives {folded:?}");
            }
        }
    }
}
