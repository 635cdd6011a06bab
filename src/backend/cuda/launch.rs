//! Launching, and the driver as [`Programs`].

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use super::context::Current;
use super::driver::Cuda;
use super::errors::refusal;
use super::functions::{self, raw};
use super::linking;
use super::modules;
use super::nvrtc;
use super::nvrtc_search;
use super::properties::attribute;
use super::settings;
use super::streams::raw as raw_stream;
use super::sys::CUdevice_attribute as Attribute;
use crate::backend::{
    Address, BackendKind, Compiled, Compiler, FunctionAttributes, FunctionHandle, FunctionSetting, LaunchLimits,
    LaunchShape, LinkInput, LoadOptions, Loaded, ModuleHandle, ParameterPlace, Programs, StreamHandle, fork,
};
use crate::error::Result;

#[inline]
unsafe fn launch(
    cuda: &Cuda,
    device: i32,
    function: FunctionHandle,
    shape: &LaunchShape,
    stream: StreamHandle,
    arguments: *mut *mut c_void,
) -> Result<()> {
    let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
    let (operation, shared) =
        (if shape.cooperative { "cuLaunchCooperativeKernel" } else { "cuLaunchKernel" }, shape.shared);
    let (function, stream) = (raw(function), raw_stream(stream));
    let call = |on: &Current<'_>| {
        // SAFETY: the caller promises that function, stream and arguments belong together and are alive.
        unsafe {
            if shape.cooperative {
                let launch = on.api.cuLaunchCooperativeKernel;
                launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments)
            } else {
                let extra = std::ptr::null_mut();
                (on.api.cuLaunchKernel)(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra)
            }
        }
    };
    cuda.call(device, operation, call, || {
        format!("grid {:?}, block {:?}, {shared} bytes of dynamic shared memory", shape.grid, shape.block)
    })
}

fn device_attribute(cuda: &Cuda, device: i32, which: Attribute) -> Result<i32> {
    let operation = "cuDeviceGetAttribute";
    fork::refuse(BackendKind::Cuda, operation)?;
    let handle = cuda.slot(device, operation)?.handle;
    attribute(&cuda.api, handle, which)
        .map_err(|code| refusal(&cuda.api, code, operation, Some(device), format!("{which:?}")))
}

/// An attribute by its number, which may be newer than the list of names.
fn numbered_attribute(cuda: &Cuda, device: i32, number: i32) -> Result<i32> {
    let operation = "cuDeviceGetAttribute";
    fork::refuse(BackendKind::Cuda, operation)?;
    let handle = cuda.slot(device, operation)?.handle;
    let mut value = 0;
    type ByNumber = unsafe extern "C" fn(*mut i32, i32, super::sys::CUdevice) -> u32;
    // As a plain number: the enum has gaps, and a value in one of them would be undefined behaviour.
    // SAFETY: an enum is passed as an int in C.
    let ask: ByNumber = unsafe { std::mem::transmute(cuda.api.cuDeviceGetAttribute) };
    let ask = |_: &super::sys::Api| {
        // SAFETY: the target is writable.
        unsafe { ask(&mut value, number, handle) }
    };
    cuda.call_anywhere(operation, ask, || format!("attribute {number}"))?;
    Ok(value)
}

fn limits(cuda: &Cuda, device: i32) -> Result<LaunchLimits> {
    let ask = |which| device_attribute(cuda, device, which).map(|value| value.max(0) as u32);
    Ok(LaunchLimits {
        threads_per_block: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        block: [
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        grid: [
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        shared_per_block: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        shared_per_block_optin: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        cooperative: ask(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
    })
}

// In the unsafe methods the caller's promise is, word for word, that of the function which is handed on to.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Programs for Cuda {
    fn load(&self, device: i32, image: &[u8], options: &LoadOptions) -> Result<Loaded> {
        modules::load(self, device, image, options)
    }

    unsafe fn unload(&self, device: i32, module: ModuleHandle) -> Result<()> {
        unsafe { modules::unload(self, device, module) }
    }

    unsafe fn function(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<FunctionHandle> {
        unsafe { modules::function(self, device, module, name) }
    }

    unsafe fn global(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<(Address, usize)> {
        unsafe { modules::global(self, device, module, name) }
    }

    unsafe fn function_attributes(&self, device: i32, function: FunctionHandle) -> Result<FunctionAttributes> {
        unsafe { functions::attributes(self, device, function) }
    }

    unsafe fn set_function(&self, device: i32, function: FunctionHandle, setting: FunctionSetting) -> Result<()> {
        unsafe { functions::set(self, device, function, setting) }
    }

    unsafe fn parameters(&self, device: i32, function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>> {
        unsafe { functions::parameters(self, device, function) }
    }

    unsafe fn active_blocks(&self, device: i32, function: FunctionHandle, threads: u32, shared: u32) -> Result<u32> {
        unsafe { functions::active_blocks(self, device, function, threads, shared) }
    }

    unsafe fn suggested_shape(
        &self,
        device: i32,
        function: FunctionHandle,
        shared: u32,
        limit: u32,
    ) -> Result<(u32, u32)> {
        unsafe { functions::suggested_shape(self, device, function, shared, limit) }
    }

    unsafe fn launch(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()> {
        unsafe { launch(self, device, function, shape, stream, arguments) }
    }

    fn launch_limits(&self, device: i32) -> Result<LaunchLimits> {
        limits(self, device)
    }

    fn device_attribute(&self, device: i32, number: i32) -> Result<i32> {
        numbered_attribute(self, device, number)
    }

    fn context(&self, device: i32) -> Result<usize> {
        settings::context(self, device)
    }

    fn limit(&self, device: i32, number: i32) -> Result<usize> {
        settings::limit(self, device, number)
    }

    fn set_limit(&self, device: i32, number: i32, value: usize) -> Result<()> {
        settings::set_limit(self, device, number, value)
    }

    fn cache_preference(&self, device: i32) -> Result<i32> {
        settings::cache_preference(self, device)
    }

    fn set_cache_preference(&self, device: i32, preference: i32) -> Result<()> {
        settings::set_cache_preference(self, device, preference)
    }

    fn link(&self, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
        linking::link(self, device, inputs, options)
    }

    fn compiler_identity(&self, hints: &[PathBuf]) -> Option<String> {
        Some(nvrtc_search::identity(self.version, hints, crate::settings::get()))
    }

    fn compiler(&self, hints: &[PathBuf]) -> Result<&dyn Compiler> {
        nvrtc::of(self, hints).map(|nvrtc| nvrtc as &dyn Compiler)
    }
}
