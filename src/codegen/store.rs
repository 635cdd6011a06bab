//! What was compiled: one table for the process.
//!
//! Kernels are looked up at every launch and compiled once in a while. So the table that is read never changes: who adds
//! something makes a new one and puts it in the place of the old one, which is freed when nobody reads. Reading takes no lock. What
//! is being compiled is written down, so that whoever else needs it waits and nothing is compiled twice. Whole keys are
//! compared, not only their hashes.

mod postponed;

use std::hash::Hasher;
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar};

use smallvec::SmallVec;

use pygpu_base::error::{Error, Result};
use pygpu_base::flush;
use pygpu_base::fork_safe::{Global, Guard};
use pygpu_device::Device;
use pygpu_kernel::{self as kernel, Function, Source};

/// Kernels that are kept; beyond that those go that were not used for longest.
const MOST: usize = 1024;

/// What tells the variants of a kernel apart.
pub type Key = SmallVec<[u8; 24]>;

static COMPILED: Store<Function> = Store::new(MOST);

use self::postponed::{POSTPONED, REFUSED, Variant};
pub use self::postponed::{Postponed, forget_refused, has_postponed, take_postponed};

/// The variants of one kernel: an expression of a user's, or all kernels of a part of the library. They are given up with it.
pub struct Family {
    number: u64,
    /// Whether one was made that a driver knows of.
    is_on_device: AtomicBool,
}

impl Family {
    /// Of a kernel that nobody else has.
    pub fn new() -> Self {
        static LATEST: AtomicU64 = AtomicU64::new(Family::FIRST_OWN);
        Self { number: LATEST.fetch_add(1, Ordering::Relaxed), is_on_device: AtomicBool::new(false) }
    }

    /// Numbers below are of parts of the library.
    const FIRST_OWN: u64 = 1 << 16;

    /// Of a part of the library, by a number that no other part has.
    pub const fn of_library(number: u16) -> Self {
        Self { number: number as u64, is_on_device: AtomicBool::new(false) }
    }

    fn identity<'a>(&self, device: Device, key: &'a [u8]) -> Identity<'a> {
        let place = (device.kind() as u64) << 48 | (device.slot() as u64) << 32 | u64::from(device.epoch());
        Identity { family: self.number, place, key }
    }

    /// A variant, if it was compiled for the device since this was last reset.
    #[inline]
    pub fn find(&self, device: Device, key: &[u8]) -> Option<Function> {
        COMPILED.find(&self.identity(device, key)).flatten()
    }

    /// A variant; compiled now if it is not there.
    ///
    /// A source that does not compile is tried again each time: it may include a file that changes.
    ///
    /// # Errors
    /// As [`kernel::load`].
    #[inline]
    pub fn function(
        &self,
        device: Device,
        key: &[u8],
        name: &str,
        source: impl FnOnce() -> Source,
    ) -> Result<Function> {
        match self.find(device, key) {
            Some(function) => Ok(function),
            None if flush::is_in_batch() => Err(self.postpone(device, key, name, source())),
            None => self.made(device, key, || kernel::load_searching(device, &source())?.function(name)),
        }
    }

    /// Leaves a variant to be compiled when the flush has let go of its operations; a flush compiles nothing. Returns the error of an
    /// operation that waits for that, or that of the compiler, which was asked before.
    #[cold]
    fn postpone(&self, device: Device, key: &[u8], name: &str, source: Source) -> Error {
        self.note(device);
        let identity = self.identity(device, key);
        REFUSED
            .with_borrow(|refused| {
                let known = refused.iter().find(|(other, _)| other.is(&identity));
                known.map(|(_, error)| error.clone())
            })
            .unwrap_or_else(|| {
                let variant = Variant { family: self.number, place: identity.place, key: Key::from_slice(key) };
                let postponed = Postponed { variant, device, name: name.to_owned(), source };
                POSTPONED.with_borrow_mut(|all| all.push(postponed));
                Error::Unavailable(format!("{name} is not compiled yet"))
            })
    }

    /// A variant; made now if it is not there.
    ///
    /// # Errors
    /// Those of `make`.
    #[cold]
    pub fn made(&self, device: Device, key: &[u8], make: impl FnOnce() -> Result<Function>) -> Result<Function> {
        let made = COMPILED.find_or_make(&self.identity(device, key), || make().map(Some))?;
        self.note(device);
        made.ok_or_else(|| Error::Unavailable("the kernel could not be compiled before".to_owned()))
    }

    /// A variant of what the library can do in another way too; `None` where there is no way to have it, which is not tried
    /// again.
    #[inline]
    pub fn function_if_any(
        &self,
        device: Device,
        key: &[u8],
        name: &str,
        source: impl FnOnce() -> Source,
    ) -> Option<Function> {
        let identity = self.identity(device, key);
        match COMPILED.find(&identity) {
            Some(found) => found,
            None if flush::is_in_batch() => None,
            None => self.first_if_any(device, &identity, name, source),
        }
    }

    #[cold]
    fn first_if_any(
        &self,
        device: Device,
        identity: &Identity<'_>,
        name: &str,
        source: impl FnOnce() -> Source,
    ) -> Option<Function> {
        let made = COMPILED.find_or_make(identity, || {
            match kernel::load_searching(device, &source()).and_then(|module| module.function(name)) {
                Ok(function) => Ok(Some(function)),
                // What a driver refuses now it may take later: full memory, a device that is busy with something else.
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

    /// Whether its end may reach a driver.
    pub fn is_on_device(&self) -> bool {
        self.is_on_device.load(Ordering::Relaxed)
    }
}

impl Default for Family {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        COMPILED.forget(self.number);
    }
}

/// What a variant is known by.
#[derive(Clone, Copy)]
struct Identity<'a> {
    family: u64,
    /// The device, and in the lower half how often it was reset.
    place: u64,
    key: &'a [u8],
}

impl Identity<'_> {
    #[inline]
    fn hash(&self) -> u64 {
        let mut hash = Mixer(self.family);
        hash.write_u64(self.place);
        hash.write(self.key);
        hash.finish()
    }
}

