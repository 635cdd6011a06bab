//! cuBLAS and hipBLAS: products of matrices, whose columns lie one behind the other.

mod call;
mod lu;

use std::ffi::{c_int, c_void};

use call::{Call, Many, One};

use super::{Noun, Opened, functions, places_of};
use crate::{Address, BackendKind, Library, StreamHandle};
use pygpu_base::error::{Error, Result};

static NOUN: Noun = Noun {
    names: ["cuBLAS", "hipBLAS"],
    cuda: &[(13, "libcublas.so.13"), (12, "libcublas.so.12")],
    hip: &["libhipblas.so.3", "libhipblas.so.2", "libhipblas.so"],
    package: "hipblas",
};

type Create = unsafe extern "C" fn(*mut *mut c_void) -> u32;
type Destroy = unsafe extern "C" fn(*mut c_void) -> u32;
type SetStream = unsafe extern "C" fn(*mut c_void, *mut c_void) -> u32;
type SetWorkspace = unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> u32;
type SetNumber = unsafe extern "C" fn(*mut c_void, u32) -> u32;
type GetVersion = unsafe extern "C" fn(*mut c_void, *mut c_int) -> u32;

functions! {
    create: Create = "cublasCreate_v2", "hipblasCreate";
    destroy: Destroy = "cublasDestroy_v2", "hipblasDestroy";
    version: GetVersion = "cublasGetVersion_v2", "hipblasGetVersion";
    set_stream: SetStream = "cublasSetStream_v2", "hipblasSetStream";
    set_workspace: SetWorkspace = "cublasSetWorkspace_v2", "hipblasSetWorkspace";
    set_math_mode: SetNumber = "cublasSetMathMode", "hipblasSetMathMode";
    set_atomics_mode: SetNumber = "cublasSetAtomicsMode", "hipblasSetAtomicsMode";
    // hipBLAS 2 has two meanings of the plain names, and hipBLAS 3 these only.
    one_v2: One<c_int> = "cublasGemmEx", "hipblasGemmEx_v2";
    one_plain: One<c_int> = "cublasGemmEx", "hipblasGemmEx";
    many_v2: Many<c_int> = "cublasGemmStridedBatchedEx", "hipblasGemmStridedBatchedEx_v2";
    many_plain: Many<c_int> = "cublasGemmStridedBatchedEx", "hipblasGemmStridedBatchedEx";
    one_wide_v2: One<i64> = "cublasGemmEx_64", "hipblasGemmEx_v2_64";
    one_wide_plain: One<i64> = "cublasGemmEx_64", "hipblasGemmEx_64";
    many_wide_v2: Many<i64> = "cublasGemmStridedBatchedEx_64", "hipblasGemmStridedBatchedEx_v2_64";
    many_wide_plain: Many<i64> = "cublasGemmStridedBatchedEx_64", "hipblasGemmStridedBatchedEx_64";
}

/// The types that the library multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// With sums in float32.
    Float16,
    /// With sums in float32.
    BFloat16,
    /// In float32.
    Float32,
    /// In float64.
    Float64,
    /// Of two float32.
    Complex64,
    /// Of two float64.
    Complex128,
}

impl Number {
    /// Both vendors' number of the type.
    const fn code(self) -> u32 {
        match self {
            Self::Float32 => 0,
            Self::Float64 => 1,
            Self::Float16 => 2,
            Self::Complex64 => 4,
            Self::Complex128 => 5,
            Self::BFloat16 => 14,
        }
    }

    const fn is_double(self) -> bool {
        matches!(self, Self::Float64 | Self::Complex128)
    }

    const fn is_half(self) -> bool {
        matches!(self, Self::Float16 | Self::BFloat16)
    }
}

/// What is done with an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Nothing.
    Plain,
    /// It is transposed.
    Transposed,
    /// It is transposed, and its elements are conjugated.
    Adjoint,
}

/// A matrix: where it begins, its leading dimension, and the elements from one of a batch to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// In device memory.
    pub address: Address,
    /// Elements from one column to the next.
    pub leading: i64,
    /// Elements from one matrix to the next.
    pub apart: i64,
}

/// A product: `out = op(a) op(b)`, with columns one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gemm {
    /// Of all three.
    pub number: Number,
    /// Whether float32 may be rounded to TF32 before it is multiplied.
    pub is_tf32: bool,
    /// What is done with the operands.
    pub operations: [Operation; 2],
    /// Rows and columns of the result, and the inner length.
    pub lengths: [i64; 3],
    /// The operands.
    pub operands: [Matrix; 2],
    /// The result.
    pub out: Matrix,
    /// How many of them.
    pub count: i64,
}

