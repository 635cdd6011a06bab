//! Launches with attributes: clusters of blocks, programmatic dependence, priority, cache carveout.
//!
//! Separate from [`LaunchShape`], so that a launch without attributes has no overhead.

use std::ffi::c_void;

use super::{FunctionHandle, LaunchShape, StreamHandle};
use pygpu_base::error::{Error, Result};

/// Distribution of a cluster's blocks over the multiprocessors that they share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClusterPolicy {
    /// As far apart as possible.
    Spread = 1,
    /// On the least loaded multiprocessors.
    LoadBalancing = 2,
}

/// Attributes of a launch in addition to its shape. The default sets none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaunchAttributes {
    /// Blocks of a cluster along x, y, z; `None` uses the cluster that the kernel was compiled for.
    pub cluster: Option<[u32; 3]>,
    /// `None` leaves the choice to the driver.
    pub cluster_policy: Option<ClusterPolicy>,
    /// The kernel may start before the previous one on the stream is complete, and waits for it explicitly.
    pub programmatic: bool,
    /// Lower numbers run first; `None` uses the stream's priority.
    pub priority: Option<i32>,
    /// Percentage of the first-level cache to use as shared memory; `None` uses the kernel's setting.
    pub carveout: Option<i32>,
}

impl LaunchAttributes {
    /// Returns the number of blocks of a cluster; 1 without clusters.
    pub fn cluster_size(&self) -> u32 {
        self.cluster.map_or(1, |cluster| cluster.iter().fold(1u32, |product, &length| product.saturating_mul(length)))
    }
}

/// Launches with attributes on one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that it belongs to the device and is
/// alive.
pub trait Launches: Send + Sync {
    /// Launches with attributes, otherwise like [`Programs::launch`](super::Programs::launch). Clusters and
    /// programmatic dependence require a device whose [`LaunchLimits`](super::LaunchLimits) have clusters. A priority
    /// and a carveout are ignored if not supported.
    ///
    /// # Safety
    /// As for `Programs::launch`.
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

    /// Returns the maximum number of blocks of a cluster for the kernel.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn max_cluster_size(&self, _device: i32, _function: FunctionHandle, _shape: &LaunchShape) -> Result<u32> {
        Ok(1)
    }

    /// Returns the number of clusters that can run at once.
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

/// Error of a backend without clusters.
pub(super) fn no_clusters() -> Error {
    Error::not_supported("the device has no clusters of blocks")
}
