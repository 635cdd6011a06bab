//! Calls cuBLAS or hipBLAS for products of column-major matrices.

mod gemm_call;
mod lu;

use std::ffi::{c_int, c_void};

use gemm_call::{BatchedGemmFn, GemmCall, GemmFn};

use super::{LibrarySpec, OpenLibraries, functions, places_of};
use crate::{Address, BackendKind, Library, StreamHandle};
use pygpu_base::error::{Error, Result};

static NOUN: LibrarySpec = LibrarySpec {
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
    // In hipBLAS 2 the names without the suffix `_v2` have two meanings, so the names with the suffix are preferred.
    // hipBLAS 3 has only the names without the suffix.
    one_v2: GemmFn<c_int> = "cublasGemmEx", "hipblasGemmEx_v2";
    one_plain: GemmFn<c_int> = "cublasGemmEx", "hipblasGemmEx";
    many_v2: BatchedGemmFn<c_int> = "cublasGemmStridedBatchedEx", "hipblasGemmStridedBatchedEx_v2";
    many_plain: BatchedGemmFn<c_int> = "cublasGemmStridedBatchedEx", "hipblasGemmStridedBatchedEx";
    one_wide_v2: GemmFn<i64> = "cublasGemmEx_64", "hipblasGemmEx_v2_64";
    one_wide_plain: GemmFn<i64> = "cublasGemmEx_64", "hipblasGemmEx_64";
    many_wide_v2: BatchedGemmFn<i64> = "cublasGemmStridedBatchedEx_64", "hipblasGemmStridedBatchedEx_v2_64";
    many_wide_plain: BatchedGemmFn<i64> = "cublasGemmStridedBatchedEx_64", "hipblasGemmStridedBatchedEx_64";
}

/// Element types that cuBLAS and hipBLAS support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GemmType {
    /// Elements are float16, and sums are computed in float32.
    Float16,
    /// Elements are bfloat16, and sums are computed in float32.
    BFloat16,
    /// Elements are float32, and sums are computed in float32.
    Float32,
    /// Elements are float64, and sums are computed in float64.
    Float64,
    /// Elements are complex numbers of two float32 parts.
    Complex64,
    /// Elements are complex numbers of two float64 parts.
    Complex128,
}

impl GemmType {
    /// Returns the enum value of the type, which is equal in both vendors' headers.
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

/// Operation that the library applies to an operand before the product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// The operand is used as it is.
    Plain,
    /// The operand is transposed.
    Transposed,
    /// The operand is transposed and conjugated.
    Adjoint,
}

/// A column-major matrix, or a batch of such matrices at a constant distance in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// Address of the first matrix in device memory.
    pub address: Address,
    /// Distance between the starts of consecutive columns of a matrix, in elements.
    pub leading: i64,
    /// Distance between the starts of consecutive matrices of the batch, in elements.
    pub apart: i64,
}

/// A batch of products `out = op(a) op(b)` of column-major matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gemm {
    /// Element type of all three matrices.
    pub number: GemmType,
    /// Whether float32 operands may be rounded to TF32 before multiplication.
    pub is_tf32: bool,
    /// The operations that are applied to `a` and to `b` before the product.
    pub operations: [Operation; 2],
    /// Number of rows and of columns of the result, and the length of the axis over which products are summed.
    pub lengths: [i64; 3],
    /// The operands `a` and `b`.
    pub operands: [Matrix; 2],
    /// The matrix that receives the result.
    pub out: Matrix,
    /// Number of products in the batch.
    pub count: i64,
}

/// The stream of a library call, and device memory that the library may use.
#[derive(Clone, Copy, Debug)]
pub struct BlasWorkspace {
    /// The stream on which the library enqueues its work.
    pub stream: StreamHandle,
    /// Address of device memory that the library uses temporarily.
    pub workspace: Address,
    /// Size of the memory at `workspace` in bytes.
    pub bytes: usize,
}

/// Result of a call of the BLAS library. The error type is the library's status code.
pub type Outcome<T> = std::result::Result<T, u32>;

/// A library handle, which stores a stream and a workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlasHandle(usize);

impl BlasHandle {
    fn raw(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// The opened cuBLAS or hipBLAS library and its functions.
pub struct Blas {
    functions: Functions,
    lu: lu::LuFunctions,
    kind: BackendKind,
    path: String,
}

/// For each vendor, the opened library or the error of the search for it. The search is not repeated.
static OPENED: OpenLibraries<Result<Blas>> = OpenLibraries::new();

/// Returns cuBLAS or hipBLAS, or the error of the search, if a search has finished. Does not start a search.
#[inline]
pub fn opened_blas(kind: BackendKind) -> Option<&'static Result<Blas>> {
    OPENED.of(kind)?.get()
}

/// Returns cuBLAS or hipBLAS, or the error of the search. Returns `None` on the CPU. The library is searched for once
/// per process, because callers with a fallback would otherwise repeat the search at each call.
#[cold]
pub fn blas(kind: BackendKind, driver: i32) -> Option<&'static Result<Blas>> {
    let place = OPENED.of(kind)?;
    if place.get().is_none() {
        // No lock is held while the library is opened, because the search calls Python and the system's loader.
        let opened = NOUN.open(kind, driver, &places_of("cublas")).and_then(|library| Blas::open(&library, kind));
        place.set(opened);
    }
    place.get()
}

