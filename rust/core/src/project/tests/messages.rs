use super::*;

#[test]
fn user_messages_are_strings_or_blocks() {
    let e = message(r#"{"role":"user","content":"hello\nworld"}"#);
    assert_eq!(texts(&e), [("user.text:0".into(), "hello\nworld")]);
    assert_eq!(
        (e.role.as_deref(), e.context_role, e.contribution),
        (
            Some("user"),
            ContextRole::Conversation,
            Contribution::Message
        )
    );
    let e = message(
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"iVBOR","mimeType":"image/png"},"stray",
        {"type":"text","text":""},{"type":"text"},{"type":"text","text":5},{"type":"video","text":"no"},null,{"text":"no"},{"type":"text","text":"b"}]}"#,
    );
    assert_eq!(
        texts(&e),
        [("user.text:0".into(), "a"), ("user.text:1".into(), "b")]
    );
    assert_eq!(e.omissions, [0, 1, 0, 0, 0]);
}

#[test]
fn content_of_other_shapes_gives_nothing() {
    for content in [
        "null",
        "5",
        "{}",
        "[]",
        "\"\"",
        "[[{\"type\":\"text\",\"text\":\"no\"}]]",
    ] {
        for role in ["user", "assistant", "toolResult"] {
            let e = message(&format!(r#"{{"role":"{role}","content":{content}}}"#));
            assert_eq!(
                (e.fragments.len(), e.contribution),
                (0, Contribution::Message),
                "{content}"
            );
        }
    }
}

#[test]
fn assistant_text_and_calls_are_kept_in_order_and_thinking_never() {
    let e = message(
        r#"{"content":[{"type":"thinking","thinking":"SECRET","thinkingSignature":"SECRET"},{"type":"text","text":"one","textSignature":"SECRET"},
        {"type":"toolCall","id":"c1","name":"ls","arguments":{},"thoughtSignature":"SECRET"},{"type":"text","text":"two"}],
        "api":"faux","provider":"anthropic","model":"m-1","usage":{"input":1,"cost":{"total":0.5}},"stopReason":"toolUse","timestamp":1,"role":"assistant","thinkingLevel":"low"}"#,
    );
    let expected = [
        ("assistant.text:0".into(), "one"),
        ("tool.call:0".into(), "ls"),
        ("assistant.text:1".into(), "two"),
    ];
    assert_eq!(texts(&e), expected);
    assert_eq!(e.omitted(Omission::Thinking), 1);
    assert!(!format!("{e:?}").contains("SECRET"));
    let names: Vec<_> = e.attributes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["api", "provider", "model", "stopReason", "thinkingLevel"]
    );
    assert!(!e.is_error);
    assert_eq!(
        texts(&message(r#"{"role":"assistant","content":"old"}"#)),
        [("assistant.text:0".into(), "old")]
    );
}

#[test]
fn an_error_message_is_evidence_of_its_own() {
    let e = message(
        r#"{"role":"assistant","content":[{"type":"text","text":"so far"}],"stopReason":"error","errorMessage":"529 overloaded"}"#,
    );
    assert_eq!(
        fragments(&e),
        [
            ("assistant.text:0".into(), "so far", false),
            ("assistant.text:1".into(), "529 overloaded", true)
        ]
    );
    assert!(e.is_error);
    let aborted = message(
        r#"{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"by user"}"#,
    );
    assert_eq!(
        fragments(&aborted),
        [("assistant.text:0".into(), "by user", true)]
    );
    assert!(!aborted.is_error);
}

#[test]
fn tool_results_carry_their_tool_and_error() {
    let e = message(
        r#"{"role":"toolResult","toolCallId":"call_1","toolName":"bash","content":[{"type":"text","text":"out"},{"type":"image","data":"SECRET"},{"type":"text","text":"Command exited with code 1"}],
        "isError":true,"details":{"diff":"SECRET"},"nestedCalls":{"calls":[{"id":"call_1/1","name":"event_search"}]}}"#,
    );
    assert_eq!(
        fragments(&e),
        [
            ("tool.result:0".into(), "out", true),
            ("tool.result:1".into(), "Command exited with code 1", true)
        ]
    );
    assert!(
        e.fragments
            .iter()
            .all(|f| f.tool_name.as_deref() == Some("bash") && !f.retrieval)
    );
    assert_eq!(edges(&e), [(RelationshipKind::ToolResult, "call_1", None)]);
    assert_eq!(
        (e.result_of.as_deref(), e.is_error, e.retrieval),
        (Some("call_1"), true, false)
    );
    assert_eq!(e.omissions, [0, 1, 1, 0, 0]);
    assert_eq!(attribute(&e, "isError"), Some(&Scalar::Bool(true)));
    assert_eq!(text_attribute(&e, "toolName"), Some("bash"));
    assert!(!format!("{e:?}").contains("SECRET"));
    let good = message(
        r#"{"role":"toolResult","toolName":"read","content":"legacy string","isError":false,"details":null}"#,
    );
    assert_eq!(
        fragments(&good),
        [("tool.result:0".into(), "legacy string", false)]
    );
    assert_eq!(
        (good.is_error, good.result_of, good.omissions),
        (false, None, [0; 5])
    );
}

