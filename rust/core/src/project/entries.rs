//! Entry types: the envelope every record has, and what each type adds to it.

use std::borrow::Cow;

use super::draft::Draft;
use super::event::Scalar;
use super::fields::{Members, Record};
use super::kinds::{ContextRole, Contribution, Kind, Omission, RelationshipKind};
use super::values::{self, bounded_id, present, truthy};
use super::{message, tools};
use crate::entry::{DERIVED, Receipt};
use crate::text::canonical_name;

/// Scalar fields of entries that are kept as attributes.
const ENTRY_ATTRIBUTES: [&str; 18] = [
    "api",
    "customType",
    "display",
    "firstKeptEntryId",
    "firstKeptEntryIndex",
    "fromHook",
    "fromId",
    "kind",
    "label",
    "model",
    "modelId",
    "name",
    "note",
    "provider",
    "targetId",
    "thinkingLevel",
    "title",
    "tokensBefore",
];

/// Reads a record of any type.
pub(super) fn read_entry(draft: &mut Draft, record: &Record<'_>) {
    let own = &record.own.members;
    read_envelope(draft, own);
    read_attributes(draft, own, &ENTRY_ATTRIBUTES);
    if present(own.get("details")) {
        draft.event.omit(Omission::Details, 1);
    }
    if present(own.get("systemMessage")) {
        draft.event.omit(Omission::System, 1);
    }
    draft.count_blocks(&record.own.content);
    let entry_type = draft.event.entry_type.clone();
    match entry_type.as_str() {
        "message" => {
            if let Some(message) = &record.message {
                message::read_message(draft, message);
            }
        }
        "compaction" => read_compaction(draft, own),
        "branch_summary" => read_branch_summary(draft, own),
        "custom_message" => message::read_custom(draft, &record.own),
        "custom" => {
            let stored = present(own.get("data"));
            draft.event.omit(Omission::CustomState, usize::from(stored));
        }
        "label" => read_label(draft, own),
        "session_info" => read_name(draft, own),
        "context_edit" => read_context_edit(draft, own),
        "model_change" | "thinking_level_change" | "active_tools_change" | "leaf" => {
            draft.event.context_role = ContextRole::Control;
        }
        _ => {}
    }
}

/// What every record carries: type, id, parent, timestamp.
fn read_envelope(draft: &mut Draft, own: &Members<'_>) {
    let event = &mut draft.event;
    event.entry_type = values::name(own.get("type")).unwrap_or_default();
    if let Some(id) = values::some_text(own.get("id")) {
        let short = bounded_id(&id);
        if matches!(short, Cow::Owned(_)) {
            event.note(Receipt::LongId);
        }
        event.id = Some(short.into_owned());
    }
    let parent = own.get("parentId");
    event.has_parent_id = parent.is_some();
    event.parent_id = values::id(parent).or_else(|| odd_parent(parent));
    event.timestamp = values::name(own.get("timestamp"));
    event.timestamp_ms = event.timestamp.as_deref().and_then(values::parse_timestamp);
}

/// A parent that is recorded but is no string is no entry of the file, whatever its ids spell. It
/// gets a name that no id has, so that the entry counts as an orphan and not as a root.
fn odd_parent(parent: Option<&str>) -> Option<String> {
    let raw = parent.filter(|_| truthy(parent))?;
    Some(bounded_id(&format!("{DERIVED}{raw}")).into_owned())
}

/// Keeps the listed scalar members, each under its last value.
pub(super) fn read_attributes(draft: &mut Draft, members: &Members<'_>, names: &[&str]) {
    for (name, raw) in members.iter().filter(|(name, _)| names.contains(name)) {
        draft.event.attributes.retain(|(kept, _)| kept != name);
        if let Some(value) = values::scalar(raw) {
            draft.event.attributes.push((name.to_owned(), value));
        }
    }
}

fn read_compaction(draft: &mut Draft, own: &Members<'_>) {
    draft.event.context_role = ContextRole::Summary;
    draft.event.contribution = Contribution::Compaction;
    if let Some(summary) = values::text(own.get("summary")) {
        draft.fragment(Kind::SummaryCompaction, summary);
    }
    if let Some(kept) = values::id(own.get("firstKeptEntryId")) {
        draft.event.relate(RelationshipKind::Compacts, kept);
    }
    if let Some(Scalar::Integer(index)) = own.get("firstKeptEntryIndex").and_then(values::number) {
        draft.event.first_kept_index = Some(index);
    }
    tools::read_file_lists(draft, own.get("details"));
}

fn read_branch_summary(draft: &mut Draft, own: &Members<'_>) {
    draft.event.context_role = ContextRole::Summary;
    // Pi makes a message of it only when there is something to say.
    if truthy(own.get("summary")) {
        draft.event.contribution = Contribution::Message;
    }
    if let Some(summary) = values::text(own.get("summary")) {
        draft.fragment(Kind::SummaryBranch, summary);
    }
    relate_branch(draft, own);
    tools::read_file_lists(draft, own.get("details"));
}

/// The branch a summary tells of; `root` is a value Pi writes, not an id.
pub(super) fn relate_branch(draft: &mut Draft, members: &Members<'_>) {
    if let Some(from) = values::id(members.get("fromId")) {
        draft
            .event
            .relate(RelationshipKind::BranchSummaryFrom, from);
    }
}

fn read_label(draft: &mut Draft, own: &Members<'_>) {
    let label = values::name(own.get("label")).unwrap_or_default();
    if let Some(target) = values::id(own.get("targetId")) {
        let edge = draft.event.relate(RelationshipKind::Labels, target);
        edge.detail = Some(label);
    }
}

fn read_name(draft: &mut Draft, own: &Members<'_>) {
    let recorded = values::text(own.get("name")).unwrap_or_default();
    let name = canonical_name(&recorded);
    draft.fragment(Kind::SessionName, name.as_str());
    let edge = draft.event.relate(RelationshipKind::Names, String::new());
    edge.detail = Some(name.clone());
    draft.event.session_name = Some(name);
}

/// An edit without a `replacement` is damaged and says nothing.
fn read_context_edit(draft: &mut Draft, own: &Members<'_>) {
    draft.event.context_role = ContextRole::Control;
    let Some(replacement) = own.get("replacement") else {
        return;
    };
    let what = if replacement == "null" {
        "omit"
    } else {
        "replace"
    };
    if let Some(target) = values::id(own.get("targetId")) {
        let edge = draft.event.relate(RelationshipKind::ContextEdit, target);
        edge.detail = Some(what.to_owned());
    }
}
