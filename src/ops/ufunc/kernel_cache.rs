//! Caches elementwise kernels for the whole process. Every call looks up a kernel, without a lock. Kernels are never
//! evicted; the number of functions and type combinations that a program uses limits the cache's size.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::Elementwise;

/// Key of a kernel: the address of the function's table entry, which is static, and its types encoded as digits.
pub type LoopKey = (usize, u64);

struct CachedLoopKernel {
    key: LoopKey,
    kernel: Elementwise,
    next: *const CachedLoopKernel,
}

const PLACES: usize = 256;

static KNOWN: [AtomicPtr<CachedLoopKernel>; PLACES] = [const { AtomicPtr::new(ptr::null_mut()) }; PLACES];

#[inline]
fn place(key: LoopKey) -> &'static AtomicPtr<CachedLoopKernel> {
    let mixed = (key.1 ^ key.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    &KNOWN[(mixed >> 56) as usize % PLACES]
}

/// Searches a linked list of cache entries for the kernel with the given key.
#[inline]
fn among(mut entry: *const CachedLoopKernel, key: LoopKey) -> Option<&'static Elementwise> {
    loop {
        // SAFETY: the pointer is null or refers to a published entry. Entries are published only when they are
        // complete, and are never modified or freed.
        let one: &'static CachedLoopKernel = unsafe { entry.as_ref() }?;
        if one.key == key {
            return Some(&one.kernel);
        }
        entry = one.next;
    }
}

/// Looks up a kernel.
#[inline]
pub fn find(key: LoopKey) -> Option<&'static Elementwise> {
    among(place(key).load(Ordering::Acquire), key)
}

/// Adds a kernel to the cache. If another thread has meanwhile added a kernel with this key, returns that kernel.
pub fn keep(key: LoopKey, kernel: Elementwise) -> &'static Elementwise {
    let place = place(key);
    let mut first = place.load(Ordering::Acquire);
    let mut made = Box::new(CachedLoopKernel { key, kernel, next: first });
    loop {
        if let Some(known) = among(first, key) {
            return known;
        }
        made.next = first;
        let entry = Box::into_raw(made);
        match place.compare_exchange(first, entry, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the pointer comes from `Box::into_raw`. The entry has been published, so it is never modified or
            // freed any more.
            Ok(_) => return unsafe { &(*entry).kernel },
            Err(other) => {
                // SAFETY: the pointer comes from `Box::into_raw`, and the entry was not published, so no other thread
                // can use it.
                made = unsafe { Box::from_raw(entry) };
                first = other;
            }
        }
    }
}
