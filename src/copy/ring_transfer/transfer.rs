//! Executes one copy through the ring. Each thread that takes part transfers some of the copy's chunks.
//!
//! During an upload, a thread fills a slot, enqueues the copy of this slot, and continues with the next slot. During a
//! download, a thread keeps the copies of several slots enqueued: it waits for the oldest copy, empties the slot, and
//! enqueues the next copy into this slot. The copies of all chunks are enqueued on the user's stream, in any order
//! among themselves. They thus run after all earlier and before all later work of the stream.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::chunks::ChunkPlan;
use super::settings::{DEPTH, RingSettings};
use super::slot_pool::{CheckedOutSlots, PinnedSlot};
use super::worker_pool;
use crate::{CopyOperand, at, copy_blocks, host_host};
use pygpu_backend::{Address, Direction};
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_layout::{CopyBlocks, Layout, MemoryOrder};

/// Maximum number of chunks of an upload that uses non-temporal stores, with which the device can read the first chunks
/// earlier. The bus limits the speed of uploads with more chunks, for which regular stores are faster.
const FEW: usize = 96;

/// A copy through the ring.
pub(super) struct RingTransfer<'a> {
    pub(super) stream: &'a Stream,
    pub(super) direction: Direction,
    /// Device address to which the device offsets in `plan` are relative.
    pub(super) device: Address,
    /// Host address to which the host offsets in `plan` are relative.
    pub(super) host: Address,
    pub(super) plan: ChunkPlan,
    pub(super) settings: &'a RingSettings,
    /// Size of the copy in bytes.
    pub(super) bytes: usize,
    /// Size of a slot in bytes.
    pub(super) slot: usize,
    /// Whether the stream has unfinished earlier work. If so, each chunk needs another slot, because slots with
    /// enqueued copies become free only after that work.
    pub(super) hold: bool,
    pub(super) progress: Progress,
}

/// State that the threads of a copy share.
#[derive(Default)]
pub(super) struct Progress {
    next: AtomicUsize,
    stop: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl RingTransfer<'_> {
    /// Runs the copy on this thread, which already has a slot, and on worker threads.
    ///
    /// # Safety
    /// All memory that the plan covers must stay valid: on the host until this function returns, on the device until
    /// the stream has completed the copy.
    pub(super) unsafe fn run(&self, hand: CheckedOutSlots<'_>) -> Result<()> {
        let is_run = matches!(self.plan, ChunkPlan::Run(_));
        let helpers = self.plan.count().min(self.settings.threads(self.bytes, is_run)).saturating_sub(1);
        let own = Mutex::new(Some(hand));
        let whole = worker_pool::run(helpers, &|| {
            let first = own.lock().unwrap_or_else(PoisonError::into_inner).take();
            let hand = first.unwrap_or_else(|| CheckedOutSlots::new(self.stream.device(), self.slot, self.settings));
            // SAFETY: the caller guarantees that the memory stays valid, and `worker_pool::run` waits for all threads.
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
                // If the copy fails, the caller records no use. Therefore none of the copy's work may still be running
                // when this function returns.
                let _ = self.stream.synchronize();
                Err(error)
            }
        }
    }

