//! Results of `get` that nobody but PyGPU holds any more, kept for the next `get` of the same array.
//!
//! Why: to make an ndarray and to touch its memory for the first time costs more than a small copy. What is kept is bounded in sum for
//! the process, the oldest goes first, and `trim_memory()` gives all of it back; large results have `memory::recycled` besides.
//!
//! The table is locked with the GIL held and for moments; nothing is dropped meanwhile, since the end of an ndarray may run Python.

use std::collections::VecDeque;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::convert::ndarray;
use pygpu_base::fork_safe::{Global, Guard};
use pygpu_memory::recycled;

const MOST_BYTES: usize = 32 << 20;
const MOST_ARRAYS: usize = 64;

struct Entry {
    number: u64,
    array: Py<PyUntypedArray>,
    bytes: usize,
}

struct Table {
    entries: VecDeque<Entry>,
    bytes: usize,
    next: u64,
}

static TABLE: Global<Table> = Global::new(Table { entries: VecDeque::new(), bytes: 0, next: 0 });

fn table() -> Guard<Table> {
    TABLE.lock()
}

/// A place in the table, given up when it is dropped.
pub(crate) struct Spare(u64);

impl Table {
    fn remove(&mut self, number: u64) -> Option<Py<PyUntypedArray>> {
        let place = self.entries.iter().rposition(|entry| entry.number == number)?;
        let entry = self.entries.remove(place)?;
        self.bytes -= entry.bytes;
        Some(entry.array)
    }

    /// The oldest beyond so many bytes, for the caller to drop.
    fn surplus(&mut self, bytes: usize) -> Vec<Entry> {
        let mut surplus = Vec::new();
        while self.bytes > bytes || self.entries.len() > MOST_ARRAYS {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= oldest.bytes;
            surplus.push(oldest);
        }
        surplus
    }
}

impl Spare {
    /// Keeps a result. `None` where it is too large, or no ndarray of the usual kind.
    pub(crate) fn keep(array: &Bound<'_, PyUntypedArray>) -> Option<Self> {
        let bytes = array.len() * array.dtype().itemsize();
        let most = MOST_BYTES.min(recycled::limit());
        if bytes > most || !ndarray::owns_memory(array) || !ndarray::has_gil(array.py()) {
            return None;
        }
        let (number, surplus) = {
            let mut table = table();
            let number = table.next;
            table.next += 1;
            table.bytes += bytes;
            table.entries.push_back(Entry { number, array: array.clone().unbind(), bytes });
            let surplus =
                if table.bytes > most || table.entries.len() > MOST_ARRAYS { table.surplus(most) } else { Vec::new() };
            (number, surplus)
        };
        drop(surplus);
        Some(Self(number))
    }

    /// The result, if it is still in the table.
    #[inline]
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let table = table();
        let entry = table.entries.iter().rfind(|entry| entry.number == self.0)?;
        Some(entry.array.bind(py).as_any().clone())
    }

    /// Whether the table holds the result.
    pub(crate) fn is_there(&self) -> bool {
        table().entries.iter().any(|entry| entry.number == self.0)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        let taken = table().remove(self.0);
        drop(taken);
    }
}

/// Gives back all but so many bytes.
pub(crate) fn trim(bytes: usize) {
    let surplus = table().surplus(bytes.min(MOST_BYTES));
    drop(surplus);
}

/// Bytes of results that nobody else holds.
pub(crate) fn kept(_: Python<'_>) -> usize {
    // SAFETY: live objects, and the GIL.
    let is_unheld = |entry: &&Entry| unsafe { ffi::Py_REFCNT(entry.array.as_ptr()) } == 1;
    table().entries.iter().filter(is_unheld).map(|entry| entry.bytes).sum()
}
