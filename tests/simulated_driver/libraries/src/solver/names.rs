//! Exports the solver functions under the names of both vendors, for each element type.

#![allow(clippy::too_many_arguments)] // The parameters are those of the vendors' libraries.

use super::calls::{self, Of, Sides};
use super::{Type, end, make, set_stream};
use crate::stream_work::Vendor;

/// Defines the functions for one element type. The name of a function consists of a part for the element type and a
/// part for the operation.
macro_rules! typed {
    ($module:ident $vendor:ident $letter:literal $start:literal $orgqr:literal $syev:literal) => {
        mod $module {
            use super::*;

            const fn own(handle: u64) -> Of {
                Of { vendor: Vendor::$vendor, of: Type::named($letter), handle }
            }

            typed! { own;
                concat!($start, "getrf_bufferSize") getrf_size(_h: u64, m: i32, n: i32, _a: u64, _lda: i32, to: *mut i32)
                    = |_own| calls::size(m, n, to);
                concat!($start, "getrf") getrf(h: u64, m: i32, n: i32, a: u64, lda: i32, w: u64, p: u64, i: u64)
                    = |own| calls::getrf(own(h), m, n, a, lda, w, p, i);
                concat!($start, "getrs") getrs(
                    h: u64, t: u32, n: i32, k: i32, a: u64, lda: i32, p: u64, b: u64, ldb: i32, i: u64
                ) = |own| calls::getrs(own(h), t, n, k, a, lda, p, b, ldb, i);
                concat!($start, "potrf_bufferSize") potrf_size(_h: u64, _u: u32, n: i32, _a: u64, _lda: i32, to: *mut i32)
                    = |_own| calls::size(n, n, to);
                concat!($start, "potrf") potrf(h: u64, u: u32, n: i32, a: u64, lda: i32, w: u64, l: i32, i: u64)
                    = |own| calls::potrf(own(h), u, n, a, lda, w, l, i);
                concat!($start, "potrfBatched") potrf_batched(h: u64, u: u32, n: i32, a: u64, lda: i32, i: u64, b: i32)
                    = |own| calls::potrf_batched(own(h), u, n, a, lda, i, b);
                concat!($start, "geqrf_bufferSize") geqrf_size(_h: u64, m: i32, n: i32, _a: u64, _lda: i32, to: *mut i32)
                    = |_own| calls::size(m, n, to);
                concat!($start, "geqrf") geqrf(
                    h: u64, m: i32, n: i32, a: u64, lda: i32, t: u64, w: u64, l: i32, i: u64
                ) = |own| calls::geqrf(own(h), m, n, a, lda, t, w, l, i);
                concat!($start, $orgqr, "_bufferSize") orgqr_size(
                    _h: u64, m: i32, n: i32, _k: i32, _a: u64, _lda: i32, _t: u64, to: *mut i32
                ) = |_own| calls::size(m, n, to);
                concat!($start, $orgqr) orgqr(
                    h: u64, m: i32, n: i32, k: i32, a: u64, lda: i32, t: u64, w: u64, l: i32, i: u64
                ) = |own| calls::orgqr(own(h), m, n, k, a, lda, t, w, l, i);
                concat!($start, $syev, "d_bufferSize") syevd_size(
                    _h: u64, _z: u32, _u: u32, n: i32, _a: u64, _lda: i32, _w: u64, to: *mut i32
                ) = |_own| calls::size(n, n, to);
                concat!($start, $syev, "d") syevd(
                    h: u64, z: u32, u: u32, n: i32, a: u64, lda: i32, v: u64, w: u64, l: i32, i: u64
                ) = |own| calls::syevd(own(h), z, u, n, a, lda, v, Some((w, l)), i);
                concat!($start, $syev, "jBatched_bufferSize") syevj_size(
                    _h: u64, _z: u32, _u: u32, n: i32, _a: u64, _lda: i32, _w: u64, to: *mut i32, _p: u64, _b: i32
                ) = |_own| calls::size(n, n, to);
                concat!($start, $syev, "jBatched") syevj(
                    h: u64, z: u32, u: u32, n: i32, a: u64, lda: i32, v: u64, w: u64, l: i32, i: u64, p: u64, b: i32
                ) = |own| calls::syevj_batched(own(h), z, u, n, a, lda, v, w, l, i, p, b);
                concat!($start, "gesvd_bufferSize") gesvd_size(_h: u64, m: i32, n: i32, to: *mut i32)
                    = |_own| calls::size(m, n, to);
                concat!($start, "gesvd") gesvd(
                    h: u64, ju: i8, jv: i8, m: i32, n: i32, a: u64, lda: i32, s: u64, u: u64, ldu: i32, v: u64, ldv: i32,
                    w: u64, l: i32, _r: u64, i: u64
                ) = |own| calls::gesvd(own(h), (ju, jv), m, n, a, lda, Sides { s, u, ldu, v, ldv }, w, l, i);
                concat!($start, "gesvdj_bufferSize") gesvdj_size(
                    _h: u64, _z: u32, _e: i32, m: i32, n: i32, _a: u64, _lda: i32, _s: u64, _u: u64, _ldu: i32, _v: u64,
                    _ldv: i32, to: *mut i32, _p: u64
                ) = |_own| calls::size(m, n, to);
                concat!($start, "gesvdj") gesvdj(
                    h: u64, z: u32, e: i32, m: i32, n: i32, a: u64, lda: i32, s: u64, u: u64, ldu: i32, v: u64, ldv: i32,
                    w: u64, l: i32, i: u64, p: u64
                ) = |own| calls::gesvdj(own(h), z, e, m, n, a, lda, Sides { s, u, ldu, v, ldv }, w, l, i, p);
                concat!($start, "gesvdjBatched_bufferSize") gesvdj_batched_size(
                    _h: u64, _z: u32, m: i32, n: i32, _a: u64, _lda: i32, _s: u64, _u: u64, _ldu: i32, _v: u64, _ldv: i32,
                    to: *mut i32, _p: u64, _b: i32
                ) = |_own| calls::size(m, n, to);
                concat!($start, "gesvdjBatched") gesvdj_batched(
                    h: u64, z: u32, m: i32, n: i32, a: u64, lda: i32, s: u64, u: u64, ldu: i32, v: u64, ldv: i32, w: u64,
                    l: i32, i: u64, p: u64, b: i32
                ) = |own| calls::gesvdj_batched(own(h), z, m, n, a, lda, Sides { s, u, ldu, v, ldv }, w, l, i, p, b);
            }
        }
    };
    ($own:ident; $(concat!($($part:literal),*) $name:ident($($argument:ident: $type:ty),*) = |$o:ident| $call:expr;)*) => {
        $(
            #[unsafe(export_name = concat!($($part),*))]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
                #[allow(unused_variables)]
                let $o = $own;
                $call
            }
        )*
    };
}

