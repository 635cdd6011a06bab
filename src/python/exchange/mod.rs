//! Import and export of arrays: DLPack, the CUDA Array Interface, addresses.

pub(crate) mod cai;
pub(crate) mod capsule;
pub(crate) mod dlpack;
pub(crate) mod gpudata;
mod header;
pub(crate) mod import;
pub(crate) mod parameter;
pub(crate) mod place;
pub(crate) mod producer;
pub(crate) mod share;
pub(crate) mod table;
