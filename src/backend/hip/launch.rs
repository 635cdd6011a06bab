//! Launching, and the driver as [`Programs`].

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use super::context::Current;
use super::driver::Hip;
use super::errors::refusal;
use super::functions::{self, raw};
use super::hiprtc;
use super::hiprtc_search;
use super::modules;
use super::properties::attribute;
use super::streams::raw as raw_stream;
use super::sys::{
    hipDeviceAttribute_t as Attribute, hipDeviceAttributeCooperativeLaunch, hipDeviceAttributeMaxBlockDimX,
    hipDeviceAttributeMaxBlockDimY, hipDeviceAttributeMaxBlockDimZ, hipDeviceAttributeMaxGridDimX,
    hipDeviceAttributeMaxGridDimY, hipDeviceAttributeMaxGridDimZ, hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDeviceAttributeMaxThreadsPerBlock, hipDeviceAttributeSharedMemPerBlockOptin,
};
use crate::backend::{
    Address, BackendKind, Compiler, FunctionAttributes, FunctionHandle, FunctionSetting, LaunchLimits, LaunchShape,
    LoadOptions, Loaded, ModuleHandle, ParameterPlace, Programs, StreamHandle, fork,
};
use crate::error::{Error, Result};
use crate::settings;

#[inline]
unsafe fn launch(
    hip: &Hip,
    device: i32,
    function: FunctionHandle,
    shape: &LaunchShape,
    stream: StreamHandle,
    arguments: *mut *mut c_void,
) -> Result<()> {
    let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
    let (function, stream, shared) = (raw(function), raw_stream(stream), shape.shared);
    let detail = || format!("grid {:?}, block {:?}, {shared} bytes of dynamic shared memory", shape.grid, shape.block);
    if !shape.cooperative {
        let (launch, extra) = (hip.api.hipModuleLaunchKernel, std::ptr::null_mut());
        // SAFETY: the caller promises that function, stream and arguments belong together and are alive.
        let call =
            |_: &Current<'_>| unsafe { launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra) };
        return hip.call(device, "hipModuleLaunchKernel", call, detail);
    }
    let operation = "hipModuleLaunchCooperativeKernel";
    let Some(launch) = hip.api.hipModuleLaunchCooperativeKernel else {
        return Err(Error::not_supported(format!("{} has no {operation}: update ROCm", hip.library)));
    };
    // SAFETY: as above.
    let call = |_: &Current<'_>| unsafe { launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments) };
    hip.call(device, operation, call, detail)
}

fn device_attribute(hip: &Hip, device: i32, number: Attribute) -> Result<i32> {
    let operation = "hipDeviceGetAttribute";
    fork::refuse(BackendKind::Hip, operation)?;
    hip.slot(device, operation)?;
    attribute(&hip.api, device, number)
        .map_err(|code| refusal(&hip.api, code, operation, Some(device), format!("attribute {number}")))
}

fn limits(hip: &Hip, device: i32) -> Result<LaunchLimits> {
    let ask = |which| device_attribute(hip, device, which).map(|value| value.max(0) as u32);
    let shared_per_block = ask(hipDeviceAttributeMaxSharedMemoryPerBlock)?;
    // AMD's runtime answers 0 where there is nothing beyond what every kernel has.
    let on_request = ask(hipDeviceAttributeSharedMemPerBlockOptin).unwrap_or(0);
    Ok(LaunchLimits {
        threads_per_block: ask(hipDeviceAttributeMaxThreadsPerBlock)?,
        block: [
            ask(hipDeviceAttributeMaxBlockDimX)?,
            ask(hipDeviceAttributeMaxBlockDimY)?,
            ask(hipDeviceAttributeMaxBlockDimZ)?,
        ],
        grid: [
            ask(hipDeviceAttributeMaxGridDimX)?,
            ask(hipDeviceAttributeMaxGridDimY)?,
            ask(hipDeviceAttributeMaxGridDimZ)?,
        ],
        shared_per_block,
        shared_per_block_optin: on_request.max(shared_per_block),
        cooperative: hip.api.hipModuleLaunchCooperativeKernel.is_some()
            && ask(hipDeviceAttributeCooperativeLaunch)? != 0,
    })
}

// In the unsafe methods the caller's promise is, word for word, that of the function which is handed on to.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Programs for Hip {
    fn load(&self, device: i32, image: &[u8], _: &LoadOptions) -> Result<Loaded> {
        modules::load(self, device, image)
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

    unsafe fn parameters(&self, _: i32, _: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>> {
        // There is no such question in HIP.
        Ok(None)
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
        let number = u32::try_from(number)
            .map_err(|_| Error::value(format!("an attribute of a device has a number from 0 on, not {number}")))?;
        device_attribute(self, device, number)
    }

    fn compiler_identity(&self, hints: &[PathBuf]) -> Option<String> {
        Some(hiprtc_search::identity(&self.library, hints, settings::get()))
    }

    fn compiler(&self, hints: &[PathBuf]) -> Result<&dyn Compiler> {
        hiprtc::of(self, hints).map(|hiprtc| hiprtc as &dyn Compiler)
    }
}
