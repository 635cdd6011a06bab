//! Implements the operations of a driver. Each module adds methods to `Driver`.

pub mod argument;
pub mod capture;
pub mod copy;
pub mod device;
pub mod event;
pub mod fill;
pub mod foreign_kernels;
pub mod graph;
pub mod host;
pub mod ipc;
pub mod kernel;
pub mod memory;
pub mod module;
pub mod pointer;
pub mod pool;
pub mod rtc;
pub mod stream;
pub mod texture;
