//! NVIDIA's driver as a backend. `hip/` mirrors it, file by file.
//!
//! - `sys` lists the driver's functions, `open` finds them, `driver` is the [`Backend`](super::Backend);
//! - `context` makes a device current for one call, `errors` words its refusals;
//! - `modules` and `launch` load and launch device code, `nvrtc` compiles it, `nvrtc_search` finds that library;
//! - `memory`, `driver_memory`, `copies`, `streams`, `events` and `properties` hold the calls, one noun each.

mod context;
mod copies;
mod driver;
mod driver_memory;
mod errors;
mod events;
mod functions;
mod graphs;
mod launch;
mod linking;
mod memory;
mod modules;
mod nvrtc;
mod nvrtc_search;
mod open;
mod properties;
mod settings;
mod streams;
mod sys;

pub(super) use open::open;
