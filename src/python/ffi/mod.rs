//! The C APIs of Python, NumPy and DLPack behind functions that are safe to call.
//!
//! A function here takes borrowed references and the token of the GIL, and returns owned or borrowed ones. `unsafe` code elsewhere in the
//! crate concerns memory of devices and fields of our own classes.

pub(crate) mod array_header;
pub(crate) mod buffer;
pub(crate) mod c_function;
pub(crate) mod calls;
pub(crate) mod capsule;
pub(crate) mod exchange_table;
pub(crate) mod host_call;
pub(crate) mod interpreter;
pub(crate) mod ndarray;
pub(crate) mod new_object;
mod newer;
pub(crate) mod numbers;
pub(crate) mod numpy_allocator;
pub(crate) mod objects;
pub(crate) mod slices;
