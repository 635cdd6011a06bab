//! Creates and executes plans of cuFFT or hipFFT for batched transforms. PyGPU provides the workspace of a plan.

use std::ffi::{c_int, c_longlong, c_void};

use super::{LibrarySpec, OpenLibraries, SearchPaths, functions};
use crate::{Address, BackendKind, Library, StreamHandle};
use pygpu_base::error::{DriverError, Error, Result};

static NOUN: LibrarySpec = LibrarySpec {
    names: ["cuFFT", "hipFFT"],
    cuda: &[(13, "libcufft.so.12"), (12, "libcufft.so.11")],
    hip: &["libhipfft.so.0", "libhipfft.so.1", "libhipfft.so"],
    package: "hipfft",
};

/// The library's handle of a plan. NVIDIA's handle is a 32-bit number and AMD's an address, so 64 bits suffice.
type FftHandle = usize;
type Numbers = *mut c_longlong;
type Exec = unsafe extern "C" fn(FftHandle, *mut c_void, *mut c_void) -> u32;
type ExecTo = unsafe extern "C" fn(FftHandle, *mut c_void, *mut c_void, c_int) -> u32;
type MakeMany = unsafe extern "C" fn(
    FftHandle,
    c_int,
    Numbers,
    Numbers,
    c_longlong,
    c_longlong,
    Numbers,
    c_longlong,
    c_longlong,
    c_int,
    c_longlong,
    *mut usize,
) -> u32;

functions! {
    version: unsafe extern "C" fn(*mut c_int) -> u32 = "cufftGetVersion", "hipfftGetVersion";
    create: unsafe extern "C" fn(*mut FftHandle) -> u32 = "cufftCreate", "hipfftCreate";
    destroy: unsafe extern "C" fn(FftHandle) -> u32 = "cufftDestroy", "hipfftDestroy";
    set_automatic: unsafe extern "C" fn(FftHandle, c_int) -> u32 = "cufftSetAutoAllocation", "hipfftSetAutoAllocation";
    make: MakeMany = "cufftMakePlanMany64", "hipfftMakePlanMany64";
    set_stream: unsafe extern "C" fn(FftHandle, usize) -> u32 = "cufftSetStream", "hipfftSetStream";
    set_area: unsafe extern "C" fn(FftHandle, *mut c_void) -> u32 = "cufftSetWorkArea", "hipfftSetWorkArea";
    c2c: ExecTo = "cufftExecC2C", "hipfftExecC2C";
    z2z: ExecTo = "cufftExecZ2Z", "hipfftExecZ2Z";
    r2c: Exec = "cufftExecR2C", "hipfftExecR2C";
    d2z: Exec = "cufftExecD2Z", "hipfftExecD2Z";
    c2r: Exec = "cufftExecC2R", "hipfftExecC2R";
    z2d: Exec = "cufftExecZ2D", "hipfftExecZ2D";
}

/// Element types of a transform's input and output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FftType {
    /// A transform from complex values to complex values.
    Complex,
    /// A transform from real values to half of a spectrum.
    FromReal,
    /// A transform from half of a spectrum to real values.
    ToReal,
}

/// Direction of a transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The forward transform, whose exponent contains minus i.
    Forward = -1,
    /// The inverse transform, whose exponent contains plus i.
    Inverse = 1,
}

/// Maximum number of transformed axes of a plan.
pub const RANK: usize = 3;

/// Layout of a transform's input or output, counted in elements.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FftLayout {
    /// Number of elements along each axis in memory, including elements that are not transformed. The entry of the
    /// first axis is ignored.
    pub embed: [i64; RANK],
    /// Distance between elements along the last axis.
    pub stride: i64,
    /// Distance between the first elements of consecutive transforms.
    pub distance: i64,
}

