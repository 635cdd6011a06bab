//! Exports the machine's C++ compiler under the names of hiprtc. The code object that it returns is a host shared
//! library, which the simulated driver loads.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Functions and types have the names of the C header.
#![allow(non_snake_case)]

simulated_core::export_rtc! {
    hiprtcCreateProgram, hiprtcDestroyProgram, hiprtcAddNameExpression, hiprtcGetLoweredName, hiprtcCompileProgram by LIBRARY,
    hiprtcGetErrorString, hiprtcGetProgramLogSize hiprtcGetProgramLog, hiprtcGetCodeSize hiprtcGetCode by rtc::image
}

const SUCCESS: u32 = 0;
const LIBRARY: simulated_core::rtc::Library =
    simulated_core::rtc::Library { takes, always: &["-D__HIP__=1", "-DPYGPU_CPU_WARP_SIZE=64"] };

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> u32 {
    // SAFETY: the caller of the C function guarantees writable out-parameters, as the vendor's manual requires.
    unsafe { (*major, *minor) = (7, 2) };
    SUCCESS
}

/// Returns whether an option is accepted. AMD's library is based on clang: it rejects unknown options, including
/// those of NVRTC.
fn takes(option: &str) -> bool {
    const KNOWN: [&str; 9] = ["-D", "-U", "-I", "-W", "-f", "-O", "-g", "-std=", "-Rpass"];
    let is_architecture = option.starts_with("--offload-arch=gfx");
    // A word without a leading dash is the argument of the previous option.
    is_architecture
        || matches!(option, "-w" | "-include")
        || KNOWN.iter().any(|known| option.starts_with(known))
        || !option.starts_with('-')
}
