//! Releases a memory block: the free is ordered after every use of the block, recorded or not.

use std::sync::atomic::AtomicU32;

use super::{Allocation, BlockOrigin};
use crate::pool::BlockSource;
use crate::stream_captures;
use crate::{pinned_cache, pool, stream_check};
use pygpu_backend as backend;
use pygpu_base::error::Result;
use pygpu_base::flush_points;
use pygpu_device::shutdown;
use pygpu_device::stream::PooledEvent;

impl Allocation {
    /// Makes the allocation stream wait for every use, recorded or not, before the block is freed in the order of this
    /// stream.
    fn wait_before_free(&mut self) -> Result<()> {
        self.hazards.wait_before_free()?;
        self.wait_for_untracked()?;
        if stream_captures::observes_work() {
            stream_check::check_release(self, self.hazards.alloc_stream());
        }
        Ok(())
    }

    /// Waits for the uses of imported memory on streams other than the allocation stream, on which the owner provided
    /// the memory. The owner orders its free only after the work of the allocation stream.
    fn wait_before_return(&self) -> Result<()> {
        if self.device().is_cpu() || self.epoch != self.device().epoch() {
            // There is nothing to wait for: the CPU backend has no work in progress, and a device reset has ended all
            // work.
            return Ok(());
        }
        if !self.hazards.needs_no_wait_on(self.hazards.alloc_stream()) {
            self.hazards.synchronize()?;
        }
        self.wait_for_untracked().or_else(|_| self.device().synchronize())
    }

    /// Makes the allocation stream wait for uses of the block by other code, whose end is not reported to PyGPU.
    fn wait_for_untracked(&self) -> Result<()> {
        if self.untracked.is_begun() {
            match PooledEvent::record_device(self.device())? {
                Some(mark) => self.hazards.alloc_stream().wait_event(mark.event())?,
                // On HIP no event covers other libraries' streams, so the host waits for the device.
                None => self.device().synchronize()?,
            }
        }
        Ok(())
    }

    /// Moves the contents of the block into a new value, whose drop frees the memory later. `self` owns nothing
    /// afterwards.
    fn take(&mut self) -> Self {
        Self {
            location: self.location.take(),
            bytes: std::mem::take(&mut self.bytes),
            epoch: self.epoch,
            origin: std::mem::replace(&mut self.origin, BlockOrigin::Pool),
            hazards: self.hazards.take(),
            untracked: std::mem::take(&mut self.untracked),
            escaped: std::mem::take(&mut self.escaped),
            exports: AtomicU32::new(*self.exports.get_mut()),
        }
    }

    /// Frees memory in the order of its allocation stream, after every recorded use. Later work on this stream may
    /// reuse the memory.
    fn release_in_order(&mut self, free: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let ordered = if self.device().is_cpu() { Ok(()) } else { self.wait_before_free() };
        if ordered.is_err() && self.device().synchronize().is_err() {
            // If an error prevents ordering the free after the remaining uses, the memory is leaked, because other work
            // might otherwise reuse memory that is still in use.
            std::mem::forget(free);
            return ordered;
        }
        free(self)?;
        pool::account_for_free(self.device(), self.bytes);
        ordered
    }

    fn release(&mut self) -> Result<()> {
        let device = self.device();
        let (backend, index) = (device.backend(), device.index());
        match &mut self.origin {
            BlockOrigin::Pool if self.location.source() == BlockSource::Plain => {
                // SAFETY: `self` is the last owner of the memory. The driver waits for the device before it frees
                // memory, and the CPU backend has no work in progress.
                unsafe { backend.free(index, self.location.address(), self.bytes)? };
                pool::account_for_free(device, self.bytes);
                Ok(())
            }
            BlockOrigin::Pool => {
                // A block that other streams or other libraries have used is returned to the driver and not cached,
                // because only the driver tracks all streams of the device.
                let is_private = self.hazards.has_no_other_stream() && !self.untracked.is_begun();
                let is_recyclable = is_private && self.location.source() == BlockSource::Recyclable;
                self.release_in_order(|block| {
                    // SAFETY: `block` is the last owner of the memory; every recorded use is complete, or precedes this
                    // point of the stream.
                    unsafe { pool::free(block.address(), block.bytes, block.hazards.alloc_stream(), is_recyclable) }
                })
            }
            BlockOrigin::Custom(owner) => {
                let owner = owner.take();
                if self.epoch != device.epoch() {
                    // A device reset has destroyed the memory and the streams, so PyGPU frees nothing here. A custom
                    // allocator must free its own resources.
                    return Ok(());
                }
                self.release_in_order(|_| {
                    drop(owner);
                    Ok(())
                })
            }
            BlockOrigin::Pinned(flags) => {
                // The caller of an asynchronous copy keeps the memory alive until the copy is complete
                // ([`super::retired_objects`]).
                // SAFETY: `self` is the last owner of the memory, and no copy from or to it is in progress.
                unsafe { pinned_cache::free(device, self.location.address(), self.bytes, *flags, self.epoch) }
            }
            BlockOrigin::Imported(None) => Ok(()), // the memory has no owner, so nothing is released
            BlockOrigin::Imported(owner) => {
                let owner = owner.take();
                let result = self.wait_before_return();
                drop(owner);
                result
            }
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if shutdown::exiting() {
            if let BlockOrigin::Imported(owner) | BlockOrigin::Custom(owner) = &mut self.origin {
                // At interpreter exit the Python part of the owner may already be destroyed, so the deleter must not
                // run.
                std::mem::forget(owner.take());
            }
            return;
        }
        if let Some(id) = self.location.written_by.latest() {
            flush_points::discard_result(id);
        }
        if self.is_from_pool() && self.address() == 0 {
            return; // the block has zero bytes, or its memory was never allocated
        }
        let dead = self.epoch != self.device().epoch();
        if (self.bytes == 0 || dead) && !self.has_owner() {
            return;
        }
        if stream_captures::observes_work()
            && (backend::is_host_call() || stream_captures::is_any() || self.is_imported())
        {
            stream_check::forget(self);
        }
        if backend::is_host_call() && !self.device().is_cpu() {
            shutdown::defer_drop(Box::new(self.take()));
            return;
        }
        if stream_captures::is_any() && !self.device().is_cpu() {
            stream_captures::drop_afterwards(Box::new(self.take()));
            return;
        }
        shutdown::defer(self.release());
    }
}
