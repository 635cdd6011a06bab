//! Factorises dense column-major matrices by cuSOLVER or hipSOLVER.
//!
//! hipSOLVER has cuSOLVER's functions with the same parameters under different names, except the functions for
//! eigenvalues of a general matrix and of a stack of symmetric matrices. The constants for options differ between the
//! libraries. [`Factorization`] describes the operation and its memory, [`Solver::run`] executes it.

mod calls;
mod factorization;

use std::ffi::{c_int, c_void};

use super::{HandleKey, LibrarySpec, ObjectPool, OpenLibraries, SearchPaths, functions};
use crate::{BackendKind, Library};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeOnce;

pub use factorization::{ArrayRole, Factorization, FactorizationKind};

static NOUN: LibrarySpec = LibrarySpec {
    names: ["cuSOLVER", "hipSOLVER"],
    cuda: &[(13, "libcusolver.so.12"), (12, "libcusolver.so.11")],
    hip: &["libhipsolver.so.1", "libhipsolver.so.0", "libhipsolver.so"],
    package: "hipsolver",
};

type P = *mut c_void;
type I = c_int;
type CreateFn = unsafe extern "C" fn(*mut P) -> u32;
type DestroyFn = unsafe extern "C" fn(P) -> u32;
#[rustfmt::skip]
type GeevSize = unsafe extern "C" fn(
    P, P, u32, u32, i64, u32, P, i64, u32, P, u32, P, i64, u32, P, i64, u32, *mut usize, *mut usize,
) -> u32;
#[rustfmt::skip]
type Geev = unsafe extern "C" fn(
    P, P, u32, u32, i64, u32, P, i64, u32, P, u32, P, i64, u32, P, i64, u32, P, usize, P, usize, P,
) -> u32;
type SyevdSize = unsafe extern "C" fn(P, P, u32, u32, i64, u32, P, i64, u32, P, u32, *mut usize, *mut usize) -> u32;
type Syevd = unsafe extern "C" fn(P, P, u32, u32, i64, u32, P, i64, u32, P, u32, P, usize, P, usize, P) -> u32;
#[rustfmt::skip]
type SyevBatchedSize = unsafe extern "C" fn(
    P, P, u32, u32, i64, u32, P, i64, u32, P, u32, *mut usize, *mut usize, i64,
) -> u32;
#[rustfmt::skip]
type SyevBatched = unsafe extern "C" fn(
    P, P, u32, u32, i64, u32, P, i64, u32, P, u32, P, usize, P, usize, P, i64,
) -> u32;

functions! {
    create: CreateFn = "cusolverDnCreate", "hipsolverDnCreate";
    destroy: DestroyFn = "cusolverDnDestroy", "hipsolverDnDestroy";
    set_stream: unsafe extern "C" fn(P, P) -> u32 = "cusolverDnSetStream", "hipsolverDnSetStream";
    create_gesvdj: CreateFn = "cusolverDnCreateGesvdjInfo", "hipsolverDnCreateGesvdjInfo";
    destroy_gesvdj: DestroyFn = "cusolverDnDestroyGesvdjInfo", "hipsolverDnDestroyGesvdjInfo";
    create_syevj: CreateFn = "cusolverDnCreateSyevjInfo", "hipsolverDnCreateSyevjInfo";
    destroy_syevj: DestroyFn = "cusolverDnDestroySyevjInfo", "hipsolverDnDestroySyevjInfo";
    create_params: CreateFn = "cusolverDnCreateParams", "hipsolverDnCreateParams";
    destroy_params: DestroyFn = "cusolverDnDestroyParams", "hipsolverDnDestroyParams";
    geev_size: GeevSize = "cusolverDnXgeev_bufferSize", "hipsolverDnXgeev_bufferSize";
    geev: Geev = "cusolverDnXgeev", "hipsolverDnXgeev";
    syevd_size: SyevdSize = "cusolverDnXsyevd_bufferSize", "hipsolverDnXsyevd_bufferSize";
    syevd: Syevd = "cusolverDnXsyevd", "hipsolverDnXsyevd";
    syev_batched_size: SyevBatchedSize =
        "cusolverDnXsyevBatched_bufferSize", "hipsolverDnXsyevBatched_bufferSize";
    syev_batched: SyevBatched = "cusolverDnXsyevBatched", "hipsolverDnXsyevBatched";
}

