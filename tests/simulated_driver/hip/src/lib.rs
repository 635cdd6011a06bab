//! Exports the simulated GPU under the names of AMD's HIP runtime. This crate contains the names, the numbers of
//! attributes, the structures, and each thread's current device and last error; `simulated-core` implements the
//! operations. HIP's manual documents the functions, whose results are those of HIP 7.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Functions and types have the names of the C header.
#![allow(non_snake_case, non_camel_case_types)]

pub mod attributes;
pub mod copy;
pub mod current_device;
pub mod device;
pub mod driver_memory;
pub mod entry;
pub mod error;
pub mod event;
pub mod fill;
pub mod foreign_kernels;
pub mod graph;
pub mod launch;
pub mod memory;
pub mod module;
pub mod pool;
pub mod stream;
pub mod texture;

/// Names of all functions that the library exports.
pub static NAMES: std::sync::LazyLock<Vec<&'static str>> = std::sync::LazyLock::new(|| {
    let modules = [
        error::NAMES,
        current_device::NAMES,
        device::NAMES,
        memory::NAMES,
        driver_memory::NAMES,
        pool::NAMES,
        copy::NAMES,
        fill::NAMES,
        stream::NAMES,
        event::NAMES,
        graph::NAMES,
        module::NAMES,
        launch::NAMES,
        texture::NAMES,
        foreign_kernels::NAMES,
    ];
    modules.concat()
});

simulated_core::export_controls!(crate::NAMES);
