//! Tool calls, and the file evidence in their arguments and in summaries.

use std::collections::HashSet;

use super::arguments::call_text;
use super::draft::Draft;
use super::fields::Members;
use super::kinds::{Kind, RelationshipKind};
use super::shell::runs_retrieval;
use super::values;
use crate::json::{Reader, ValueKind};

/// The tools that search history. What they say repeats other events.
pub const RETRIEVAL_TOOLS: [&str; 3] = ["event_search", "event_read", "event_trace"];

/// Pi's tools that run a command line.
const SHELL_TOOLS: [&str; 2] = ["bash", "powershell"];

/// Longer text in place of a path is none: no system takes one over 4 KiB.
const PATH_LIMIT: usize = 4_096;

pub(super) fn is_retrieval_tool(name: &str) -> bool {
    RETRIEVAL_TOOLS.contains(&name)
}

/// Reads a `toolCall` block: one fragment, its id, and the file it is about.
pub(super) fn read_tool_call(draft: &mut Draft, block: &Members<'_>) {
    let name = values::name(block.get("name"));
    let raw = block.get("arguments").unwrap_or("null");
    let members = Members::of(raw).unique();
    let retrieval = asks_history(name.as_deref(), &members);
    let head = values::text(block.get("name")).unwrap_or_default();
    let text = call_text(&head, raw, &members);
    draft.event.retrieval |= retrieval;
    if let Some(fragment) = draft.fragment(Kind::ToolCall, text) {
        fragment.tool_name.clone_from(&name);
        fragment.retrieval = retrieval;
    }
    if let Some(id) = values::id(block.get("id")) {
        let edge = draft.event.relate(RelationshipKind::ToolCall, id);
        edge.retrieval = retrieval;
    }
    read_file_argument(draft, name.as_deref(), &members);
}

/// Whether a call searches history, by its tool or by the command line it runs.
fn asks_history(tool: Option<&str>, arguments: &Members<'_>) -> bool {
    let Some(tool) = tool else { return false };
    if !SHELL_TOOLS.contains(&tool) {
        return is_retrieval_tool(tool);
    }
    let command = values::text(arguments.get("command"));
    command.is_some_and(|command| runs_retrieval(&command))
}

fn read_file_argument(draft: &mut Draft, tool: Option<&str>, arguments: &Members<'_>) {
    let kind = match tool {
        Some("read") => RelationshipKind::FileRead,
        Some("edit" | "write") => RelationshipKind::FileChanged,
        _ => return,
    };
    let path = values::some_text(arguments.get("path"));
    let path = path.or_else(|| values::some_text(arguments.get("file_path")));
    if let Some(path) = path.filter(|path| path.len() <= PATH_LIMIT) {
        draft.event.relate(kind, path.into_owned());
    }
}

/// Reads the lists of files in the `details` of a compaction or branch summary, each path once.
pub(super) fn read_file_lists(draft: &mut Draft, details: Option<&str>) {
    let Some(details) = details else { return };
    let lists = Members::of(details);
    read_file_list(draft, RelationshipKind::FileRead, lists.get("readFiles"));
    read_file_list(
        draft,
        RelationshipKind::FileChanged,
        lists.get("modifiedFiles"),
    );
}

fn read_file_list(draft: &mut Draft, kind: RelationshipKind, list: Option<&str>) {
    let mut seen = HashSet::new();
    for raw in list.map(strings_of).unwrap_or_default() {
        if let Some(path) = values::some_text(Some(raw))
            && path.len() <= PATH_LIMIT
            && seen.insert(path.clone())
        {
            draft.event.relate(kind, path.into_owned());
        }
    }
}

/// The string elements of a list, as source text; none when it is no list.
fn strings_of(raw: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut reader = Reader::of_text(raw);
    if reader.begin_array().is_err() {
        return found;
    }
    while let Ok(true) = reader.next_element() {
        let is_string = reader.peek() == Ok(ValueKind::String);
        match reader.raw_text() {
            Ok(value) if is_string => found.push(value),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    found
}
