//! Defines the launch configuration: the shape of a launch and its optional attributes, with checks that the device
//! supports them.

use std::ffi::c_void;

use super::function::Function;
use pygpu_backend::{
    COOPERATIVE_TOO_LARGE, INVALID_CLUSTER, INVALID_VALUE, LaunchAttributes, LaunchShape, OUT_OF_RESOURCES,
};
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_layout::tuple_text;

/// Number of blocks in the largest cluster that every device with clusters supports.
const PORTABLE: u32 = 8;

/// The shape and the attributes of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchConfig {
    /// The shape of the launch.
    pub shape: LaunchShape,
    /// The attributes of the launch.
    pub attributes: LaunchAttributes,
}

/// Configuration of a launch. A [`LaunchShape`] alone is a configuration without attributes, so its check does nothing.
pub trait Configuration: Sync {
    /// Returns the shape of the launch.
    fn shape(&self) -> &LaunchShape;
    /// Checks the attributes against the device and the kernel.
    ///
    /// # Errors
    /// `ValueError` or `NotSupported` with the requested and the supported value.
    fn check(&self, function: &Function) -> Result<()>;
    /// Enqueues the kernel on the stream.
    ///
    /// # Safety
    /// The conditions of [`DeviceCode::launch`](pygpu_backend::Programs::launch) apply.
    /// Function and stream must belong to one device.
    unsafe fn launch(&self, function: &Function, stream: &Stream, arguments: *mut *mut c_void) -> Result<()>;
}

impl Configuration for LaunchShape {
    #[inline]
    fn shape(&self) -> &LaunchShape {
        self
    }

    #[inline]
    fn check(&self, _: &Function) -> Result<()> {
        Ok(())
    }

    #[inline]
    unsafe fn launch(&self, function: &Function, stream: &Stream, arguments: *mut *mut c_void) -> Result<()> {
        let (device_code, index) = (function.device_code(), function.device().index());
        // SAFETY: the caller guarantees a valid function, stream and arguments, as `DeviceCode::launch` requires.
        let launched = unsafe { device_code.launch(index, function.handle(), self, stream.handle(), arguments) };
        launched.map_err(|error| explained(function, self, &LaunchAttributes::default(), error))
    }
}

impl Configuration for LaunchConfig {
    fn shape(&self) -> &LaunchShape {
        &self.shape
    }

    fn check(&self, function: &Function) -> Result<()> {
        let attributes = &self.attributes;
        if attributes.carveout.is_some_and(|percent| !(-1..=100).contains(&percent)) {
            let percent = attributes.carveout.unwrap_or_default();
            let name = function.name();
            return Err(Error::value(format!(
                "{name}: preferred_shared_memory_carveout is a percentage, 0 to 100, or -1 for the driver's choice, not {percent}"
            )));
        }
        match attributes.cluster {
            Some(cluster) if cluster.contains(&0) => Err(Error::value(format!(
                "{}: the cluster {} has no blocks; each length is 1 or more",
                function.name(),
                tuple_text(cluster)
            ))),
            Some(_) if !function.limits().clusters => {
                if attributes.cluster_size() == 1 {
                    Ok(())
                } else {
                    Err(no_clusters(function, attributes))
                }
            }
            None if !function.limits().clusters => Ok(()),
            cluster => check_cluster(function, &self.shape, cluster),
        }
    }

    unsafe fn launch(&self, function: &Function, stream: &Stream, arguments: *mut *mut c_void) -> Result<()> {
        let (device_code, index) = (function.device_code(), function.device().index());
        let attributes = self.attributes_on(function);
        let (shape, handle) = (&self.shape, function.handle());
        // SAFETY: the caller guarantees a valid function, stream and arguments, as `DeviceCode::launch` requires.
        let launched =
            unsafe { device_code.launch_with(index, handle, shape, &attributes, stream.handle(), arguments) };
        launched.map_err(|error| explained(function, &self.shape, &attributes, error))
    }
}

impl LaunchConfig {
    /// Returns the requested attributes that have an effect on the kernel's device.
    pub(super) fn attributes_on(&self, function: &Function) -> LaunchAttributes {
        match function.limits().clusters {
            true => self.attributes,
            false => LaunchAttributes { cluster: None, cluster_policy: None, programmatic: false, ..self.attributes },
        }
    }
}

fn check_cluster(function: &Function, shape: &LaunchShape, requested: Option<[u32; 3]>) -> Result<()> {
    let required = function.required_cluster()?;
    let name = function.name();
    if let (Some(required), Some(requested)) = (required, requested)
        && required != requested
    {
        return Err(Error::value(format!(
            "{name}: clusters of {} blocks were asked for, and the kernel was compiled for clusters of {} (__cluster_dims__)",
            tuple_text(requested),
            tuple_text(required)
        )));
    }
    let Some(cluster) = requested.or(required) else { return Ok(()) };
    if let Some(error) = uneven(function, shape, cluster) {
        return Err(error);
    }
    let size = cluster.iter().fold(1u32, |product, &length| product.saturating_mul(length));
    if size > PORTABLE && !function.allows_large_clusters() {
        return Err(Error::value(format!(
            "{name}: the cluster {} has {size} blocks, and {PORTABLE} is what every device with clusters takes; set \
             kernel.non_portable_cluster_size_allowed = True for as many as {} has",
            tuple_text(cluster),
            function.device()
        )));
    }
    Ok(())
}

