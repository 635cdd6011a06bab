//! Defines the class `Ufunc`, a callable object for each elementwise function, such as `PyGPU.add`. The table of ufuncs
//! (`pygpu_ops::ufunc`) defines the functions.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use super::ufunc_at;
use super::ufunc_call::{self, UfuncKeywords};
use super::{reduce, scan};
use crate::array::array_argument::ArrayArg;
use crate::array::class::{GpuArray, new_exact, new_view};
use crate::convert::argument_errors;
use crate::exported_names::{ExportedNames, names};
use crate::finalization;
use crate::interop::import;
use crate::py_once::intern;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_layout::{Dims, Layout};
use pygpu_ops::ufunc::{self, UfuncEntry, special};

/// Examples, one line per function in the order of the table of ufuncs: the formula if the function has one, a call,
/// and its result.
const EXAMPLES: &str = include_str!("ufunc_examples.txt");

/// An elementwise function, like NumPy's ufuncs.
///
/// ``function(*operands, out=None, where=True, dtype=None, casting='same_kind', order='K')`` computes on the device of
/// the arrays, in the order of the thread's current stream. Operands are numbers, PyGPU arrays of that device, and
/// arrays of that device that other libraries export. Operands are broadcast, and their types are promoted, as in NumPy
/// (NEP 50). Functions with two results return a tuple, and accept a tuple as `out`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.to_gpu([1.0, 4.0, 9.0])
/// >>> PyGPU.sqrt(a).get()
/// array([1., 2., 3.])
/// >>> PyGPU.add(a, 1, out=a).get()
/// array([ 2.,  5., 10.])
// The class has a `dict` for the `__doc__` of each object, because a class attribute `__doc__` precedes a getter.
// stub: < Generic[_Result_co]
// stub: @property
// stub: def __doc__(self) -> str: ...  # type: ignore[override]
#[pyclass(frozen, dict, name = "Ufunc", module = "PyGPU")]
pub(crate) struct Ufunc(pub(super) &'static UfuncEntry);

/// Calls a ufunc with the arguments that Python code passed: positional arguments (operands, followed by optional
/// output arrays) and keywords. Returns `None` if an argument has an unsupported type.
///
/// # Errors
/// The errors of [`ufunc_call::call`].
pub(super) fn call(
    entry: &'static UfuncEntry,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    let parsed = keywords.map_or_else(
        || Ok(Some(UfuncKeywords::default())),
        |keywords| UfuncKeywords::read(entry, arguments, keywords),
    )?;
    let Some(mut parsed) = parsed else { return Ok(None) };
    let mut objects: SmallVec<[Bound<'_, PyAny>; 4]> = SmallVec::new();
    for (index, object) in arguments.iter().enumerate() {
        if index < entry.inputs {
            objects.push(object);
        } else if !parsed.read_positional(index - entry.inputs, &object)? {
            return Ok(None);
        }
    }
    let mut operands: SmallVec<[&Bound<'_, PyAny>; 4]> = SmallVec::new();
    operands.extend(&objects);
    Ok(ufunc_call::call(arguments.py(), entry, &operands, &parsed)?.map(Bound::unbind))
}

/// Converts an array of another library to a `GPUArray`; returns other objects unchanged.
fn as_array(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if object.is_instance_of::<GpuArray>() || object.is_instance_of::<PyUntypedArray>() {
        return Ok(object);
    }
    match import::device_array(&object)? {
        Some(array) => Ok(new_exact(object.py(), GpuArray::from_array(array))?.into_any()),
        None => Ok(object),
    }
}

/// Returns a copy of `keywords` to which the positional arguments are added under the parameter names `names`.
pub(super) fn with_positional<'py>(
    names: &[&str],
    positional: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let merged = keywords.map_or_else(|| Ok(PyDict::new(positional.py())), |merged| merged.copy())?;
    if positional.len() > names.len() {
        return Err(PyTypeError::new_err(format!(
            "an array and {} are taken by their places, and {} more were given",
            names.join(", "),
            positional.len()
        )));
    }
    for (name, value) in names.iter().zip(positional) {
        merged.set_item(name, value)?;
    }
    Ok(merged)
}

/// Calls a ufunc for every pair of elements of two operands. To this end, the first operand gets an additional axis of
/// length 1 for each axis of the second operand.
///
/// # Errors
/// `ValueError` for a ufunc that has not exactly two operands; the errors of [`ufunc_call::call`].
pub(super) fn outer(
    entry: &'static UfuncEntry,
    operands: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Py<PyAny>>> {
    let py = operands.py();
    if entry.inputs != 2 {
        return Err(PyValueError::new_err("outer product only supported for binary functions"));
    }
    if operands.len() != 2 {
        return Err(PyTypeError::new_err(format!("outer() takes 2 operands, and {} were given", operands.len())));
    }
    let second = as_array(operands.get_item(1)?)?;
    let axes = second.cast::<GpuArray>().map_or(0, |array| array.get().layout().ndim());
    let mut first = as_array(operands.get_item(0)?)?;
    if let Ok(array) = first.clone().cast::<GpuArray>() {
        let layout = array.get().layout();
        let mut shape: Dims = layout.shape().collect();
        let mut strides: Dims = layout.strides().collect();
        shape.extend(std::iter::repeat_n(1, axes));
        strides.extend(std::iter::repeat_n(layout.itemsize(), axes));
        let layout = Layout::strided(&shape, &strides, layout.offset(), layout.itemsize())?;
        first = new_view(array, &layout)?.into_any();
    }
    call(entry, &PyTuple::new(py, [first, second])?, keywords)
}

#[pymethods]
impl Ufunc {
    #[pyo3(signature = (*operands: "Operand", **keywords: "Any") -> "_Result_co")]
    fn __call__(&self, operands: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let (entry, count) = (self.0, operands.len());
        if count < entry.inputs || count > entry.inputs + entry.outputs() {
            return Err(PyTypeError::new_err(format!(
                "{}() takes from {} to {} positional arguments but {count} were given: {} operands, and arrays for results",
                entry.name,
                entry.inputs,
                entry.inputs + entry.outputs(),
                entry.inputs,
            )));
        }
        call(entry, operands, keywords)?
            .ok_or_else(|| argument_errors::operand(entry.name, entry.inputs, operands, keywords))
    }

    /// Apply the function to every pair of elements of two arrays.
    ///
    /// Parameters
    /// ----------
    /// *operands : GPUArray or number
    ///     Two operands. The result has the axes of the first operand and then those of the second operand.
    /// **keywords
    ///     Keywords of a call of the function.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.multiply.outer(PyGPU.arange(1, 4), PyGPU.arange(3)).tolist()
    /// [[0, 1, 2], [0, 2, 4], [0, 3, 6]]
    #[pyo3(signature = (*operands: "Operand", **keywords: "Any") -> "_Result_co")]
    fn outer(&self, operands: &Bound<'_, PyTuple>, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let entry = self.0;
        outer(entry, operands, keywords)?
            .ok_or_else(|| argument_errors::operand(entry.name, entry.inputs, operands, keywords))
    }

    /// Apply the function to the elements at indices, once for each occurrence of an index, in order.
    ///
    /// Parameters
    /// ----------
    /// *operands : GPUArray, key, and array_like
    ///     The array, which is modified; the indices, as in ``a[key]``; and for a binary function the second operand,
    ///     which is broadcast to the shape of ``a[key]``.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an index is out of range. The array is not modified in this case.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3, "int64")
    /// >>> PyGPU.add.at(a, [0, 2, 2], 1)
    /// >>> a.tolist()
    /// [1, 0, 2]
    #[pyo3(signature = (*operands: "Any") -> "None")]
    fn at(&self, operands: &Bound<'_, PyTuple>) -> PyResult<()> {
        ufunc_at::call(self.0, operands)
    }

    /// Reduce an array with the function along axes.
    ///
    /// Parameters
    /// ----------
    /// array : GPUArray
    ///     The operand.
    /// axis : int, tuple of ints or None, optional
    ///     The axes that are reduced; None reduces all axes.
    /// **keywords
    ///     The keywords `dtype`, `out`, `keepdims`, `initial` and `where`, with the same meaning as for `sum`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.add.reduce(PyGPU.to_gpu([[1, 2], [3, 4]])).tolist()
    /// [4, 6]
    #[pyo3(
        signature = (array: "Any", *axis: "ShapeLike | None", **keywords: "Any") -> "GPUArray",
        text_signature = "($self, array, axis=0, **keywords)"
    )]
    fn reduce<'py>(
        &self,
        array: ArrayArg<'py>,
        axis: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, GpuArray>> {
        let merged = with_positional(&["axis"], axis, keywords)?;
        reduce::call_ufunc_reduce(self.0.name, &array, Some(&merged))?
            .ok_or_else(|| reduce::unsupported_method(self.0.name, "reduce"))
    }

    /// Accumulate the function over the elements along an axis.
    ///
    /// Parameters
    /// ----------
    /// array : GPUArray
    ///     The operand.
    /// axis : int, optional
    ///     The axis; the first axis by default.
    /// dtype : dtype-like, optional
    ///     The type of the computation and of the result.
    /// out : GPUArray, optional
    ///     Array for the result.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.maximum.accumulate(PyGPU.to_gpu([1, 3, 2, 5])).tolist()
    /// [1, 3, 3, 5]
    #[pyo3(signature = (array, *positional, **keywords), text_signature = "($self, array, axis=0, dtype=None, out=None)")]
    // stub: def accumulate(
    // stub:     self, array: Any, axis: ShapeLike | None = 0, dtype: DTypeLike | None = None, out: GPUArray | None = None
    // stub: ) -> GPUArray: ...
    fn accumulate<'py>(
        &self,
        array: ArrayArg<'py>,
        positional: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, GpuArray>> {
        let merged = with_positional(&["axis", "dtype", "out"], positional, keywords)?;
        scan::call_ufunc_accumulate(self.0.name, &array, Some(&merged))?
            .ok_or_else(|| reduce::unsupported_method(self.0.name, "accumulate"))
    }

    /// Reduce segments of an axis with the function.
    ///
    /// The segment ``j`` is ``array[indices[j]:indices[j + 1]]``, and the last segment extends to the end of the axis. If
    /// ``indices[j] >= indices[j + 1]``, the segment has only the element ``array[indices[j]]``.
    ///
    /// Parameters
    /// ----------
    /// array : GPUArray
    ///     The operand.
    /// indices : sequence of ints, numpy.ndarray or GPUArray
    ///     The starts of the segments. The call waits for the values of a device array, to check that they are in range.
    /// axis : int, optional
    ///     The axis; the first axis by default.
    /// dtype : dtype-like, optional
    ///     The type of the computation and of the result.
    /// out : GPUArray, optional
    ///     Array for the result.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///     The shape of `array` with as many elements along the axis as there are indices. Repeated calls return bitwise
    ///     identical results.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an index is negative or out of range.
    /// TypeError
    ///     For a function without `reduce`, and for indices that are no integers.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.add.reduceat(PyGPU.arange(8), [0, 4, 1, 6]).tolist()
    /// [6, 4, 15, 13]
    #[pyo3(
        signature = (*operands, **keywords),
        text_signature = "($self, array, indices, axis=0, dtype=None, out=None)"
    )]
    // stub: def reduceat(
    // stub:     self,
    // stub:     array: Any,
    // stub:     indices: Any,
    // stub:     axis: ShapeLike | None = 0,
    // stub:     dtype: DTypeLike | None = None,
    // stub:     out: GPUArray | None = None,
    // stub: ) -> GPUArray: ...
    fn reduceat<'py>(
        &self,
        operands: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, GpuArray>> {
        reduce::reduceat::call(self.0, operands, keywords)
    }

    /// NumPy's name of the function.
    #[getter]
    fn __name__(&self) -> &'static str {
        self.0.name
    }

    /// The parameters of a call, for `inspect.signature`.
    #[getter]
    // stub: -> Signature
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._protocols.signatures"))?
                .call_method1(intern!(py, "of_ufunc"), (documented_operand_names(self.0), self.0.outputs()))
        })
    }

    /// The number of operands.
    #[getter]
    fn nin(&self) -> usize {
        self.0.inputs
    }

    /// The number of results.
    #[getter]
    fn nout(&self) -> usize {
        self.0.outputs()
    }

    /// The number of operands and results.
    #[getter]
    fn nargs(&self) -> usize {
        self.0.inputs + self.0.outputs()
    }

    /// The types of operands and results of each loop, in the order of selection, such as ``'float32,float32->bool'``.
    #[getter]
    fn types(&self) -> Vec<String> {
        let name_of = |kind: ScalarType| DType::new(kind).name();
        let text = |kind| {
            let operands: Vec<&str> = (0..self.0.inputs).map(|index| name_of(self.0.takes(index, kind))).collect();
            let results: Vec<&str> = self.0.results(kind).into_iter().map(name_of).collect();
            format!("{}->{}", operands.join(","), results.join(","))
        };
        self.0.kinds().map(text).collect()
    }

    fn __repr__(&self) -> String {
        format!("<PyGPU.Ufunc {}>", self.0.name)
    }
}

