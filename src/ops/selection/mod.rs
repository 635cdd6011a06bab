//! Selects elements by boolean masks, on the device.
//!
//! A mask is divided into tiles. The first launch counts the true elements of each tile, the second one scans the
//! counts, and the third one moves elements. To move elements, a thread block lists the true positions of its tile in
//! shared memory and iterates over this list, so that accesses are contiguous. A small mask is processed by one block
//! in a single launch. The host reads a single number, the count of true elements.

mod compact;
mod source;
mod ufunc_at;

pub use compact::{nonzero, put, take};
pub use ufunc_at::{UfuncAt, at};
