//! Device code: what loads and launches it, and what compiles it, as two object-safe traits.
//!
//! [`Programs`] is the loader and launcher of a driver; [`Compiler`] turns source into an image that it loads: NVRTC, hiprtc, or
//! the machine's C++ compiler. Which parameters a kernel has, whether the arguments fit and in which order streams run is
//! the caller's work (`kernel`); here everything is raw, as in [`Backend`](super::Backend). A user writes options once, in
//! nvcc's words; they arrive here parsed, and each compiler says them in its own.

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use super::witness::Witness;
use super::{Address, Contexts, Launches, StreamHandle};
use pygpu_base::error::{Error, Result};

/// A loaded image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ModuleHandle(pub usize);

/// A kernel of a loaded image; it lives as long as the image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionHandle(pub usize);

/// What a driver's own compiler said while an image was loaded, and what it was told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoadOptions {
    /// Most registers of a thread; `None` leaves it to the driver.
    pub max_registers: Option<u32>,
    /// Whether debugging information is made.
    pub debug: bool,
    /// Whether line numbers are made.
    pub line_info: bool,
}

/// A loaded image and what the driver said of it; empty where it said nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The handle.
    pub module: ModuleHandle,
    /// The driver's messages.
    pub log: String,
}

/// What is known of a kernel; 0 where the driver does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FunctionAttributes {
    /// Most threads of a block that it can be launched with.
    pub max_threads_per_block: i32,
    /// Bytes of static shared memory.
    pub static_shared_bytes: i32,
    /// Bytes of constant memory.
    pub constant_bytes: i32,
    /// Bytes of local memory of a thread.
    pub local_bytes: i32,
    /// Registers of a thread.
    pub registers: i32,
    /// The PTX version it was compiled for, as 90 for 9.0.
    pub ptx_version: i32,
    /// The architecture it was compiled for, as 90 for `sm_90`.
    pub binary_version: i32,
    /// Most bytes of dynamic shared memory that it can be launched with now.
    pub max_dynamic_shared_bytes: i32,
    /// Percentage of the first-level cache that is wanted as shared memory; -1 for the driver's choice.
    pub preferred_carveout: i32,
}

/// What can be set of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionSetting {
    /// Most bytes of dynamic shared memory that a launch may ask for.
    MaxDynamicSharedBytes(i32),
    /// Percentage of the first-level cache that is wanted as shared memory; -1 for the driver's choice.
    PreferredCarveout(i32),
    /// 0 no preference, 1 shared memory, 2 cache, 3 equal.
    CachePreference(i32),
    /// Whether clusters may have more blocks than every device with clusters takes.
    NonPortableClusters(bool),
}

/// Where a parameter of a kernel lies in its argument buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParameterPlace {
    /// Bytes before it.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
}

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchShape {
    /// Blocks along x, y, z; none is 0.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z; none is 0.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// All blocks run at once and may wait for one another.
    pub cooperative: bool,
}

/// What a device allows of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchLimits {
    /// Most threads of a block.
    pub threads_per_block: u32,
    /// Most threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Most blocks along x, y, z.
    pub grid: [u32; 3],
    /// Bytes of shared memory that every kernel may use.
    pub shared_per_block: u32,
    /// Bytes of shared memory that a kernel may use which asks for it by `MaxDynamicSharedBytes`.
    pub shared_per_block_optin: u32,
    /// Whether cooperative launches exist.
    pub cooperative: bool,
    /// Whether clusters of blocks exist.
    pub clusters: bool,
    /// Threads that a multiprocessor runs at once.
    pub threads_per_multiprocessor: u32,
}

impl LaunchLimits {
    /// Of what cannot be launched.
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

/// A part of what is linked.
#[derive(Clone, Copy, Debug)]
pub struct LinkInput<'a> {
    /// What it is.
    pub kind: LinkKind,
    /// Its bytes.
    pub data: &'a [u8],
    /// Its name in messages.
    pub name: &'a CStr,
}

/// What a part of a linkage is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// Device code for one architecture.
    Cubin,
    /// Text for the driver's own compiler.
    Ptx,
    /// Several of these.
    Fatbinary,
    /// A host object with device code in it.
    Object,
    /// An archive of such objects.
    Library,
}

