//! Defines two object-safe traits by which PyGPU loads, launches and compiles device code.
//!
//! [`DeviceCode`] loads and launches device code with a driver. [`Compiler`] compiles source to an image, which
//! [`DeviceCode`] loads; the compilers are NVRTC, hiprtc and the machine's C++ compiler. The caller (the layer
//! `kernel`) determines the parameters of a kernel, validates arguments and orders streams. Addresses and handles are
//! plain numbers, as in [`Backend`](super::Backend). Users write options in nvcc's syntax; the caller parses them, and
//! each compiler translates them to its own syntax.

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use super::file_fingerprint::FileFingerprint;
use super::{Address, Contexts, Launches, StreamHandle};
use pygpu_base::error::{Error, Result};

/// Driver handle of a module, i.e. a loaded image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ModuleHandle(pub usize);

/// Driver handle of a kernel; valid as long as its module is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionHandle(pub usize);

/// Options for the driver's JIT compiler when an image is loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoadOptions {
    /// Maximum number of registers per thread; `None` leaves the limit to the driver.
    pub max_registers: Option<u32>,
    /// Whether to generate debugging information.
    pub debug: bool,
    /// Whether to generate line numbers.
    pub line_info: bool,
}

/// A loaded module, with the driver's messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// Handle of the module.
    pub module: ModuleHandle,
    /// The driver's messages about loading; empty if there are none.
    pub log: String,
}

/// Attributes of a kernel. An attribute that the driver does not report is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FunctionAttributes {
    /// Maximum number of threads in a block of a launch.
    pub max_threads_per_block: i32,
    /// Size of the static shared memory in bytes.
    pub static_shared_bytes: i32,
    /// Size of the constant memory in bytes.
    pub constant_bytes: i32,
    /// Size of the local memory per thread in bytes.
    pub local_bytes: i32,
    /// Number of registers per thread.
    pub registers: i32,
    /// PTX version for which the kernel was compiled, times 10: 90 means version 9.0.
    pub ptx_version: i32,
    /// Number of the architecture for which the kernel was compiled: 90 means `sm_90`.
    pub binary_version: i32,
    /// Current maximum of dynamic shared memory per launch, in bytes.
    pub max_dynamic_shared_bytes: i32,
    /// Preferred percentage of the first-level cache used as shared memory; -1 leaves the choice to the driver.
    pub preferred_carveout: i32,
}

/// Settings that can be changed for each kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionSetting {
    /// Maximum of dynamic shared memory per launch, in bytes.
    MaxDynamicSharedBytes(i32),
    /// Preferred percentage of the first-level cache used as shared memory; -1 leaves the choice to the driver.
    PreferredCarveout(i32),
    /// Preference between first-level cache and shared memory: 0 for no preference, 1 for more shared memory, 2 for
    /// more cache, 3 for equal sizes.
    CachePreference(i32),
    /// Whether the kernel may use clusters with more blocks than every device with clusters supports.
    NonPortableClusters(bool),
}

/// Offset and size of a parameter in a kernel's argument buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterPlace {
    /// Offset of the parameter in bytes.
    pub offset: usize,
    /// Size of the parameter in bytes.
    pub size: usize,
}

/// Shape of a launch: the sizes of grid, block and dynamic shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchShape {
    /// Number of blocks along x, y, z; all nonzero.
    pub grid: [u32; 3],
    /// Number of threads in a block along x, y, z; all nonzero.
    pub block: [u32; 3],
    /// Size of the dynamic shared memory per block in bytes.
    pub shared: u32,
    /// Whether all blocks run concurrently, so that they may wait for each other.
    pub cooperative: bool,
}

/// Maximum shapes of launches on a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchLimits {
    /// Maximum number of threads in a block.
    pub threads_per_block: u32,
    /// Maximum number of threads in a block along x, y, z.
    pub block: [u32; 3],
    /// Maximum number of blocks in a grid along x, y, z.
    pub grid: [u32; 3],
    /// Size in bytes of the shared memory that every kernel may use per block.
    pub shared_per_block: u32,
    /// Size in bytes of the shared memory per block for a kernel that opts in with `MaxDynamicSharedBytes`.
    pub shared_per_block_optin: u32,
    /// Whether the device supports cooperative launches.
    pub cooperative: bool,
    /// Whether the device supports clusters of blocks.
    pub clusters: bool,
    /// Maximum number of threads that are resident on a multiprocessor.
    pub threads_per_multiprocessor: u32,
}

impl LaunchLimits {
    /// Limits of a device that cannot launch kernels.
    pub const NOTHING: Self = Self {
        threads_per_block: 0,
        block: [0; 3],
        grid: [0; 3],
        shared_per_block: 0,
        shared_per_block_optin: 0,
        cooperative: false,
        clusters: false,
        threads_per_multiprocessor: 0,
    };
}

