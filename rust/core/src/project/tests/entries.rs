use super::*;

#[test]
fn compactions_tell_their_summary_and_what_they_keep() {
    let e = event(
        r###"{"type":"compaction","id":"c","parentId":"p","summary":"## Goal\nship","firstKeptEntryId":"k","tokensBefore":90094,
        "details":{"readFiles":["a.ts","a.ts","",7],"modifiedFiles":["b.ts"],"x":"SECRET"},"fromHook":true,"systemMessage":{"role":"system","content":"SECRET"},"usage":{"input":1}}"###,
    );
    assert_eq!(
        texts(&e),
        [("summary.compaction:0".into(), "## Goal\nship")]
    );
    assert_eq!(
        (e.context_role, e.contribution, e.first_kept_index),
        (ContextRole::Summary, Contribution::Compaction, None)
    );
    let expected = [
        (RelationshipKind::Compacts, "k", None),
        (RelationshipKind::FileRead, "a.ts", None),
        (RelationshipKind::FileChanged, "b.ts", None),
    ];
    assert_eq!(edges(&e), expected);
    let inferred: Vec<_> = e.relationships.iter().map(|edge| edge.inferred).collect();
    assert_eq!(inferred, [false, true, true]);
    assert_eq!(e.omissions, [0, 0, 1, 1, 0]);
    assert_eq!(
        attribute(&e, "tokensBefore"),
        Some(&Scalar::Integer(90_094))
    );
    assert_eq!(text_attribute(&e, "firstKeptEntryId"), Some("k"));
    assert!(!format!("{e:?}").contains("SECRET"));
}

