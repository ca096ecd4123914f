//! One reading of one session file: what must be read, and the events in it.
//!
//! A [`SessionReader`] decides (unchanged, append, rebuild), hands out batches of records in append
//! order with bounded memory, and gives the checkpoint that belongs to what it has handed out so
//! far, so that a caller can publish a long file in pieces.

mod intake;

#[cfg(test)]
mod tests;

use crate::boundary::{Boundary, HeaderPrint, record_hash};
use crate::checkpoint::{Checkpoint, Decision, RebuildReason, decide, settled};
use crate::entry::{BOM, Header, NEWEST, Receipt, parse_header};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Reader;
use crate::lines::{Line, LineReader, OVERSIZED_HEAD, RECORD_LIMIT};
use crate::project::{Event, project, project_oversized};
use crate::source::{Observation, Source, read_exact_at};
use intake::{Chain, Intake, is_dropped};

/// What a reader is going to do, decided before anything is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Nothing was written since the checkpoint.
    Unchanged,
    /// Only bytes behind the checkpoint are read.
    Append,
    /// No checkpoint was given: the whole file is read.
    Fresh,
    /// The checkpoint does not describe this file any more: the whole file is read again.
    Rebuild(RebuildReason),
}

/// An event with its place in the file.
#[derive(Debug)]
pub struct Record {
    /// The projected entry. `event.id` is always set: entries without an id get a derived one, and
    /// so do those of version 1 files, whose ids Pi replaces.
    pub event: Event,
    /// The record has no id where its format version needs one: nothing can refer to it.
    pub idless: bool,
    /// Found on a line that Pi skips: searchable, outside the tree.
    pub detached: bool,
    /// First byte of the record in the file.
    pub byte_start: u64,
    /// The byte behind the record (no line feed).
    pub byte_end: u64,
    /// 1-based line in the file.
    pub line: u64,
    /// [`record_hash`] of the bytes, checked when the record is read again.
    pub record_hash: i64,
}

/// Records handed out together.
#[derive(Debug, Default)]
pub struct Batch {
    /// In append order.
    pub records: Vec<Record>,
    /// What was skipped or repaired: kind and byte offset of the line.
    pub receipts: Vec<(Receipt, u64)>,
}

/// Where the reader stands, in the terms of a checkpoint.
#[derive(Debug, Clone)]
struct Progress {
    complete_offset: u64,
    complete_lines: u64,
    boundary: Boundary,
    /// Offset and length of an oversized last record, whose print needs bytes that were not kept.
    unprinted: Option<(u64, u64)>,
    tail: Option<Boundary>,
    entries: u64,
}

/// Reads one session file from its checkpoint, or from its start. See the module.
#[derive(Debug)]
pub struct SessionReader<S: Source> {
    source: S,
    plan: Plan,
    header: Option<Header>,
    header_print: Option<HeaderPrint>,
    /// The format version of the header.
    version: i64,
    observation: Observation,
    progress: Progress,
    chain: Chain,
    bytes_read: u64,
    probed_bytes: u64,
    finished: bool,
}

impl<S: Source> SessionReader<S> {
    /// Decides what must be read and, for a whole reading, reads the header.
    ///
    /// `version` is the header version the checkpoint's session was read with: files of version 1
    /// are always read whole, because their ids depend on everything before them.
    ///
    /// # Errors
    /// `NotASession` when the first parseable record is no session header; `Io`.
    pub fn open(source: S, known: Option<(Checkpoint, i64)>, now_ns: i64) -> Result<Self> {
        let observation = source.observe()?;
        let mut reader = Self {
            source,
            plan: Plan::Fresh,
            header: None,
            header_print: None,
            version: known.as_ref().map_or(NEWEST, |(_, version)| *version),
            observation,
            progress: Progress {
                complete_offset: 0,
                complete_lines: 0,
                boundary: Boundary::of_bytes(0, b""),
                unprinted: None,
                tail: None,
                entries: 0,
            },
            chain: Chain::default(),
            bytes_read: 0,
            probed_bytes: 0,
            finished: false,
        };
        if let Some((checkpoint, version)) = known {
            reader.plan = reader.plan_from(checkpoint, version, now_ns)?;
        }
        match reader.plan {
            Plan::Unchanged => reader.finished = true,
            Plan::Append => {}
            Plan::Fresh | Plan::Rebuild(_) => reader.read_header()?,
        }
        Ok(reader)
    }

