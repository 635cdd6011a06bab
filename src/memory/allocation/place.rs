//! Address of a block, which a deferred operation may give it later; the operations that use the block; what became of them.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::pool::Source;
use pygpu_backend::Address;
use pygpu_base::error::Error;
use pygpu_base::flush::{self, Mark, NodeId};
use pygpu_base::fork_safe::Global;

/// Why an operation that writes a block was refused.
struct Fault {
    error: Error,
    /// First operation of its batch, by which its thread is told of one error once.
    batch: NodeId,
}

/// Faults by the address of their [`Place`]. Hardly a block ever has one, and each word of a block is written for each new array.
static FAULTS: Global<BTreeMap<usize, Fault>> = Global::new(BTreeMap::new());

/// Whether a block has a fault, and of which kind.
mod state {
    pub(super) const SOUND: u8 = 0;
    /// A write was refused and the old values stay: the error belongs to the thread that takes it out.
    pub(super) const WRITE_REFUSED: u8 = 1;
    /// The block never gets its values: the error stays until the block ends.
    pub(super) const LOST: u8 = 2;
}

/// Address of a block and its source, which change once if the memory comes later.
pub(super) struct Place {
    address: AtomicUsize,
    pub(super) written_by: Mark,
    pub(super) read_by: Mark,
    source: AtomicU8,
    state: AtomicU8,
}

impl Place {
    /// Memory that exists.
    #[inline(always)]
    pub(super) fn new(address: Address, source: Source) -> Self {
        let (address, source) = (AtomicUsize::new(address), AtomicU8::new(source as u8));
        Self { address, written_by: Mark::new(), read_by: Mark::new(), source, state: AtomicU8::new(state::SOUND) }
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
    #[cold]
    pub(super) fn set_fault(&self, error: Error, batch: NodeId, is_lost: bool) -> bool {
        let mut faults = FAULTS.lock();
        if self.has_fault() {
            return false;
        }
        faults.insert(ptr::from_ref(self).addr(), Fault { error, batch });
        self.state.store(if is_lost { state::LOST } else { state::WRITE_REFUSED }, Ordering::Release);
        true
    }

    /// Whether there is an error.
    #[inline]
    pub(super) fn has_fault(&self) -> bool {
        self.state.load(Ordering::Acquire) != state::SOUND
    }

    /// Error of a lost block, each time it is called; that of a refused write, once, if it may be taken.
    #[cold]
    pub(super) fn fault(&self, may_take: bool) -> Option<(Error, NodeId)> {
        let mut faults = FAULTS.lock();
        let key = ptr::from_ref(self).addr();
        match self.state.load(Ordering::Relaxed) {
            state::LOST => faults.get(&key).map(|fault| (fault.error.clone(), fault.batch)),
            state::WRITE_REFUSED if may_take => {
                let fault = faults.remove(&key);
                self.state.store(state::SOUND, Ordering::Relaxed);
                drop(faults); // the count has a lock of its own
                flush::count_faults(-1);
                fault.map(|Fault { error, batch }| (error, batch))
            }
            _ => None,
        }
    }

    /// Address and source of the block, for its end; a fault stays here.
    pub(super) fn take(&mut self) -> Self {
        Self::new(self.address(), self.source())
    }

    #[cold]
    fn end_fault(&self) {
        let fault = FAULTS.lock().remove(&ptr::from_ref(self).addr());
        flush::count_faults(-1);
        drop(fault); // under no lock: it may be another library's object
    }
}

impl Drop for Place {
    #[inline]
    fn drop(&mut self) {
        if *self.state.get_mut() != state::SOUND {
            self.end_fault();
        }
    }
}
