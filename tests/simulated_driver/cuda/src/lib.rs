//! The simulated GPU under the names of the CUDA driver: names, attribute numbers, structures and the stack of
//! contexts. Everything else is in `simulated-core`. The functions are documented in CUDA's manual.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Names of the C header.
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
pub mod graph;
pub mod guest;
pub mod launch;
pub mod memory;
pub mod module;
pub mod pool;
pub mod stream;
pub mod tensor_map;
pub mod texture;

/// Names of all exported calls.
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
        guest::NAMES,
        module::NAMES,
        launch::NAMES,
        tensor_map::NAMES,
        texture::NAMES,
    ];
    modules.concat()
});

simulated_core::export_controls!(crate::NAMES);
