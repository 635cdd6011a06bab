//! Loads modules of device code through CUDA or HIP, looks up their kernels and global variables, and launches the
//! kernels.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::path::PathBuf;

use super::current_context::CurrentDeviceGuard;
use super::devices::VendorDevices;
use super::driver::Driver;
use super::symbols::{Raw, Types};
use crate::{
    Address, Compiled, Compiler, Contexts, DeviceCode, FunctionAttributes, FunctionHandle, FunctionSetting,
    LaunchLimits, LaunchShape, Launches, LinkInput, LoadOptions, Loaded, ModuleHandle, ParameterPlace, StreamHandle,
    device_code::links_nothing,
};
use pygpu_base::error::Result;

/// The vendor's enum values for the kernel attributes that PyGPU queries.
pub struct FunctionNumbers<T> {
    pub max_threads_per_block: T,
    pub static_shared_bytes: T,
    pub constant_bytes: T,
    pub local_bytes: T,
    pub registers: T,
    pub ptx_version: T,
    pub binary_version: T,
    pub max_dynamic_shared_bytes: T,
    pub preferred_carveout: T,
}

/// The driver's function for cooperative launches.
pub type Cooperative<V> = unsafe extern "C" fn(
    <V as Types>::Function,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    <V as Types>::Stream,
    *mut *mut c_void,
) -> u32;

/// Vendor-specific part of modules. A function without documentation implements the function of the same name in
/// [`DeviceCode`].
pub trait VendorModules: VendorDevices {
    fn load(driver: &Driver<Self>, device: i32, image: &[u8], options: &LoadOptions) -> Result<Loaded>;
    /// Implements [`DeviceCode::unload`].
    ///
    /// # Safety
    /// The module is alive, and none of its objects is used again.
    unsafe fn unload(driver: &Driver<Self>, device: i32, module: ModuleHandle) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of `unload_module`.
        unsafe { driver.unload_module(device, module) }
    }
}

/// Vendor-specific part of kernels. A function without documentation implements the function of the same name in
/// [`DeviceCode`].
pub trait VendorFunctions: VendorDevices {
    /// Implements [`DeviceCode::names`].
    ///
    /// # Safety
    /// The module is alive.
    unsafe fn names(_driver: &Driver<Self>, _device: i32, _module: ModuleHandle) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
    /// Implements [`DeviceCode::set_function`].
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn set_function(
        driver: &Driver<Self>,
        device: i32,
        function: FunctionHandle,
        setting: FunctionSetting,
    ) -> Result<()>;
    /// Implements [`DeviceCode::parameters`].
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn parameters(
        _driver: &Driver<Self>,
        _device: i32,
        _function: FunctionHandle,
    ) -> Result<Option<Vec<ParameterPlace>>> {
        Ok(None)
    }
}

/// Vendor-specific part of launches. A function without documentation implements the function of the same name in
/// [`DeviceCode`].
pub trait VendorDeviceCode: VendorModules + VendorFunctions {
    const FUNCTION_ATTRIBUTES: FunctionNumbers<Self::FunctionAttribute>;
    const COOPERATIVE: &'static str;
    const SUGGESTED_SHAPE: &'static str;
    /// Returns the name of a kernel attribute for error messages.
    fn function_attribute_name(which: Self::FunctionAttribute) -> String;
    /// Stores the minimum number of blocks that fills the device, and the block size with the best occupancy. Returns
    /// the driver's error code.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn suggest(
        driver: &Driver<Self>,
        shape: (&mut c_int, &mut c_int),
        function: FunctionHandle,
        shared: usize,
        most: c_int,
    ) -> u32;
    /// Returns the driver's function for cooperative launches.
    ///
    /// # Errors
    /// `NotSupported` if the library has no such function.
    fn cooperative(driver: &Driver<Self>) -> Result<Cooperative<Self>>;
    /// Returns the maximum size in bytes of a block's shared memory for kernels that opt in. For all other kernels the
    /// maximum is `plain`.
    fn shared_on_request(driver: &Driver<Self>, device: i32, plain: u32) -> Result<u32>;
    /// Returns whether the device has clusters of blocks and the driver can launch them.
    fn has_clusters(_driver: &Driver<Self>, _device: i32) -> Result<bool> {
        Ok(false)
    }
    /// Returns a device attribute by the driver's number. PyGPU's list of names may lack a number that a newer driver
    /// defines.
    fn numbered_attribute(driver: &Driver<Self>, device: i32, number: i32) -> Result<i32>;
    fn link(driver: &Driver<Self>, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
        let _ = (driver, device, inputs, options);
        Err(links_nothing())
    }
    fn compiler_identity(driver: &Driver<Self>, hints: &[PathBuf]) -> String;
    fn compiler<'a>(driver: &'a Driver<Self>, hints: &[PathBuf]) -> Result<&'a dyn Compiler>;
}

