use proptest::prelude::*;

use super::super::bounds::{bound, count};
use super::super::query::{Clause, parse_query};
use super::super::tokens::tokens;
use super::*;

fn cut(text: &str, query: &str, limit: usize) -> Snippet {
    snippet(text, "", parse_query(query).ok().as_ref(), limit)
}

/// The highlighted stretches themselves.
fn marked(snippet: &Snippet) -> Vec<String> {
    let chars: Vec<char> = snippet.text.chars().collect();
    let range = |&(start, end): &(usize, usize)| chars[start..end].iter().collect();
    snippet.highlights.iter().map(range).collect()
}

#[test]
fn short_text_is_whole_and_single_spaced() {
    let found = cut("  Die\n\tStraße   ist lang ", "strasse", 40);
    assert_eq!(found.text, "Die Straße ist lang");
    assert_eq!(found.highlights, [(4, 10)]);
}

#[test]
fn without_a_match_the_start_is_shown() {
    let text = "one two three four five six seven eight";
    assert_eq!(cut(text, "zebra", 20).text, "one two three four…");
    assert_eq!(snippet(text, "", None, 20).text, "one two three four…");
    assert_eq!(snippet("", "", None, 20), Snippet::default());
}

#[test]
fn the_match_stands_inside_its_surroundings() {
    let text = format!("{}needle{}", "before ".repeat(30), " after".repeat(30));
    let found = cut(&text, "needle", 60);
    assert_eq!(
        found.text,
        "…before before needle after after after after after…"
    );
    assert_eq!(marked(&found), ["needle"]);
}

#[test]
fn at_the_end_of_a_text_more_of_what_leads_up_is_shown() {
    let text = format!("{}needle", "before ".repeat(30));
    let found = cut(&text, "needle", 40);
    assert_eq!(found.text, "…before before before before needle");
}

#[test]
fn most_different_terms_win_then_the_earliest() {
    let text = format!(
        "lock lock lock {} lock held busy {} lock busy",
        "x ".repeat(60),
        "y ".repeat(60)
    );
    let found = cut(&text, "lock busy", 40);
    assert!(found.text.contains("lock held busy"), "{}", found.text);
    assert_eq!(marked(&found), ["lock", "busy"]);
}

#[test]
fn a_phrase_is_one_range_and_needs_its_order() {
    let found = cut("busy lock, Lock  busy now", "\"lock busy\"", 60);
    assert_eq!(marked(&found), ["Lock busy"]);
    let found = cut("请修改File名字", "修改file名", 60);
    assert_eq!(marked(&found), ["修改File名"]);
    let found = cut("see foo.bar() or foo(bar)", "foo.bar", 60);
    assert_eq!(marked(&found), ["foo.bar", "foo(bar"]);
}

#[test]
fn repeated_tokens_of_a_phrase_are_found() {
    let found = cut("a a b a a a b", "\"a a b\"", 60);
    assert_eq!(marked(&found), ["a a b", "a a b"]);
}

#[test]
fn parts_are_marked_inside_the_identifier() {
    let found = cut("call getUserName(HTTPServer2)", "user server", 60);
    assert_eq!(marked(&found), ["User", "Server"]);
    let found = cut("call getUserName()", "userName", 60);
    assert_eq!(marked(&found), ["UserName"]);
    let found = cut("call getUserName()", "getusername user", 60);
    assert_eq!(marked(&found), ["getUserName"]);
    assert_eq!(marked(&cut("xÜberGröße", "größe", 60)), ["Größe"]);
    assert_eq!(marked(&cut("at v1.2.3-rc.1", "1.2.3", 60)), ["1.2.3"]);
    assert_eq!(marked(&cut("getUser nameOf", "userName", 60)), [""; 0]);
}

#[test]
fn head_and_tail_are_never_joined() {
    let query = parse_query("\"alpha omega\"").unwrap();
    let found = snippet("some alpha", "omega end", Some(&query), 60);
    assert_eq!(found.text, "some alpha…");
    assert_eq!(found.highlights, []);
    let query = parse_query("omega").unwrap();
    let found = snippet("some alpha", "omega end", Some(&query), 60);
    assert_eq!(found.text, "…omega end");
    assert_eq!(found.highlights, [(1, 6)]);
}

