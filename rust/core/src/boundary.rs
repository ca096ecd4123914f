//! Fingerprints that tell whether the bytes behind a checkpoint are still the ones that were read.
//!
//! They prove identity against accidents, not against an attacker: the hashes are fast, not
//! cryptographic. All of them are the same on every machine, so they may be stored.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Result};
use crate::source::{Source, read_exact_at};

/// Bytes taken from each end of the last complete record. The end alone is not unique in real
/// files, and the record's id stands at its front.
pub const BOUNDARY_WINDOW: usize = 256;

/// Bytes taken from each end of the header.
pub const HEADER_WINDOW: usize = 4 << 10;

/// A 128-bit hash of a sequence of parts; moving a byte from one part to the next changes it.
pub fn fingerprint(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.digest128().to_le_bytes()
}

/// A 64-bit hash of a whole record, in the form a database column takes.
pub fn record_hash(bytes: &[u8]) -> i64 {
    xxh3_64(bytes).cast_signed()
}

/// The print of a record: its place, its length, and its first and last `WINDOW` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Print<const WINDOW: usize> {
    /// Byte offset in the file.
    pub offset: u64,
    /// Length in bytes, the LF not included.
    pub length: u64,
    /// Over window, offset, length and both ends.
    pub hash: [u8; 16],
}

/// The print of the last complete line.
pub type Boundary = Print<BOUNDARY_WINDOW>;

/// The print of the header record, which stands behind a BOM or garbage lines.
pub type HeaderPrint = Print<HEADER_WINDOW>;

impl<const WINDOW: usize> Print<WINDOW> {
    /// The print of `bytes`, all of what stands at byte `offset`.
    pub fn of_bytes(offset: u64, bytes: &[u8]) -> Self {
        let head = &bytes[..bytes.len().min(WINDOW)];
        let tail = &bytes[bytes.len().saturating_sub(WINDOW)..];
        Self::of_ends(offset, bytes.len() as u64, head, tail)
    }

    /// The print of `length` bytes at `offset`, reading only their ends, for records that nobody
    /// holds in memory. `None` when not all of the range is in the file. Adds the bytes read to
    /// `probed`.
    pub fn of_source<S: Source + ?Sized>(
        source: &S,
        offset: u64,
        length: u64,
        probed: &mut u64,
    ) -> Result<Option<Self>> {
        let ends = read_ends(source, offset, length, WINDOW, probed)?;
        Ok(ends.map(|(head, tail)| Self::of_ends(offset, length, &head, &tail)))
    }

    /// Whether the source still holds these bytes there. Adds the bytes read to `probed`.
    pub fn matches<S: Source + ?Sized>(&self, source: &S, probed: &mut u64) -> Result<bool> {
        let found = Self::of_source(source, self.offset, self.length, probed)?;
        Ok(found.as_ref() == Some(self))
    }

    /// Byte offset behind the last byte; `None` for a nonsense range.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.length)
    }

    fn of_ends(offset: u64, length: u64, head: &[u8], tail: &[u8]) -> Self {
        let numbers = [WINDOW as u64, offset, length].map(u64::to_le_bytes);
        let hash = fingerprint(&[numbers.as_flattened(), head, tail]);
        Self {
            offset,
            length,
            hash,
        }
    }
}

/// Exactly `len` bytes at byte `offset`, or `None` where the file ends before.
pub(crate) fn probe<S: Source + ?Sized>(
    source: &S,
    offset: u64,
    len: usize,
    probed: &mut u64,
) -> Result<Option<Vec<u8>>> {
    let bytes = read_exact_at(source, offset, len, probed)
        .map_err(|error| Error::io(offset, "verify a checkpoint", error))?;
    Ok((bytes.len() == len).then_some(bytes))
}

/// The first and last `window` bytes of a range (they overlap in a short one), at the cost of
/// each byte once.
fn read_ends<S: Source + ?Sized>(
    source: &S,
    offset: u64,
    length: u64,
    window: usize,
    probed: &mut u64,
) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let Some(end) = offset.checked_add(length) else {
        return Ok(None);
    };
    let head_length = usize::try_from(length).unwrap_or(usize::MAX).min(window);
    let Some(head) = probe(source, offset, head_length, probed)? else {
        return Ok(None);
    };
    let between = end - (offset + head_length as u64);
    let tail_length = usize::try_from(between).unwrap_or(usize::MAX).min(window);
    let Some(rest) = probe(source, end - tail_length as u64, tail_length, probed)? else {
        return Ok(None);
    };
    let overlap = head_length - (window - tail_length).min(head_length);
    let tail = [&head[overlap..], &rest].concat();
    Ok(Some((head, tail)))
}

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;
