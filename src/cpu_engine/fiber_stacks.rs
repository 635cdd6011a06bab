//! Provides stacks for the waiting threads of a block. Each OS thread caches its stacks between launches.
//!
//! Most kernels run for less time than is needed to map a stack's memory, protect its guard pages and touch its pages.
//! The cache of an OS thread is freed when the thread ends.

use std::cell::RefCell;
use std::ffi::{c_char, c_uint, c_ulonglong};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use pygpu_base::ffi_guard::catch_panic;

/// Memory for the stacks of 32 threads of a block. `abi.h` also declares this structure.
#[repr(C)]
pub struct Stacks {
    memory: *mut c_char,
    bytes: c_ulonglong,
    guarded: c_uint,
    may_guard: c_uint,
}

/// Maximum number of `Stacks` objects in the cache of an OS thread; together they hold stacks for 256 threads of a
/// block.
const MOST_KEPT: usize = 8;
/// Maximum number of `Stacks` objects in the process that have guard pages. Each guard page splits a mapping in two,
/// and the system limits the number of mappings.
const MOST_GUARDED: usize = 256;

static MAPPED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static KEPT: RefCell<Vec<Stacks>> = const { RefCell::new(Vec::new()) };
}

impl Stacks {
    fn map(bytes: c_ulonglong) -> Option<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        let length = usize::try_from(bytes).ok()?;
        // SAFETY: the call creates a new mapping.
        let memory = unsafe { libc::mmap(ptr::null_mut(), length, access, flags, -1, 0) };
        if memory == libc::MAP_FAILED {
            return None;
        }
        let may_guard = c_uint::from(MAPPED.fetch_add(1, Ordering::Relaxed) < MOST_GUARDED);
        Some(Self { memory: memory.cast(), bytes, guarded: 0, may_guard })
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped by `map` with this size, and no fiber uses it any more.
        unsafe { libc::munmap(self.memory.cast(), self.bytes as usize) };
        MAPPED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns stacks for 32 threads of a block: cached ones if possible, otherwise newly mapped ones. Returns null if
/// memory is exhausted.
pub extern "C" fn take(bytes: c_ulonglong) -> *mut Stacks {
    catch_panic(ptr::null_mut(), || {
        // An OS thread that is terminating no longer has a cache, so its stacks are newly mapped.
        let kept = KEPT.try_with(|kept| {
            let mut kept = kept.try_borrow_mut().ok()?;
            let place = kept.iter().rposition(|stacks| stacks.bytes == bytes)?;
            Some(kept.swap_remove(place))
        });
        let stacks = kept.ok().flatten().or_else(|| Stacks::map(bytes));
        stacks.map_or(ptr::null_mut(), |stacks| Box::into_raw(Box::new(stacks)))
    })
}

/// Returns stacks to the cache of this OS thread, or frees them if the cache is full.
///
/// # Safety
/// `stacks` comes from `take`, and no fiber uses the memory any more.
pub unsafe extern "C" fn give(stacks: *mut Stacks) {
    catch_panic((), || {
        // SAFETY: the caller guarantees that the pointer comes from `take`, which leaks a `Box`.
        let mut stacks = Some(*unsafe { Box::from_raw(stacks) });
        let _ = KEPT.try_with(|kept| {
            if let Ok(mut kept) = kept.try_borrow_mut()
                && kept.len() < MOST_KEPT
            {
                kept.extend(stacks.take());
            }
        });
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn thread_reuses_returned_stacks_up_to_its_limit() {
        const BYTES: c_ulonglong = 32 * 69_632;
        let first = take(BYTES);
        // SAFETY: each pointer comes from `take`.
        unsafe {
            let memory = (*first).memory;
            (*first).guarded = 1;
            give(first);
            let other = take(2 * BYTES);
            let again = take(BYTES);
            assert_eq!(((*again).memory, (*again).guarded), (memory, 1), "of this size");
            let many: Vec<_> = (0..2 * MOST_KEPT).map(|_| take(BYTES)).collect();
            for each in many.into_iter().chain([other, again]) {
                give(each);
            }
            assert_eq!(KEPT.with(|kept| kept.borrow().len()), MOST_KEPT);
        }
    }
}
