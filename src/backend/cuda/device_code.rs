//! Loads and launches device code, as far as this is specific to NVIDIA's driver.

use std::ffi::c_int;
use std::path::PathBuf;

use super::driver::Cuda;
use super::nvrtc::Nvrtc;
use super::sys::{CUdevice, CUdevice_attribute, CUfunction_attribute as Attribute};
use super::{linking, nvrtc};
use crate::cuda_and_hip::{Cooperative, Driver, FunctionNumbers, Raw, VendorDeviceCode};
use crate::{Compiled, Compiler, FunctionHandle, LinkInput, LoadOptions};
use pygpu_base::error::Result;
use pygpu_base::settings;

impl VendorDeviceCode for Cuda {
    const FUNCTION_ATTRIBUTES: FunctionNumbers<Attribute> = FunctionNumbers {
        max_threads_per_block: Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        static_shared_bytes: Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        constant_bytes: Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        local_bytes: Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        registers: Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS,
        ptx_version: Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION,
        binary_version: Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION,
        max_dynamic_shared_bytes: Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        preferred_carveout: Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    };
    const COOPERATIVE: &'static str = "cuLaunchCooperativeKernel";
    const SUGGESTED_SHAPE: &'static str = "cuOccupancyMaxPotentialBlockSize";

    fn function_attribute_name(which: Attribute) -> String {
        format!("{which:?}")
    }

    unsafe fn suggest(
        driver: &Driver<Self>,
        (grid, threads): (&mut c_int, &mut c_int),
        function: FunctionHandle,
        shared: usize,
        most: c_int,
    ) -> u32 {
        let ask = driver.api.cuOccupancyMaxPotentialBlockSize;
        // SAFETY: the out-parameters are writable, and the caller guarantees that the function is alive. Without a
        // callback, the driver assumes `shared` bytes of shared memory for every block size.
        unsafe { ask(grid, threads, Raw::of(function.0), None, shared, most) }
    }

    #[inline]
    fn cooperative(driver: &Driver<Self>) -> Result<Cooperative<Self>> {
        Ok(driver.api.cuLaunchCooperativeKernel)
    }

    fn shared_on_request(driver: &Driver<Self>, device: i32, _: u32) -> Result<u32> {
        let which = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        driver.attribute(device, which).map(|bytes| bytes.max(0).cast_unsigned())
    }

    fn has_clusters(driver: &Driver<Self>, device: i32) -> Result<bool> {
        if driver.symbols.function_launch_ex.is_none() {
            return Ok(false);
        }
        Ok(driver.attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)? != 0)
    }

    fn numbered_attribute(driver: &Driver<Self>, device: i32, number: i32) -> Result<i32> {
        type ByNumber = unsafe extern "C" fn(*mut i32, i32, CUdevice) -> u32;
        let operation = "cuDeviceGetAttribute";
        let handle = driver.slot(device, operation)?.handle;
        let mut value = 0;
        // The driver's function is called with an integer instead of the header's enum: the enum has gaps, and a value
        // in a gap would be undefined behaviour in Rust.
        // SAFETY: C passes an enum as an int, so the changed parameter type does not change the call.
        let ask: ByNumber = unsafe { std::mem::transmute(driver.symbols.device_attribute) };
        // SAFETY: the out-parameter is writable.
        let ask = |_: &Driver<Self>| unsafe { ask(&mut value, number, handle) };
        driver.call_anywhere(operation, ask, || format!("attribute {number}"))?;
        Ok(value)
    }

    fn link(driver: &Driver<Self>, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
        linking::link(driver, device, inputs, options)
    }

    fn compiler_identity(driver: &Driver<Self>, hints: &[PathBuf]) -> String {
        nvrtc::library_search::identity(driver.version, hints, settings::get())
    }

    fn compiler<'a>(driver: &'a Driver<Self>, hints: &[PathBuf]) -> Result<&'a dyn Compiler> {
        if let Some(open) = driver.own.nvrtc.get() {
            return Ok(open);
        }
        let opened = Nvrtc::open(nvrtc::library_search::open(driver.version, hints, settings::get())?)?;
        // If another thread opened the library at the same time, both threads have the same library, because the loader
        // loads a file only once.
        Ok(driver.own.nvrtc.get_or_init(|| opened))
    }
}
