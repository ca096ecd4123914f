//! Messages, by role.

use super::draft::{Draft, texts};
use super::entries::{read_attributes, relate_branch};
use super::event::Scalar;
use super::fields::{Content, Members, Message};
use super::kinds::{ContextRole, Contribution, Kind, Omission, RelationshipKind};
use super::shell::runs_retrieval;
use super::tools::{self, is_retrieval_tool};
use super::values::{self, number, present, truthy};

/// Scalar fields of messages that are kept as attributes.
const MESSAGE_ATTRIBUTES: [&str; 20] = [
    "api",
    "cancelled",
    "customType",
    "display",
    "excludeFromContext",
    "exitCode",
    "fromId",
    "fullOutputPath",
    "isError",
    "model",
    "provider",
    "providerThinkingLevel",
    "rawStopReason",
    "responseModel",
    "stopReason",
    "thinkingLevel",
    "tokensBefore",
    "toolCallId",
    "toolName",
    "truncated",
];

/// The role of extension messages up to version 2.
pub(super) const OLD_CUSTOM: &str = "hookMessage";

/// Reads the `message` of an entry.
pub(super) fn read_message(draft: &mut Draft, message: &Message<'_>) {
    let role = values::name(message.members.get("role"));
    read_attributes(draft, &message.members, &MESSAGE_ATTRIBUTES);
    draft.count_blocks(&message.content);
    if present(message.members.get("details")) {
        draft.event.omit(Omission::Details, 1);
    }
    match role.as_deref() {
        Some("user") => read_user(draft, message),
        Some("assistant") => read_assistant(draft, message),
        Some("toolResult") => read_tool_result(draft, message),
        Some("bashExecution") => read_bash(draft, &message.members),
        Some("custom") => read_custom(draft, message),
        Some(OLD_CUSTOM) => {
            // In a file of today Pi knows no such role; see `Event::read_as`.
            read_custom(draft, message);
            draft.event.contribution = Contribution::Never;
        }
        Some("system") => {
            draft.event.context_role = ContextRole::Control;
            draft.event.contribution = Contribution::System;
            draft.event.omit(Omission::System, 1);
        }
        Some("compactionSummary") => read_summary(draft, message, Kind::SummaryCompaction),
        Some("branchSummary") => {
            read_summary(draft, message, Kind::SummaryBranch);
            relate_branch(draft, &message.members);
        }
        // Pi keeps unknown roles out of the request to the model.
        _ => {}
    }
    draft.event.role = role;
}

fn in_conversation(draft: &mut Draft) {
    draft.event.context_role = ContextRole::Conversation;
    draft.event.contribution = Contribution::Message;
}

fn read_user(draft: &mut Draft, message: &Message<'_>) {
    in_conversation(draft);
    for text in texts(&message.content) {
        draft.fragment(Kind::UserText, text);
    }
}

fn read_assistant(draft: &mut Draft, message: &Message<'_>) {
    in_conversation(draft);
    match &message.content {
        Content::Blocks(blocks) => {
            for block in blocks {
                read_assistant_block(draft, block);
            }
        }
        plain => {
            for text in texts(plain) {
                draft.fragment(Kind::AssistantText, text);
            }
        }
    }
    if let Some(error) = values::text(message.members.get("errorMessage"))
        && let Some(fragment) = draft.fragment(Kind::AssistantText, error)
    {
        fragment.is_error = true;
    }
    let reason = values::text(message.members.get("stopReason"));
    draft.event.is_error = reason.as_deref() == Some("error");
}

fn read_assistant_block(draft: &mut Draft, block: &Members<'_>) {
    match values::text(block.get("type")).as_deref() {
        Some("toolCall") => tools::read_tool_call(draft, block),
        Some("text") => {
            if let Some(text) = values::text(block.get("text")) {
                draft.fragment(Kind::AssistantText, text);
            }
        }
        _ => {}
    }
}

fn read_tool_result(draft: &mut Draft, message: &Message<'_>) {
    in_conversation(draft);
    let members = &message.members;
    let tool = values::name(members.get("toolName"));
    let failed = truthy(members.get("isError"));
    let retrieval = tool.as_deref().is_some_and(is_retrieval_tool);
    draft.event.is_error = failed;
    draft.event.retrieval = retrieval;
    for text in texts(&message.content) {
        if let Some(fragment) = draft.fragment(Kind::ToolResult, text) {
            fragment.tool_name.clone_from(&tool);
            fragment.is_error = failed;
            fragment.retrieval = retrieval;
        }
    }
    if let Some(call) = values::id(members.get("toolCallId")) {
        draft
            .event
            .relate(RelationshipKind::ToolResult, call.clone());
        draft.event.result_of = Some(call);
    }
}

/// A command the user ran. With `!!` it is kept from the model.
fn read_bash(draft: &mut Draft, members: &Members<'_>) {
    in_conversation(draft);
    if truthy(members.get("excludeFromContext")) {
        draft.event.contribution = Contribution::Never;
    }
    let exit = members.get("exitCode").and_then(number);
    let failed = exit.is_some_and(|code| code != Scalar::Integer(0));
    let command = values::text(members.get("command")).unwrap_or_default();
    let output = values::text(members.get("output")).unwrap_or_default();
    let retrieval = runs_retrieval(&command);
    draft.event.is_error = failed;
    draft.event.retrieval = retrieval;
    if let Some(fragment) = draft.fragment(Kind::BashCommand, command) {
        fragment.retrieval = retrieval;
    }
    if let Some(fragment) = draft.fragment(Kind::BashOutput, output) {
        fragment.is_error = failed;
        fragment.retrieval = retrieval;
    }
}

/// A message of an extension, as a message or as an entry of its own. Its type is searchable: it
/// stands on the first line of the first fragment.
pub(super) fn read_custom(draft: &mut Draft, message: &Message<'_>) {
    in_conversation(draft);
    let custom_type = values::name(message.members.get("customType"));
    let mut first = custom_type.clone().unwrap_or_default();
    let mut texts = texts(&message.content).into_iter();
    if let Some(text) = texts.next() {
        if !first.is_empty() {
            first.push('\n');
        }
        first.push_str(&text);
    }
    let rest = texts.map(String::from);
    for text in std::iter::once(first).chain(rest) {
        if let Some(fragment) = draft.fragment(Kind::CustomMessage, text) {
            fragment.custom_type.clone_from(&custom_type);
        }
    }
}

/// A summary written as a message, as old versions did.
fn read_summary(draft: &mut Draft, message: &Message<'_>, kind: Kind) {
    draft.event.context_role = ContextRole::Summary;
    draft.event.contribution = Contribution::Message;
    if let Some(summary) = values::text(message.members.get("summary")) {
        draft.fragment(kind, summary);
    }
}
