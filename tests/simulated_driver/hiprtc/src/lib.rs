//! The machine's C++ compiler under the names of hiprtc. What it gives as a code object is a shared library of the host,
//! which the simulated driver loads.
#![allow(missing_docs, clippy::missing_safety_doc)]
// The header's names are C's.
#![allow(non_snake_case)]

simulated_core::export_rtc! {
    hiprtcCreateProgram, hiprtcDestroyProgram, hiprtcAddNameExpression, hiprtcGetLoweredName, hiprtcCompileProgram,
    hiprtcGetErrorString, hiprtcGetProgramLogSize hiprtcGetProgramLog, hiprtcGetCodeSize hiprtcGetCode
}

const SUCCESS: u32 = 0;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> u32 {
    // SAFETY: the manual asks for writable targets.
    unsafe { (*major, *minor) = (7, 2) };
    SUCCESS
}
