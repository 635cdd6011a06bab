//! Compiles kernels with the host's C++ compiler and runs them on the CPU.
//!
//! A source becomes a shared library of kernels in these stages: preprocess, rewrite, compile, link, load. README.md in
//! this folder describes the stages. The headers in `include` implement the device language at run time. The tests'
//! simulated drivers also use this crate.
//!
//! The engine does not read environment variables: [`HostEnvironment`] contains them. Only two kinds of files remain
//! after a build: a source that debugging information refers to, and the folder of precompiled parts
//! (`build::precompiled`).

mod build;
mod elf_check;
pub mod fault_handlers;
mod fiber_stacks;
mod find_compiler;
mod host_environment;
mod loaded_image;
mod lock_free_functions;
mod shared_memory_limit;
mod shared_memory_size;
mod signal_stack;
mod source_lines;
mod source_rewriter;
mod source_scopes;
#[cfg(test)]
mod tests;
mod texture_image;
mod thread_loops;
mod tokens;

pub use build::headers::texts as headers;
pub use build::{Build, Failure, IncludedFile, build, dependencies};
pub use elf_check::is_whole;
pub use find_compiler::{CxxCompiler, find};
pub use host_environment::{HostEnvironment, StartOrder};
pub use loaded_image::{HostKernel, LoadedImage, Shape};
pub use texture_image::TextureImage;
