//! Reads the version of cuRAND or hipRAND, and the library's tables for Sobol sequences, which are in host memory.
//! PyGPU generates random numbers itself.

use std::ffi::{c_int, c_void};

use super::{LibrarySpec, OpenLibraries, SearchPaths, functions};
use crate::{BackendKind, Library};
use pygpu_base::error::{Error, Result};

static NOUN: LibrarySpec = LibrarySpec {
    names: ["cuRAND", "hipRAND"],
    // NVIDIA's file name has not changed since CUDA 10.
    cuda: &[(13, "libcurand.so.10"), (12, "libcurand.so.10")],
    hip: &["libhiprand.so.1", "libhiprand.so"],
    package: "hiprand",
};

/// Library function that stores the address of a table in its first argument.
type OfSet = unsafe extern "C" fn(*mut *const c_void, c_int) -> u32;
type Plain = unsafe extern "C" fn(*mut *const c_void) -> u32;

functions! {
    version: unsafe extern "C" fn(*mut c_int) -> u32 = "curandGetVersion", "hiprandGetVersion";
    vectors32: OfSet = "curandGetDirectionVectors32", "hiprandGetDirectionVectors32";
    vectors64: OfSet = "curandGetDirectionVectors64", "hiprandGetDirectionVectors64";
    constants32: Plain = "curandGetScrambleConstants32", "hiprandGetScrambleConstants32";
    constants64: Plain = "curandGetScrambleConstants64", "hiprandGetScrambleConstants64";
}

/// Tables for Sobol sequences that the library contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SobolTable {
    /// Direction vectors of 32 bits. The field is the enum value by which the library identifies the set of vectors.
    Vectors32(c_int),
    /// Direction vectors of 64 bits. The field is the enum value by which the library identifies the set of vectors.
    Vectors64(c_int),
    /// Scramble constants of 32 bits.
    Constants32,
    /// Scramble constants of 64 bits.
    Constants64,
}

impl SobolTable {
    /// Returns the Sobol table that a number identifies: the vendors' enum value for a set of direction vectors, or the
    /// bit width of the scramble constants.
    pub fn numbered(number: c_int) -> Option<Self> {
        Some(match number {
            101 | 102 => Self::Vectors32(number),
            103 | 104 => Self::Vectors64(number),
            32 => Self::Constants32,
            64 => Self::Constants64,
            _ => return None,
        })
    }

    /// Returns the number of bytes in the table for one dimension of the Sobol sequence.
    const fn bytes(self) -> usize {
        match self {
            Self::Vectors32(_) => 32 * 4,
            Self::Vectors64(_) => 64 * 8,
            Self::Constants32 => 4,
            Self::Constants64 => 8,
        }
    }
}

/// Number of dimensions of the Sobol sequences that each table supports, as cuRAND's and hipRAND's manuals state. The
/// libraries do not report the length of their tables.
const DIMENSIONS: usize = 20_000;

/// The opened cuRAND or hipRAND library and its functions.
pub struct Rand {
    functions: Functions,
    path: String,
    version: c_int,
}

/// Returns cuRAND or hipRAND. The first call that finds the library opens it.
///
/// # Errors
/// `Unavailable` with the package to install and the names that were tried; `NotSupported` on the CPU.
pub fn rand(kind: BackendKind, driver: i32, places: &SearchPaths) -> Result<&'static Rand> {
    static OPENED: OpenLibraries<Rand> = OpenLibraries::new();
    let place = OPENED.of(kind).ok_or_else(|| {
        Error::not_supported(
            "Sobol's tables are taken from cuRAND or hipRAND, which belong to a GPU; the backend is cpu: give direction \
             vectors and constants of your own",
        )
    })?;
    NOUN.at(place, kind, driver, places, Rand::open)
}

impl Rand {
    fn open(library: Library, kind: BackendKind) -> Result<Self> {
        // SAFETY: the library was found under the vendor's name; only its functions are looked up.
        let functions = unsafe { Functions::of(&library, kind) };
        let path = library.name().to_owned();
        let Some(ask) = functions.version else {
            return Err(Error::Unavailable(format!("{path} is no {}: it cannot tell its version", NOUN.name(kind))));
        };
        let mut version = 0;
        // SAFETY: the out-parameter is writable.
        let code = unsafe { ask(&mut version) };
        match code {
            0 => Ok(Self { functions, path, version }),
            _ => Err(Error::Unavailable(format!("{path} refused to tell its version, with code {code}"))),
        }
    }

    /// Returns the library version in the library's own format.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Returns the first `bytes` bytes of a Sobol table.
    ///
    /// # Errors
    /// `NotSupported` if the library is too old to have the table; `Value` if the table is shorter.
    pub fn table(&self, table: SobolTable, bytes: usize) -> Result<&'static [u8]> {
        if bytes > DIMENSIONS * table.bytes() {
            return Err(Error::value(format!("the tables have {DIMENSIONS} dimensions, and more were asked for")));
        }
        let mut address: *const c_void = std::ptr::null();
        let (of_set, plain) = match table {
            SobolTable::Vectors32(set) => (self.functions.vectors32.map(|ask| (ask, set)), None),
            SobolTable::Vectors64(set) => (self.functions.vectors64.map(|ask| (ask, set)), None),
            SobolTable::Constants32 => (None, self.functions.constants32),
            SobolTable::Constants64 => (None, self.functions.constants64),
        };
        let code = match (of_set, plain) {
            // SAFETY: the out-parameter is writable.
            (Some((ask, set)), _) => Some(unsafe { ask(&mut address, set) }),
            // SAFETY: the out-parameter is writable.
            (None, Some(ask)) => Some(unsafe { ask(&mut address) }),
            (None, None) => None,
        };
        match code {
            // SAFETY: the table belongs to the library, which stays open; it is constant, and has the length stated in
            // the manual.
            Some(0) if !address.is_null() => Ok(unsafe { std::slice::from_raw_parts(address.cast(), bytes) }),
            None => Err(Error::NotSupported(format!("{} is too old: it has no {table:?}", self.path))),
            Some(code) => Err(Error::Unavailable(format!("{} gave no {table:?}: code {code}", self.path))),
        }
    }
}
