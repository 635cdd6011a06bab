//! Small blocks that were freed in the order of a stream, and wait for its next wish.
//!
//! Why: a driver's pool takes half a microsecond for a block and its end, which is a large part of all that a small array costs.
//! Whoever is given a block that its own stream had before comes behind all that used it, so nobody waits and no driver is asked.
//! Streams keep them themselves, so that no block outlives the order in which it was freed.
//!
//! Knows addresses and sizes only. Which blocks may be kept, [`memory`](pygpu_memory) knows.

use std::sync::{Mutex, PoisonError};

use super::identity::PER_THREAD;
use super::{Stream, ours};
use crate::{Device, PerDevice, per_device};
use pygpu_backend::{Address, StreamHandle};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::Global;

/// Bytes of the smallest and the largest blocks that are kept.
const LEAST: usize = 512;
const MOST: usize = 1 << 20;
/// Two sizes for each power of two, of which a block has the next larger one.
const SIZES: usize = 23;

/// What one stream keeps.
#[derive(Default)]
pub(super) struct Spare {
    epoch: u32,
    bytes: usize,
    blocks: [Vec<Address>; SIZES],
}

/// Those of the default streams.
static OF_DEFAULT: PerDevice<Global<Spare>> = per_device!(Global::new(Spare::new()));

/// The bytes of a block of at least `bytes` that may be kept when it is freed, and the place of its size; `None` for larger ones.
#[inline]
fn size_of(bytes: usize) -> Option<(usize, usize)> {
    if bytes > MOST {
        return None;
    }
    let bytes = bytes.max(LEAST);
    let below = (bytes - 1).ilog2(); // of the power of two below
    let place = 2 * (below - (LEAST.ilog2() - 1)) as usize;
    let three_halves = 3 << (below - 1);
    Some(if bytes <= three_halves { (three_halves, place - 1) } else { (2 << below, place) })
}

impl Spare {
    const fn new() -> Self {
        Self { epoch: 0, bytes: 0, blocks: [const { Vec::new() }; SIZES] }
    }

    /// What was made before the device was reset is gone.
    #[inline]
    fn forget_before(&mut self, epoch: u32) {
        if self.epoch != epoch {
            *self = Self { epoch, ..Self::new() };
        }
    }

    /// All blocks, which are kept no more.
    fn drain(&mut self, epoch: u32) -> Vec<Address> {
        self.forget_before(epoch);
        self.bytes = 0;
        self.blocks.iter_mut().flat_map(std::mem::take).collect()
    }
}

/// The bytes to ask for where `bytes` are wanted, so that the block can be kept when it is freed; `None` for those that are not.
#[inline]
pub fn spare_size(bytes: usize) -> Option<usize> {
    size_of(bytes).map(|(size, _)| size)
}

impl Stream {
    /// Whether blocks are kept in its order. Not where a handle means another stream in another thread, or where its end is not seen.
    #[inline]
    pub fn keeps_spare(&self) -> bool {
        self.handle() != PER_THREAD && !self.is_foreign() && !self.device.is_cpu()
    }

    #[inline]
    fn with_spare<T>(&self, work: impl FnOnce(&mut Spare) -> T) -> T {
        let epoch = self.device.epoch();
        let work = |spare: &mut Spare| {
            spare.forget_before(epoch);
            work(spare)
        };
        match &self.inner {
            None => work(&mut OF_DEFAULT.of(self.device).lock()),
            Some(inner) => work(&mut inner.spare.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// A block of at least `bytes`, if one is kept.
    #[inline]
    pub fn take_spare(&self, bytes: usize) -> Option<Address> {
        let (size, place) = size_of(bytes)?;
        self.with_spare(|spare| {
            let address = spare.blocks[place].pop()?;
            spare.bytes -= size;
            Some(address)
        })
    }

    /// Keeps a block, if the stream then has no more than `most` bytes.
    ///
    /// # Safety
    /// The block came from the device's pool with [`spare_size`]`(bytes)`; whatever uses it is before this point of the stream.
    #[inline]
    pub unsafe fn keep_spare(&self, address: Address, bytes: usize, most: usize) -> bool {
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

    /// Gives what is kept back to the device's pool.
    fn free_spare(&self) -> Result<()> {
        let epoch = self.device.epoch();
        free(self.device, self.handle(), self.with_spare(|spare| spare.drain(epoch)))
    }
}

/// Gives blocks back to the device's pool, in the order of a stream.
fn free(device: Device, stream: StreamHandle, blocks: Vec<Address>) -> Result<()> {
    let mut result = Ok(());
    for address in blocks {
        // SAFETY: the block is in no list any more, and all that used it is on the stream.
        result = result.and(unsafe { device.backend().free_to_pool(device.index(), address, stream) });
    }
    result
}

/// Gives back what a stream keeps that is about to be destroyed.
pub(super) fn free_at_the_end(device: Device, stream: StreamHandle, spare: &mut Mutex<Spare>) -> Result<()> {
    let spare = spare.get_mut().unwrap_or_else(PoisonError::into_inner);
    if spare.bytes == 0 { Ok(()) } else { free(device, stream, spare.drain(device.epoch())) }
}

/// The default stream of a device, and all others that are ours.
fn streams(device: Device) -> Vec<Stream> {
    let living: Vec<_> = ours(device).lock().values().filter_map(std::sync::Weak::upgrade).collect();
    let all = living.into_iter().map(|inner| Stream { device: inner.device, inner: Some(inner) });
    let all = all.filter(|stream| stream.device == device && stream.check_alive("trim").is_ok());
    std::iter::once(Stream::default_of(device)).chain(all).collect()
}

/// Bytes that the streams of a device keep.
pub fn spare_bytes(device: Device) -> usize {
    streams(device).iter().map(|stream| stream.with_spare(|spare| spare.bytes)).sum()
}

/// Gives what the streams of a device keep back to its pool.
///
/// # Errors
/// The driver's; then the rest was given back all the same.
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
    fn every_size_has_a_place_of_its_own_and_holds_what_was_asked_for() {
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
