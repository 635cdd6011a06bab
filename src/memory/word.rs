//! Numbers that kernels tell the host: words of pinned memory, which a kernel writes and the host reads behind it.
//!
//! Why: no copy is put on a stream. The host waits for the kernel alone, so that what comes behind it on the stream may run meanwhile.

use super::Allocation;
use pygpu_backend::HostFlags;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::Global;
use pygpu_device::stream::{Mark, Stream};
use pygpu_device::{Device, PerDevice, per_device};

/// Words whose number was read: nothing uses them.
static SPARE: PerDevice<Global<Vec<Word>>> = per_device!(Global::new(Vec::new()));
/// Most spare words of one device.
const MOST: usize = 64;
/// A word has a line of the caches for itself.
const BYTES: usize = 128;

/// A number of 64 bits that work on a device may write and the host reads; 0 until it was written.
pub struct Word {
    block: Allocation,
}

impl Word {
    /// A word of 0 for the kernels of a device.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(device: Device) -> Result<Self> {
        let spare = SPARE.of(device).lock().pop().filter(|word| word.block.is_alive());
        let word = match spare {
            Some(word) => word,
            None => {
                let flags = HostFlags { portable: true, mapped: true, write_combined: false };
                Self { block: Allocation::pinned(device, BYTES, flags)? }
            }
        };
        // SAFETY: pinned memory of ours, which nobody else uses.
        unsafe { (word.block.address() as *mut u64).write_volatile(0) };
        Ok(word)
    }

    /// Where it is, for the host and the device.
    pub fn address(&self) -> u64 {
        self.block.address() as u64
    }

    /// The number, when a stream has passed what was put on it.
    ///
    /// # Errors
    /// The driver's, which may be that of earlier work.
    pub fn read_behind(self, stream: &Stream) -> Result<u64> {
        stream.synchronize()?;
        Ok(self.take())
    }

    /// The number, when a mark was passed that stands behind whoever writes it.
    ///
    /// # Errors
    /// As [`Self::read_behind`].
    pub fn read_at(self, mark: &Mark) -> Result<u64> {
        mark.event().synchronize()?;
        Ok(self.take())
    }

    fn take(self) -> u64 {
        // SAFETY: pinned memory of ours, and who wrote it has ended.
        let number = unsafe { (self.block.address() as *const u64).read_volatile() };
        let mut spare = SPARE.of(self.block.device()).lock();
        if spare.len() < MOST {
            spare.push(self);
        }
        number
    }
}