#[test]
fn compactions_of_version_1_name_a_position() {
    let mut e =
        event(r#"{"type":"compaction","summary":"s","firstKeptEntryIndex":12,"tokensBefore":1}"#);
    assert_eq!((e.first_kept_index, e.relationships.len()), (Some(12), 0));
    e.set_first_kept(Some("x".into()));
    assert_eq!(edges(&e), [(RelationshipKind::Compacts, "x", None)]);
    e.set_first_kept(None);
    assert_eq!(edges(&e), []);
    assert_eq!(
        event(r#"{"type":"compaction","firstKeptEntryIndex":"12"}"#).first_kept_index,
        None
    );
}

#[test]
fn branch_summaries_point_at_their_branch() {
    let e = event(
        r#"{"type":"branch_summary","id":"b","parentId":"p","fromId":"root","summary":"tried","details":{"modifiedFiles":["m"],"readFiles":"no"}}"#,
    );
    assert_eq!(texts(&e), [("summary.branch:0".into(), "tried")]);
    assert_eq!(
        edges(&e),
        [
            (RelationshipKind::BranchSummaryFrom, "root", None),
            (RelationshipKind::FileChanged, "m", None)
        ]
    );
    assert_eq!(
        (e.context_role, e.contribution),
        (ContextRole::Summary, Contribution::Message)
    );
    assert_eq!(
        event(r#"{"type":"branch_summary","summary":""}"#).contribution,
        Contribution::Never
    );
}

#[test]
fn custom_message_entries_are_custom_messages() {
    let e = event(
        r#"{"type":"custom_message","customType":"review-reminder","content":[{"type":"text","text":"look"}],"display":false,"details":{"secret":"SECRET"},"id":"b","parentId":"p"}"#,
    );
    assert_eq!(
        texts(&e),
        [("custom.message:0".into(), "review-reminder\nlook")]
    );
    assert_eq!(
        (e.role.as_deref(), e.context_role, e.contribution),
        (None, ContextRole::Conversation, Contribution::Message)
    );
    assert_eq!(e.omissions, [0, 0, 1, 0, 0]);
    assert_eq!(
        texts(&event(
            r#"{"type":"custom_message","customType":"t","content":"s"}"#
        )),
        [("custom.message:0".into(), "t\ns")]
    );
}

#[test]
fn extension_state_stays_unread() {
    let e = event(
        r#"{"type":"custom","customType":"todo","data":{"text":"SECRET"},"id":"x","parentId":null}"#,
    );
    assert_eq!(
        (e.fragments.len(), e.context_role, e.contribution),
        (0, ContextRole::Metadata, Contribution::Never)
    );
    assert_eq!(e.omissions, [0, 0, 0, 0, 1]);
    assert_eq!(text_attribute(&e, "customType"), Some("todo"));
    assert!(!format!("{e:?}").contains("SECRET"));
    assert_eq!(event(r#"{"type":"custom","data":null}"#).omissions, [0; 5]);
}

#[test]
fn labels_set_and_clear() {
    let e =
        event(r#"{"type":"label","id":"l","parentId":"p","targetId":"t","label":"good point"}"#);
    assert_eq!(
        edges(&e),
        [(RelationshipKind::Labels, "t", Some("good point"))]
    );
    assert_eq!(
        (text_attribute(&e, "targetId"), text_attribute(&e, "label")),
        (Some("t"), Some("good point"))
    );
    assert_eq!(
        (e.fragments.len(), e.context_role, e.contribution),
        (0, ContextRole::Metadata, Contribution::Never)
    );
    for cleared in [r#""label":"","#, r#""label":null,"#, ""] {
        let e = event(&format!(r#"{{"type":"label",{cleared}"targetId":"t"}}"#));
        assert_eq!(edges(&e), [(RelationshipKind::Labels, "t", Some(""))]);
    }
    assert_eq!(edges(&event(r#"{"type":"label","label":"x"}"#)), []);
}

#[test]
fn session_names_are_made_canonical_and_can_be_taken_away() {
    let e = event(
        r#"{"type":"session_info","id":"s","parentId":"p","name":"  fix\n the\t\u00a0lock "}"#,
    );
    assert_eq!(texts(&e), [("session.name:0".into(), "fix the lock")]);
    assert_eq!(
        (e.session_name.as_deref(), e.context_role),
        (Some("fix the lock"), ContextRole::Metadata)
    );
    for cleared in [r#","name":"""#, r#","name":" \n""#, r#","name":null"#, ""] {
        let e = event(&format!(r#"{{"type":"session_info"{cleared}}}"#));
        assert_eq!(
            (e.session_name.as_deref(), e.fragments.len()),
            (Some(""), 0),
            "{cleared}"
        );
        assert_eq!(edges(&e), [(RelationshipKind::Names, "", Some(""))]);
    }
    assert_eq!(event(r#"{"type":"label","name":"x"}"#).session_name, None);
}

#[test]
fn context_edits_omit_or_replace() {
    let e = event(
        r#"{"type":"context_edit","id":"e","parentId":"p","targetId":"t","replacement":null}"#,
    );
    assert_eq!(
        edges(&e),
        [(RelationshipKind::ContextEdit, "t", Some("omit"))]
    );
    assert_eq!(
        (e.context_role, e.contribution),
        (ContextRole::Control, Contribution::Never)
    );
    let e = event(
        r#"{"type":"context_edit","targetId":"t","replacement":{"content":[{"type":"text","text":"SECRET"}]}}"#,
    );
    assert_eq!(
        edges(&e),
        [(RelationshipKind::ContextEdit, "t", Some("replace"))]
    );
    assert!(e.fragments.is_empty() && !format!("{e:?}").contains("SECRET"));
    assert_eq!(
        edges(&event(r#"{"type":"context_edit","targetId":"t"}"#)),
        []
    );
}

#[test]
fn other_types_are_typed_and_silent() {
    let rows = [
        (
            r#"{"type":"model_change","provider":"p","modelId":"m"}"#,
            ContextRole::Control,
            Some(("modelId", "m")),
        ),
        (
            r#"{"type":"thinking_level_change","thinkingLevel":"low"}"#,
            ContextRole::Control,
            Some(("thinkingLevel", "low")),
        ),
        (
            r#"{"type":"usage","kind":"cache_warm","provider":"p","model":"m","usage":{"input":1},"note":"n"}"#,
            ContextRole::Metadata,
            Some(("kind", "cache_warm")),
        ),
        (
            r#"{"type":"leaf","targetId":"t"}"#,
            ContextRole::Control,
            Some(("targetId", "t")),
        ),
        (
            r#"{"type":"active_tools_change","tools":["a"]}"#,
            ContextRole::Control,
            None,
        ),
        (
            r#"{"type":"title","title":"T"}"#,
            ContextRole::Metadata,
            Some(("title", "T")),
        ),
        (
            r#"{"type":"from_the_future","content":"not read","summary":"not read","message":{"role":"user","content":"not read"}}"#,
            ContextRole::Metadata,
            None,
        ),
        (
            r#"{"type":"session","id":"again"}"#,
            ContextRole::Metadata,
            None,
        ),
        ("{}", ContextRole::Metadata, None),
    ];
    for (record, role, known) in rows {
        let e = event(record);
        assert_eq!(
            (e.fragments.len(), e.relationships.len()),
            (0, 0),
            "{record}"
        );
        assert_eq!(
            (e.context_role, e.contribution, e.role.as_deref()),
            (role, Contribution::Never, None),
            "{record}"
        );
        if let Some((name, value)) = known {
            assert_eq!(text_attribute(&e, name), Some(value), "{record}");
        }
    }
}
