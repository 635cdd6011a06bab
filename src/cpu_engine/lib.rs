//! Kernels on the host: a source becomes a shared library by the machine's C++ compiler, and its kernels can be launched.
//!
//! Names nothing of the rest of the crate, so that the simulated drivers use these files as they are. What the compiled code
//! does when it runs stands in the headers of `python/PyGPU/include/cpu_engine`. Must never leave a file behind, except
//! where debugging information needs its source and in the folder that is given to it for that (`prepared`), nor read the environment:
//! [`Host`] has it.

mod build;
pub mod faults;
mod find;
mod host;
mod image;
mod library;
mod lines;
mod plain;
mod rewrite;
mod scan;
mod shared;
mod split;
mod stack;
mod stacks;
mod static_shared;
mod tokens;
mod whole;

#[allow(unused_imports, reason = "the simulated drivers keep nothing")]
pub use build::headers::texts as headers;
pub use build::{Build, Failure, build};
#[allow(unused_imports, reason = "the simulated drivers keep nothing")]
pub use build::{Included, dependencies};
pub use find::{CxxCompiler, find};
pub use host::{Host, Order};
pub use image::Image;
pub use library::{Kernel, Library, Shape};
#[allow(unused_imports, reason = "the simulated drivers load what is whole")]
pub use whole::is_whole;

/// What is compiled of a preprocessed source.
#[cfg(test)]
pub fn rewritten(source: &str) -> String {
    rewrite::rewrite(&rewrite::Request { source, expressions: &[], shared_by_process: false, whole: &[] })
}

/// A preprocessed source with loops in its kernels, and the names of those kernels.
#[cfg(test)]
pub fn split_up(source: &str) -> Option<(String, Vec<String>)> {
    split::split(source).map(|split| (split.source, split.kernels))
}
