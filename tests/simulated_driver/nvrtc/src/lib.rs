//! The machine's C++ compiler under the names of NVRTC. Its cubin is a host shared library, which the simulated
//! driver loads; its PTX is a text with the same bytes in digits.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Names of the C header.
#![allow(non_snake_case)]

simulated_core::export_rtc! {
    nvrtcCreateProgram, nvrtcDestroyProgram, nvrtcAddNameExpression, nvrtcGetLoweredName, nvrtcCompileProgram by LIBRARY,
    nvrtcGetErrorString, nvrtcGetProgramLogSize nvrtcGetProgramLog, nvrtcGetCUBINSize nvrtcGetCUBIN by rtc::image,
    nvrtcGetPTXSize nvrtcGetPTX by rtc::ptx
}

const SUCCESS: u32 = 0;
const LIBRARY: simulated_core::rtc::Library = simulated_core::rtc::Library { takes, always: &[] };

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) -> u32 {
    // SAFETY: the vendor's manual requires writable out-parameters.
    unsafe { (*major, *minor) = (12, 8) };
    SUCCESS
}

const ARCHITECTURES: [c_int; 4] = [75, 80, 89, 90];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> u32 {
    // SAFETY: as above.
    unsafe { *count = ARCHITECTURES.len() as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetSupportedArchs(architectures: *mut c_int) -> u32 {
    // SAFETY: the vendor's manual requires memory for as many numbers as the function above returns.
    unsafe { std::ptr::copy_nonoverlapping(ARCHITECTURES.as_ptr(), architectures, ARCHITECTURES.len()) };
    SUCCESS
}

/// Accepts every option; those that concern GPUs only are ignored later.
fn takes(_option: &str) -> bool {
    true
}
