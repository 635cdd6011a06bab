//! The kernels that were made: found at every call without a lock, and kept for as long as the process lives. There are as many as
//! functions and pairs of kinds that a program has met.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::Elementwise;

/// What tells the kernels of all functions apart: the place of the row, which is static, and the types as digits.
pub type Key = (usize, u64);

struct Entry {
    key: Key,
    kernel: Elementwise,
    next: *const Entry,
}

const PLACES: usize = 256;

static KNOWN: [AtomicPtr<Entry>; PLACES] = [const { AtomicPtr::new(ptr::null_mut()) }; PLACES];

#[inline]
fn place(key: Key) -> &'static AtomicPtr<Entry> {
    let mixed = (key.1 ^ key.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    &KNOWN[(mixed >> 56) as usize % PLACES]
}

/// The kernel of a key among those from an entry on.
#[inline]
fn among(mut entry: *const Entry, key: Key) -> Option<&'static Elementwise> {
    loop {
        // SAFETY: null, or an entry that was whole when it was put there, and is never changed nor freed.
        let one: &'static Entry = unsafe { entry.as_ref() }?;
        if one.key == key {
            return Some(&one.kernel);
        }
        entry = one.next;
    }
}

/// The kernel of a key, if it was made.
#[inline]
pub fn find(key: Key) -> Option<&'static Elementwise> {
    among(place(key).load(Ordering::Acquire), key)
}

/// Keeps a kernel, unless another thread has kept one meanwhile: then that one is the answer.
pub fn keep(key: Key, kernel: Elementwise) -> &'static Elementwise {
    let place = place(key);
    let mut first = place.load(Ordering::Acquire);
    let mut made = Box::new(Entry { key, kernel, next: first });
    loop {
        if let Some(known) = among(first, key) {
            return known;
        }
        made.next = first;
        let entry = Box::into_raw(made);
        match place.compare_exchange(first, entry, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: made by `into_raw`; who finds it from now on reads it only, and nobody frees it.
            Ok(_) => return unsafe { &(*entry).kernel },
            Err(other) => {
                // SAFETY: made by `into_raw`, and nobody has found it.
                made = unsafe { Box::from_raw(entry) };
                first = other;
            }
        }
    }
}
