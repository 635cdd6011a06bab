//! The machine's C++ compiler under the names of NVRTC. What it gives as a cubin is a shared library of the host, which the
//! simulated driver loads; what it gives as PTX is a text with the same in digits.
#![allow(missing_docs, clippy::missing_safety_doc)]
// The header's names are C's.
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
    // SAFETY: the manual asks for writable targets.
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
    // SAFETY: the manual asks for room for as many as the function above says.
    unsafe { std::ptr::copy_nonoverlapping(ARCHITECTURES.as_ptr(), architectures, ARCHITECTURES.len()) };
    SUCCESS
}

/// What is about GPUs only is left out.
fn takes(_option: &str) -> bool {
    true
}
