//! Calls the library's matrix product functions, with 32-bit or 64-bit lengths.

use std::ffi::{c_int, c_void};

use super::NOT_SUPPORTED;

/// A library function for one product. Its parameters are the handle, operations, lengths, factor, operands with type
/// and leading dimension, factor, result, type of the sums, algorithm.
#[rustfmt::skip]
pub type GemmFn<N> = unsafe extern "C" fn(
    *mut c_void, u32, u32, N, N, N, *const c_void, *const c_void, u32, N, *const c_void, u32, N,
    *const c_void, *mut c_void, u32, N, u32, c_int,
) -> u32;
/// A library function for a batch of products. It has the parameters of [`GemmFn`], with a stride after each leading
/// dimension and the number of matrices before the type of the sums.
#[rustfmt::skip]
pub type BatchedGemmFn<N> = unsafe extern "C" fn(
    *mut c_void, u32, u32, N, N, N, *const c_void, *const c_void, u32, N, i64, *const c_void, u32, N, i64,
    *const c_void, *mut c_void, u32, N, i64, N, u32, c_int,
) -> u32;

/// The lengths m, n and k, the leading dimensions of operands and result, and the number of products.
type Lengths<N> = [N; 7];

/// Arguments of a product function, except lengths, leading dimensions and strides.
pub struct GemmCall {
    pub handle: *mut c_void,
    pub operations: [u32; 2],
    pub number: u32,
    pub factors: [*const c_void; 2],
    pub operands: [*const c_void; 2],
    pub out: *mut c_void,
    pub apart: [i64; 3],
    pub sums: u32,
    pub algorithm: c_int,
}

impl GemmCall {
    /// Calls the function for a single product.
    ///
    /// # Safety
    /// The conditions of [`super::Blas::gemm`] apply, and the factors have the type of the sums.
    pub unsafe fn one<N>(&self, function: Option<GemmFn<N>>, [m, n, k, lda, ldb, ldc, _]: Lengths<N>) -> u32 {
        let Some(function) = function else { return NOT_SUPPORTED };
        let Self { handle, number, out, sums, algorithm, .. } = *self;
        let ([op_a, op_b], [one, none], [a, b]) = (self.operations, self.factors, self.operands);
        // SAFETY: the caller guarantees that handle, matrices and factors are valid.
        unsafe {
            function(
                handle, op_a, op_b, m, n, k, one, a, number, lda, b, number, ldb, none, out, number, ldc, sums,
                algorithm,
            )
        }
    }

    /// Calls the function for a strided batch of products.
    ///
    /// # Safety
    /// The conditions of [`Self::one`] apply.
    pub unsafe fn many<N>(
        &self,
        function: Option<BatchedGemmFn<N>>,
        [m, n, k, lda, ldb, ldc, count]: Lengths<N>,
    ) -> u32 {
        let Some(function) = function else { return NOT_SUPPORTED };
        let Self { handle, number, out, sums, algorithm, apart: [next_a, next_b, next_out], .. } = *self;
        let ([op_a, op_b], [one, none], [a, b]) = (self.operations, self.factors, self.operands);
        // SAFETY: the caller guarantees that handle, matrices and factors are valid.
        unsafe {
            function(
                handle, op_a, op_b, m, n, k, one, a, number, lda, next_a, b, number, ldb, next_b, none, out, number,
                ldc, next_out, count, sums, algorithm,
            )
        }
    }
}
