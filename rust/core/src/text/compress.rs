//! Text at rest: one tag byte, a check of the text, then the text as it is or a zstd frame, whichever
//! is smaller. Frames are made with the dictionary of their index as soon as it has one.
//!
//! The check is there because nothing below has one: `SQLite` returns a page with a flipped bit as it
//! is, and a word that was never said must not be shown as evidence.

use std::cell::RefCell;
use std::fmt;

use zstd::zstd_safe::{
    CCtx, DCtx, SafeResult, compress_bound, get_dict_id_from_frame, get_frame_content_size,
};

use super::dictionary::{Dictionary, numbered};
use crate::boundary::record_hash;

/// Largest text, in bytes, that is stored compressed and the most that reading one back allocates.
/// Above the largest bounded text ([`super::INDEXED_LIMIT`] code points of four bytes) with room.
pub const DECOMPRESSED_LIMIT: usize = 4 << 20;

const RAW: u8 = 0;
/// A frame that needs no dictionary.
const ZSTD: u8 = 1;
/// A frame made with a dictionary, without [`MAGIC`]: most of them are short.
const SHARED: u8 = 2;
/// What every frame begins with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Without a dictionary, higher levels gain two hundredths and take half as long again.
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
    // A zstd context costs more to build than a typical fragment to compress. The room beside it is
    // for a frame whose length is not known yet.
    static COMPRESSING: RefCell<Option<(CCtx<'static>, Vec<u8>)>> = const { RefCell::new(None) };
    static DECOMPRESSING: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// The stored form of `text`; [`decompress`] gives it back in every process that has opened the
/// dictionary.
pub fn compress(text: &str, dictionary: Option<&Dictionary>) -> Vec<u8> {
    if (WORTHWHILE..=DECOMPRESSED_LIMIT).contains(&text.len())
        && let Some(stored) = compressed(text, dictionary)
    {
        return stored;
    }
    sealed(RAW, text, text.as_bytes())
}

/// The text behind its stored form. Any bytes may be given; memory stays within
/// [`DECOMPRESSED_LIMIT`] (beyond the length of `bytes` itself).
pub fn decompress(bytes: &[u8]) -> Result<String, DamagedText> {
    let Some((&tag, rest)) = bytes.split_first() else {
        return Err(damaged("it has no tag"));
    };
    let Some((check, body)) = rest.split_at_checked(CHECK) else {
        return Err(damaged("it is cut"));
    };
    let text = match tag {
        RAW => body.to_vec(),
        ZSTD => unpack(body, |context, text| context.decompress(text, body))?,
        SHARED => unpack_shared(&[&MAGIC, body].concat())?,
        _ => return Err(damaged("its tag is unknown")),
    };
    let text = String::from_utf8(text).map_err(|_| damaged("it is not UTF-8"))?;
    if check == check_of(&text) {
        Ok(text)
    } else {
        Err(damaged("it is not the text that was stored"))
    }
}

fn damaged(what: &'static str) -> DamagedText {
    DamagedText { what }
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

/// `None` when a frame is no smaller than the text, or zstd fails (out of memory).
fn compressed(text: &str, dictionary: Option<&Dictionary>) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    COMPRESSING.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = CCtx::try_create().map(|context| (context, Vec::new()));
        }
        let (context, room) = slot.as_mut()?;
        room.clear();
        room.reserve(compress_bound(bytes.len()));
        let (tag, body) = if let Some(prepared) = dictionary.and_then(Dictionary::compressing) {
            context.compress_using_cdict(room, bytes, prepared).ok()?;
            (SHARED, room.strip_prefix(&MAGIC)?)
        } else {
            context.compress(room, bytes, LEVEL).ok()?;
            (ZSTD, room.as_slice())
        };
        (body.len() < bytes.len()).then(|| sealed(tag, text, body))
    })
}

fn unpack_shared(frame: &[u8]) -> Result<Vec<u8>, DamagedText> {
    let number = get_dict_id_from_frame(frame).ok_or(damaged("it names no dictionary"))?;
    let dictionary = numbered(number.get()).ok_or(damaged("its dictionary is unknown"))?;
    unpack(frame, |context, text| {
        context.decompress_using_ddict(text, frame, dictionary.decompressing())
    })
}

