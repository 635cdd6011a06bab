//! Defines the attributes that PyCUDA's arrays have and NumPy's arrays lack: elementwise methods, and the launch
//! dimensions that PyCUDA's programs read.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::array::class::{GpuArray, new_like};
use crate::host_transfers::transfer;
use crate::operators::parametric_functions;
use crate::py_once::intern;
use crate::runtime::current_stream::CurrentStreamGuard;
use pygpu_base::error::Error;

/// Calls an elementwise function by its public name.
fn call<'py>(
    name: &str,
    operands: &[&Bound<'py, PyAny>],
    out: Option<&Bound<'py, GpuArray>>,
    py: Python<'py>,
) -> PyResult<Bound<'py, GpuArray>> {
    let function = py.import(intern!(py, "PyGPU._core"))?.getattr(name)?;
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "out"), out)?;
    Ok(function.call(PyTuple::new(py, operands)?, Some(&keywords))?.cast_into()?)
}

#[pymethods]
impl GpuArray {
    /// Return the complex conjugates, or the array itself if its numbers are real.
    ///
    /// Parameters
    /// ----------
    /// out : GPUArray, optional
    ///     Array for the result.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([1 + 2j]).conj().tolist()
    /// [(1-2j)]
    #[pyo3(signature = (out: "Self | None" = None) -> "Self")]
    fn conj<'py>(slf: &Bound<'py, Self>, out: Option<&Bound<'py, Self>>) -> PyResult<Bound<'py, Self>> {
        if out.is_none() && !slf.get().dtype().kind().is_complex() {
            return Ok(slf.clone());
        }
        call("conjugate", &[slf.as_any()], out, slf.py())
    }

    /// Return the complex conjugates, as `conj`.
    #[pyo3(signature = (out: "Self | None" = None) -> "Self")]
    fn conjugate<'py>(slf: &Bound<'py, Self>, out: Option<&Bound<'py, Self>>) -> PyResult<Bound<'py, Self>> {
        Self::conj(slf, out)
    }

    /// Reverse the elements along every axis, into a new array.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, optional
    ///     The thread's current stream by default.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(3).reverse().tolist()
    /// [2, 1, 0]
    #[pyo3(signature = (stream: "StreamLike" = None) -> "Self")]
    fn reverse<'py>(slf: &Bound<'py, Self>, stream: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Self>> {
        let _current = CurrentStreamGuard::from_argument(slf.py(), slf.get().device(), stream)?;
        let array = slf.get().array(slf.py())?;
        let reversed = array.view(array.layout().flip(None)?)?;
        new_like(slf, Self::from_array(transfer::device_copy_like(slf.py(), &reversed)?))
    }

