//! PyGPU: strided arrays in the memory of a GPU, or of the host, for Python.
//!
//! This crate re-exports the crates below `src/`, for tests, benchmarks and fuzzers. In order of dependency, lowest first:
//!
//! - `pygpu-base`: [`error`], [`dtype`], [`settings`], and support for `fork`, C callbacks and deep recursion;
//! - [`layout`]: pure arithmetic of shapes and signed byte strides;
//! - `pygpu-cpu-engine`: compiles kernels for the CPU and runs them there;
//! - [`backend`]: one set of traits over the drivers, each opened at run time;
//! - [`device`], [`stream`] and [`shutdown`]: devices, the order of their work, and the rules for process exit;
//! - [`memory`]: blocks, which record their uses and are freed after the last use;
//! - [`array`]: a layout and a dtype on a block; [`graph`]: captured work;
//! - [`kernel`] compiles, loads and launches device code; [`codegen`] has the parts that generated kernels share;
//! - [`copy`] moves values; [`ops`] generates kernels from expressions and runs them on arrays of any layout;
//! - [`interop`] exports and imports blocks (DLPack, the CUDA array interface);
//! - `pygpu-python` is the extension module: the only crate with pyo3 classes. It parses
//!   arguments, calls the other crates, and wraps their results.

pub use pygpu_array::{self as array, graph};
pub use pygpu_backend as backend;
pub use pygpu_base::{
    dtype, error, ffi_guard, flush_points, fork_safe, iterative_drop, log_queue, settings, small_sort,
};
pub use pygpu_codegen as codegen;
pub use pygpu_copy as copy;
pub use pygpu_device::{self as device, shutdown, stream};
pub use pygpu_interop as interop;
pub use pygpu_kernel as kernel;
pub use pygpu_layout as layout;
pub use pygpu_memory as memory;
pub use pygpu_ops as ops;
