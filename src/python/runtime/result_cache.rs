//! Cache of `get` results that only PyGPU refers to any more, for the next `get` of the same array.
//!
//! Why: creating an ndarray and touching its memory for the first time costs more than a small copy. The cache is
//! bounded in size for the process, evicts the oldest entry first, and is emptied by `trim_memory()`; the memory of
//! large results is additionally cached in `memory::host_block_cache`.
//!
//! The table is locked with the GIL held, for a few instructions; nothing is dropped meanwhile, since dropping an
//! ndarray may run Python.

use std::collections::VecDeque;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::convert::ndarray;
use crate::ffi::objects::is_last;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_memory::host_block_cache;

const MOST_BYTES: usize = 32 << 20;
const MOST_ARRAYS: usize = 64;

struct CachedResult {
    number: u64,
    array: Py<PyUntypedArray>,
    bytes: usize,
}

struct ResultCache {
    entries: VecDeque<CachedResult>,
    bytes: usize,
    next: u64,
}

static TABLE: ForkSafeMutex<ResultCache> =
    ForkSafeMutex::new(ResultCache { entries: VecDeque::new(), bytes: 0, next: 0 });

fn table() -> ForkSafeGuard<ResultCache> {
    TABLE.lock()
}

/// Slot in the table, freed when dropped.
pub(crate) struct CacheSlot(u64);

impl ResultCache {
    fn remove(&mut self, number: u64) -> Option<Py<PyUntypedArray>> {
        let place = self.entries.iter().rposition(|entry| entry.number == number)?;
        let entry = self.entries.remove(place)?;
        self.bytes -= entry.bytes;
        Some(entry.array)
    }

    /// Removes the oldest entries beyond a size in bytes, for the caller to drop.
    fn surplus(&mut self, bytes: usize) -> Vec<CachedResult> {
        let mut surplus = Vec::new();
        while self.bytes > bytes || self.entries.len() > MOST_ARRAYS {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= oldest.bytes;
            surplus.push(oldest);
        }
        surplus
    }
}

impl CacheSlot {
    /// Caches a result. `None` if it is too large or not a plain ndarray.
    pub(crate) fn keep(array: &Bound<'_, PyUntypedArray>) -> Option<Self> {
        let bytes = array.len() * array.dtype().itemsize();
        let most = MOST_BYTES.min(host_block_cache::limit());
        if bytes > most || !ndarray::owns_memory(array) || !ndarray::has_gil(array.py()) {
            return None;
        }
        let (number, surplus) = {
            let mut table = table();
            let number = table.next;
            table.next += 1;
            table.bytes += bytes;
            table.entries.push_back(CachedResult { number, array: array.clone().unbind(), bytes });
            let surplus =
                if table.bytes > most || table.entries.len() > MOST_ARRAYS { table.surplus(most) } else { Vec::new() };
            (number, surplus)
        };
        drop(surplus);
        Some(Self(number))
    }

    /// Returns the result, if it is still in the table.
    #[inline]
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let table = table();
        let entry = table.entries.iter().rfind(|entry| entry.number == self.0)?;
        Some(entry.array.bind(py).as_any().clone())
    }

    /// Returns whether the table contains the result.
    pub(crate) fn is_filled(&self) -> bool {
        table().entries.iter().any(|entry| entry.number == self.0)
    }
}

impl Drop for CacheSlot {
    fn drop(&mut self) {
        let taken = table().remove(self.0);
        drop(taken);
    }
}

/// Shrinks the cache to a size in bytes.
pub(crate) fn trim(bytes: usize) {
    let surplus = table().surplus(bytes.min(MOST_BYTES));
    drop(surplus);
}

/// Returns the bytes of results that only the cache refers to.
pub(crate) fn kept(py: Python<'_>) -> usize {
    let is_unheld = |entry: &&CachedResult| is_last(&entry.array, py);
    table().entries.iter().filter(is_unheld).map(|entry| entry.bytes).sum()
}
