//! Caches small freed blocks of memory, in one cache per stream.
//!
//! A pool allocation and its free take half a microsecond in the driver, which is a large part of the cost of a small
//! array. A block is cached by the stream in whose order it was freed, and only that stream reuses it. The new use
//! follows all earlier uses in stream order, so no synchronization and no driver call is needed. Each stream owns its
//! cache, so that a cached block never outlives the stream in whose order it was freed.
//!
//! This module handles addresses and sizes only; the crate `memory` decides which blocks may be cached.

use std::sync::{Mutex, PoisonError};

use super::identity::PER_THREAD;
use super::{Stream, ours};
use crate::{Device, PerDevice, per_device};
use pygpu_backend::{Address, StreamHandle};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeMutex;

/// Smallest cached block size in bytes.
const LEAST: usize = 512;
const MOST: usize = 1 << 20;
/// Number of different sizes of cached blocks: two per power of two. A requested size is rounded up to the next of
/// these sizes.
const SIZES: usize = 23;

/// The cached blocks of one stream.
#[derive(Default)]
pub(super) struct StreamBlockCache {
    epoch: u32,
    bytes: usize,
    blocks: [Vec<Address>; SIZES],
}

/// The caches of the legacy default streams.
static OF_DEFAULT: PerDevice<ForkSafeMutex<StreamBlockCache>> =
    per_device!(ForkSafeMutex::new(StreamBlockCache::new()));

/// Returns the size of the cached blocks for a request of `bytes` bytes, and the index of that size, or `None` if the
/// request is too large to be cached.
#[inline]
fn size_of(bytes: usize) -> Option<(usize, usize)> {
    if bytes > MOST {
        return None;
    }
    let bytes = bytes.max(LEAST);
    let below = (bytes - 1).ilog2(); // exponent of the largest power of two below `bytes`
    let place = 2 * (below - (LEAST.ilog2() - 1)) as usize;
    let three_halves = 3 << (below - 1);
    Some(if bytes <= three_halves { (three_halves, place - 1) } else { (2 << below, place) })
}

impl StreamBlockCache {
    const fn new() -> Self {
        Self { epoch: 0, bytes: 0, blocks: [const { Vec::new() }; SIZES] }
    }

    /// Removes all blocks from the cache if the device was reset since they were cached, because a reset destroys their
    /// memory.
    #[inline]
    fn forget_before(&mut self, epoch: u32) {
        if self.epoch != epoch {
            *self = Self { epoch, ..Self::new() };
        }
    }

    /// Removes and returns all cached blocks.
    fn drain(&mut self, epoch: u32) -> Vec<Address> {
        self.forget_before(epoch);
        self.bytes = 0;
        self.blocks.iter_mut().flat_map(std::mem::take).collect()
    }
}

/// Returns the block size that must be allocated for a request of `bytes`, so that the block can be cached when it is
/// freed. Returns `None` if the request is too large to be cached.
#[inline]
pub fn spare_size(bytes: usize) -> Option<usize> {
    size_of(bytes).map(|(size, _)| size)
}

impl Stream {
    /// Returns whether blocks freed in this stream's order are cached. Returns `false` for the per-thread default
    /// stream, whose handle stands for another stream in each thread, and for a stream whose destruction is not
    /// reported to PyGPU.
    #[inline]
    pub fn has_block_cache(&self) -> bool {
        self.handle() != PER_THREAD && !self.is_foreign() && !self.device.is_cpu()
    }