/// A quick hash; keys are ours.
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
        // Some bytes twice, so that each load is a whole word.
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

/// One variant; `None` for one that cannot be had.
struct Entry<V> {
    hash: u64,
    family: u64,
    place: u64,
    key: Key,
    value: Option<V>,
    /// Since the last time that some had to go.
    was_used: AtomicBool,
}

impl<V> Entry<V> {
    #[inline]
    fn is(&self, hash: u64, of: &Identity<'_>) -> bool {
        self.hash == hash && self.family == of.family && self.place == of.place && self.key.as_slice() == of.key
    }

    /// Whether a reset of its device has come between it and another one.
    fn is_older(&self, of: &Identity<'_>) -> bool {
        self.place >> 32 == of.place >> 32 && (self.place as u32) < of.place as u32
    }
}

/// Entries by their hashes: a power of two of places, of which at most half are taken.
struct Table<V>(Box<[Option<Arc<Entry<V>>>]>);

impl<V> Table<V> {
    fn of(entries: Vec<Arc<Entry<V>>>) -> Self {
        let room = (2 * entries.len() + 2).next_power_of_two();
        let mut places: Box<[Option<Arc<Entry<V>>>]> = (0..room).map(|_| None).collect();
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
    fn find(&self, of: &Identity<'_>) -> Option<&Entry<V>> {
        let (hash, last) = (of.hash(), self.0.len() - 1);
        let mut at = hash as usize & last;
        // Ends, since half of the places are free.
        while let Some(entry) = &self.0[at] {
            if entry.is(hash, of) {
                return Some(entry);
            }
            at = (at + 1) & last;
        }
        None
    }

    fn entries(&self) -> impl Iterator<Item = &Arc<Entry<V>>> {
        self.0.iter().flatten()
    }
}

/// What is being made, and by which process: a child does not wait for its parent's threads.
struct Making {
    hash: u64,
    family: u64,
    place: u64,
    key: Key,
    process: u32,
}

/// What only who changes the table needs.
struct Changing<V> {
    making: Vec<Making>,
    /// Tables that were replaced, and may be read still.
    replaced: Freed<V>,
}

struct Store<V: 'static> {
    table: AtomicPtr<Table<V>>,
    /// Threads that read a table. In a child that was forked from one of several threads it may stay above zero, and then replaced
    /// tables are kept.
    readers: AtomicUsize,
    changing: Global<Changing<V>>,
    made: Condvar,
    most: usize,
}

/// A thread reads.
struct Reading<'a>(&'a AtomicUsize);

impl Drop for Reading<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<V: Clone + Send + Sync> Store<V> {
    const fn new(most: usize) -> Self {
        Self {
            table: AtomicPtr::new(ptr::null_mut()),
            readers: AtomicUsize::new(0),
            changing: Global::new(Changing { making: Vec::new(), replaced: Vec::new() }),
            made: Condvar::new(),
            most,
        }
    }

