//! Implements launches with attributes, and clusters of blocks.

use std::ffi::c_int;

use super::driver::Cuda;
use super::sys::{CUfunction, CUfunction_attribute as Attribute, CUlaunchConfig};
use crate::FunctionHandle;
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver, Raw, RawConfig, VendorLaunches};
use crate::launch_attributes::no_clusters;
use pygpu_base::error::Result;

/// First driver version in which a launch may set the share of the first-level cache that is used as shared memory.
const CARVEOUT_OF_A_LAUNCH: i32 = 12050;

type Occupancy = unsafe extern "C" fn(*mut c_int, CUfunction, *const CUlaunchConfig) -> u32;

/// Calls one of the driver's occupancy functions for a launch configuration.
///
/// # Safety
/// The function is alive.
unsafe fn query(
    driver: &Driver<Cuda>,
    device: i32,
    (operation, question): (&'static str, Option<Occupancy>),
    function: FunctionHandle,
    config: &RawConfig,
) -> Result<c_int> {
    let question = question.ok_or_else(no_clusters)?;
    let mut answer = 0;
    let config = std::ptr::from_ref(config).cast();
    // SAFETY: the out-parameter is writable, the function is alive, and the structure has the layout of the header.
    let call = |_: &CurrentDeviceGuard<'_, Cuda>| unsafe { question(&mut answer, Raw::of(function.0), config) };
    driver.call(device, operation, call, String::new)?;
    Ok(answer)
}

impl VendorLaunches for Cuda {
    fn has_carveout(driver: &Driver<Self>) -> bool {
        driver.version >= CARVEOUT_OF_A_LAUNCH
    }

    unsafe fn required_cluster(
        driver: &Driver<Self>,
        device: i32,
        function: FunctionHandle,
    ) -> Result<Option<[u32; 3]>> {
        // SAFETY: the caller guarantees the conditions of `function_attribute`.
        let ask = |which| unsafe { driver.function_attribute(device, function, which) };
        let cluster = [
            ask(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)?,
            ask(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)?,
            ask(Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)?,
        ];
        Ok((cluster[0] > 0).then(|| cluster.map(|length| length.max(1).cast_unsigned())))
    }

    unsafe fn max_cluster_size(
        driver: &Driver<Self>,
        device: i32,
        function: FunctionHandle,
        config: &RawConfig,
    ) -> Result<c_int> {
        let question = ("cuOccupancyMaxPotentialClusterSize", driver.api.cuOccupancyMaxPotentialClusterSize);
        // SAFETY: the caller guarantees the conditions of `query`.
        unsafe { query(driver, device, question, function, config) }
    }

    unsafe fn active_clusters(
        driver: &Driver<Self>,
        device: i32,
        function: FunctionHandle,
        config: &RawConfig,
    ) -> Result<c_int> {
        let question = ("cuOccupancyMaxActiveClusters", driver.api.cuOccupancyMaxActiveClusters);
        // SAFETY: the caller guarantees the conditions of `query`.
        unsafe { query(driver, device, question, function, config) }
    }
}
