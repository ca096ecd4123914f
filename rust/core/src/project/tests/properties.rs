use proptest::prelude::*;

use super::*;

const NAMES: [&str; 30] = [
    "type",
    "id",
    "parentId",
    "timestamp",
    "message",
    "role",
    "content",
    "text",
    "name",
    "arguments",
    "summary",
    "details",
    "customType",
    "data",
    "label",
    "targetId",
    "firstKeptEntryId",
    "fromId",
    "toolCallId",
    "toolName",
    "isError",
    "command",
    "output",
    "exitCode",
    "errorMessage",
    "stopReason",
    "replacement",
    "readFiles",
    "path",
    "thinking",
];

const WORDS: [&str; 22] = [
    "message",
    "compaction",
    "branch_summary",
    "custom_message",
    "custom",
    "label",
    "session_info",
    "context_edit",
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "system",
    "text",
    "toolCall",
    "image",
    "thinking",
    "read",
    "bash",
    "pi-event-search x",
    "\\ud83d\\n",
    "",
];

fn string() -> impl Strategy<Value = String> {
    prop::sample::select(&WORDS[..]).prop_map(|word| format!("\"{word}\""))
}

fn value() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec!["null", "true", "false", "0", "-1", "1e9", "2.5"])
        .prop_map(String::from);
    let leaf = prop_oneof![4 => string(), 1 => scalar];
    leaf.prop_recursive(4, 30, 6, |inner| {
        prop_oneof![
            3 => object(inner.clone()),
            1 => prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
        ]
    })
}

fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = (prop::sample::select(&NAMES[..]), inner)
        .prop_map(|(name, value)| format!("\"{name}\":{value}"));
    prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")))
}

/// Records whose types fit often enough to reach every branch, and whose values often do not.
fn record() -> impl Strategy<Value = String> {
    (string(), string(), value(), object(value())).prop_map(|(kind, role, content, rest)| {
        let message = format!(r#"{{"role":{role},"content":[{content},{rest}]}}"#);
        let rest = rest.trim_start_matches('{');
        let comma = if rest == "}" { "" } else { "," };
        format!(r#"{{"message":{message},"type":{kind}{comma}{rest}"#)
    })
}

proptest! {
    #[test]
    fn every_object_gives_an_event(record in record()) {
        let event = project(record.as_bytes());
        prop_assert!(event.is_ok(), "{record}");
        let event = event.unwrap();
        let mut counts = [0; 10];
        for fragment in &event.fragments {
            prop_assert!(!fragment.text.is_empty());
            let count = &mut counts[usize::from(fragment.kind.code())];
            prop_assert_eq!(fragment.n, *count);
            *count += 1;
            prop_assert!(!fragment.retrieval || event.retrieval);
        }
        let mut names: Vec<_> = event.attributes.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), event.attributes.len());
        prop_assert_eq!(project(record.as_bytes()).unwrap(), event);
    }

    #[test]
    fn a_cut_record_is_refused_and_its_head_is_still_read(record in record(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(record.len());
        prop_assert!(project(&record.as_bytes()[..cut]).is_err());
        let head = project_oversized(&record.as_bytes()[..cut]);
        prop_assert!(head.fragments.is_empty() && head.session_name.is_none());
    }
}
