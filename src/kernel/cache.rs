//! Compiled images, in memory and in the user's cache folder.
//!
//! The folder is shared by processes and machines: a file is written beside its place and renamed into it, is believed only if
//! its checksum is right, and may vanish at any time. Nothing here is an error to the user: what cannot be read is compiled
//! again, what cannot be written is not kept.
//!
//! `PYGPU_CACHE=0` leaves the folder alone, `PYGPU_CACHE_DIR` names another, `PYGPU_CACHE_SIZE` bounds it (`256M` at first; the
//! least recently used files go first).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::backend::Compiled;

/// Changes with the form of the files and of the keys.
const MAGIC: &[u8; 8] = b"PyGPU k1";
const SUFFIX: &str = "pgk";
const CHECKSUM: usize = 32;
const DEFAULT_SIZE: u64 = 256 << 20;
/// Bytes of images that are kept in memory.
const MEMORY_SIZE: usize = 64 << 20;

/// What an image is kept under: a hash of everything that matters, as letters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key(String);

impl Key {
    /// The key of parts; where one ends and the next begins matters.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// What the environment says, read anew each time: a program may set it before its first kernel.
struct Settings {
    folder: Option<PathBuf>,
    size: u64,
}

impl Settings {
    fn read() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let is_off = variable("PYGPU_CACHE").is_some_and(|value| value == "0" || value.eq_ignore_ascii_case("off"));
        let folder = match variable("PYGPU_CACHE_DIR") {
            _ if is_off => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None => platform_folder().map(|folder| folder.join("PyGPU")),
        };
        let size = variable("PYGPU_CACHE_SIZE").and_then(|text| bytes_of(&text.to_string_lossy()));
        Self { folder: folder.map(|folder| folder.join("kernels")), size: size.unwrap_or(DEFAULT_SIZE) }
    }
}

/// Where programs of this platform keep what can be made again. A few lines: the crate for it brings a licence that the wheel
/// does not have.
fn platform_folder() -> Option<PathBuf> {
    // The specification says to ignore a path that is not absolute.
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    if cfg!(windows) {
        return named("LOCALAPPDATA");
    }
    let home = || std::env::home_dir().filter(|home| home.is_absolute());
    match named("XDG_CACHE_HOME") {
        Some(folder) => Some(folder),
        None if cfg!(target_os = "macos") => home().map(|home| home.join("Library/Caches")),
        None => home().map(|home| home.join(".cache")),
    }
}

/// `4096`, `100k`, `256M`, `2G`.
fn bytes_of(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['b', 'B']).trim_end_matches(['i', 'I']);
    let shift = match text.chars().last()?.to_ascii_lowercase() {
        'k' => 10,
        'm' => 20,
        'g' => 30,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The folder in which images are kept now; `None` where it is switched off or there is none.
pub fn folder() -> Option<PathBuf> {
    Settings::read().folder
}

/// What is kept in memory.
#[derive(Default)]
struct Memory {
    images: HashMap<Key, Arc<Compiled>>,
    bytes: usize,
}

static MEMORY: Mutex<Option<Memory>> = Mutex::new(None);

fn memory() -> MutexGuard<'static, Option<Memory>> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(key: &Key, compiled: &Arc<Compiled>) {
    let mut memory = memory();
    let memory = memory.get_or_insert_default();
    if memory.bytes.saturating_add(compiled.image.len()) > MEMORY_SIZE {
        *memory = Memory::default(); // rare, and the folder has them
    }
    if memory.images.insert(key.clone(), Arc::clone(compiled)).is_none() {
        memory.bytes += compiled.image.len();
    }
}

/// What is kept under a key.
pub fn find(key: &Key) -> Option<Arc<Compiled>> {
    if let Some(known) = memory().as_ref().and_then(|memory| memory.images.get(key)) {
        return Some(Arc::clone(known));
    }
    let found = Arc::new(load(&Settings::read().folder?, key)?);
    remember(key, &found);
    Some(found)
}

/// Keeps an image.
pub fn keep(key: &Key, compiled: Compiled) -> Arc<Compiled> {
    let settings = Settings::read();
    if let Some(folder) = &settings.folder {
        // A full disk or a folder that cannot be written costs time at the next start, nothing else.
        let _ = store(folder, key, &compiled, settings.size);
    }
    let compiled = Arc::new(compiled);
    remember(key, &compiled);
    compiled
}

fn path(folder: &Path, key: &Key) -> PathBuf {
    folder.join(&key.0).with_extension(SUFFIX)
}

fn load(folder: &Path, key: &Key) -> Option<Compiled> {
    let path = path(folder, key);
    let bytes = fs::read(&path).ok()?;
    match decode(&bytes) {
        Some(compiled) => {
            touch(&path);
            Some(compiled)
        }
        None => {
            // Half written by a machine that lost power, or of another version: never looked at again.
            let _ = fs::remove_file(&path);
            None
        }
    }
}