impl Blas {
    fn open(library: &Library, kind: BackendKind) -> Result<Self> {
        // SAFETY: the library was found under the vendor's name; only its functions are looked up.
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
        // An older hipBLAS lacks `set_workspace` and allocates its workspace itself. cuBLAS must have `set_workspace`.
        if !has_products || (kind == BackendKind::Cuda && functions.set_workspace.is_none()) {
            return Err(Error::Unavailable(format!(
                "{path} is too old a {name}: it lacks products of requested types, or a workspace of the caller's"
            )));
        }
        // SAFETY: `library` was opened under the name of this vendor's library.
        let lu = unsafe { lu::LuFunctions::of(library, kind) };
        Ok(Self { functions, lu, kind, path })
    }

    /// Returns the path of the library file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the library's name, cuBLAS or hipBLAS, for messages.
    pub fn name(&self) -> &'static str {
        NOUN.name(self.kind)
    }

    fn is_hip(&self) -> bool {
        self.kind == BackendKind::Hip
    }

    /// Creates a handle on the current device.
    ///
    /// # Errors
    /// The error code of the library.
    pub fn create(&self) -> Outcome<BlasHandle> {
        /// The value of `CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION`: if the library splits the inner axis, it
        /// also adds the partial sums in float32.
        const WHOLE_SUMS: u32 = 16;
        let Some(create) = self.functions.create else { return Err(NOT_INITIALIZED) };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the out-parameter is writable.
        check(unsafe { create(&mut handle) })?;
        let made = BlasHandle(handle.expose_provenance());
        let modes = [
            self.functions.set_math_mode.filter(|_| !self.is_hip()).map(|set| (set, WHOLE_SUMS)),
            // Disables atomic operations, so that results are bitwise reproducible.
            self.functions.set_atomics_mode.map(|set| (set, 0)),
        ];
        for (set, value) in modes.into_iter().flatten() {
            // SAFETY: the handle was created above and is alive.
            if let Err(code) = check(unsafe { set(handle, value) }) {
                self.destroy(made);
                return Err(code);
            }
        }
        Ok(made)
    }

    /// Destroys a handle, whose device must be current.
    pub fn destroy(&self, handle: BlasHandle) {
        if let Some(destroy) = self.functions.destroy {
            // SAFETY: the caller removed the handle from the pool, so no other code uses it. An error of the
            // destruction is ignored, because it could not be reported.
            unsafe { destroy(handle.raw()) };
        }
    }

    /// Returns the library version in the library's own format, or 0 if the library does not report its version.
    pub fn version(&self, handle: BlasHandle) -> i32 {
        let mut version = 0;
        if let Some(ask) = self.functions.version {
            // SAFETY: the handle is alive, and the out-parameter is writable.
            unsafe { ask(handle.raw(), &mut version) };
        }
        version
    }

    /// Enqueues a product on a stream. The handle's device must be current.
    ///
    /// # Safety
    /// The matrices have the given addresses and shapes; stream, workspace and handle are alive, and no other thread
    /// uses the handle.
    ///
    /// # Errors
    /// The error code of the library. In this case no work was enqueued.
    pub unsafe fn gemm(&self, handle: BlasHandle, desk: &BlasWorkspace, gemm: &Gemm) -> Outcome<()> {
        // SAFETY: the caller guarantees that stream, workspace and handle are alive, and that no other thread uses the
        // handle.
        unsafe { self.sit_down(handle, desk)? };
        // SAFETY: the caller guarantees that the matrices are valid, and that no other thread uses the handle.
        check(unsafe { self.multiply(handle.raw(), gemm) })
    }

    /// Sets the stream and the workspace of a library handle.
    ///
    /// # Safety
    /// The conditions of [`Self::gemm`] apply.
    unsafe fn sit_down(&self, handle: BlasHandle, desk: &BlasWorkspace) -> Outcome<()> {
        let handle = handle.raw();
        if let Some(set) = self.functions.set_stream {
            // SAFETY: the caller guarantees that handle and stream are alive.
            check(unsafe { set(handle, std::ptr::with_exposed_provenance_mut(desk.stream.0)) })?;
        }
        if let Some(set) = self.functions.set_workspace {
            // SAFETY: the caller guarantees that handle and workspace are alive. Setting the stream resets the
            // workspace, so the workspace is set in each call.
            check(unsafe { set(handle, std::ptr::with_exposed_provenance_mut(desk.workspace), desk.bytes) })?;
        }
        Ok(())
    }

    /// Returns the vendor's constants for the operations on `a` and `b`, the type of the sums, and the algorithm.
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

    /// Calls the library function for a product.
    ///
    /// # Safety
    /// The conditions of [`Self::gemm`] apply.
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
        let call = GemmCall {
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
        // SAFETY: the caller guarantees that handle and matrices are valid; the factors have the type of the sums and
        // live until the call returns, and the library reads them during the call.
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

/// The error code by which both vendors' libraries report that they are not initialised. PyGPU also uses this code if
/// the library lacks a function.
const NOT_INITIALIZED: u32 = 1;
const NOT_SUPPORTED: u32 = 15;

fn check(code: u32) -> Outcome<()> {
    if code == 0 { Ok(()) } else { Err(code) }
}
