//! Arrays: a layout and a dtype over a block of memory. The module [`graph`] has captured work that is launched as a
//! whole.

mod array;
mod deferred;
pub mod graph;

pub use array::{Array, ArrayPlacement, BaseOwner};
pub use deferred::DeferredArray;
