//! Fills with a pattern of one, two or four bytes.

use std::sync::Arc;

use crate::arena::pointer;
use crate::code::{INVALID_VALUE, Outcome};
use crate::driver::Driver;
use crate::graph::Node;
use crate::history::Touch;
use crate::region::{Extent, Region};
use crate::worker::Then;

/// A fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// The first byte.
    pub start: u64,
    /// Distance between rows.
    pub pitch: u64,
    /// Bytes of the pattern: 1, 2 or 4.
    pub size: u64,
    /// The pattern, in the low bytes.
    pub value: u32,
    /// Patterns per row.
    pub count: u64,
    /// Number of rows.
    pub height: u64,
}

impl Driver {
    /// Fills in stream order.
    ///
    /// # Errors
    /// An error code.
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
        // SAFETY: the region is in a live block, and is looked up again when the graph is launched.
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

/// Writes the pattern.
///
/// # Safety
/// The rows are valid, and aligned for the pattern.
unsafe fn run(fill: Fill) {
    let count = fill.count as usize;
    for row in 0..fill.height {
        let start = pointer(fill.start + row * fill.pitch);
        // SAFETY: the caller guarantees the row.
        unsafe {
            match fill.size {
                1 => start.write_bytes(fill.value as u8, count),
                2 => std::slice::from_raw_parts_mut(start.cast::<u16>(), count).fill(fill.value as u16),
                _ => std::slice::from_raw_parts_mut(start.cast::<u32>(), count).fill(fill.value),
            }
        }
    }
}
