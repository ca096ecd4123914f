//! An event in the making.

use std::borrow::Cow;

use super::event::{Event, Fragment};
use super::fields::{Content, Members};
use super::kinds::{Kind, Omission};
use super::values;

/// Collects an event and numbers its fragments.
pub(super) struct Draft {
    pub(super) event: Event,
    counts: [u32; Kind::ALL.len()],
}

impl Draft {
    pub(super) fn new(copy_hash: i64) -> Self {
        Self {
            event: Event::empty(copy_hash),
            counts: [0; Kind::ALL.len()],
        }
    }

    /// Adds a fragment, unless its text is empty.
    pub(super) fn fragment(
        &mut self,
        kind: Kind,
        text: impl Into<String>,
    ) -> Option<&mut Fragment> {
        let text = text.into();
        if text.is_empty() {
            return None;
        }
        let count = &mut self.counts[usize::from(kind.code())];
        let n = *count;
        *count += 1;
        self.event.fragments.push(Fragment {
            kind,
            n,
            tool_name: None,
            custom_type: None,
            is_error: false,
            retrieval: false,
            text,
        });
        self.event.fragments.last_mut()
    }

    /// Counts the blocks that are left out.
    pub(super) fn count_blocks(&mut self, content: &Content<'_>) {
        let Content::Blocks(blocks) = content else {
            return;
        };
        for block in blocks {
            match values::text(block.get("type")).as_deref() {
                Some("image") => self.event.omit(Omission::Image, 1),
                Some("thinking") => self.event.omit(Omission::Thinking, 1),
                _ => {}
            }
        }
    }
}

/// The non-empty texts of a content, in order: a string itself, or the text blocks of a list.
pub(super) fn texts<'a>(content: &Content<'a>) -> Vec<Cow<'a, str>> {
    match content {
        Content::None => Vec::new(),
        Content::Text(raw) => values::some_text(Some(raw)).into_iter().collect(),
        Content::Blocks(blocks) => blocks.iter().filter_map(block_text).collect(),
    }
}

/// The non-empty text of a text block; `None` for any other block.
fn block_text<'a>(block: &Members<'a>) -> Option<Cow<'a, str>> {
    if values::text(block.get("type"))? != "text" {
        return None;
    }
    values::some_text(block.get("text"))
}
