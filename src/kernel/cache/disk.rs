//! Manages the cache folder. The process executes cached images, so it trusts only files that no other user can write.
//!
//! A folder is trusted if it is not a link, belongs to the effective user, and is writable by no other user. If other
//! users can read it, their permission is removed. A file is trusted if it is a regular file of the effective user,
//! writable by no other user, and its checksum is correct. Untrusted files and folders are treated as missing. For an
//! untrusted folder, the reason is recorded and reported once.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::SystemTime;

use super::{ImageKey, entry};
use pygpu_backend::Compiled;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};

const SUFFIX: &str = "pgk";

/// Number of bytes that this process has stored in the cache folder since it last measured the folder's size. The
/// initial value makes the first store measure the size.
static FRESH: AtomicU64 = AtomicU64::new(u64::MAX / 2);
/// The folder's size is measured again after the process has stored the size limit divided by this number.
const PARTS: u64 = 32;

/// Path of a trusted cache folder.
pub struct DiskCache(PathBuf);

/// For each folder that is not trusted, the reason and whether it was reported.
static REFUSED: ForkSafeMutex<BTreeMap<PathBuf, (String, bool)>> = ForkSafeMutex::new(BTreeMap::new());

/// Whether `REFUSED` may contain a reason that was not reported yet. Every launch reads this flag.
static HAS_UNREPORTED: AtomicBool = AtomicBool::new(false);

fn refused() -> ForkSafeGuard<BTreeMap<PathBuf, (String, bool)>> {
    REFUSED.lock()
}

/// Returns the reason why a cache folder was not trusted when it was last opened.
pub fn refusal(folder: &Path) -> Option<String> {
    refused().get(folder).map(|(reason, _)| reason.clone())
}

/// Returns a sentence that states why a cache folder is not trusted, and marks this reason as reported. Returns `None`
/// if all reasons were already reported.
pub fn unreported_refusal() -> Option<String> {
    if !HAS_UNREPORTED.load(Ordering::Relaxed) || !HAS_UNREPORTED.swap(false, Ordering::Relaxed) {
        return None;
    }
    let mut refused = refused();
    let (folder, (reason, is_reported)) = refused.iter_mut().find(|(_, (_, is_reported))| !is_reported)?;
    *is_reported = true;
    HAS_UNREPORTED.store(true, Ordering::Relaxed); // further folders may have unreported reasons
    Some(format!(
        "the cache of compiled kernels in {} is not used: {reason}; kernels are compiled in every process",
        folder.display()
    ))
}

#[cfg(unix)]
mod rules {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};

    use super::*;

    const OTHERS_WRITE: u32 = 0o022;
    const OTHERS: u32 = 0o077;

    fn owner_is_another(known: &Metadata) -> Option<u32> {
        // SAFETY: `geteuid` has no preconditions and cannot fail.
        let own = unsafe { libc::geteuid() };
        (known.uid() != own).then(|| known.uid())
    }

    pub fn folder(path: &Path, known: &Metadata) -> Result<(), String> {
        if let Some(owner) = owner_is_another(known) {
            return Err(format!("it belongs to another user ({owner})"));
        }
        let mode = known.permissions().mode() & 0o7777;
        if mode & OTHERS_WRITE != 0 {
            return Err(format!("others may write to it (mode {mode:o}): remove it, or chmod 700 it and empty it"));
        }
        if mode & OTHERS != 0 {
            let closed = fs::Permissions::from_mode(0o700);
            fs::set_permissions(path, closed).map_err(|error| format!("it cannot be closed to others: {error}"))?;
        }
        Ok(())
    }

    pub fn is_trusted(known: &Metadata) -> bool {
        known.is_file() && owner_is_another(known).is_none() && known.permissions().mode() & OTHERS_WRITE == 0
    }

    /// Opens a file without following a link and without blocking on a pipe.
    pub fn open(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
    }

    pub fn create(path: &Path) -> io::Result<()> {
        if let Some(parent) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        DirBuilder::new().mode(0o700).create(path)
    }
}

#[cfg(not(unix))]
mod rules {
    use super::*;

    pub fn folder(_: &Path, _: &Metadata) -> Result<(), String> {
        Ok(())
    }

    pub fn is_trusted(known: &Metadata) -> bool {
        known.is_file()
    }

    pub fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub fn create(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).create(path)
    }
}

fn check(path: &Path) -> Result<(), String> {
    let known = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if known.is_symlink() {
        return Err("it is a link".to_owned());
    }
    if !known.is_dir() {
        return Err("it is no folder".to_owned());
    }
    rules::folder(path, &known)
}

