//! Launches with attributes: clusters of blocks, programmatic dependence, priority, the division of the first-level cache.
//!
//! Apart from [`LaunchShape`], so that a launch without attributes is made as if there were none.

use std::ffi::c_void;

use super::{FunctionHandle, LaunchShape, StreamHandle};
use pygpu_base::error::{Error, Result};

/// How the blocks of a cluster are spread over the multiprocessors that they share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClusterPolicy {
    /// As far from each other as can be.
    Spread = 1,
    /// Where there is least to do.
    LoadBalancing = 2,
}

/// What a launch may say beside its shape. The default says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LaunchAttributes {
    /// Blocks of a cluster along x, y, z; `None` is what the kernel was compiled for.
    pub cluster: Option<[u32; 3]>,
    /// `None` is the driver's choice.
    pub cluster_policy: Option<ClusterPolicy>,
    /// The kernel may begin before the one in front of it on the stream has ended, and waits for it by itself.
    pub programmatic: bool,
    /// Lower numbers run first; `None` is the stream's.
    pub priority: Option<i32>,
    /// Percentage of the first-level cache that is wanted as shared memory; `None` is the kernel's.
    pub carveout: Option<i32>,
}

impl LaunchAttributes {
    /// Blocks of a cluster; 1 without clusters.
    pub fn cluster_size(&self) -> u32 {
        self.cluster.map_or(1, |cluster| cluster.iter().fold(1u32, |product, &length| product.saturating_mul(length)))
    }
}

/// Launches with attributes on one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes a handle promises that it belongs to the device and is alive.
pub trait Launches: Send + Sync {
    /// As [`Programs::launch`](super::Programs::launch), with attributes; clusters and programmatic dependence only on a device
    /// whose [`LaunchLimits`](super::LaunchLimits) have clusters. A priority and a division of the cache are passed over where
    /// there is none.
    ///
    /// # Safety
    /// As there.
    ///
    /// # Errors
    /// `NotSupported` where the driver has no such call; the driver's.
    unsafe fn launch_with(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        attributes: &LaunchAttributes,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()>;

    /// The cluster for which the kernel was compiled (`__cluster_dims__`).
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn required_cluster(&self, _device: i32, _function: FunctionHandle) -> Result<Option<[u32; 3]>> {
        Ok(None)
    }

    /// Most blocks of a cluster that the kernel can be launched in.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn max_cluster_size(&self, _device: i32, _function: FunctionHandle, _shape: &LaunchShape) -> Result<u32> {
        Ok(1)
    }

    /// Clusters that run at once.
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

/// What a backend answers that has no clusters.
pub(super) fn no_clusters() -> Error {
    Error::not_supported("the device has no clusters of blocks")
}