    /// Stores an error of the copy and makes all threads of the copy stop. If several threads fail, only the first
    /// error is stored.
    fn fail(&self, error: Error) {
        self.progress.stop.store(true, Ordering::Relaxed);
        self.progress.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns whether chunks are left that no thread has begun, so that another slot is useful.
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

    /// Copies chunks on this thread until none is left.
    ///
    /// # Safety
    /// The conditions of `run` apply.
    unsafe fn take_part(&self, mut hand: CheckedOutSlots<'_>) -> Result<()> {
        if hand.len() == 0 && !hand.grow() {
            // No slot is available, so the other threads of the copy do the work.
            return Ok(());
        }
        // SAFETY: the caller guarantees valid memory, as `run` requires.
        unsafe { if self.is_upload() { self.upload(&mut hand) } else { self.download(&mut hand) } }
    }

    /// Uploads chunks until none is left.
    ///
    /// # Safety
    /// The conditions of `run` apply.
    unsafe fn upload(&self, hand: &mut CheckedOutSlots<'_>) -> Result<()> {
        let mut turn = 0;
        while let Some(chunk) = self.next_chunk() {
            if turn >= hand.len() && (self.hold || turn < DEPTH) {
                hand.grow();
            }
            let slot = hand.slot(turn % hand.len());
            slot.wait()?;
            // SAFETY: no copy uses the slot after the wait; the caller guarantees valid memory, as `run` requires.
            unsafe {
                self.fill(chunk, slot)?;
                self.launch(chunk, slot)?;
            }
            turn += 1;
        }
        Ok(())
    }

    /// Downloads chunks until none is left.
    ///
    /// # Safety
    /// The conditions of `run` apply.
    unsafe fn download(&self, hand: &mut CheckedOutSlots<'_>) -> Result<()> {
        let mut flying: VecDeque<(usize, usize)> = VecDeque::with_capacity(DEPTH);
        let mut unused = vec![0];
        loop {
            while self.has_more()
                && let Some(place) = unused.pop().or_else(|| one_more(hand))
            {
                let Some(chunk) = self.next_chunk() else { break };
                let slot = hand.slot(place);
                slot.wait()?;
                // SAFETY: no copy uses the slot after the wait; the caller guarantees valid memory, as `run` requires.
                unsafe { self.launch(chunk, slot)? };
                flying.push_back((chunk, place));
            }
            let Some((chunk, place)) = flying.pop_front() else { return Ok(()) };
            let slot = hand.slot(place);
            slot.wait()?;
            // SAFETY: the copy into the slot is complete; the caller guarantees valid memory, as `run` requires.
            unsafe { self.empty(chunk, slot)? };
            unused.push(place);
        }
    }

    /// Copies a chunk from host memory to its slot.
    ///
    /// # Safety
    /// The conditions of `run` apply; no copy may be using the slot.
    unsafe fn fill(&self, chunk: usize, slot: &PinnedSlot) -> Result<()> {
        match &self.plan {
            ChunkPlan::Run(run) => {
                let (start, bytes) = run.piece(chunk);
                let (to, from) = (slot.address(), at(self.host, run.host + start));
                // SAFETY: the chunk is inside the run and no longer than the slot.
                unsafe {
                    if self.plan.count() <= FEW {
                        host_host::copy_around_cache(to, from, bytes as usize);
                    } else {
                        host_host::copy_bytes(to, from, bytes as usize);
                    }
                }
                Ok(())
            }
            ChunkPlan::Boxes(boxes) => {
                let [_, source] = boxes.piece(chunk)?;
                let dense = dense(&source)?;
                // SAFETY: the chunk is inside the host memory and no larger than the slot.
                unsafe {
                    host_host::copy(CopyOperand { base: slot.address(), layout: &dense }, self.host_side(&source))
                }
            }
        }
    }

    /// Copies a chunk from its slot to host memory.
    ///
    /// # Safety
    /// The conditions of `fill` apply.
    unsafe fn empty(&self, chunk: usize, slot: &PinnedSlot) -> Result<()> {
        match &self.plan {
            ChunkPlan::Run(run) => {
                let (start, bytes) = run.piece(chunk);
                // SAFETY: the chunk is inside the run and no longer than the slot.
                unsafe { host_host::copy_bytes(at(self.host, run.host + start), slot.address(), bytes as usize) };
                Ok(())
            }
            ChunkPlan::Boxes(boxes) => {
                let [_, target] = boxes.piece(chunk)?;
                let dense = dense(&target)?;
                // SAFETY: the chunk is inside the host memory and no larger than the slot.
                unsafe {
                    host_host::copy(self.host_side(&target), CopyOperand { base: slot.address(), layout: &dense })
                }
            }
        }
    }

    fn host_side<'b>(&self, layout: &'b Layout) -> CopyOperand<'b> {
        CopyOperand { base: self.host, layout }
    }

    /// Enqueues the driver's copy of a chunk between its slot and the device.
    ///
    /// # Safety
    /// The conditions of `run` apply; no other copy may be using the slot.
    unsafe fn launch(&self, chunk: usize, slot: &mut PinnedSlot) -> Result<()> {
        let (stream, device, staged) = (self.stream, self.stream.device(), slot.address());
        match &self.plan {
            ChunkPlan::Run(run) => {
                let (start, bytes) = run.piece(chunk);
                let far = at(self.device, run.device + start);
                let (to, from) = if self.is_upload() { (far, staged) } else { (staged, far) };
                slot.launch(stream, self.hold, || {
                    // SAFETY: the chunk is inside the run and no longer than the slot.
                    unsafe {
                        device.backend().copy(device.index(), self.direction, to, from, bytes as usize, stream.handle())
                    }
                })
            }
            ChunkPlan::Boxes(boxes) => {
                let [far, _] = boxes.piece(chunk)?;
                let dense = dense(&far)?;
                let (far, near) =
                    (CopyOperand { base: self.device, layout: &far }, CopyOperand { base: staged, layout: &dense });
                let (to, from) = if self.is_upload() { (far, near) } else { (near, far) };
                let blocks = CopyBlocks::of(to.layout, from.layout)?;
                slot.launch(stream, self.hold, || {
                    // SAFETY: the chunk is inside the device memory and no larger than the slot.
                    unsafe { copy_blocks(device, self.direction, to, from, &blocks, stream) }
                })
            }
        }
    }

    fn is_upload(&self) -> bool {
        matches!(self.direction, Direction::HostToDevice(_))
    }
}

/// Takes another slot for this thread if it has fewer than `DEPTH` slots, and returns the index of the new slot.
fn one_more(hand: &mut CheckedOutSlots<'_>) -> Option<usize> {
    (hand.len() < DEPTH && hand.grow()).then(|| hand.len() - 1)
}

/// Returns the layout that a chunk has in its slot: dense, with the axes in the memory order of the device array.
fn dense(like: &Layout) -> Result<Layout> {
    let shape: pygpu_layout::Dims = like.shape().collect();
    Layout::contiguous(&shape, like.itemsize(), MemoryOrder::C)
}