    /// What is there: `Some(None)` if it is known that it cannot be had.
    #[inline]
    fn find(&self, of: &Identity<'_>) -> Option<Option<V>> {
        // Counted before the pointer is read: who frees a table has replaced it before it saw that nobody is counted.
        self.readers.fetch_add(1, Ordering::SeqCst);
        let reading = Reading(&self.readers);
        let table = self.table.load(Ordering::SeqCst);
        // SAFETY: null, or a table that is not freed while a reader is counted who may have found it.
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

    /// What is there, or what `make` makes, unless another thread does that just now. What fails is forgotten; `Ok(None)` is kept.
    fn find_or_make(&'static self, of: &Identity<'_>, make: impl FnOnce() -> Result<Option<V>>) -> Result<Option<V>> {
        if let Some(found) = self.begin(of) {
            return Ok(found);
        }
        let turn = Turn { store: self, of: *of };
        let made = make();
        let freed = made.as_ref().ok().map(|value| self.keep(of, value.clone()));
        drop(turn); // not before it is kept: who waited looks for it
        drop(freed); // may reach a driver, which nobody is to wait for with the lock
        made
    }

    /// Waits until it is there, or until it is this thread's turn to make it.
    fn begin(&'static self, of: &Identity<'_>) -> Option<Option<V>> {
        let (hash, process) = (of.hash(), process::id());
        let mut changing = self.changing.lock();
        loop {
            if let Some(found) = self.find(of) {
                return Some(found);
            }
            match changing.making.iter_mut().find(|making| making.is(hash, of)) {
                None => {
                    let (family, place, key) = (of.family, of.place, Key::from_slice(of.key));
                    changing.making.push(Making { hash, family, place, key, process });
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

    fn end(&'static self, of: &Identity<'_>) {
        let hash = of.hash();
        self.changing.lock().making.retain(|making| !making.is(hash, of));
        self.made.notify_all();
    }

    /// Adds an entry; some others may have to go.
    fn keep(&'static self, of: &Identity<'_>, value: Option<V>) -> Freed<V> {
        let hash = of.hash();
        let mut changing = self.changing.lock();
        let mut entries = self.entries(&changing);
        entries.retain(|entry| !entry.is(hash, of) && !entry.is_older(of));
        if entries.len() >= self.most {
            entries.retain(|entry| entry.was_used.swap(false, Ordering::Relaxed));
            entries.truncate(self.most / 2);
        }
        let (family, place, key) = (of.family, of.place, Key::from_slice(of.key));
        entries.push(Arc::new(Entry { hash, family, place, key, value, was_used: AtomicBool::new(false) }));
        self.replace(&mut changing, entries)
    }

    /// Gives up the variants of a family.
    fn forget(&'static self, family: u64) {
        let mut changing = self.changing.lock();
        let mut entries = self.entries(&changing);
        let before = entries.len();
        entries.retain(|entry| entry.family != family);
        let freed = if entries.len() < before { Some(self.replace(&mut changing, entries)) } else { None };
        drop(changing);
        drop(freed);
    }

    /// All entries. Who has the lock is the only one who replaces the table.
    fn entries(&self, _: &Guard<Changing<V>>) -> Vec<Arc<Entry<V>>> {
        // SAFETY: the table is freed only by who has the lock, and only when it was replaced.
        let table = unsafe { self.table.load(Ordering::SeqCst).as_ref() };
        table.map_or_else(Vec::new, |table| table.entries().cloned().collect())
    }

    /// Puts another table in the place of the one that is read. The answer is what can be freed, without the lock.
    fn replace(&self, changing: &mut Guard<Changing<V>>, entries: Vec<Arc<Entry<V>>>) -> Freed<V> {
        let old = self.table.swap(Box::into_raw(Box::new(Table::of(entries))), Ordering::SeqCst);
        if !old.is_null() {
            // SAFETY: made by `Box::into_raw`, and no longer in the place from which it was taken.
            changing.replaced.push(unsafe { Box::from_raw(old) });
        }
        // Who reads one of these has counted itself before it was replaced, hence before now.
        match self.readers.load(Ordering::SeqCst) {
            0 => std::mem::take(&mut changing.replaced),
            _ => Vec::new(),
        }
    }
}

/// Tables that nobody finds any more.
type Freed<V> = Vec<Box<Table<V>>>;

impl Making {
    fn is(&self, hash: u64, of: &Identity<'_>) -> bool {
        self.hash == hash && self.family == of.family && self.place == of.place && self.key.as_slice() == of.key
    }
}

/// A thread makes what others wait for; it ends however that ends.
struct Turn<'a, V: Clone + Send + Sync + 'static> {
    store: &'static Store<V>,
    of: Identity<'a>,
}

impl<V: Clone + Send + Sync> Drop for Turn<'_, V> {
    fn drop(&mut self) {
        self.store.end(&self.of);
    }
}

#[cfg(test)]
mod tests;
