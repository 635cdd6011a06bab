//! Implements kernels: the steps from a source or an image to a launch.
//!
//! - [`options`], [`compile`], [`cache`] and [`compiler_process`] compile a source to an image or take it from the cache.
//! - [`compiler_search`] locates a compiler for the library's own kernels.
//! - [`lexer`], [`declaration`] and [`types`] determine a kernel's parameters from its source; [`signature`] determines
//!   them from the type codes of PyCUDA's `prepare`.
//! - [`module`] and [`function`] represent loaded images and their kernels; images may be prebuilt libraries.
//!   [`symbols`] finds the names of kernels in images.
//! - [`tensor_map`] validates the arguments of a `CUtensorMap`.
//! - [`launch_config`] describes a launch; [`launch_limits`] and [`launch`] check it and enqueue it on a stream, ordered with
//!   the other uses of the arrays.
//!
//! This crate depends neither on a specific driver nor on Python.

mod buffer_overrun_check;
mod cache;
mod compile;
mod compiler_process;
mod compiler_search;
mod declaration;
mod function;
mod hoist_includes;
pub mod launch;
mod launch_config;
mod launch_limits;
mod lexer;
mod module;
pub mod options;
mod relocatable_code;
pub mod signature;
mod symbols;
pub mod tensor_map;
mod types;

pub use buffer_overrun_check::check_ends;
pub use cache::{Cache, cache_folder, refusal as cache_refusal, unreported_refusal as untold_cache_refusal};
pub use compile::{CompiledSource, KernelSource, build};
pub use compiler_search::{CompilerSearch, files, is_kept, load_searching, resolve, search_with};
pub use declaration::Declarations;
pub use function::{Function, Occupancy};
pub use launch::{Arguments, WideValue};
pub use launch_config::{Configuration, LaunchConfig};
pub use launch_limits::limits_of;
pub use lexer::words;
pub use module::{Module, load};
pub use symbols::mangled_names;
pub use types::{Aliases, Element, Parameter, ParameterKind, element, fits};
