use proptest::prelude::*;

use super::super::tokens::tokens;
use super::*;

#[test]
fn identifiers_split_into_parts() {
    for (text, parts) in [
        ("getUserName", "get user name"),
        ("GetUserName", "get user name"),
        ("HTTPServer2", "http server 2"),
        ("XMLHttpRequest", "xml http request"),
        ("parseJSON", "parse json"),
        ("utf8", "utf 8"),
        ("sha256sum", "sha 256 sum"),
        ("OAuth2Token", "o auth 2 token"),
        ("getURLs", "get urls"),
        ("IDsByName", "ids by name"),
        ("myClass_doThis", "my class ª do this"),
        ("ＨttpＳerver", "http server"),
        ("größeÄndern", "grosse andern"),
        ("ПриветМир", "привет мир"),
        ("e\u{301}taLe\u{301}ger", "eta leger"),
    ] {
        assert_eq!(identifiers(text).parts, parts, "{text}");
    }
}

#[test]
fn identifiers_of_several_words_are_kept_whole() {
    let found = identifiers("myClass_doThis");
    assert_eq!(found.wholes, "myclassªdothis");
}

#[test]
fn glued_numbers_stand_beside_their_fellows() {
    for (text, parts) in [
        ("v1.2.3", "v 1 2 3"),
        ("python3.11, next", "python 3 11"),
        ("v1.2.3-rc1.x", "v 1 2 3 rc1 rc 1"),
        ("v1.2. 3", "v 1 2"),
        ("took 12.5ms at 3.11rc1", "12 5 ms ª 3 11 rc 1"),
        ("2024-05-06T07:08:09.123Z", "2024 05 06 t 07 08 09 123 z"),
        ("utf8.decode 1.2.3 4, 5px", "utf 8 ª 5 px"),
        ("v1.2.3.4.5.6.7.8.9.10.11", "v 1 2 3 4 5 6 7 8 9"),
    ] {
        assert_eq!(identifiers(text).parts, parts, "{text}");
    }
}

#[test]
fn plain_words_and_hashes_have_no_parts() {
    for text in [
        "plain words Capitalised SHOUTED snake.case kebab/case 2024",
        "1a2b3c4d5e 9f86d081884c7d659a2feaa0c55ad015",
        "修改文件 한국어",
        "",
    ] {
        assert_eq!(identifiers(text).parts, "", "{text}");
    }
}

#[test]
fn humps_of_hash_like_words_still_split() {
    assert_eq!(
        identifiers("userV2From3To4By5").parts,
        "user v2 from3 to4 by5"
    );
}

/// What [`identifiers`] gives, without leaving anything out on the way.
fn identifiers_word_by_word(text: &str) -> Identifiers {
    let mut scanner = Scanner::with_shapes(text);
    let (mut parts, mut compounds) = (Parts::default(), Compounds::default());
    let mut divided: Vec<String> = Vec::new();
    let mut wholes = Vec::new();
    while let Some(word) = scanner.advance() {
        compounds.take(text, word, |whole| wholes.push(whole.to_owned()));
        parts.take(text, word);
        let given: Vec<&str> = parts.found().map(|(part, _)| part).collect();
        if given.is_empty() {
            continue;
        }
        match divided.last_mut().filter(|_| parts.joined) {
            Some(last) => *last = format!("{last} {}", given.join(" ")),
            None => divided.push(given.join(" ")),
        }
    }
    compounds.finish(|whole| wholes.push(whole.to_owned()));
    let once = |texts: Vec<String>, separator: &str| {
        let mut known = Vec::new();
        for text in texts {
            if !known.contains(&text) {
                known.push(text);
            }
        }
        known.join(separator)
    };
    Identifiers {
        parts: once(divided, " ª "),
        wholes: once(wholes, " "),
    }
}

proptest! {
    #[test]
    fn parts_are_the_word_again(text in "[A-Za-z0-9éßЖñİ修\u{301}_ ]{0,60}") {
        let mut scanner = Scanner::with_shapes(&text);
        let mut parts = Vec::new();
        while let Some(word) = scanner.advance() {
            split(word, &mut parts);
            prop_assert!(parts.len() != 1);
            let joined: String = parts.iter().map(|part| &word.text[part.text.clone()]).collect();
            prop_assert!(parts.is_empty() || joined == word.text);
            let mut at = word.span.start;
            for part in &parts {
                prop_assert_eq!(part.span.start, at);
                at = part.span.end;
                let source = &text[part.span.start_byte..part.span.end_byte];
                let folded: String = tokens(source).into_iter().map(|token| token.text).collect();
                prop_assert_eq!(folded, &word.text[part.text.clone()]);
            }
            prop_assert!(parts.is_empty() || at == word.span.end);
        }
    }

    #[test]
    fn prose_is_skipped_without_a_trace(text in "([A-Za-z0-9é_. -]|[A-Z]{2,3}[a-z]|\u{1b}\\[1m|\u{301}|修|_|-|\\.){0,40}") {
        prop_assert_eq!(identifiers(&text), identifiers_word_by_word(&text));
    }

    #[test]
    fn parts_are_tokens(text in any::<String>()) {
        let parts = identifiers(&text).parts;
        let own: Vec<&str> = parts.split(' ').filter(|part| !part.contains('ª')).collect();
        let own = own.join(" ");
        let found: Vec<String> = tokens(&own).into_iter().map(|token| token.text).collect();
        prop_assert_eq!(found.join(" "), own);
    }

    #[test]
    fn no_token_is_the_border(text in "(.|ª|º){0,20}") {
        prop_assert!(tokens(&text).iter().all(|token| !token.text.contains(PARTS_BORDER)));
    }
}
