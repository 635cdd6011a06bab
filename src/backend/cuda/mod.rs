//! Contains NVIDIA's part of the backend. The code common to both vendors is in `cuda_and_hip`; `hip` implements the
//! same traits for AMD.
//!
//! - `sys` declares the functions that only NVIDIA's driver has, `driver` defines the vendor's types, `driver_library`
//!   has the messages about opening the driver;
//! - `current_context` makes a device current for one call, `errors` returns the names of error codes;
//! - `modules`, `functions` and `linking` have NVIDIA's part of `device_code`, `contexts` has the settings of a
//!   context;
//! - `nvrtc` finds and calls the compiler library;
//! - every other file implements the backend trait of its name.

mod contexts;
mod copies;
mod current_context;
mod device_code;
mod devices;
mod driver;
mod driver_library;
mod errors;
mod events;
mod functions;
mod graph_conditions;
mod graphs;
mod launch_attributes;
mod linking;
mod memory;
mod modules;
mod nvrtc;
mod streams;
mod sys;
mod tensor_maps;
mod textures;

pub(super) use driver::Cuda;
