//! How much of a source must be read again: nothing, what was appended, or everything.
//!
//! The stat of a file only ever *starts* a decision. Inodes are used again, times can be set back,
//! and a write within the clock's resolution leaves no trace in them; so an append is believed
//! only after the header and the last complete record were found unchanged.

use crate::boundary::{Boundary, HeaderPrint, probe};
use crate::error::{Error, Result};
use crate::lines::is_blank;
use crate::source::{Observation, Source};

/// How old both times of a file must be before an equal stat proves anything: 2 s, the coarsest
/// resolution of a file system in use.
pub const RACY_WINDOW_NS: i64 = 2_000_000_000;

/// How many bytes before `complete_offset` are checked to be a line end and blank lines.
const EDGE_WINDOW: u64 = 4 << 10;

/// What was known about a source when it was last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// The stat taken on the descriptor before reading.
    pub observation: Observation,
    /// Whether `observation` was already old when it was taken, see [`settled`].
    pub settled: bool,
    /// Byte offset behind the LF of the last complete line; 0 when there is none.
    pub complete_offset: u64,
    /// Number of complete lines before it, blank ones included.
    pub complete_lines: u64,
    /// Print from `complete_offset` to the end of a JSON object that was already published
    /// though no LF ends its line yet.
    pub tail: Option<Boundary>,
    /// Print of the header record.
    pub header: HeaderPrint,
    /// Print of the last complete line that is not blank; `Boundary::of_bytes(0, b"")` when the
    /// whole file was one unterminated header.
    pub boundary: Boundary,
    /// Number of entries published.
    pub entries: u64,
}

/// Why everything must be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebuildReason {
    /// Another device or inode: another file under the name.
    Replaced,
    /// Shorter than what was published.
    Truncated,
    /// Other bytes where the header was.
    HeaderChanged,
    /// Other bytes where the last complete record was.
    BoundaryChanged,
    /// Other bytes where the published record without LF was.
    TailChanged,
    /// Touched without growing: nothing that only appends does that, and an edit far before the
    /// last record would look the same.
    Rewritten,
    /// The checkpoint contradicts itself or the file's line ends.
    CheckpointInvalid,
    /// Asked for; never decided here.
    Requested,
}

impl RebuildReason {
    /// The stable kebab-case name that crosses the language border.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Truncated => "truncated",
            Self::HeaderChanged => "header-changed",
            Self::BoundaryChanged => "boundary-changed",
            Self::TailChanged => "tail-changed",
            Self::Rewritten => "rewritten",
            Self::CheckpointInvalid => "checkpoint-invalid",
            Self::Requested => "requested",
        }
    }
}

/// What to do with a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nothing is new.
    Unchanged {
        /// The checkpoint to keep; differs from the old one where it became settled.
        refreshed: Checkpoint,
    },
    /// Everything up to `from` stands. The lines from there are to be read, among them a
    /// published tail (and the header, when `from` is 0).
    Append {
        /// Byte offset of the first line to read.
        from: u64,
        /// Its number, from 1.
        first_line: u64,
    },
    /// Nothing of the old state can be trusted.
    Rebuild(RebuildReason),
}

/// Decides from the state of the source now. Reads at most 16 KiB, counted in `probed`.
///
/// `now_ns` is the wall clock, in nanoseconds since 1970, taken before the call. Nothing in a
/// damaged checkpoint makes this fail; only a failing source does.
pub fn decide<S: Source + ?Sized>(
    source: &S,
    checkpoint: &Checkpoint,
    now_ns: i64,
    probed: &mut u64,
) -> Result<Decision> {
    let observation = source
        .observe()
        .map_err(|error| Error::io(0, "stat", error))?;
    if let Some(reason) = contradiction(checkpoint, &observation) {
        return Ok(Decision::Rebuild(reason));
    }
    let same_stat = observation == checkpoint.observation;
    if same_stat && checkpoint.settled {
        return Ok(Decision::Unchanged {
            refreshed: *checkpoint,
        });
    }
    if let Some(reason) = changed_bytes(source, checkpoint, probed)? {
        return Ok(Decision::Rebuild(reason));
    }
    if !same_stat && observation.size == checkpoint.observation.size {
        return Ok(Decision::Rebuild(RebuildReason::Rewritten));
    }
    // A racy stat says nothing about bytes that no print covers: read them again.
    if same_stat && observation.size == published_end(checkpoint) {
        let refreshed = Checkpoint {
            settled: settled(&observation, now_ns),
            ..*checkpoint
        };
        return Ok(Decision::Unchanged { refreshed });
    }
    Ok(Decision::Append {
        from: checkpoint.complete_offset,
        first_line: checkpoint.complete_lines.saturating_add(1),
    })
}