impl DiskCache {
    /// Opens a cache folder if it is trusted. If `make` is set, creates a missing folder.
    pub fn open(path: &Path, make: bool) -> Option<Self> {
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            // Another process may create the folder first, which is no error. A folder that cannot be created is not
            // used.
            if !make || rules::create(path).is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists) {
                return None;
            }
        }
        match check(path) {
            Ok(()) => {
                refused().remove(path);
                Some(Self(path.to_owned()))
            }
            Err(reason) => {
                let mut refused = refused();
                let known = refused.entry(path.to_owned()).or_insert_with(|| (reason.clone(), false));
                known.0 = reason;
                HAS_UNREPORTED.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    fn path(&self, key: &ImageKey) -> PathBuf {
        self.0.join(&key.0).with_extension(SUFFIX)
    }

    /// Loads the image with this cache key, unless its file is larger than `most` bytes.
    pub fn load(&self, key: &ImageKey, most: u64) -> Option<Compiled> {
        let path = self.path(key);
        let file = rules::open(&path).ok()?;
        let known = file.metadata().ok()?;
        if !rules::is_trusted(&known) || known.len() > most {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(known.len()).ok()?);
        // If another process extends the file while it is read, the checksum of the read bytes is wrong and the file is
        // not used.
        (&file).take(known.len()).read_to_end(&mut bytes).ok()?;
        match entry::decode(key, &bytes) {
            Some(compiled) => {
                // Sets the modification time of the cache file, which records when the image was last used.
                let _ = file.set_modified(SystemTime::now());
                Some(compiled)
            }
            None => {
                // The file is incomplete, for example after a power failure, or has another format version, so it is
                // removed.
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Stores an image under a cache key, in place of the previous file of this key. `most` is the size limit of the
    /// folder in bytes.
    pub fn store(&self, key: &ImageKey, compiled: &Compiled, most: u64) -> io::Result<()> {
        let Some(bytes) = entry::encode(key, compiled).filter(|bytes| bytes.len() as u64 <= most) else {
            return Ok(());
        };
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.0)?;
        file.write_all(&bytes)?;
        file.flush()?;
        file.persist(self.path(key)).map_err(|refused| refused.error)?;
        // The folder's size is measured only occasionally, because measuring thousands of files takes longer than
        // compiling a kernel.
        let fresh = FRESH.fetch_add(bytes.len() as u64, Ordering::Relaxed).saturating_add(bytes.len() as u64);
        if fresh < most / PARTS {
            return Ok(());
        }
        FRESH.store(0, Ordering::Relaxed);
        self.make_room(most)
    }

    /// Removes the file of a cache key from the folder.
    pub fn remove(&self, key: &ImageKey) {
        let _ = fs::remove_file(self.path(key));
    }

    /// Removes the least recently used files until the folder's size is at most nine tenths of the limit.
    fn make_room(&self, most: u64) -> io::Result<()> {
        /// Age after which a temporary file is considered abandoned by a dead process.
        const OLD: std::time::Duration = std::time::Duration::from_secs(3600);
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.0)?.flatten() {
            let (path, Ok(known)) = (entry.path(), entry.metadata()) else { continue };
            let used = known.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if path.extension().is_some_and(|suffix| suffix == SUFFIX) {
                files.push((used, known.len(), path));
            } else if entry.file_name().to_string_lossy().starts_with(".new-")
                && used.elapsed().is_ok_and(|age| age > OLD)
            {
                let _ = fs::remove_file(path);
            }
        }
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        if total <= most {
            return Ok(());
        }
        files.sort();
        for (_, bytes, path) in files {
            if total <= most / 10 * 9 {
                break;
            }
            // An error of the removal is ignored, because another process may have removed the file already.
            let _ = fs::remove_file(path);
            total = total.saturating_sub(bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use std::time::Duration;

    fn image(bytes: usize) -> Compiled {
        let lowered = vec!["_Z1kv".into(), String::new()];
        Compiled { image: vec![7; bytes], log: "a warning".into(), lowered, read: Some(Vec::new()) }
    }

    fn key(name: &str) -> ImageKey {
        ImageKey::of([name.as_bytes()])
    }

    fn at(folder: &Path) -> DiskCache {
        DiskCache::open(folder, true).unwrap()
    }

    #[test]
    fn disk_cache_loads_only_complete_files_of_own_user() {
        let folder = tempfile::tempdir().unwrap();
        let (own, key) = (at(folder.path()), key("a"));
        let file = own.path(&key);
        assert_eq!(own.load(&key, 1 << 20), None);
        own.store(&key, &image(100), 1 << 20).unwrap();
        assert_eq!(own.load(&key, 1 << 20), Some(image(100)));
        assert_eq!(own.load(&key, 100), None, "larger than the bound");
        let good = fs::read(&file).unwrap();
        let mut flipped = good.clone();
        flipped[60] ^= 1;
        let damaged: [&[u8]; 5] = [&flipped, &good[..good.len() - 1], &good[..20], b"", b"PyGPU k1 of another version"];
        for bytes in damaged {
            fs::write(&file, bytes).unwrap();
            assert_eq!(own.load(&key, 1 << 20), None);
            assert!(!file.exists());
        }
    }

    #[test]
    #[cfg(unix)]
    fn disk_cache_rejects_and_replaces_pipes_links_folders_and_shared_files() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (own, key) = (at(folder.path()), key("a"));
        let file = own.path(&key);
        own.store(&key, &image(100), 1 << 20).unwrap();
        let good = folder.path().join("good");
        fs::rename(&file, &good).unwrap();
        let pipe = || {
            let name = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
            // SAFETY: `name` is a NUL-terminated C string.
            assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        };
        let open = || {
            fs::copy(&good, &file).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        };
        let makers: [&dyn Fn(); 4] =
            [&pipe, &|| symlink("/dev/zero", &file).unwrap(), &|| symlink(&good, &file).unwrap(), &open];
        for make in makers {
            make();
            assert_eq!(own.load(&key, 1 << 20), None);
            own.store(&key, &image(100), 1 << 20).unwrap();
            assert_eq!(own.load(&key, 1 << 20), Some(image(100)));
            fs::remove_file(&file).unwrap();
        }
        fs::create_dir(&file).unwrap();
        assert_eq!(own.load(&key, 1 << 20), None);
        assert!(own.store(&key, &image(100), 1 << 20).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn disk_cache_rejects_folder_writable_by_others_and_reports_once() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (mode, at) = (
            |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777,
            |name: &str| folder.path().join(name),
        );
        let made = at("made/kernels");
        assert!(DiskCache::open(&made, false).is_none() && !made.exists());
        assert!(DiskCache::open(&made, true).is_some());
        assert_eq!(mode(&made), 0o700);
        fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(DiskCache::open(&made, false).is_some());
        assert_eq!(mode(&made), 0o700, "one that others could read is closed");
        for open in [0o777, 0o770, 0o702, 0o1777] {
            fs::set_permissions(&made, fs::Permissions::from_mode(open)).unwrap();
            assert!(DiskCache::open(&made, true).is_none());
            assert!(refusal(&made).unwrap().contains("others may write"));
        }
        let report_count =
            std::iter::from_fn(unreported_refusal).filter(|text| text.contains(made.to_str().unwrap())).count();
        assert_eq!(report_count, 1);
        fs::set_permissions(&made, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(DiskCache::open(&made, true).is_some() && refusal(&made).is_none());
        symlink(&made, at("link")).unwrap();
        assert!(DiskCache::open(&at("link"), true).is_none());
        assert!(refusal(&at("link")).unwrap().contains("a link"));
    }

    #[test]
    fn full_disk_cache_evicts_least_recently_used_files() {
        let folder = tempfile::tempdir().unwrap();
        let start = SystemTime::now() - Duration::from_secs(1000);
        for (age, name) in ["a", "b", "c"].into_iter().enumerate() {
            at(folder.path()).store(&key(name), &image(1000), 1 << 20).unwrap();
            let file = File::options().append(true).open(at(folder.path()).path(&key(name))).unwrap();
            file.set_modified(start + Duration::from_secs(age as u64)).unwrap();
        }
        assert!(at(folder.path()).load(&key("a"), 1 << 20).is_some()); // makes "a" the most recently used file
        at(folder.path()).store(&key("d"), &image(1000), 3500).unwrap();
        let kept = ["a", "b", "c", "d"].map(|name| at(folder.path()).path(&key(name)).exists());
        assert_eq!(kept, [true, false, false, true]);
        at(folder.path()).store(&key("e"), &image(5000), 3500).unwrap();
        assert!(!at(folder.path()).path(&key("e")).exists(), "larger than the bound itself");
    }

    #[test]
    fn disk_cache_rejects_path_that_is_no_folder_with_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file, no folder");
        fs::write(&file, b"").unwrap();
        assert!(DiskCache::open(&file, true).is_none());
        assert!(refusal(&file).unwrap().contains("no folder"));
    }

    #[test]
    fn disk_cache_stores_and_loads_in_concurrent_threads() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let folder = folder.path();
                scope.spawn(move || {
                    for turn in 0..50 {
                        let name = key(&format!("{}", (thread + turn) % 5));
                        at(folder).store(&name, &image(1000), 4000).unwrap();
                        let found = at(folder).load(&name, 4000);
                        assert!(found.is_none_or(|found| found == image(1000)));
                    }
                });
            }
        });
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".new-")));
    }
}
