//! Defines the attributes of a launch: clusters of blocks, a start before the end of the previous kernel, a priority,
//! and the cache carveout.
//!
//! [`LaunchAttributes`] are separate from [`LaunchShape`], so that a launch without attributes has no overhead.

use std::ffi::c_void;

use super::{FunctionHandle, LaunchShape, StreamHandle};
use pygpu_base::error::{Error, Result};

/// The way in which the driver distributes the blocks of a cluster over multiprocessors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClusterPolicy {
    /// The blocks are spread over the multiprocessors as far as possible.
    Spread = 1,
    /// The blocks are assigned to the least loaded multiprocessors.
    LoadBalancing = 2,
}

/// Attributes of a launch in addition to its shape. The default sets none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaunchAttributes {
    /// Number of blocks in a cluster along x, y, z; `None` uses the cluster for which the kernel was compiled.
    pub cluster: Option<[u32; 3]>,
    /// Distribution of a cluster's blocks; `None` leaves the choice to the driver.
    pub cluster_policy: Option<ClusterPolicy>,
    /// Whether the kernel may start before the previous kernel on the stream is complete. The started kernel then waits
    /// for the previous one explicitly (programmatic dependent launch).
    pub programmatic: bool,
    /// Priority of the launch, where lower numbers run first; `None` uses the stream's priority.
    pub priority: Option<i32>,
    /// Percentage of the first-level cache to use as shared memory; `None` uses the kernel's setting.
    pub carveout: Option<i32>,
}

impl LaunchAttributes {
    /// Returns the number of blocks in a cluster; 1 without clusters.
    pub fn cluster_size(&self) -> u32 {
        self.cluster.map_or(1, |cluster| cluster.iter().fold(1u32, |product, &length| product.saturating_mul(length)))
    }
}

/// Launches kernels with attributes on one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that the handle belongs to the device
/// and is alive.
pub trait Launches: Send + Sync {
    /// Launches a kernel with attributes, otherwise like [`DeviceCode::launch`](super::Programs::launch). Clusters and
    /// programmatic dependence require a device whose [`LaunchLimits`](super::LaunchLimits) have clusters. A priority
    /// and a carveout are ignored if the driver does not support them.
    ///
    /// # Safety
    /// The conditions of `DeviceCode::launch` apply.
    ///
    /// # Errors
    /// `NotSupported` if the driver has no such call; errors of the driver.
    unsafe fn launch_with(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        attributes: &LaunchAttributes,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()>;

    /// Returns the cluster for which the kernel was compiled (`__cluster_dims__`).
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn required_cluster(&self, _device: i32, _function: FunctionHandle) -> Result<Option<[u32; 3]>> {
        Ok(None)
    }

    /// Returns the maximum number of blocks in a cluster of this kernel.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn max_cluster_size(&self, _device: i32, _function: FunctionHandle, _shape: &LaunchShape) -> Result<u32> {
        Ok(1)
    }

    /// Returns the number of clusters of a kernel that the device can run concurrently.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn active_clusters(
        &self,
        _device: i32,
        _function: FunctionHandle,
        _shape: &LaunchShape,
        _attributes: &LaunchAttributes,
    ) -> Result<u32> {
        Err(no_clusters())
    }
}

/// Returns the error of a backend without clusters.
pub(super) fn no_clusters() -> Error {
    Error::not_supported("the device has no clusters of blocks")
}
