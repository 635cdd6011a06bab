//! Loads an image, finds its kernels and variables, and launches its kernels.
//!
//! The structures declared here match those in `src/cpu_engine/include/pygpu_cpu/abi.h`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::io::Write;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::elf_check::is_whole;
use crate::fault_handlers::{self, RawHost};
use crate::host_environment::{HostEnvironment, StartOrder};
use crate::shared_memory_size::StaticShared;
use crate::source_lines::Lines;

const ABI: c_uint = 4;
const COOPERATIVE: c_uint = 1;
const REVERSED: c_uint = 2;
const BREAK: c_uint = 4;
const SHUFFLED: c_uint = 8;
const MESSAGE_BYTES: usize = 2048;

#[repr(C)]
struct RawLaunch {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_ulonglong,
    stack_bytes: c_ulonglong,
    threads: c_uint,
    flags: c_uint,
    message: *mut c_char,
    message_bytes: c_ulonglong,
    seed: c_ulonglong,
    place: *mut c_ulonglong,
    host: *const RawHost,
}

#[repr(C)]
struct RawParameter {
    bytes: c_uint,
    alignment: c_uint,
    kind: c_char,
}

#[repr(C)]
struct RawKernel {
    name: *const c_char,
    launch: Option<unsafe extern "C" fn(*const RawLaunch, *const *const c_void) -> c_int>,
    parameters: *const RawParameter,
    parameter_count: c_uint,
    max_threads: c_uint,
    function: *const c_void,
}

#[repr(C)]
struct RawGlobal {
    name: *const c_char,
    address: *mut c_void,
    bytes: c_ulonglong,
    constant: c_uint,
}

#[repr(C)]
struct RawModule {
    abi: c_uint,
    kernel_count: c_uint,
    global_count: c_uint,
    kernels: *const RawKernel,
    globals: *const RawGlobal,
}

/// A loaded image, which is a shared library.
pub struct LoadedImage {
    // The handle of the shared library, which keeps it loaded. The other fields refer to the library's code and tables.
    _handle: libloading::Library,
    kernels: Vec<HostKernel>,
    globals: Vec<(String, usize, usize)>,
}

/// A kernel of a library; valid only while the library is loaded.
#[derive(Clone, Debug)]
pub struct HostKernel {
    /// The kernel's name in the source.
    pub name: String,
    /// Size in bytes and alignment of each parameter, in order.
    pub parameters: Vec<(usize, usize)>,
    /// Maximum number of threads per block according to `__launch_bounds__`; 0 without it.
    pub max_threads: u32,
    /// Size of the static shared memory in bytes.
    pub shared_bytes: u32,
    /// Total size in bytes of the constant memory of the library that contains the kernel.
    pub constant_bytes: u32,
    launch: unsafe extern "C" fn(*const RawLaunch, *const *const c_void) -> c_int,
    /// Order in which the blocks of a launch, and the threads of each block, start.
    order: StartOrder,
    breaks: bool,
    lines: Option<Arc<Lines>>,
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of blocks along x, y, z.
    pub grid: [u32; 3],
    /// Number of threads in a block along x, y, z.
    pub block: [u32; 3],
    /// Size of the dynamic shared memory in bytes.
    pub shared: u64,
    /// Whether all blocks run concurrently, so that they may wait for each other.
    pub cooperative: bool,
}

impl LoadedImage {
    /// Loads an image.
    ///
    /// # Errors
    /// A text that explains why the bytes are not an image or cannot be loaded.
    pub fn load(image: &[u8], host: &HostEnvironment) -> Result<Self, String> {
        check(image)?;
        let mut file = tempfile::Builder::new()
            .prefix("pygpu-")
            .suffix(".so")
            .tempfile_in(&host.temporary)
            .map_err(|error| format!("no temporary file for the kernel: {error}"))?;
        file.write_all(image).map_err(|error| format!("the kernel cannot be written: {error}"))?;
        // SAFETY: opening runs the library's initialisers; the user requested to run this code.
        let handle = unsafe { libloading::Library::new(file.path()) }.map_err(|error| describe(&error))?;
        let mut lines = None;
        if [&b"__asan_init"[..], b".debug_info"].iter().any(|text| contains(image, text)) {
            // The file is not deleted, because a debugger, the sanitizer and the search for source lines read it.
            lines = file.keep().ok().map(|(_, path)| Arc::new(Lines::of(path, host)));
        }
        fault_handlers::install();
        // SAFETY: only libraries that the engine has built define this symbol, and they define it as a `RawModule`.
        let module = unsafe { handle.get::<*const RawModule>(b"pygpu_cpu_module\0") };
        let module = module.map_err(|_| "the image is a shared library, but PyGPU did not make it".to_owned())?;
        // SAFETY: the library is open, and the version is the first field in every version of the structure.
        let module = unsafe { &**module };
        if module.abi != ABI {
            return Err(format!("the image was made by another version of PyGPU ({} instead of {ABI})", module.abi));
        }
        // SAFETY: the version was checked, so the tables are as declared here.
        let (kernels, globals) = unsafe { (kernels(module, image, host, lines.as_ref()), globals(module)) };
        Ok(Self { _handle: handle, kernels, globals })
    }

