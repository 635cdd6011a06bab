//! Defines devices, streams and events.
//!
//! [`Device`] is a backend and an index. The module [`stream`] has streams, events and the current stream of a thread.
//! The module [`shutdown`] stores errors of destructors until they are reported, and stops driver calls at process
//! exit.

mod device;
pub mod shutdown;
pub mod stream;

pub use device::{Device, DeviceGuard, MAX_DEVICES, PerDevice};
