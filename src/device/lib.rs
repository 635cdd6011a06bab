//! Devices, streams and events.
//!
//! [`Device`] is a backend and an index; [`stream`] has streams, events and the current stream of a thread;
//! [`shutdown`] defers errors of destructors and stops driver calls at process exit.

mod device;
pub mod shutdown;
pub mod stream;

pub use device::{Device, DeviceGuard, MAX_DEVICES, PerDevice};
