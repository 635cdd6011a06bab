//! Implements the solver functions for any element type.

#![allow(clippy::too_many_arguments)] // The parameters are those of the vendors' libraries.

use super::complex::C;
use super::dense::{self, Matrix};
use super::{INVALID_VALUE, SUCCESS, Type, call, integers, put_integers};
use crate::stream_work::Vendor;

/// First arguments of every call: vendor, element type and handle.
#[derive(Clone, Copy)]
pub struct Of {
    pub vendor: Vendor,
    pub of: Type,
    pub handle: u64,
}

/// Returns the workspace size that the size queries report and each solver function requires.
fn room(m: i32, n: i32) -> i32 {
    m * n + 3
}

pub fn size(m: i32, n: i32, target: *mut i32) -> u32 {
    if m < 0 || n < 0 || target.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller of the C function guarantees a writable out-parameter.
    unsafe { target.write(room(m, n)) };
    SUCCESS
}

fn has_room(work: u64, lwork: i32, m: i32, n: i32) -> bool {
    work != 0 && lwork >= room(m, n)
}

fn is_matrix(address: u64, rows: i32, lead: i32) -> bool {
    address != 0 && rows > 0 && lead >= rows
}

/// Decodes an option with two possible values: returns whether the option has the second value, or `None` if its value
/// is invalid.
fn choice(vendor: Vendor, value: u32, amds: u32) -> Option<bool> {
    match value.checked_sub(if vendor == Vendor::Amd { amds } else { 0 })? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// Returns whether an option selects the lower triangle.
fn triangle(vendor: Vendor, value: u32) -> Option<bool> {
    choice(vendor, value, 121).map(|second| second == (vendor == Vendor::Amd))
}

fn vectors(vendor: Vendor, value: u32) -> Option<bool> {
    choice(vendor, value, 201)
}

/// Returns a matrix with the selected triangle of `a` in its lower triangle.
fn lower_of(a: Matrix, is_lower: bool) -> Matrix {
    if is_lower { a } else { a.adjoint() }
}

pub fn getrf(
    Of { vendor, of, handle }: Of,
    m: i32,
    n: i32,
    a: u64,
    lda: i32,
    work: u64,
    pivots: u64,
    info: u64,
) -> u32 {
    let is_right = is_matrix(a, m, lda) && n > 0 && work != 0 && pivots != 0;
    call(vendor, handle, "getrf", is_right, info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe {
            let mut matrix = of.matrix(a, m.into(), n.into(), lda.into());
            let (found, said) = dense::lu(&mut matrix);
            of.put(a, &matrix, n.into(), lda.into());
            put_integers(pivots, &found);
            said
        }
    })
}

#[rustfmt::skip]
pub fn getrs(
    Of { vendor, of, handle }: Of, mode: u32, n: i32, wide: i32, a: u64, lda: i32, pivots: u64, b: u64, ldb: i32, info: u64,
) -> u32 {
    let transposed = choice(vendor, mode, 111);
    let is_right = is_matrix(a, n, lda) && is_matrix(b, n, ldb) && wide > 0 && pivots != 0 && transposed.is_some();
    call(vendor, handle, "getrs", is_right, info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe {
            let matrix = of.matrix(a, n.into(), n.into(), lda.into());
            let mut sides = of.matrix(b, n.into(), wide.into(), ldb.into());
            dense::lu_solve(&matrix, &integers(pivots, n.into()), &mut sides, transposed == Some(true));
            of.put(b, &sides, wide.into(), ldb.into());
        }
        0
    })
}

/// Computes the Cholesky factorization of a matrix.
///
/// # Safety
/// `a` must be the address of a matrix with these sizes.
unsafe fn cholesky(of: Type, a: u64, n: i32, lda: i32, is_lower: bool) -> i32 {
    // SAFETY: the caller of this function guarantees that the matrix is valid.
    unsafe {
        let mut matrix = lower_of(of.matrix(a, n.into(), n.into(), lda.into()), is_lower);
        let said = dense::cholesky(&mut matrix);
        of.put(a, &lower_of(matrix, is_lower), n.into(), lda.into());
        said
    }
}

