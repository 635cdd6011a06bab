//! Devices, streams and events: where work runs and in which order.
//!
//! [`Device`] is a backend and a number; [`stream`] has streams, events and the current stream of a thread; [`shutdown`] defers
//! errors and stops driver calls at process exit.

mod device;
pub mod shutdown;
pub mod stream;

pub use device::{Device, DeviceGuard, MAX_DEVICES, PerDevice};