#[test]
fn results_of_retrieval_tools_are_marked() {
    for tool in RETRIEVAL_TOOLS {
        let e = message(&format!(
            r#"{{"role":"toolResult","toolCallId":"c","toolName":"{tool}","content":"x"}}"#
        ));
        assert!(e.retrieval && e.fragments[0].retrieval, "{tool}");
    }
    assert!(
        !message(r#"{"role":"toolResult","toolName":"event_searcher","content":"x"}"#).retrieval
    );
}

#[test]
fn commands_of_the_user_are_two_fragments() {
    let e = message(
        r#"{"role":"bashExecution","command":"ls -la","output":"total 0","exitCode":0,"cancelled":false,"truncated":true,"fullOutputPath":"/tmp/o","timestamp":1}"#,
    );
    assert_eq!(
        fragments(&e),
        [
            ("bash.command:0".into(), "ls -la", false),
            ("bash.output:0".into(), "total 0", false)
        ]
    );
    assert_eq!(
        (e.context_role, e.contribution, e.is_error),
        (ContextRole::Conversation, Contribution::Message, false)
    );
    assert_eq!(attribute(&e, "exitCode"), Some(&Scalar::Integer(0)));
    assert_eq!(attribute(&e, "truncated"), Some(&Scalar::Bool(true)));
    assert_eq!(text_attribute(&e, "fullOutputPath"), Some("/tmp/o"));
    let failed = message(r#"{"role":"bashExecution","command":"false","output":"","exitCode":1}"#);
    assert_eq!(
        fragments(&failed),
        [("bash.command:0".into(), "false", false)]
    );
    assert!(failed.is_error);
    let failed = message(
        r#"{"role":"bashExecution","command":"x","output":"no such file","exitCode":127,"excludeFromContext":true}"#,
    );
    assert!(failed.fragments[1].is_error);
    assert_eq!(failed.contribution, Contribution::Never);
    let cancelled = message(
        r#"{"role":"bashExecution","command":"sleep 9","output":"","exitCode":null,"cancelled":true,"excludeFromContext":false}"#,
    );
    assert_eq!(
        (cancelled.is_error, cancelled.contribution),
        (false, Contribution::Message)
    );
    let retrieval =
        message(r#"{"role":"bashExecution","command":"pi-event-search search x","output":"hits"}"#);
    assert!(retrieval.retrieval && retrieval.fragments.iter().all(|f| f.retrieval));
}

#[test]
fn custom_messages_name_their_type_first() {
    for role in ["custom", "hookMessage"] {
        let e = message(&format!(
            r#"{{"role":"{role}","customType":"review","content":[{{"type":"image","data":"x"}},{{"type":"text","text":"one"}},{{"type":"text","text":"two"}}],"display":false,"details":{{"s":1}}}}"#
        ));
        assert_eq!(
            texts(&e),
            [
                ("custom.message:0".into(), "review\none"),
                ("custom.message:1".into(), "two")
            ]
        );
        assert!(
            e.fragments
                .iter()
                .all(|f| f.custom_type.as_deref() == Some("review"))
        );
        for version in [1, 2] {
            let mut old = e.clone();
            old.read_as(version);
            assert_eq!(
                (old.role.as_deref(), old.contribution),
                (Some("custom"), Contribution::Message)
            );
        }
        let mut of_today = e.clone();
        of_today.read_as(3);
        assert_eq!(of_today, e);
        assert_eq!(e.role.as_deref(), Some(role));
        assert_eq!(e.contribution == Contribution::Never, role == "hookMessage");
        assert_eq!(e.omissions, [0, 1, 1, 0, 0]);
        assert_eq!(attribute(&e, "display"), Some(&Scalar::Bool(false)));
    }
    assert_eq!(
        texts(&message(
            r#"{"role":"custom","customType":"t","content":""}"#
        )),
        [("custom.message:0".into(), "t")]
    );
    assert_eq!(
        texts(&message(r#"{"role":"custom","content":"plain"}"#)),
        [("custom.message:0".into(), "plain")]
    );
    assert!(message(r#"{"role":"custom"}"#).fragments.is_empty());
}

#[test]
fn prompts_are_never_read() {
    let e = message(
        r#"{"role":"system","content":[{"type":"text","text":"SECRET"}],"sections":{"a":"SECRET"},"toolsAdded":[{"name":"SECRET"}]}"#,
    );
    assert_eq!(
        (e.fragments.len(), e.context_role, e.contribution),
        (0, ContextRole::Control, Contribution::System)
    );
    assert_eq!(e.omissions, [0, 0, 0, 1, 0]);
    assert!(!format!("{e:?}").contains("SECRET"));
}

#[test]
fn summaries_of_old_files_are_messages() {
    let e = message(r#"{"role":"compactionSummary","summary":"long ago","tokensBefore":5}"#);
    assert_eq!(texts(&e), [("summary.compaction:0".into(), "long ago")]);
    assert_eq!(
        (e.context_role, e.contribution),
        (ContextRole::Summary, Contribution::Message)
    );
    let e = message(r#"{"role":"branchSummary","summary":"elsewhere","fromId":"f"}"#);
    assert_eq!(texts(&e), [("summary.branch:0".into(), "elsewhere")]);
    assert_eq!(
        edges(&e),
        [(RelationshipKind::BranchSummaryFrom, "f", None)]
    );
    assert_eq!(
        (e.context_role, e.contribution),
        (ContextRole::Summary, Contribution::Message)
    );
}

#[test]
fn unknown_roles_and_missing_messages_are_typed_only() {
    let e = message(r#"{"role":"oracle","content":"not read","model":"m"}"#);
    assert_eq!(
        (e.role.as_deref(), e.fragments.len(), e.contribution),
        (Some("oracle"), 0, Contribution::Never)
    );
    assert_eq!(text_attribute(&e, "model"), Some("m"));
    for odd in ["null", "[]", "\"x\"", "{}", r#"{"role":5}"#] {
        let e = message(odd);
        assert_eq!(
            (e.role, e.fragments.len(), e.contribution),
            (None, 0, Contribution::Never),
            "{odd}"
        );
    }
}
