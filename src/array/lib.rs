//! Arrays: a block of memory with a layout and a dtype; and [`graph`]: captured work that is launched as a whole.

mod array;
mod deferred;
pub mod graph;

pub use array::{Array, Ground, Keeper};
pub use deferred::DeferredArray;