/// Returns NumPy's names of the operands of a ufunc, separated by commas.
fn operand_names(inputs: usize) -> &'static str {
    if inputs == 1 { "x" } else { "x1, x2" }
}

/// Returns the names of the operands in the docstring of a ufunc; a special function has SciPy's names.
fn documented_operand_names(entry: &'static UfuncEntry) -> &'static str {
    special::functions()
        .find(|function| std::ptr::eq(&function.row, entry))
        .map_or_else(|| operand_names(entry.inputs), |function| function.parameters.trim_end_matches(", "))
}

/// Returns the docstring of a ufunc, with its formula and example.
fn docstring(entry: &UfuncEntry, [formula, call, result]: [&str; 3]) -> String {
    [
        entry.summary,
        if formula.is_empty() { "" } else { "\n\n" },
        formula,
        "\n\nParameters\n----------\n",
        operand_names(entry.inputs),
        " : GPUArray or number\nout : ",
        if entry.outputs() == 1 { "GPUArray" } else { "tuple of GPUArray" },
        ", optional\n    Array for the result.\nwhere, casting, order, dtype, subok : optional\n    Keywords of every `Ufunc`, as in NumPy.\n\n\
         Examples\n--------\n>>> import PyGPU\n>>> ",
        call,
        "\n",
        result,
        "\n",
    ]
    .concat()
}

/// Creates the object of an entry of the table.
fn create<'py>(module: &Bound<'py, PyModule>, name: &'static str) -> PyResult<Bound<'py, PyAny>> {
    let mut entries = ufunc::TABLE.iter().zip(EXAMPLES.lines());
    let Some((entry, example)) = entries.find(|(entry, _)| entry.name == name) else {
        return Err(PyKeyError::new_err(name));
    };
    let mut texts = example.split(';');
    let object = Bound::new(module.py(), Ufunc(entry))?;
    object.setattr("__doc__", docstring(entry, std::array::from_fn(|_| texts.next().unwrap_or_default())))?;
    Ok(object.into_any())
}

fn add_functions(names: &mut ExportedNames) {
    for entry in ufunc::TABLE {
        names.add(entry.name, create, entry.name, true);
    }
    for (alias, name) in ufunc::ALIASES {
        names.add_alias(alias, name);
    }
}

// There is one `Ufunc` object for each entry of `pygpu_ops::ufunc::TABLE`.
// stub: _Result_co = TypeVar("_Result_co", covariant=True, default=GPUArray)

names! {
    with add_functions;
    classes "Functions of each element": Ufunc;
}