impl<V: VendorDevices> Driver<V> {
    /// Unloads a module.
    ///
    /// # Safety
    /// The module is alive, and none of its objects is used again.
    pub unsafe fn unload_module(&self, device: i32, module: ModuleHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.module_unload,
            // SAFETY: the caller guarantees that the module is alive and that none of its objects is used again.
            |on| self.beside_captures(|| unsafe { (on.symbols.module_unload)(Raw::of(module.0)) }),
            String::new,
        )
    }
}

impl<V: VendorDeviceCode> Driver<V> {
    /// Returns an attribute of a kernel.
    ///
    /// # Safety
    /// The function is alive.
    pub unsafe fn function_attribute(
        &self,
        device: i32,
        function: FunctionHandle,
        which: V::FunctionAttribute,
    ) -> Result<i32> {
        let mut value: c_int = 0;
        self.call(
            device,
            V::NAMES.function_attribute,
            // SAFETY: the out-parameter is writable, and the caller guarantees that the function is alive.
            |on| unsafe { (on.symbols.function_attribute)(&mut value, which, Raw::of(function.0)) },
            || V::function_attribute_name(which),
        )?;
        Ok(value)
    }
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorDeviceCode> DeviceCode for Driver<V>
where
    Self: Contexts + Launches,
{
    fn load(&self, device: i32, image: &[u8], options: &LoadOptions) -> Result<Loaded> {
        V::load(self, device, image, options)
    }

    unsafe fn unload(&self, device: i32, module: ModuleHandle) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of `unload`.
        unsafe { V::unload(self, device, module) }
    }

