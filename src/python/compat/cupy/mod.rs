//! Defines attributes and methods under CuPy's names.

mod array;
mod device;
mod stream;