/// One of the inputs that a linker combines.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// Format of the input.
    pub kind: LinkKind,
    /// Bytes of the input.
    pub data: &'a [u8],
    /// Name of the input in messages.
    pub name: &'a CStr,
}

/// Formats of a linker's inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// A cubin, which is device code for one architecture.
    Cubin,
    /// PTX text, which the driver's JIT compiler translates.
    Ptx,
    /// Container with several cubins or PTX texts.
    Fatbinary,
    /// Host object file that contains device code.
    Object,
    /// Archive of object files with device code.
    Library,
}

/// Loads, queries and launches device code on the devices of one backend.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that the handle belongs to the device
/// and is alive.
pub trait DeviceCode: Contexts + Launches {
    /// Loads an image as a module. An image is the output of the backend's [`Compiler`], or has a format that the
    /// driver accepts (cubin, PTX, fatbin; a HIP code object; a shared library on the CPU). The caller may drop the
    /// image's bytes after the call.
    ///
    /// # Errors
    /// The driver's error with its log; `ValueError` for an invalid image.
    fn load(&self, device: i32, image: &[u8], options: &LoadOptions) -> Result<Loaded>;
    /// Unloads a module with its functions and globals.
    ///
    /// # Safety
    /// The module is alive; none of its kernels is running, and none of its handles is used again.
    unsafe fn unload(&self, device: i32, module: ModuleHandle) -> Result<()>;
    /// Returns a kernel of a module, by its (mangled) name in the image.
    ///
    /// # Safety
    /// The module is alive.
    ///
    /// # Errors
    /// The driver's code 500 ("not found") if there is no such kernel.
    unsafe fn function(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<FunctionHandle>;
    /// Returns address and size of a global variable of a module, by its name in the image.
    ///
    /// # Safety
    /// The module is alive.
    ///
    /// # Errors
    /// The driver's code 500 if there is no such variable.
    unsafe fn global(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<(Address, usize)>;

    /// Returns the names of a module's kernels. Returns `None` if the driver does not report names. In this case the
    /// caller must read the names from the image.
    ///
    /// # Safety
    /// The module is alive.
    unsafe fn names(&self, _device: i32, _module: ModuleHandle) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Returns the attributes of a kernel.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn function_attributes(&self, device: i32, function: FunctionHandle) -> Result<FunctionAttributes>;
    /// Changes a setting of a kernel.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn set_function(&self, device: i32, function: FunctionHandle, setting: FunctionSetting) -> Result<()>;
    /// Returns offset and size of each parameter of a kernel, in order; `None` if the driver does not report them.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn parameters(&self, device: i32, function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>>;
    /// Returns how many blocks of a kernel one multiprocessor runs concurrently, if each block has `threads` threads
    /// and `shared` bytes of dynamic shared memory.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn active_blocks(&self, device: i32, function: FunctionHandle, threads: u32, shared: u32) -> Result<u32>;
    /// Returns the minimum number of blocks that fills the device, and the block size with the best occupancy. `limit`
    /// is the maximum block size, or 0 for no limit.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn suggested_shape(
        &self,
        device: i32,
        function: FunctionHandle,
        shared: u32,
        limit: u32,
    ) -> Result<(u32, u32)>;

    /// Enqueues a kernel on a stream. `arguments` points to one pointer per parameter, each to the parameter's value.
    /// Neither the pointers nor the values are needed after the call. On the CPU the kernel is complete when the call
    /// returns.
    ///
    /// # Safety
    /// Function and stream are alive. There is one pointer per parameter, and each points to as many bytes as its
    /// parameter has. The caller is responsible for the kernel's memory accesses until the stream has completed the
    /// launch.
    unsafe fn launch(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()>;

    /// Returns the maximum shapes of launches on a device.
    fn launch_limits(&self, device: i32) -> Result<LaunchLimits>;
    /// Returns a device attribute by the driver's number.
    fn device_attribute(&self, device: i32, number: i32) -> Result<i32>;
    /// Links separately compiled device code into one image.
    ///
    /// # Errors
    /// The driver's error with the linker's log.
    fn link(&self, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
        let _ = (device, inputs, options);
        Err(links_nothing())
    }
    /// Returns a text that identifies the compiler that `compiler` would return. Returns `None` if only an opened
    /// compiler can be identified. The text is part of a cached image's key. To determine the text, this function does
    /// not open the compiler, because opening takes longer than loading the image from the cache.
    fn compiler_identity(&self, hints: &[PathBuf]) -> Option<String> {
        let _ = hints;
        None
    }
    /// Returns the compiler for the backend's devices. The first call that finds the compiler opens it. `hints` are
    /// files to try first. A failure is not cached, so a compiler installed later is found without a restart of the
    /// process.
    ///
    /// # Errors
    /// `Unavailable` with all names that were tried and the package to install.
    fn compiler(&self, hints: &[PathBuf]) -> Result<&dyn Compiler>;
}

/// A compiler option that PyGPU translates to the syntax of each compiler.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CompileOption {
    /// Defines a macro: `-D name` or `-D name=value`.
    Define(String, Option<String>),
    /// Undefines a macro: `-U name`.
    Undefine(String),
    /// Adds a folder for header files: `-I folder`.
    Include(String),
    /// Includes a file before the source: `-include file`.
    ForceInclude(String),
    /// Language version: the text after `-std=`, such as `c++17`.
    Standard(String),
    /// Allows fast, less accurate mathematics.
    FastMath,
    /// Whether a product and a sum may be contracted to one operation.
    FusedMultiplyAdd(bool),
    /// Optimisation level: `-O0` to `-O3`.
    Optimize(u8),
    /// Generates debugging information for device code: `-G`.
    Debug,
    /// Generates line numbers for device code: `-lineinfo`.
    LineInfo,
    /// Limits the registers per thread.
    MaxRegisters(u32),
    /// Disables warnings.
    NoWarnings,
    /// Writes the resource usage of each kernel to the log (`-Xptxas -v`).
    Verbose,
    /// Whether to generate relocatable code for a linker (`-rdc=true` or `-dc`).
    Relocatable(bool),
    /// An option in the compiler's own syntax, which is passed to it unchanged.
    Own(String),
}

/// Prefixes of nvcc options that only control the generation of device code.
const OF_NVCC: [&str; 22] = [
    "-ftz",
    "-prec-div",
    "-prec-sqrt",
    "-restrict",
    "-expt-relaxed-constexpr",
    "-expt-extended-lambda",
    "-extended-lambda",
    "-default-stream",
    "-ptxas-options",
    "-extra-device-vectorization",
    "-dlink-time-opt",
    "-dlto",
    "-resource-usage",
    "-res-usage",
    "-source-in-ptx",
    "-src-in-ptx",
    "-device-int128",
    "-Xcudafe",
    "-diag-",
    "-display-error-number",
    "-threads",
    "-default-device",
];

impl CompileOption {
    /// Returns whether the option only controls how nvcc generates device code. Other compilers may ignore such an
    /// option, because no program relies on its effect.
    pub fn is_of_nvcc(&self) -> bool {
        let Self::Own(text) = self else { return false };
        let text = text.strip_prefix('-').filter(|text| text.starts_with('-')).unwrap_or(text);
        OF_NVCC.iter().any(|word| text.starts_with(word))
    }
}

/// Source to compile, with options.
#[derive(Clone, Copy, Debug)]
pub struct CompileRequest<'a> {
    /// The source as the user wrote it. A compiler that adds text before the source restores line numbers with `#line`.
    pub source: &'a str,
    /// Name of the source in messages.
    pub name: &'a str,
    /// Name of the architecture, such as `sm_90`, `compute_90` or `gfx90a`. On the CPU it is the host's architecture.
    pub architecture: &'a str,
    /// The compiler options.
    pub options: &'a [CompileOption],
    /// Names of kernels as written in the source (`scale<float>`), for which the names in the image are requested.
    pub expressions: &'a [String],
}

