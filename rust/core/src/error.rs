//! The one error type of the core. What a caller may do depends on [`ErrorKind`] alone.

use std::{fmt, io};

/// Why a source could not be used. Damaged records are no errors: they leave receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The operating system refused to open, stat or read: the source is unobservable, not absent.
    Io,
    /// A directory, pipe, socket or device stands under the name.
    NotRegularFile,
    /// The first parseable record is no session header.
    NotASession,
    /// The file changed while it was read; what was read so far must be discarded.
    SourceChanged,
}

impl ErrorKind {
    /// The stable kebab-case name that crosses the language border.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Io => "io",
            Self::NotRegularFile => "not-regular-file",
            Self::NotASession => "not-a-session",
            Self::SourceChanged => "source-changed",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Io => "The source cannot be read",
            Self::NotRegularFile => "The source is not a regular file",
            Self::NotASession => "The source is not a session file",
            Self::SourceChanged => "The source changed while it was read",
        }
    }
}

/// An error of the core, without any path or content of the source in it.
///
/// [`fmt::Display`] already includes the text of `io`, so there is no further source in the chain.
#[derive(Debug)]
pub struct Error {
    /// What happened, for decisions.
    pub kind: ErrorKind,
    /// Where in the file, in bytes; 0 when no place is meant.
    pub offset: u64,
    /// What was attempted or found, for people; may be empty.
    pub detail: String,
    /// The operating system's error, when there was one.
    pub io: Option<io::Error>,
}

/// The result type of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error that did not come from the operating system. `offset` is in bytes.
    pub fn new(kind: ErrorKind, offset: u64, detail: impl Into<String>) -> Self {
        Self {
            kind,
            offset,
            detail: detail.into(),
            io: None,
        }
    }

    /// A failed system call while doing what `detail` says, at `offset` bytes.
    pub fn io(offset: u64, detail: impl Into<String>, error: io::Error) -> Self {
        Self {
            io: Some(error),
            ..Self::new(ErrorKind::Io, offset, detail)
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.sentence())?;
        if self.offset > 0 {
            write!(f, " at byte {}", self.offset)?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        if let Some(error) = &self.io {
            write!(f, ": {error}")?;
        }
        f.write_str(".")
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::io(0, "", error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_one_sentence_with_what_is_known() {
        let bare = Error::new(ErrorKind::NotRegularFile, 0, "");
        assert_eq!(bare.to_string(), "The source is not a regular file.");
        let placed = Error::new(ErrorKind::SourceChanged, 17, "it became shorter");
        assert_eq!(
            placed.to_string(),
            "The source changed while it was read at byte 17: it became shorter."
        );
        let failed = Error::io(0, "open", io::Error::other("disk on fire"));
        assert_eq!(
            failed.to_string(),
            "The source cannot be read: open: disk on fire."
        );
    }

    #[test]
    fn an_io_error_converts_and_keeps_its_number() {
        let error = Error::from(io::Error::from_raw_os_error(5));
        assert_eq!(error.kind, ErrorKind::Io);
        assert_eq!(error.io.and_then(|e| e.raw_os_error()), Some(5));
    }

    #[test]
    fn kinds_have_distinct_names() {
        let names = [
            ErrorKind::Io,
            ErrorKind::NotRegularFile,
            ErrorKind::NotASession,
            ErrorKind::SourceChanged,
        ]
        .map(ErrorKind::as_str);
        assert_eq!(
            names,
            ["io", "not-regular-file", "not-a-session", "source-changed"]
        );
    }
}
