//! Exports the simulated GPU under the names of the CUDA driver. This crate contains the names, the numbers of
//! attributes, the structures and the stack of contexts; `simulated-core` implements the operations. CUDA's manual
//! documents the functions.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Functions and types have the names of the C header.
#![allow(non_snake_case, non_camel_case_types)]

pub mod attributes;
pub mod context;
pub mod copy;
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
pub mod tensor_map;
pub mod texture;

/// Names of all functions that the library exports.
pub static NAMES: std::sync::LazyLock<Vec<&'static str>> = std::sync::LazyLock::new(|| {
    let modules = [
        error::NAMES,
        device::NAMES,
        context::NAMES,
        memory::NAMES,
        driver_memory::NAMES,
        pool::NAMES,
        copy::NAMES,
        fill::NAMES,
        stream::NAMES,
        event::NAMES,
        graph::NAMES,
        foreign_kernels::NAMES,
        module::NAMES,
        launch::NAMES,
        tensor_map::NAMES,
        texture::NAMES,
    ];
    modules.concat()
});

simulated_core::export_controls!(crate::NAMES);
