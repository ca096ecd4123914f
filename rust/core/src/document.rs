//! What the text index is told of a fragment: the same whether it comes from a record or from a
//! database row, and nothing that could change later.

use serde::Serialize;

use crate::project::Kind;
use crate::text::{Bounded, identifiers, index_text};

/// The facet of what counts for the error filter.
pub const ERROR: &str = "is:error";
/// The facet of a retrieval tool's own calls and results.
pub const RETRIEVAL: &str = "is:retrieval";

/// The facts of a fragment that a search can ask for. Numbers are the index's own.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Number of the fragment.
    pub key: i64,
    /// Number of its event.
    pub event: i64,
    /// Number of the reading it belongs to.
    pub epoch: i64,
    /// Number of the recorded working directory.
    pub workspace: i64,
    /// Milliseconds since 1970; 0 without a time.
    pub ts: i64,
    /// What the text is.
    pub kind: Kind,
    /// Type of the entry.
    pub entry_type: &'a str,
    /// Role of the message.
    pub role: Option<&'a str>,
    /// Tool of a call or result.
    pub tool: Option<&'a str>,
    /// The event counts for the error filter.
    pub is_error: bool,
    /// The fragment belongs to a retrieval tool.
    pub retrieval: bool,
}

impl Facts<'_> {
    fn facets(&self) -> Vec<String> {
        let mut facets = vec![
            format!("kind:{}", self.kind.as_str()),
            format!("type:{}", self.entry_type),
        ];
        facets.extend(self.role.map(|role| format!("role:{role}")));
        facets.extend(self.tool.map(|tool| format!("tool:{tool}")));
        let marks = [(self.is_error, ERROR), (self.retrieval, RETRIEVAL)];
        facets.extend(marks.iter().filter(|(is, _)| *is).map(|(_, f)| (*f).into()));
        facets
    }

    /// The time, and in its lowest bit whether a person or the assistant said or concluded it, and
    /// not what tools were told or gave: a hit needs both, and each column costs a look-up.
    fn moment(&self) -> i64 {
        self.ts.saturating_mul(2) | i64::from(self.kind.is_said())
    }
}

/// The values of the text fields: one, or two when the middle of a long text is left out, so that
/// no phrase matches across the omission. A field without a token has no value.
///
/// Parts of identifiers have positions, for phrases. Whole compound identifiers are only there or
/// not, so they get a field without positions, which is half as large.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Texts {
    words: Vec<String>,
    parts: Vec<String>,
    wholes: Vec<String>,
}

impl Texts {
    /// Analyses a bounded text.
    pub fn of(text: &Bounded<'_>) -> Self {
        let mut texts = Self::default();
        for piece in [text.head, text.tail] {
            let found = identifiers(piece);
            keep(&mut texts.words, index_text(piece).into_owned());
            keep(&mut texts.parts, found.parts);
            keep(&mut texts.wholes, found.wholes);
        }
        texts
    }
}

fn keep(values: &mut Vec<String>, value: String) {
    if !value.is_empty() {
        values.push(value);
    }
}

#[derive(Serialize)]
struct Document<'a> {
    key: i64,
    event: i64,
    epoch: i64,
    workspace: i64,
    moment: i64,
    facet: Vec<String>,
    #[serde(flatten)]
    texts: &'a Texts,
}

/// The document as JSON, in the fields of the text index's schema.
///
/// # Panics
/// Never: numbers and texts are always JSON.
pub fn document(facts: &Facts<'_>, texts: &Texts) -> String {
    let document = Document {
        key: facts.key,
        event: facts.event,
        epoch: facts.epoch,
        workspace: facts.workspace,
        moment: facts.moment(),
        facet: facts.facets(),
        texts,
    };
    serde_json::to_string(&document).expect("numbers and texts are always JSON")
}

/// The document that only marks a commit with a token: `epoch` and the like lie outside of
/// everything that is asked for.
pub fn stamp_document(key: i64, token: i64) -> String {
    const NEVER: i64 = -(1 << 62);
    format!(
        r#"{{"key":{key},"event":{token},"epoch":{NEVER},"workspace":{NEVER},"moment":{NEVER},"facet":["{STAMP}"]}}"#
    )
}

/// The facet of marks; see [`stamp_document`].
pub const STAMP: &str = "is:stamp";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::bound;

    const FACTS: Facts<'static> = Facts {
        key: 7,
        event: 1 << 32,
        epoch: 1,
        workspace: 3,
        ts: -5,
        kind: Kind::ToolResult,
        entry_type: "message",
        role: Some("tool\"Result"),
        tool: Some("bash"),
        is_error: true,
        retrieval: false,
    };

    #[test]
    fn a_document_says_all_facts() {
        let texts = Texts::of(&bound("say \"userName\" in snake_case\n", 100));
        assert_eq!(
            document(&FACTS, &texts),
            concat!(
                r#"{"key":7,"event":4294967296,"epoch":1,"workspace":3,"moment":-10,"#,
                r#""facet":["kind:tool.result","type:message","role:tool\"Result","tool:bash","#,
                r#""is:error"],"words":["say \"userName\" in snake_case\n"],"#,
                r#""parts":["user name"],"wholes":["snakeªcase"]}"#
            )
        );
    }

    #[test]
    fn a_moment_is_a_time_and_whether_it_was_said() {
        let said = Facts {
            kind: Kind::UserText,
            ..FACTS
        };
        let damaged = Facts {
            ts: i64::MAX,
            ..FACTS
        };
        assert_eq!((FACTS.moment(), said.moment()), (-10, -9));
        assert_eq!(damaged.moment(), i64::MAX);
    }

    #[test]
    fn an_omission_separates_values_and_nothing_is_no_value() {
        let texts = Texts::of(&bound("one two aB three four", 8));
        assert_eq!(texts.words, ["one ", "four"]);
        assert_eq!(Texts::of(&bound("", 8)), Texts::default());
        assert!(texts.parts.is_empty() && texts.wholes.is_empty());
    }

    #[test]
    fn a_mark_is_json() {
        let mark: serde_json::Value = serde_json::from_str(&stamp_document(-1, -9)).unwrap();
        assert_eq!(mark["facet"][0], STAMP);
        assert_eq!(mark["event"], -9);
    }
}
