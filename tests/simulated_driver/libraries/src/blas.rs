//! Implements the matrix products of cuBLAS and hipBLAS.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::faults;
use crate::stream_work::{Vendor, put};

/// State of a library handle.
#[derive(Clone, Copy, Default)]
struct HandleState {
    stream: u64,
    has_workspace: bool,
}

static HANDLES: Mutex<Option<HashMap<usize, HandleState>>> = Mutex::new(None);

fn handles() -> MutexGuard<'static, Option<HashMap<usize, HandleState>>> {
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the error codes that differ between the vendors, in this order: invalid value, not supported, launch failed.
pub(crate) fn codes(vendor: Vendor) -> [u32; 3] {
    match vendor {
        Vendor::Nvidia => [7, 15, 13],
        Vendor::Amd => [3, 7, 5],
    }
}

pub(crate) const NOT_INITIALIZED: u32 = 1;

/// Returns the stream of a library handle. The handle must have a workspace.
pub(crate) fn stream_of(handle: *mut c_void, vendor: Vendor) -> Result<u64, u32> {
    match handles().get_or_insert_default().get(&handle.addr()) {
        None => Err(NOT_INITIALIZED),
        Some(state) if state.has_workspace => Ok(state.stream),
        Some(_) => Err(codes(vendor)[0]),
    }
}

fn change_state(handle: *mut c_void, change: impl FnOnce(&mut HandleState)) -> u32 {
    match handles().get_or_insert_default().get_mut(&handle.addr()) {
        None => NOT_INITIALIZED,
        Some(state) => {
            change(state);
            0
        }
    }
}

unsafe fn create(to: *mut *mut c_void) -> u32 {
    let mut handles = handles();
    let all = handles.get_or_insert_default();
    let handle = all.keys().max().map_or(0x1000, |last| last + 0x10);
    all.insert(handle, HandleState::default());
    // SAFETY: the caller of the C function guarantees a writable pointer.
    unsafe { to.write(std::ptr::without_provenance_mut(handle)) };
    0
}

/// Returns the number of handles that exist.
pub fn live() -> usize {
    handles().as_ref().map_or(0, |all| all.len())
}

fn destroy(handle: *mut c_void) -> u32 {
    if handles().get_or_insert_default().remove(&handle.addr()).is_some() { 0 } else { NOT_INITIALIZED }
}

/// Describes a batch of matrices: the address of the first matrix, the leading dimension, and the distance between two
/// matrices in elements.
#[derive(Clone, Copy)]
struct Matrix {
    address: usize,
    leading: i64,
    apart: i64,
}

