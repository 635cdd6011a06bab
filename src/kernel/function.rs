//! Defines kernels of a loaded module, with their parameters and attributes.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::launch_limits::limits_of;
use super::module::Module;
use super::types::{Parameter, ParameterKind};
use pygpu_backend::{
    DeviceCode, FunctionAttributes, FunctionHandle, FunctionSetting, LaunchLimits, LaunchShape, ParameterPlace,
};
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;

/// Maximum size in bytes of a block's dynamic shared memory, in a kernel without static shared memory, without an
/// opt-in.
const WITHOUT_OPT_IN: u32 = 48 << 10;

/// Upper bound of the cluster size, in blocks, on all devices.
const LARGEST_CLUSTER: u32 = 32;
/// Occupancy of a device's multiprocessors by thread blocks of one size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Occupancy {
    /// Number of blocks that run concurrently on one multiprocessor.
    pub blocks: u32,
    /// Number of warps in these blocks, as a fraction (0 to 1) of the maximum number of warps on a multiprocessor.
    pub fraction: f64,
}

/// Placeholder for the function handle of a template without template arguments, for which no code exists.
const TEMPLATE: FunctionHandle = FunctionHandle(0);

/// A kernel with its parameters, if they are known. Clones refer to the same kernel.
#[derive(Clone)]
pub struct Function(Arc<FunctionInner>);

/// A loaded kernel with its parameters, which are parsed from the source or given by the caller.
struct FunctionInner {
    kernel: Arc<LoadedKernel>,
    signature: Option<Box<[Parameter]>>,
}

struct LoadedKernel {
    module: Module,
    handle: FunctionHandle,
    name: String,
    /// Offsets and sizes of the parameters; `None` if the driver does not report them.
    places: Option<Vec<ParameterPlace>>,
    limits: &'static LaunchLimits,
    /// Limit in bytes of the dynamic shared memory, as the program has set it for this kernel; 0 if it was not set.
    allowed_shared: AtomicU32,
    /// Maximum number of threads per block; queried on first use.
    threads: OnceLock<u32>,
    /// The cluster shape for which the kernel was compiled; queried on first use.
    cluster: OnceLock<Option<[u32; 3]>>,
    large_clusters: AtomicBool,
}

/// Returns the size of a parameter in bytes; `None` if unknown.
fn bytes_of(kind: ParameterKind) -> Option<usize> {
    match kind {
        ParameterKind::Pointer { .. } => Some(size_of::<usize>()),
        ParameterKind::Scalar(kind) => Some(DType::new(kind).itemsize()),
        ParameterKind::Bytes(bytes) => Some(bytes),
        ParameterKind::Unknown => None,
    }
}

/// Returns the parameters parsed from the source, as far as their number and sizes agree with those that the driver
/// reports. The parser may be wrong, because it has no preprocessor. If a parsed type has another size than the driver
/// reports, the parameter keeps only the reported size.
fn believed(declared: Option<Vec<Parameter>>, places: Option<&[ParameterPlace]>) -> Option<Box<[Parameter]>> {
    let Some(places) = places else { return declared.map(Box::from) };
    let agrees = |parameter: &Parameter, place: &ParameterPlace| {
        bytes_of(parameter.kind).is_none_or(|bytes| bytes == place.size)
    };
    let parameters = match declared {
        Some(declared) if declared.len() == places.len() => declared,
        _ => places.iter().map(|_| Parameter::unnamed("", ParameterKind::Unknown)).collect(),
    };
    let checked = parameters.into_iter().zip(places).map(|(mut parameter, place)| {
        if !agrees(&parameter, place) || parameter.kind == ParameterKind::Unknown {
            parameter.kind = ParameterKind::Bytes(place.size);
        }
        parameter
    });
    Some(checked.collect())
}

impl Module {
    /// Returns the kernel with the name `name`, which is its name in the source or its mangled name in the image.
    ///
    /// # Errors
    /// `ValueError` with the names of the existing kernels; driver errors.
    pub fn function(&self, name: &str) -> Result<Function> {
        self.check_alive()?;
        let handle = self.handle_of(name)?;
        Function::new(self.clone(), handle, name.to_owned(), self.declared(name))
    }
}

