//! Takes fingerprints of the files that a compilation read. A later lookup in the cache of compiled images compares the
//! fingerprints, to check whether the cached image is still valid.
//!
//! Size, times and inode number show whether a file was written after its fingerprint was taken, except for a write
//! within the resolution of file times. If such a write is possible, the bytes are compared, as `git` does.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// Upper bound of the step by which the operating system's clock, which sets file times, advances: 10 ms at most.
const STEP: Duration = Duration::from_millis(20);
/// Upper bound of the step in which file systems store file times; some store them in steps of 2 s.
const SETTLED: Duration = Duration::from_secs(3);

/// A path, and the state that the file at this path must have so that a cached image is valid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileFingerprint {
    /// The path; absolute, unless the compiler searched relative to the current folder.
    pub path: PathBuf,
    /// State that the file had when a compilation used it.
    pub state: FileState,
}

/// State of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileState {
    /// No file exists at the path. The compiler would prefer a new file at this path to a file that the compilation
    /// read.
    Absent,
    /// A file exists, and its contents do not matter.
    Present,
    /// The compilation read the file at this path, so the image is valid only if the file is unchanged.
    Read {
        /// Size, times and inode number of the file. The field is empty if these values cannot prove that the file is
        /// unchanged.
        mark: Vec<u8>,
        /// Hash of the file's bytes.
        hash: [u8; 32],
    },
}

impl FileFingerprint {
    /// Takes the fingerprint of a file read by a compilation that began at `begun`. Returns `None` if the file changed
    /// after that time, or if the path is no longer that of a file.
    pub fn read(path: PathBuf, begun: SystemTime) -> Option<Self> {
        let known = file(&path)?;
        let changed = changed(&known)?;
        if changed + STEP > begun {
            return None;
        }
        let hash = hash(&path)?;
        // If the file was written shortly before the compilation, a write after it may get the same file times, because
        // the resolution of file times is limited.
        let mark = if changed + SETTLED > begun { Vec::new() } else { mark(&known) };
        Some(Self { path, state: FileState::Read { mark, hash } })
    }

    /// Takes the fingerprint of a path at which a compiler may have looked for a file, whether or not one exists.
    pub fn looked(path: PathBuf) -> Self {
        let state = if file(&path).is_some() { FileState::Present } else { FileState::Absent };
        Self { path, state }
    }

    /// Returns whether the file is still in the state that the fingerprint describes.
    pub fn holds(&self) -> bool {
        let known = file(&self.path);
        match &self.state {
            FileState::Absent => known.is_none(),
            FileState::Present => known.is_some(),
            FileState::Read { mark: noted, hash: read } => known.is_some_and(|known| {
                (!noted.is_empty() && *noted == mark(&known)) || hash(&self.path).is_some_and(|hash| hash == *read)
            }),
        }
    }
}

fn file(path: &Path) -> Option<Metadata> {
    std::fs::metadata(path).ok().filter(Metadata::is_file)
}

fn hash(path: &Path) -> Option<[u8; 32]> {
    Some(Sha256::digest(std::fs::read(path).ok()?).into())
}

#[cfg(unix)]
fn changed(known: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let (seconds, nanoseconds) = (u64::try_from(known.ctime()).ok()?, u32::try_from(known.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

#[cfg(not(unix))]
fn changed(known: &Metadata) -> Option<SystemTime> {
    known.modified().ok()
}

#[cfg(unix)]
fn mark(known: &Metadata) -> Vec<u8> {
    use std::os::unix::fs::MetadataExt;
    let numbers =
        [known.dev(), known.ino(), known.size(), known.mtime().cast_unsigned(), known.mtime_nsec().cast_unsigned()];
    let times = [known.ctime().cast_unsigned(), known.ctime_nsec().cast_unsigned()];
    numbers.into_iter().chain(times).flat_map(u64::to_le_bytes).collect()
}

#[cfg(not(unix))]
fn mark(_: &Metadata) -> Vec<u8> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_secs(1)
    }

    #[test]
    fn fingerprint_detects_changed_file_despite_same_times() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.h");
        std::fs::write(&path, "int a;").unwrap();
        let fingerprint = FileFingerprint::read(path.clone(), later()).unwrap();
        assert!(fingerprint.holds());
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::fs::write(&path, "int b;").unwrap();
        std::fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert!(!fingerprint.holds());
        // If the fingerprint is taken long after the file was written, only metadata are compared. This suffices,
        // because no program can set ctime back.
        let settled = FileFingerprint::read(path.clone(), later() + SETTLED).unwrap();
        assert!(matches!(&settled.state, FileState::Read { mark, .. } if !mark.is_empty()) && settled.holds());
        std::thread::sleep(STEP);
        std::fs::write(&path, "int c;").unwrap();
        assert!(!settled.holds());
        std::fs::remove_file(&path).unwrap();
        assert!(!settled.holds());
    }

    #[test]
    fn file_changed_during_compilation_has_no_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.h");
        let begun = SystemTime::now();
        std::fs::write(&path, "int a;").unwrap();
        assert_eq!(FileFingerprint::read(path, begun), None);
        assert_eq!(FileFingerprint::read(folder.path().to_owned(), later()), None, "a folder");
    }

    #[test]
    fn fingerprint_detects_created_or_deleted_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.h");
        let absent = FileFingerprint::looked(path.clone());
        assert!(absent.holds());
        std::fs::write(&path, "").unwrap();
        let present = FileFingerprint::looked(path.clone());
        assert!(!absent.holds() && present.holds());
        std::fs::remove_file(path).unwrap();
        assert!(absent.holds() && !present.holds());
    }
}
