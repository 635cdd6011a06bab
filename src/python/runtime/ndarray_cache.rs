//! Caches the ndarrays that `GPUArray.get` returned. If no code outside PyGPU refers to such an ndarray any more, the
//! next `get` of the same array reuses it.
//!
//! The reason is that creating an ndarray and touching its memory for the first time costs more than a small copy. The
//! cache has a maximum size per process, evicts the oldest entry first, and is emptied by `trim_memory()`. The memory
//! of large results is also cached, in `memory::host_block_cache`.
//!
//! A thread that locks the cache's table holds the GIL, and holds the lock for a few instructions. No ndarray is
//! dropped while the lock is held, because the drop may run Python code.

use std::collections::VecDeque;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::convert::ndarray;
use crate::ffi::objects::is_last;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_memory::host_block_cache;

const MAX_BYTES: usize = 32 << 20;
const MAX_ARRAYS: usize = 64;

struct CachedResult {
    id: u64,
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

/// Handle of one entry of the result cache. The drop of the handle removes the entry.
pub(crate) struct CacheSlot(u64);

impl ResultCache {
    fn remove(&mut self, id: u64) -> Option<Py<PyUntypedArray>> {
        let position = self.entries.iter().rposition(|entry| entry.id == id)?;
        let entry = self.entries.remove(position)?;
        self.bytes -= entry.bytes;
        Some(entry.array)
    }

    /// Removes the oldest entries until at most `bytes` bytes and `MAX_ARRAYS` entries remain. Returns the removed
    /// entries, which the caller must drop after the lock is released.
    fn evicted(&mut self, bytes: usize) -> Vec<CachedResult> {
        let mut evicted = Vec::new();
        while self.bytes > bytes || self.entries.len() > MAX_ARRAYS {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= oldest.bytes;
            evicted.push(oldest);
        }
        evicted
    }
}

impl CacheSlot {
    /// Stores a result in the cache. Returns `None` if the result is too large or does not own its memory.
    pub(crate) fn store(array: &Bound<'_, PyUntypedArray>) -> Option<Self> {
        let bytes = array.len() * array.dtype().itemsize();
        let limit = MAX_BYTES.min(host_block_cache::limit());
        if bytes > limit || !ndarray::owns_memory(array) || !ndarray::has_gil(array.py()) {
            return None;
        }
        let (id, evicted) = {
            let mut table = table();
            let id = table.next;
            table.next += 1;
            table.bytes += bytes;
            table.entries.push_back(CachedResult { id, array: array.clone().unbind(), bytes });
            let evicted =
                if table.bytes > limit || table.entries.len() > MAX_ARRAYS { table.evicted(limit) } else { Vec::new() };
            (id, evicted)
        };
        drop(evicted);
        Some(Self(id))
    }

    /// Returns the cached result; `None` if its entry was evicted.
    #[inline]
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let table = table();
        let entry = table.entries.iter().rfind(|entry| entry.id == self.0)?;
        Some(entry.array.bind(py).as_any().clone())
    }

    /// Returns whether the cache still contains the entry.
    pub(crate) fn is_filled(&self) -> bool {
        table().entries.iter().any(|entry| entry.id == self.0)
    }
}

impl Drop for CacheSlot {
    fn drop(&mut self) {
        let removed = table().remove(self.0);
        drop(removed);
    }
}

/// Evicts entries until the cache contains at most `bytes` bytes.
pub(crate) fn trim(bytes: usize) {
    let evicted = table().evicted(bytes.min(MAX_BYTES));
    drop(evicted);
}

/// Returns the total bytes of the results to which only the cache refers.
pub(crate) fn cached_bytes(py: Python<'_>) -> usize {
    let is_unreferenced = |entry: &&CachedResult| is_last(&entry.array, py);
    table().entries.iter().filter(is_unreferenced).map(|entry| entry.bytes).sum()
}
