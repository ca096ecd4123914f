//! The scanner against a naive model, and against what the engine's analyzer does.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, compose, is_combining_mark};

use super::super::fold::{Class, fold_into};
use super::super::word::Span;
use super::*;

fn texts(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.text).collect()
}

/// The engine's `simple` tokenizer, then its `lowercase` filter.
fn engine_tokens(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|run| !run.is_empty())
        .map(|run| run.chars().flat_map(char::to_lowercase).collect())
        .collect()
}

/// The rules of folding and cutting said over whole strings, without clusters, spans or speed.
fn model_tokens(text: &str) -> Vec<String> {
    // Separators that decomposition would turn into letters.
    let text = text.replace(['™', '℠'], " ");
    let mut kept = String::new();
    for c in text.nfkd() {
        if ('\u{2B9}'..='\u{2BF}').contains(&c) {
            kept.push(' ');
            continue;
        }
        if matches!(c, '\u{3099}' | '\u{309A}') {
            if kept.chars().last().and_then(|k| compose(k, c)).is_some() {
                kept.push(c);
            }
            continue;
        }
        let mark = is_combining_mark(c) && !c.is_alphanumeric();
        let invisible = invisible(c);
        if canonical_combining_class(c) == 0 && !mark && !invisible {
            kept.push(c);
        }
    }
    let lower: String = kept.nfc().flat_map(char::to_lowercase).collect();
    let mut words = vec![String::new()];
    for c in lower.chars() {
        match special(c) {
            _ if !c.is_alphanumeric() => words.push(String::new()),
            _ if is_single(c) => words.extend([c.to_string(), String::new()]),
            letters => {
                for letter in letters.unwrap_or(c.to_string()).chars() {
                    if words.last().is_some_and(|word| word.chars().count() == 64) {
                        words.push(String::new());
                    }
                    if let Some(word) = words.last_mut() {
                        word.push(letter);
                    }
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn invisible(c: char) -> bool {
    let ranges = [
        (0xAD, 0xAD),
        (0x34F, 0x34F),
        (0x61C, 0x61C),
        (0x640, 0x640),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x200C, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0),
        (0xFFF0, 0xFFF8),
        (0x1_BCA0, 0x1_BCA3),
        (0x1_D173, 0x1_D17A),
        (0xE_0000, 0xE_0FFF),
    ];
    let code = u32::from(c);
    ranges
        .iter()
        .any(|(from, to)| (*from..=*to).contains(&code))
}

fn special(c: char) -> Option<String> {
    let pairs = [
        ("ß", "ss"),
        ("æ", "ae"),
        ("œ", "oe"),
        ("þ", "th"),
        ("ø", "o"),
        ("ł", "l"),
        ("đ", "d"),
        ("ð", "d"),
        ("ħ", "h"),
        ("ŧ", "t"),
        ("ı", "i"),
        ("ς", "σ"),
    ];
    let found = pairs.iter().find(|(from, _)| from.starts_with(c));
    found.map(|(_, to)| (*to).to_owned())
}

fn is_single(c: char) -> bool {
    let mut units = Vec::new();
    fold_into(c, Span::default(), &mut units);
    units.iter().all(|unit| unit.class == Class::Single)
}

/// Text made of pieces that have bitten somebody, and of anything.
fn hard_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "B",
        "Zz",
        "7",
        "_",
        "-",
        ".",
        " ",
        "\n",
        "\0",
        "getUserName",
        "HTTPServer2",
        "utf8",
        "修",
        "改",
        "ファ",
        "カ",
        "\u{3099}",
        "\u{309A}",
        "ﾊ",
        "ﾟ",
        "한",
        "하",
        "\u{1112}",
        "\u{1161}",
        "\u{11AB}",
        "ㄱ",
        "ㅏ",
        "ﾡ",
        "é",
        "e\u{301}",
        "\u{308}",
        "İ",
        "ı",
        "ß",
        "ẞ",
        "Σ",
        "ς",
        "ﬁ",
        "Ⅷ",
        "½",
        "①",
        "㍿",
        "Ｆｕｌｌ",
        "น้ำ",
        "เก็บ",
        "क्षि",
        "ক\u{9C7}\u{9BE}",
        "\u{9C7}",
        "\u{9BE}",
        "שָׁלוֹם",
        "مُحَمَّد",
        "ـ",
        "\u{202E}",
        "\u{200B}",
        "\u{200D}",
        "\u{FE0F}",
        "\u{20E3}",
        "🙂",
        "👩\u{200D}💻",
        "\u{FFFD}",
        "\u{FEFF}",
        "\u{AD}",
        "…",
        "—",
        "™",
        "ʼ",
        "Привет",
        "Йод",
        "ǅ",
        "K",
        "Å",
        "𝔘",
        "\u{3164}",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ]);
    let any = any::<char>().prop_map(|c| c.to_string());
    let piece = prop_oneof![6 => pieces.prop_map(str::to_owned), 1 => any];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

#[test]
fn ascii_is_borrowed() {
    let text = "fn getUserName(&self) -> Option<&str> { src/x.ts:42 }";
    assert!(matches!(index_text(text), Cow::Borrowed(same) if same == text));
    let longest = "a".repeat(64);
    assert!(matches!(index_text(&longest), Cow::Borrowed(_)));
    let hash = format!("sha {}", "ab".repeat(40));
    assert_eq!(
        index_text(&hash),
        format!("sha {} {}", "ab".repeat(32), "ab".repeat(8))
    );
}

#[test]
fn long_runs_are_found_at_any_place() {
    for before in 0..140 {
        for run in 60..70 {
            let text = format!("{}{} x", "-".repeat(before), "a".repeat(run));
            assert_eq!(has_long_run(text.as_bytes()), run > 64, "{before} {run}");
        }
    }
}

#[test]
fn offsets_count_code_points_of_the_source() {
    let found = |text| {
        let of = |token: Token| (token.text, token.start, token.end);
        tokens(text).into_iter().map(of).collect::<Vec<_>>()
    };
    let token = |text: &str, start, end| (text.to_owned(), start, end);
    assert_eq!(found("🙂 Straße!"), [token("strasse", 2, 8)]);
    assert_eq!(
        found("e\u{301}x ab"),
        [token("ex", 0, 3), token("ab", 4, 6)]
    );
    assert_eq!(found("xe\u{301}"), [token("xe", 0, 3)]);
    assert_eq!(
        found("修File名"),
        [token("修", 0, 1), token("file", 1, 5), token("名", 5, 6)]
    );
    assert_eq!(found("½"), [token("1", 0, 1), token("2", 0, 1)]);
    assert_eq!(found("カ\u{3099}x"), [token("ガ", 0, 2), token("x", 2, 3)]);
}

#[test]
fn positions_count_tokens() {
    let positions: Vec<u32> = tokens("a 修改 b").iter().map(|t| t.position).collect();
    assert_eq!(positions, [0, 1, 2, 3]);
}

#[test]
fn a_tower_of_marks_is_one_letter() {
    let text = format!("z{}lgo", "\u{301}".repeat(10_000));
    assert_eq!(texts(&text), ["zlgo"]);
    assert_eq!(tokens(&text)[0].end, 10_004);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_engine_finds_the_same_tokens(text in prop_oneof![hard_text(), any::<String>(), "[ -~]{0,200}"]) {
        prop_assert_eq!(engine_tokens(&index_text(&text)), texts(&text));
    }

    #[test]
    fn the_scanner_agrees_with_the_model(text in prop_oneof![hard_text(), any::<String>()]) {
        prop_assert_eq!(texts(&text), model_tokens(&text));
    }

    #[test]
    fn tokens_stay_tokens(text in hard_text()) {
        for token in tokens(&text) {
            prop_assert_eq!(texts(&token.text), [token.text.as_str()]);
        }
        prop_assert_eq!(texts(&index_text(&text)), texts(&text));
    }

    #[test]
    fn offsets_lead_back_to_the_token(text in hard_text()) {
        let chars: Vec<char> = text.chars().collect();
        let mut last = 0;
        for (i, token) in tokens(&text).into_iter().enumerate() {
            prop_assert!(token.start < token.end && token.end <= chars.len());
            prop_assert!(token.start >= last);
            prop_assert_eq!(token.position as usize, i);
            // A character that gives several tokens, or is cut by the limit, is told by them all.
            let source: String = chars[token.start..token.end].iter().collect();
            let again = texts(&source).concat();
            prop_assert!(again.contains(&token.text), "{:?} in {:?}", token, again);
            last = token.start;
        }
    }
}
