//! Pageable host memory at the speed of the bus: through a ring of pinned slots, filled or emptied by several threads while
//! the copy engine works on other slots.
//!
//! Owns the threads, the slots and their bound. Takes copies of at least [`Settings::threshold`] bytes; the driver's own
//! staging is quicker below, and does all where no memory can be pinned. Must never keep a lock while the driver works, and
//! never wait for another stream's work while a third party may be waiting for its slots.

mod crew;
mod plan;
mod relay;
mod settings;
mod slots;

pub use settings::tune;
pub use slots::{Figures, figures, refusal, trim};

use self::plan::{Boxes, Plan, Run};
use self::relay::{Progress, Relay};
use self::settings::{Settings, settings};
use self::slots::Hand;
use super::{HostSide, is_pinned};
use pygpu_array::Array;
use pygpu_backend::Direction;
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::{Mark, Stream};
use pygpu_layout::Blocks;

/// Most bytes of pinned memory that copies of pageable memory use on one device.
///
/// # Errors
/// `ValueError` for an environment variable that is no number.
pub fn limit() -> Result<usize> {
    Ok(settings()?.limit())
}

/// Sets how many bytes of pinned memory copies of pageable memory use on one device, gives back what is too much there, and
/// lets the driver be asked again where it refused.
///
/// # Errors
/// As `limit`; the driver's.
pub fn set_limit(device: Device, bytes: usize) -> Result<()> {
    settings()?.set_limit(bytes);
    trim(device, bytes)
}

/// Leave to pass the ring, with the first slot.
pub(super) struct Ring<'a> {
    hand: Hand<'a>,
    settings: &'a Settings,
    slot: usize,
}

/// The ring, if it is the best way for a copy of so many bytes between a device and host memory: from the threshold on, or
/// beyond `most` bytes, which the caller does not want to leave to the driver.
///
/// # Errors
/// An environment variable that is no number; the driver's.
pub(super) fn open(device: Device, host: &HostSide, bytes: usize, most: usize) -> Result<Option<Ring<'static>>> {
    let settings = settings()?;
    let is_small = bytes < settings.threshold() && bytes <= most;
    let fits = host.layout.itemsize() as usize <= settings.slot(); // an item is not cut
    if is_small || !fits || settings.limit() < settings.slot() || shutdown::exiting() {
        return Ok(None);
    }
    if is_pinned(device, host)? {
        return Ok(None);
    }
    let slot = settings.slot();
    let mut hand = Hand::new(device, slot, settings);
    Ok(hand.grow().then_some(Ring { hand, settings, slot }))
}

impl Ring<'_> {
    /// Copies host memory into an array, between the array's `begin` and `end`. When it returns, all has been read. If the caller
    /// waits for the copy anyway, the stream is waited for first; else only if there is more than may be held.
    ///
    /// # Safety
    /// The host memory is readable wherever its layout reaches.
    pub(super) unsafe fn upload(
        self,
        direction: Direction,
        target: &Array,
        source: &HostSide,
        (stream, wait): (&Stream, bool),
    ) -> Result<()> {
        let run = match Blocks::of(target.layout(), &source.layout)? {
            Blocks::One { dst, src, bytes } => Some((dst, src, bytes)),
            _ => None,
        };
        let ready = Mark::record(stream)?;
        if !ready.event().query()? {
            let plan = self.plan(target, source, run, self.slot)?;
            let room = (self.settings.limit() / 2).saturating_sub(slots::held(stream.device()));
            if !wait && plan.count().saturating_mul(self.slot) <= room {
                // SAFETY: promised by the caller; the device's side is an array's own memory.
                return unsafe { self.relay(direction, target, source, plan, stream, true) };
            }
            ready.event().synchronize()?;
        }
        let plan = self.plan(target, source, run, self.chunk(target))?;
        // SAFETY: as above.
        unsafe { self.relay(direction, target, source, plan, stream, false) }
    }

    /// Copies an array into host memory, between the array's `begin` and `end`. When it returns, the values are there.
    ///
    /// # Safety
    /// The host memory is writable wherever its layout reaches.
    pub(super) unsafe fn download(
        self,
        direction: Direction,
        target: &HostSide,
        source: &Array,
        stream: &Stream,
    ) -> Result<()> {
        let run = match Blocks::of(&target.layout, source.layout())? {
            Blocks::One { dst, src, bytes } => Some((src, dst, bytes)),
            _ => None,
        };
        let plan = self.plan(source, target, run, self.chunk(source))?;
        // No slot is kept from others for a copy that may start any time.
        Mark::record(stream)?.event().synchronize()?;
        // SAFETY: promised by the caller; the device's side is an array's own memory.
        unsafe { self.relay(direction, source, target, plan, stream, false) }
    }

    fn chunk(&self, array: &Array) -> usize {
        self.settings.chunk(array.layout().nbytes() as usize).min(self.slot)
    }

    /// `run`: where one run of bytes is on the device and on the host, and its length.
    fn plan(&self, array: &Array, host: &HostSide, run: Option<(i64, i64, i64)>, chunk: usize) -> Result<Plan> {
        Ok(match run {
            Some((far, near, bytes)) => Plan::Run(Run::new(far, near, bytes, host.address, chunk)),
            None => Plan::Boxes(Boxes::new(array.layout(), &host.layout, chunk)?),
        })
    }

    /// # Safety
    /// As `upload` and `download`.
    unsafe fn relay(
        self,
        direction: Direction,
        array: &Array,
        host: &HostSide,
        plan: Plan,
        stream: &Stream,
        hold: bool,
    ) -> Result<()> {
        let (device, settings, slot) = (array.allocation().address(), self.settings, self.slot);
        let relay = Relay {
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
        // SAFETY: promised by the caller.
        unsafe { relay.run(self.hand) }
    }
}
