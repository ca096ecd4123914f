use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;

fn kind_of(path: &Path) -> ErrorKind {
    FileSource::open(path).unwrap_err().kind
}

#[test]
fn reads_a_regular_file_through_a_symlink_and_a_hard_link() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.jsonl");
    fs::write(&path, b"hello").unwrap();
    symlink(&path, dir.path().join("soft")).unwrap();
    fs::hard_link(&path, dir.path().join("hard")).unwrap();
    let direct = FileSource::open(&path).unwrap().observe().unwrap();
    assert_eq!(direct.size, 5);
    for name in ["soft", "hard"] {
        let source = FileSource::open(&dir.path().join(name)).unwrap();
        let seen = source.observe().unwrap();
        assert_eq!((seen.device, seen.inode), (direct.device, direct.inode));
        let mut counter = 0;
        assert_eq!(read_exact_at(&source, 1, 3, &mut counter).unwrap(), b"ell");
        assert_eq!(counter, 3);
    }
}

#[test]
fn refuses_what_is_no_regular_file_without_waiting() {
    let dir = TempDir::new().unwrap();
    let fifo = dir.path().join("fifo.jsonl");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert_eq!(kind_of(&fifo), ErrorKind::NotRegularFile);
    let socket = dir.path().join("socket.jsonl");
    let _listener = UnixListener::bind(&socket).unwrap();
    assert_eq!(kind_of(&socket), ErrorKind::NotRegularFile);
    assert_eq!(kind_of(dir.path()), ErrorKind::NotRegularFile);
    assert_eq!(kind_of(Path::new("/dev/null")), ErrorKind::NotRegularFile);
}

#[test]
fn absence_and_loops_are_system_errors_with_their_number() {
    let dir = TempDir::new().unwrap();
    let absent = FileSource::open(&dir.path().join("none")).unwrap_err();
    assert_eq!(absent.kind, ErrorKind::Io);
    assert_eq!(absent.io.unwrap().kind(), io::ErrorKind::NotFound);
    let lap = dir.path().join("loop");
    symlink(&lap, &lap).unwrap();
    assert_eq!(kind_of(&lap), ErrorKind::Io);
    assert_eq!(kind_of(Path::new("a\0b")), ErrorKind::Io);
}

#[test]
fn an_opened_file_stays_itself_when_its_name_goes_elsewhere() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, b"old").unwrap();
    let source = FileSource::open(&path).unwrap();
    fs::write(dir.path().join("b"), b"newer").unwrap();
    fs::rename(dir.path().join("b"), &path).unwrap();
    let now = FileSource::open(&path).unwrap().observe().unwrap();
    assert_ne!(now.inode, source.observe().unwrap().inode);
    assert_eq!(read_exact_at(&source, 0, 9, &mut 0).unwrap(), b"old");
}

#[test]
fn sizes_above_four_gibibytes_are_seen_and_read() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("sparse");
    let file = File::create(&path).unwrap();
    let size = (5 << 30) + 3;
    file.set_len(size).unwrap();
    file.write_at(b"end", size - 3).unwrap();
    let source = FileSource::open(&path).unwrap();
    assert_eq!(source.observe().unwrap().size, size);
    let mut counter = 0;
    assert_eq!(
        read_exact_at(&source, size - 3, 100, &mut counter).unwrap(),
        b"end"
    );
    assert_eq!(counter, 3);
}

#[test]
fn nonsense_ranges_end_early_instead_of_allocating() {
    let source = ScriptedSource::new(*b"abc");
    let mut counter = 0;
    let bytes = read_exact_at(&source, 1, usize::MAX, &mut counter).unwrap();
    assert_eq!(bytes, b"bc");
    let beyond = read_exact_at(&source, u64::MAX, usize::MAX, &mut counter).unwrap();
    assert_eq!(beyond, b"");
    assert_eq!(counter, 2);
}

#[test]
fn a_script_plays_errors_and_swaps_at_their_call() {
    let source = ScriptedSource::new(*b"first")
        .with_limits(vec![2])
        .at_call(0, Action::Interrupt)
        .at_call(2, Action::Fail(5))
        .at_call(3, Action::Swap(b"second!".to_vec()));
    let before = source.observe().unwrap();
    let mut buf = [0; 8];
    let read = |buf: &mut [u8]| source.read_at(0, buf);
    assert_eq!(
        read(&mut buf).unwrap_err().kind(),
        io::ErrorKind::Interrupted
    );
    assert_eq!(read(&mut buf).unwrap(), 2);
    assert_eq!(&buf[..2], b"fi");
    assert_eq!(read(&mut buf).unwrap_err().raw_os_error(), Some(5));
    assert_eq!(read(&mut buf).unwrap(), 2);
    assert_eq!(&buf[..2], b"se");
    let after = source.observe().unwrap();
    assert_eq!((before.size, after.size), (5, 7));
    assert_ne!(before.mtime_ns, after.mtime_ns);
    assert_eq!((source.calls(), source.bytes_read()), (4, 4));
}

#[test]
fn a_failing_read_is_no_end_of_file() {
    let source = ScriptedSource::new(*b"abcdef")
        .with_limits(vec![2])
        .at_call(1, Action::Fail(5));
    let error = read_exact_at(&source, 0, 6, &mut 0).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(5));
}

#[test]
fn times_saturate() {
    assert_eq!(nanoseconds(i64::MAX, 5), i64::MAX);
    assert_eq!(nanoseconds(i64::MIN, 5), i64::MIN + 5);
    assert_eq!(nanoseconds(-1, 999_999_999), -1);
}

proptest! {
    #[test]
    fn any_script_of_short_reads_gives_the_same_range(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        offset in 0u64..220,
        len in 0usize..220,
        limits in prop::collection::vec(1usize..9, 0..5),
        interrupts in prop::collection::vec(0u64..40, 0..5),
    ) {
        let mut source = ScriptedSource::new(bytes.clone()).with_limits(limits);
        for call in interrupts {
            source = source.at_call(call, Action::Interrupt);
        }
        let mut counter = 0;
        let read = read_exact_at(&source, offset, len, &mut counter).unwrap();
        let start = usize::try_from(offset).unwrap().min(bytes.len());
        let end = (start + len).min(bytes.len());
        prop_assert_eq!(&read, &bytes[start..end]);
        prop_assert_eq!(counter, read.len() as u64);
        prop_assert_eq!(source.bytes_read(), counter);
    }
}
