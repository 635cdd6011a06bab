//! Defines arrays: an array is a memory block with a layout and a dtype. The module [`graph`] contains graphs: captured
//! work that is launched as a whole.

mod array;
mod deferred;
pub mod graph;

pub use array::{Array, ArrayPlacement, BaseOwner};
pub use deferred::DeferredArray;
