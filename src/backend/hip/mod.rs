//! What is AMD's own of the backend; all else is in `vendor`, and `cuda` answers the same questions.
//!
//! - `sys` lists the runtime's own functions, `driver` names its types, `open` says what is said while it is opened;
//! - `context` makes a device current for one call, `errors` words its refusals;
//! - `modules` and `functions` are what is only AMD's of programs; `hiprtc` compiles, and finds that library;
//! - `abi` holds `sys` against two sets of bindings made from AMD's headers, in the tests only;
//! - every other file is a noun of the backend.
//!
//! HIP follows CUDA's runtime and not its driver: a thread has a current device, and no stack of contexts.

#[cfg(test)]
mod abi;
mod attributes;
mod context;
mod copies;
mod devices;
mod driver;
mod errors;
mod events;
mod functions;
mod graphs;
mod hiprtc;
mod launches;
mod memory;
mod modules;
mod open;
mod programs;
mod streams;
mod sys;
mod textures;

pub(super) use driver::Hip;
