//! Device code: loading, launching and compiling it, as two object-safe traits.
//!
//! [`Programs`] is a driver's loader and launcher; [`Compiler`] turns source into an image that it loads: NVRTC,
//! hiprtc, or the machine's C++ compiler. The parameters of a kernel, the validation of arguments and the order of
//! streams are handled by the caller (`kernel`); everything here is raw, as in [`Backend`](super::Backend). Users
//! write options once, in nvcc's syntax; they arrive here parsed, and each compiler translates them.

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use super::file_fingerprint::FileFingerprint;
use super::{Address, Contexts, Launches, StreamHandle};
use pygpu_base::error::{Error, Result};

/// Driver handle of a loaded image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ModuleHandle(pub usize);

/// Driver handle of a kernel; valid as long as its image is loaded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionHandle(pub usize);

/// Options for the driver's JIT compiler while an image is loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoadOptions {
    /// Maximum registers per thread; `None` leaves it to the driver.
    pub max_registers: Option<u32>,
    /// Whether to generate debugging information.
    pub debug: bool,
    /// Whether to generate line numbers.
    pub line_info: bool,
}

/// Loaded image with the driver's messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// Handle of the module.
    pub module: ModuleHandle,
    /// The driver's messages; empty if there are none.
    pub log: String,
}

/// Attributes of a kernel; 0 if the driver does not report one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FunctionAttributes {
    /// Maximum threads per block of a launch.
    pub max_threads_per_block: i32,
    /// Bytes of static shared memory.
    pub static_shared_bytes: i32,
    /// Bytes of constant memory.
    pub constant_bytes: i32,
    /// Bytes of local memory per thread.
    pub local_bytes: i32,
    /// Registers per thread.
    pub registers: i32,
    /// PTX version of its compilation, as 90 for 9.0.
    pub ptx_version: i32,
    /// Architecture of its compilation, as 90 for `sm_90`.
    pub binary_version: i32,
    /// Current limit of dynamic shared memory per launch in bytes.
    pub max_dynamic_shared_bytes: i32,
    /// Preferred percentage of the first-level cache used as shared memory; -1 leaves it to the driver.
    pub preferred_carveout: i32,
}

/// Settings of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionSetting {
    /// Limit of dynamic shared memory per launch in bytes.
    MaxDynamicSharedBytes(i32),
    /// Preferred percentage of the first-level cache used as shared memory; -1 leaves it to the driver.
    PreferredCarveout(i32),
    /// 0 no preference, 1 shared memory, 2 cache, 3 equal.
    CachePreference(i32),
    /// Whether clusters may have more blocks than every device with clusters supports.
    NonPortableClusters(bool),
}

/// Position of a parameter in a kernel's argument buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterPlace {
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchShape {
    /// Blocks along x, y, z; all nonzero.
    pub grid: [u32; 3],
    /// Threads per block along x, y, z; all nonzero.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Whether all blocks run at once and may wait for each other.
    pub cooperative: bool,
}

/// Limits of a device for launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchLimits {
    /// Maximum threads per block.
    pub threads_per_block: u32,
    /// Maximum threads per block along x, y, z.
    pub block: [u32; 3],
    /// Maximum blocks along x, y, z.
    pub grid: [u32; 3],
    /// Bytes of shared memory available to every kernel.
    pub shared_per_block: u32,
    /// Bytes of shared memory available to a kernel that opts in with `MaxDynamicSharedBytes`.
    pub shared_per_block_optin: u32,
    /// Whether cooperative launches are supported.
    pub cooperative: bool,
    /// Whether clusters of blocks are supported.
    pub clusters: bool,
    /// Maximum threads resident on a multiprocessor.
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

/// Input of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// Kind of input.
    pub kind: LinkKind,
    /// Content.
    pub data: &'a [u8],
    /// Name in messages.
    pub name: &'a CStr,
}

/// Kinds of link inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// Device code for one architecture.
    Cubin,
    /// Text for the driver's JIT compiler.
    Ptx,
    /// Container of several cubins or PTX texts.
    Fatbinary,
    /// Host object file that contains device code.
    Object,
    /// Archive of such object files.
    Library,
}