impl Function {
    /// Creates a kernel. `declared` are the parameters parsed from the source.
    ///
    /// # Errors
    /// Driver errors.
    fn new(module: Module, handle: FunctionHandle, name: String, declared: Option<Vec<Parameter>>) -> Result<Self> {
        let device = module.device();
        // SAFETY: the function belongs to the module, which `module` keeps alive.
        let places = unsafe { module.device_code().parameters(device.index(), handle) }?;
        let signature = believed(declared, places.as_deref());
        let limits = limits_of(device)?;
        let allowed_shared = AtomicU32::new(0);
        let (threads, cluster) = (OnceLock::new(), OnceLock::new());
        let large_clusters = AtomicBool::new(false);
        let kernel =
            LoadedKernel { module, handle, name, places, limits, allowed_shared, threads, cluster, large_clusters };
        Ok(Self(Arc::new(FunctionInner { kernel: Arc::new(kernel), signature })))
    }

    /// Creates a template without template arguments. The template has no code and cannot be launched, but its
    /// instances can.
    pub fn of_template(module: Module, name: String) -> Self {
        static NOTHING: LaunchLimits = LaunchLimits::NOTHING;
        let kernel = LoadedKernel {
            module,
            handle: TEMPLATE,
            name,
            places: None,
            limits: &NOTHING,
            allowed_shared: AtomicU32::new(0),
            threads: OnceLock::new(),
            cluster: OnceLock::new(),
            large_clusters: AtomicBool::new(false),
        };
        Self(Arc::new(FunctionInner { kernel: Arc::new(kernel), signature: None }))
    }

    /// Checks that the kernel can be launched.
    ///
    /// # Errors
    /// `ValueError` for a template, and after a device reset.
    pub fn check_launchable(&self) -> Result<()> {
        if self.is_template() { Err(self.is_no_instance()) } else { self.0.kernel.module.check_alive() }
    }

    /// Returns whether this kernel is a template without template arguments, for which no code exists.
    #[inline]
    pub fn is_template(&self) -> bool {
        self.0.kernel.handle == TEMPLATE
    }

    #[cold]
    pub(super) fn is_no_instance(&self) -> Error {
        let name = self.name();
        Error::value(format!(
            "{name} is a template, of which an instance is launched: kernel['{name}<float>'] or kernel.template(np.float32)"
        ))
    }

    /// Returns the kernel's name in the source.
    pub fn name(&self) -> &str {
        &self.0.kernel.name
    }

    /// Returns the module that contains the kernel.
    pub fn module(&self) -> &Module {
        &self.0.kernel.module
    }

    /// Returns the device of the kernel's module.
    #[inline]
    pub fn device(&self) -> Device {
        self.0.kernel.module.device()
    }

    /// Returns the driver's handle of the kernel.
    #[inline]
    pub fn handle(&self) -> FunctionHandle {
        self.0.kernel.handle
    }

