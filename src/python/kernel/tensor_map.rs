//! Defines the class `TensorMap`, a kernel argument of the type `CUtensorMap`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::argument::KernelArgument;
use crate::array::class::GpuArray;
use crate::convert::number;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::runtime::device::PyDevice;
use pygpu_kernel::tensor_map::{self, BoxSpec};
use pygpu_layout::tuple_text;
use pygpu_memory::Access;

/// Names of the options in the Python interface. The index of a name is the driver's enumerator.
const INTERLEAVE: &[&str] = &["none", "16B", "32B"];
const SWIZZLE: &[&str] = &["none", "32B", "64B", "128B", "128B_atom_32B", "128B_atom_32B_flip_8B", "128B_atom_64B"];
const L2_PROMOTION: &[&str] = &["none", "64B", "128B", "256B"];
const OOB_FILL: &[&str] = &["zero", "nan"];

/// Description of how the tensor memory accelerator copies boxes between an array and shared memory (`CUtensorMap`).
///
/// Parameters
/// ----------
/// array : GPUArray
///     An array of integers or floats with one to five axes. Its address must be a multiple of 16 bytes, its last axis
///     must be contiguous, and the other strides must be multiples of 16 bytes.
/// box : int or sequence of int
///     Number of elements of a box along each axis of the array, at most 256. Along the last axis the size of a box
///     must be a multiple of 16 bytes.
/// swizzle : str, optional
///     Permutation of a box's rows in shared memory that avoids bank conflicts: ``'32B'``, ``'64B'`` or ``'128B'``. A
///     row of the box then has at most 32, 64 or 128 bytes, respectively. Newer devices also support
///     ``'128B_atom_32B'``, ``'128B_atom_32B_flip_8B'`` and ``'128B_atom_64B'``.
/// interleave : str, optional
///     ``'16B'`` or ``'32B'``: number of bytes in which channels are grouped.
/// element_strides : int or sequence of int, optional
///     Step between the elements of a box along each axis, at most 8. The driver ignores the step of the last axis.
/// l2_promotion : str, optional
///     ``'64B'``, ``'128B'``, ``'256B'``: number of bytes of a read into the L2 cache.
/// oob_fill : str, optional
///     Value of elements outside of the array: ``'zero'``, or ``'nan'`` for floats.
/// readonly : bool, optional
///     Whether kernels only read the array through the map. Otherwise a launch counts as a write to the array, unless
///     the array is read-only.
///
/// Raises
/// ------
/// NotSupportedError
///     On the CPU and on HIP, and on devices before compute capability 9.0.
/// ValueError
///     If the accelerator does not support the array, the box or an option.
/// TypeError
///     If the accelerator does not support the element type.
///
/// Notes
/// -----
/// The kernel declares ``const __grid_constant__ CUtensorMap map``. Coordinates in the kernel begin with the array's
/// last axis. A coordinate along that axis must be a multiple of 16 bytes. The map keeps the array alive. A launch
/// whose argument is the map waits for other uses of the array, as if the array were the argument.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.zeros((64, 64), 'float32')
/// >>> try:
/// ...     tiles = PyGPU.TensorMap(a, (16, 16), readonly=True)
/// ... except PyGPU.NotSupportedError:
/// ...     tiles = None  # no device of compute capability 9.0
#[pyclass(frozen, weakref, extends = KernelArgument, name = "TensorMap", module = "PyGPU")]
pub(crate) struct TensorMap {
    array: Py<GpuArray>,
    boxes: BoxSpec,
}

/// Returns the driver's enumerator for the value `word` of the option `name`, which is the index of `word` in `words`.
/// For `None`, returns 0, the driver's default.
fn enumerator(word: Option<&str>, name: &str, words: &[&str]) -> PyResult<u32> {
    let Some(word) = word else { return Ok(0) };
    let position = words.iter().position(|known| known.eq_ignore_ascii_case(word));
    position.map(|index| index as u32).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        PyValueError::new_err(format!("{name} is {}, not '{word}'", known.join(", ")))
    })
}

