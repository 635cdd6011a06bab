//! Implements the version query and the Sobol tables of cuRAND and hipRAND. The first ten dimensions use Joe and Kuo's
//! direction numbers, as in the real tables. All further dimensions repeat these numbers; in the real tables they have
//! other numbers.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

const DIMENSIONS: usize = 20_000;
const OK: u32 = 0;
const OUT_OF_RANGE: u32 = 104;

/// Primitive polynomials of Joe and Kuo (file new-joe-kuo-6.21201). Each entry has the inner coefficients of a
/// polynomial and its initial direction numbers, one per degree.
const BEGINNINGS: [(u64, &[u64]); 9] = [
    (0, &[1]),
    (1, &[1, 3]),
    (1, &[1, 3, 1]),
    (2, &[1, 1, 1]),
    (1, &[1, 1, 3, 3]),
    (4, &[1, 3, 5, 13]),
    (2, &[1, 1, 5, 5, 17]),
    (4, &[1, 1, 5, 5, 5]),
    (7, &[1, 1, 7, 11, 19]),
];

/// Returns the direction vectors of a dimension of the Sobol sequence, as 64-bit numbers.
fn vectors(dimension: usize) -> [u64; 64] {
    let mut odd = [1_u64; 64];
    if let Some((coefficients, first)) = (dimension % 10).checked_sub(1).map(|place| BEGINNINGS[place]) {
        let degree = first.len();
        odd[..degree].copy_from_slice(first);
        for at in degree..64 {
            let oldest = odd[at - degree];
            let inner = (1..degree).filter(|back| coefficients >> (degree - 1 - back) & 1 == 1);
            odd[at] = inner.fold(oldest ^ oldest << degree, |sum, back| sum ^ odd[at - back] << back);
        }
    }
    std::array::from_fn(|at| odd[at] << (63 - at))
}

fn vectors64() -> *const c_void {
    static TABLE: OnceLock<Vec<[u64; 64]>> = OnceLock::new();
    TABLE.get_or_init(|| (0..DIMENSIONS).map(vectors).collect()).as_ptr().cast()
}

fn vectors32() -> *const c_void {
    static TABLE: OnceLock<Vec<[u32; 32]>> = OnceLock::new();
    let short = |dimension| {
        let long = vectors(dimension);
        std::array::from_fn(|at| (long[at] >> 32) as u32)
    };
    TABLE.get_or_init(|| (0..DIMENSIONS).map(short).collect()).as_ptr().cast()
}

// Returns the scramble constant of a dimension. The real constants are random numbers too.
fn constant(dimension: usize) -> u64 {
    (dimension as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn constants32() -> *const c_void {
    static TABLE: OnceLock<Vec<u32>> = OnceLock::new();
    TABLE.get_or_init(|| (0..DIMENSIONS).map(|at| (constant(at) >> 32) as u32).collect()).as_ptr().cast()
}

fn constants64() -> *const c_void {
    static TABLE: OnceLock<Vec<u64>> = OnceLock::new();
    TABLE.get_or_init(|| (0..DIMENSIONS).map(constant).collect()).as_ptr().cast()
}

unsafe fn give(to: *mut *const c_void, table: Option<*const c_void>) -> u32 {
    let Some(table) = table else { return OUT_OF_RANGE };
    // SAFETY: the caller of the C function guarantees a writable out-parameter.
    unsafe { to.write(table) };
    OK
}

/// Defines the functions under the names of both vendors.
macro_rules! functions {
    ($($version:ident $vectors32:ident $vectors64:ident $constants32:ident $constants64:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $version(version: *mut c_int) -> u32 {
            // SAFETY: the caller of the C function guarantees a writable out-parameter.
            unsafe { version.write(10_399) };
            OK
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $vectors32(to: *mut *const c_void, set: c_int) -> u32 {
            // SAFETY: the caller of the C function guarantees a writable out-parameter.
            unsafe { give(to, matches!(set, 101 | 102).then(vectors32)) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $vectors64(to: *mut *const c_void, set: c_int) -> u32 {
            // SAFETY: the caller of the C function guarantees a writable out-parameter.
            unsafe { give(to, matches!(set, 103 | 104).then(vectors64)) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $constants32(to: *mut *const c_void) -> u32 {
            // SAFETY: the caller of the C function guarantees a writable out-parameter.
            unsafe { give(to, Some(constants32())) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $constants64(to: *mut *const c_void) -> u32 {
            // SAFETY: the caller of the C function guarantees a writable out-parameter.
            unsafe { give(to, Some(constants64())) }
        }
    )*};
}

functions! {
    curandGetVersion curandGetDirectionVectors32 curandGetDirectionVectors64
        curandGetScrambleConstants32 curandGetScrambleConstants64;
    hiprandGetVersion hiprandGetDirectionVectors32 hiprandGetDirectionVectors64
        hiprandGetScrambleConstants32 hiprandGetScrambleConstants64;
}