    unsafe fn function(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<FunctionHandle> {
        let mut function = Raw::NONE;
        self.call(
            device,
            V::NAMES.module_function,
            // SAFETY: the caller guarantees the conditions of the driver call; the out-parameter is writable, and the
            // name is a C string.
            |on| unsafe { (on.symbols.module_function)(&mut function, Raw::of(module.0), name.as_ptr()) },
            || format!("the kernel {name:?}"),
        )?;
        Ok(FunctionHandle(function.number()))
    }

    unsafe fn global(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<(Address, usize)> {
        let (mut address, mut bytes) = (Raw::NONE, 0);
        self.call(
            device,
            V::NAMES.module_global,
            // SAFETY: the caller guarantees the conditions of the driver call; the out-parameters are writable, and the
            // name is a C string.
            |on| unsafe { (on.symbols.module_global)(&mut address, &mut bytes, Raw::of(module.0), name.as_ptr()) },
            || format!("the global {name:?}"),
        )?;
        Ok((address.number(), bytes))
    }

    unsafe fn names(&self, device: i32, module: ModuleHandle) -> Result<Option<Vec<String>>> {
        // SAFETY: the caller guarantees the conditions of `names`.
        unsafe { V::names(self, device, module) }
    }

    unsafe fn function_attributes(&self, device: i32, function: FunctionHandle) -> Result<FunctionAttributes> {
        // SAFETY: the caller guarantees the conditions of `function_attribute`.
        let ask = |which| unsafe { self.function_attribute(device, function, which) };
        let numbers = V::FUNCTION_ATTRIBUTES;
        Ok(FunctionAttributes {
            max_threads_per_block: ask(numbers.max_threads_per_block)?,
            static_shared_bytes: ask(numbers.static_shared_bytes)?,
            constant_bytes: ask(numbers.constant_bytes)?,
            local_bytes: ask(numbers.local_bytes)?,
            registers: ask(numbers.registers)?,
            ptx_version: ask(numbers.ptx_version)?,
            binary_version: ask(numbers.binary_version)?,
            max_dynamic_shared_bytes: ask(numbers.max_dynamic_shared_bytes)?,
            preferred_carveout: ask(numbers.preferred_carveout)?,
        })
    }

    unsafe fn set_function(&self, device: i32, function: FunctionHandle, setting: FunctionSetting) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of `set_function`.
        unsafe { V::set_function(self, device, function, setting) }
    }

    unsafe fn parameters(&self, device: i32, function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>> {
        // SAFETY: the caller guarantees the conditions of `parameters`.
        unsafe { V::parameters(self, device, function) }
    }

    unsafe fn active_blocks(&self, device: i32, function: FunctionHandle, threads: u32, shared: u32) -> Result<u32> {
        let mut blocks: c_int = 0;
        let count = i32::try_from(threads).unwrap_or(i32::MAX);
        let ask = |on: &CurrentDeviceGuard<'_, V>| {
            let ask = on.symbols.function_active_blocks;
            // SAFETY: the caller guarantees the conditions of the driver call; the out-parameter is writable.
            unsafe { ask(&mut blocks, Raw::of(function.0), count, shared as usize) }
        };
        self.call(device, V::NAMES.function_active_blocks, ask, || {
            format!("{threads} threads, {shared} bytes of shared memory")
        })?;
        Ok(blocks.max(0).cast_unsigned())
    }

    unsafe fn suggested_shape(
        &self,
        device: i32,
        function: FunctionHandle,
        shared: u32,
        limit: u32,
    ) -> Result<(u32, u32)> {
        let (mut grid, mut threads): (c_int, c_int) = (0, 0);
        let most = i32::try_from(limit).unwrap_or(i32::MAX);
        self.call(
            device,
            V::SUGGESTED_SHAPE,
            // SAFETY: the caller guarantees the conditions of `suggest`.
            |_| unsafe { V::suggest(self, (&mut grid, &mut threads), function, shared as usize, most) },
            || format!("{shared} bytes of shared memory, at most {limit} threads"),
        )?;
        Ok((grid.max(0).cast_unsigned(), threads.max(0).cast_unsigned()))
    }

    #[inline]
    unsafe fn launch(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()> {
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let (function, stream, shared) = (Raw::of(function.0), Raw::of(stream.0), shape.shared);
        let detail =
            || format!("grid {:?}, block {:?}, {shared} bytes of dynamic shared memory", shape.grid, shape.block);
        if shape.cooperative {
            let launch = V::cooperative(self)?;
            // SAFETY: the caller guarantees the conditions of the driver call.
            let call = |_: &CurrentDeviceGuard<'_, V>| unsafe {
                launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments)
            };
            return self.call(device, V::COOPERATIVE, call, detail);
        }
        let extra = std::ptr::null_mut();
        let call = |on: &CurrentDeviceGuard<'_, V>| {
            let launch = on.symbols.function_launch;
            // SAFETY: the caller guarantees the conditions of the driver call.
            unsafe { launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra) }
        };
        self.call(device, V::NAMES.function_launch, call, detail)
    }

    fn launch_limits(&self, device: i32) -> Result<LaunchLimits> {
        let ask = |which| self.attribute(device, which).map(|value| value.max(0).cast_unsigned());
        let axes = |[x, y, z]: [V::DeviceAttribute; 3]| Ok::<_, pygpu_base::error::Error>([ask(x)?, ask(y)?, ask(z)?]);
        let attributes = V::ATTRIBUTES;
        let shared_per_block = ask(attributes.shared_per_block)?;
        Ok(LaunchLimits {
            threads_per_block: ask(attributes.max_threads_per_block)?,
            block: axes(attributes.max_block)?,
            grid: axes(attributes.max_grid)?,
            shared_per_block,
            shared_per_block_optin: V::shared_on_request(self, device, shared_per_block)?,
            cooperative: V::cooperative(self).is_ok() && ask(attributes.cooperative_launch)? != 0,
            clusters: V::has_clusters(self, device)?,
            threads_per_multiprocessor: ask(attributes.threads_per_multiprocessor)?,
        })
    }

    fn device_attribute(&self, device: i32, number: i32) -> Result<i32> {
        V::numbered_attribute(self, device, number)
    }

    fn link(&self, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
        V::link(self, device, inputs, options)
    }

    fn compiler_identity(&self, hints: &[PathBuf]) -> Option<String> {
        Some(V::compiler_identity(self, hints))
    }

    fn compiler(&self, hints: &[PathBuf]) -> Result<&dyn Compiler> {
        V::compiler(self, hints)
    }
}