/// Where a product works.
#[derive(Clone, Copy, Debug)]
pub struct Desk {
    /// The stream.
    pub stream: StreamHandle,
    /// Device memory for whatever the library needs.
    pub workspace: Address,
    /// Its bytes.
    pub bytes: usize,
}

/// What the library answers, or its code.
pub type Outcome<T> = std::result::Result<T, u32>;

/// A handle of the library's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlasHandle(usize);

impl BlasHandle {
    fn raw(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// The open library.
pub struct Blas {
    functions: Functions,
    lu: lu::Functions,
    kind: BackendKind,
    path: String,
}

/// With what was wrong where it could not be.
static OPENED: Opened<Result<Blas>> = Opened::new();

/// cuBLAS or hipBLAS, if it was opened before.
#[inline]
pub fn opened_blas(kind: BackendKind) -> Option<&'static Result<Blas>> {
    OPENED.of(kind)?.get()
}

/// cuBLAS or hipBLAS, looked for once in a process: whoever can do without does not search again each time. None on the CPU.
#[cold]
pub fn blas(kind: BackendKind, driver: i32) -> Option<&'static Result<Blas>> {
    let place = OPENED.of(kind)?;
    if place.get().is_none() {
        // Who opens holds no lock: it asks Python, and the system's loader.
        let opened = NOUN.open(kind, driver, &places_of("cublas")).and_then(|library| Blas::open(&library, kind));
        place.set(opened);
    }
    place.get()
}

impl Blas {
    fn open(library: &Library, kind: BackendKind) -> Result<Self> {
        // SAFETY: found under the vendor's name, and asked for its functions only.
        let mut functions = unsafe { Functions::of(library, kind) };
        functions.one_v2 = functions.one_v2.or(functions.one_plain);
        functions.many_v2 = functions.many_v2.or(functions.many_plain);
        functions.one_wide_v2 = functions.one_wide_v2.or(functions.one_wide_plain);
        functions.many_wide_v2 = functions.many_wide_v2.or(functions.many_wide_plain);
        let (path, name) = (library.name().to_owned(), NOUN.name(kind));
        if functions.create.is_none() || functions.destroy.is_none() || functions.set_stream.is_none() {
            return Err(Error::Unavailable(format!("{path} is no {name}: it cannot make a handle")));
        }
        let has_products = functions.one_v2.is_some() && functions.many_v2.is_some();
        // An older hipBLAS has none of the caller's, and takes memory of its own.
        if !has_products || (kind == BackendKind::Cuda && functions.set_workspace.is_none()) {
            return Err(Error::Unavailable(format!(
                "{path} is too old a {name}: it lacks products of types that are told, or a workspace of the caller's"
            )));
        }
        // SAFETY: as above.
        let lu = unsafe { lu::Functions::of(library, kind) };
        Ok(Self { functions, lu, kind, path })
    }