/// Whether both times lie at least [`RACY_WINDOW_NS`] before `now_ns`.
///
/// Only then does a later equal stat prove an equal content: any write in between would have got
/// another time. Times in the future or outside the representable range never settle.
pub fn settled(observation: &Observation, now_ns: i64) -> bool {
    let safe = now_ns.saturating_sub(RACY_WINDOW_NS);
    [observation.mtime_ns, observation.ctime_ns]
        .iter()
        .all(|time| *time <= safe && *time > i64::MIN + 1_000_000_000)
}

/// What can be refused without reading.
fn contradiction(checkpoint: &Checkpoint, now: &Observation) -> Option<RebuildReason> {
    let then = &checkpoint.observation;
    if !is_consistent(checkpoint) {
        Some(RebuildReason::CheckpointInvalid)
    } else if (then.device, then.inode) != (now.device, now.inode) {
        Some(RebuildReason::Replaced)
    } else if now.size < published_end(checkpoint) {
        Some(RebuildReason::Truncated)
    } else {
        None
    }
}

/// Whether the numbers can belong to one file. Afterwards every sum of them is in range.
fn is_consistent(checkpoint: &Checkpoint) -> bool {
    let (size, complete) = (checkpoint.observation.size, checkpoint.complete_offset);
    let tail_end = match &checkpoint.tail {
        None => Some(complete),
        Some(tail) if tail.offset < complete || tail.length == 0 => None,
        Some(tail) => tail.end(),
    };
    let (Some(published), Some(header_end), Some(boundary_end)) =
        (tail_end, checkpoint.header.end(), checkpoint.boundary.end())
    else {
        return false;
    };
    let boundary_fits = if complete == 0 {
        checkpoint.boundary == Boundary::of_bytes(0, b"")
    } else {
        boundary_end < complete
    };
    // Every line has an LF, and every entry more than one byte.
    let lines_fit = (complete > 0) == (checkpoint.complete_lines > 0)
        && checkpoint.complete_lines <= complete
        && checkpoint.entries <= published;
    let header_fits = checkpoint.header.length > 0 && header_end <= published;
    published <= size && boundary_fits && lines_fit && header_fits
}

/// Byte offset behind everything that was published.
fn published_end(checkpoint: &Checkpoint) -> u64 {
    let tail = checkpoint.tail.as_ref().and_then(Boundary::end);
    tail.unwrap_or(checkpoint.complete_offset)
}

/// Compares the prints with the source.
fn changed_bytes<S: Source + ?Sized>(
    source: &S,
    checkpoint: &Checkpoint,
    probed: &mut u64,
) -> Result<Option<RebuildReason>> {
    if !checkpoint.header.matches(source, probed)? {
        return Ok(Some(RebuildReason::HeaderChanged));
    }
    if !checkpoint.boundary.matches(source, probed)? {
        return Ok(Some(RebuildReason::BoundaryChanged));
    }
    if !ends_line(source, checkpoint, probed)? {
        return Ok(Some(RebuildReason::CheckpointInvalid));
    }
    if let Some(tail) = &checkpoint.tail
        && !tail.matches(source, probed)?
    {
        return Ok(Some(RebuildReason::TailChanged));
    }
    Ok(None)
}

/// Whether `complete_offset` stands behind an LF with only blank lines back to the boundary. An
/// offset at a later record's edge would skip records for ever.
fn ends_line<S: Source + ?Sized>(
    source: &S,
    checkpoint: &Checkpoint,
    probed: &mut u64,
) -> Result<bool> {
    let complete = checkpoint.complete_offset;
    if complete == 0 {
        return Ok(true);
    }
    let boundary_end = checkpoint.boundary.end().unwrap_or(complete);
    let from = boundary_end.max(complete.saturating_sub(EDGE_WINDOW));
    let len = usize::try_from(complete.saturating_sub(from)).unwrap_or(0);
    let gap = probe(source, from, len, probed)?;
    Ok(gap.is_some_and(|gap| gap.ends_with(b"\n") && is_blank(&gap)))
}

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "checkpoint_file_tests.rs"]
mod file_tests;

#[cfg(test)]
#[path = "checkpoint_damage_tests.rs"]
mod damage_tests;
