//! Implements copies of three-dimensional boxes of bytes between host and device memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::arena::pointer;
use crate::byte_region::{Extent, Region};
use crate::driver::Driver;
use crate::error_codes::{CAPTURE_UNSUPPORTED, INVALID_VALUE, Outcome};
use crate::finding::Kind;
use crate::graph::Node;
use crate::history::Touch;
use crate::memory::{Block, spelled};
use crate::vector_clock::Clock;
use crate::worker::Then;

/// Kind of memory, as the caller of a copy specifies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// Host memory, pinned or not.
    Host,
    /// Memory of a device, or pinned host memory, which devices can access.
    Device,
    /// The caller specifies no kind of memory, so the driver determines the kind from the address.
    Either,
}

/// Bytes that copies have moved: first from the host to devices, then from devices to the host.
static TRANSFERRED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Returns the bytes that the process has copied from the host to devices, or from devices to the host.
pub fn transferred(to_host: bool) -> u64 {
    TRANSFERRED[usize::from(to_host)].load(Ordering::Relaxed)
}

fn count_transfer(target: Block, source: Block, extent: Extent) {
    let is_host = |block| !matches!(block, Block::Device(_));
    if is_host(target) != is_host(source) {
        let bytes = extent.width * extent.height * extent.depth;
        TRANSFERRED[usize::from(is_host(target))].fetch_add(bytes, Ordering::Relaxed);
    }
}

/// One endpoint of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// Kind of memory.
    pub memory: Memory,
    /// Address of the first byte.
    pub start: u64,
    /// Distance between the starts of two rows in bytes.
    pub row_pitch: u64,
    /// Distance between the starts of two planes in bytes.
    pub plane_pitch: u64,
}

impl Side {
    /// Creates the endpoint of a contiguous range.
    pub fn line(memory: Memory, start: u64) -> Self {
        Self { memory, start, row_pitch: 0, plane_pitch: 0 }
    }

    fn region(&self, extent: Extent) -> Outcome<Region> {
        Region::new(self.start, self.row_pitch, self.plane_pitch, extent).ok_or(INVALID_VALUE)
    }

    fn row(&self, plane: u64, row: u64) -> u64 {
        self.start + plane * self.plane_pitch + row * self.row_pitch
    }

    fn moved(self, start: u64) -> Self {
        Self { start, ..self }
    }
}

/// A copy of a box of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copy {
    /// Endpoint that is written.
    pub target: Side,
    /// Endpoint that is read.
    pub source: Side,
    /// Size of the box.
    pub extent: Extent,
    /// Whether the copy call returns only after the copy is complete.
    pub waits: bool,
}

impl Copy {
    /// Creates the description of a copy of a contiguous range.
    pub fn line(target: (Memory, u64), source: (Memory, u64), bytes: u64, waits: bool) -> Self {
        let [target, source] = [target, source].map(|(memory, start)| Side::line(memory, start));
        Self { target, source, extent: Extent::line(bytes), waits }
    }
}

