//! Compiled images, in memory and in the user's cache folder.
//!
//! The folder is shared by processes and machines, and may vanish at any time. Nothing here is an error to the user: what
//! cannot be read is compiled again, what cannot be written is not kept. [`folder`] says which folders and files are trusted,
//! [`entry`] what a file holds. An image is given out only while every file that it was made of is what it was.
//!
//! `PYGPU_CACHE=0` leaves the folder alone, `PYGPU_CACHE_DIR` names another, `PYGPU_CACHE_SIZE` bounds it (`256M` at first; the
//! least recently used files go first).

mod entry;
mod folder;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

use self::folder::Folder;
use pygpu_backend::{Compiled, Witness};
use pygpu_base::fork_safe::{Global, Guard};
use pygpu_base::log_queue::{self, Level};
use pygpu_base::settings::{self, Settings, Variable};

pub use self::folder::{refusal, untold_refusal};

const DEFAULT_SIZE: u64 = 256 << 20;
/// Bytes of images that are kept in memory.
const MEMORY_SIZE: usize = 64 << 20;

/// Where an image may be kept.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Cache {
    /// The folder that the settings name.
    #[default]
    Usual,
    /// A folder of the caller's.
    Folder(PathBuf),
    /// Nowhere.
    Off,
}

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

/// The folder and its bound.
struct Place {
    folder: Option<PathBuf>,
    size: u64,
}

impl Place {
    fn of(cache: &Cache, settings: &Settings) -> Self {
        let folder = match cache {
            Cache::Off => None,
            Cache::Folder(folder) => (!settings.cache_is_off()).then(|| folder.clone()),
            Cache::Usual => settings.cache_folder(),
        };
        Self { folder: folder.map(|folder| folder.join("kernels")), size: bound(settings) }
    }
}

/// How many bytes the folder may have.
fn bound(settings: &Settings) -> u64 {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let Some(text) = settings.text(Variable::CACHE_SIZE) else { return DEFAULT_SIZE };
    bytes_of(&text).unwrap_or_else(|| {
        if !IS_TOLD.swap(true, Ordering::Relaxed) {
            let name = Variable::CACHE_SIZE.name();
            log_queue::tell(Level::Warning, || {
                format!("{name}={text} is no size such as 256M or 2G; {DEFAULT_SIZE} bytes are kept")
            });
        }
        DEFAULT_SIZE
    })
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

/// The folder in which images are kept; `None` where it is switched off or there is none.
pub fn cache_folder() -> Option<PathBuf> {
    Place::of(&Cache::Usual, settings::get()).folder
}

/// What is kept in memory, by the folder that it was asked from.
#[derive(Default)]
struct Memory {
    images: HashMap<(Option<PathBuf>, Key), Arc<Compiled>>,
    bytes: usize,
}

static MEMORY: Global<Option<Memory>> = Global::new(None);

fn memory() -> Guard<Option<Memory>> {
    MEMORY.lock()
}

fn remember(name: (Option<PathBuf>, Key), compiled: &Arc<Compiled>) {
    let mut memory = memory();
    let memory = memory.get_or_insert_default();
    if memory.bytes.saturating_add(compiled.image.len()) > MEMORY_SIZE {
        *memory = Memory::default(); // rare, and the folder has them
    }
    let before = memory.images.insert(name, Arc::clone(compiled));
    memory.bytes += compiled.image.len();
    memory.bytes = memory.bytes.saturating_sub(before.map_or(0, |before| before.image.len()));
}

/// Whether an image is still what the compiler would make.
fn is_fresh(compiled: &Compiled) -> bool {
    compiled.read.as_ref().is_some_and(|read| read.iter().all(Witness::holds))
}

/// What is kept under a key, if every file that it was made of is what it was.
pub fn find(cache: &Cache, key: &Key) -> Option<Arc<Compiled>> {
    if *cache == Cache::Off {
        return None;
    }
    let place = Place::of(cache, settings::get());
    let name = (place.folder.clone(), key.clone());
    let known = memory().as_ref().and_then(|memory| memory.images.get(&name).cloned());
    if let Some(known) = known.filter(|known| is_fresh(known)) {
        return Some(known);
    }
    let found = Folder::open(&place.folder?, false)?.load(key, place.size)?;
    let found = Arc::new(found);
    is_fresh(&found).then(|| {
        remember(name, &found);
        found
    })
}

/// Keeps an image, unless one cannot tell of which files it was made.
pub fn keep(cache: &Cache, key: &Key, compiled: Compiled) -> Arc<Compiled> {
    let compiled = Arc::new(compiled);
    if *cache == Cache::Off || compiled.read.is_none() {
        return compiled;
    }
    let place = Place::of(cache, settings::get());
    if let Some(folder) = &place.folder {
        // A full disk or a folder that cannot be written costs time at the next start, nothing else.
        let stored: io::Result<()> = match Folder::open(folder, true) {
            Some(folder) => folder.store(key, &compiled, place.size),
            None => Ok(()),
        };
        let _ = stored;
    }
    remember((place.folder, key.clone()), &compiled);
    compiled
}

/// Forgets an image that did not load.
pub fn forget(cache: &Cache, key: &Key) {
    let place = Place::of(cache, settings::get());
    if let Some(memory) = memory().as_mut()
        && let Some(gone) = memory.images.remove(&(place.folder.clone(), key.clone()))
    {
        memory.bytes = memory.bytes.saturating_sub(gone.image.len());
    }
    if let Some(folder) = place.folder.and_then(|folder| Folder::open(&folder, false)) {
        folder.remove(key);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn parts_of_a_key_do_not_run_into_each_other() {
        assert_ne!(Key::of([&b"ab"[..], b"c"]), Key::of([&b"a"[..], b"bc"]));
    }

    #[test]
    fn what_one_cannot_tell_the_files_of_is_kept_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, key) = (Cache::Folder(folder.path().to_owned()), Key::of([&b"unknown"[..]]));
        keep(&cache, &key, Compiled { image: vec![1], ..Compiled::default() });
        assert_eq!(find(&cache, &key), None);
        keep(&cache, &key, Compiled { image: vec![1], read: Some(Vec::new()), ..Compiled::default() });
        assert_eq!(find(&cache, &key).unwrap().image, [1]);
        forget(&cache, &key);
        assert_eq!(find(&cache, &key), None);
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
