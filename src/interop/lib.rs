//! Exchange of memory with other libraries, without Python: the protocols' data structures and their conversion.
//!
//! - [`dlpack`] fills and reads DLPack's structures.
//! - [`cai`] does the same for the CUDA array interface.
//! - [`stream_numbers`] converts the stream numbers of both protocols.
//! - [`imported_memory`] checks every description of external memory.
//!
//! Nothing here uses the interpreter: a deleter may run on any thread, without the GIL, after Python has ended.

pub mod cai;
pub mod dlpack;
pub mod imported_memory;
pub mod stream_numbers;
