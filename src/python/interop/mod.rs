//! Imports and exports arrays through DLPack, the CUDA Array Interface, and addresses.

mod c_header_api;
pub(crate) mod capsule;
pub(crate) mod ctypes_parameter;
pub(crate) mod cuda_array_interface;
pub(crate) mod dlpack;
pub(crate) mod dlpack_exchange_table;
pub(crate) mod dlpack_producer;
pub(crate) mod gpudata;
pub(crate) mod import;
pub(crate) mod ipc;
pub(crate) mod memory_argument;