/// Declares library functions that exist for each element type. The function for a complex type may have another name
/// than the function for a real type.
macro_rules! typed {
    ($($name:ident: $type:ty = $real:literal, $complex:literal;)*) => {
        /// The library's functions for one element type.
        struct Typed {
            $($name: Option<$type>,)*
        }

        impl Typed {
            /// Looks up the functions in the library.
            ///
            /// # Safety
            /// `library` is the library of the vendor to which `prefix` belongs.
            unsafe fn of(library: &Library, prefix: &str, element: Element) -> Self {
                let name = |real: &str, complex: &str| {
                    format!("{prefix}{}{}", element.letter(), if element.is_complex() { complex } else { real })
                };
                Self {
                    // SAFETY: the signatures are those of both vendors' headers.
                    $($name: unsafe { library.get(&name($real, $complex)) },)*
                }
            }
        }
    };
}

typed! {
    getrf_size: unsafe extern "C" fn(P, I, I, P, I, *mut I) -> u32 = "getrf_bufferSize", "getrf_bufferSize";
    getrf: unsafe extern "C" fn(P, I, I, P, I, P, P, P) -> u32 = "getrf", "getrf";
    getrs: unsafe extern "C" fn(P, u32, I, I, P, I, P, P, I, P) -> u32 = "getrs", "getrs";
    potrf_size: unsafe extern "C" fn(P, u32, I, P, I, *mut I) -> u32 = "potrf_bufferSize", "potrf_bufferSize";
    potrf: unsafe extern "C" fn(P, u32, I, P, I, P, I, P) -> u32 = "potrf", "potrf";
    potrf_batched: unsafe extern "C" fn(P, u32, I, P, I, P, I) -> u32 = "potrfBatched", "potrfBatched";
    geqrf_size: unsafe extern "C" fn(P, I, I, P, I, *mut I) -> u32 = "geqrf_bufferSize", "geqrf_bufferSize";
    geqrf: unsafe extern "C" fn(P, I, I, P, I, P, P, I, P) -> u32 = "geqrf", "geqrf";
    orgqr_size: unsafe extern "C" fn(P, I, I, I, P, I, P, *mut I) -> u32 = "orgqr_bufferSize", "ungqr_bufferSize";
    orgqr: unsafe extern "C" fn(P, I, I, I, P, I, P, P, I, P) -> u32 = "orgqr", "ungqr";
    syevd_size: unsafe extern "C" fn(P, u32, u32, I, P, I, P, *mut I) -> u32 = "syevd_bufferSize", "heevd_bufferSize";
    syevd: unsafe extern "C" fn(P, u32, u32, I, P, I, P, P, I, P) -> u32 = "syevd", "heevd";
    syevj_size: unsafe extern "C" fn(P, u32, u32, I, P, I, P, *mut I, P, I) -> u32 =
        "syevjBatched_bufferSize", "heevjBatched_bufferSize";
    syevj: unsafe extern "C" fn(P, u32, u32, I, P, I, P, P, I, P, P, I) -> u32 = "syevjBatched", "heevjBatched";
    gesvd_size: unsafe extern "C" fn(P, I, I, *mut I) -> u32 = "gesvd_bufferSize", "gesvd_bufferSize";
    gesvd: unsafe extern "C" fn(P, i8, i8, I, I, P, I, P, P, I, P, I, P, I, P, P) -> u32 = "gesvd", "gesvd";
    gesvdj_size: unsafe extern "C" fn(P, u32, I, I, I, P, I, P, P, I, P, I, *mut I, P) -> u32 =
        "gesvdj_bufferSize", "gesvdj_bufferSize";
    gesvdj: unsafe extern "C" fn(P, u32, I, I, I, P, I, P, P, I, P, I, P, I, P, P) -> u32 = "gesvdj", "gesvdj";
    gesvdj_batched_size: unsafe extern "C" fn(P, u32, I, I, P, I, P, P, I, P, I, *mut I, P, I) -> u32 =
        "gesvdjBatched_bufferSize", "gesvdjBatched_bufferSize";
    gesvdj_batched: unsafe extern "C" fn(P, u32, I, I, P, I, P, P, I, P, I, P, I, P, P, I) -> u32 =
        "gesvdjBatched", "gesvdjBatched";
}

