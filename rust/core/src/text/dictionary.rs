//! Dictionaries for texts at rest: what the texts of one index have in common, learned from them.
//!
//! Most texts are so short that a compressor knows nothing of them before they end. A dictionary is
//! known beforehand; a frame names the one it was made with by a number, and says nothing else of it.
//! So that a text needs nothing beside it to be read, every dictionary that was opened in this process
//! can be found by its number. None is ever closed: an index has one, and a process opens few indexes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use zstd::zstd_safe::{CDict, DDict, train_from_buffer};

use crate::boundary::record_hash;

/// Bytes that a dictionary takes at most.
const DICTIONARY_LIMIT: usize = 110 << 10;
/// Bytes of one text that are learned from; more of it would say the same again.
const SAMPLE_LIMIT: usize = 4 << 10;
/// How hard texts are compressed. With a dictionary this costs no more than the lowest level without
/// one, and the levels above take twice as long for a hundredth.
const LEVEL: i32 = 3;
/// Where a dictionary's number stands in its bytes, behind a mark.
const NUMBER: std::ops::Range<usize> = 4..8;
/// The numbers that zstd leaves to everybody.
const PRIVATE: std::ops::Range<u32> = 1 << 15..1 << 31;

static OPENED: RwLock<BTreeMap<u32, Arc<Dictionary>>> = RwLock::new(BTreeMap::new());

/// A dictionary that is ready for use. Equal content is one dictionary, wherever it came from.
pub struct Dictionary {
    content: Vec<u8>,
    hash: i64,
    number: u32,
    /// Only who writes needs it.
    compressing: OnceLock<Option<CDict<'static>>>,
    decompressing: DDict<'static>,
}

impl Dictionary {
    /// Learns from texts; `None` when they have nothing in common or are too few.
    pub fn learn<S: AsRef<str>>(texts: &[S]) -> Option<Arc<Self>> {
        let mut samples = Vec::new();
        let mut sizes = Vec::with_capacity(texts.len());
        for text in texts {
            let text = text.as_ref().as_bytes();
            let sample = &text[..text.len().min(SAMPLE_LIMIT)];
            samples.extend_from_slice(sample);
            sizes.push(sample.len());
        }
        let mut content = Vec::with_capacity(DICTIONARY_LIMIT);
        train_from_buffer(&mut content, &samples, &sizes).ok()?;
        // Its number comes from its content, so it cannot be part of it.
        content.get_mut(NUMBER)?.fill(0);
        let hash = record_hash(&content);
        Self::open(content, hash)
    }

    /// Makes a stored dictionary ready, unless it is; `None` when this is not the one with that
    /// hash, or its number is that of another one.
    pub fn open(content: Vec<u8>, hash: i64) -> Option<Arc<Self>> {
        if record_hash(&content) != hash {
            return None;
        }
        if let Some(opened) = Self::opened(hash) {
            return Some(opened);
        }
        let prepared = Arc::new(Self::prepare(content, hash)?);
        let mut opened = OPENED.write().unwrap_or_else(PoisonError::into_inner);
        match opened.entry(prepared.number) {
            Entry::Vacant(place) => Some(Arc::clone(place.insert(prepared))),
            // Another thread was faster.
            Entry::Occupied(place) => (place.get().hash == hash).then(|| Arc::clone(place.get())),
        }
    }

    /// The dictionary whose content has this hash, if it was opened in this process.
    pub fn opened(hash: i64) -> Option<Arc<Self>> {
        numbered(number_of(hash)).filter(|opened| opened.hash == hash)
    }

    /// What to store of it.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// The hash of its content, by which an index names it.
    pub fn hash(&self) -> i64 {
        self.hash
    }

    /// For reading its frames.
    pub(super) fn decompressing(&self) -> &DDict<'static> {
        &self.decompressing
    }

    /// For making its frames; `None` when there is no memory for that.
    pub(super) fn compressing(&self) -> Option<&CDict<'static>> {
        let prepare = || CDict::try_create(&with_number(&self.content, self.number)?, LEVEL);
        self.compressing.get_or_init(prepare).as_ref()
    }

    fn prepare(content: Vec<u8>, hash: i64) -> Option<Self> {
        let number = number_of(hash);
        let decompressing = DDict::try_create(&with_number(&content, number)?)?;
        // Bytes without the mark of a dictionary are taken for text to refer to, without a number.
        (decompressing.get_dict_id()?.get() == number).then_some(Self {
            content,
            hash,
            number,
            compressing: OnceLock::new(),
            decompressing,
        })
    }
}