/// Loads, asks and launches device code of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes a handle promises that it belongs to the device and is alive.
pub trait Programs: Contexts + Launches {
    /// Loads an image: what the backend's [`Compiler`] makes, and what the driver itself takes (cubin, PTX, fatbin; a code
    /// object of HIP; a shared library on the CPU). The bytes are not needed when the call returns.
    ///
    /// # Errors
    /// The driver's, with its log; `ValueError` for an image that is none.
    fn load(&self, device: i32, image: &[u8], options: &LoadOptions) -> Result<Loaded>;
    /// Ends a module, its functions and its globals.
    ///
    /// # Safety
    /// The module is alive; no kernel of it runs, and none of its handles is used again.
    unsafe fn unload(&self, device: i32, module: ModuleHandle) -> Result<()>;
    /// A kernel by its name in the image.
    ///
    /// # Safety
    /// The module is alive.
    ///
    /// # Errors
    /// The driver's code 500 ("not found") where there is no such kernel.
    unsafe fn function(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<FunctionHandle>;
    /// The address and the size of a global variable by its name in the image.
    ///
    /// # Safety
    /// The module is alive.
    ///
    /// # Errors
    /// The driver's code 500 where there is no such variable.
    unsafe fn global(&self, device: i32, module: ModuleHandle, name: &CStr) -> Result<(Address, usize)>;

    /// The names that the kernels of a module have in its image; `None` where only the image can tell.
    ///
    /// # Safety
    /// The module is alive.
    unsafe fn names(&self, _device: i32, _module: ModuleHandle) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// What is known of a kernel.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn function_attributes(&self, device: i32, function: FunctionHandle) -> Result<FunctionAttributes>;
    /// Sets something of a kernel.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn set_function(&self, device: i32, function: FunctionHandle, setting: FunctionSetting) -> Result<()>;
    /// The kernel's parameters in order; `None` where the driver cannot say.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn parameters(&self, device: i32, function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>>;
    /// Blocks of `threads` threads and `shared` bytes of dynamic shared memory that run on one multiprocessor at once.
    ///
    /// # Safety
    /// The function is alive.
    unsafe fn active_blocks(&self, device: i32, function: FunctionHandle, threads: u32, shared: u32) -> Result<u32>;
    /// The fewest blocks that fill the device and the threads of a block for the best occupancy; `limit` 0 is none.
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

    /// Puts a kernel on a stream. `arguments` points at one pointer for each parameter, each to the parameter's value; both are
    /// not needed when the call returns. On the CPU the kernel has run by then.
    ///
    /// # Safety
    /// Function and stream are alive; there are as many pointers as parameters, each to as many bytes as the parameter has; what
    /// the kernel does with the memory that it is given is the caller's affair until the stream has passed it.
    unsafe fn launch(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()>;

    /// What the device allows of a launch.
    fn launch_limits(&self, device: i32) -> Result<LaunchLimits>;
    /// An attribute of the device by the driver's own number.
    fn device_attribute(&self, device: i32, number: i32) -> Result<i32>;
    /// Links device code that was compiled in parts.
    ///
    /// # Errors
    /// The driver's, with the linker's log.
    fn link(&self, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
        let _ = (device, inputs, options);
        Err(links_nothing())
    }
    /// What tells the compiler that `compiler` would give from every other, without opening it: opening costs more than taking an
    /// image from the cache. `None` where only opening tells.
    fn compiler_identity(&self, hints: &[PathBuf]) -> Option<String> {
        let _ = hints;
        None
    }
    /// The compiler that makes images for the backend's devices, opened at the first call that finds it; `hints` are files to
    /// try first. A failure is not remembered: who installs one need not start again.
    ///
    /// # Errors
    /// `Unavailable` with everything that was searched and what to install.
    fn compiler(&self, hints: &[PathBuf]) -> Result<&dyn Compiler>;
}

/// An option in no compiler's words.
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
    /// Fast, less exact mathematics.
    FastMath,
    /// Whether a product and a sum may be contracted.
    FusedMultiplyAdd(bool),
    /// `-O0` to `-O3`.
    Optimize(u8),
    /// `-G`: device debugging information.
    Debug,
    /// `-lineinfo`.
    LineInfo,
    /// Most registers of a thread.
    MaxRegisters(u32),
    /// No warnings.
    NoWarnings,
    /// Resource usage of each kernel goes into the log (`-Xptxas -v`).
    Verbose,
    /// Separate compilation (`-rdc=true` or `-dc`).
    Relocatable(bool),
    /// Passed on as it is, in the compiler's own words.
    Own(String),
}

/// nvcc's words on how device code is made, by how they begin.
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
    /// Whether it says how nvcc is to make device code, which changes nothing that a program may rely on elsewhere.
    pub fn is_of_nvcc(&self) -> bool {
        let Self::Own(text) = self else { return false };
        let text = text.strip_prefix('-').filter(|text| text.starts_with('-')).unwrap_or(text);
        OF_NVCC.iter().any(|word| text.starts_with(word))
    }
}

/// What is to be compiled.
#[derive(Clone, Copy, Debug)]
pub struct CompileRequest<'a> {
    /// The source, as the user wrote it: a compiler that puts text before it says so by `#line`.
    pub source: &'a str,
    /// The name of the source in messages.
    pub name: &'a str,
    /// The architecture: `sm_90`, `compute_90`, `gfx90a`; the host's on the CPU.
    pub architecture: &'a str,
    /// The options.
    pub options: &'a [CompileOption],
    /// Names as the source says them (`scale<float>`), whose names in the image are wanted.
    pub expressions: &'a [String],
}

/// What came of compiling.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Compiled {
    /// What [`Programs::load`] takes.
    pub image: Vec<u8>,
    /// Warnings and remarks; empty where there are none.
    pub log: String,
    /// The name in the image of each of the request's expressions.
    pub lowered: Vec<String>,
    /// The files beside the source that it was made of, and where others would have been taken instead; `None` where one cannot
    /// tell, and the image must not be kept.
    pub read: Option<Vec<Witness>>,
}

/// A compiler of device code.
pub trait Compiler: Send + Sync {
    /// `nvrtc`, `hiprtc`, `nvcc`, `hipcc`, `g++` ...
    fn name(&self) -> &str;
    /// Its version in one line; with the name it is part of the key of what is cached.
    fn version(&self) -> &str;
    /// The library or the program.
    fn path(&self) -> &str;
    /// The words by which the options are passed on, for the key of the cache and for messages.
    ///
    /// # Errors
    /// `ValueError` or `NotSupported` that names an option which the compiler cannot follow.
    fn spell(&self, request: &CompileRequest<'_>) -> Result<Vec<String>>;
    /// Compiles.
    ///
    /// # Errors
    /// [`Error::Compile`] with the log, for a source that does not compile; else the compiler's.
    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled>;
}

/// What a backend answers that has no linker.
pub(super) fn links_nothing() -> Error {
    Error::not_supported("this backend links no device code: put all of it into one source")
}

/// What a backend answers that has no programs.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("kernels are not supported by the {backend} backend"))
}