/// Element types that cuSOLVER and hipSOLVER support.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// `float32`.
    Float32,
    /// `float64`.
    Float64,
    /// `complex64`.
    Complex64,
    /// `complex128`.
    Complex128,
}

impl Element {
    /// All element types, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::Float32, Self::Float64, Self::Complex64, Self::Complex128];

    /// Returns whether the type is complex.
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }

    /// Returns the size of an element in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Float32 => 4,
            Self::Float64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Returns the size in bytes of an element, or of the real part of a complex element.
    pub const fn real_bytes(self) -> usize {
        if self.is_complex() { self.bytes() / 2 } else { self.bytes() }
    }

    /// Returns the real element type with the same precision.
    pub const fn real(self) -> Self {
        match self {
            Self::Float32 | Self::Complex64 => Self::Float32,
            Self::Float64 | Self::Complex128 => Self::Float64,
        }
    }

    /// Returns the complex element type with the same precision.
    pub const fn complex(self) -> Self {
        match self {
            Self::Float32 | Self::Complex64 => Self::Complex64,
            Self::Float64 | Self::Complex128 => Self::Complex128,
        }
    }

    /// Returns the letter of the type in the names of the vendors' functions.
    pub const fn letter(self) -> char {
        match self {
            Self::Float32 => 'S',
            Self::Float64 => 'D',
            Self::Complex64 => 'C',
            Self::Complex128 => 'Z',
        }
    }

    /// Returns the enum value of the type, which is equal in both vendors' headers.
    const fn number(self) -> u32 {
        match self {
            Self::Float32 => 0,
            Self::Float64 => 1,
            Self::Complex64 => 4,
            Self::Complex128 => 5,
        }
    }
}

/// The opened cuSOLVER or hipSOLVER library and its functions.
pub struct Solver {
    kind: BackendKind,
    path: String,
    functions: Functions,
    typed: [Typed; 4],
}

/// Library objects that only one call may use at a time: the library's handle, and the parameters of its iterative
/// algorithms.
pub struct SolverHandle {
    own: P,
    gesvdj: P,
    syevj: P,
    params: P,
}

// SAFETY: the library allows any thread to use its objects, one thread at a time.
unsafe impl Send for SolverHandle {}

/// Pool of idle handles. The pool grows to the number of concurrent calls, and is not freed at process exit.
pub static IDLE_HANDLES: ObjectPool<HandleKey, SolverHandle> = ObjectPool::new(usize::MAX);

static OPENED: OpenLibraries<Solver> = OpenLibraries::new();

fn place(kind: BackendKind) -> Result<&'static ForkSafeOnce<Solver>> {
    OPENED.of(kind).ok_or_else(|| {
        Error::not_supported(
            "NumPy computes linear algebra in host memory, and cannot be captured: call it before the capture begins",
        )
    })
}

/// Returns cuSOLVER or hipSOLVER if it is already open. Does not search for the library.
///
/// # Errors
/// `NotSupported` on the CPU.
#[inline]
pub fn open_solver(kind: BackendKind) -> Result<Option<&'static Solver>> {
    Ok(place(kind)?.get())
}

/// Returns cuSOLVER or hipSOLVER. The first call that finds the library opens it.
///
/// # Errors
/// `Unavailable` with the package to install and the names that were tried; `NotSupported` on the CPU.
pub fn solver(kind: BackendKind, driver: i32, places: &SearchPaths) -> Result<&'static Solver> {
    NOUN.at(place(kind)?, kind, driver, places, Solver::open)
}

impl Solver {
    fn open(library: Library, kind: BackendKind) -> Result<Self> {
        // SAFETY: the library was found under the vendor's name; only its functions are looked up.
        let functions = unsafe { Functions::of(&library, kind) };
        let path = library.name().to_owned();
        if functions.create.is_none() || functions.set_stream.is_none() {
            return Err(Error::Unavailable(format!("{path} is no {}: it cannot make a handle", NOUN.name(kind))));
        }
        let prefix = if kind == BackendKind::Hip { "hipsolverDn" } else { "cusolverDn" };
        // SAFETY: the library was found under the vendor's name; only its functions are looked up.
        let typed = Element::ALL.map(|element| unsafe { Typed::of(&library, prefix, element) });
        Ok(Self { kind, path, functions, typed })
    }

