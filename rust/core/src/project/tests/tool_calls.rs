use super::*;

fn call(name: &str, arguments: &str) -> Event {
    message(&format!(
        r#"{{"role":"assistant","content":[{{"type":"toolCall","id":"c1","name":"{name}","arguments":{arguments}}}]}}"#
    ))
}

fn call_text(arguments: &str) -> String {
    let e = call("t", arguments);
    assert_eq!(e.fragments.len(), 1);
    e.fragments[0].text.clone()
}

#[test]
fn arguments_are_one_decoded_line_a_scalar() {
    let text = call_text(
        r#"{"path":"src/a \"b\".ts","edits":[{"oldText":"x\ny","newText":"\u00e9\ud83d\ude00"},[1,-2.50,1e3]],"all":true,"none":null,"empty":{},"list":[],"":"unnamed"}"#,
    );
    let expected = [
        "t",
        "path: src/a \"b\".ts",
        "edits.0.oldText: x\ny",
        "edits.0.newText: é😀",
        "edits.1.0: 1",
        "edits.1.1: -2.50",
        "edits.1.2: 1e3",
        "all: true",
        "none: null",
        ": unnamed",
    ];
    assert_eq!(text, expected.join("\n"));
}

#[test]
fn arguments_of_other_shapes_are_kept() {
    assert_eq!(call_text("{}"), "t");
    assert_eq!(call_text("null"), "t");
    assert_eq!(call_text("\"raw\""), "t\narguments: raw");
    assert_eq!(
        call_text("[1,{\"a\":2}]"),
        "t\narguments.0: 1\narguments.1.a: 2"
    );
    assert_eq!(call_text(r#"{"a":1,"b":2,"a":{"c":3}}"#), "t\nb: 2\na.c: 3");
}

#[test]
fn a_call_has_its_tool_and_its_id() {
    let e = call("deploy", r#"{"env":"prod"}"#);
    assert_eq!(texts(&e), [("tool.call:0".into(), "deploy\nenv: prod")]);
    assert_eq!(e.fragments[0].tool_name.as_deref(), Some("deploy"));
    assert_eq!(edges(&e), [(RelationshipKind::ToolCall, "c1", None)]);
    assert!(!e.retrieval && !e.relationships[0].retrieval);
    let bare = message(
        r#"{"role":"assistant","content":[{"type":"toolCall"},{"type":"toolCall","name":5,"arguments":{"a":"b"}}]}"#,
    );
    assert_eq!(texts(&bare), [("tool.call:0".into(), "\na: b")]);
    assert_eq!(
        (bare.fragments[0].tool_name.as_deref(), edges(&bare).len()),
        (None, 0)
    );
}

#[test]
fn text_stays_in_proportion_to_hostile_arguments() {
    let key = "k".repeat(100_000);
    let values = "1,".repeat(100_000) + "1";
    let arguments = format!(r#"{{"{key}":[{values}]}}"#);
    let text = call_text(&arguments);
    assert!(text.len() < 3 * arguments.len());
    assert_eq!(text.lines().count(), 100_002);
    assert!(text.ends_with("\n1"));
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(call_text(&deep).lines().count(), 2);
}

#[test]
fn file_tools_are_evidence() {
    use RelationshipKind::{FileChanged, FileRead};
    let rows = [
        (
            "read",
            r#"{"path":"src/a.ts","offset":3}"#,
            Some((FileRead, "src/a.ts")),
        ),
        (
            "edit",
            r#"{"path":"src/a.ts","edits":[]}"#,
            Some((FileChanged, "src/a.ts")),
        ),
        (
            "write",
            r#"{"file_path":"/b","content":"x"}"#,
            Some((FileChanged, "/b")),
        ),
        (
            "write",
            r#"{"path":"","file_path":"/b"}"#,
            Some((FileChanged, "/b")),
        ),
        ("read", r#"{"path":5}"#, None),
        ("read", r#"{"nested":{"path":"no"}}"#, None),
        ("grep", r#"{"path":"src"}"#, None),
    ];
    for (tool, arguments, expected) in rows {
        let e = call(tool, arguments);
        let found = e.relationships.iter().find(|edge| edge.inferred);
        assert_eq!(
            found.map(|edge| (edge.kind, edge.reference.as_str())),
            expected,
            "{tool} {arguments}"
        );
    }
    let endless = format!(r#"{{"path":"{}"}}"#, "x".repeat(5_000));
    assert_eq!(call("read", &endless).relationships.len(), 1);
}

#[test]
fn calls_that_ask_history_are_marked_and_their_neighbours_are_not() {
    for tool in RETRIEVAL_TOOLS {
        let e = call(tool, r#"{"query":"lock"}"#);
        assert!(
            e.retrieval && e.fragments[0].retrieval && e.relationships[0].retrieval,
            "{tool}"
        );
    }
    let e = message(
        r#"{"role":"assistant","content":[{"type":"text","text":"let me look"},{"type":"toolCall","id":"a","name":"bash","arguments":{"command":"cd /w \u0026\u0026 pi-event-search search lock"}},
        {"type":"toolCall","id":"b","name":"bash","arguments":{"command":"grep pi-event-search README.md"}},{"type":"toolCall","id":"c","name":"other","arguments":{"command":"pi-event-search"}}]}"#,
    );
    assert!(e.retrieval);
    let fragments: Vec<_> = e.fragments.iter().map(|f| f.retrieval).collect();
    assert_eq!(fragments, [false, true, false, false]);
    let calls: Vec<_> = e
        .relationships
        .iter()
        .map(|r| (r.reference.as_str(), r.retrieval))
        .collect();
    assert_eq!(calls, [("a", true), ("b", false), ("c", false)]);
}
