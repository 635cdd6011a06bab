//! One copy through the ring: what each thread does.
//!
//! Upload: fill a slot, put its copy on the stream, take the next slot meanwhile. Download: keep some slots' copies on the
//! stream, wait for the oldest, empty it, put its next copy on the stream. All copies are put on the user's stream itself, in
//! whatever order: there they stand behind all that came before the call and before all that comes after it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::crew;
use super::plan::Plan;
use super::settings::{DEPTH, Settings};
use super::slots::{Hand, Slot};
use crate::{Side, at, copy_blocks, host};
use pygpu_backend::{Address, Direction};
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_layout::{Blocks, Layout, Order};

/// Chunks up to which an upload is written past the processor's caches: the device then reads the first chunks sooner. In a long
/// copy it is the bus that all wait for, and the caches are the quicker way.
const FEW: usize = 96;

/// A copy under way.
pub(super) struct Relay<'a> {
    pub(super) stream: &'a Stream,
    pub(super) direction: Direction,
    /// Byte 0 of the plan's offsets on the device.
    pub(super) device: Address,
    /// Byte 0 of the plan's offsets on the host.
    pub(super) host: Address,
    pub(super) plan: Plan,
    pub(super) settings: &'a Settings,
    /// Bytes of the copy.
    pub(super) bytes: usize,
    /// Bytes of a slot.
    pub(super) slot: usize,
    /// The stream stands behind other work: take a new slot for each chunk instead of waiting for one.
    pub(super) hold: bool,
    pub(super) progress: Progress,
}

/// What the threads of a copy tell each other.
#[derive(Default)]
pub(super) struct Progress {
    next: AtomicUsize,
    stop: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl Relay<'_> {
    /// Runs the copy on this thread, which has a slot already, and on helpers.
    ///
    /// # Safety
    /// Both sides are valid wherever the plan reaches: the host's until this returns, the device's until the stream has passed.
    pub(super) unsafe fn run(&self, hand: Hand<'_>) -> Result<()> {
        let is_run = matches!(self.plan, Plan::Run(_));
        let helpers = self.plan.count().min(self.settings.threads(self.bytes, is_run)).saturating_sub(1);
        let own = Mutex::new(Some(hand));
        let whole = crew::run(helpers, &|| {
            let first = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            let hand = first.unwrap_or_else(|| Hand::new(self.stream.device(), self.slot, self.settings));
            // SAFETY: promised by the caller, who waits for all threads.
            if let Err(error) = unsafe { self.take_part(hand) } {
                self.fail(error);
            }
        });
        if !whole {
            self.fail(Error::value("copy: a thread of the copy panicked; this is a defect of PyGPU"));
        }
        let error = self.progress.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        match error {
            None => Ok(()),
            Some(error) => {
                // The caller notes no use of a copy that failed, so nothing of it may be under way.
                let _ = self.stream.synchronize();
                Err(error)
            }
        }
    }