    /// Creates a handle for the current device.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn handle(&self) -> Result<SolverHandle> {
        let make = |make: Option<CreateFn>, name| -> Result<P> {
            let mut made = std::ptr::null_mut();
            let Some(make) = make else { return Ok(made) };
            // SAFETY: the out-parameter is writable.
            self.checked(unsafe { make(&mut made) }, name).map(|()| made)
        };
        let own = make(self.functions.create, "Create")?;
        let others = || -> Result<[P; 3]> {
            Ok([
                make(self.functions.create_gesvdj, "CreateGesvdjInfo")?,
                make(self.functions.create_syevj, "CreateSyevjInfo")?,
                make(self.functions.create_params, "CreateParams")?,
            ])
        };
        match others() {
            Ok([gesvdj, syevj, params]) => Ok(SolverHandle { own, gesvdj, syevj, params }),
            Err(error) => {
                self.destroy(&SolverHandle {
                    own,
                    gesvdj: std::ptr::null_mut(),
                    syevj: std::ptr::null_mut(),
                    params: std::ptr::null_mut(),
                });
                Err(error)
            }
        }
    }

    /// Destroys the library objects of a handle, whose device must be current. After a failed creation of the handle,
    /// some of these objects do not exist.
    pub fn destroy(&self, handle: &SolverHandle) {
        let Functions { destroy, destroy_gesvdj, destroy_syevj, destroy_params, .. } = &self.functions;
        let all = [
            (handle.gesvdj, destroy_gesvdj),
            (handle.syevj, destroy_syevj),
            (handle.params, destroy_params),
            (handle.own, destroy),
        ];
        for (object, end) in all {
            if let (false, Some(end)) = (object.is_null(), end) {
                // SAFETY: the object was created by `handle`, and the caller does not use the handle any more. An error
                // of the destruction is ignored, because it could not be handled.
                let _ = unsafe { end(object) };
            }
        }
    }

    fn of(&self, element: Element) -> &Typed {
        let [single, double, complex, double_complex] = &self.typed;
        match element {
            Element::Float32 => single,
            Element::Float64 => double,
            Element::Complex64 => complex,
            Element::Complex128 => double_complex,
        }
    }

    #[cold]
    fn absent(&self, name: &str) -> Error {
        Error::NotSupported(format!(
            "{} has no {name}: it is too old, or the vendor has no such function; install a newer {}",
            self.path,
            NOUN.name(self.kind)
        ))
    }

    #[inline]
    fn checked(&self, code: u32, operation: &'static str) -> Result<()> {
        match code {
            0 => Ok(()),
            code => Err(self.refusal(code, operation)),
        }
    }

    #[cold]
    fn refusal(&self, code: u32, operation: &'static str) -> Error {
        const NVIDIAS: [&str; 12] = [
            "SUCCESS",
            "NOT_INITIALIZED",
            "ALLOC_FAILED",
            "INVALID_VALUE",
            "ARCH_MISMATCH",
            "MAPPING_ERROR",
            "EXECUTION_FAILED",
            "INTERNAL_ERROR",
            "MATRIX_TYPE_NOT_SUPPORTED",
            "NOT_SUPPORTED",
            "ZERO_PIVOT",
            "INVALID_LICENSE",
        ];
        const AMDS: [&str; 14] = [
            "SUCCESS",
            "NOT_INITIALIZED",
            "ALLOC_FAILED",
            "INVALID_VALUE",
            "MAPPING_ERROR",
            "EXECUTION_FAILED",
            "INTERNAL_ERROR",
            "NOT_SUPPORTED",
            "ARCH_MISMATCH",
            "HANDLE_IS_NULLPTR",
            "INVALID_ENUM",
            "UNKNOWN",
            "ZERO_PIVOT",
            "MATRIX_TYPE_NOT_SUPPORTED",
        ];
        let (prefix, names): (_, &[&str]) = match self.kind {
            BackendKind::Hip => ("HIPSOLVER_STATUS_", &AMDS),
            _ => ("CUSOLVER_STATUS_", &NVIDIAS),
        };
        let name = names.get(code as usize).copied().unwrap_or("UNKNOWN");
        NOUN.refusal(self.kind, &self.path, operation, (code, format!("{prefix}{name}")))
    }
}
