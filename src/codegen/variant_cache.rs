//! Caches compiled kernel variants for the whole process.
//!
//! Every launch looks up a variant, but few launches compile one. Lookups therefore take no lock: the table of variants
//! is immutable, and a thread that adds an entry replaces the whole table by a new one. The old table is freed when no
//! thread reads a table. Compilations in progress are recorded, so that other threads wait for them and no variant is
//! compiled twice. A lookup compares the whole key of an entry, not only the key's hash.

mod library_part;
mod postponed_variants;

use std::fmt::Display;
use std::hash::Hasher;
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar};

use smallvec::SmallVec;

use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_device::Device;
use pygpu_kernel::{self as kernel, Function, KernelSource};

/// Maximum number of cached variants. Beyond this number, variants that were not used recently are evicted.
const MOST: usize = 1024;

/// Key that distinguishes the variants of one kernel.
pub type VariantKey = SmallVec<[u8; 24]>;

static COMPILED: VariantCache<Function> = VariantCache::new(MOST);

pub use self::library_part::LibraryPart;
use self::postponed_variants::{POSTPONED, PostponedVariant, REFUSED};
pub use self::postponed_variants::{Postponed, forget_refused, has_postponed, take_postponed};

/// A group of compiled variants: all variants of one user-defined kernel, or of all kernels in one part of PyGPU, such
/// as the scans. Dropping the group evicts its variants from the cache.
pub struct KernelFamily {
    number: u64,
    /// Whether any variant of the group was compiled for a device with a driver, i.e. not only for the CPU.
    is_on_device: AtomicBool,
}

impl KernelFamily {
    /// Creates an empty group of variants with a unique number.
    pub fn new() -> Self {
        static LATEST: AtomicU64 = AtomicU64::new(KernelFamily::FIRST_OWN);
        Self { number: LATEST.fetch_add(1, Ordering::Relaxed), is_on_device: AtomicBool::new(false) }
    }

    /// Smallest group number that [`Self::new`] assigns. Smaller numbers identify the groups that [`Self::of_library`]
    /// creates.
    const FIRST_OWN: u64 = 1 << 16;

    /// Creates the group of all variants of one part of PyGPU.
    pub const fn of_library(part: LibraryPart) -> Self {
        Self { number: part as u64, is_on_device: AtomicBool::new(false) }
    }

