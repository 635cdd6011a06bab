//! Exchange of memory with other libraries, without Python: the protocols' data structures and their conversion.
//!
//! - [`dlpack`] fills and reads DLPack's structures.
//! - [`cai`] does the same for the CUDA array interface.
//! - [`streams`] converts the stream numbers of both protocols.
//! - [`description`] checks every description of external memory.
//!
//! Nothing here uses the interpreter: a deleter may run on any thread, without the GIL, after Python has ended.

pub mod cai;
pub mod description;
pub mod dlpack;
pub mod streams;
