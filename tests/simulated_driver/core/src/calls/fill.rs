//! Implements fills of memory with a pattern of one, two or four bytes.

use std::sync::Arc;

use crate::arena::pointer;
use crate::byte_region::{Extent, Region};
use crate::driver::Driver;
use crate::error_codes::{INVALID_VALUE, Outcome};
use crate::graph::Node;
use crate::history::Touch;
use crate::worker::Then;

/// Describes a fill of rows of memory with a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// Address of the first byte that is filled.
    pub start: u64,
    /// Distance between the starts of two rows in bytes.
    pub pitch: u64,
    /// Length of the pattern in bytes: 1, 2 or 4.
    pub size: u64,
    /// The pattern, in the low bytes of the number.
    pub value: u32,
    /// Number of repetitions of the pattern per row.
    pub count: u64,
    /// Number of rows.
    pub height: u64,
}

impl Driver {
    /// Enqueues a fill on a stream.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn fill(&self, call: &'static str, device: usize, fill: Fill, stream: u64) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        if fill.count == 0 || fill.height == 0 {
            return Ok(());
        }
        let width = fill.count.checked_mul(fill.size).ok_or(INVALID_VALUE)?;
        let is_aligned = fill.start.is_multiple_of(fill.size);
        let has_rows = fill.height == 1 || (fill.pitch >= width && fill.pitch.is_multiple_of(fill.size));
        if !is_aligned || !has_rows {
            return Err(INVALID_VALUE);
        }
        let extent = Extent { width, height: fill.height, depth: 1 };
        let region = Region::new(fill.start, fill.pitch, 0, extent).ok_or(INVALID_VALUE)?;
        let block = self.locate_device(&mut state, call, &region)?;
        let start = self.reachable(&state, block, fill.start);
        // SAFETY: this function has checked that the region is in a live block; at each launch of a graph the region is
        // looked up again.
        let task = move || unsafe { run(Fill { start, ..fill }) };
        if let Some(capture) = state.capture_of(stream)? {
            state.keep_node(capture, stream, Node::new(Arc::new(task), vec![(region, true)], None, call));
            return Ok(());
        }
        let waits_for = state.order(stream);
        let number = state.streams.get(&stream).map_or(0, |stream| stream.submitted + 1);
        state.touch(block, Touch { region, write: true, stream, number, call });
        state.push(stream, waits_for, Some(Box::new(task)), Then::Nothing).map(drop)
    }
}

/// Writes the pattern to all rows.
///
/// # Safety
/// The rows must be valid memory, and aligned for the pattern.
unsafe fn run(fill: Fill) {
    let count = fill.count as usize;
    for row in 0..fill.height {
        let start = pointer(fill.start + row * fill.pitch);
        // SAFETY: the caller of this function guarantees that the row is valid.
        unsafe {
            match fill.size {
                1 => start.write_bytes(fill.value as u8, count),
                2 => std::slice::from_raw_parts_mut(start.cast::<u16>(), count).fill(fill.value as u16),
                _ => std::slice::from_raw_parts_mut(start.cast::<u32>(), count).fill(fill.value),
            }
        }
    }
}
