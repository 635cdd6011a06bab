//! Defines the method `a.fill(value)`.

use pyo3::prelude::*;

use super::{assign, element_encoding};
use crate::array::class::GpuArray;
use crate::gil::WithoutGil;
use crate::host_transfers::transfer;
use crate::interop::import;
use pygpu_copy as copy;
use pygpu_layout::Layout;

#[pymethods]
impl GpuArray {
    /// Set every element to one value.
    ///
    /// Parameters
    /// ----------
    /// value : scalar
    ///     The value, which is converted to the array's dtype by NumPy's rules. A device array with one element is
    ///     allowed, too; it is not copied to the host.
    /// stream : Stream, optional
    ///     The stream on which to fill; the thread's current stream by default.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     The array itself.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a read-only array, and for a value of more than one element.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.empty(2).fill(1.5).tolist()
    /// [1.5, 1.5]
    #[pyo3(signature = (value: "Any", stream: "StreamLike" = None) -> "Self")]
    fn fill<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
        stream: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().array(slf.py())?;
        array.check_writable("fill")?;
        let stream = transfer::stream_or_current(slf, stream)?;
        match import::device_array(value)? {
            Some(element) => {
                let element =
                    element.view(assign::broadcast(element.layout(), &Layout::scalar(element.layout().itemsize()))?)?;
                assign::assign_array(slf.py(), array, &element, None, &stream)?;
            }
            None => {
                let item = element_encoding::item_bytes(slf.py(), array, value)?;
                slf.py().without_gil(|| copy::fill(array, &item, &stream))?;
            }
        }
        Ok(slf.clone())
    }
}
