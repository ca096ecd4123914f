//! Bytes of a source and what the file system says about them, behind a trait so that every
//! failure can be played in a test.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::{Error, ErrorKind, Result};

/// What one `fstat` said. Times are nanoseconds since 1970, saturated at the ends of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// Device number; with the inode it names the file, but only as long as it exists.
    pub device: u64,
    /// Inode number. File systems use it again at once for the next file.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content. Anybody may set it back.
    pub mtime_ns: i64,
    /// Last change of content or metadata, set by the kernel alone.
    pub ctime_ns: i64,
}

/// A readable thing with random access. Implementations never change it.
pub trait Source {
    /// The state of the opened object now (of the descriptor, not of a name).
    fn observe(&self) -> io::Result<Observation>;

    /// Reads into `buf` from byte `offset`. May return less than asked; 0 means end of file.
    /// May fail with [`io::ErrorKind::Interrupted`], which callers repeat.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;
}

/// A regular file opened for reading.
#[derive(Debug)]
pub struct FileSource {
    file: File,
}

impl FileSource {
    /// Opens `path`, following symlinks, and refuses everything but a regular file.
    ///
    /// The kind is checked on the descriptor, since a name can change between a look and an open;
    /// `O_NONBLOCK` keeps that open from waiting for the other end of a pipe.
    pub fn open(path: &Path) -> Result<Self> {
        // The standard library repeats an interrupted open and adds O_CLOEXEC.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(path)
            .map_err(open_error)?;
        let metadata = file
            .metadata()
            .map_err(|error| Error::io(0, "stat", error))?;
        if metadata.is_file() {
            Ok(Self { file })
        } else {
            Err(Error::new(ErrorKind::NotRegularFile, 0, ""))
        }
    }
}

/// Sockets and devices without a driver cannot even be opened.
fn open_error(error: io::Error) -> Error {
    let number = error.raw_os_error();
    let special = [Errno::NXIO, Errno::NODEV].map(|errno| Some(errno.raw_os_error()));
    let mut result = Error::io(0, "open", error);
    if special.contains(&number) {
        result.kind = ErrorKind::NotRegularFile;
    }
    result
}

impl Source for FileSource {
    fn observe(&self) -> io::Result<Observation> {
        let metadata = self.file.metadata()?;
        Ok(Observation {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(&self.file, buf, offset)
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// One read that repeats itself while it is interrupted; 0 = end of file (or an empty `buf`).
pub(crate) fn read_some<S: Source + ?Sized>(
    source: &S,
    offset: u64,
    buf: &mut [u8],
) -> io::Result<usize> {
    loop {
        match source.read_at(offset, buf) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A source that claims more than it was given room for must not cost a panic.
            result => return result.map(|read| read.min(buf.len())),
        }
    }
}

/// Reads `len` bytes from byte `offset`, less only where the file ends. Adds what was read to
/// `counter`. Memory grows with what is there, so a nonsense `len` is harmless.
pub fn read_exact_at<S: Source + ?Sized>(
    source: &S,
    offset: u64,
    len: usize,
    counter: &mut u64,
) -> io::Result<Vec<u8>> {
    const STEP: usize = 64 << 10;
    let mut bytes = Vec::new();
    while bytes.len() < len {
        let filled = bytes.len();
        let Some(at) = offset.checked_add(filled as u64) else {
            break;
        };
        bytes.resize(filled + STEP.min(len - filled), 0);
        let read = read_some(source, at, &mut bytes[filled..])?;
        *counter = counter.saturating_add(read as u64);
        bytes.truncate(filled + read);
        if read == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// What a [`ScriptedSource`] does at one read call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Fails as an interrupted system call.
    Interrupt,
    /// Fails with this error number (5 = EIO).
    Fail(i32),
    /// Replaces the content, moves both times by 1 ns, then reads.
    Swap(Vec<u8>),
}

/// A source in memory that follows a script. For tests and benches only.
///
/// The size it reports is that of its content; everything else is what the test sets.
#[derive(Debug)]
pub struct ScriptedSource {
    state: Mutex<Script>,
}

#[derive(Debug)]
struct Script {
    bytes: Vec<u8>,
    observation: Observation,
    limits: Vec<usize>,
    actions: Vec<(u64, Action)>,
    calls: u64,
    served: u64,
}

impl ScriptedSource {
    /// A well-behaved source with this content: device 1, inode 1, times 0.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let observation = Observation {
            device: 1,
            inode: 1,
            size: 0,
            mtime_ns: 0,
            ctime_ns: 0,
        };
        Self {
            state: Mutex::new(Script {
                bytes: bytes.into(),
                observation,
                limits: Vec::new(),
                actions: Vec::new(),
                calls: 0,
                served: 0,
            }),
        }
    }

    /// Read call `i` returns at most `limits[i % len]` bytes (at least 1: 0 would mean the end).
    #[must_use]
    pub fn with_limits(self, limits: Vec<usize>) -> Self {
        self.state().limits = limits;
        self
    }

    /// Does `action` at read call `call`, counted from 0. Failing calls count too.
    #[must_use]
    pub fn at_call(self, call: u64, action: Action) -> Self {
        self.state().actions.push((call, action));
        self
    }

    /// Replaces the content without touching the times.
    pub fn set_bytes(&self, bytes: impl Into<Vec<u8>>) {
        self.state().bytes = bytes.into();
    }

    /// Sets all that is observed except the size.
    pub fn set_observation(&self, observation: Observation) {
        self.state().observation = observation;
    }

    /// Read calls so far.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Bytes handed out so far: the cost of an operation, measured without a clock.
    pub fn bytes_read(&self) -> u64 {
        self.state().served
    }

    fn state(&self) -> MutexGuard<'_, Script> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for ScriptedSource {
    fn observe(&self) -> io::Result<Observation> {
        let state = self.state();
        Ok(Observation {
            size: state.bytes.len() as u64,
            ..state.observation
        })
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        let call = state.calls;
        state.calls += 1;
        state.act(call)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = state.bytes.get(start..).unwrap_or_default();
        let read = rest.len().min(buf.len()).min(state.limit(call));
        buf[..read].copy_from_slice(&rest[..read]);
        state.served += read as u64;
        Ok(read)
    }
}

impl Script {
    fn act(&mut self, call: u64) -> io::Result<()> {
        let Some(found) = self.actions.iter().position(|(at, _)| *at == call) else {
            return Ok(());
        };
        match self.actions.swap_remove(found).1 {
            Action::Interrupt => Err(io::ErrorKind::Interrupted.into()),
            Action::Fail(number) => Err(io::Error::from_raw_os_error(number)),
            Action::Swap(bytes) => {
                self.bytes = bytes;
                self.observation.mtime_ns += 1;
                self.observation.ctime_ns += 1;
                Ok(())
            }
        }
    }

    fn limit(&self, call: u64) -> usize {
        let count = self.limits.len() as u64;
        let index = usize::try_from(call.checked_rem(count).unwrap_or(0)).unwrap_or(0);
        self.limits.get(index).map_or(usize::MAX, |n| (*n).max(1))
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
