//! Implements the batched LU factorizations of cuBLAS and hipBLAS.

#![allow(clippy::too_many_arguments)] // The parameters are those of the vendors' libraries.

use std::ffi::c_void;

use crate::blas::{codes, stream_of};
use crate::faults;
use crate::solver::{Type, dense, integers, put_integers};
use crate::stream_work::{Vendor, put};

fn begin(vendor: Vendor, name: &str, handle: *mut c_void, is_right: bool) -> Result<u64, u32> {
    if let Some(code) = faults::begin(name) {
        return Err(code);
    }
    let stream = stream_of(handle, vendor)?;
    if is_right { Ok(stream) } else { Err(codes(vendor)[0]) }
}

fn end(vendor: Vendor, outcome: Option<u32>) -> u32 {
    if outcome == Some(0) { 0 } else { codes(vendor)[2] }
}

/// Reads one address from a list of addresses.
///
/// # Safety
/// The list must have more than `number` addresses.
unsafe fn address(all: u64, number: u64) -> u64 {
    // SAFETY: the caller of this function guarantees that the list has more than `number` addresses.
    unsafe { std::ptr::with_exposed_provenance::<u64>((all + 8 * number) as usize).read_unaligned() }
}

fn getrf(
    vendor: Vendor,
    of: Type,
    handle: *mut c_void,
    n: i32,
    all: u64,
    lda: i32,
    pivots: u64,
    info: u64,
    batch: i32,
) -> u32 {
    let is_right = n > 0 && lda >= n && all != 0 && pivots != 0 && info != 0 && batch > 0;
    let stream = match begin(vendor, "getrfBatched", handle, is_right) {
        Ok(stream) => stream,
        Err(code) => return code,
    };
    let work = move || {
        for number in 0..batch as u64 {
            // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
            unsafe {
                let place = address(all, number);
                let mut matrix = of.matrix(place, n.into(), n.into(), lda.into());
                let (found, said) = dense::lu(&mut matrix);
                of.put(place, &matrix, n.into(), lda.into());
                put_integers(pivots + 4 * number * n as u64, &found);
                put_integers(info + 4 * number, &[said]);
            }
        }
    };
    end(vendor, put(vendor, stream, work))
}

fn getrs(
    vendor: Vendor,
    of: Type,
    handle: *mut c_void,
    mode: u32,
    n: i32,
    wide: i32,
    all: u64,
    lda: i32,
    pivots: u64,
    sides: u64,
    ldb: i32,
    wrong: *mut i32,
    batch: i32,
) -> u32 {
    let mode = mode.wrapping_sub(if vendor == Vendor::Amd { 111 } else { 0 });
    let is_right = n > 0 && wide > 0 && lda >= n && ldb >= n && all != 0 && pivots != 0 && sides != 0;
    let is_right = is_right && mode < 2 && batch > 0 && !wrong.is_null();
    let stream = match begin(vendor, "getrsBatched", handle, is_right) {
        Ok(stream) => stream,
        Err(code) => return code,
    };
    // SAFETY: the caller of the C function guarantees that `wrong` is writable host memory.
    unsafe { wrong.write(0) };
    let work = move || {
        for number in 0..batch as u64 {
            // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
            unsafe {
                let (factors, target) = (address(all, number), address(sides, number));
                let matrix = of.matrix(factors, n.into(), n.into(), lda.into());
                let mut found = of.matrix(target, n.into(), wide.into(), ldb.into());
                let pivots = integers(pivots + 4 * number * n as u64, n.into());
                dense::lu_solve(&matrix, &pivots, &mut found, mode == 1);
                of.put(target, &found, wide.into(), ldb.into());
            }
        }
    };
    end(vendor, put(vendor, stream, work))
}

macro_rules! export {
    ($($vendor:ident $letter:literal $getrf:ident $getrs:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $getrf(
                h: *mut c_void, n: i32, a: u64, lda: i32, p: u64, i: u64, b: i32,
            ) -> u32 {
                getrf(Vendor::$vendor, Type::named($letter), h, n, a, lda, p, i, b)
            }

            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $getrs(
                h: *mut c_void, t: u32, n: i32, k: i32, a: u64, lda: i32, p: u64, c: u64, ldc: i32, i: *mut i32, b: i32,
            ) -> u32 {
                getrs(Vendor::$vendor, Type::named($letter), h, t, n, k, a, lda, p, c, ldc, i, b)
            }
        )*
    };
}

export! {
    Nvidia b'S' cublasSgetrfBatched cublasSgetrsBatched;
    Nvidia b'D' cublasDgetrfBatched cublasDgetrsBatched;
    Nvidia b'C' cublasCgetrfBatched cublasCgetrsBatched;
    Nvidia b'Z' cublasZgetrfBatched cublasZgetrsBatched;
    Amd b'S' hipblasSgetrfBatched hipblasSgetrsBatched;
    Amd b'D' hipblasDgetrfBatched hipblasDgetrsBatched;
    Amd b'C' hipblasCgetrfBatched hipblasCgetrsBatched;
    Amd b'Z' hipblasZgetrfBatched hipblasZgetrsBatched;
}
