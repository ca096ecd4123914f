//! Every kind of change to a real file. Each test first asserts that the change it plays
//! happened, so that it cannot pass for nothing.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::tests::{HEADER, LATER, checkpoint_of, session};
use super::*;
use crate::source::FileSource;

/// A session file that was last written in 2001 and read long after that.
struct Case {
    dir: TempDir,
    path: PathBuf,
    before: Observation,
    checkpoint: Checkpoint,
}

impl Case {
    fn new(bytes: &[u8]) -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, bytes).unwrap();
        set_mtime(&path, long_ago());
        let source = FileSource::open(&path).unwrap();
        let checkpoint = checkpoint_of(&source, bytes, LATER);
        assert!(checkpoint.settled);
        Self {
            dir,
            path,
            before: checkpoint.observation,
            checkpoint,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }

    fn now(&self) -> Observation {
        FileSource::open(&self.path).unwrap().observe().unwrap()
    }

    fn append(&self, bytes: &[u8]) {
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// As Pi rewrites: the same inode, truncated and written again.
    fn rewrite(&self, bytes: &[u8]) {
        fs::write(&self.path, bytes).unwrap();
        assert_eq!(self.now().inode, self.before.inode);
    }

    fn decide(&self) -> Decision {
        let source = FileSource::open(&self.path).unwrap();
        let mut probed = 0;
        let decision = decide(&source, &self.checkpoint, LATER, &mut probed).unwrap();
        assert!(probed <= 16 << 10);
        decision
    }

    fn assert_append(&self) {
        let expected = Decision::Append {
            from: self.checkpoint.complete_offset,
            first_line: self.checkpoint.complete_lines + 1,
        };
        assert_eq!(self.decide(), expected);
    }

    fn assert_rebuild(&self, reason: RebuildReason) {
        assert_eq!(self.decide(), Decision::Rebuild(reason));
    }

    /// Whether the last complete record still stands where it stood.
    fn boundary_stands(&self) -> bool {
        let source = FileSource::open(&self.path).unwrap();
        self.checkpoint.boundary.matches(&source, &mut 0).unwrap()
    }
}

fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

