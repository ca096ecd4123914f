//! Hashes that bind a checkpoint to bytes.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// A 128-bit XXH3 over parts, each preceded by its length so that moving a border between parts changes it.
pub fn fingerprint(parts: &[&[u8]]) -> [u8; 16] {
    let mut state = Xxh3::new();
    for part in parts {
        state.update(&(part.len() as u64).to_le_bytes());
        state.update(part);
    }
    state.digest128().to_le_bytes()
}

/// A 64-bit XXH3 in the signed form that `SQLite` stores.
pub fn record_hash(bytes: &[u8]) -> i64 {
    xxh3_64(bytes).cast_signed()
}