/// Notes the use; who may read only leaves the order as it is.
fn touch(path: &Path) {
    if let Ok(file) = File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn store(folder: &Path, key: &Key, compiled: &Compiled, most: u64) -> io::Result<()> {
    let bytes = encode(compiled);
    if bytes.len() as u64 > most {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    file.write_all(&bytes)?;
    file.flush()?;
    file.persist(path(folder, key)).map_err(|refused| refused.error)?;
    make_room(folder, most)
}

/// Removes the least recently used files until the rest is a tenth below the bound.
fn make_room(folder: &Path, most: u64) -> io::Result<()> {
    /// What a process that died has left behind.
    const OLD: std::time::Duration = std::time::Duration::from_secs(3600);
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let (path, Ok(known)) = (entry.path(), entry.metadata()) else { continue };
        let used = known.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if path.extension().is_some_and(|suffix| suffix == SUFFIX) {
            files.push((used, known.len(), path));
        } else if entry.file_name().to_string_lossy().starts_with(".new-") && used.elapsed().is_ok_and(|age| age > OLD)
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
        // Another process may have removed it.
        let _ = fs::remove_file(path);
        total = total.saturating_sub(bytes);
    }
    Ok(())
}

fn encode(compiled: &Compiled) -> Vec<u8> {
    let mut payload = Vec::with_capacity(compiled.image.len() + compiled.log.len() + 256);
    let mut push = |bytes: &[u8]| {
        payload.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        payload.extend_from_slice(bytes);
    };
    push(&compiled.image);
    push(compiled.log.as_bytes());
    compiled.lowered.iter().for_each(|name| push(name.as_bytes()));
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&Sha256::digest(&payload));
    bytes.extend_from_slice(&payload);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Compiled> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (checksum, mut payload) = rest.split_at_checked(CHECKSUM)?;
    if Sha256::digest(payload).as_slice() != checksum {
        return None;
    }
    let mut next = || {
        let (length, rest) = payload.split_first_chunk::<8>()?;
        let (bytes, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        payload = rest;
        Some(bytes.to_vec())
    };
    let (image, log) = (next()?, String::from_utf8(next()?).ok()?);
    let mut lowered = Vec::new();
    while let Some(name) = next() {
        lowered.push(String::from_utf8(name).ok()?);
    }
    Some(Compiled { image, log, lowered })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use std::time::Duration;

    fn image(bytes: usize) -> Compiled {
        Compiled { image: vec![7; bytes], log: "a warning".into(), lowered: vec!["_Z1kv".into(), String::new()] }
    }

    fn key(name: &str) -> Key {
        Key::of([name.as_bytes()])
    }

    #[test]
    fn what_was_stored_is_loaded_and_parts_do_not_run_into_each_other() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(load(folder.path(), &key("a")), None);
        store(folder.path(), &key("a"), &image(100), 1 << 20).unwrap();
        assert_eq!(load(folder.path(), &key("a")), Some(image(100)));
        assert_ne!(Key::of([&b"ab"[..], b"c"]), Key::of([&b"a"[..], b"bc"]));
    }

    #[test]
    fn a_damaged_file_is_not_believed_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = path(folder.path(), &key("a"));
        store(folder.path(), &key("a"), &image(100), 1 << 20).unwrap();
        let good = fs::read(&file).unwrap();
        let mut flipped = good.clone();
        flipped[60] ^= 1;
        let damaged: [&[u8]; 5] = [&flipped, &good[..good.len() - 1], &good[..20], b"", b"PyGPU k0 of another version"];
        for bytes in damaged {
            fs::write(&file, bytes).unwrap();
            assert_eq!(load(folder.path(), &key("a")), None);
            assert!(!file.exists());
        }
    }

    #[test]
    fn the_least_recently_used_files_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let start = SystemTime::now() - Duration::from_secs(1000);
        for (age, name) in ["a", "b", "c"].into_iter().enumerate() {
            store(folder.path(), &key(name), &image(1000), 1 << 20).unwrap();
            let file = File::options().append(true).open(path(folder.path(), &key(name))).unwrap();
            file.set_modified(start + Duration::from_secs(age as u64)).unwrap();
        }
        assert!(load(folder.path(), &key("a")).is_some()); // now the most recently used
        store(folder.path(), &key("d"), &image(1000), 3500).unwrap();
        let kept = ["a", "b", "c", "d"].map(|name| path(folder.path(), &key(name)).exists());
        assert_eq!(kept, [true, false, false, true]);
        store(folder.path(), &key("e"), &image(5000), 3500).unwrap();
        assert!(!path(folder.path(), &key("e")).exists(), "larger than the bound itself");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_an_error_that_nobody_sees() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file, no folder");
        fs::write(&file, b"").unwrap();
        assert!(store(&file, &key("a"), &image(10), 1 << 20).is_err());
        assert_eq!(load(&file, &key("a")), None);
    }

    #[test]
    fn many_threads_store_and_load_without_harm() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let folder = folder.path();
                scope.spawn(move || {
                    for turn in 0..50 {
                        let name = key(&format!("{}", (thread + turn) % 5));
                        store(folder, &name, &image(1000), 4000).unwrap();
                        let found = load(folder, &name);
                        assert!(found.is_none_or(|found| found == image(1000)));
                    }
                });
            }
        });
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".new-")));
    }

    #[test]
    fn sizes_are_read_with_their_letters() {
        let cases =
            [("4096", 4096), ("1k", 1024), ("256M", 256 << 20), ("2GiB", 2 << 30), (" 3 mb ", 3 << 20), ("0", 0)];
        for (text, bytes) in cases {
            assert_eq!(bytes_of(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "many", "-1", "99999999999999999999G", "20000000000G"] {
            assert_eq!(bytes_of(text), None, "{text}");
        }
    }
}