/// The text of a frame, which `read` puts where there is room for it.
fn unpack(
    frame: &[u8],
    read: impl FnOnce(&mut DCtx<'static>, &mut Vec<u8>) -> SafeResult,
) -> Result<Vec<u8>, DamagedText> {
    // Our frames say how long the text is: what does not, or says too much, is not ours.
    let length = get_frame_content_size(frame).ok().flatten();
    let length = length.and_then(|length| usize::try_from(length).ok());
    let text = length
        .filter(|length| *length <= DECOMPRESSED_LIMIT)
        .and_then(|length| {
            let mut text = Vec::with_capacity(length);
            DECOMPRESSING.with_borrow_mut(|slot| {
                if slot.is_none() {
                    *slot = DCtx::try_create();
                }
                read(slot.as_mut()?, &mut text).ok()
            })?;
            (text.len() == length).then_some(text)
        });
    text.ok_or(damaged("its zstd frame cannot be read"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, LazyLock};

    use proptest::prelude::*;

    use super::super::dictionary::tests::texts;
    use super::*;

    static DICTIONARY: LazyLock<Arc<Dictionary>> =
        LazyLock::new(|| Dictionary::learn(&texts("walrus")).unwrap());

    /// Without a dictionary, and with one.
    fn both(text: &str) -> [Vec<u8>; 2] {
        [compress(text, None), compress(text, Some(&DICTIONARY))]
    }

    fn what(bytes: &[u8]) -> &'static str {
        decompress(bytes).unwrap_err().what
    }

    #[test]
    fn long_text_shrinks_and_short_text_costs_five_bytes() {
        let long = "the same line again\n".repeat(100);
        for (stored, tag) in both(&long).iter().zip([ZSTD, SHARED]) {
            assert_eq!(stored[0], tag);
            assert!(stored.len() < long.len() / 10);
        }
        for stored in both("short") {
            assert_eq!(stored.len(), 10);
            assert!(stored.ends_with(b"short"));
        }
        assert_eq!(decompress(&compress("", None)).as_deref(), Ok(""));
    }

    #[test]
    fn a_dictionary_makes_text_like_what_it_was_learned_from_smaller() {
        let [alone, shared] =
            both("walrus 77: walrus said that 610063 walruss, and that is all there is");
        assert!(
            shared.len() * 4 < alone.len() * 3,
            "{} {}",
            shared.len(),
            alone.len()
        );
    }

    #[test]
    fn damage_is_named() {
        assert_eq!(what(b""), "it has no tag");
        assert_eq!(what(b"\x00abc"), "it is cut");
        assert_eq!(what(b"\x03abcdefg"), "its tag is unknown");
        assert_eq!(what(b"\x00abcd\xff"), "it is not UTF-8");
        assert_eq!(what(b"\x01abcdnonsense"), "its zstd frame cannot be read");
        assert_eq!(what(b"\x02abcd"), "it names no dictionary");
        assert_eq!(what(b"\x00abcde"), "it is not the text that was stored");
        for mut cut in both(&"abc ".repeat(50)) {
            cut.pop();
            assert_eq!(what(&cut), "its zstd frame cannot be read");
        }
    }

    #[test]
    fn a_frame_of_another_dictionary_is_damage() {
        let mut stored = compress(&"walrus ".repeat(50), Some(&DICTIONARY));
        // Behind tag and check: what the frame says of itself, then the number, low byte first.
        stored[1 + CHECK + 1] ^= 1;
        assert_eq!(what(&stored), "its dictionary is unknown");
        // Nor is another dictionary's number a way to other words.
        let other = Dictionary::learn(&texts("eel")).unwrap();
        let like = compress(&"walrus ".repeat(50), Some(&other));
        let number = 1 + CHECK + 1..1 + CHECK + 5;
        stored[number.clone()].copy_from_slice(&like[number]);
        assert!(decompress(&stored).is_err());
    }

    #[test]
    fn a_bomb_is_refused() {
        let huge = vec![b'a'; DECOMPRESSED_LIMIT + 1];
        let bomb = zstd::bulk::compress(&huge, LEVEL).unwrap();
        let alone = [&[ZSTD, 0, 0, 0, 0], bomb.as_slice()].concat();
        assert!(decompress(&alone).is_err());
        // A second frame behind an honest one must not add to what is allocated.
        for mut twice in both(&"abc ".repeat(50)) {
            twice.extend_from_slice(&bomb);
            assert!(decompress(&twice).is_err());
        }
    }

    #[test]
    fn beyond_the_limit_text_is_stored_as_it_is() {
        let huge = "x".repeat(DECOMPRESSED_LIMIT + 1);
        for stored in both(&huge) {
            assert_eq!(stored[0], RAW);
            assert_eq!(decompress(&stored).map(|text| text.len()), Ok(huge.len()));
        }
    }

    #[test]
    fn threads_share_a_dictionary() {
        let text = "walrus and walrus again, ".repeat(9);
        let stored = compress(&text, Some(&DICTIONARY));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        assert_eq!(compress(&text, Some(&DICTIONARY)), stored);
                        assert_eq!(decompress(&stored).as_deref(), Ok(&*text));
                    }
                });
            }
        });
    }

    proptest! {
        #[test]
        fn text_comes_back(text in ".{0,40}", times in 1usize..40) {
            let text = text.repeat(times);
            for stored in both(&text) {
                let found = decompress(&stored);
                prop_assert_eq!(found.as_ref(), Ok(&text));
            }
        }

        #[test]
        fn a_flipped_bit_gives_no_other_text(text in ".{0,40}", times in 1usize..40, at in 0usize..80_000) {
            let text = text.repeat(times);
            for mut stored in both(&text) {
                let at = at % (stored.len() * 8);
                stored[at / 8] ^= 1 << (at % 8);
                // Some bits of a frame mean nothing.
                prop_assert!(decompress(&stored).map_or(true, |found| found == text));
            }
        }

        #[test]
        fn garbage_never_panics(tag in 0u8..4, body in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut bytes = vec![tag];
            bytes.extend(body);
            let _ = decompress(&bytes);
        }

        #[test]
        fn damaged_frames_never_panic(at in 0usize..1000, byte in any::<u8>(), cut in 0usize..1000) {
            for mut stored in both(&"some words, and some more walrus words ".repeat(8)) {
                let at = at % stored.len();
                stored[at] = byte;
                let _ = decompress(&stored);
                let _ = decompress(&stored[..cut % stored.len()]);
            }
        }
    }
}