    /// Returns the backend interface that launches the kernel.
    #[inline]
    pub(super) fn device_code(&self) -> &'static dyn DeviceCode {
        self.0.kernel.module.device_code()
    }

    /// Returns the launch limits of the kernel's device.
    #[inline]
    pub(super) fn limits(&self) -> &'static LaunchLimits {
        self.0.kernel.limits
    }

    /// Returns the kernel's parameters, if their number is known.
    #[inline]
    pub fn parameters(&self) -> Option<&[Parameter]> {
        self.0.signature.as_deref()
    }

    /// Returns the same kernel, with parameters given by the caller.
    ///
    /// # Errors
    /// `TypeError` if the driver reports different parameters.
    pub fn with_parameters(&self, parameters: Vec<Parameter>) -> Result<Self> {
        if let Some(places) = &self.0.kernel.places {
            if places.len() != parameters.len() {
                return Err(Error::type_error(format!(
                    "{}: {} types were given, and the kernel has {} parameters",
                    self.name(),
                    parameters.len(),
                    places.len()
                )));
            }
            for (position, (parameter, place)) in parameters.iter().zip(places).enumerate() {
                if bytes_of(parameter.kind).is_some_and(|bytes| bytes != place.size) {
                    return Err(Error::type_error(format!(
                        "{}: parameter {} has {} bytes, and '{parameter}' has {}",
                        self.name(),
                        position + 1,
                        place.size,
                        bytes_of(parameter.kind).unwrap_or(0)
                    )));
                }
            }
        }
        Ok(Self(Arc::new(FunctionInner { kernel: Arc::clone(&self.0.kernel), signature: Some(parameters.into()) })))
    }

    /// Returns the attributes of the compiled kernel.
    ///
    /// # Errors
    /// Driver errors.
    pub fn attributes(&self) -> Result<FunctionAttributes> {
        self.check_launchable()?;
        // SAFETY: `self` keeps the module alive, and with it the function.
        unsafe { self.device_code().function_attributes(self.device().index(), self.handle()) }
    }

    /// Changes a setting of the kernel.
    ///
    /// # Errors
    /// Driver errors.
    pub fn set(&self, setting: FunctionSetting) -> Result<()> {
        self.check_launchable()?;
        // SAFETY: `self` keeps the module alive, and with it the function.
        unsafe { self.device_code().set_function(self.device().index(), self.handle(), setting) }?;
        if let FunctionSetting::MaxDynamicSharedBytes(bytes) = setting {
            self.0.kernel.allowed_shared.store(bytes.max(0) as u32, Ordering::Relaxed);
        }
        if let FunctionSetting::NonPortableClusters(allowed) = setting {
            self.0.kernel.large_clusters.store(allowed, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns how many blocks of the kernel run concurrently on one multiprocessor, for blocks of `threads` threads
    /// and `shared` bytes of dynamic shared memory.
    ///
    /// # Errors
    /// Driver errors.
    pub fn active_blocks(&self, threads: u32, shared: u32) -> Result<u32> {
        self.check_launchable()?;
        // SAFETY: `self` keeps the module alive, and with it the function.
        unsafe { self.device_code().active_blocks(self.device().index(), self.handle(), threads, shared) }
    }

    /// Returns the occupancy of the device by blocks of `threads` threads with `shared` bytes of dynamic shared memory.
    ///
    /// # Errors
    /// Driver errors.
    pub fn occupancy(&self, threads: u32, shared: u32) -> Result<Occupancy> {
        // The driver reports an occupancy even for blocks that are larger than the kernel allows, so the maximum is
        // checked first.
        let blocks = if threads > self.max_threads()? { 0 } else { self.active_blocks(threads, shared)? };
        let warp = self.device().properties()?.warp_size.max(1).cast_unsigned();
        let most = f64::from(self.limits().threads_per_multiprocessor.max(1));
        let used = f64::from(blocks) * f64::from(threads.next_multiple_of(warp));
        Ok(Occupancy { blocks, fraction: used / most })
    }

    /// Returns the smallest grid that fills the device, and the block size with the best occupancy. `limit` is the
    /// largest block size to consider; 0 is no limit.
    ///
    /// # Errors
    /// Driver errors.
    pub fn suggested_shape(&self, shared: u32, limit: u32) -> Result<(u32, u32)> {
        self.check_launchable()?;
        // SAFETY: `self` keeps the module alive, and with it the function.
        unsafe { self.device_code().suggested_shape(self.device().index(), self.handle(), shared, limit) }
    }

    /// Returns whether the program has allowed the kernel to use clusters of more than `PORTABLE` blocks.
    pub fn allows_large_clusters(&self) -> bool {
        self.0.kernel.large_clusters.load(Ordering::Relaxed)
    }

    /// Returns the cluster shape for which the kernel was compiled (`__cluster_dims__`).
    ///
    /// # Errors
    /// Driver errors.
    pub fn required_cluster(&self) -> Result<Option<[u32; 3]>> {
        if let Some(cluster) = self.0.kernel.cluster.get() {
            return Ok(*cluster);
        }
        self.0.kernel.module.check_alive()?;
        // SAFETY: `self` keeps the module alive, and with it the function.
        let cluster = unsafe { self.device_code().required_cluster(self.device().index(), self.handle()) }?;
        Ok(*self.0.kernel.cluster.get_or_init(|| cluster))
    }

    /// Returns the maximum number of blocks in a cluster for blocks of shape `block`; 1 on a device without clusters.
    ///
    /// # Errors
    /// `ValueError` if `shared` exceeds the device's shared memory; driver errors.
    pub fn max_cluster_size(&self, block: [u32; 3], shared: u32) -> Result<u32> {
        self.0.kernel.module.check_alive()?;
        if !self.limits().clusters {
            return Ok(1);
        }
        self.allow_shared(shared)?;
        // The driver's query requires a grid that is at least as large as the largest cluster.
        let shape = LaunchShape { grid: [LARGEST_CLUSTER, 1, 1], block, shared, cooperative: false };
        // SAFETY: `self` keeps the module alive, and with it the function.
        unsafe { self.device_code().max_cluster_size(self.device().index(), self.handle(), &shape) }
    }

    /// Returns the maximum number of threads per block.
    ///
    /// # Errors
    /// Driver errors.
    #[inline]
    pub(super) fn max_threads(&self) -> Result<u32> {
        match self.0.kernel.threads.get() {
            Some(threads) => Ok(*threads),
            None => {
                let threads = self.attributes()?.max_threads_per_block.max(0) as u32;
                Ok(*self.0.kernel.threads.get_or_init(|| threads))
            }
        }
    }

    /// Raises the kernel's limit of dynamic shared memory to at least `bytes` bytes, if it is lower.
    ///
    /// # Errors
    /// `ValueError` if the device has less shared memory; driver errors.
    #[inline]
    pub(super) fn allow_shared(&self, bytes: u32) -> Result<()> {
        if bytes <= self.0.kernel.allowed_shared.load(Ordering::Relaxed) { Ok(()) } else { self.raise_shared(bytes) }
    }

    #[cold]
    fn raise_shared(&self, bytes: u32) -> Result<()> {
        let known = self.attributes()?;
        let fixed = known.static_shared_bytes.max(0) as u32;
        let limits = self.limits();
        let most = limits.shared_per_block_optin.max(limits.shared_per_block).saturating_sub(fixed);
        if bytes > most {
            return Err(Error::value(format!(
                "{}: {bytes} bytes of dynamic shared memory were asked for; a block on {} has {} bytes, of which the \
                 kernel's static arrays take {fixed}",
                self.name(),
                self.device(),
                limits.shared_per_block_optin.max(limits.shared_per_block)
            )));
        }
        let allowed = known.max_dynamic_shared_bytes.max(0) as u32;
        if bytes <= allowed.max(WITHOUT_OPT_IN.min(limits.shared_per_block).saturating_sub(fixed)) {
            self.0.kernel.allowed_shared.store(bytes.max(allowed), Ordering::Relaxed);
            return Ok(());
        }
        self.set(FunctionSetting::MaxDynamicSharedBytes(bytes as i32))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use pygpu_base::dtype::ScalarType;

    fn places(sizes: &[usize]) -> Vec<ParameterPlace> {
        sizes.iter().map(|&size| ParameterPlace { offset: 0, size }).collect()
    }

    #[test]
    fn declaration_is_used_as_far_as_driver_sizes_agree() {
        let scalar = |kind| Parameter::unnamed("t", ParameterKind::Scalar(kind));
        let declared = vec![
            scalar(ScalarType::Float32),
            scalar(ScalarType::Int32),
            Parameter::unnamed("P", ParameterKind::Unknown),
        ];
        let kinds =
            |found: Option<Box<[Parameter]>>| found.map(|list| list.iter().map(|one| one.kind).collect::<Vec<_>>());
        let found = kinds(believed(Some(declared.clone()), Some(&places(&[4, 8, 24])))).unwrap();
        let expected = [ParameterKind::Scalar(ScalarType::Float32), ParameterKind::Bytes(8), ParameterKind::Bytes(24)];
        assert_eq!(found, expected);
        let found = kinds(believed(Some(declared), Some(&places(&[8])))).unwrap();
        assert_eq!(found, [ParameterKind::Bytes(8)]);
        assert_eq!(kinds(believed(None, None)), None);
    }
}
