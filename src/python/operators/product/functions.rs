//! Defines the functions and methods of the Python interface that multiply matrices and vectors.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::call_with_keywords;
use crate::array::class::GpuArray;
use crate::array::output_argument::OutputArg;
use crate::convert::argument_errors;
use crate::exported_names::names;
use crate::finalization;
use crate::py_once::intern;
use pygpu_ops::product::{ProductFunction, product_table};

#[pymethods]
impl GpuArray {
    /// Multiply with another array, like NumPy's ``dot``.
    ///
    /// Parameters
    /// ----------
    /// b : GPUArray or number
    ///     The second factor. Its last axis but one, or its only axis, is multiplied with the last axis of this array.
    /// out : GPUArray, optional
    ///     Array for the result, in C order. It must have the type and shape of the result.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([1, 2]).dot(PyGPU.to_gpu([3, 4])).item()
    /// 11
    #[pyo3(signature = (b: "Any", out: "GPUArray | None" = None) -> "GPUArray")]
    fn dot<'py>(
        slf: &Bound<'py, Self>,
        b: &Bound<'py, PyAny>,
        out: Option<OutputArg<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let call_product =
            py.import(intern!(py, "PyGPU._functions.products.tensor_products"))?.getattr(intern!(py, "dot"))?;
        finalization::run_python(py, || call_product.call1((slf, b, out.as_deref())))
    }
}

fn call_product<'py>(
    product_function: &'static ProductFunction,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    call_with_keywords(product_function, arguments, keywords)?
        .ok_or_else(|| argument_errors::operand(product_function.row.name, 2, arguments, keywords))
}

/// Declares the product functions with their documentation.
macro_rules! functions {
    ($($(#[$text:meta])* $name:ident $product_function:ident $signature:literal)*) => {
        $(
            $(#[$text])*
            #[pyfunction]
            #[pyo3(signature = (*operands, **keywords), text_signature = $signature)]
            fn $name<'py>(
                operands: &Bound<'py, PyTuple>,
                keywords: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                call_product(&product_table::$product_function, operands, keywords)
            }
        )*
    };
}

functions! {
    /// Multiply matrices, in batches of all axes but the last two: ``x1 @ x2``.
    ///
    /// Parameters
    /// ----------
    /// x1, x2 : GPUArray
    ///     Matrices along the last two axes. A left operand with one axis is treated as a row, and a right operand with
    ///     one axis as a column; the result lacks this axis. Axes before the last two are broadcast. Operands may have
    ///     any layout: transposed operands are not copied.
    /// out : GPUArray, optional
    ///     Array for the result; it may be one of the operands.
    /// casting, order, dtype, axes : optional
    ///     The same as in NumPy's function.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     The product, in NumPy's result type. Integers wrap around. Bools are multiplied by ``and`` and summed by
    ///     ``or``. 16-bit floats are summed in float32.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.to_gpu([[1, 2], [3, 4]])
    /// >>> PyGPU.matmul(a, a.T).tolist()
    /// [[5, 11], [11, 25]]
    matmul MATMUL "(x1, x2, /, out=None, *, casting='same_kind', order='K', dtype=None, axes=None)"

    /// Multiply matrices with vectors.
    ///
    /// Parameters
    /// ----------
    /// x1 : GPUArray
    ///     Matrices along the last two axes.
    /// x2 : GPUArray
    ///     Vectors along the last axis.
    /// out : GPUArray, optional
    ///     Array for the result.
    /// casting, order, dtype, axes : optional
    ///     The same as in NumPy's function.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.matvec(PyGPU.to_gpu([[1, 2], [3, 4]]), PyGPU.to_gpu([1, 10])).tolist()
    /// [21, 43]
    matvec MATVEC "(x1, x2, /, out=None, *, casting='same_kind', order='K', dtype=None, axes=None)"

    /// Multiply vectors with matrices; complex vectors are conjugated.
    ///
    /// Parameters
    /// ----------
    /// x1 : GPUArray
    ///     Vectors along the last axis.
    /// x2 : GPUArray
    ///     Matrices along the last two axes.
    /// out : GPUArray, optional
    ///     Array for the result.
    /// casting, order, dtype, axes : optional
    ///     The same as in NumPy's function.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.vecmat(PyGPU.to_gpu([1, 10]), PyGPU.to_gpu([[1, 2], [3, 4]])).tolist()
    /// [31, 42]
    vecmat VECMAT "(x1, x2, /, out=None, *, casting='same_kind', order='K', dtype=None, axes=None)"

    /// Multiply vectors with vectors; the first ones are conjugated if complex.
    ///
    /// Parameters
    /// ----------
    /// x1, x2 : GPUArray
    ///     Vectors along one axis; the other axes are broadcast.
    /// out : GPUArray, optional
    ///     Array for the result.
    /// axis : int, optional
    ///     The axis of the vectors; the last axis by default.
    /// keepdims : bool, optional
    ///     Keep the axis of the vectors in the result, with length 1.
    /// casting, order, dtype, axes : optional
    ///     The same as in NumPy's function.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.vecdot(PyGPU.to_gpu([1j, 2]), PyGPU.to_gpu([1j, 2])).item()
    /// (5+0j)
    vecdot VECDOT "(x1, x2, /, out=None, *, axis=-1, keepdims=False, casting='same_kind', order='K', dtype=None, axes=None)"
}

// The entries of `functions!` contain no types. Therefore the lines that begin with `stub:` contain the signatures.
// stub: def matmul(
// stub:     x1: Operand,
// stub:     x2: Operand,
// stub:     /,
// stub:     out: GPUArray | None = None,
// stub:     *,
// stub:     casting: str = "same_kind",
// stub:     order: str = "K",
// stub:     dtype: Any = None,
// stub:     axes: Sequence[ShapeLike] | None = None,
// stub: ) -> GPUArray: ...
// stub: def matvec(
// stub:     x1: Operand,
// stub:     x2: Operand,
// stub:     /,
// stub:     out: GPUArray | None = None,
// stub:     *,
// stub:     casting: str = "same_kind",
// stub:     order: str = "K",
// stub:     dtype: Any = None,
// stub:     axes: Sequence[ShapeLike] | None = None,
// stub: ) -> GPUArray: ...
// stub: def vecmat(
// stub:     x1: Operand,
// stub:     x2: Operand,
// stub:     /,
// stub:     out: GPUArray | None = None,
// stub:     *,
// stub:     casting: str = "same_kind",
// stub:     order: str = "K",
// stub:     dtype: Any = None,
// stub:     axes: Sequence[ShapeLike] | None = None,
// stub: ) -> GPUArray: ...
// stub: def vecdot(
// stub:     x1: Operand,
// stub:     x2: Operand,
// stub:     /,
// stub:     out: GPUArray | None = None,
// stub:     *,
// stub:     axis: int = -1,
// stub:     keepdims: bool = False,
// stub:     casting: str = "same_kind",
// stub:     order: str = "K",
// stub:     dtype: Any = None,
// stub:     axes: Sequence[ShapeLike] | None = None,
// stub: ) -> GPUArray: ...

names! {
    functions "Products": matmul, matvec, vecmat, vecdot;
}