#[test]
fn a_phrase_that_does_not_fit_shows_the_tokens_that_do() {
    let found = cut(
        "alpha beta gamma delta epsilon zeta",
        "\"alpha beta gamma delta epsilon zeta\"",
        20,
    );
    assert_eq!(found.text, "alpha beta gamma d…");
    assert_eq!(marked(&found), ["alpha", "beta", "gamma"]);
}

#[test]
fn tiny_limits_hold() {
    for limit in 0..20 {
        let found = cut("  some needle in much hay  ", "needle hay", limit);
        assert!(count(&found.text) <= limit);
    }
    assert_eq!(cut("needle", "needle", 3).text, "nee");
}

#[test]
fn white_space_does_not_use_up_the_limit() {
    let text = format!("start{}needle{}end", " ".repeat(500), "\n".repeat(500));
    assert_eq!(cut(&text, "needle", 30).text, "start needle end");
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Some token of the query: a word of a clause or a part of a term.
fn is_asked(query: &Query, token: &str) -> bool {
    let in_clause = query.clauses.iter().any(|clause| match clause {
        Clause::Term(term) => term == token,
        Clause::Phrase(words) => words.iter().any(|word| word == token),
    });
    in_clause || query.parts.iter().flatten().any(|part| part == token)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_snippet_is_a_stretch_of_its_source(
        text in "[aAbB2é修改カ\u{3099}\u{301}_. \n🙂]{0,120}",
        query in "[aAbB2é修改\". ]{1,12}",
        kept in 1usize..130,
        limit in 0usize..60,
    ) {
        let bounded = bound(&text, kept);
        let query = parse_query(&query).ok();
        let found = snippet(bounded.head, bounded.tail, query.as_ref(), limit);
        prop_assert!(count(&found.text) <= limit);
        prop_assert!(!found.text.contains("  ") && !found.text.contains('\n'));
        let inner = squeeze(found.text.trim_start_matches(CUT).trim_end_matches(CUT));
        let (head, tail) = (squeeze(bounded.head), squeeze(bounded.tail));
        prop_assert!(head.contains(&inner) || tail.contains(&inner));
        if limit >= MARKED_LIMIT && count(&inner) < count(&squeeze(&text)) {
            prop_assert!(found.text.starts_with(CUT) || found.text.ends_with(CUT));
        }
    }

    #[test]
    fn highlights_are_what_was_asked_for(
        text in "[aAbB2é修改\u{301}_. \n]{0,120}",
        query in "[aAbB2é修改\". ]{1,12}",
        limit in 0usize..60,
    ) {
        let Ok(query) = parse_query(&query) else { return Ok(()) };
        let found = snippet(&text, "", Some(&query), limit);
        let mut last = 0;
        for &(start, end) in &found.highlights {
            prop_assert!(start >= last && start < end && end <= count(&found.text));
            last = end;
        }
        for stretch in marked(&found) {
            prop_assert_eq!(stretch.trim(), &stretch);
            let (mut words, mut asked) = (0, 0);
            for token in tokens(&stretch) {
                words += 1;
                let source: String =
                    stretch.chars().skip(token.start).take(token.end - token.start).collect();
                let parts = super::super::identifiers(&source).parts;
                let by_parts = !parts.is_empty() && parts.split(' ').all(|p| is_asked(&query, p));
                asked += usize::from(is_asked(&query, &token.text) || by_parts);
            }
            prop_assert!(words > 0 && words == asked, "{:?} for {:?}", stretch, query);
        }
    }

    #[test]
    fn what_fits_is_marked_everywhere(text in "[ab修 ]{0,40}", query in "[ab修]{1,3}") {
        let Ok(query) = parse_query(&query) else { return Ok(()) };
        let found = snippet(&text, "", Some(&query), 60);
        let Clause::Term(term) = &query.clauses[0] else { return Ok(()) };
        let expected = tokens(&text).iter().filter(|token| token.text == *term).count();
        prop_assert_eq!(found.highlights.len(), expected);
    }
}