#[rustfmt::skip]
pub fn potrf(
    Of { vendor, of, handle }: Of, uplo: u32, n: i32, a: u64, lda: i32, work: u64, lwork: i32, info: u64,
) -> u32 {
    let is_lower = triangle(vendor, uplo);
    let is_right = is_matrix(a, n, lda) && has_room(work, lwork, n, n) && is_lower.is_some();
    // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
    call(vendor, handle, "potrf", is_right, info, move || unsafe { cholesky(of, a, n, lda, is_lower == Some(true)) })
}

/// Checks the arguments of a batched call and enqueues its work, as `call` does for one matrix. Each matrix of the
/// batch has its own info value.
fn calls(
    of: Of,
    name: &str,
    is_right: bool,
    info: u64,
    batch: i32,
    work: impl Fn(u64) -> i32 + Send + Sync + 'static,
) -> u32 {
    call(of.vendor, of.handle, name, is_right && batch > 0, info, move || {
        let said: Vec<i32> = (0..batch as u64).map(&work).collect();
        // SAFETY: the caller of the library guarantees that `info` has one element per matrix.
        unsafe { put_integers(info, &said) };
        said[0]
    })
}

pub fn potrf_batched(own: Of, uplo: u32, n: i32, all: u64, lda: i32, info: u64, batch: i32) -> u32 {
    let is_lower = triangle(own.vendor, uplo);
    let is_right = is_matrix(all, n, lda) && is_lower.is_some();
    calls(own, "potrfBatched", is_right, info, batch, move |number| {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe {
            let place = std::ptr::with_exposed_provenance::<u64>((all + 8 * number) as usize).read_unaligned();
            cholesky(own.of, place, n, lda, is_lower == Some(true))
        }
    })
}

#[rustfmt::skip]
pub fn geqrf(
    Of { vendor, of, handle }: Of, m: i32, n: i32, a: u64, lda: i32, tau: u64, work: u64, lwork: i32, info: u64,
) -> u32 {
    let is_right = is_matrix(a, m, lda) && n > 0 && tau != 0 && has_room(work, lwork, m, n);
    call(vendor, handle, "geqrf", is_right, info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe {
            let mut matrix = of.matrix(a, m.into(), n.into(), lda.into());
            let factors = dense::qr(&mut matrix);
            of.put(a, &matrix, n.into(), lda.into());
            of.put_all(tau, factors);
        }
        0
    })
}

#[rustfmt::skip]
pub fn orgqr(
    Of { vendor, of, handle }: Of, m: i32, n: i32, k: i32, a: u64, lda: i32, tau: u64, work: u64, lwork: i32, info: u64,
) -> u32 {
    let is_right = is_matrix(a, m, lda) && m >= n && n >= k && k > 0 && tau != 0 && has_room(work, lwork, m, n);
    call(vendor, handle, "orgqr", is_right, info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe {
            let matrix = of.matrix(a, m.into(), k.into(), lda.into());
            let factors: Vec<C> = (0..k as u64).map(|number| of.load(tau + number * of.bytes())).collect();
            of.put(a, &dense::qr_vectors(&matrix, &factors, n as usize), n.into(), lda.into());
        }
        0
    })
}

/// Computes the eigenvalues and eigenvectors of a Hermitian matrix.
///
/// # Safety
/// `a` and `w` must be the addresses of arrays with these sizes.
unsafe fn eigh(of: Type, a: u64, n: i32, lda: i32, w: u64, is_lower: bool, vectors: bool) -> i32 {
    // SAFETY: the caller of this function guarantees that the arrays are valid.
    unsafe {
        let (values, found, is_done) = dense::eigh(&lower_of(of.matrix(a, n.into(), n.into(), lda.into()), is_lower));
        of.parts().put_all(w, values.into_iter().map(|value| C(value, 0.0)));
        if vectors {
            of.put(a, &found, n.into(), lda.into());
        }
        i32::from(!is_done)
    }
}

