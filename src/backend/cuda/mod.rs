//! What is NVIDIA's own of the backend; all else is in `vendor`, and `hip` answers the same questions.
//!
//! - `sys` lists the driver's own functions, `driver` names its types, `open` says what is said while it is opened;
//! - `context` makes a device current for one call, `errors` words its refusals;
//! - `modules`, `functions` and `linking` are what is only NVIDIA's of programs, `contexts` what can be set of a context;
//! - `nvrtc` compiles, and finds that library;
//! - every other file is a noun of the backend.

mod conditions;
mod context;
mod contexts;
mod copies;
mod devices;
mod driver;
mod errors;
mod events;
mod functions;
mod graphs;
mod launches;
mod linking;
mod memory;
mod modules;
mod nvrtc;
mod open;
mod programs;
mod streams;
mod sys;
mod tensor_maps;
mod textures;

pub(super) use driver::Cuda;
