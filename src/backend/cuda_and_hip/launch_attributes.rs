//! Launches kernels with attributes. CUDA and HIP use the same structure for them.

use std::ffi::{c_int, c_uint, c_void};

use smallvec::SmallVec;

use super::current_context::CurrentDeviceGuard;
use super::device_code::VendorDeviceCode;
use super::driver::Driver;
use super::symbols::Raw;
use crate::launch_attributes::no_clusters;
use crate::{
    Contexts, DeviceCode, FunctionHandle, FunctionSetting, LaunchAttributes, LaunchShape, Launches, StreamHandle,
};
use pygpu_base::error::{Error, Result};

/// The driver's enum values for the launch attributes. AMD's runtime supports only `COOPERATIVE` and `PRIORITY`.
pub mod attributes {
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER: u32 = 4;
    pub const CLUSTER_POLICY: u32 = 5;
    pub const PROGRAMMATIC: u32 = 6;
    pub const PRIORITY: u32 = 8;
    pub const CARVEOUT: u32 = 14;
}

/// Number of different launch attributes.
const KINDS: usize = 6;

/// One attribute in the driver's layout.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawAttribute {
    number: u32,
    _padding: u32,
    pub value: [u64; 8],
}

impl RawAttribute {
    fn new(number: u32, first: u32) -> Self {
        Self::of_three(number, [first, 0, 0])
    }

    fn of_three(number: u32, [x, y, z]: [u32; 3]) -> Self {
        // The attribute's value is stored as C ints, not as bytes, so that it is correct for either byte order.
        let pair = |first: u32, second: u32| {
            let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
            u64::from_ne_bytes([a, b, c, d, e, f, g, h])
        };
        Self { number, _padding: 0, value: [pair(x, y), pair(z, 0), 0, 0, 0, 0, 0, 0] }
    }
}

/// Shape, stream and attributes of a launch in the driver's layout.
#[repr(C)]
pub struct RawConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    pub stream: *mut c_void,
    attributes: *const RawAttribute,
    pub count: c_uint,
}

/// The attributes of a launch in the driver's layout.
struct List(SmallVec<[RawAttribute; KINDS]>);

impl List {
    fn of(shape: &LaunchShape, requested: &LaunchAttributes, carveout: bool) -> Self {
        let mut list = SmallVec::new();
        if shape.cooperative {
            list.push(RawAttribute::new(attributes::COOPERATIVE, 1));
        }
        if let Some(cluster) = requested.cluster {
            list.push(RawAttribute::of_three(attributes::CLUSTER, cluster));
        }
        if let Some(policy) = requested.cluster_policy {
            list.push(RawAttribute::new(attributes::CLUSTER_POLICY, policy as u32));
        }
        if requested.programmatic {
            list.push(RawAttribute::new(attributes::PROGRAMMATIC, 1));
        }
        if let Some(priority) = requested.priority {
            list.push(RawAttribute::new(attributes::PRIORITY, priority.cast_unsigned()));
        }
        if let Some(percent) = requested.carveout.filter(|_| carveout) {
            list.push(RawAttribute::new(attributes::CARVEOUT, percent.cast_unsigned()));
        }
        Self(list)
    }

    /// Returns the configuration of a launch. The configuration refers to this list of attributes, and must not outlive
    /// it.
    fn config(&self, shape: &LaunchShape, stream: StreamHandle) -> RawConfig {
        RawConfig {
            grid: shape.grid,
            block: shape.block,
            shared: shape.shared,
            stream: Raw::of(stream.0),
            attributes: self.0.as_ptr(),
            count: self.0.len() as c_uint,
        }
    }
}

/// Vendor-specific part of launches with attributes, which CUDA and HIP implement differently.
pub trait VendorLaunches: VendorDeviceCode {
    /// Returns whether the driver accepts the cache carveout as an attribute of a launch. If the driver does not, the
    /// carveout is set as an attribute of the kernel.
    fn has_carveout(driver: &Driver<Self>) -> bool;
    /// Returns the cluster for which the kernel was compiled.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn required_cluster(
        _driver: &Driver<Self>,
        _device: i32,
        _function: FunctionHandle,
    ) -> Result<Option<[u32; 3]>> {
        Ok(None)
    }
    /// Returns the maximum number of blocks in a cluster of a kernel.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn max_cluster_size(_: &Driver<Self>, _: i32, _: FunctionHandle, _: &RawConfig) -> Result<c_int> {
        Ok(1)
    }
    /// Returns the number of clusters of a kernel that the device can run concurrently.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn active_clusters(_: &Driver<Self>, _: i32, _: FunctionHandle, _: &RawConfig) -> Result<c_int> {
        Err(no_clusters())
    }
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorLaunches> Launches for Driver<V>
where
    Self: Contexts,
{
    unsafe fn launch_with(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        attributes: &LaunchAttributes,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()> {
        let carveout = V::has_carveout(self);
        if let Some(percent) = attributes.carveout.filter(|_| !carveout) {
            // SAFETY: the caller guarantees the conditions of `set_function`.
            unsafe { V::set_function(self, device, function, FunctionSetting::PreferredCarveout(percent)) }?;
        }
        let list = List::of(shape, attributes, carveout);
        let only_cooperative = shape.cooperative && list.0.len() == 1;
        let launch = self.symbols.function_launch_ex;
        if list.0.is_empty() || (only_cooperative && launch.is_none()) {
            // SAFETY: the caller guarantees the conditions of `launch`.
            return unsafe { self.launch(device, function, shape, stream, arguments) };
        }
        let operation = V::NAMES.function_launch_ex;
        let launch = launch.ok_or_else(|| no_attributes(self.library.as_str(), operation))?;
        let (config, extra) = (list.config(shape, stream), std::ptr::null_mut());
        let config = (&raw const config).cast();
        // SAFETY: the configuration has the vendor's layout, and it and its list outlive the call; the caller
        // guarantees that function, stream and arguments are valid.
        let call = |_: &CurrentDeviceGuard<'_, V>| unsafe { launch(config, Raw::of(function.0), arguments, extra) };
        self.call(device, operation, call, || format!("{shape:?}, {attributes:?}"))
    }

    unsafe fn required_cluster(&self, device: i32, function: FunctionHandle) -> Result<Option<[u32; 3]>> {
        // SAFETY: the caller guarantees the conditions of `required_cluster`.
        unsafe { V::required_cluster(self, device, function) }
    }

    unsafe fn max_cluster_size(&self, device: i32, function: FunctionHandle, shape: &LaunchShape) -> Result<u32> {
        let list = List::of(shape, &LaunchAttributes::default(), false);
        // SAFETY: the caller guarantees the conditions of `max_cluster_size`.
        let most = unsafe { V::max_cluster_size(self, device, function, &list.config(shape, StreamHandle::DEFAULT)) }?;
        Ok(most.max(0).cast_unsigned())
    }

    unsafe fn active_clusters(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        attributes: &LaunchAttributes,
    ) -> Result<u32> {
        let list = List::of(shape, attributes, false);
        // SAFETY: the caller guarantees the conditions of `active_clusters`.
        let count = unsafe { V::active_clusters(self, device, function, &list.config(shape, StreamHandle::DEFAULT)) }?;
        Ok(count.max(0).cast_unsigned())
    }
}

#[cold]
fn no_attributes(library: &str, name: &str) -> Error {
    Error::not_supported(format!(
        "{library} has no {name}, so a launch has no attributes: update the driver, or give the launch a stream of that priority"
    ))
}