    /// The file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The vendor's name.
    pub fn name(&self) -> &'static str {
        NOUN.name(self.kind)
    }

    fn is_hip(&self) -> bool {
        self.kind == BackendKind::Hip
    }

    /// Makes a handle on the device that is current.
    ///
    /// # Errors
    /// The library's code.
    pub fn create(&self) -> Outcome<BlasHandle> {
        /// `CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION`: parts of an inner axis are added up in float32, too.
        const WHOLE_SUMS: u32 = 16;
        let Some(create) = self.functions.create else { return Err(NOT_INITIALIZED) };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the target is writable.
        check(unsafe { create(&mut handle) })?;
        let made = BlasHandle(handle.expose_provenance());
        let told = [
            self.functions.set_math_mode.filter(|_| !self.is_hip()).map(|set| (set, WHOLE_SUMS)),
            // The same bits each time.
            self.functions.set_atomics_mode.map(|set| (set, 0)),
        ];
        for (set, value) in told.into_iter().flatten() {
            // SAFETY: the handle is alive.
            if let Err(code) = check(unsafe { set(handle, value) }) {
                self.destroy(made);
                return Err(code);
            }
        }
        Ok(made)
    }

    /// Ends a handle. Its device is current.
    pub fn destroy(&self, handle: BlasHandle) {
        if let Some(destroy) = self.functions.destroy {
            // SAFETY: the caller took it from where it was, and nobody else has it. Nobody could be told of a refusal.
            unsafe { destroy(handle.raw()) };
        }
    }

    /// The library's version by its own count; 0 where it does not tell.
    pub fn version(&self, handle: BlasHandle) -> i32 {
        let mut version = 0;
        if let Some(ask) = self.functions.version {
            // SAFETY: the handle is alive, the target writable.
            unsafe { ask(handle.raw(), &mut version) };
        }
        version
    }

    /// Puts a product on a stream. The handle's device is current.
    ///
    /// # Safety
    /// The matrices lie where the product says; stream, workspace and handle are alive, and nobody else uses the handle now.
    ///
    /// # Errors
    /// The library's code; then nothing that matters was put there.
    pub unsafe fn gemm(&self, handle: BlasHandle, desk: &Desk, gemm: &Gemm) -> Outcome<()> {
        // SAFETY: as promised.
        unsafe { self.sit_down(handle, desk)? };
        // SAFETY: as promised.
        check(unsafe { self.multiply(handle.raw(), gemm) })
    }

    /// Tells a handle where it works.
    ///
    /// # Safety
    /// As [`Self::gemm`].
    unsafe fn sit_down(&self, handle: BlasHandle, desk: &Desk) -> Outcome<()> {
        let handle = handle.raw();
        if let Some(set) = self.functions.set_stream {
            // SAFETY: alive, as promised.
            check(unsafe { set(handle, std::ptr::with_exposed_provenance_mut(desk.stream.0)) })?;
        }
        if let Some(set) = self.functions.set_workspace {
            // SAFETY: alive, as promised. A new stream takes the workspace away, so it is told each time.
            check(unsafe { set(handle, std::ptr::with_exposed_provenance_mut(desk.workspace), desk.bytes) })?;
        }
        Ok(())
    }

    /// The vendor's numbers: of the operations, the type of sums, and the algorithm.
    fn words(&self, gemm: &Gemm) -> ([u32; 2], u32, c_int) {
        let first = if self.is_hip() { 111 } else { 0 };
        let is_fast = gemm.is_tf32 && !gemm.number.is_double() && !gemm.number.is_half();
        let sums = match (self.is_hip(), gemm.number.is_double()) {
            (false, true) => 70,
            (false, false) => 68 + if is_fast { 9 } else { 0 },
            (true, true) => 7,
            (true, false) => 2 + if is_fast { 4 } else { 0 },
        };
        (gemm.operations.map(|operation| first + operation as u32), sums, if self.is_hip() { 160 } else { -1 })
    }

    /// # Safety
    /// As [`Self::gemm`].
    unsafe fn multiply(&self, handle: *mut c_void, gemm: &Gemm) -> u32 {
        let ([op_a, op_b], sums, algorithm) = self.words(gemm);
        let (singles, doubles) = ([[1.0f32, 0.0], [0.0, 0.0]], [[1.0f64, 0.0], [0.0, 0.0]]);
        let (one, none): (*const c_void, *const c_void) = match gemm.number.is_double() {
            true => ((&raw const doubles[0]).cast(), (&raw const doubles[1]).cast()),
            false => ((&raw const singles[0]).cast(), (&raw const singles[1]).cast()),
        };
        let ([m, n, k], [a, b], out) = (gemm.lengths, gemm.operands, gemm.out);
        let [at_a, at_b] = [a, b].map(|matrix| std::ptr::with_exposed_provenance::<c_void>(matrix.address));
        let to = std::ptr::with_exposed_provenance_mut::<c_void>(out.address);
        let all = [m, n, k, a.leading, b.leading, out.leading, gemm.count];
        let is_narrow = all.iter().all(|&length| c_int::try_from(length).is_ok());
        let narrow = all.map(|length| length as c_int);
        let functions = &self.functions;
        let call = Call {
            handle,
            operations: [op_a, op_b],
            number: gemm.number.code(),
            factors: [one, none],
            operands: [at_a, at_b],
            out: to,
            apart: [a.apart, b.apart, out.apart],
            sums,
            algorithm,
        };
        // SAFETY: as promised; the factors are of the type of sums and live until the call has returned, in which they are read.
        unsafe {
            match (is_narrow, gemm.count) {
                (true, 1) => call.one(functions.one_v2, narrow),
                (true, _) => call.many(functions.many_v2, narrow),
                (false, 1) => call.one(functions.one_wide_v2, all),
                (false, _) => call.many(functions.many_wide_v2, all),
            }
        }
    }
}

/// Both vendors' number for a library that was not initialised, and what a function that is not there would answer.
const NOT_INITIALIZED: u32 = 1;
const NOT_SUPPORTED: u32 = 15;

fn check(code: u32) -> Outcome<()> {
    if code == 0 { Ok(()) } else { Err(code) }
}