/// Result of a compilation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compiled {
    /// The compiled image, which [`DeviceCode::load`] loads.
    pub image: Vec<u8>,
    /// The compiler's warnings and remarks; empty if there are none.
    pub log: String,
    /// For each kernel name in the request's `expressions`, the kernel's name in the image.
    pub lowered: Vec<String>,
    /// Files from which the image was compiled, except the source, and paths at which a new file would take precedence
    /// over one of these files. `None` if these files cannot be determined, so that the image must not be cached.
    pub read: Option<Vec<FileFingerprint>>,
}

/// Compiler of device code.
pub trait Compiler: Send + Sync {
    /// Returns the compiler's name: `nvrtc`, `hiprtc`, `nvcc`, `hipcc`, `g++` ...
    fn name(&self) -> &str;
    /// Returns the compiler's version in one line. The name and the version are part of the cache key.
    fn version(&self) -> &str;
    /// Returns the path of the compiler library or program.
    fn path(&self) -> &str;
    /// Translates the options to the compiler's syntax, for the cache key and for messages.
    ///
    /// # Errors
    /// `ValueError` or `NotSupported` that names an unsupported option.
    fn spell(&self, request: &CompileRequest<'_>) -> Result<Vec<String>>;
    /// Compiles a source to an image.
    ///
    /// # Errors
    /// [`Error::Compile`] with the log, for a source that does not compile; otherwise errors of the compiler.
    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled>;
}

/// Returns the error of a backend without a linker.
pub(super) fn links_nothing() -> Error {
    Error::not_supported("this backend links no device code: put all of it into one source")
}

/// Returns the error of a backend that cannot load kernels.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("kernels are not supported by the {backend} backend"))
}