    /// Returns the kernel with this name in the source or this mangled C++ name.
    pub fn kernel(&self, name: &str) -> Option<&HostKernel> {
        let named = |name: &str| self.kernels.iter().find(|kernel| kernel.name == name);
        named(name).or_else(|| named(&unmangled(name)?))
    }

    /// Returns the names of all kernels.
    pub fn names(&self) -> Vec<String> {
        self.kernels.iter().map(|kernel| kernel.name.clone()).collect()
    }

    /// Returns the name, address and size in bytes of each variable of the library.
    #[allow(dead_code, reason = "the simulated drivers register them as memory of a device")]
    pub fn globals(&self) -> &[(String, usize, usize)] {
        &self.globals
    }

    /// Returns the address and the size in bytes of a variable.
    pub fn global(&self, name: &str) -> Option<(usize, usize)> {
        self.globals.iter().find(|global| global.0 == name).map(|global| (global.1, global.2))
    }
}

impl HostKernel {
    /// Runs a kernel and returns when it is complete. If the kernel fails, the error contains one of the codes in
    /// `abi.h`, and a text.
    ///
    /// # Safety
    /// The library is loaded. For each parameter, `arguments` has one pointer to as many bytes as the parameter has.
    /// The kernel uses the arguments correctly.
    pub unsafe fn launch(&self, shape: &Shape, arguments: *const *const c_void) -> Result<(), (i32, String)> {
        let mut message = [0u8; MESSAGE_BYTES];
        let mut place = 0;
        let launch = RawLaunch {
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared,
            stack_bytes: 0,
            threads: processors(),
            flags: self.flags() | if shape.cooperative { COOPERATIVE } else { 0 },
            message: message.as_mut_ptr().cast(),
            message_bytes: MESSAGE_BYTES as c_ulonglong,
            seed: if let StartOrder::Shuffled(seed) = self.order { seed } else { 0 },
            place: ptr::from_mut(&mut place),
            host: ptr::from_ref(&fault_handlers::HOST),
        };
        // SAFETY: the caller guarantees that `arguments` match the kernel's parameters; all data in `launch` outlives
        // the call.
        match unsafe { (self.launch)(&launch, arguments) } {
            0 => Ok(()),
            code => {
                let text = CStr::from_bytes_until_nul(&message).unwrap_or_default();
                let mut text = text.to_string_lossy().into_owned();
                if place != 0
                    && let Some(line) = self.lines.as_ref().and_then(|lines| lines.find(place))
                {
                    text.push_str(&format!(", at {line}"));
                }
                Err((code, text))
            }
        }
    }

    fn flags(&self) -> c_uint {
        let order = match self.order {
            StartOrder::Plain => 0,
            StartOrder::Reversed => REVERSED,
            StartOrder::Shuffled(_) => SHUFFLED,
        };
        order | if self.breaks { BREAK } else { 0 }
    }
}

/// Returns the number of OS threads that can run in parallel. The number is cached, because the query reads files,
/// which takes longer than a small launch.
fn processors() -> u32 {
    // No lock protects the cached number, because a lock could stay locked in a forked child. At worst, several threads
    // query the number.
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let threads =
                std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(1));
            KNOWN.store(threads, Ordering::Relaxed);
            threads
        }
        known => known,
    }
}