#[derive(Clone, Copy)]
struct Gemm {
    operations: [u32; 2],
    lengths: [i64; 3],
    kind: u32,
    operands: [Matrix; 2],
    out: Matrix,
    count: i64,
    sums: u32,
    algorithm: c_int,
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 => {
            if fraction == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

fn to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    let exponent = if size < 2f64.powi(-14) { -14 } else { size.log2().floor() as i32 };
    let steps = (size / 2f64.powi(exponent - 10)).round_ties_even();
    // Rounding the fraction up may carry over into the exponent.
    let bits = steps + f64::from(exponent + 14) * 1024.0;
    sign | if bits >= f64::from(0x7c00) { 0x7c00 } else { bits as u16 }
}

fn to_brain(value: f64) -> u16 {
    let bits = (value as f32).to_bits();
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

fn at<T>(base: usize, index: i64) -> *mut T {
    std::ptr::with_exposed_provenance_mut::<T>(base).wrapping_offset(index as isize)
}

unsafe fn read(kind: u32, base: usize, index: i64) -> [f64; 2] {
    // SAFETY: the address is that of an element of a matrix, and the caller of the library guarantees that the matrices
    // are valid.
    unsafe {
        match kind {
            0 => [f64::from(at::<f32>(base, index).read_unaligned()), 0.0],
            1 => [at::<f64>(base, index).read_unaligned(), 0.0],
            2 => [half(at::<u16>(base, index).read_unaligned()), 0.0],
            14 => [f64::from(f32::from_bits(u32::from(at::<u16>(base, index).read_unaligned()) << 16)), 0.0],
            4 => at::<[f32; 2]>(base, index).read_unaligned().map(f64::from),
            _ => at::<[f64; 2]>(base, index).read_unaligned(),
        }
    }
}

unsafe fn write(kind: u32, base: usize, index: i64, value: [f64; 2]) {
    // SAFETY: the address is that of an element of a matrix, and the caller of the library guarantees that the matrices
    // are valid.
    unsafe {
        match kind {
            0 => at::<f32>(base, index).write_unaligned(value[0] as f32),
            1 => at::<f64>(base, index).write_unaligned(value[0]),
            2 => at::<u16>(base, index).write_unaligned(to_half(value[0])),
            14 => at::<u16>(base, index).write_unaligned(to_brain(value[0])),
            4 => at::<[f32; 2]>(base, index).write_unaligned(value.map(|part| part as f32)),
            _ => at::<[f64; 2]>(base, index).write_unaligned(value),
        }
    }
}

impl Gemm {
    /// Returns whether the arguments of the call satisfy the vendor's manual.
    fn is_right(&self, vendor: Vendor) -> bool {
        let first = if vendor == Vendor::Amd { 111 } else { 0 };
        let [m, n, k] = self.lengths;
        let [a, b] = self.operands;
        let rows = |operation: u32, plain: i64, turned: i64| if operation == first { plain } else { turned };
        let sums: &[u32] = match (vendor, matches!(self.kind, 1 | 5)) {
            (Vendor::Nvidia, true) => &[70],
            (Vendor::Nvidia, false) => &[68, 77],
            (Vendor::Amd, true) => &[7],
            (Vendor::Amd, false) => &[2, 6],
        };
        self.operations.iter().all(|operation| (first..first + 3).contains(operation))
            && self.lengths.iter().all(|length| *length >= 0)
            && self.count >= 0
            && a.leading >= rows(self.operations[0], m, k).max(1)
            && b.leading >= rows(self.operations[1], k, n).max(1)
            && self.out.leading >= m.max(1)
            && [a, b, self.out].iter().all(|matrix| matrix.address != 0)
            // The output matrices of a batch may be interleaved, but two of them must not have the same address.
            && (self.count == 1 || self.out.apart > 0)
            && sums.contains(&self.sums)
            && self.algorithm == if vendor == Vendor::Amd { 160 } else { -1 }
    }

    /// Computes the matrix products.
    ///
    /// # Safety
    /// The matrices must have the given addresses and shapes.
    unsafe fn multiply(&self, is_amd: bool) {
        let [m, n, k] = self.lengths;
        let operations = self.operations.map(|operation| if is_amd { operation - 111 } else { operation });
        let element = |side: usize, batch: i64, row: i64, column: i64| {
            let matrix = self.operands[side];
            let (row, column) = if operations[side] == 0 { (row, column) } else { (column, row) };
            // SAFETY: the caller of this function guarantees that the matrices are valid.
            let value =
                unsafe { read(self.kind, matrix.address, batch * matrix.apart + row + column * matrix.leading) };
            if operations[side] == 2 { [value[0], -value[1]] } else { value }
        };
        for batch in 0..self.count {
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let mut sum = [0.0; 2];
                for inner in 0..k {
                    let (x, y) = (element(0, batch, row, inner), element(1, batch, inner, column));
                    sum[0] += x[0] * y[0] - x[1] * y[1];
                    sum[1] += x[0] * y[1] + x[1] * y[0];
                }
                let place = batch * self.out.apart + row + column * self.out.leading;
                // SAFETY: the caller of this function guarantees that the output matrix is valid.
                unsafe { write(self.kind, self.out.address, place, sum) };
            }
        }
    }
}

fn run(vendor: Vendor, handle: *mut c_void, gemm: Gemm, kinds: [u32; 3]) -> u32 {
    let [wrong, unsupported, not_started] = codes(vendor);
    let state = match handles().get_or_insert_default().get(&handle.addr()) {
        None => return NOT_INITIALIZED,
        Some(state) => *state,
    };
    if kinds.iter().any(|kind| *kind != kinds[0] || !matches!(kind, 0 | 1 | 2 | 4 | 5 | 14)) {
        return unsupported;
    }
    // A call without a workspace from the caller is an error here, because the real library would then allocate memory,
    // which fails during a capture.
    if !gemm.is_right(vendor) || !state.has_workspace {
        return wrong;
    }
    // SAFETY: the caller of the library guarantees that the matrices are valid until the stream has completed the work.
    match put(vendor, state.stream, move || unsafe { gemm.multiply(vendor == Vendor::Amd) }) {
        Some(0) => 0,
        _ => not_started,
    }
}

/// Returns whether a scalar factor in host memory has the expected value. The factor has the accumulation type `kind`.
unsafe fn is_number(at: *const c_void, kind: u32, expected: f64) -> bool {
    // SAFETY: the caller of this function guarantees that the factor is readable and has the accumulation type.
    let value = unsafe {
        match kind {
            1 => [at.cast::<f64>().read(), 0.0],
            5 => at.cast::<[f64; 2]>().read(),
            4 => at.cast::<[f32; 2]>().read().map(f64::from),
            _ => [f64::from(at.cast::<f32>().read()), 0.0],
        }
    };
    value == [expected, 0.0]
}

macro_rules! export {
    ($vendor:expr; $create:ident $destroy:ident $version:ident $stream:ident $workspace:ident $math:ident $atomics:ident
     $(; $one:ident $many:ident $length:ty)*) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $create(to: *mut *mut c_void) -> u32 {
            // SAFETY: the caller of the C function guarantees that `to` is writable.
            faults::begin(stringify!($create)).unwrap_or_else(|| unsafe { create(to) })
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $destroy(handle: *mut c_void) -> u32 {
            destroy(handle)
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $version(_handle: *mut c_void, to: *mut c_int) -> u32 {
            // SAFETY: the caller of the C function guarantees that `to` is writable.
            unsafe { to.write(120_800) };
            0
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $stream(handle: *mut c_void, stream: *mut c_void) -> u32 {
            let stream = stream.addr() as u64;
            // As in the real libraries, setting the stream of a handle resets its workspace.
            let own = |state: &mut HandleState| *state = HandleState { stream, has_workspace: false };
            faults::begin(stringify!($stream)).unwrap_or_else(|| change_state(handle, own))
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $workspace(handle: *mut c_void, workspace: *mut c_void, bytes: usize) -> u32 {
            if workspace.is_null() || workspace.addr() % 256 != 0 || bytes == 0 {
                return codes($vendor)[0];
            }
            change_state(handle, |state| state.has_workspace = true)
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $math(handle: *mut c_void, mode: u32) -> u32 {
            if matches!(mode, 0 | 16) { change_state(handle, |_| ()) } else { codes($vendor)[0] }
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $atomics(handle: *mut c_void, mode: u32) -> u32 {
            if mode == 0 { change_state(handle, |_| ()) } else { codes($vendor)[0] }
        }

        $(
            #[unsafe(no_mangle)]
            #[rustfmt::skip]
            pub unsafe extern "C" fn $one(
                handle: *mut c_void, op_a: u32, op_b: u32, m: $length, n: $length, k: $length, alpha: *const c_void,
                a: *const c_void, kind_a: u32, lda: $length, b: *const c_void, kind_b: u32, ldb: $length,
                beta: *const c_void, c: *mut c_void, kind_c: u32, ldc: $length, sums: u32, algorithm: c_int,
            ) -> u32 {
                // SAFETY: the caller of the C function guarantees valid arguments, as the vendor's manual requires.
                unsafe {
                    $many(
                        handle, op_a, op_b, m, n, k, alpha, a, kind_a, lda, 0, b, kind_b, ldb, 0, beta, c, kind_c, ldc, 0,
                        1, sums, algorithm,
                    )
                }
            }

            #[unsafe(no_mangle)]
            #[rustfmt::skip]
            // The lengths are 32-bit integers in one version of this function and 64-bit integers in the other.
            #[allow(clippy::useless_conversion)]
            pub unsafe extern "C" fn $many(
                handle: *mut c_void, op_a: u32, op_b: u32, m: $length, n: $length, k: $length, alpha: *const c_void,
                a: *const c_void, kind_a: u32, lda: $length, apart_a: i64, b: *const c_void, kind_b: u32, ldb: $length,
                apart_b: i64, beta: *const c_void, c: *mut c_void, kind_c: u32, ldc: $length, apart_c: i64,
                count: $length, sums: u32, algorithm: c_int,
            ) -> u32 {
                if let Some(code) = faults::begin(stringify!($one)) {
                    return code;
                }
                // SAFETY: the caller of the C function guarantees that both factors are readable and have the
                // accumulation type.
                if unsafe { !is_number(alpha, kind_a, 1.0) || !is_number(beta, kind_a, 0.0) } {
                    return codes($vendor)[0];
                }
                let matrix = |address: usize, leading: $length, apart: i64| Matrix { address, leading: leading.into(), apart };
                let gemm = Gemm {
                    operations: [op_a, op_b],
                    lengths: [m.into(), n.into(), k.into()],
                    kind: kind_a,
                    operands: [
                        matrix(a.expose_provenance(), lda, apart_a),
                        matrix(b.expose_provenance(), ldb, apart_b),
                    ],
                    out: matrix(c.expose_provenance(), ldc, apart_c),
                    count: count.into(),
                    sums,
                    algorithm,
                };
                run($vendor, handle, gemm, [kind_a, kind_b, kind_c])
            }
        )*
    };
}

export! {
    Vendor::Nvidia;
    cublasCreate_v2 cublasDestroy_v2 cublasGetVersion_v2 cublasSetStream_v2 cublasSetWorkspace_v2 cublasSetMathMode
    cublasSetAtomicsMode;
    cublasGemmEx cublasGemmStridedBatchedEx c_int;
    cublasGemmEx_64 cublasGemmStridedBatchedEx_64 i64
}

export! {
    Vendor::Amd;
    hipblasCreate hipblasDestroy hipblasGetVersion hipblasSetStream hipblasSetWorkspace hipblasSetMathMode
    hipblasSetAtomicsMode;
    hipblasGemmEx hipblasGemmStridedBatchedEx c_int;
    hipblasGemmEx_64 hipblasGemmStridedBatchedEx_64 i64
}
