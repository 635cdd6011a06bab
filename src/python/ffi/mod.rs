//! Contains safe functions around the C APIs of Python, NumPy and DLPack.
//!
//! A function takes borrowed references and a GIL token, and returns owned or borrowed references. Outside this module,
//! `unsafe` code only accesses device memory and fields of PyGPU's classes.

pub(crate) mod array_header;
pub(crate) mod buffer;
pub(crate) mod c_function;
mod capi_optional;
pub(crate) mod capsule;
pub(crate) mod dlpack_exchange_table;
pub(crate) mod host_call;
pub(crate) mod host_range;
pub(crate) mod interpreter;
pub(crate) mod ndarray;
pub(crate) mod new_object;
pub(crate) mod numbers;
pub(crate) mod numpy_allocator;
pub(crate) mod objects;
pub(crate) mod slices;
pub(crate) mod vectorcall;