/// Parameters of a plan, except the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Whether input and output are real or complex.
    pub way: FftType,
    /// Whether elements consist of 64-bit floats.
    pub is_double: bool,
    /// Number of transformed axes.
    pub rank: usize,
    /// Number of points of each transformed axis, innermost last.
    pub points: [i64; RANK],
    /// Layout of the input.
    pub input: FftLayout,
    /// Layout of the output.
    pub output: FftLayout,
    /// Number of transforms that one call executes.
    pub batch: i64,
}

impl Shape {
    const fn number(&self) -> c_int {
        match (self.way, self.is_double) {
            (FftType::FromReal, false) => 0x2a,
            (FftType::Complex, false) => 0x29,
            (FftType::ToReal, false) => 0x2c,
            (FftType::FromReal, true) => 0x6a,
            (FftType::Complex, true) => 0x69,
            (FftType::ToReal, true) => 0x6c,
        }
    }

    /// Returns whether input and output are dense and store their transforms one after the other. In this case the
    /// library accepts null pointers instead of the layouts.
    fn is_dense(&self) -> bool {
        let rank = self.rank;
        let is_so = |side: &FftLayout, is_half: bool| {
            let mut lens = self.points;
            if is_half {
                lens[rank - 1] = lens[rank - 1] / 2 + 1;
            }
            let count = lens[..rank].iter().product::<i64>();
            side.stride == 1 && side.embed[1..rank] == lens[1..rank] && (self.batch == 1 || side.distance == count)
        };
        is_so(&self.input, self.way == FftType::ToReal) && is_so(&self.output, self.way == FftType::FromReal)
    }
}

/// The opened cuFFT or hipFFT library and its functions.
pub struct Fft {
    functions: Functions,
    path: String,
    version: c_int,
    kind: BackendKind,
}

/// A plan of the library. Dropping it without [`Fft::end`] leaks it.
pub struct FftPlan {
    handle: FftHandle,
    area: usize,
    stream: Option<StreamHandle>,
    work: Address,
}

impl FftPlan {
    /// Returns the size of the workspace in bytes that the plan needs.
    #[inline]
    pub const fn area(&self) -> usize {
        self.area
    }
}

/// Returns cuFFT or hipFFT if it is already open. Does not search for the library.
#[inline]
pub fn opened(kind: BackendKind) -> Option<&'static Fft> {
    OPENED.of(kind)?.get()
}

static OPENED: OpenLibraries<Fft> = OpenLibraries::new();

/// Returns cuFFT or hipFFT. The first call that finds the library opens it.
///
/// # Errors
/// `Unavailable` with the package to install and the names that were tried; `NotSupported` on the CPU.
pub fn open(kind: BackendKind, driver: i32, places: &SearchPaths) -> Result<&'static Fft> {
    let place = OPENED
        .of(kind)
        .ok_or_else(|| Error::not_supported("cuFFT and hipFFT work on GPUs; on the cpu NumPy transforms"))?;
    NOUN.at(place, kind, driver, places, Fft::open)
}

impl Fft {
    fn open(library: Library, kind: BackendKind) -> Result<Self> {
        // SAFETY: the library was found under the vendor's name; only its functions are looked up.
        let functions = unsafe { Functions::of(&library, kind) };
        let path = library.name().to_owned();
        let (Some(ask), Some(_), Some(_)) = (functions.version, functions.make, functions.set_area) else {
            let name = NOUN.name(kind);
            return Err(Error::Unavailable(format!(
                "{path} is no {name}, or too old: it lacks {name}'s plans of many transforms (MakePlanMany64) or their SetWorkArea"
            )));
        };
        let mut version = 0;
        // SAFETY: the out-parameter is writable.
        match unsafe { ask(&mut version) } {
            0 => Ok(Self { functions, path, version, kind }),
            code => Err(Error::Unavailable(format!("{path} refused to tell its version, with code {code}"))),
        }
    }

    /// Returns the library version in the library's own format.
    pub fn version(&self) -> i32 {
        self.version
    }

