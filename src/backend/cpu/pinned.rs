//! What a program has asked to be pinned. On the host nothing needs to be; a capture takes in copies of pinned memory only, since
//! a launch reads it again, and so it is known.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::backend::Address;

/// The pinned ranges.
pub struct Pinned {
    /// Bytes by first byte.
    ranges: LazyLock<Mutex<BTreeMap<Address, usize>>>,
}

impl Pinned {
    pub const fn new() -> Self {
        Self { ranges: LazyLock::new(Mutex::default) }
    }

    pub fn enter(&self, address: Address, bytes: usize) {
        self.lock().insert(address, bytes);
    }

    pub fn remove(&self, address: Address) {
        self.lock().remove(&address);
    }

    pub fn holds(&self, address: Address) -> bool {
        let ranges = self.lock();
        let before = ranges.range(..=address).next_back();
        before.is_some_and(|(first, bytes)| address - first < *bytes)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Address, usize>> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