    /// Compute ``selffac * self + otherfac * other`` in one launch, each product and the sum rounded in the common type.
    ///
    /// Parameters
    /// ----------
    /// selffac, otherfac : scalar
    ///     The factors.
    /// other : GPUArray
    ///     The second array, which is broadcast.
    /// add_timer : None
    ///     Parameter of PyCUDA. It must be None, because launches are not timed.
    /// stream : Stream, optional
    ///     The thread's current stream by default.
    /// out : GPUArray, optional
    ///     Array for the result.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Raises
    /// ------
    /// NotSupportedError
    ///     If `add_timer` is not None.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(3).mul_add(10, PyGPU.arange(3), 1).tolist()
    /// [0, 11, 22]
    #[pyo3(signature = (
        selffac: "Any", other: "Any", otherfac: "Any", add_timer: "None" = None, stream: "StreamLike" = None,
        out: "Self | None" = None
    ) -> "Self")]
    fn mul_add<'py>(
        slf: &Bound<'py, Self>,
        selffac: &Bound<'py, PyAny>,
        other: &Bound<'py, PyAny>,
        otherfac: &Bound<'py, PyAny>,
        add_timer: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, Self>>,
    ) -> PyResult<Bound<'py, Self>> {
        if add_timer.is_some_and(|timer| !timer.is_none()) {
            return Err(Error::not_supported(
                "mul_add does not call an add_timer; record events before and after it, on its stream",
            )
            .into());
        }
        let _current = CurrentStreamGuard::from_argument(slf.py(), slf.get().device(), stream)?;
        parametric_functions::weighted_sum([slf.as_any(), selffac, other, otherfac], out)
    }

    /// Bind the elements to a texture reference, for ``tex1Dfetch``.
    ///
    /// Parameters
    /// ----------
    /// texref : driver.TextureReference
    ///     The texture reference. Its format does not change.
    /// allow_offset : bool, optional
    ///     Whether the texture may begin before the array, if no texture can begin at the array's address.
    ///
    /// Returns
    /// -------
    /// float
    ///     The offset in elements.
    #[pyo3(signature = (texref: "Any", allow_offset: "bool" = false) -> "float")]
    fn bind_to_texref<'py>(
        slf: &Bound<'py, Self>,
        texref: &Bound<'py, PyAny>,
        allow_offset: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        textures(slf.py())?.call_method1("bind_gpuarray", (slf, texref, allow_offset))
    }

    /// Bind the elements like `bind_to_texref`, and set the reference's format to the elements' format.
    ///
    /// Parameters
    /// ----------
    /// texref : driver.TextureReference
    ///     The texture reference.
    /// channels : int, optional
    ///     Number of array elements in one texture element.
    /// allow_double_hack, allow_complex_hack : bool, optional
    ///     Whether float64, and complex64 and complex128, may be read as several integers, for ``fp_tex1Dfetch``.
    /// allow_offset : bool, optional
    ///     Whether the texture may begin before the array, if no texture can begin at the array's address.
    ///
    /// Returns
    /// -------
    /// float
    ///     The offset in elements.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     If the elements are not contiguous.
    /// TypeError
    ///     For element types that textures do not support.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> from PyGPU.compiler import SourceModule
    /// >>> module = SourceModule('''texture<int> line;
    /// ... __global__ void reversed(int *out) { out[threadIdx.x] = tex1Dfetch(line, 2 - threadIdx.x); }''')
    /// >>> PyGPU.arange(3, dtype='int32').bind_to_texref_ext(module.get_texref('line'))
    /// 0.0
    /// >>> out = PyGPU.empty(3, 'int32')
    /// >>> module.get_function('reversed')(out, block=(3, 1, 1))
    /// >>> out.tolist()
    /// [2, 1, 0]
    #[pyo3(signature = (
        texref: "Any", channels: "int" = 1, allow_double_hack: "bool" = false, allow_complex_hack: "bool" = false,
        allow_offset: "bool" = false
    ) -> "float")]
    fn bind_to_texref_ext<'py>(
        slf: &Bound<'py, Self>,
        texref: &Bound<'py, PyAny>,
        channels: u32,
        allow_double_hack: bool,
        allow_complex_hack: bool,
        allow_offset: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let hacks = (slf, texref, channels, allow_double_hack, allow_complex_hack, allow_offset);
        textures(slf.py())?.call_method1("bind_gpuarray_with_format", hacks)
    }

    /// Number of blocks of a launch over all elements, for PyCUDA's programs; `_block` is the number of threads of a
    /// block.
    #[getter]
    // stub: -> tuple[int, int]
    fn _grid<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        launch_dimensions(slf)?.get_item(0)
    }

    #[getter]
    // stub: -> tuple[int, int, int]
    fn _block<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        launch_dimensions(slf)?.get_item(1)
    }
}

fn launch_dimensions<'py>(slf: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, PyTuple>> {
    let py = slf.py();
    let splay = py.import(intern!(py, "PyGPU._pycuda.gpuarray.shape"))?.getattr("splay")?;
    Ok(splay.call1((slf.get().layout().size(),))?.cast_into()?)
}

fn textures(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "PyGPU._pycuda.driver.textures"))
}
