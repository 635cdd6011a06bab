//! Implements the simulated machine: device memory, the state under one lock, and asynchronous execution.

pub mod arena;
pub mod conditional_nodes;
pub mod driver;
pub(crate) mod handles;
pub mod state;
pub mod worker;