/// Returns an error for an incomplete image, because the system's loader might end the process when it loads such an
/// image.
fn check(image: &[u8]) -> Result<(), String> {
    if !image.starts_with(b"\x7fELF") && !image.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]) {
        return Err(
            "the image is no shared library: on the cpu backend a module is loaded from what its compiler made"
                .to_owned(),
        );
    }
    if !is_whole(image) {
        return Err("the image is cut short: it says that it has more bytes than it has".to_owned());
    }
    let sanitized = contains(image, b"__asan_init");
    // SAFETY: the call only looks up a symbol in the process.
    let present = !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_init".as_ptr()) }.is_null();
    if sanitized && !present {
        return Err("the kernel was compiled with -fsanitize=address, whose library must be there when the program starts: run it \
                    with LD_PRELOAD=$(c++ -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0"
            .to_owned());
    }
    Ok(())
}

fn contains(image: &[u8], text: &[u8]) -> bool {
    image.windows(text.len()).any(|window| window == text)
}

fn describe(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    format!("the system's loader refuses the kernel: {error}{source}")
}

/// Copies a C string to a Rust string.
///
/// # Safety
/// The text ends with a zero byte.
unsafe fn text(pointer: *const c_char) -> String {
    // SAFETY: the caller guarantees that the text ends with a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// Returns the name of a kernel in the source, given its mangled name: `k` for `_Z1kPi`, `ns::k` for `_ZN2ns1kEPi`.
/// Parameter types are ignored, because the kernels of a library are not overloaded.
fn unmangled(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_Z")?;
    let is_nested = rest.starts_with('N');
    rest = rest.strip_prefix('N').unwrap_or(rest);
    let mut parts = Vec::new();
    while let Some(end) = rest.find(|letter: char| !letter.is_ascii_digit()).filter(|&end| end > 0) {
        let length: usize = rest[..end].parse().ok()?;
        parts.push(rest.get(end..end.checked_add(length)?)?);
        rest = &rest[end + length..];
        if !is_nested {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

/// Returns the kernels in a module's table.
///
/// # Safety
/// The module belongs to an open library of this version.
unsafe fn kernels(
    module: &RawModule,
    image: &[u8],
    host: &HostEnvironment,
    lines: Option<&Arc<Lines>>,
) -> Vec<HostKernel> {
    // SAFETY: the caller guarantees a module of an open library. Its table has one entry more than `kernel_count`, so
    // the pointer is valid.
    let rows = unsafe { std::slice::from_raw_parts(module.kernels, module.kernel_count as usize) };
    let shared = StaticShared::of(image);
    // SAFETY: the caller guarantees that the module belongs to an open library.
    let constant_bytes = unsafe { constants(module) };
    let read = |row: &RawKernel| {
        // SAFETY: this table also has one entry more than `parameter_count`, so the pointer is valid.
        let parameters = unsafe { std::slice::from_raw_parts(row.parameters, row.parameter_count as usize) };
        let parameters = parameters.iter().map(|each| (each.bytes as usize, each.alignment as usize)).collect();
        // SAFETY: names are string literals of the library.
        let name = unsafe { text(row.name) };
        Some(HostKernel {
            name,
            parameters,
            max_threads: row.max_threads,
            shared_bytes: shared.bytes(row.function as usize, ptr::from_ref(module) as usize),
            constant_bytes,
            launch: row.launch?,
            order: host.order,
            breaks: host.breaks,
            lines: lines.cloned(),
        })
    };
    rows.iter().filter_map(read).collect()
}

/// Returns the total size in bytes of a module's constant memory.
///
/// # Safety
/// The conditions of `kernels` apply.
unsafe fn constants(module: &RawModule) -> u32 {
    // SAFETY: the caller guarantees a module of an open library. Its table has `global_count` entries.
    let rows = unsafe { std::slice::from_raw_parts(module.globals, module.global_count as usize) };
    let bytes: c_ulonglong = rows.iter().filter(|row| row.constant != 0).map(|row| row.bytes).sum();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Returns the variables in a module's table.
///
/// # Safety
/// The conditions of `kernels` apply.
unsafe fn globals(module: &RawModule) -> Vec<(String, usize, usize)> {
    // SAFETY: the caller guarantees a module of an open library. Its table has `global_count` entries.
    let rows = unsafe { std::slice::from_raw_parts(module.globals, module.global_count as usize) };
    // SAFETY: names are string literals of the library.
    rows.iter().map(|row| (unsafe { text(row.name) }, row.address as usize, row.bytes as usize)).collect()
}
