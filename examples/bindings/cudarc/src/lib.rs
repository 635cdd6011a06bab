//! Uses cudarc from ctypes: its slices over PyGPU's memory, and its memory as a PyGPU array. Both libraries use the
//! device's primary context, and the legacy default stream unless another one is given.

use std::error::Error;
use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaContext, CudaFunction, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::compile_ptx;

const SOURCE: &str = r#"
extern "C" __global__ void scale(float *x, float factor, unsigned long long count) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < count) x[i] *= factor;
}
"#;

fn kernel(context: &Arc<CudaContext>) -> Result<CudaFunction, Box<dyn Error>> {
    static KERNEL: OnceLock<CudaFunction> = OnceLock::new();
    if let Some(kernel) = KERNEL.get() {
        return Ok(kernel.clone());
    }
    let module = context.load_module(compile_ptx(SOURCE)?)?;
    Ok(KERNEL.get_or_init(|| module.load_function("scale").expect("the source has it")).clone())
}

fn scaled(address: CUdeviceptr, count: usize, factor: f32) -> Result<(), Box<dyn Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let kernel = kernel(&context)?;
    // SAFETY: `as_argtype` in the calling Python code has checked the array's address and size.
    let mut x = unsafe { stream.upgrade_device_ptr::<f32>(address, count) };
    let length = count as u64;
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&mut x).arg(&factor).arg(&length);
    // SAFETY: the arguments are those that the kernel declares.
    let outcome = unsafe { launch.launch(LaunchConfig::for_num_elems(count as u32)) }.map(drop);
    x.leak(); // Rust must not free the memory, even if the launch failed.
    Ok(outcome?)
}

/// Multiplies an array; returns 0, or -1 after printing the reason to the standard error.
#[unsafe(no_mangle)]
pub extern "C" fn scale(address: CUdeviceptr, count: usize, factor: f32) -> c_int {
    scaled(address, count, factor).map_or_else(
        |error| {
            eprintln!("{error}");
            -1
        },
        |()| 0,
    )
}

/// Allocates `count` zeros by Rust; returns 0 if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn zeros(count: usize) -> CUdeviceptr {
    let made = CudaContext::new(0).and_then(|context| context.default_stream().alloc_zeros::<f32>(count));
    made.map_or(0, |slice| slice.leak())
}

/// Frees memory that `zeros(4)` returned; it must be called at most once for it.
#[unsafe(no_mangle)]
pub extern "C" fn free_zeros_of_4(address: CUdeviceptr) {
    if let Ok(context) = CudaContext::new(0) {
        // SAFETY: the caller guarantees that the memory comes from `zeros(4)` and is not used again.
        drop(unsafe { context.default_stream().upgrade_device_ptr::<f32>(address, 4) });
    }
}