/// Implements `syevd`, and `Xsyevd` if `room` is `None`, because the caller has then checked the workspace.
#[rustfmt::skip]
pub fn syevd(
    Of { vendor, of, handle }: Of, mode: u32, uplo: u32, n: i32, a: u64, lda: i32, w: u64, room: Option<(u64, i32)>, info: u64,
) -> u32 {
    let (mode, is_lower) = (vectors(vendor, mode), triangle(vendor, uplo));
    let has_room = room.is_none_or(|(work, lwork)| has_room(work, lwork, n, n));
    let is_right = is_matrix(a, n, lda) && w != 0 && has_room && mode.is_some() && is_lower.is_some();
    call(vendor, handle, "syevd", is_right, info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe { eigh(of, a, n, lda, w, is_lower == Some(true), mode == Some(true)) }
    })
}

#[rustfmt::skip]
pub fn syevj_batched(
    own: Of, mode: u32, uplo: u32, n: i32, a: u64, lda: i32, w: u64, work: u64, lwork: i32, info: u64, params: u64, batch: i32,
) -> u32 {
    let (mode, is_lower) = (vectors(own.vendor, mode), triangle(own.vendor, uplo));
    let is_right = is_matrix(a, n, lda) && w != 0 && params != 0 && has_room(work, lwork, n, n);
    calls(own, "syevjBatched", is_right && mode.is_some() && is_lower.is_some(), info, batch, move |number| {
        let a = a + number * (lda * n) as u64 * own.of.bytes();
        let w = w + number * n as u64 * own.of.parts().bytes();
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe { eigh(own.of, a, n, lda, w, is_lower == Some(true), mode == Some(true)) }
    })
}

/// Workspace size in bytes that `XsyevBatched` reports for a stack, on the device and on the host.
const ROOM_OF_STACK: usize = 64;

/// Writes the sizes of the workspace for `batch` matrices.
pub fn syev_batched_size(n: i64, batch: i64, device: *mut usize, host: *mut usize) -> u32 {
    if let Some(code) = crate::faults::begin("XsyevBatched_bufferSize") {
        return code;
    }
    if n <= 0 || batch <= 0 || n * n * batch > i32::MAX.into() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller of the C function guarantees writable out-parameters.
    unsafe {
        device.write(ROOM_OF_STACK * batch as usize);
        host.write(ROOM_OF_STACK * batch as usize);
    }
    SUCCESS
}

pub fn syev_batched(
    own: Of,
    (mode, uplo): (u32, u32),
    n: i64,
    (a, lda): (u64, i64),
    w: u64,
    rooms: [(u64, usize); 2],
    info: u64,
    batch: i64,
) -> u32 {
    let (mode, is_lower) = (vectors(own.vendor, mode), triangle(own.vendor, uplo));
    let has_room = rooms.iter().all(|&(address, bytes)| address != 0 && bytes >= ROOM_OF_STACK * batch as usize);
    let is_right = a != 0 && w != 0 && n > 0 && lda == n && n * n * batch <= i32::MAX.into() && has_room;
    let (n, batch) = (n as i32, batch as i32);
    calls(own, "XsyevBatched", is_right && mode.is_some() && is_lower.is_some(), info, batch, move |number| {
        let a = a + number * (n * n) as u64 * own.of.bytes();
        let w = w + number * n as u64 * own.of.parts().bytes();
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe { eigh(own.of, a, n, n, w, is_lower == Some(true), mode == Some(true)) }
    })
}

/// Holds the addresses to which a singular value decomposition writes its results.
#[derive(Clone, Copy)]
pub struct Sides {
    pub s: u64,
    pub u: u64,
    pub ldu: i32,
    pub v: u64,
    pub ldv: i32,
}

impl Sides {
    fn are_right(&self, m: i32, rows: i32) -> bool {
        self.s != 0 && is_matrix(self.u, m, self.ldu) && is_matrix(self.v, rows, self.ldv)
    }
}

/// Number of left and of right singular vectors to compute, and whether the right vectors are written as conjugated
/// rows.
#[derive(Clone, Copy)]
struct SvdOutputs {
    sides: Option<(i32, i32)>,
    as_rows: bool,
}

