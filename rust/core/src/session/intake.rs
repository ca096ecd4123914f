//! From lines to records: what of a line counts, which id it gets, how far the reading has come.

use crate::boundary::{Boundary, fingerprint, record_hash};
use crate::entry::{Piece, Receipt, split_line};
use crate::lines::Line;
use crate::project::{Event, project, project_oversized};

use super::{Batch, Progress, Record};

/// Turns lines into records and moves the progress along.
pub(super) struct Intake<'r> {
    pub(super) batch: &'r mut Batch,
    pub(super) progress: &'r mut Progress,
    /// Ids of a version 1 file in append order; `None` for other versions.
    pub(super) v1_ids: Option<&'r mut Vec<String>>,
}

impl Intake<'_> {
    pub(super) fn line(&mut self, line: &Line<'_>) {
        let already = self.progress.tail.take();
        if already.is_some() {
            // Published before its line feed was there; what follows on the line was looked at
            // when the reader was opened.
            if line.terminated {
                self.complete(line);
            } else {
                self.progress.tail = already;
            }
            return;
        }
        if !line.terminated {
            self.unterminated(line);
            return;
        }
        if line.oversized {
            self.oversized(line);
        } else {
            self.whole(line);
        }
        self.complete(line);
    }

    /// A line of bearable length. Nearly always it is one record, parsed once.
    fn whole(&mut self, line: &Line<'_>) {
        let bytes = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
        if bytes.first() == Some(&b'{')
            && let Ok(event) = project(bytes)
        {
            self.event(event, line, (0, bytes.len()), false);
            return;
        }
        let (pieces, receipts) = split_line(line.bytes);
        self.batch
            .receipts
            .extend(receipts.into_iter().map(|receipt| (receipt, line.start)));
        for piece in &pieces {
            self.piece(line, piece);
        }
    }

    /// A last line without line feed counts when it is one whole object: such text delimits itself.
    fn unterminated(&mut self, line: &Line<'_>) {
        if line.oversized {
            return;
        }
        let (pieces, receipts) = split_line(line.bytes);
        let [piece] = pieces.as_slice() else { return };
        if piece.detached || !line.bytes[piece.start..piece.end].starts_with(b"{") {
            return;
        }
        self.batch
            .receipts
            .extend(receipts.into_iter().map(|receipt| (receipt, line.start)));
        self.piece(line, piece);
        let start = line.start + piece.start as u64;
        self.progress.tail = Some(Boundary::of_bytes(
            start,
            &line.bytes[piece.start..piece.end],
        ));
    }

    fn complete(&mut self, line: &Line<'_>) {
        self.progress.complete_offset = line.end + 1;
        self.progress.complete_lines = line.number;
        if line.oversized {
            self.progress.unprinted = Some((line.start, line.end - line.start));
        } else if !line.is_blank() {
            // A blank line proves nothing; the boundary stays at the last record.
            self.progress.boundary = Boundary::of_bytes(line.start, line.bytes);
            self.progress.unprinted = None;
        }
    }

    fn oversized(&mut self, line: &Line<'_>) {
        let event = project_oversized(line.bytes);
        let end = usize::try_from(line.end - line.start).unwrap_or(usize::MAX);
        self.push(event, line, (0, end), record_hash(line.bytes), false);
    }

    fn piece(&mut self, line: &Line<'_>, piece: &Piece) {
        let bytes = &line.bytes[piece.start..piece.end];
        match project(bytes) {
            Ok(event) => self.event(event, line, (piece.start, piece.end), piece.detached),
            Err(_) => self.batch.receipts.push((Receipt::Malformed, line.start)),
        }
    }

    /// Takes in one well-formed JSON value.
    fn event(&mut self, event: Event, line: &Line<'_>, place: (usize, usize), detached: bool) {
        let bytes = &line.bytes[place.0..place.1];
        if bytes.starts_with(b"{") {
            // Pi heeds only the first header of a file, wherever later ones stand.
            if event.entry_type == "session" {
                return;
            }
        } else if is_falsy(bytes) {
            // Pi drops such a line. Of other values it makes an entry without an id.
            self.batch.receipts.push((Receipt::NonObject, line.start));
            return;
        }
        self.push(event, line, place, record_hash(bytes), detached);
    }

    fn push(
        &mut self,
        mut event: Event,
        line: &Line<'_>,
        (start, end): (usize, usize),
        hash: i64,
        detached: bool,
    ) {
        let is_v1 = self.v1_ids.is_some();
        for receipt in std::mem::take(&mut event.receipts) {
            // A version 1 file has no ids to miss.
            if !(is_v1 && receipt == Receipt::MissingId) {
                self.batch.receipts.push((receipt, line.start));
            }
        }
        let ordinal = self.progress.entries;
        let derived_id = event.id.is_none();
        let mut idless = false;
        if let Some(ids) = &mut self.v1_ids {
            link_v1(&mut event, ids, ordinal);
        } else if derived_id {
            idless = true;
            event.id = Some(derived_name(ordinal, event.copy_hash));
        }
        self.progress.entries += 1;
        self.batch.records.push(Record {
            event,
            derived_id,
            idless,
            detached,
            byte_start: line.start + start as u64,
            byte_end: line.start + end as u64,
            line: line.number,
            record_hash: hash,
        });
    }
}

/// A version 1 file is a list: each entry follows the one before it, and a compaction names the
/// first kept entry by its position, counting the header as 0.
fn link_v1(event: &mut Event, ids: &mut Vec<String>, ordinal: u64) {
    let id = event
        .id
        .get_or_insert_with(|| derived_name(ordinal, event.copy_hash))
        .clone();
    if event.parent_id.is_none() {
        event.parent_id = ids.last().cloned();
    }
    if let Some(index) = event.first_kept_index.take() {
        let kept = usize::try_from(index - 1).ok().and_then(|at| ids.get(at));
        event.set_first_kept(kept.cloned());
    }
    ids.push(id);
}

/// An id for an entry that has none: a prefix that Pi's ids cannot have, the ordinal, and a hash of
/// the content. No byte offset, so that copies of a file agree.
fn derived_name(ordinal: u64, copy_hash: i64) -> String {
    let print = fingerprint(&[&copy_hash.to_le_bytes()]);
    format!(
        "~{ordinal}-{:02x}{:02x}{:02x}{:02x}",
        print[0], print[1], print[2], print[3]
    )
}

/// Whether JavaScript calls the JSON value false: Pi drops such a line.
fn is_falsy(json: &[u8]) -> bool {
    match json {
        b"null" | b"false" | b"\"\"" => true,
        number => std::str::from_utf8(number)
            .ok()
            .and_then(|text| text.parse::<f64>().ok())
            .is_some_and(|value| value == 0.0),
    }
}
