//! cuSOLVER and hipSOLVER: factorisations of dense matrices, which lie column by column.
//!
//! hipSOLVER has cuSOLVER's functions with the same parameters under names of its own, but for the general eigenvalues; the
//! numbers of its choices are others. [`Task`] says what is to be done with which memory, [`Solver::run`] does it.

mod run;
mod task;

use std::ffi::{c_int, c_void};

use super::{Noun, Opened, Places, Shelf, functions};
use crate::{BackendKind, Library};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Once;

pub use task::{Role, Task, What};

static NOUN: Noun = Noun {
    names: ["cuSOLVER", "hipSOLVER"],
    cuda: &[(13, "libcusolver.so.12"), (12, "libcusolver.so.11")],
    hip: &["libhipsolver.so.1", "libhipsolver.so.0", "libhipsolver.so"],
    package: "hipsolver",
};

type P = *mut c_void;
type I = c_int;
type Make = unsafe extern "C" fn(*mut P) -> u32;
type End = unsafe extern "C" fn(P) -> u32;
#[rustfmt::skip]
type GeevSize = unsafe extern "C" fn(
    P, P, u32, u32, i64, u32, P, i64, u32, P, u32, P, i64, u32, P, i64, u32, *mut usize, *mut usize,
) -> u32;
#[rustfmt::skip]
type Geev = unsafe extern "C" fn(
    P, P, u32, u32, i64, u32, P, i64, u32, P, u32, P, i64, u32, P, i64, u32, P, usize, P, usize, P,
) -> u32;

functions! {
    create: Make = "cusolverDnCreate", "hipsolverDnCreate";
    destroy: End = "cusolverDnDestroy", "hipsolverDnDestroy";
    set_stream: unsafe extern "C" fn(P, P) -> u32 = "cusolverDnSetStream", "hipsolverDnSetStream";
    create_gesvdj: Make = "cusolverDnCreateGesvdjInfo", "hipsolverDnCreateGesvdjInfo";
    destroy_gesvdj: End = "cusolverDnDestroyGesvdjInfo", "hipsolverDnDestroyGesvdjInfo";
    create_syevj: Make = "cusolverDnCreateSyevjInfo", "hipsolverDnCreateSyevjInfo";
    destroy_syevj: End = "cusolverDnDestroySyevjInfo", "hipsolverDnDestroySyevjInfo";
    create_params: Make = "cusolverDnCreateParams", "hipsolverDnCreateParams";
    destroy_params: End = "cusolverDnDestroyParams", "hipsolverDnDestroyParams";
    geev_size: GeevSize = "cusolverDnXgeev_bufferSize", "hipsolverDnXgeev_bufferSize";
    geev: Geev = "cusolverDnXgeev", "hipsolverDnXgeev";
}