/// The dictionary that frames call by this number.
pub(super) fn numbered(number: u32) -> Option<Arc<Dictionary>> {
    let opened = OPENED.read().unwrap_or_else(PoisonError::into_inner);
    opened.get(&number).cloned()
}

fn number_of(hash: i64) -> u32 {
    let count = u64::from(PRIVATE.end - PRIVATE.start);
    let folded = u32::try_from(hash.cast_unsigned() % count).unwrap_or_default();
    PRIVATE.start + folded
}

fn with_number(content: &[u8], number: u32) -> Option<Vec<u8>> {
    let mut numbered = content.to_vec();
    numbered
        .get_mut(NUMBER)?
        .copy_from_slice(&number.to_le_bytes());
    Some(numbered)
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    /// Texts that have something in common, and nothing with those of another `subject`.
    pub fn texts(subject: &str) -> Vec<String> {
        let line = |n: usize| format!("{subject} {n}: {subject} said that {} {subject}s", n * 7919);
        (0..500).map(|n| line(n).repeat(1 + n % 5)).collect()
    }

    #[test]
    fn what_is_learned_can_be_opened_again() {
        let learned = Dictionary::learn(&texts("heron")).unwrap();
        assert!(learned.content().len() <= DICTIONARY_LIMIT);
        assert!(PRIVATE.contains(&learned.number));
        let opened = Dictionary::open(learned.content().to_vec(), learned.hash()).unwrap();
        assert!(Arc::ptr_eq(&learned, &opened));
        assert!(Arc::ptr_eq(&learned, &numbered(learned.number).unwrap()));
        assert!(Arc::ptr_eq(
            &learned,
            &Dictionary::opened(learned.hash()).unwrap()
        ));
    }

    #[test]
    fn the_same_texts_give_the_same_dictionary() {
        let texts = texts("magpie");
        assert_eq!(
            Dictionary::learn(&texts).unwrap().hash(),
            Dictionary::learn(&texts).unwrap().hash()
        );
    }

    #[test]
    fn too_little_gives_none() {
        assert!(Dictionary::learn::<&str>(&[]).is_none());
        assert!(Dictionary::learn(&["one text"]).is_none());
        assert!(Dictionary::learn(&["", "", "", "", "", "", "", ""]).is_none());
    }

    #[test]
    fn text_cut_inside_a_character_is_no_trouble() {
        let texts: Vec<String> = (0..500)
            .map(|n| format!("a{n}{}", "…".repeat(SAMPLE_LIMIT)))
            .collect();
        let _ = Dictionary::learn(&texts);
    }

    #[test]
    fn what_is_no_dictionary_is_refused() {
        for content in [
            b"".as_slice(),
            b"some bytes that somebody stored",
            &[0x37, 0xa4],
        ] {
            let hash = record_hash(content);
            assert!(Dictionary::open(content.to_vec(), hash).is_none());
            assert!(Dictionary::open(content.to_vec(), hash + 1).is_none());
        }
        assert!(Dictionary::opened(7).is_none());
    }

    #[test]
    fn every_hash_has_a_number_of_the_private_range() {
        for hash in [0, 1, -1, i64::MIN, i64::MAX] {
            assert!(PRIVATE.contains(&number_of(hash)));
        }
    }

    static CROW: LazyLock<Arc<Dictionary>> =
        LazyLock::new(|| Dictionary::learn(&texts("crow")).unwrap());

    proptest! {
        #[test]
        fn damaged_content_never_panics(at in 0usize..4_000, byte in any::<u8>()) {
            let learned = &*CROW;
            let mut content = learned.content().to_vec();
            let at = at % content.len();
            let changed = content[at] != byte;
            content[at] = byte;
            prop_assert_eq!(Dictionary::open(content.clone(), learned.hash()).is_none(), changed);
            // Nor when the hash is that of the damage.
            let hash = record_hash(&content);
            let _ = Dictionary::open(content, hash);
        }
    }
}