    #[inline]
    fn with_spare<T>(&self, work: impl FnOnce(&mut StreamBlockCache) -> T) -> T {
        let epoch = self.device.epoch();
        let work = |spare: &mut StreamBlockCache| {
            spare.forget_before(epoch);
            work(spare)
        };
        match &self.inner {
            None => work(&mut OF_DEFAULT.of(self.device).lock()),
            Some(inner) => work(&mut inner.block_cache.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Takes a memory block of at least `bytes` bytes from the stream's cache.
    #[inline]
    pub fn take_spare(&self, bytes: usize) -> Option<Address> {
        let (size, place) = size_of(bytes)?;
        self.with_spare(|spare| {
            let address = spare.blocks[place].pop()?;
            spare.bytes -= size;
            Some(address)
        })
    }

    /// Puts a freed memory block into the stream's cache, unless the cache would then contain more than `most` bytes.
    ///
    /// # Safety
    /// The block was allocated from the device's pool with [`spare_size`]`(bytes)` bytes, and all its uses precede
    /// this point of the stream.
    #[inline]
    pub unsafe fn cache_block(&self, address: Address, bytes: usize, most: usize) -> bool {
        let Some((size, place)) = size_of(bytes) else { return false };
        self.with_spare(|spare| {
            let fits = spare.bytes + size <= most;
            if fits {
                spare.bytes += size;
                spare.blocks[place].push(address);
            }
            fits
        })
    }

    /// Returns all cached memory blocks of the stream to the device's pool.
    fn free_spare(&self) -> Result<()> {
        let epoch = self.device.epoch();
        free(self.device, self.handle(), self.with_spare(|spare| spare.drain(epoch)))
    }
}

/// Returns blocks to the device's pool, in the order of a stream.
fn free(device: Device, stream: StreamHandle, blocks: Vec<Address>) -> Result<()> {
    let mut result = Ok(());
    for address in blocks {
        // SAFETY: the block was removed from the cache, and all its uses were enqueued on the stream.
        result = result.and(unsafe { device.backend().free_to_pool(device.index(), address, stream) });
    }
    result
}

/// Returns cached blocks to the device's pool, because their stream is about to be destroyed.
pub(super) fn free_at_the_end(device: Device, stream: StreamHandle, spare: &mut Mutex<StreamBlockCache>) -> Result<()> {
    let spare = spare.get_mut().unwrap_or_else(PoisonError::into_inner);
    if spare.bytes == 0 { Ok(()) } else { free(device, stream, spare.drain(device.epoch())) }
}

/// Returns the default stream of a device and all streams that PyGPU created.
fn streams(device: Device) -> Vec<Stream> {
    let living: Vec<_> = ours(device).lock().values().filter_map(std::sync::Weak::upgrade).collect();
    let all = living.into_iter().map(|inner| Stream { device: inner.device, inner: Some(inner) });
    let all = all.filter(|stream| stream.device == device && stream.check_alive("trim").is_ok());
    std::iter::once(Stream::default_of(device)).chain(all).collect()
}

/// Returns the total size in bytes of the freed blocks in the caches of a device's streams.
pub fn spare_bytes(device: Device) -> usize {
    streams(device).iter().map(|stream| stream.with_spare(|spare| spare.bytes)).sum()
}

/// Returns all cached blocks of a device's streams to the device's pool.
///
/// # Errors
/// Errors of the driver; the remaining blocks are returned nevertheless.
pub fn free_spare(device: Device) -> Result<()> {
    let mut result = Ok(());
    for stream in streams(device) {
        result = result.and(stream.free_spare());
    }
    result
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn block_sizes_are_distinct_and_cover_requests() {
        let mut sizes: Vec<(usize, usize)> = (1..=MOST).filter_map(size_of).collect();
        sizes.dedup();
        assert_eq!(sizes.len(), SIZES);
        assert!(sizes.iter().enumerate().all(|(place, size)| size.1 == place));
        assert_eq!((sizes[0].0, sizes[1].0, sizes[SIZES - 1].0), (512, 768, MOST));
        assert!((1..=MOST).all(|bytes| size_of(bytes).unwrap().0 >= bytes));
        assert!((513..=MOST).all(|bytes| size_of(bytes).unwrap().0 * 2 < bytes * 3));
        assert_eq!(size_of(MOST + 1), None);
    }
}
