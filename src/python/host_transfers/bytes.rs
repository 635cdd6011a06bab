//! Defines methods that copy the values of an array into bytes and files of the host.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::class::GpuArray;
use crate::convert::shape::OrderArgument;
use crate::finalization;
use crate::host_transfers::transfer;
use crate::py_once::intern;

/// Downloads the array to a new ndarray, and calls a method of this ndarray.
fn of_host_copy<'py>(
    slf: &Bound<'py, GpuArray>,
    method: &Bound<'py, pyo3::types::PyString>,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    transfer::to_ndarray(slf.py(), slf.get().array(slf.py())?)?.call_method1(method, args)
}

#[pymethods]
impl GpuArray {
    /// Copy the values into a bytes object.
    ///
    /// Parameters
    /// ----------
    /// order : {'C', 'F', 'A', 'K'}, optional
    ///     Order in which elements are read; C order by default. 'A' is F order for arrays that are only F-contiguous.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([1, 2]).astype('int16').tobytes()
    /// b'\x01\x00\x02\x00'
    #[pyo3(signature = (order: "OrderACFK" = None) -> "bytes")]
    fn tobytes<'py>(slf: &Bound<'py, Self>, order: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyBytes>> {
        // The order 'A' is resolved with the layout of the array, because the host copy may have another layout.
        let layout = slf.get().layout();
        let order = match order.filter(|order| !order.is_none()).map(OrderArgument::from_python).transpose()? {
            Some(OrderArgument::F) => "F",
            Some(OrderArgument::A | OrderArgument::K) if layout.is_f_contiguous() && !layout.is_c_contiguous() => "F",
            _ => "C",
        };
        Ok(of_host_copy(slf, intern!(slf.py(), "tobytes"), (order,))?.cast_into()?)
    }

    /// Copies the values in C order, as `bytes(ndarray)` does.
    #[pyo3(signature = () -> "bytes")]
    fn __bytes__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        Self::tobytes(slf, None)
    }

    /// Write the values to a file, as binary data or as text, in C order.
    ///
    /// Parameters
    /// ----------
    /// fid : file, str or Path
    ///     Open file object, or the name of a file.
    /// sep : str, optional
    ///     Separator of a text file. If empty, the file is binary.
    /// format : str, optional
    ///     Format of each element in a text file.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> import PyGPU
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     PyGPU.arange(3).tofile(os.path.join(folder, "numbers"), sep=" ")
    #[pyo3(signature = (fid: "Any", sep: "str" = "", format: "str" = "%s") -> "None")]
    fn tofile(slf: &Bound<'_, Self>, fid: &Bound<'_, PyAny>, sep: &str, format: &str) -> PyResult<()> {
        of_host_copy(slf, intern!(slf.py(), "tofile"), (fid, sep, format)).map(drop)
    }

    /// Return the array's pickle as bytes.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     `pickle.loads` restores the array on its device.
    ///
    /// Examples
    /// --------
    /// >>> import pickle
    /// >>> import PyGPU
    /// >>> pickle.loads(PyGPU.arange(3).dumps()).tolist()
    /// [0, 1, 2]
    #[pyo3(signature = () -> "bytes")]
    fn dumps<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        finalization::run_python(py, || py.import(intern!(py, "pickle"))?.call_method1(intern!(py, "dumps"), (slf,)))
    }

    /// Write the array's pickle to a file, which `numpy.load` with `allow_pickle=True` or `pickle.load` reads.
    ///
    /// Parameters
    /// ----------
    /// file : file, str or Path
    ///     Open binary file, or the name of a file.
    ///
    /// Examples
    /// --------
    /// >>> import io, pickle
    /// >>> import PyGPU
    /// >>> file = io.BytesIO()
    /// >>> PyGPU.arange(3).dump(file)
    /// >>> pickle.loads(file.getvalue()).tolist()
    /// [0, 1, 2]
    #[pyo3(signature = (file: "Any") -> "None")]
    fn dump(slf: &Bound<'_, Self>, file: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let pickled = Self::dumps(slf)?;
        if file.hasattr(intern!(py, "write"))? {
            return file.call_method1(intern!(py, "write"), (pickled,)).map(drop);
        }
        let path = py.import(intern!(py, "pathlib"))?.getattr(intern!(py, "Path"))?.call1((file,))?;
        path.call_method1(intern!(py, "write_bytes"), (pickled,)).map(drop)
    }
}