    fn found<T>(&self, function: Option<T>, name: &str) -> Result<T> {
        function.ok_or_else(|| Error::Unavailable(format!("{} has no {name}: it is no {}", self.path, self.name())))
    }

    const fn name(&self) -> &'static str {
        NOUN.name(self.kind)
    }

    #[cold]
    fn refusal(&self, operation: &'static str, code: u32, shape: &Shape) -> Error {
        // The numbers of the library's error codes have other meanings in the driver. Therefore the created error has
        // the driver's code 999 (unknown error), with the name and the text of the library's code.
        let (name, text) = meaning(code);
        Error::Driver(Box::new(DriverError {
            operation,
            code: 999,
            name: name.to_owned(),
            text: text.to_owned(),
            device: String::new(),
            detail: format!("code {code} of {} {}; {shape:?}", self.name(), self.version),
        }))
    }

    fn check(&self, operation: &'static str, code: u32, shape: &Shape) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.refusal(operation, code, shape)) }
    }

    /// Creates a plan for the current device.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn plan(&self, shape: &Shape) -> Result<FftPlan> {
        let functions = &self.functions;
        let (create, automatic, make) = (
            self.found(functions.create, "Create")?,
            self.found(functions.set_automatic, "SetAutoAllocation")?,
            self.found(functions.make, "MakePlanMany64")?,
        );
        let mut handle = 0;
        // SAFETY: the out-parameter is writable and wide enough for both vendors. It is initialized to 0, because cuFFT
        // writes only a part of it.
        self.check("fftCreate", unsafe { create(&mut handle) }, shape)?;
        let mut plan = FftPlan { handle, area: 0, stream: None, work: 0 };
        let Shape { mut points, mut input, mut output, batch, .. } = *shape;
        let rank = shape.rank as c_int;
        let is_dense = shape.is_dense();
        let embed_pointer = |embed: &mut [i64; RANK]| if is_dense { std::ptr::null_mut() } else { embed.as_mut_ptr() };
        let mut work = || -> Result<()> {
            // SAFETY: the plan was created above.
            self.check("fftSetAutoAllocation", unsafe { automatic(handle, 0) }, shape)?;
            // SAFETY: the plan was created above; the arrays have at least `rank` numbers, or are null for a dense
            // layout, and are only read; the size is writable.
            let code = unsafe {
                make(
                    handle,
                    rank,
                    points.as_mut_ptr(),
                    embed_pointer(&mut input.embed),
                    input.stride,
                    input.distance,
                    embed_pointer(&mut output.embed),
                    output.stride,
                    output.distance,
                    shape.number(),
                    batch,
                    &mut plan.area,
                )
            };
            self.check("fftMakePlanMany64", code, shape)
        };
        match work() {
            Ok(()) => Ok(plan),
            Err(error) => {
                self.end(plan);
                Err(error)
            }
        }
    }

    /// Destroys a plan, whose device must be current.
    pub fn end(&self, plan: FftPlan) {
        if let Some(destroy) = self.functions.destroy {
            // SAFETY: the plan was created by this library, and is destroyed once, because this function consumes it.
            unsafe { destroy(plan.handle) };
        }
    }

    /// Sets the stream on which a plan is executed, and its workspace.
    ///
    /// # Errors
    /// Errors of the library.
    ///
    /// # Safety
    /// The stream is alive and belongs to the plan's device, which is current. `work` is the address of
    /// [`FftPlan::area`] bytes. In stream order, nothing else uses these bytes until the plan's next transforms are
    /// complete.
    #[inline]
    pub unsafe fn place(&self, plan: &mut FftPlan, shape: &Shape, stream: StreamHandle, work: Address) -> Result<()> {
        if plan.stream != Some(stream) {
            let set = self.found(self.functions.set_stream, "SetStream")?;
            // SAFETY: the caller guarantees that the stream is alive.
            self.check("fftSetStream", unsafe { set(plan.handle, stream.0) }, shape)?;
            plan.stream = Some(stream);
        }
        if plan.area > 0 && plan.work != work {
            let set = self.found(self.functions.set_area, "SetWorkArea")?;
            // SAFETY: the caller guarantees that the workspace has the required size and that nothing else uses it
            // meanwhile.
            let code = unsafe { set(plan.handle, std::ptr::with_exposed_provenance_mut(work)) };
            self.check("fftSetWorkArea", code, shape)?;
            plan.work = work;
        }
        Ok(())
    }

    /// Enqueues the plan's transforms on its stream.
    ///
    /// # Errors
    /// Errors of the library.
    ///
    /// # Safety
    /// [`Self::place`] was called before, and its conditions still hold. Both addresses refer to memory that covers the
    /// plan's layouts; they may be equal. The input of [`FftType::ToReal`] may be overwritten.
    #[inline]
    pub unsafe fn run(
        &self,
        plan: &FftPlan,
        shape: &Shape,
        [input, output]: [Address; 2],
        direction: Direction,
    ) -> Result<()> {
        let [input, output] = [input, output].map(std::ptr::with_exposed_provenance_mut::<c_void>);
        let functions = &self.functions;
        let to = |function: Option<ExecTo>, operation| -> Result<()> {
            let run = self.found(function, operation)?;
            // SAFETY: the caller guarantees that both addresses cover the plan's layouts.
            self.check(operation, unsafe { run(plan.handle, input, output, direction as c_int) }, shape)
        };
        let plain = |function: Option<Exec>, operation| -> Result<()> {
            let run = self.found(function, operation)?;
            // SAFETY: the caller guarantees that both addresses cover the plan's layouts.
            self.check(operation, unsafe { run(plan.handle, input, output) }, shape)
        };
        match (shape.way, shape.is_double) {
            (FftType::Complex, false) => to(functions.c2c, "fftExecC2C"),
            (FftType::Complex, true) => to(functions.z2z, "fftExecZ2Z"),
            (FftType::FromReal, false) => plain(functions.r2c, "fftExecR2C"),
            (FftType::FromReal, true) => plain(functions.d2z, "fftExecD2Z"),
            (FftType::ToReal, false) => plain(functions.c2r, "fftExecC2R"),
            (FftType::ToReal, true) => plain(functions.z2d, "fftExecZ2D"),
        }
    }
}