    /// What was decided.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// The header, when the file is read whole.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Bytes read to be parsed.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Bytes read to verify the checkpoint.
    pub fn probed_bytes(&self) -> u64 {
        self.probed_bytes
    }

    /// Size of the file when it was opened; nothing beyond is read.
    pub fn size(&self) -> u64 {
        self.observation.size
    }

    /// Bytes behind the last record handed out: an unfinished tail, or what is still to be read.
    pub fn pending_bytes(&self) -> u64 {
        let tail = self.progress.tail.as_ref().map_or(0, |tail| tail.length);
        (self.observation.size).saturating_sub(self.progress.complete_offset + tail)
    }

    /// The next records, at least `budget` bytes of them unless the file ends; `None` at the end.
    ///
    /// # Errors
    /// `Io`.
    pub fn next_batch(&mut self, budget: u64) -> Result<Option<Batch>> {
        if self.finished {
            return Ok(None);
        }
        let mut batch = Batch::default();
        let from = self.progress.complete_offset;
        let mut intake = Intake {
            batch: &mut batch,
            progress: &mut self.progress,
            header: self.header.as_ref().and(self.header_print.as_ref()),
            version: self.version,
            chain: &mut self.chain,
        };
        let mut lines = LineReader::new(
            &self.source,
            from,
            self.observation.size,
            intake.progress.complete_lines + 1,
        );
        let mut ended = true;
        while let Some(line) = lines.next()? {
            intake.line(&line);
            // What follows an unterminated line is the end of the file, so it never ends a batch.
            if line.terminated && line.end - from >= budget {
                ended = false;
                break;
            }
        }
        if let Some((offset, length)) = self.progress.unprinted.take() {
            self.progress.boundary =
                Boundary::of_source(&self.source, offset, length, &mut self.probed_bytes)?
                    .ok_or_else(|| self.changed())?;
        }
        self.finished = ended;
        self.bytes_read += if ended {
            self.observation.size - from
        } else {
            self.progress.complete_offset - from
        };
        Ok(Some(batch))
    }

    /// The checkpoint for everything handed out so far, verified against the open file: the file
    /// must still be the one that was opened, and must not have shrunk.
    ///
    /// # Errors
    /// `SourceChanged`: the batches must be thrown away; `Io`.
    pub fn checkpoint(&mut self, now_ns: i64) -> Result<Checkpoint> {
        let now = self.source.observe()?;
        let same = (now.device, now.inode) == (self.observation.device, self.observation.inode);
        if !same || now.size < self.observation.size {
            return Err(self.changed());
        }
        if now != self.observation
            && !self
                .progress
                .boundary
                .matches(&self.source, &mut self.probed_bytes)?
        {
            return Err(self.changed());
        }
        let Some(header) = self.header_print else {
            return Err(self.changed());
        };
        Ok(Checkpoint {
            observation: self.observation,
            // Bytes that came meanwhile, or that are still to be read, are seen by the next look.
            settled: now == self.observation && self.finished && settled(&now, now_ns),
            complete_offset: self.progress.complete_offset,
            complete_lines: self.progress.complete_lines,
            tail: self.progress.tail,
            header,
            boundary: self.progress.boundary,
            entries: self.progress.entries,
        })
    }

    fn changed(&self) -> Error {
        Error {
            kind: ErrorKind::SourceChanged,
            offset: self.progress.complete_offset,
            detail: "the file was replaced or rewritten while it was being read".to_owned(),
            io: None,
        }
    }

    fn plan_from(&mut self, checkpoint: Checkpoint, version: i64, now_ns: i64) -> Result<Plan> {
        let decision = decide(&self.source, &checkpoint, now_ns, &mut self.probed_bytes)?;
        match decision {
            Decision::Unchanged { refreshed } => {
                self.resume(refreshed);
                Ok(Plan::Unchanged)
            }
            Decision::Rebuild(reason) => Ok(Plan::Rebuild(reason)),
            Decision::Append { .. } if version < 2 => Ok(Plan::Rebuild(RebuildReason::Requested)),
            Decision::Append { .. } => {
                if self.tail_grew(&checkpoint)? {
                    return Ok(Plan::Rebuild(RebuildReason::TailChanged));
                }
                self.resume(checkpoint);
                Ok(Plan::Append)
            }
        }
    }