/// Loads, queries and launches device code of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that it belongs to the device and is
/// alive.
pub trait Programs: Contexts + Launches {
    /// Loads an image: the output of the backend's [`Compiler`], or a format that the driver accepts (cubin, PTX,
    /// fatbin; a HIP code object; a shared library on the CPU). The bytes are not needed after the call.
    ///
    /// # Errors
    /// The driver's error with its log; `ValueError` for an invalid image.
    fn load(&self, device: i32, image: &[u8], options: &LoadOptions) -> Result<Loaded>;
    /// Unloads a module with its functions and globals.
    ///
    /// # Safety
    /// The module is alive; none of its kernels is running, and none of its handles is used again.
    unsafe fn unload(&self, device: i32, module: ModuleHandle) -> Result<()>;
    /// Returns a kernel by its name in the image.
    ///
    /// # Safety
    /// The module is alive.
    ///
    /// # Errors
    /// The driver's code 500 ("not found") if there is no such kernel.
    unsafe fn function(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<FunctionHandle>;
    /// Returns address and size of a global variable by its name in the image.
    ///
    /// # Safety
    /// The module is alive.
    ///
    /// # Errors
    /// The driver's code 500 if there is no such variable.
    unsafe fn global(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<(Address, usize)>;

    /// Returns the names of a module's kernels in its image; `None` if only the image contains them.
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
    /// Returns the kernel's parameters in order; `None` if the driver does not report them.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn parameters(&self, device: i32, function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>>;
    /// Returns the number of blocks, with `threads` threads and `shared` bytes of dynamic shared memory, that one
    /// multiprocessor runs at once.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn active_blocks(&self, device: i32, function: FunctionHandle, threads: u32, shared: u32) -> Result<u32>;
    /// Returns the minimum number of blocks that fills the device, and the block size with the best occupancy; a
    /// `limit` of 0 means no limit.
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

    /// Enqueues a kernel on a stream. `arguments` points to one pointer per parameter, each to the parameter's value;
    /// both are not needed after the call. On the CPU the kernel is complete by then.
    ///
    /// # Safety
    /// Function and stream are alive. There is one pointer per parameter, to as many bytes as the parameter has. The
    /// caller is responsible for the kernel's memory accesses until the stream has passed the launch.
    unsafe fn launch(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()>;

    /// Returns the device's limits for launches.
    fn launch_limits(&self, device: i32) -> Result<LaunchLimits>;
    /// Returns a device attribute by the driver's number.
    fn device_attribute(&self, device: i32, number: i32) -> Result<i32>;
    /// Links separately compiled device code.
    ///
    /// # Errors
    /// The driver's error with the linker's log.
    fn link(&self, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
        let _ = (device, inputs, options);
        Err(links_nothing())
    }
    /// Returns text that identifies the compiler that `compiler` would return, without opening it: opening costs more
    /// than loading an image from the cache. `None` if it cannot be identified without opening.
    fn compiler_identity(&self, hints: &[PathBuf]) -> Option<String> {
        let _ = hints;
        None
    }
    /// Returns the compiler for the backend's devices, opened at the first call that finds it; `hints` are files to
    /// try first. A failure is not cached, so a compiler installed later is found without a restart.
    ///
    /// # Errors
    /// `Unavailable` with all names that were tried and the package to install.
    fn compiler(&self, hints: &[PathBuf]) -> Result<&dyn Compiler>;
}

/// Compiler option, independent of a compiler's syntax.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CompileOption {
    /// `-D name` or `-D name=value`.
    Define(String, Option<String>),
    /// `-U name`.
    Undefine(String),
    /// `-I folder`.
    Include(String),
    /// `-include file`.
    ForceInclude(String),
    /// `-std=c++17`; the text after the equals sign.
    Standard(String),
    /// Fast, less accurate mathematics.
    FastMath,
    /// Whether a product and a sum may be contracted.
    FusedMultiplyAdd(bool),
    /// `-O0` to `-O3`.
    Optimize(u8),
    /// `-G`: device debugging information.
    Debug,
    /// `-lineinfo`.
    LineInfo,
    /// Maximum registers per thread.
    MaxRegisters(u32),
    /// Disables warnings.
    NoWarnings,
    /// Writes the resource usage of each kernel to the log (`-Xptxas -v`).
    Verbose,
    /// Separate compilation (`-rdc=true` or `-dc`).
    Relocatable(bool),
    /// Passed to the compiler unchanged.
    Own(String),
}

/// Prefixes of nvcc options that control the generation of device code.
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
    /// Returns whether the option only controls nvcc's generation of device code. Such an option has no effect on
    /// which a program relies with another compiler.
    pub fn is_of_nvcc(&self) -> bool {
        let Self::Own(text) = self else { return false };
        let text = text.strip_prefix('-').filter(|text| text.starts_with('-')).unwrap_or(text);
        OF_NVCC.iter().any(|word| text.starts_with(word))
    }
}

/// Compilation request.
#[derive(Clone, Copy, Debug)]
pub struct CompileRequest<'a> {
    /// Source as the user wrote it. A compiler that adds text before it restores line numbers with `#line`.
    pub source: &'a str,
    /// Name of the source in messages.
    pub name: &'a str,
    /// Architecture: `sm_90`, `compute_90`, `gfx90a`; the host's on the CPU.
    pub architecture: &'a str,
    /// Options.
    pub options: &'a [CompileOption],
    /// Names as written in the source (`scale<float>`), whose names in the image are requested.
    pub expressions: &'a [String],
}

/// Result of a compilation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compiled {
    /// Image for [`Programs::load`].
    pub image: Vec<u8>,
    /// Warnings and remarks; empty if there are none.
    pub log: String,
    /// Name in the image for each of the request's expressions.
    pub lowered: Vec<String>,
    /// Files from which the image was compiled, except the source, and paths at which other files would have taken
    /// precedence. `None` if they cannot be determined; the image must then not be cached.
    pub read: Option<Vec<FileFingerprint>>,
}

/// Compiler of device code.
pub trait Compiler: Send + Sync {
    /// Name: `nvrtc`, `hiprtc`, `nvcc`, `hipcc`, `g++` ...
    fn name(&self) -> &str;
    /// Version in one line; with the name it is part of the cache key.
    fn version(&self) -> &str;
    /// Path of the library or program.
    fn path(&self) -> &str;
    /// Translates the options to the compiler's syntax, for the cache key and for messages.
    ///
    /// # Errors
    /// `ValueError` or `NotSupported` that names an unsupported option.
    fn spell(&self, request: &CompileRequest<'_>) -> Result<Vec<String>>;
    /// Compiles.
    ///
    /// # Errors
    /// [`Error::Compile`] with the log, for a source that does not compile; otherwise errors of the compiler.
    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled>;
}

/// Error of a backend without a linker.
pub(super) fn links_nothing() -> Error {
    Error::not_supported("this backend links no device code: put all of it into one source")
}

/// Error of a backend without programs.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("kernels are not supported by the {backend} backend"))
}
