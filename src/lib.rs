//! PyGPU: a strided array in the memory of a GPU (or of the host), held from Python without heavy baggage.
//!
//! The layers, each of which may use only those to its left (`tests/repository/test_layers.py` holds it):
//!
//! `callback, chain, deferral, error, global, dtype, journal, layout, settings, short, sync <- backend <- lifetime <- device, stream <- memory <- array, graph <- kernel <- codegen <- copy <- ops <- interop <- python`
//!
//! - [`callback`], [`chain`] and [`global`] are what every layer needs beside `fork`, C and deep recursion: a door for calls from C,
//!   ends of long chains of owners, locks of the process;
//! - [`deferral`] is how all of them make sure that no operation waits which was put off;
//! - [`settings`] is what the environment says, read once; [`journal`] what slow paths tell Python's `logging`;
//! - [`short`] sorts lists of a few;
//! - [`layout`] is pure arithmetic of shapes and signed byte strides;
//! - [`backend`] is the narrow waist: what a device can do, opened at run time;
//! - [`device`] and [`stream`] name where and in which order work runs;
//! - [`memory`] owns blocks, knows who used them last, and frees them behind that;
//! - [`array`] puts a layout and a dtype on a block;
//! - [`graph`] launches as a whole what was captured once;
//! - [`kernel`] compiles, loads and launches device code, [`codegen`] is what kernels of our own have in common;
//! - [`copy`] moves values, within a device by kernels;
//! - [`ops`] writes kernels out of expressions, and runs them on arrays of any layout;
//! - [`interop`] lends and borrows blocks (DLPack, the CUDA array interface);
//! - `python` holds the only pyo3 classes: they parse, call and wrap.

pub mod array;
pub mod backend;
pub mod callback;
pub mod chain;
pub mod codegen;
pub mod copy;
pub mod deferral;
pub mod device;
pub mod dtype;
pub mod error;
pub mod global;
pub mod graph;
pub mod interop;
pub mod journal;
pub mod kernel;
pub mod layout;
pub mod lifetime;
pub mod memory;
pub mod ops;
#[cfg(feature = "python")]
mod python;
pub mod settings;
pub mod short;
pub mod stream;
mod sync;
