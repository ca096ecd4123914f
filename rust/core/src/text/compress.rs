//! Text at rest: one tag byte, a check of the text, then the text as it is or a zstd frame, whichever
//! is smaller.
//!
//! The check is there because nothing below has one: `SQLite` returns a page with a flipped bit as it
//! is, and a word that was never said must not be shown as evidence.

use std::cell::RefCell;
use std::fmt;

use zstd::bulk::{Compressor, Decompressor};

use crate::boundary::record_hash;

/// Largest text, in bytes, that is stored compressed and the most that reading one back allocates.
/// Above the largest bounded text ([`super::INDEXED_LIMIT`] code points of four bytes) with room.
pub const DECOMPRESSED_LIMIT: usize = 4 << 20;

const RAW: u8 = 0;
const ZSTD: u8 = 1;
/// Higher levels gain two hundredths and take half as long again.
const LEVEL: i32 = 1;
/// Bytes of the check, behind the tag.
const CHECK: usize = 4;
/// Below this many bytes a frame's own header eats the gain.
const WORTHWHILE: usize = 48;

/// Stored text that cannot be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedText {
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for DamagedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stored text is damaged: {}", self.what)
    }
}

impl std::error::Error for DamagedText {}

thread_local! {
    // A zstd context costs more to build than a typical fragment to compress.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The stored form of `text`; [`decompress`] gives it back.
pub fn compress(text: &str) -> Vec<u8> {
    if (WORTHWHILE..=DECOMPRESSED_LIMIT).contains(&text.len())
        && let Some(frame) = zstd_frame(text.as_bytes())
        && frame.len() < text.len()
    {
        return sealed(ZSTD, text, &frame);
    }
    sealed(RAW, text, text.as_bytes())
}

/// The text behind its stored form. Any bytes may be given; memory stays within
/// [`DECOMPRESSED_LIMIT`] (beyond the length of `bytes` itself).
pub fn decompress(bytes: &[u8]) -> Result<String, DamagedText> {
    let damaged = |what| DamagedText { what };
    let Some((&tag, rest)) = bytes.split_first() else {
        return Err(damaged("it has no tag"));
    };
    let Some((check, body)) = rest.split_at_checked(CHECK) else {
        return Err(damaged("it is cut"));
    };
    let text = match tag {
        RAW => body.to_vec(),
        ZSTD => unpack(body).ok_or(damaged("its zstd frame cannot be read"))?,
        _ => return Err(damaged("its tag is unknown")),
    };
    let text = String::from_utf8(text).map_err(|_| damaged("it is not UTF-8"))?;
    if check == check_of(&text) {
        Ok(text)
    } else {
        Err(damaged("it is not the text that was stored"))
    }
}

fn sealed(tag: u8, text: &str, body: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(1 + CHECK + body.len());
    stored.push(tag);
    stored.extend_from_slice(&check_of(text));
    stored.extend_from_slice(body);
    stored
}

fn check_of(text: &str) -> [u8; CHECK] {
    let [a, b, c, d, ..] = record_hash(text.as_bytes()).to_le_bytes();
    [a, b, c, d]
}

/// `None` when zstd fails (out of memory); the text is then stored as it is.
fn zstd_frame(bytes: &[u8]) -> Option<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Compressor::new(LEVEL).ok();
        }
        slot.as_mut()?.compress(bytes).ok()
    })
}

fn unpack(frame: &[u8]) -> Option<Vec<u8>> {
    // Our frames say how long the text is: what does not, or says too much, is not ours.
    let length = zstd::zstd_safe::get_frame_content_size(frame).ok()??;
    let length = usize::try_from(length).ok()?;
    if length > DECOMPRESSED_LIMIT {
        return None;
    }
    DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Decompressor::new().ok();
        }
        let text = slot.as_mut()?.decompress(frame, length).ok()?;
        (text.len() == length).then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_text_shrinks_and_short_text_costs_five_bytes() {
        let long = "the same line again\n".repeat(100);
        let stored = compress(&long);
        assert_eq!(stored[0], ZSTD);
        assert!(stored.len() < long.len() / 10);
        assert_eq!(compress("short").len(), 10);
        assert!(compress("short").ends_with(b"short"));
        assert_eq!(decompress(&compress("")).as_deref(), Ok(""));
    }

    #[test]
    fn damage_is_named() {
        let what = |bytes: &[u8]| decompress(bytes).unwrap_err().what;
        assert_eq!(what(b""), "it has no tag");
        assert_eq!(what(b"\x00abc"), "it is cut");
        assert_eq!(what(b"\x02abcdefg"), "its tag is unknown");
        assert_eq!(what(b"\x00abcd\xff"), "it is not UTF-8");
        assert_eq!(what(b"\x01abcdnonsense"), "its zstd frame cannot be read");
        assert_eq!(what(b"\x00abcde"), "it is not the text that was stored");
        let mut cut = compress(&"abc ".repeat(50));
        cut.pop();
        assert_eq!(what(&cut), "its zstd frame cannot be read");
    }

    #[test]
    fn a_bomb_is_refused() {
        let huge = vec![b'a'; DECOMPRESSED_LIMIT + 1];
        let mut bomb = vec![ZSTD, 0, 0, 0, 0];
        bomb.extend(zstd::bulk::compress(&huge, LEVEL).unwrap());
        assert!(decompress(&bomb).is_err());
        // A second frame behind an honest one must not add to what is allocated.
        let mut twice = compress(&"abc ".repeat(50));
        twice.extend_from_slice(&bomb[1 + CHECK..]);
        assert!(decompress(&twice).is_err());
    }

    #[test]
    fn beyond_the_limit_text_is_stored_as_it_is() {
        let huge = "x".repeat(DECOMPRESSED_LIMIT + 1);
        let stored = compress(&huge);
        assert_eq!(stored[0], RAW);
        assert_eq!(decompress(&stored).map(|text| text.len()), Ok(huge.len()));
    }

    proptest! {
        #[test]
        fn text_comes_back(text in ".{0,40}", times in 1usize..40) {
            let text = text.repeat(times);
            prop_assert_eq!(decompress(&compress(&text)), Ok(text));
        }

        #[test]
        fn a_flipped_bit_gives_no_other_text(text in ".{0,40}", times in 1usize..40, at in 0usize..80_000) {
            let text = text.repeat(times);
            let mut stored = compress(&text);
            let at = at % (stored.len() * 8);
            stored[at / 8] ^= 1 << (at % 8);
            // Some bits of a frame mean nothing.
            prop_assert!(decompress(&stored).map_or(true, |found| found == text));
        }

        #[test]
        fn garbage_never_panics(tag in 0u8..3, body in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut bytes = vec![tag];
            bytes.extend(body);
            let _ = decompress(&bytes);
        }

        #[test]
        fn damaged_frames_never_panic(at in 0usize..1000, byte in any::<u8>()) {
            let mut stored = compress(&"some words, and some more words ".repeat(8));
            let at = at % stored.len();
            stored[at] = byte;
            let _ = decompress(&stored);
        }
    }
}
