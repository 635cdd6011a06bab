//! Implements the lock types of `src/base/locks_and_atomics.rs` with loom.

use std::cell::UnsafeCell;

use loom::sync::atomic::{AtomicBool, Ordering};
pub use loom::sync::{Mutex, MutexGuard};
pub use std::sync::PoisonError;

/// Atomic integers and fences of loom.
pub mod atomic {
    pub use loom::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
}

/// Cell that is set once, in place of `std::sync::OnceLock`, which loom lacks. A thread writes the value while it holds
/// the lock `setting`, and then sets the flag `is_set`. A thread that reads the set flag may read the value without the
/// lock.
pub struct OnceLock<T> {
    is_set: AtomicBool,
    setting: Mutex<()>,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: `get_or_init` writes the value once, while it holds the lock `setting` and before it sets `is_set`.
// Afterwards threads only read the value.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub fn new() -> Self {
        Self { is_set: AtomicBool::new(false), setting: Mutex::new(()), value: UnsafeCell::new(None) }
    }

    pub fn get(&self) -> Option<&T> {
        if !self.is_set.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: `is_set` is set, and no thread writes the value after that.
        unsafe { (*self.value.get()).as_ref() }
    }

    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _setting = self.setting.lock().unwrap();
        // SAFETY: only the holder of the lock writes the value, and no other thread reads the value before `is_set` is
        // set.
        unsafe {
            let value = &mut *self.value.get();
            if value.is_none() {
                *value = Some(make());
                self.is_set.store(true, Ordering::Release);
            }
            value.as_ref().unwrap()
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}