/// Computes a singular value decomposition.
///
/// # Safety
/// All addresses must be those of arrays with these sizes.
unsafe fn svd(of: Type, (m, n): (i32, i32), a: u64, lda: i32, to: Sides, outputs: SvdOutputs) -> i32 {
    // SAFETY: the caller of this function guarantees that the arrays are valid.
    unsafe {
        let (left, values, right, is_done) = dense::svd(&of.matrix(a, m.into(), n.into(), lda.into()));
        of.parts().put_all(to.s, values.into_iter().map(|value| C(value, 0.0)));
        if let Some((of_left, of_right)) = outputs.sides {
            of.put(to.u, &left, of_left.into(), to.ldu.into());
            match outputs.as_rows {
                true => of.put(to.v, &right.adjoint(), n.into(), to.ldv.into()),
                false => of.put(to.v, &right, of_right.into(), to.ldv.into()),
            }
        }
        if is_done { 0 } else { m.min(n) + 1 }
    }
}

#[rustfmt::skip]
pub fn gesvd(
    Of { vendor, of, handle }: Of, jobs: (i8, i8), m: i32, n: i32, a: u64, lda: i32, to: Sides, work: u64, lwork: i32, info: u64,
) -> u32 {
    let sides = match jobs.0 as u8 {
        b'A' => Some((m, n)),
        b'S' => Some((n, n)),
        _ => None,
    };
    let is_known = jobs.0 == jobs.1 && b"ASN".contains(&(jobs.0 as u8));
    // The vendors' manuals require at least as many rows as columns.
    let is_right = m >= n && is_matrix(a, m, lda) && to.are_right(m, n) && has_room(work, lwork, m, n) && is_known;
    call(vendor, handle, "gesvd", is_right, info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe { svd(of, (m, n), a, lda, to, SvdOutputs { sides, as_rows: true }) }
    })
}

#[rustfmt::skip]
pub fn gesvdj(
    Of { vendor, of, handle }: Of, mode: u32, econ: i32, m: i32, n: i32, a: u64, lda: i32, to: Sides, work: u64, lwork: i32,
    info: u64, params: u64,
) -> u32 {
    let mode = vectors(vendor, mode);
    let sides = (mode == Some(true)).then_some(if econ == 1 { (m.min(n), m.min(n)) } else { (m, n) });
    let is_right = is_matrix(a, m, lda) && to.are_right(m, n) && has_room(work, lwork, m, n) && params != 0;
    call(vendor, handle, "gesvdj", is_right && mode.is_some(), info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe { svd(of, (m, n), a, lda, to, SvdOutputs { sides, as_rows: false }) }
    })
}

#[rustfmt::skip]
pub fn gesvdj_batched(
    own: Of, mode: u32, m: i32, n: i32, a: u64, lda: i32, to: Sides, work: u64, lwork: i32, info: u64, params: u64, batch: i32,
) -> u32 {
    let mode = vectors(own.vendor, mode);
    let sides = (mode == Some(true)).then_some((m, n));
    let is_right = is_matrix(a, m, lda) && to.are_right(m, n) && has_room(work, lwork, m, n) && params != 0;
    // The vendors' manuals allow at most 32 rows and columns.
    let is_right = is_right && m <= 32 && n <= 32 && mode.is_some();
    calls(own, "gesvdjBatched", is_right, info, batch, move |number| {
        let at = |start: u64, count: i32, bytes: u64| start + number * count as u64 * bytes;
        let bytes = own.of.bytes();
        let to = Sides {
            s: at(to.s, m.min(n), own.of.parts().bytes()),
            u: at(to.u, to.ldu * m, bytes),
            v: at(to.v, to.ldv * n, bytes),
            ..to
        };
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe { svd(own.of, (m, n), at(a, lda * n, bytes), lda, to, SvdOutputs { sides, as_rows: false }) }
    })
}

pub fn geev(
    Of { vendor, of, handle }: Of,
    n: i64,
    (a, lda): (u64, i64),
    w: u64,
    (v, ldv): (u64, i64),
    info: u64,
) -> u32 {
    let is_right = a != 0 && w != 0 && n > 0 && lda >= n && (v == 0 || ldv >= n);
    call(vendor, handle, "Xgeev", is_right, info, move || {
        // SAFETY: the caller of the library guarantees that the arrays are valid for the given sizes.
        unsafe {
            let (mut values, mut found, is_done) = dense::eig(&of.matrix(a, n, n, lda));
            if of == of.parts() {
                (values, found) = dense::eig_of_real(&values, &found);
            }
            of.complex().put_all(w, values);
            if v != 0 {
                of.put(v, &found, n, ldv);
            }
            i32::from(!is_done)
        }
    })
}