/// Returns the name and the explanation of an error code. Both vendors' libraries use the same codes.
const fn meaning(code: u32) -> (&'static str, &'static str) {
    match code {
        1 => ("INVALID_PLAN", "the plan is none"),
        2 => ("ALLOC_FAILED", "the library could not have memory for its tables; free some, with PyGPU.trim_memory()"),
        3 => ("INVALID_TYPE", "the type is not transformed"),
        4 => ("INVALID_VALUE", "a value is not allowed"),
        5 => ("INTERNAL_ERROR", "the library or the driver failed within"),
        6 => ("EXEC_FAILED", "the transform could not be started"),
        7 => ("SETUP_FAILED", "the library could not be initialised"),
        8 => ("INVALID_SIZE", "a size is not transformed"),
        9 => ("UNALIGNED_DATA", "an address is not a multiple of an element"),
        11 => ("INVALID_DEVICE", "the plan is of another device"),
        13 => ("NO_WORKSPACE", "there is no memory to work in"),
        14 => ("NOT_IMPLEMENTED", "the library has no such transform"),
        16 => ("NOT_SUPPORTED", "the library does not support this"),
        17 => ("MISSING_DEPENDENCY", "a library that this one needs was not found"),
        18 => ("NVRTC_FAILURE", "NVRTC failed within"),
        19 => ("NVJITLINK_FAILURE", "nvJitLink failed within, or was not found"),
        _ => ("UNKNOWN", "a code without a name"),
    }
}