fn set_mtime(path: &PathBuf, time: SystemTime) {
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn untouched() {
    let case = Case::new(&session(3));
    assert_eq!(case.now(), case.before);
    let refreshed = case.checkpoint;
    assert_eq!(case.decide(), Decision::Unchanged { refreshed });
}

#[test]
fn appends_of_one_and_of_many_records() {
    let case = Case::new(&session(3));
    let mut size = case.before.size;
    for more in [&b"{\"id\":\"n\"}\n"[..], &session(40), b"{\"id\":\"partial"] {
        case.append(more);
        size += more.len() as u64;
        assert_eq!(
            (case.now().inode, case.now().size),
            (case.before.inode, size)
        );
        case.assert_append();
    }
}

#[test]
fn truncation_to_every_size() {
    let bytes = session(2);
    let case = Case::new(&bytes);
    for size in 0..bytes.len() {
        case.rewrite(&bytes[..size]);
        assert_eq!(case.now().size, size as u64);
        case.assert_rebuild(RebuildReason::Truncated);
    }
}

#[test]
fn truncated_and_refilled_past_the_old_size() {
    let case = Case::new(&session(3));
    let mut other = [HEADER, b"\n"].concat();
    while (other.len() as u64) < case.before.size + 50 {
        other.extend_from_slice(b"{\"id\":\"other\"}\n");
    }
    case.rewrite(&other);
    assert!(case.now().size > case.before.size);
    assert!(!case.boundary_stands());
    case.assert_rebuild(RebuildReason::BoundaryChanged);
}

#[test]
fn refilled_with_the_same_boundary_under_another_header() {
    let case = Case::new(&session(3));
    let mut other = case.bytes();
    let id = HEADER.len() - 3;
    assert_eq!(other[id], b'a');
    other[id] = b'b';
    other.extend_from_slice(b"{\"id\":\"n\"}\n");
    case.rewrite(&other);
    assert!(case.boundary_stands());
    case.assert_rebuild(RebuildReason::HeaderChanged);
}

#[test]
fn same_size_rewritten_with_the_time_set_back() {
    let case = Case::new(&session(8));
    let mut other = case.bytes();
    let early = HEADER.len() + 9;
    other[early] = b'Z';
    assert_ne!(other, case.bytes());
    case.rewrite(&other);
    // Until the kernel's clock has moved on, which takes a tick at most.
    while case.now().ctime_ns == case.before.ctime_ns || case.now().mtime_ns != case.before.mtime_ns
    {
        set_mtime(&case.path, long_ago());
    }
    let now = case.now();
    assert_eq!(
        (now.size, now.mtime_ns),
        (case.before.size, case.before.mtime_ns)
    );
    assert!(case.boundary_stands());
    case.assert_rebuild(RebuildReason::Rewritten);
}

#[test]
fn edited_in_place_far_before_the_boundary() {
    let case = Case::new(&session(8));
    let mut other = case.bytes();
    other[HEADER.len() + 9] = b'Z';
    case.rewrite(&other);
    assert_eq!(case.now().size, case.before.size);
    assert_ne!(case.now().mtime_ns, case.before.mtime_ns);
    assert!(case.boundary_stands());
    case.assert_rebuild(RebuildReason::Rewritten);
    // Grown as well, it looks like an append: only an audit of the whole prefix can tell.
    case.append(b"{\"id\":\"n\"}\n");
    assert!(case.now().size > case.before.size && case.boundary_stands());
    case.assert_append();
}

#[test]
fn touched_but_equal_is_read_again_since_it_cannot_be_told_from_an_edit() {
    let case = Case::new(&session(3));
    set_mtime(&case.path, long_ago() + Duration::from_secs(1));
    assert_eq!(case.now().size, case.before.size);
    assert_ne!(case.now().mtime_ns, case.before.mtime_ns);
    case.assert_rebuild(RebuildReason::Rewritten);
}

#[test]
fn replaced_by_rename_even_with_equal_bytes() {
    let case = Case::new(&session(3));
    let fresh = case.dir.path().join("new");
    fs::write(&fresh, [session(3), session(1)].concat()).unwrap();
    fs::rename(&fresh, &case.path).unwrap();
    assert_ne!(case.now().inode, case.before.inode);
    assert!(case.boundary_stands());
    case.assert_rebuild(RebuildReason::Replaced);
}

#[test]
fn deleted_and_made_again_under_either_inode() {
    let case = Case::new(&session(3));
    let mut other = session(4);
    other[HEADER.len() - 3] = b'b';
    for _ in 0..50 {
        fs::remove_file(&case.path).unwrap();
        fs::write(&case.path, &other).unwrap();
        let same = case.now().inode == case.before.inode;
        case.assert_rebuild(if same {
            RebuildReason::HeaderChanged
        } else {
            RebuildReason::Replaced
        });
    }
}

#[test]
fn an_offset_behind_the_end_stays_refused_when_the_file_grows_back() {
    let case = Case::new(&session(6));
    case.rewrite(&session(1));
    assert!(case.now().size < case.checkpoint.complete_offset);
    case.assert_rebuild(RebuildReason::Truncated);
    // The verdict was never stored; then the file passes the old offset with other records.
    while case.now().size <= case.before.size {
        case.append(b"{\"id\":\"n\",\"text\":\"other\"}\n");
    }
    assert!(!case.boundary_stands());
    case.assert_rebuild(RebuildReason::BoundaryChanged);
}

#[test]
fn a_hole_left_by_a_stale_writer() {
    let case = Case::new(&session(3));
    case.rewrite(b"");
    let file = OpenOptions::new().write(true).open(&case.path).unwrap();
    let end = case.before.size;
    std::os::unix::fs::FileExt::write_all_at(&file, b"{\"id\":\"n\"}\n", end).unwrap();
    assert!(case.now().size > case.before.size);
    assert_eq!(case.bytes()[0], 0);
    case.assert_rebuild(RebuildReason::HeaderChanged);
}

#[test]
fn a_partial_record_completed_with_other_bytes() {
    let bytes = [&session(2)[..], b"{\"id\":\"par"].concat();
    let case = Case::new(&bytes);
    case.rewrite(&[&session(2)[..], b"{\"id\":\"another\"}\n"].concat());
    assert!(case.now().size > case.before.size && case.boundary_stands());
    case.assert_append();
}
