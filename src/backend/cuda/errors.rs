//! Returns the driver's names and explanations of error codes.

use std::ffi::c_char;

use super::driver::Cuda;
use super::sys::{Api, CUresult};
use crate::cuda_and_hip::{VendorErrors, spoken};
use crate::error_codes::SUCCESS;

pub const STUB_LIBRARY: u32 = CUresult::CUDA_ERROR_STUB_LIBRARY as u32;

fn lookup(ask: impl FnOnce(*mut *const c_char) -> u32) -> String {
    let mut text = std::ptr::null();
    let known = if ask(&mut text) == SUCCESS { text } else { std::ptr::null() };
    // SAFETY: on success the driver returns a C string that stays valid for the life of the process.
    unsafe { spoken(known) }
}

impl VendorErrors for Cuda {
    const STICKY: &'static [u32] = &[
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE as u32,
        CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE as u32,
        CUresult::CUDA_ERROR_CONTAINED as u32,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS as u32,
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT as u32,
        CUresult::CUDA_ERROR_ASSERT as u32,
        CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR as u32,
        CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION as u32,
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS as u32,
        CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE as u32,
        CUresult::CUDA_ERROR_INVALID_PC as u32,
        CUresult::CUDA_ERROR_LAUNCH_FAILED as u32,
        CUresult::CUDA_ERROR_TENSOR_MEMORY_LEAK as u32,
    ];
    const STICKY_ADVICE: &'static str =
        "its context is unusable from now on, and only a new process can use the device again";

    fn name(api: &Api, code: u32) -> String {
        // SAFETY: the driver's function is called with its signature; the out-parameter is writable.
        lookup(|text| unsafe { (api.cuGetErrorName)(code, text) })
    }

    fn text(api: &Api, code: u32) -> String {
        // SAFETY: the driver's function is called with its signature; the out-parameter is writable.
        lookup(|text| unsafe { (api.cuGetErrorString)(code, text) })
    }

    /// Does nothing: unlike the CUDA runtime, the CUDA driver does not store the error of the last call.
    #[inline]
    fn forget_last_error(_: &Api) {}
}
