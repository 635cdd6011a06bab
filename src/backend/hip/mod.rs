//! AMD's runtime as a backend. `cuda/` is its mirror image, file by file.
//!
//! - `sys` lists the runtime's functions, `open` finds them, `driver` is the [`Backend`](super::Backend);
//! - `context` makes a device current for one call, `errors` words its refusals;
//! - `memory`, `driver_memory`, `copies`, `streams`, `events` and `properties` hold the calls, one noun each;
//! - `modules`, `functions` and `launch` load and launch device code, `hiprtc` compiles it, `hiprtc_search` finds that library;
//! - `abi` holds `sys` against two sets of bindings made from AMD's headers, in the tests only.
//!
//! HIP follows CUDA's runtime and not its driver: a thread has a current device, and no stack of contexts.

#[cfg(test)]
mod abi;
mod context;
mod copies;
mod driver;
mod driver_memory;
mod errors;
mod events;
mod functions;
mod graphs;
mod hiprtc;
mod hiprtc_search;
mod launch;
mod memory;
mod modules;
mod open;
mod properties;
mod streams;
mod sys;

pub(super) use open::open;
