//! Copies pageable host memory fast, through a ring of pinned slots. Several threads fill or empty some of the slots
//! while the copy engine works on the remaining slots.
//!
//! This module owns the threads, the slots and their limit. The ring is used for copies of at least
//! [`RingSettings::threshold`] bytes. Smaller copies are faster through the driver's own staging buffers, which are
//! also used if no memory can be pinned. Two rules prevent deadlocks. No lock is held during a driver call. A copy that
//! holds slots, for which other callers may wait, does not wait for the work of another stream.

mod chunks;
mod settings;
mod slot_pool;
mod transfer;
mod worker_pool;

pub use settings::tune;
pub use slot_pool::{SlotStatistics, figures, refusal, trim};

use self::chunks::{ChunkBoxes, ChunkPlan, ContiguousRun};
use self::settings::{RingSettings, settings};
use self::slot_pool::CheckedOutSlots;
use self::transfer::{Progress, RingTransfer};
use super::{HostBuffer, is_pinned};
use pygpu_array::Array;
use pygpu_backend::Direction;
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::{PooledEvent, Stream};
use pygpu_layout::CopyBlocks;

/// Returns the maximum size in bytes of the pinned slots of one device.
///
/// # Errors
/// `ValueError` for an environment variable that is not a number.
pub fn limit() -> Result<usize> {
    Ok(settings()?.limit())
}

/// Sets the maximum total size in bytes of the pinned slots of each device, and frees slots of `device` beyond this
/// size. If the driver has refused to pin memory earlier, new attempts are permitted.
///
/// # Errors
/// The errors of `limit`; driver errors.
pub fn set_limit(device: Device, bytes: usize) -> Result<()> {
    settings()?.set_limit(bytes);
    trim(device, bytes)
}

/// Permission for one copy to use the ring, with the first slot of the copy.
pub(super) struct Ring<'a> {
    hand: CheckedOutSlots<'a>,
    settings: &'a RingSettings,
    slot: usize,
}

/// Opens the ring for a copy of `bytes` bytes, if the copy has at least the threshold's size, from which on the ring is
/// the fastest path. The ring is also opened for smaller copies of more than `most` bytes, for which the driver might
/// block the host until a busy stream is idle.
///
/// # Errors
/// `ValueError` for an environment variable that is not a number; driver errors.
pub(super) fn open(device: Device, host: &HostBuffer, bytes: usize, most: usize) -> Result<Option<Ring<'static>>> {
    let settings = settings()?;
    let is_small = bytes < settings.threshold() && bytes <= most;
    let fits = host.layout.itemsize() as usize <= settings.slot(); // a slot contains whole items
    if is_small || !fits || settings.limit() < settings.slot() || shutdown::exiting() {
        return Ok(None);
    }
    if is_pinned(device, host)? {
        return Ok(None);
    }
    let slot = settings.slot();
    let mut hand = CheckedOutSlots::new(device, slot, settings);
    Ok(hand.grow().then_some(Ring { hand, settings, slot }))
}

impl Ring<'_> {
    /// Copies host memory into an array, whose use the caller has begun and will end. On return the whole source has
    /// been read. Before the copy, the function waits for the stream in two cases: the caller waits for the copy
    /// anyway, or the copy would exceed the limit of slots whose copies wait for a stream.
    ///
    /// # Safety
    /// The host memory must be readable wherever its layout reaches.
    pub(super) unsafe fn upload(
        self,
        direction: Direction,
        target: &Array,
        source: &HostBuffer,
        (stream, wait): (&Stream, bool),
    ) -> Result<()> {
        let run = match CopyBlocks::of(target.layout(), &source.layout)? {
            CopyBlocks::One { dst, src, bytes } => Some((dst, src, bytes)),
            _ => None,
        };
        let ready = PooledEvent::record(stream)?;
        if !ready.event().query()? {
            let plan = self.plan(target, source, run, self.slot)?;
            let room = (self.settings.limit() / 2).saturating_sub(slot_pool::held(stream.device()));
            if !wait && plan.count().saturating_mul(self.slot) <= room {
                // SAFETY: the caller guarantees valid host memory; the device memory belongs to the array.
                return unsafe { self.relay(direction, target, source, plan, stream, true) };
            }
            ready.event().synchronize()?;
        }
        let plan = self.plan(target, source, run, self.chunk(target))?;
        // SAFETY: the caller guarantees that the source is readable wherever its layout reaches.
        unsafe { self.relay(direction, target, source, plan, stream, false) }
    }

    /// Copies an array, whose use the caller has begun and will end, into host memory. On return the target contains
    /// the values.
    ///
    /// # Safety
    /// The host memory must be writable wherever its layout reaches.
    pub(super) unsafe fn download(
        self,
        direction: Direction,
        target: &HostBuffer,
        source: &Array,
        stream: &Stream,
    ) -> Result<()> {
        let run = match CopyBlocks::of(&target.layout, source.layout())? {
            CopyBlocks::One { dst, src, bytes } => Some((src, dst, bytes)),
            _ => None,
        };
        let plan = self.plan(source, target, run, self.chunk(source))?;
        // The host waits for the stream before the copy takes slots, because a copy that has to wait for other work
        // must not withhold slots from other callers meanwhile.
        PooledEvent::record(stream)?.event().synchronize()?;
        // SAFETY: the caller guarantees valid host memory; the device memory belongs to the array.
        unsafe { self.relay(direction, source, target, plan, stream, false) }
    }

    fn chunk(&self, array: &Array) -> usize {
        self.settings.chunk(array.layout().nbytes() as usize).min(self.slot)
    }

    /// Divides the copy into chunks. If the copy is one contiguous run, `run` contains the offsets of the run on the
    /// device and on the host, and its length.
    fn plan(&self, array: &Array, host: &HostBuffer, run: Option<(i64, i64, i64)>, chunk: usize) -> Result<ChunkPlan> {
        Ok(match run {
            Some((far, near, bytes)) => ChunkPlan::Run(ContiguousRun::new(far, near, bytes, host.address, chunk)),
            None => ChunkPlan::Boxes(ChunkBoxes::new(array.layout(), &host.layout, chunk)?),
        })
    }

    /// Runs a copy that is divided into chunks.
    ///
    /// # Safety
    /// The conditions of `upload` and `download` apply.
    unsafe fn relay(
        self,
        direction: Direction,
        array: &Array,
        host: &HostBuffer,
        plan: ChunkPlan,
        stream: &Stream,
        hold: bool,
    ) -> Result<()> {
        let (device, settings, slot) = (array.allocation().address(), self.settings, self.slot);
        let relay = RingTransfer {
            stream,
            direction,
            device,
            host: host.address,
            plan,
            settings,
            bytes: array.layout().nbytes() as usize,
            slot,
            hold,
            progress: Progress::default(),
        };
        // SAFETY: the caller guarantees valid host memory; the device memory belongs to the array.
        unsafe { relay.run(self.hand) }
    }
}