    fn identity<'a>(&self, device: Device, key: &'a [u8]) -> VariantId<'a> {
        let place = (device.kind() as u64) << 48 | (device.slot() as u64) << 32 | u64::from(device.epoch());
        VariantId { family: self.number, place, key }
    }

    /// Looks up a variant that was compiled since the last reset of the device.
    #[inline]
    pub fn find(&self, device: Device, key: &[u8]) -> Option<Function> {
        COMPILED.find(&self.identity(device, key)).flatten()
    }

    /// Returns a variant, and compiles it if it is missing. The name is formatted only for a missing variant.
    ///
    /// A source that failed to compile is compiled again on every call, because an included file may have changed.
    ///
    /// # Errors
    /// The errors of [`kernel::load`].
    #[inline]
    pub fn function(
        &self,
        device: Device,
        key: &[u8],
        name: impl Display,
        source: impl FnOnce() -> KernelSource,
    ) -> Result<Function> {
        match self.find(device, key) {
            Some(function) => Ok(function),
            None if flush_points::is_in_batch() => Err(self.postpone(device, key, name.to_string(), source())),
            None => self
                .get_or_compile(device, key, || kernel::load_searching(device, &source())?.function(&name.to_string())),
        }
    }

    /// Schedules a variant for compilation after the flush in progress, which must not compile, has returned its
    /// operations to the queue. Returns the compiler's error if an earlier compilation of the variant failed, otherwise
    /// an error that makes the flush retry.
    #[cold]
    fn postpone(&self, device: Device, key: &[u8], name: String, source: KernelSource) -> Error {
        self.note(device);
        let identity = self.identity(device, key);
        REFUSED
            .with_borrow(|refused| {
                let known = refused.iter().find(|(other, _)| other.is(&identity));
                known.map(|(_, error)| error.clone())
            })
            .unwrap_or_else(|| {
                let variant =
                    PostponedVariant { family: self.number, place: identity.place, key: VariantKey::from_slice(key) };
                let error = Error::Unavailable(format!("{name} is not compiled yet"));
                POSTPONED.with_borrow_mut(|all| all.push(Postponed { variant, device, name, source }));
                error
            })
    }

    /// Returns a variant, and builds it with `make` if it is missing.
    ///
    /// # Errors
    /// The errors of `make`.
    #[cold]
    pub fn get_or_compile(
        &self,
        device: Device,
        key: &[u8],
        make: impl FnOnce() -> Result<Function>,
    ) -> Result<Function> {
        let made = COMPILED.find_or_make(&self.identity(device, key), || make().map(Some))?;
        self.note(device);
        made.ok_or_else(|| Error::Unavailable("the kernel could not be compiled before".to_owned()))
    }

    /// Returns a variant, or `None` if it cannot be compiled and the caller must use a fallback. A failed compilation
    /// is cached as `None` and not retried.
    #[inline]
    pub fn function_if_any(
        &self,
        device: Device,
        key: &[u8],
        name: &str,
        source: impl FnOnce() -> KernelSource,
    ) -> Option<Function> {
        let identity = self.identity(device, key);
        match COMPILED.find(&identity) {
            Some(found) => found,
            None if flush_points::is_in_batch() => None,
            None => self.first_if_any(device, &identity, name, source),
        }
    }

    #[cold]
    fn first_if_any(
        &self,
        device: Device,
        identity: &VariantId<'_>,
        name: &str,
        source: impl FnOnce() -> KernelSource,
    ) -> Option<Function> {
        let made = COMPILED.find_or_make(identity, || {
            match kernel::load_searching(device, &source()).and_then(|module| module.function(name)) {
                Ok(function) => Ok(Some(function)),
                // Failures that may be temporary, such as exhausted memory or a busy device, are not cached.
                Err(error @ (Error::Driver(_) | Error::OutOfMemory(_) | Error::Forked { .. })) => Err(error),
                Err(_) => Ok(None),
            }
        });
        self.note(device);
        made.ok().flatten()
    }

    fn note(&self, device: Device) {
        if !device.is_cpu() {
            self.is_on_device.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether any variant of this group was compiled for a device with a driver. If so, dropping the group
    /// calls the driver to unload the variant.
    pub fn is_on_device(&self) -> bool {
        self.is_on_device.load(Ordering::Relaxed)
    }
}

impl Default for KernelFamily {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for KernelFamily {
    fn drop(&mut self) {
        COMPILED.forget(self.number);
    }
}

/// Key of a variant in the table: the number of its [`KernelFamily`], its device, and its key within the family.
#[derive(Clone, Copy)]
struct VariantId<'a> {
    family: u64,
    /// The variant's device: the upper 32 bits contain its kind and slot, the lower 32 bits the number of its resets.
    place: u64,
    key: &'a [u8],
}

impl VariantId<'_> {
    #[inline]
    fn hash(&self) -> u64 {
        let mut hash = Mixer(self.family);
        hash.write_u64(self.place);
        hash.write(self.key);
        hash.finish()
    }
}

/// A fast, non-cryptographic hash. It suffices because PyGPU generates all keys, and users therefore cannot choose
/// colliding keys.
#[derive(Default)]
pub struct Mixer(u64);

impl Hasher for Mixer {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        // The last word that is hashed ends at the last byte of the data. It overlaps the word before it, because a
        // hashed word must be complete.
        match bytes.last_chunk() {
            Some(last) if !rest.is_empty() => self.write_u64(u64::from_le_bytes(*last)),
            Some(_) => {}
            None => self.write_u64(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))),
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// A cached variant. `value` is `None` if the variant cannot be compiled.
struct CompiledVariant<V> {
    hash: u64,
    family: u64,
    place: u64,
    key: VariantKey,
    value: Option<V>,
    /// Whether the variant was used since the table was last full and variants were evicted from it.
    was_used: AtomicBool,
}

impl<V> CompiledVariant<V> {
    #[inline]
    fn is(&self, hash: u64, of: &VariantId<'_>) -> bool {
        self.hash == hash && self.family == of.family && self.place == of.place && self.key.as_slice() == of.key
    }

    /// Returns whether this entry is outdated: it belongs to the device of the key `of`, and was compiled before the
    /// last reset of that device.
    fn is_older(&self, of: &VariantId<'_>) -> bool {
        self.place >> 32 == of.place >> 32 && (self.place as u32) < of.place as u32
    }
}

/// Hash table with open addressing. Its length is a power of two, and at most half of the positions are occupied.
struct VariantTable<V>(Box<[Option<Arc<CompiledVariant<V>>>]>);