/// Converts a Python int, or a sequence of one int per axis, to lengths of 32 bits.
fn lengths(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<u32>> {
    let parse = |value: &Bound<'_, PyAny>| {
        let length = number::unsigned(value, name)?;
        u32::try_from(length)
            .map_err(|_| PyValueError::new_err(format!("{name} has {length}, more than any device takes")))
    };
    if value.is_instance_of::<pyo3::types::PyInt>() {
        return Ok(vec![parse(value)?]);
    }
    match value.try_iter() {
        Ok(items) => items.map(|item| parse(&item?)).collect(),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{name} is an int, or one for each axis, not {}",
            value.get_type().fully_qualified_name()?
        ))),
    }
}

#[pymethods]
impl TensorMap {
    #[new]
    #[pyo3(
        signature = (
            array: "GPUArray", r#box: "int | Sequence[int]", *, swizzle: "str | None" = None,
            interleave: "str | None" = None, element_strides: "int | Sequence[int] | None" = None,
            l2_promotion: "str | None" = None, oob_fill: "str | None" = None, readonly: "bool" = false
        ) -> "Self",
        text_signature = "(array, box, *, swizzle=None, interleave=None, element_strides=None, l2_promotion=None, \
                             oob_fill='zero', readonly=False)"
    )]
    #[expect(clippy::too_many_arguments, reason = "Python's keywords")]
    fn py_new(
        array: &Bound<'_, PyAny>,
        r#box: &Bound<'_, PyAny>,
        swizzle: Option<&str>,
        interleave: Option<&str>,
        element_strides: Option<&Bound<'_, PyAny>>,
        l2_promotion: Option<&str>,
        oob_fill: Option<&str>,
        readonly: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let py = array.py();
        let Ok(array) = array.cast::<GpuArray>() else {
            return Err(PyTypeError::new_err(format!(
                "a tensor map is of a GPUArray, not of {}: PyGPU.from_dlpack(x) makes one of another library's",
                array.get_type().fully_qualified_name()?
            )));
        };
        let extent = lengths(r#box, "box")?;
        let boxes = BoxSpec {
            steps: element_strides
                .map_or_else(|| Ok(vec![1; extent.len()]), |steps| lengths(steps, "element_strides"))?,
            extent,
            interleave: enumerator(interleave, "interleave", INTERLEAVE)?,
            swizzle: enumerator(swizzle, "swizzle", SWIZZLE)?,
            l2_promotion: enumerator(l2_promotion, "l2_promotion", L2_PROMOTION)?,
            fills_nan: enumerator(oob_fill, "oob_fill", OOB_FILL)? == 1,
        };
        let tensor = array.get().array(py)?;
        let bytes = py.without_gil(|| tensor_map::encode(tensor, &boxes))?;
        let access = if readonly || tensor.readonly() { Access::Read } else { Access::Write };
        let argument = KernelArgument::over(&bytes.0, array, access);
        Ok(PyClassInitializer::from(argument).add_subclass(Self { array: array.clone().unbind(), boxes }))
    }

    /// Array described by the map.
    #[getter]
    fn array(&self, py: Python<'_>) -> Py<GpuArray> {
        self.array.clone_ref(py)
    }

    /// Elements of a box along each axis of the array.
    #[getter]
    // stub: -> tuple[int, ...]
    fn r#box<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.boxes.extent)
    }

    /// Device of the array.
    #[getter]
    fn device(&self) -> PyDevice {
        self.array.get().device().into()
    }

    fn __repr__(&self) -> String {
        let array = self.array.get();
        format!(
            "<PyGPU.TensorMap of boxes {} of an array of shape {} and {} on {}>",
            tuple_text(self.boxes.extent.iter()),
            tuple_text(array.layout().shape()),
            array.dtype().name(),
            array.device()
        )
    }
}

names! {
    classes "Kernels": TensorMap;
}