    /// Whether something was glued to the published record that had no line feed yet. Pi skips such
    /// a line as a whole, so what was published of it has lost its place in the tree.
    fn tail_grew(&mut self, checkpoint: &Checkpoint) -> Result<bool> {
        let Some(tail) = &checkpoint.tail else {
            return Ok(false);
        };
        let behind = tail.offset + tail.length;
        let mut rest = LineReader::new(&self.source, behind, self.observation.size, 1);
        Ok(rest.next()?.is_some_and(|line| !line.is_blank()))
    }

    fn resume(&mut self, checkpoint: Checkpoint) {
        self.progress = Progress {
            complete_offset: checkpoint.complete_offset,
            complete_lines: checkpoint.complete_lines,
            boundary: checkpoint.boundary,
            unprinted: None,
            tail: checkpoint.tail,
            entries: checkpoint.entries,
        };
        self.header_print = Some(checkpoint.header);
    }

    /// Finds the header: the first value that Pi does not drop. The lines before it are read with
    /// those behind it, so that what is damaged there is told in the same way.
    fn read_header(&mut self) -> Result<()> {
        let mut lines = LineReader::new(&self.source, 0, self.observation.size, 1);
        while let Some(line) = lines.next()? {
            let bytes = without_bom(&line);
            if let Some(header) = parse_header(bytes) {
                let offset = line.start + (line.bytes.len() - bytes.len()) as u64;
                self.version = header.version;
                self.header = Some(header);
                self.header_print = Some(HeaderPrint::of_bytes(offset, bytes));
                return Ok(());
            }
            if line.oversized || (Reader::is_json(bytes) && !is_dropped(bytes)) {
                break;
            }
        }
        Err(Error {
            kind: ErrorKind::NotASession,
            offset: 0,
            detail: "the first record of the file is no Pi session header".to_owned(),
            io: None,
        })
    }
}

/// Reads one record again by its byte range; `None` when the bytes are not the ones indexed.
///
/// # Errors
/// `Io`.
pub fn read_record<S: Source>(
    source: &S,
    start: u64,
    end: u64,
    hash: i64,
) -> Result<Option<Record>> {
    let Some(bytes) = indexed_bytes(source, start, end, hash)? else {
        return Ok(None);
    };
    let event = if is_oversized(start, end) {
        project_oversized(&bytes)
    } else {
        match project(&bytes) {
            Ok(event) => event,
            Err(_) => return Ok(None),
        }
    };
    Ok(Some(Record {
        event,
        idless: false,
        detached: false,
        byte_start: start,
        byte_end: end,
        line: 0,
        record_hash: hash,
    }))
}

/// The first of some indexed records (start, end, hash) whose bytes are others now.
///
/// # Errors
/// `Io`.
pub fn first_changed<S: Source>(source: &S, records: &[(u64, u64, i64)]) -> Result<Option<usize>> {
    for (number, (start, end, hash)) in records.iter().enumerate() {
        if indexed_bytes(source, *start, *end, *hash)?.is_none() {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// What is hashed of a record: all of it, or the beginning of an oversized one. `None` when it is
/// not what was indexed.
fn indexed_bytes<S: Source>(
    source: &S,
    start: u64,
    end: u64,
    hash: i64,
) -> Result<Option<Vec<u8>>> {
    let kept = if is_oversized(start, end) {
        OVERSIZED_HEAD
    } else {
        usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX)
    };
    let bytes = read_exact_at(source, start, kept, &mut 0)?;
    Ok((bytes.len() == kept && record_hash(&bytes) == hash).then_some(bytes))
}

fn is_oversized(start: u64, end: u64) -> bool {
    end.saturating_sub(start) > RECORD_LIMIT
}

/// The bytes of a line without the byte order mark that a file may begin with: Pi refuses such a
/// file, and there is no need to.
fn without_bom<'a>(line: &Line<'a>) -> &'a [u8] {
    match line.bytes.strip_prefix(BOM) {
        Some(rest) if line.start == 0 => rest,
        _ => line.bytes,
    }
}
