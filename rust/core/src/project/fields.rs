//! One validating pass over a record that notes where its values are.
//!
//! Values are kept as source text and decoded only when they are wanted, so images, thinking,
//! prompts and extension state pass by without ever becoming a string.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::json::{JsonError, Reader, ValueKind};

/// Members of an object in source order, values as validated source text.
#[derive(Debug, Default)]
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Members<'a> {
    /// The value of a key; the last one wins, as with `JSON.parse`.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| *value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// Reads the object that `raw` is; no members when it is something else.
    pub(super) fn of(raw: &'a str) -> Self {
        let mut reader = Reader::of_text(raw);
        match reader.peek() {
            Ok(ValueKind::Object) => Self::read(&mut reader).unwrap_or_default(),
            _ => Self::default(),
        }
    }

    /// Drops all but the last member of each key.
    pub(super) fn unique(self) -> Self {
        let mut seen = HashSet::new();
        let newest_first = self.0.into_iter().rev();
        let mut kept: Vec<_> = newest_first
            .filter(|(key, _)| seen.insert(key.clone()))
            .collect();
        kept.reverse();
        Self(kept)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        let mut members = Vec::new();
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            members.push((key, reader.raw_text()?));
        }
        Ok(Self(members))
    }

    fn push(&mut self, key: Cow<'a, str>, value: &'a str) {
        self.0.push((key, value));
    }
}

/// The `content` of a message.
#[derive(Debug, Default)]
pub(super) enum Content<'a> {
    /// Missing, or neither a string nor a list.
    #[default]
    None,
    /// A string, as source text.
    Text(&'a str),
    /// The objects of a list.
    Blocks(Vec<Members<'a>>),
}

impl<'a> Content<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        match reader.peek()? {
            ValueKind::String => Ok(Self::Text(reader.raw_text()?)),
            ValueKind::Array => Self::read_blocks(reader),
            _ => {
                reader.skip_value()?;
                Ok(Self::None)
            }
        }
    }

    fn read_blocks(reader: &mut Reader<'a>) -> Result<Self, JsonError> {
        let mut blocks = Vec::new();
        reader.begin_array()?;
        while reader.next_element()? {
            if reader.peek()? == ValueKind::Object {
                blocks.push(Members::read(reader)?);
            } else {
                reader.skip_value()?;
            }
        }
        Ok(Self::Blocks(blocks))
    }
}

/// A message, or the message-like part of an entry.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) members: Members<'a>,
    pub(super) content: Content<'a>,
}

impl<'a> Message<'a> {
    /// Reads members up to the end of the object or, in a record that was cut, as far as they go.
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            if key == "content" {
                self.content = Content::read(reader)?;
            } else {
                let value = reader.raw_text()?;
                self.members.push(key, value);
            }
        }
        Ok(())
    }
}

/// A whole record. Its own `content` (of a custom message entry) is in `own`, beside its members.
#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    pub(super) own: Message<'a>,
    pub(super) message: Option<Message<'a>>,
    /// Byte ranges of the values that a fork's copy may change.
    pub(super) rechained: Vec<Range<usize>>,
}

impl<'a> Record<'a> {
    /// Reads members from the start of an object. What was read stays when an error ends it.
    pub(super) fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            match key.as_ref() {
                "message" => self.read_message(reader)?,
                "content" => self.own.content = Content::read(reader)?,
                name => {
                    let rechained = matches!(name, "parentId" | "firstKeptEntryId");
                    let value = reader.raw_text()?;
                    if rechained {
                        let end = reader.position();
                        self.rechained.push(end - value.len()..end);
                    }
                    self.own.members.push(key, value);
                }
            }
        }
        reader.finish()
    }

    fn read_message(&mut self, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        self.message = None;
        if reader.peek()? == ValueKind::Object {
            return self.message.insert(Message::default()).read(reader);
        }
        reader.skip_value()
    }
}
