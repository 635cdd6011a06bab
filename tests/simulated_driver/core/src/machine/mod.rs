//! Implements the simulated machine: device memory, the state under one lock, and asynchronous execution.

pub mod arena;
pub mod condition;
pub mod driver;
pub(crate) mod handles;
pub mod state;
pub mod worker;
