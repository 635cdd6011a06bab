//! Memory: blocks that know who used them last and are freed behind that.
//!
//! - [`Allocation`] owns one block and frees it in order;
//! - [`order`] remembers on which streams a block was written and read, and makes others wait; [`transaction`] is how work
//!   uses it;
//! - [`addresses`] finds the block in which an address lies, for blocks that were given out as addresses;
//! - [`pool`] is where blocks come from, with the accounts of each device; [`pinned`] keeps pinned host memory;
//! - [`plugged`] is where they come from when the user has chosen another allocator;
//! - [`recycled`] keeps host memory of results that nobody holds any more;
//! - [`capture`] knows the captures that are under way, and what must wait for their end;
//! - [`pending`] keeps things alive until a stream has passed them;
//! - [`texture`] has arrays of the driver, textures and surfaces, which are used as blocks are;
//! - [`word`] is how a kernel tells the host a number.

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
