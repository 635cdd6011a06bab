//! Caches compiled images, in memory and in the user's cache folder.
//!
//! Several processes and machines may share the folder, and it may disappear at any time. A failure of the cache is
//! never an error for the user: an image that cannot be read is compiled again, and an image that cannot be written is
//! not cached. [`disk`] defines which folders and files are trusted, and [`entry`] defines the format of the files. An
//! image is used only while every file that it was compiled from is unchanged.
//!
//! `PYGPU_CACHE=0` disables the folder, `PYGPU_CACHE_DIR` selects another folder, and `PYGPU_CACHE_SIZE` limits the
//! folder's size (default `256M`; the least recently used files are removed first).

mod disk;
mod entry;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

use self::disk::DiskCache;
use pygpu_backend::{Compiled, FileFingerprint};
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_base::log_queue::{self, LogLevel};
use pygpu_base::settings::{self, Settings, Variable};

pub use self::disk::{refusal, unreported_refusal};

const DEFAULT_SIZE: u64 = 256 << 20;
/// Maximum total size in bytes of the images cached in memory.
const MEMORY_SIZE: usize = 64 << 20;

/// The folder, if any, in which an image may be cached.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Cache {
    /// The image is cached in the folder that the environment variables `PYGPU_CACHE` and `PYGPU_CACHE_DIR` select.
    #[default]
    Usual,
    /// The image is cached in this folder, which the caller selects.
    Folder(PathBuf),
    /// The image is not cached. It is compiled for every load.
    Off,
}

/// Cache key: a hash of everything that determines the image, as a hexadecimal string.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImageKey(String);

impl ImageKey {
    /// Returns the cache key for a sequence of byte strings. Sequences with other boundaries between the byte strings
    /// have other keys.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// A cache folder, if one is available, and its maximum size in bytes.
struct CacheLocation {
    folder: Option<PathBuf>,
    size: u64,
}

impl CacheLocation {
    fn of(cache: &Cache, settings: &Settings) -> Self {
        let folder = match cache {
            Cache::Off => None,
            Cache::Folder(folder) => (!settings.cache_is_off()).then(|| folder.clone()),
            Cache::Usual => settings.cache_folder(),
        };
        Self { folder: folder.map(|folder| folder.join("kernels")), size: bound(settings) }
    }
}

/// Returns the maximum size of the cache folder in bytes.
fn bound(settings: &Settings) -> u64 {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let Some(text) = settings.text(Variable::CACHE_SIZE) else { return DEFAULT_SIZE };
    bytes_of(&text).unwrap_or_else(|| {
        if !IS_TOLD.swap(true, Ordering::Relaxed) {
            let name = Variable::CACHE_SIZE.name();
            log_queue::log(LogLevel::Warning, || {
                format!("{name}={text} is no size such as 256M or 2G; {DEFAULT_SIZE} bytes are kept")
            });
        }
        DEFAULT_SIZE
    })
}

/// Parses a size such as `4096`, `100k`, `256M` or `2G`.
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

/// Returns the cache folder; `None` if caching is disabled or no folder is available.
pub fn cache_folder() -> Option<PathBuf> {
    CacheLocation::of(&Cache::Usual, settings::get()).folder
}

/// The images cached in memory, by cache folder and key.
#[derive(Default)]
struct MemoryTier {
    images: HashMap<(Option<PathBuf>, ImageKey), Arc<Compiled>>,
    bytes: usize,
}

static MEMORY: ForkSafeMutex<Option<MemoryTier>> = ForkSafeMutex::new(None);

fn memory() -> ForkSafeGuard<Option<MemoryTier>> {
    MEMORY.lock()
}

fn remember(name: (Option<PathBuf>, ImageKey), compiled: &Arc<Compiled>) {
    let mut memory = memory();
    let memory = memory.get_or_insert_default();
    if memory.bytes.saturating_add(compiled.image.len()) > MEMORY_SIZE {
        // All images are removed from memory, instead of the oldest only. This is rare, and the cache folder still
        // contains them.
        *memory = MemoryTier::default();
    }
    let before = memory.images.insert(name, Arc::clone(compiled));
    memory.bytes += compiled.image.len();
    memory.bytes = memory.bytes.saturating_sub(before.map_or(0, |before| before.image.len()));
}

/// Returns whether all files from which the image was compiled are unchanged.
fn is_fresh(compiled: &Compiled) -> bool {
    compiled.read.as_ref().is_some_and(|read| read.iter().all(FileFingerprint::holds))
}

/// Looks up the image of a cache key. Returns `None` if there is none, or if a file from which the image was compiled
/// has changed.
pub fn find(cache: &Cache, key: &ImageKey) -> Option<Arc<Compiled>> {
    if *cache == Cache::Off {
        return None;
    }
    let place = CacheLocation::of(cache, settings::get());
    let name = (place.folder.clone(), key.clone());
    let known = memory().as_ref().and_then(|memory| memory.images.get(&name).cloned());
    if let Some(known) = known.filter(|known| is_fresh(known)) {
        return Some(known);
    }
    let found = DiskCache::open(&place.folder?, false)?.load(key, place.size)?;
    let found = Arc::new(found);
    is_fresh(&found).then(|| {
        remember(name, &found);
        found
    })
}

/// Caches an image in memory and in the folder, unless the files from which it was compiled are unknown.
pub fn keep(cache: &Cache, key: &ImageKey, compiled: Compiled) -> Arc<Compiled> {
    let compiled = Arc::new(compiled);
    if *cache == Cache::Off || compiled.read.is_none() {
        return compiled;
    }
    let place = CacheLocation::of(cache, settings::get());
    if let Some(folder) = &place.folder {
        // Errors of storing an image are ignored. If the disk is full or the folder is not writable, the next process
        // compiles the kernel again.
        let stored: io::Result<()> = match DiskCache::open(folder, true) {
            Some(folder) => folder.store(key, &compiled, place.size),
            None => Ok(()),
        };
        let _ = stored;
    }
    remember((place.folder, key.clone()), &compiled);
    compiled
}

/// Removes from the cache an image that failed to load.
pub fn forget(cache: &Cache, key: &ImageKey) {
    let place = CacheLocation::of(cache, settings::get());
    if let Some(memory) = memory().as_mut()
        && let Some(gone) = memory.images.remove(&(place.folder.clone(), key.clone()))
    {
        memory.bytes = memory.bytes.saturating_sub(gone.image.len());
    }
    if let Some(folder) = place.folder.and_then(|folder| DiskCache::open(&folder, false)) {
        folder.remove(key);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn cache_key_depends_on_boundaries_of_its_parts() {
        assert_ne!(ImageKey::of([&b"ab"[..], b"c"]), ImageKey::of([&b"a"[..], b"bc"]));
    }

    #[test]
    fn image_with_unknown_dependencies_is_not_cached() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, key) = (Cache::Folder(folder.path().to_owned()), ImageKey::of([&b"unknown"[..]]));
        keep(&cache, &key, Compiled { image: vec![1], ..Compiled::default() });
        assert_eq!(find(&cache, &key), None);
        keep(&cache, &key, Compiled { image: vec![1], read: Some(Vec::new()), ..Compiled::default() });
        assert_eq!(find(&cache, &key).unwrap().image, [1]);
        forget(&cache, &key);
        assert_eq!(find(&cache, &key), None);
    }

    #[test]
    fn cache_size_is_parsed_with_unit() {
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