/// Returns the error for a grid whose size is not a multiple of the cluster's size; `None` if the grid's size is a
/// multiple.
fn uneven(function: &Function, shape: &LaunchShape, cluster: [u32; 3]) -> Option<Error> {
    let axis = (0..3).find(|&axis| !shape.grid[axis].is_multiple_of(cluster[axis]))?;
    Some(Error::value(format!(
        "{}: the grid {} has {} blocks along {}, which is no multiple of the {} of the cluster {}",
        function.name(),
        tuple_text(shape.grid),
        shape.grid[axis],
        ["x", "y", "z"][axis],
        cluster[axis],
        tuple_text(cluster)
    )))
}

#[cold]
fn no_clusters(function: &Function, attributes: &LaunchAttributes) -> Error {
    let cluster = attributes.cluster.unwrap_or([1; 3]);
    Error::not_supported(format!(
        "{}: clusters of {} blocks were asked for, and {} has no clusters: CUDA devices of compute capability 9.0 and newer \
         have them; elsewhere launch without a cluster, or with one of 1 block",
        function.name(),
        tuple_text(cluster),
        function.device()
    ))
}

/// Returns the error of a failed launch: an error that states the exceeded limit if the launch exceeded a limit of the
/// device, otherwise the driver's error.
#[cold]
fn explained(function: &Function, shape: &LaunchShape, attributes: &LaunchAttributes, error: Error) -> Error {
    let reason = match error.code() {
        Some(COOPERATIVE_TOO_LARGE) if shape.cooperative => too_many_blocks(function, shape),
        Some(OUT_OF_RESOURCES) if shape.cooperative && function.device().is_cpu() => {
            Some(too_many_threads(function, shape))
        }
        Some(INVALID_CLUSTER | INVALID_VALUE) => wrong_cluster(function, shape, attributes),
        _ => None,
    };
    reason.unwrap_or(error)
}

fn threads_of(shape: &LaunchShape) -> u32 {
    shape.block.iter().fold(1u32, |product, &length| product.saturating_mul(length))
}

/// Returns the error for a cooperative launch with too many thread blocks on the CPU backend, where each block needs an
/// operating-system thread.
fn too_many_threads(function: &Function, shape: &LaunchShape) -> Error {
    Error::value(format!(
        "{}: the cooperative grid {} has {} blocks, which must all run at once: cpu runs at most 512",
        function.name(),
        tuple_text(shape.grid),
        blocks_of(shape)
    ))
}

fn blocks_of(shape: &LaunchShape) -> u64 {
    shape.grid.iter().fold(1u64, |product, &length| product.saturating_mul(length.into()))
}

/// Returns the error for a cooperative launch with too many thread blocks; `None` if the driver does not report the
/// maximum.
fn too_many_blocks(function: &Function, shape: &LaunchShape) -> Option<Error> {
    let of_one = function.active_blocks(threads_of(shape), shape.shared).ok()?;
    let multiprocessors = function.device().properties().ok()?.multiprocessor_count.max(0).cast_unsigned();
    let blocks = blocks_of(shape);
    Some(Error::value(format!(
        "{}: the cooperative grid {} has {blocks} blocks of {} threads and {} bytes of dynamic shared memory, of which {} run at \
         once on {}: {of_one} on each of {multiprocessors} multiprocessors; all blocks of a cooperative launch must",
        function.name(),
        tuple_text(shape.grid),
        threads_of(shape),
        shape.shared,
        u64::from(of_one) * u64::from(multiprocessors),
        function.device()
    )))
}

/// Returns the error for a cluster that the kernel or the device does not support. Returns `None` if the cluster is not
/// the cause of the failed launch.
fn wrong_cluster(function: &Function, shape: &LaunchShape, attributes: &LaunchAttributes) -> Option<Error> {
    let required = function.required_cluster().ok()?;
    let cluster = attributes.cluster.or(required)?;
    if let Some(error) = uneven(function, shape, cluster) {
        return Some(error);
    }
    let most = function.max_cluster_size(shape.block, shape.shared).ok()?;
    let size = cluster.iter().fold(1u32, |product, &length| product.saturating_mul(length));
    let text = format!(
        "{}: the cluster {} cannot be launched on {}: {most} blocks of {} threads and {} bytes of dynamic shared memory are the \
         most there",
        function.name(),
        tuple_text(cluster),
        function.device(),
        threads_of(shape),
        shape.shared
    );
    (size > most).then(|| Error::value(text))
}
