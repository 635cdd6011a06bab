//! Implements the parts of loading and launching device code that are specific to AMD's runtime.

use std::ffi::c_int;
use std::path::PathBuf;

use super::driver::Hip;
use super::hiprtc::Hiprtc;
use super::sys::{
    HIP_FUNC_ATTRIBUTE_BINARY_VERSION, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    HIP_FUNC_ATTRIBUTE_NUM_REGS, HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, HIP_FUNC_ATTRIBUTE_PTX_VERSION,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, hipDeviceAttributeSharedMemPerBlockOptin, hipFunction_attribute as Attribute,
};
use super::{attributes, hiprtc};
use crate::cuda_and_hip::{Cooperative, Driver, FunctionNumbers, Raw, VendorDeviceCode};
use crate::{Compiler, Devices, FunctionHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings;

impl VendorDeviceCode for Hip {
    const FUNCTION_ATTRIBUTES: FunctionNumbers<Attribute> = FunctionNumbers {
        max_threads_per_block: HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        static_shared_bytes: HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        constant_bytes: HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        local_bytes: HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        registers: HIP_FUNC_ATTRIBUTE_NUM_REGS,
        ptx_version: HIP_FUNC_ATTRIBUTE_PTX_VERSION,
        binary_version: HIP_FUNC_ATTRIBUTE_BINARY_VERSION,
        max_dynamic_shared_bytes: HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        preferred_carveout: HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    };
    const COOPERATIVE: &'static str = "hipModuleLaunchCooperativeKernel";
    const SUGGESTED_SHAPE: &'static str = "hipModuleOccupancyMaxPotentialBlockSize";

    fn function_attribute_name(which: Attribute) -> String {
        format!("attribute {which}")
    }

    unsafe fn suggest(
        driver: &Driver<Self>,
        (grid, threads): (&mut c_int, &mut c_int),
        function: FunctionHandle,
        shared: usize,
        most: c_int,
    ) -> u32 {
        let ask = driver.api.hipModuleOccupancyMaxPotentialBlockSize;
        // SAFETY: the out-parameters are writable, and the caller guarantees that the function is alive.
        unsafe { ask(grid, threads, Raw::of(function.0), shared, most) }
    }

    #[inline]
    fn cooperative(driver: &Driver<Self>) -> Result<Cooperative<Self>> {
        driver.api.hipModuleLaunchCooperativeKernel.ok_or_else(|| {
            Error::not_supported(format!("{} has no {}: update ROCm", driver.library, Self::COOPERATIVE))
        })
    }

    /// Returns the maximum shared memory of a block with opt-in. If this maximum equals the limit without opt-in, AMD's
    /// runtime reports 0.
    fn shared_on_request(driver: &Driver<Self>, device: i32, plain: u32) -> Result<u32> {
        let on_request = driver.attribute(device, hipDeviceAttributeSharedMemPerBlockOptin).unwrap_or(0);
        Ok(plain.max(on_request.max(0).cast_unsigned()))
    }

    fn numbered_attribute(driver: &Driver<Self>, device: i32, number: i32) -> Result<i32> {
        match attributes::of_cuda(number) {
            Some(own) => driver.attribute(device, own),
            None => Err(Error::not_supported(format!(
                "attribute {number} is not known of hip:{device}: HIP has no such number"
            ))),
        }
    }

    fn compiler_identity(driver: &Driver<Self>, hints: &[PathBuf]) -> String {
        hiprtc::library_search::identity(&driver.library, hints, settings::get())
    }

    fn compiler<'a>(driver: &'a Driver<Self>, hints: &[PathBuf]) -> Result<&'a dyn Compiler> {
        if let Some(open) = driver.own.hiprtc.get() {
            return Ok(open);
        }
        let known = (0..driver.device_count()).map(|device| driver.properties(device));
        let architectures = known.map(|known| Ok(known?.architecture)).collect::<Result<Vec<_>>>()?;
        let library = hiprtc::library_search::open(&driver.library, hints, settings::get())?;
        let opened = Hiprtc::open(library, architectures)?;
        // If another thread opened the library at the same time, both threads have the same library, because the loader
        // loads a file only once.
        Ok(driver.own.hiprtc.get_or_init(|| opened))
    }
}
