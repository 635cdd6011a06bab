//! Contains AMD's part of the backend. Common code is in `cuda_and_hip`; `cuda` implements the same traits.
//!
//! - `sys` declares the functions that only AMD's runtime has, `driver` defines the vendor's types, `driver_library`
//!   has the messages about opening the runtime;
//! - `current_context` makes a device current for one call, `errors` returns the names of error codes;
//! - `modules` and `functions` have AMD's part of `device_code`; `hiprtc` finds and calls the compiler library;
//! - `abi` compares `sys` with two sets of bindings generated from AMD's headers, in the tests only;
//! - every other file implements the backend trait of its name.
//!
//! HIP follows the CUDA runtime, not the CUDA driver: a thread has a current device, and no stack of contexts.

#[cfg(test)]
mod abi;
mod attributes;
mod copies;
mod current_context;
mod device_code;
mod devices;
mod driver;
mod driver_library;
mod errors;
mod events;
mod functions;
mod graphs;
mod hiprtc;
mod launch_attributes;
mod memory;
mod modules;
mod streams;
mod sys;
mod textures;

pub(super) use driver::Hip;
