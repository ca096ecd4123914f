//! From lines to records: what of a line counts, which id it gets, how far the reading has come.

use crate::boundary::{Boundary, HeaderPrint, fingerprint, record_hash};
use crate::entry::{DERIVED, Piece, Receipt, split_line};
use crate::lines::Line;
use crate::project::{Event, project, project_oversized};

use super::{Batch, Progress, Record, without_bom};

/// Turns lines into records and moves the progress along.
pub(super) struct Intake<'r> {
    pub(super) batch: &'r mut Batch,
    pub(super) progress: &'r mut Progress,
    /// Of a whole reading: the header, which is no entry.
    pub(super) header: Option<&'r HeaderPrint>,
    /// The format version of the file.
    pub(super) version: i64,
    pub(super) chain: &'r mut Chain,
}

/// The entries of a version 1 file as Pi's migration links them: a list in which each follows the
/// one before it, and a compaction names the first entry it keeps by its position.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// By position among the values Pi keeps of the file; `None` where a header stands.
    ids: Vec<Option<String>>,
    last: Option<String>,
}

impl Chain {
    /// Gives the entry an id and its links. Ids and links that the record has do not survive.
    fn link(&mut self, event: &mut Event, id: String) {
        event.parent_id = self.last.replace(id.clone());
        let index = event.first_kept_index.take();
        let kept = index.and_then(|index| self.ids.get(usize::try_from(index).ok()?)?.clone());
        event.set_first_kept(kept);
        self.ids.push(Some(id.clone()));
        event.id = Some(id);
    }

    fn header(&mut self) {
        self.ids.push(None);
    }
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
        if self.is_header(line) {
            self.header_line(line);
        } else if !line.terminated {
            self.unterminated(line);
        } else if line.oversized {
            self.oversized(line);
        } else {
            self.whole(line);
        }
        if line.terminated {
            self.complete(line);
        }
    }

    fn is_header(&self, line: &Line<'_>) -> bool {
        let skipped = line.bytes.len() - without_bom(line).len();
        let offset = line.start + skipped as u64;
        self.header.is_some_and(|header| header.offset == offset)
    }

    fn header_line(&mut self, line: &Line<'_>) {
        let bytes = without_bom(line);
        let skipped = line.bytes.len() - bytes.len();
        if skipped > 0 {
            self.note(Receipt::Bom, line);
        }
        if let Ok(event) = project(trimmed_end(bytes)) {
            self.note_all(event.receipts, line);
        }
        self.chain.header();
        if !line.terminated {
            let start = line.start + skipped as u64;
            self.progress.tail = Some(Boundary::of_bytes(start, bytes));
        }
    }

    /// A line of bearable length. Nearly always it is one record, parsed once.
    fn whole(&mut self, line: &Line<'_>) {
        let bytes = trimmed_end(line.bytes);
        if bytes.first() == Some(&b'{')
            && let Ok(event) = project(bytes)
        {
            self.event(event, line, (0, bytes.len()), false);
            return;
        }
        for piece in self.split(line) {
            self.piece(line, &piece);
        }
    }

    /// The pieces of a line; what is odd about it is noted.
    fn split(&mut self, line: &Line<'_>) -> Vec<Piece> {
        let bytes = without_bom(line);
        let skipped = line.bytes.len() - bytes.len();
        if skipped > 0 {
            self.note(Receipt::Bom, line);
        }
        let (mut pieces, receipts) = split_line(bytes);
        self.note_all(receipts, line);
        for piece in &mut pieces {
            piece.start += skipped;
            piece.end += skipped;
        }
        pieces
    }

    fn note_all(&mut self, receipts: Vec<Receipt>, line: &Line<'_>) {
        for receipt in receipts {
            self.note(receipt, line);
        }
    }

    fn note(&mut self, receipt: Receipt, line: &Line<'_>) {
        self.batch.receipts.push((receipt, line.start));
    }

    /// A last line without line feed counts when it is one whole object: such text delimits itself.
    fn unterminated(&mut self, line: &Line<'_>) {
        if line.oversized {
            return;
        }
        let skipped = line.bytes.len() - without_bom(line).len();
        let (pieces, _) = split_line(&line.bytes[skipped..]);
        let [piece] = pieces.as_slice() else { return };
        let (from, to) = (skipped + piece.start, skipped + piece.end);
        let bytes = &line.bytes[from..to];
        if piece.detached || !bytes.starts_with(b"{") {
            return;
        }
        self.whole(line);
        let start = line.start + from as u64;
        self.progress.tail = Some(Boundary::of_bytes(start, bytes));
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
        let mut event = project_oversized(line.bytes);
        self.note_all(std::mem::take(&mut event.receipts), line);
        let end = usize::try_from(line.end - line.start).unwrap_or(usize::MAX);
        self.push(event, line, (0, end), record_hash(line.bytes), false);
    }

    fn piece(&mut self, line: &Line<'_>, piece: &Piece) {
        let bytes = &line.bytes[piece.start..piece.end];
        match project(bytes) {
            Ok(event) => self.event(event, line, (piece.start, piece.end), piece.detached),
            Err(_) => self.note(Receipt::Malformed, line),
        }
    }

    /// Takes in one well-formed JSON value.
    fn event(&mut self, mut event: Event, line: &Line<'_>, place: (usize, usize), detached: bool) {
        let bytes = &line.bytes[place.0..place.1];
        self.note_all(std::mem::take(&mut event.receipts), line);
        if bytes.starts_with(b"{") {
            // Pi heeds only the first header of a file, wherever later ones stand.
            if event.entry_type == "session" {
                if !detached {
                    self.chain.header();
                }
                return;
            }
        } else if is_dropped(bytes) {
            return; // of other values Pi makes an entry without an id
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
        event.read_as(self.version);
        let is_v1 = self.version < 2;
        let derived = derived_name(self.progress.entries, event.copy_hash);
        let mut idless = false;
        if is_v1 && !detached {
            self.chain.link(&mut event, derived);
        } else if event.id.is_none() {
            idless = true;
            event.id = Some(derived);
        }
        if idless && !is_v1 {
            self.note(Receipt::MissingId, line);
        }
        self.progress.entries += 1;
        self.batch.records.push(Record {
            event,
            idless,
            detached,
            byte_start: line.start + start as u64,
            byte_end: line.start + end as u64,
            line: line.number,
            record_hash: hash,
        });
    }
}

/// An id for an entry that has none: a prefix that Pi's ids cannot have, the ordinal, and a hash of
/// the content. No byte offset, so that copies of a file agree.
fn derived_name(ordinal: u64, copy_hash: i64) -> String {
    let print = fingerprint(&[&copy_hash.to_le_bytes()]);
    format!(
        "{DERIVED}{ordinal}-{:02x}{:02x}{:02x}{:02x}",
        print[0], print[1], print[2], print[3]
    )
}

/// The line without JSON's white space behind it.
fn trimmed_end(bytes: &[u8]) -> &[u8] {
    let space = |b: &u8| matches!(b, b' ' | b'\t' | b'\r');
    let behind = bytes.iter().rev().take_while(|b| space(b)).count();
    &bytes[..bytes.len() - behind]
}

/// Whether Pi drops the line of a JSON value: because JavaScript calls the value false.
pub(super) fn is_dropped(json: &[u8]) -> bool {
    match json.trim_ascii() {
        b"null" | b"false" | b"\"\"" => true,
        number => std::str::from_utf8(number)
            .ok()
            .and_then(|text| text.parse::<f64>().ok())
            .is_some_and(|value| value == 0.0),
    }
}
