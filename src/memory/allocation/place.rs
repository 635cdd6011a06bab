//! Address of a block, which a deferred operation may give it later; the operations that use the block; what became of them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use crate::pool::Source;
use pygpu_backend::Address;
use pygpu_base::error::Error;
use pygpu_base::flush::{self, Mark, NodeId};

/// Why an operation that writes a block was refused.
struct Fault {
    error: Error,
    /// First operation of its batch, by which its thread is told of one error once.
    batch: NodeId,
}

/// Address of a block and its source, which change once if the memory comes later.
pub(super) struct Place {
    address: AtomicUsize,
    source: AtomicU8,
    pub(super) written_by: Mark,
    pub(super) read_by: Mark,
    /// A `Box<Fault>`, null without one. The lowest bit is set for a lost block: its error stays until the block ends. Without the bit
    /// it is that of a refused write, and belongs to the thread that takes it out.
    fault: AtomicPtr<Fault>,
}

const LOST: usize = 1;

impl Place {
    /// Memory that exists.
    #[inline(always)]
    pub(super) fn new(address: Address, source: Source) -> Self {
        let (address, source) = (AtomicUsize::new(address), AtomicU8::new(source as u8));
        let fault = AtomicPtr::new(ptr::null_mut());
        Self { address, source, written_by: Mark::new(), read_by: Mark::new(), fault }
    }

    #[inline(always)]
    pub(super) fn address(&self) -> Address {
        self.address.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn source(&self) -> Source {
        const SOURCES: [Source; 3] = [Source::Plain, Source::Pool, Source::Recyclable];
        SOURCES[usize::from(self.source.load(Ordering::Relaxed)) % SOURCES.len()]
    }

    pub(super) fn settle(&self, address: Address, source: Source) {
        self.source.store(source as u8, Ordering::Relaxed);
        self.address.store(address, Ordering::Release);
    }

    /// Stores why an operation that writes the block was refused, unless there is an error already; whether it was stored.
    pub(super) fn set_fault(&self, error: Error, batch: NodeId, is_lost: bool) -> bool {
        let new = Box::into_raw(Box::new(Fault { error, batch }));
        let tagged = if is_lost { new.map_addr(|address| address | LOST) } else { new };
        if self.fault.compare_exchange(ptr::null_mut(), tagged, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return true;
        }
        // SAFETY: made above, and never seen by others.
        drop(unsafe { Box::from_raw(new) });
        false
    }

    /// Whether there is an error.
    #[inline]
    pub(super) fn has_fault(&self) -> bool {
        !self.fault.load(Ordering::Acquire).is_null()
    }

    /// Error of a lost block, each time it is called; that of a refused write, once, if it may be taken.
    #[cold]
    pub(super) fn fault(&self, may_take: bool) -> Option<(Error, NodeId)> {
        let found = self.fault.load(Ordering::Acquire);
        if found.addr() & LOST != 0 {
            // SAFETY: made by `Box::into_raw`; the error of a lost block ends with the block, which is borrowed here.
            let fault = unsafe { found.map_addr(|address| address & !LOST).as_ref() }?;
            return Some((fault.error.clone(), fault.batch));
        }
        if found.is_null() || !may_take {
            return None;
        }
        let taken = self.fault.swap(ptr::null_mut(), Ordering::AcqRel);
        if taken.is_null() {
            return None; // another thread was told
        }
        flush::count_faults(-1);
        // SAFETY: made by `Box::into_raw`; the swap gave it to this thread alone. A block with memory of before is never lost.
        let Fault { error, batch } = *unsafe { Box::from_raw(taken) };
        Some((error, batch))
    }

    /// The same place; here nothing is left.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.address(), self.source()))
    }
}

impl Drop for Place {
    #[inline]
    fn drop(&mut self) {
        let fault = *self.fault.get_mut();
        if !fault.is_null() {
            flush::count_faults(-1);
            // SAFETY: made by `Box::into_raw`, and this is its last owner.
            drop(unsafe { Box::from_raw(fault.map_addr(|address| address & !LOST)) });
        }
    }
}