typed!(nvidias_s Nvidia b'S' "cusolverDnS" "orgqr" "syev");
typed!(nvidias_d Nvidia b'D' "cusolverDnD" "orgqr" "syev");
typed!(nvidias_c Nvidia b'C' "cusolverDnC" "ungqr" "heev");
typed!(nvidias_z Nvidia b'Z' "cusolverDnZ" "ungqr" "heev");
typed!(amds_s Amd b'S' "hipsolverDnS" "orgqr" "syev");
typed!(amds_d Amd b'D' "hipsolverDnD" "orgqr" "syev");
typed!(amds_c Amd b'C' "hipsolverDnC" "ungqr" "heev");
typed!(amds_z Amd b'Z' "hipsolverDnZ" "ungqr" "heev");

/// Defines the functions that create and destroy library objects.
macro_rules! objects {
    ($($make:ident $end:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $make(target: *mut u64) -> u32 {
                make(target)
            }

            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $end(handle: u64) -> u32 {
                end(handle)
            }
        )*
    };
}

objects! {
    cusolverDnCreate cusolverDnDestroy
    cusolverDnCreateGesvdjInfo cusolverDnDestroyGesvdjInfo
    cusolverDnCreateSyevjInfo cusolverDnDestroySyevjInfo
    cusolverDnCreateParams cusolverDnDestroyParams
    hipsolverDnCreate hipsolverDnDestroy
    hipsolverDnCreateGesvdjInfo hipsolverDnDestroyGesvdjInfo
    hipsolverDnCreateSyevjInfo hipsolverDnDestroySyevjInfo
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnSetStream(handle: u64, stream: u64) -> u32 {
    set_stream(handle, stream)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipsolverDnSetStream(handle: u64, stream: u64) -> u32 {
    set_stream(handle, stream)
}

/// Workspace size in bytes that a function reports for its additional workspace on the host.
const ROOM: usize = 64;

#[unsafe(no_mangle)]
#[rustfmt::skip]
pub unsafe extern "C" fn cusolverDnXgeev_bufferSize(
    _h: u64, _p: u64, _l: u32, _r: u32, _n: i64, _ta: u32, _a: u64, _lda: i64, _tw: u32, _w: u64, _tl: u32, _vl: u64, _ldl: i64,
    _tr: u32, _vr: u64, _ldr: i64, _tc: u32, device: *mut usize, host: *mut usize,
) -> u32 {
    // SAFETY: the caller of the C function guarantees writable out-parameters.
    unsafe {
        device.write(ROOM);
        host.write(ROOM);
    }
    0
}

/// Returns the element type with a number of `cudaDataType`.
fn numbered(number: u32) -> Option<Type> {
    let letter = match number {
        0 => b'S',
        1 => b'D',
        4 => b'C',
        5 => b'Z',
        _ => return None,
    };
    Some(Type::named(letter))
}

#[unsafe(no_mangle)]
#[rustfmt::skip]
pub unsafe extern "C" fn cusolverDnXgeev(
    h: u64, p: u64, l: u32, r: u32, n: i64, ta: u32, a: u64, lda: i64, tw: u32, w: u64, _tl: u32, _vl: u64, _ldl: i64,
    tr: u32, v: u64, ldv: i64, tc: u32, room: u64, bytes: usize, host: *mut u8, of_host: usize, info: u64,
) -> u32 {
    let Some(of) = numbered(ta) else { return 3 };
    let is_right = tw == ta | 4 && tr == ta && tc == ta && l == 0 && p != 0 && room != 0 && bytes >= ROOM;
    if !is_right || host.is_null() || of_host < ROOM {
        return 3;
    }
    calls::geev(Of { vendor: Vendor::Nvidia, of, handle: h }, n, (a, lda), w, (if r == 1 { v } else { 0 }, ldv), info)
}

#[unsafe(no_mangle)]
#[rustfmt::skip]
pub unsafe extern "C" fn cusolverDnXsyevBatched_bufferSize(
    _h: u64, _p: u64, _z: u32, _u: u32, n: i64, _ta: u32, _a: u64, _lda: i64, _tw: u32, _w: u64, _tc: u32, device: *mut usize,
    host: *mut usize, b: i64,
) -> u32 {
    calls::syev_batched_size(n, b, device, host)
}

#[unsafe(no_mangle)]
#[rustfmt::skip]
pub unsafe extern "C" fn cusolverDnXsyevBatched(
    h: u64, p: u64, z: u32, u: u32, n: i64, ta: u32, a: u64, lda: i64, tw: u32, w: u64, tc: u32, room: u64, bytes: usize,
    host: u64, of_host: usize, i: u64, b: i64,
) -> u32 {
    let Some(of) = numbered(ta) else { return 3 };
    if tw != ta & 1 || tc != ta || p == 0 {
        return 3;
    }
    let own = Of { vendor: Vendor::Nvidia, of, handle: h };
    calls::syev_batched(own, (z, u), n, (a, lda), w, [(room, bytes), (host, of_host)], i, b)
}

#[unsafe(no_mangle)]
#[rustfmt::skip]
pub unsafe extern "C" fn cusolverDnXsyevd_bufferSize(
    _h: u64, _p: u64, _z: u32, _u: u32, _n: i64, _ta: u32, _a: u64, _lda: i64, _tw: u32, _w: u64, _tc: u32, device: *mut usize,
    host: *mut usize,
) -> u32 {
    // SAFETY: the caller of the C function guarantees writable out-parameters.
    unsafe {
        device.write(ROOM);
        host.write(ROOM);
    }
    0
}

#[unsafe(no_mangle)]
#[rustfmt::skip]
pub unsafe extern "C" fn cusolverDnXsyevd(
    h: u64, p: u64, z: u32, u: u32, n: i64, ta: u32, a: u64, lda: i64, tw: u32, w: u64, tc: u32, room: u64, bytes: usize,
    host: u64, of_host: usize, i: u64,
) -> u32 {
    let Some(of) = numbered(ta) else { return 3 };
    let is_right = tw == ta & 1 && tc == ta && p != 0 && room != 0 && bytes >= ROOM && host != 0 && of_host >= ROOM;
    let own = Of { vendor: Vendor::Nvidia, of, handle: h };
    if is_right { calls::syevd(own, z, u, n as i32, a, lda as i32, w, None, i) } else { 3 }
}
