//! Manages memory: blocks that track their uses and are freed after the last use.
//!
//! - [`Allocation`] owns one block and frees it in stream order.
//! - [`hazards`] tracks the uses of a block on streams and makes a use wait for conflicting uses; [`submission`] does
//!   this for the blocks that work submitted to a stream uses.
//! - [`address_registry`] maps raw addresses to blocks, for blocks whose address escaped.
//! - [`pool`] allocates device memory and counts it per device; [`pinned_cache`] caches pinned host memory.
//! - [`custom_allocator`] contains custom allocators chosen by the user.
//! - [`host_block_cache`] caches host memory for the results of copies to the host.
//! - [`stream_captures`] tracks active captures.
//! - [`retired_objects`] keeps objects alive until a stream has completed the work that uses them.
//! - [`stream_check`] finds uses of a block that no synchronization orders, if the user requests this check.
//! - [`texture`] contains driver arrays, textures and surfaces, whose uses are tracked like those of blocks.
//! - [`readback`] contains 64-bit values that kernels write and the host reads.

pub mod address_registry;
mod allocation;
mod buffer_overrun;
pub mod custom_allocator;
mod hazard_events;
mod hazards;
pub mod host_block_cache;
pub mod pinned_cache;
pub mod pool;
pub mod readback;
pub mod retired_objects;
pub mod stream_captures;
pub mod stream_check;
mod submission;
pub mod texture;

pub use allocation::Allocation;
pub use buffer_overrun::overrun;
pub use custom_allocator::OwnerBox;
pub use hazards::Access;
pub use submission::{BlockUse, ordered};
