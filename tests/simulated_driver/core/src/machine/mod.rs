//! The machine: memory, everything behind one lock, and what runs later.

pub mod arena;
pub mod condition;
pub mod driver;
pub(crate) mod handles;
pub mod state;
pub mod worker;
