//! Selection by masks: which elements are true, and the elements of arrays there, without the host seeing either.
//!
//! A mask is cut into tiles. One launch counts each tile's true elements, a second one adds the counts up, and the third one moves: a
//! block lists the true places of its tile in shared memory and goes through the list, so that what it writes, or reads, lies side by
//! side. One block does all of it where a mask is small. The host reads one number, how many there are.

mod at;
mod compact;
mod source;

pub use at::{Call, at};
pub use compact::{nonzero, put, take};