impl<V> VariantTable<V> {
    fn of(entries: Vec<Arc<CompiledVariant<V>>>) -> Self {
        let room = (2 * entries.len() + 2).next_power_of_two();
        let mut places: Box<[Option<Arc<CompiledVariant<V>>>]> = (0..room).map(|_| None).collect();
        for entry in entries {
            let mut at = entry.hash as usize & (room - 1);
            while places[at].is_some() {
                at = (at + 1) & (room - 1);
            }
            places[at] = Some(entry);
        }
        Self(places)
    }

    #[inline]
    fn find(&self, of: &VariantId<'_>) -> Option<&CompiledVariant<V>> {
        let (hash, last) = (of.hash(), self.0.len() - 1);
        let mut at = hash as usize & last;
        // The loop ends because at least half of the table's positions are free.
        while let Some(entry) = &self.0[at] {
            if entry.is(hash, of) {
                return Some(entry);
            }
            at = (at + 1) & last;
        }
        None
    }

    fn entries(&self) -> impl Iterator<Item = &Arc<CompiledVariant<V>>> {
        self.0.iter().flatten()
    }
}

/// A compilation in progress, and the process that performs it. The process is stored because a forked child must not
/// wait for threads of its parent.
struct CompileClaim {
    hash: u64,
    family: u64,
    place: u64,
    key: VariantKey,
    process: u32,
}

/// The part of the cache's state that is needed only for changes of the table of variants.
struct Changing<V> {
    making: Vec<CompileClaim>,
    /// Tables that were replaced, but may still be read by other threads.
    replaced: ReplacedTables<V>,
}

struct VariantCache<V: 'static> {
    table: AtomicPtr<VariantTable<V>>,
    /// Number of threads that are reading a table. In a child that was forked from a multi-threaded process, the number
    /// may stay above zero. Replaced tables are then never freed.
    readers: AtomicUsize,
    changing: ForkSafeMutex<Changing<V>>,
    made: Condvar,
    most: usize,
}

/// Guard that counts this thread as a reader of the table.
struct Reading<'a>(&'a AtomicUsize);

impl Drop for Reading<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<V: Clone + Send + Sync> VariantCache<V> {
    const fn new(most: usize) -> Self {
        Self {
            table: AtomicPtr::new(ptr::null_mut()),
            readers: AtomicUsize::new(0),
            changing: ForkSafeMutex::new(Changing { making: Vec::new(), replaced: Vec::new() }),
            made: Condvar::new(),
            most,
        }
    }

    /// Looks up the entry of a kernel variant. Returns `Some(None)` if an earlier compilation of the variant failed and
    /// must not be retried.
    #[inline]
    fn find(&self, of: &VariantId<'_>) -> Option<Option<V>> {
        // The reader is counted before it loads the pointer. A thread that frees a table replaces the pointer first and
        // then checks that the count of readers is zero.
        self.readers.fetch_add(1, Ordering::SeqCst);
        let reading = Reading(&self.readers);
        let table = self.table.load(Ordering::SeqCst);
        // SAFETY: the pointer is null or valid, because a replaced table is not freed while a reader is counted that
        // may have loaded it.
        let entry = unsafe { table.as_ref() }.and_then(|table| table.find(of));
        let found = entry.map(|entry| {
            if !entry.was_used.load(Ordering::Relaxed) {
                entry.was_used.store(true, Ordering::Relaxed);
            }
            entry.value.clone()
        });
        drop(reading);
        found
    }

    /// Returns the value of a variant's entry. If the entry is missing and no other thread is building it, calls `make`
    /// to build the value. A result `Ok(None)` of `make` is cached, an error is not.
    fn find_or_make(&'static self, of: &VariantId<'_>, make: impl FnOnce() -> Result<Option<V>>) -> Result<Option<V>> {
        if let Some(found) = self.begin(of) {
            return Ok(found);
        }
        let turn = CompileGuard { store: self, of: *of };
        let made = make();
        let freed = made.as_ref().ok().map(|value| self.keep(of, value.clone()));
        drop(turn); // wakes the threads that wait for the entry, after it was added to the table
        drop(freed); // dropped after the lock is released, because the drop may call a driver
        made
    }

