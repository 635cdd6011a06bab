//! Where a block is: known from the beginning, or once the operation that makes its values is launched.

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

use crate::pool::Source;
use pygpu_backend::Address;

/// The address of a block and where that came from, which change once where the block's memory was put off.
pub(super) struct Place {
    address: AtomicUsize,
    source: AtomicU8,
    /// 0 where nothing was put off; else twice the number of the operation, and one more if that has failed.
    deferred: AtomicU64,
}

impl Place {
    /// Memory that is there.
    #[inline(always)]
    pub(super) fn new(address: Address, source: Source) -> Self {
        let (address, source) = (AtomicUsize::new(address), AtomicU8::new(source as u8));
        Self { address, source, deferred: AtomicU64::new(0) }
    }

    /// Says which operation has the memory.
    #[inline(always)]
    pub(super) fn wait_for(&self, number: u64) {
        self.deferred.store(number << 1, Ordering::Release);
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

    /// The number of the operation that has not given it memory, or could not.
    #[inline(always)]
    pub(super) fn deferred(&self) -> Option<u64> {
        match self.deferred.load(Ordering::Acquire) {
            0 => None,
            number => Some(number >> 1),
        }
    }

    /// The same, if it could not.
    pub(super) fn failed(&self) -> Option<u64> {
        self.deferred().filter(|_| self.deferred.load(Ordering::Relaxed) & 1 == 1)
    }

    /// Notes that the operation of a number failed, whether or not the block has memory meanwhile.
    pub(super) fn fail(&self, number: u64) {
        self.deferred.store(number << 1 | 1, Ordering::Release);
    }

    pub(super) fn settle(&self, address: Address, source: Source) {
        self.address.store(address, Ordering::Relaxed);
        self.source.store(source as u8, Ordering::Relaxed);
        self.deferred.store(0, Ordering::Release);
    }

    /// The same place; here nothing is left.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.address(), self.source()))
    }
}
