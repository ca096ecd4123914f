use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::source::{Action, ScriptedSource};

fn record(length: usize) -> Vec<u8> {
    (0..length).map(|i| b"abcdefg"[i * i % 7]).collect()
}

#[test]
fn parts_are_delimited() {
    assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
    assert_ne!(fingerprint(&[b"ab"]), fingerprint(&[b"ab", b""]));
    assert_ne!(fingerprint(&[]), fingerprint(&[b""]));
}

#[test]
fn stored_hashes_keep_their_value() {
    // Values of the first release: a change of them makes every stored index rebuild.
    assert_eq!(record_hash(b""), 0x2d06_8005_38d3_94c2);
    assert_eq!(
        fingerprint(&[]),
        0x99aa_06d3_0147_98d8_6001_c324_468d_497f_u128.to_le_bytes()
    );
}

#[test]
fn a_change_at_either_end_is_seen_and_one_in_the_middle_is_not() {
    let bytes = record(5_000);
    let print = Boundary::of_bytes(7, &bytes);
    for (place, seen) in [
        (0, true),
        (255, true),
        (256, false),
        (4_743, false),
        (4_744, true),
    ] {
        let mut changed = bytes.clone();
        changed[place] = b'!';
        assert_eq!(Boundary::of_bytes(7, &changed) != print, seen, "{place}");
    }
    assert_ne!(Boundary::of_bytes(8, &bytes), print);
    let header = HeaderPrint::of_bytes(7, &bytes);
    assert_ne!(header.hash, print.hash);
}

#[test]
fn equal_ends_of_another_length_differ() {
    let (short, long) = (vec![b'x'; 1_000], vec![b'x'; 1_001]);
    let print = Boundary::of_bytes(0, &short);
    assert_ne!(Boundary::of_bytes(0, &long).hash, print.hash);
}

#[test]
fn probing_a_huge_record_reads_only_its_ends() {
    let source = ScriptedSource::new(record(100_000));
    let mut probed = 0;
    let boundary = Boundary::of_source(&source, 1, 99_000, &mut probed)
        .unwrap()
        .unwrap();
    assert_eq!(probed, 512);
    assert_eq!(boundary, Boundary::of_bytes(1, &record(100_000)[1..99_001]));
    let header = HeaderPrint::of_bytes(0, &record(100_000));
    assert!(header.matches(&source, &mut probed).unwrap());
    assert_eq!(probed, 512 + 8_192);
    assert_eq!(source.bytes_read(), probed);
}

#[test]
fn ranges_outside_the_file_do_not_match() {
    let source = ScriptedSource::new(*b"short");
    let mut probed = 0;
    for (offset, length) in [
        (0, 6),
        (5, 1),
        (u64::MAX, 1),
        (1, u64::MAX),
        (9, 0),
        (2, 1 << 40),
    ] {
        let print = Boundary {
            offset,
            length,
            hash: [0; 16],
        };
        assert!(!print.matches(&source, &mut probed).unwrap());
    }
    let empty = Boundary::of_bytes(0, b"");
    assert!(empty.matches(&source, &mut probed).unwrap());
    assert_eq!(
        (empty.end(), HeaderPrint::of_bytes(3, b"ab").end()),
        (Some(0), Some(5))
    );
}

#[test]
fn a_failing_probe_is_an_error_and_no_mismatch() {
    let source = ScriptedSource::new(*b"short").at_call(0, Action::Fail(5));
    let error = Boundary::of_bytes(1, b"hort")
        .matches(&source, &mut 0)
        .unwrap_err();
    assert_eq!((error.kind, error.offset), (ErrorKind::Io, 1));
}

proptest! {
    #[test]
    fn bytes_and_source_agree(
        length in 0usize..1_200,
        offset in 0usize..50,
        limits in prop::collection::vec(1usize..300, 0..4),
        flip in 0usize..1_300,
    ) {
        let mut file = record(offset + length + 20);
        let bytes = file[offset..offset + length].to_vec();
        let print = Boundary::of_bytes(offset as u64, &bytes);
        let source = ScriptedSource::new(file.clone()).with_limits(limits);
        let mut probed = 0;
        prop_assert!(print.matches(&source, &mut probed).unwrap());
        prop_assert_eq!(probed, length.min(512) as u64);
        // And any changed byte is seen where the windows reach.
        let at = flip % file.len();
        file[at] ^= 1;
        source.set_bytes(file);
        let inside = at.checked_sub(offset).is_some_and(|i| {
            i < length && (i < 256 || i + 256 >= length)
        });
        prop_assert_eq!(print.matches(&source, &mut probed).unwrap(), !inside);
    }
}
