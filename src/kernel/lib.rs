//! Kernels: from a source or an image to a launch.
//!
//! - [`options`], [`compile`], [`cache`] and [`external`] make an image of a source, or take it from where it is kept;
//! - [`search`] finds a compiler for the library's own kernels;
//! - [`lexer`], [`declaration`] and [`types`] read from the source which parameters a kernel has; [`signature`] reads it from
//!   the letters of PyCUDA's `prepare`;
//! - [`module`] and [`function`] are what is loaded, parts of a library that somebody else compiled among it; [`symbols`] finds names
//!   in it;
//! - [`tensor_map`] checks what a `CUtensorMap` is to be of;
//! - [`config`] is what a launch is told, and [`limits`] and [`launch`] put it on a stream, in the order of whatever else uses the arrays.
//!
//! Nothing here knows which driver works below, nor Python.

mod cache;
mod compile;
mod config;
mod declaration;
mod ends;
mod external;
mod function;
mod hoist;
pub mod launch;
mod lexer;
mod limits;
mod module;
pub mod options;
mod relocatable;
mod search;
pub mod signature;
mod symbols;
pub mod tensor_map;
mod types;

pub use cache::{Cache, cache_folder, refusal as cache_refusal, untold_refusal as untold_cache_refusal};
pub use compile::{Built, Source, build};
pub use config::{Configuration, LaunchConfig};
pub use declaration::Declarations;
pub use ends::check_ends;
pub use function::{Function, Occupancy};
pub use launch::{Arguments, Wide};
pub use lexer::words;
pub use module::{Module, load};
pub use search::{Search, files, is_kept, load_searching, resolve, search_with};
pub use symbols::mangled_names;
pub use types::{Aliases, Element, Parameter, ParameterKind, element, fits};