    /// Stops all threads; the first error is kept.
    fn fail(&self, error: Error) {
        self.progress.stop.store(true, Ordering::Relaxed);
        self.progress.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Whether it is worth having a slot for a further chunk.
    fn has_more(&self) -> bool {
        self.progress.next.load(Ordering::Relaxed) < self.plan.count()
    }

    fn next_chunk(&self) -> Option<usize> {
        if self.progress.stop.load(Ordering::Relaxed) {
            return None;
        }
        let chunk = self.progress.next.fetch_add(1, Ordering::Relaxed);
        (chunk < self.plan.count()).then_some(chunk)
    }

    /// # Safety
    /// As `run`.
    unsafe fn take_part(&self, mut hand: Hand<'_>) -> Result<()> {
        if hand.len() == 0 && !hand.grow() {
            return Ok(()); // the others do it
        }
        // SAFETY: promised by the caller.
        unsafe { if self.is_upload() { self.upload(&mut hand) } else { self.download(&mut hand) } }
    }

    /// # Safety
    /// As `run`.
    unsafe fn upload(&self, hand: &mut Hand<'_>) -> Result<()> {
        let mut turn = 0;
        while let Some(chunk) = self.next_chunk() {
            if turn >= hand.len() && (self.hold || turn < DEPTH) {
                hand.grow();
            }
            let slot = hand.slot(turn % hand.len());
            slot.wait()?;
            // SAFETY: no copy uses the slot now; the rest is promised by the caller.
            unsafe {
                self.fill(chunk, slot)?;
                self.launch(chunk, slot)?;
            }
            turn += 1;
        }
        Ok(())
    }

    /// # Safety
    /// As `run`.
    unsafe fn download(&self, hand: &mut Hand<'_>) -> Result<()> {
        let mut flying: VecDeque<(usize, usize)> = VecDeque::with_capacity(DEPTH);
        let mut unused = vec![0];
        loop {
            while self.has_more()
                && let Some(place) = unused.pop().or_else(|| one_more(hand))
            {
                let Some(chunk) = self.next_chunk() else { break };
                let slot = hand.slot(place);
                slot.wait()?;
                // SAFETY: no copy uses the slot now; the rest is promised by the caller.
                unsafe { self.launch(chunk, slot)? };
                flying.push_back((chunk, place));
            }
            let Some((chunk, place)) = flying.pop_front() else { return Ok(()) };
            let slot = hand.slot(place);
            slot.wait()?;
            // SAFETY: the copy into the slot is over; the rest is promised by the caller.
            unsafe { self.empty(chunk, slot)? };
            unused.push(place);
        }
    }

    /// Host to slot.
    ///
    /// # Safety
    /// As `run`; no copy uses the slot.
    unsafe fn fill(&self, chunk: usize, slot: &Slot) -> Result<()> {
        match &self.plan {
            Plan::Run(run) => {
                let (start, bytes) = run.piece(chunk);
                let (to, from) = (slot.address(), at(self.host, run.host + start));
                // SAFETY: the piece is within the run, and no longer than the slot.
                unsafe {
                    if self.plan.count() <= FEW {
                        host::copy_around_cache(to, from, bytes as usize);
                    } else {
                        host::copy_bytes(to, from, bytes as usize);
                    }
                }
                Ok(())
            }
            Plan::Boxes(boxes) => {
                let [_, source] = boxes.piece(chunk)?;
                let dense = dense(&source)?;
                // SAFETY: the box is within the host's memory, and no larger than the slot.
                unsafe { host::copy(Side { base: slot.address(), layout: &dense }, self.host_side(&source)) }
            }
        }
    }

    /// Slot to host.
    ///
    /// # Safety
    /// As `fill`.
    unsafe fn empty(&self, chunk: usize, slot: &Slot) -> Result<()> {
        match &self.plan {
            Plan::Run(run) => {
                let (start, bytes) = run.piece(chunk);
                // SAFETY: as in `fill`.
                unsafe { host::copy_bytes(at(self.host, run.host + start), slot.address(), bytes as usize) };
                Ok(())
            }
            Plan::Boxes(boxes) => {
                let [_, target] = boxes.piece(chunk)?;
                let dense = dense(&target)?;
                // SAFETY: as in `fill`.
                unsafe { host::copy(self.host_side(&target), Side { base: slot.address(), layout: &dense }) }
            }
        }
    }

    fn host_side<'b>(&self, layout: &'b Layout) -> Side<'b> {
        Side { base: self.host, layout }
    }

    /// Between slot and device, in the order of the stream.
    ///
    /// # Safety
    /// As `run`; no other copy uses the slot.
    unsafe fn launch(&self, chunk: usize, slot: &mut Slot) -> Result<()> {
        let (stream, device, staged) = (self.stream, self.stream.device(), slot.address());
        match &self.plan {
            Plan::Run(run) => {
                let (start, bytes) = run.piece(chunk);
                let far = at(self.device, run.device + start);
                let (to, from) = if self.is_upload() { (far, staged) } else { (staged, far) };
                slot.launch(stream, self.hold, || {
                    // SAFETY: the piece is within the run, and no longer than the slot.
                    unsafe {
                        device.backend().copy(device.index(), self.direction, to, from, bytes as usize, stream.handle())
                    }
                })
            }
            Plan::Boxes(boxes) => {
                let [far, _] = boxes.piece(chunk)?;
                let dense = dense(&far)?;
                let (far, near) = (Side { base: self.device, layout: &far }, Side { base: staged, layout: &dense });
                let (to, from) = if self.is_upload() { (far, near) } else { (near, far) };
                let blocks = Blocks::of(to.layout, from.layout)?;
                slot.launch(stream, self.hold, || {
                    // SAFETY: the box is within the device's memory, and no larger than the slot.
                    unsafe { copy_blocks(device, self.direction, to, from, &blocks, stream) }
                })
            }
        }
    }

    fn is_upload(&self) -> bool {
        matches!(self.direction, Direction::HostToDevice(_))
    }
}

/// The place of a further slot, up to `DEPTH`.
fn one_more(hand: &mut Hand<'_>) -> Option<usize> {
    (hand.len() < DEPTH && hand.grow()).then(|| hand.len() - 1)
}

/// The layout of a box in a slot: dense, in the order of the device's axes.
fn dense(like: &Layout) -> Result<Layout> {
    let shape: pygpu_layout::Dims = like.shape().collect();
    Layout::contiguous(&shape, like.itemsize(), Order::C)
}