    /// Waits until a variant's entry exists, or until this thread may build it. Returns the entry's value if the entry
    /// exists, and `None` if this thread may build it.
    fn begin(&'static self, of: &VariantId<'_>) -> Option<Option<V>> {
        let (hash, process) = (of.hash(), process::id());
        let mut changing = self.changing.lock();
        loop {
            if let Some(found) = self.find(of) {
                return Some(found);
            }
            match changing.making.iter_mut().find(|making| making.is(hash, of)) {
                None => {
                    let (family, place, key) = (of.family, of.place, VariantKey::from_slice(of.key));
                    changing.making.push(CompileClaim { hash, family, place, key, process });
                    return None;
                }
                Some(making) if making.process != process => {
                    making.process = process;
                    return None;
                }
                Some(_) => changing = changing.wait(&self.made),
            }
        }
    }

    fn end(&'static self, of: &VariantId<'_>) {
        let hash = of.hash();
        self.changing.lock().making.retain(|making| !making.is(hash, of));
        self.made.notify_all();
    }

    /// Adds an entry to the table of variants, and evicts other entries if the table is full. Both steps replace the
    /// whole table. Returns the replaced tables that no thread reads any more. The caller must drop them without
    /// holding the lock `changing`, because the drop may call a driver.
    fn keep(&'static self, of: &VariantId<'_>, value: Option<V>) -> ReplacedTables<V> {
        let hash = of.hash();
        let mut changing = self.changing.lock();
        let mut entries = self.entries(&changing);
        entries.retain(|entry| !entry.is(hash, of) && !entry.is_older(of));
        if entries.len() >= self.most {
            entries.retain(|entry| entry.was_used.swap(false, Ordering::Relaxed));
            entries.truncate(self.most / 2);
        }
        let (family, place, key) = (of.family, of.place, VariantKey::from_slice(of.key));
        entries.push(Arc::new(CompiledVariant { hash, family, place, key, value, was_used: AtomicBool::new(false) }));
        self.replace(&mut changing, entries)
    }

    /// Evicts the variants of the [`KernelFamily`] with the number `family`.
    fn forget(&'static self, family: u64) {
        let mut changing = self.changing.lock();
        let mut entries = self.entries(&changing);
        let before = entries.len();
        entries.retain(|entry| entry.family != family);
        let freed = if entries.len() < before { Some(self.replace(&mut changing, entries)) } else { None };
        drop(changing);
        drop(freed);
    }

    /// Returns all entries of the table. The caller holds the lock `changing`, so no other thread can replace it.
    fn entries(&self, _: &ForkSafeGuard<Changing<V>>) -> Vec<Arc<CompiledVariant<V>>> {
        // SAFETY: a table is freed only under the lock, which the caller holds, and only after it was replaced.
        let table = unsafe { self.table.load(Ordering::SeqCst).as_ref() };
        table.map_or_else(Vec::new, |table| table.entries().cloned().collect())
    }

    /// Replaces the table of variants by a new one. Returns the replaced tables that no thread reads any more. The
    /// caller must drop them without holding the lock `changing`, because the drop may call a driver.
    fn replace(
        &self,
        changing: &mut ForkSafeGuard<Changing<V>>,
        entries: Vec<Arc<CompiledVariant<V>>>,
    ) -> ReplacedTables<V> {
        let old = self.table.swap(Box::into_raw(Box::new(VariantTable::of(entries))), Ordering::SeqCst);
        if !old.is_null() {
            // SAFETY: the pointer comes from `Box::into_raw` and was just removed from `self.table`.
            changing.replaced.push(unsafe { Box::from_raw(old) });
        }
        // A thread that still reads a replaced table was counted as a reader before its replacement and this check.
        match self.readers.load(Ordering::SeqCst) {
            0 => std::mem::take(&mut changing.replaced),
            _ => Vec::new(),
        }
    }
}

/// Tables that were replaced and that no thread can access any more.
type ReplacedTables<V> = Vec<Box<VariantTable<V>>>;

impl CompileClaim {
    fn is(&self, hash: u64, of: &VariantId<'_>) -> bool {
        self.hash == hash && self.family == of.family && self.place == of.place && self.key.as_slice() == of.key
    }
}

/// Guard of a thread that builds an entry, for which other threads may wait. Dropping the guard wakes these threads,
/// even if the entry was not built.
struct CompileGuard<'a, V: Clone + Send + Sync + 'static> {
    store: &'static VariantCache<V>,
    of: VariantId<'a>,
}

impl<V: Clone + Send + Sync> Drop for CompileGuard<'_, V> {
    fn drop(&mut self) {
        self.store.end(&self.of);
    }
}

#[cfg(test)]
mod tests;
