//! Manages readbacks: 64-bit values in pinned host memory that a kernel writes and the host reads afterwards.
//!
//! A readback needs no copy. The host waits for the kernel only, and not for later work on the stream.

use super::Allocation;
use pygpu_backend::HostFlags;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_device::stream::{PooledEvent, Stream};
use pygpu_device::{Device, PerDevice, per_device};

/// Idle readbacks of each device. The host has read their values, so they can be reused.
static SPARE: PerDevice<ForkSafeMutex<Vec<Readback>>> = per_device!(ForkSafeMutex::new(Vec::new()));
/// Maximum number of idle readbacks kept for reuse per device.
const MOST: usize = 64;
/// Size in bytes of a readback's memory, so that each value has its own cache line.
const BYTES: usize = 128;

/// A 64-bit value in pinned memory that a kernel may write and the host reads. It is 0 until a kernel writes it.
pub struct Readback {
    block: Allocation,
}

impl Readback {
    /// Takes an idle readback of the device, or allocates one, and sets its value to 0. Kernels of `device` can write
    /// the value.
    ///
    /// # Errors
    /// Driver errors.
    pub fn new(device: Device) -> Result<Self> {
        let spare = SPARE.of(device).lock().pop().filter(|word| word.block.is_alive());
        let word = match spare {
            Some(word) => word,
            None => {
                let flags = HostFlags { portable: true, mapped: true, write_combined: false };
                Self { block: Allocation::pinned(device, BYTES, flags)? }
            }
        };
        // SAFETY: the readback owns the pinned memory, and no kernel has its address yet.
        unsafe { (word.block.address() as *mut u64).write_volatile(0) };
        Ok(word)
    }

    /// Returns the address of the value, which is valid on the host and on the device.
    pub fn address(&self) -> u64 {
        self.block.address() as u64
    }

    /// Waits for all work that is enqueued on the stream, and returns the readback's value.
    ///
    /// # Errors
    /// Driver errors, possibly of earlier work.
    pub fn read_behind(self, stream: &Stream) -> Result<u64> {
        stream.synchronize()?;
        Ok(self.take())
    }

    /// Waits for an event that was recorded after the launch of the kernel that writes the value, and returns the
    /// value.
    ///
    /// # Errors
    /// Driver errors, possibly of earlier work.
    pub fn read_at(self, mark: &PooledEvent) -> Result<u64> {
        mark.event().synchronize()?;
        Ok(self.take())
    }

    fn take(self) -> u64 {
        // SAFETY: the readback owns the pinned memory, and the kernel that writes the value is complete.
        let number = unsafe { (self.block.address() as *const u64).read_volatile() };
        let mut spare = SPARE.of(self.block.device()).lock();
        if spare.len() < MOST {
            spare.push(self);
        }
        number
    }
}

/// Frees the idle readbacks of a device.
pub fn trim(device: Device) {
    let idle = std::mem::take(&mut *SPARE.of(device).lock());
    // The lock is released before the memory is freed, which may wait for the device.
    drop(idle);
}
