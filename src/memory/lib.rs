//! Memory: blocks that track their uses and are freed after the last one.
//!
//! - [`Allocation`] owns one block and frees it in stream order.
//! - [`order`] tracks the uses of a block on streams and makes conflicting ones wait; [`transaction`] applies it to
//!   submitted work.
//! - [`addresses`] maps raw addresses to blocks, for blocks whose address escaped.
//! - [`pool`] allocates blocks and counts them per device; [`pinned`] caches pinned host memory.
//! - [`plugged`] contains custom allocators chosen by the user.
//! - [`recycled`] caches host memory of results.
//! - [`capture`] tracks active captures.
//! - [`pending`] keeps objects alive until a stream has passed them.
//! - [`texture`] contains driver arrays, textures and surfaces, whose uses are tracked like those of blocks.
//! - [`word`] is a number that kernels report to the host.

pub mod addresses;
mod allocation;
pub mod capture;
mod ends;
mod order;
pub mod pending;
pub mod pinned;
pub mod plugged;
pub mod pool;
mod queue;
pub mod recycled;
pub mod texture;
mod transaction;
pub mod word;

pub use allocation::Allocation;
pub use ends::overrun;
pub use order::Access;
pub use plugged::Lent;
pub use transaction::{Use, ordered};
