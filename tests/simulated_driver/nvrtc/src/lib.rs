//! Exports the machine's C++ compiler under the names of NVRTC. The cubin that it returns is a host shared library,
//! which the simulated driver loads; the PTX is a text that contains the same bytes as hexadecimal digits.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Functions and types have the names of the C header.
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
    // SAFETY: the caller of the C function guarantees writable out-parameters, as the vendor's manual requires.
    unsafe { (*major, *minor) = (12, 8) };
    SUCCESS
}

const ARCHITECTURES: [c_int; 4] = [75, 80, 89, 90];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> u32 {
    // SAFETY: the caller of the C function guarantees a writable out-parameter, as the vendor's manual requires.
    unsafe { *count = ARCHITECTURES.len() as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetSupportedArchs(architectures: *mut c_int) -> u32 {
    // SAFETY: the caller of the C function guarantees memory for as many numbers as `nvrtcGetNumSupportedArchs`
    // returns, as the vendor's manual requires.
    unsafe { std::ptr::copy_nonoverlapping(ARCHITECTURES.as_ptr(), architectures, ARCHITECTURES.len()) };
    SUCCESS
}

/// Accepts every option. Options that concern only GPUs have no effect.
fn takes(_option: &str) -> bool {
    true
}