impl Driver {
    /// Copies a box in stream order. Pageable memory is read or written before the call returns; a captured copy from
    /// pageable memory reads this memory at each launch of the graph.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    ///
    /// # Safety
    /// Host memory of either endpoint must be valid until the stream has executed the copy. If the stream captures,
    /// this memory must be valid at each launch of the graph.
    pub unsafe fn copy(&self, call: &'static str, device: usize, copy: Copy, stream: u64) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        if copy.extent.is_empty() {
            return Ok(());
        }
        let (to, from) = (copy.target.region(copy.extent)?, copy.source.region(copy.extent)?);
        let target = self.locate(&mut state, call, copy.target.memory, &to)?;
        let source = self.locate(&mut state, call, copy.source.memory, &from)?;
        count_transfer(target, source, copy.extent);
        if to.overlaps(&from) {
            let text = format!("{} are copied to {}", spelled(&from), spelled(&to));
            state.note(Kind::Overlap, call, text);
        }
        let to_side = copy.target.moved(self.reachable(&state, target, copy.target.start));
        let mut from_side = copy.source.moved(self.reachable(&state, source, copy.source.start));
        if let Some(capture) = state.capture_of(stream)? {
            if copy.waits || target == Block::Pageable {
                return state.invalidate(capture, CAPTURE_UNSUPPORTED);
            }
            let reads_pageable = source == Block::Pageable;
            if reads_pageable {
                let text =
                    format!("{} are ordinary host memory, and are read at each launch of the graph", spelled(&from));
                state.note(Kind::CapturedPageable, call, text);
            }
            let regions = [(source, from, false), (target, to, true)];
            let touches =
                regions.iter().filter(|side| side.0 != Block::Pageable).map(|side| (side.1, side.2)).collect();
            let task = move || {
                // SAFETY: each launch of the graph looks up device and pinned memory again, and checks that pageable
                // memory is mapped.
                unsafe { rows(to_side, from_side, copy.extent) };
            };
            let pageable = reads_pageable.then_some(from);
            state.keep_node(capture, stream, Node::new(Arc::new(task), touches, pageable, call));
            return Ok(());
        }
        let mut staged = None;
        if source == Block::Pageable {
            drop(state);
            // SAFETY: the caller of this function guarantees that the host memory is valid.
            let bytes = unsafe { gather(from_side, copy.extent) };
            from_side = Side {
                memory: Memory::Host,
                start: bytes.as_ptr().expose_provenance() as u64,
                row_pitch: copy.extent.width,
                plane_pitch: copy.extent.width * copy.extent.height,
            };
            staged = Some(bytes);
            state = self.lock();
        }
        let waits_for = state.order(stream);
        let Some(number) = state.streams.get(&stream).map(|stream| stream.submitted + 1) else {
            return Err(INVALID_VALUE);
        };
        state.touch(source, Touch { region: from, write: false, stream, number, call });
        state.touch(target, Touch { region: to, write: true, stream, number, call });
        let work = move || {
            // SAFETY: both endpoints are in live blocks, or the caller of this function guarantees that they are valid.
            // Staged bytes live until the end of this closure.
            unsafe { rows(to_side, from_side, copy.extent) };
            drop(staged);
        };
        state.push(stream, waits_for, Some(Box::new(work)), Then::Nothing)?;
        if copy.waits || target == Block::Pageable {
            let mut clock = state.streams.get(&stream).map_or_else(Clock::default, |stream| stream.clock.clone());
            clock.raise(stream, number);
            let device = state.streams.get(&stream).map_or(device, |stream| stream.device);
            state = self.shared.wait_for(state, &[(stream, number)], &clock);
            state.check(device)?;
        }
        Ok(())
    }

    fn locate(
        &self,
        state: &mut crate::state::State,
        call: &'static str,
        memory: Memory,
        region: &Region,
    ) -> Outcome<Block> {
        match memory {
            Memory::Host => self.locate_host(state, call, region),
            Memory::Device => self.locate_device(state, call, region),
            Memory::Either if state.block_at(region.start).is_some() => self.locate_device(state, call, region),
            Memory::Either => self.locate_host(state, call, region),
        }
    }
}

/// Copies the bytes of the box row by row.
///
/// # Safety
/// Both endpoints must be valid for the extent.
unsafe fn rows(to: Side, from: Side, extent: Extent) {
    for plane in 0..extent.depth {
        for row in 0..extent.height {
            // An overlap of the two rows has already been reported; `std::ptr::copy` allows overlaps, so there is no
            // undefined behaviour. SAFETY: the caller of this function guarantees that both rows are valid memory.
            unsafe {
                let source = pointer(from.row(plane, row)).cast_const();
                std::ptr::copy(source, pointer(to.row(plane, row)), extent.width as usize);
            }
        }
    }
}

/// Copies the rows of an endpoint into a new buffer.
///
/// # Safety
/// The endpoint must be valid for the extent.
unsafe fn gather(from: Side, extent: Extent) -> Vec<u8> {
    let bytes = (extent.width * extent.height * extent.depth) as usize;
    let mut staged = Vec::<u8>::with_capacity(bytes);
    let to = Side {
        memory: Memory::Host,
        start: staged.as_mut_ptr().expose_provenance() as u64,
        row_pitch: extent.width,
        plane_pitch: extent.width * extent.height,
    };
    // SAFETY: the buffer has the capacity of the whole extent, and the copy writes each of its bytes; the caller of
    // this function guarantees that the source is valid.
    unsafe {
        rows(to, from, extent);
        staged.set_len(bytes);
    }
    staged
}
