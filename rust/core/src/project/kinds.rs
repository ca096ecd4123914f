//! The closed vocabularies of the projection. Their names are part of the outward contract.

/// The semantic kind of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Text of a user message.
    UserText,
    /// Visible answer text of an assistant message, or its error message.
    AssistantText,
    /// A tool call: the tool's name and its arguments.
    ToolCall,
    /// Text of a tool's result.
    ToolResult,
    /// A command the user ran with `!`.
    BashCommand,
    /// The output of such a command.
    BashOutput,
    /// Summary of a compaction.
    SummaryCompaction,
    /// Summary of a branch that was left.
    SummaryBranch,
    /// Text an extension put before the model.
    CustomMessage,
    /// A name given to the session.
    SessionName,
}

impl Kind {
    /// Every kind, in the order of [`Self::code`].
    pub const ALL: [Self; 10] = [
        Self::UserText,
        Self::AssistantText,
        Self::ToolCall,
        Self::ToolResult,
        Self::BashCommand,
        Self::BashOutput,
        Self::SummaryCompaction,
        Self::SummaryBranch,
        Self::CustomMessage,
        Self::SessionName,
    ];

    /// The public name, also the first part of a fragment id.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserText => "user.text",
            Self::AssistantText => "assistant.text",
            Self::ToolCall => "tool.call",
            Self::ToolResult => "tool.result",
            Self::BashCommand => "bash.command",
            Self::BashOutput => "bash.output",
            Self::SummaryCompaction => "summary.compaction",
            Self::SummaryBranch => "summary.branch",
            Self::CustomMessage => "custom.message",
            Self::SessionName => "session.name",
        }
    }

    /// True for what a person or the assistant said or concluded.
    pub fn is_said(self) -> bool {
        matches!(
            self,
            Self::UserText
                | Self::AssistantText
                | Self::SummaryCompaction
                | Self::SummaryBranch
                | Self::CustomMessage
                | Self::SessionName
        )
    }

    /// A small number for storage; never reassigned.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The kind of a stored number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// What part an event plays in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextRole {
    /// Something said, called, returned or run.
    Conversation,
    /// Stands for other events.
    Summary,
    /// Steers the model or its context.
    Control,
    /// About the session rather than in it.
    Metadata,
}

impl ContextRole {
    /// Every role, in the order of their codes.
    pub const ALL: [Self; 4] = [
        Self::Conversation,
        Self::Summary,
        Self::Control,
        Self::Metadata,
    ];

    /// The public name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Summary => "summary",
            Self::Control => "control",
            Self::Metadata => "metadata",
        }
    }
}

/// Whether an entry on the selected path can put a message into the request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contribution {
    /// It cannot, whatever its position.
    Never,
    /// One message.
    Message,
    /// A message that is dropped from the range a compaction keeps.
    System,
    /// Its summary, if it is the newest compaction on the path.
    Compaction,
}

impl Contribution {
    /// Every contribution, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Never, Self::Message, Self::System, Self::Compaction];

    /// A stable name for storage and diagnostics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Message => "message",
            Self::System => "system",
            Self::Compaction => "compaction",
        }
    }
}

/// What an event's recorded reference points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelationshipKind {
    /// The reference is the id of a tool call this event makes.
    ToolCall,
    /// The reference is the id of the tool call this event answers.
    ToolResult,
    /// The reference is the first entry a compaction keeps.
    Compacts,
    /// The reference is the entry whose branch a summary tells of.
    BranchSummaryFrom,
    /// The reference is the labelled entry, the detail the label; an empty one clears.
    Labels,
    /// The reference is the edited entry, the detail `omit` or `replace`.
    ContextEdit,
    /// The reference is the path of a file that was read.
    FileRead,
    /// The reference is the path of a file that was written or edited.
    FileChanged,
    /// The reference is empty, the detail the name the session has from here on.
    Names,
}

impl RelationshipKind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Self; 9] = [
        Self::ToolCall,
        Self::ToolResult,
        Self::Compacts,
        Self::BranchSummaryFrom,
        Self::Labels,
        Self::ContextEdit,
        Self::FileRead,
        Self::FileChanged,
        Self::Names,
    ];

    /// A stable kebab-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolCall => "tool-call",
            Self::ToolResult => "tool-result",
            Self::Compacts => "compacts",
            Self::BranchSummaryFrom => "branch-summary-from",
            Self::Labels => "labels",
            Self::ContextEdit => "context-edit",
            Self::FileRead => "file-read",
            Self::FileChanged => "file-changed",
            Self::Names => "names",
        }
    }
}

/// Content that is counted but never read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Omission {
    /// Private reasoning blocks.
    Thinking,
    /// Image blocks.
    Image,
    /// `details` of tool results, summaries and custom messages.
    Details,
    /// System prompts and tool definitions.
    System,
    /// State that an extension stored.
    CustomState,
}

impl Omission {
    /// Every omission, in the order of the counters of an event.
    pub const ALL: [Self; 5] = [
        Self::Thinking,
        Self::Image,
        Self::Details,
        Self::System,
        Self::CustomState,
    ];

    /// The public name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Thinking => "thinking",
            Self::Image => "image",
            Self::Details => "details",
            Self::System => "system",
            Self::CustomState => "custom-state",
        }
    }
}
