//! Lending blocks to other libraries and borrowing theirs, below Python: what a protocol says in plain data, and what it
//! becomes.
//!
//! - [`dlpack`] fills and reads DLPack's structures;
//! - [`cai`] does the same for the CUDA array interface;
//! - [`streams`] is the table of the numbers that these two use for streams;
//! - [`description`] is the one place where a foreign claim about memory is checked.
//!
//! Nothing here knows an interpreter: a deleter may run on any thread, without the GIL, after Python has gone.

pub mod cai;
pub mod description;
pub mod dlpack;
pub mod streams;
