//! Selection by boolean masks, computed on the device.
//!
//! A mask is divided into tiles. The first launch counts the true elements of each tile, the second one scans the
//! counts, and the third one moves elements. For the move a block lists the true positions of its tile in shared memory
//! and iterates over the list, so that accesses are contiguous. For a small mask one block does everything. The host
//! reads a single number, the count of true elements.

mod at;
mod compact;
mod source;

pub use at::{UfuncAt, at};
pub use compact::{nonzero, put, take};