/// Declares functions that there are for each type of elements; complex ones may have another name.
macro_rules! typed {
    ($($name:ident: $type:ty = $real:literal, $complex:literal;)*) => {
        /// The functions of one type of elements.
        struct Typed {
            $($name: Option<$type>,)*
        }

        impl Typed {
            /// # Safety
            /// The library is this vendor's.
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

/// A type of elements that the libraries know.
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
    /// All of them, as they are declared.
    pub const ALL: [Self; 4] = [Self::Float32, Self::Float64, Self::Complex64, Self::Complex128];

    /// Whether an element has two parts.
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }

    /// Bytes of one.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Float32 => 4,
            Self::Float64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Bytes of a part.
    pub const fn real_bytes(self) -> usize {
        if self.is_complex() { self.bytes() / 2 } else { self.bytes() }
    }

    /// What the names of the vendors' functions say of it.
    pub const fn letter(self) -> char {
        match self {
            Self::Float32 => 'S',
            Self::Float64 => 'D',
            Self::Complex64 => 'C',
            Self::Complex128 => 'Z',
        }
    }

    /// The vendors' number of the type.
    const fn number(self) -> u32 {
        match self {
            Self::Float32 => 0,
            Self::Float64 => 1,
            Self::Complex64 => 4,
            Self::Complex128 => 5,
        }
    }
}

/// The open library.
pub struct Solver {
    kind: BackendKind,
    path: String,
    functions: Functions,
    typed: [Typed; 4],
}

/// What a call works with, and no two calls at a time: the library's handle, and its parameters of iterations.
pub struct Handle {
    own: P,
    gesvdj: P,
    syevj: P,
    params: P,
}

// SAFETY: the libraries' objects may be used by any thread, by one at a time.
unsafe impl Send for Handle {}

/// The backend, the device and its epoch.
pub type Key = (BackendKind, i32, u32);

/// Handles that nobody uses now: as many as calls were made at a time. They are left to the process at its end.
pub static HANDLES_AT_REST: Shelf<Key, Handle> = Shelf::new(usize::MAX);

static OPENED: Opened<Solver> = Opened::new();

fn place(kind: BackendKind) -> Result<&'static Once<Solver>> {
    OPENED.of(kind).ok_or_else(|| {
        Error::not_supported(
            "NumPy computes linear algebra in host memory, and cannot be captured: call it before the capture begins",
        )
    })
}

/// cuSOLVER or hipSOLVER, if it is open.
///
/// # Errors
/// `NotSupported` on the CPU.
#[inline]
pub fn open_solver(kind: BackendKind) -> Result<Option<&'static Solver>> {
    Ok(place(kind)?.get())
}

/// cuSOLVER or hipSOLVER, opened at the first call that finds it.
///
/// # Errors
/// `Unavailable` with what to install and what was searched; `NotSupported` on the CPU.
pub fn solver(kind: BackendKind, driver: i32, places: &Places) -> Result<&'static Solver> {
    NOUN.at(place(kind)?, kind, driver, places, Solver::open)
}

impl Solver {
    fn open(library: Library, kind: BackendKind) -> Result<Self> {
        // SAFETY: found under the vendor's name, and asked for its functions only.
        let functions = unsafe { Functions::of(&library, kind) };
        let path = library.name().to_owned();
        if functions.create.is_none() || functions.set_stream.is_none() {
            return Err(Error::Unavailable(format!("{path} is no {}: it cannot make a handle", NOUN.name(kind))));
        }
        let prefix = if kind == BackendKind::Hip { "hipsolverDn" } else { "cusolverDn" };
        // SAFETY: as above.
        let typed = Element::ALL.map(|element| unsafe { Typed::of(&library, prefix, element) });
        Ok(Self { kind, path, functions, typed })
    }

    /// A new handle, for the device that is current.
    ///
    /// # Errors
    /// The library's.
    pub fn handle(&self) -> Result<Handle> {
        let make = |make: Option<Make>, name| -> Result<P> {
            let mut made = std::ptr::null_mut();
            let Some(make) = make else { return Ok(made) };
            // SAFETY: the target is writable.
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
            Ok([gesvdj, syevj, params]) => Ok(Handle { own, gesvdj, syevj, params }),
            Err(error) => {
                self.end(&Handle {
                    own,
                    gesvdj: std::ptr::null_mut(),
                    syevj: std::ptr::null_mut(),
                    params: std::ptr::null_mut(),
                });
                Err(error)
            }
        }
    }

    /// Ends a handle that was not finished.
    fn end(&self, handle: &Handle) {
        let Functions { destroy, destroy_gesvdj, destroy_syevj, destroy_params, .. } = &self.functions;
        let all = [
            (handle.gesvdj, destroy_gesvdj),
            (handle.syevj, destroy_syevj),
            (handle.params, destroy_params),
            (handle.own, destroy),
        ];
        for (object, end) in all {
            if let (false, Some(end)) = (object.is_null(), end) {
                // SAFETY: made by `handle`, and nobody has it any more. A refusal leaves nothing to do.
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
