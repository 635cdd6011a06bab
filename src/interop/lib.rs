//! Exchanges memory with other libraries, without Python: the crate contains the protocols' data structures and their
//! conversion.
//!
//! - [`dlpack`] fills and reads DLPack's structures.
//! - [`cuda_array_interface`] imports and exports memory by the CUDA array interface.
//! - [`stream_numbers`] converts between streams and the stream numbers of DLPack and of the CUDA array interface.
//! - [`imported_memory`] checks every description of external memory.
//!
//! This crate does not use the interpreter, because a deleter may run on any thread, without the GIL, and after Python
//! has ended.

pub mod cuda_array_interface;
pub mod dlpack;
pub mod imported_memory;
pub mod stream_numbers;
