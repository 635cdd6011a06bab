//! The reductions of arrays as methods and as functions.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::reduction::{self, Asked};
use crate::array::{class::GpuArray, own::Own};
use crate::create::allocator;
use crate::ending;
use crate::names::names;
use crate::once::intern;
use crate::runtime::current::Current;
use pygpu_ops::axes::{self, Row};
use pyo3::exceptions::PyTypeError;

type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;
type Result<'py> = PyResult<Bound<'py, GpuArray>>;

pub(super) fn row(name: &str) -> PyResult<&'static Row> {
    axes::row(name).ok_or_else(|| PyTypeError::new_err(format!("there is no reduction {name}")))
}

pub(super) fn asked<'py>([axis, dtype, out, initial, mask]: [Given<'_, 'py>; 5], keepdims: bool) -> Asked<'py> {
    let [axis, dtype, out, initial, mask] = [axis, dtype, out, initial, mask].map(|one| one.cloned());
    Asked { axis, dtype, out, keepdims, initial, mask, less: 0.0 }
}

#[pymethods]
impl GpuArray {
    /// The sum of the elements; whole numbers in 64 bits.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// dtype : dtype-like, optional
    ///     The type in which is computed, and of the result.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// initial : number, optional
    ///     A value that counts as one more element.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).sum(axis=0).tolist()
    /// [4, 6]
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
            keepdims: "bool" = false, initial: "Any" = None, r#where: "Any" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn sum<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        dtype: Given<'_, 'py>,
        out: Given<'_, 'py>,
        keepdims: bool,
        initial: Given<'_, 'py>,
        r#where: Given<'_, 'py>,
    ) -> Result<'py> {
        reduction::call(row("sum")?, slf, &asked([axis, dtype, out, initial, r#where], keepdims))
    }

    /// The product of the elements; whole numbers in 64 bits.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// dtype : dtype-like, optional
    ///     The type in which is computed, and of the result.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// initial : number, optional
    ///     A value that counts as one more element.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).prod(axis=1).tolist()
    /// [2, 12]
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
            keepdims: "bool" = false, initial: "Any" = None, r#where: "Any" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn prod<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        dtype: Given<'_, 'py>,
        out: Given<'_, 'py>,
        keepdims: bool,
        initial: Given<'_, 'py>,
        r#where: Given<'_, 'py>,
    ) -> Result<'py> {
        reduction::call(row("prod")?, slf, &asked([axis, dtype, out, initial, r#where], keepdims))
    }

    /// The least element; NaN if there is one.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// initial : number, optional
    ///     A value that counts as one more element.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).min(axis=0).tolist()
    /// [1, 2]
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false,
            initial: "Any" = None, r#where: "Any" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn min<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        out: Given<'_, 'py>,
        keepdims: bool,
        initial: Given<'_, 'py>,
        r#where: Given<'_, 'py>,
    ) -> Result<'py> {
        reduction::call(row("min")?, slf, &asked([axis, None, out, initial, r#where], keepdims))
    }

    /// The greatest element; NaN if there is one.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// initial : number, optional
    ///     A value that counts as one more element.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).max().item()
    /// 4
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false,
            initial: "Any" = None, r#where: "Any" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn max<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        out: Given<'_, 'py>,
        keepdims: bool,
        initial: Given<'_, 'py>,
        r#where: Given<'_, 'py>,
    ) -> Result<'py> {
        reduction::call(row("max")?, slf, &asked([axis, None, out, initial, r#where], keepdims))
    }

    /// Whether an element is not 0.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    /// stream : Stream, optional
    ///     PyCUDA's; the thread's current one by default.
    /// allocator : callable, optional
    ///     PyCUDA's: gives the memory of the result.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[0, 2], [0, 0]]).any(axis=1).tolist()
    /// [True, False]
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false, *,
            r#where: "Any" = None, stream: "StreamLike" = None, allocator: "Callable[[int], Any] | None" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn any<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        out: Given<'_, 'py>,
        keepdims: bool,
        r#where: Given<'_, 'py>,
        stream: Given<'_, 'py>,
        allocator: Given<'_, 'py>,
    ) -> Result<'py> {
        let _current = Current::of(slf.py(), slf.get().device(), stream)?;
        let _chosen = allocator::chosen(allocator)?;
        reduction::call(row("any")?, slf, &asked([axis, None, out, None, r#where], keepdims))
    }

    /// Whether all elements are not 0.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    /// stream : Stream, optional
    ///     PyCUDA's; the thread's current one by default.
    /// allocator : callable, optional
    ///     PyCUDA's: gives the memory of the result.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2], [0, 4]]).all(axis=1).tolist()
    /// [True, False]
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false, *,
            r#where: "Any" = None, stream: "StreamLike" = None, allocator: "Callable[[int], Any] | None" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn all<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        out: Given<'_, 'py>,
        keepdims: bool,
        r#where: Given<'_, 'py>,
        stream: Given<'_, 'py>,
        allocator: Given<'_, 'py>,
    ) -> Result<'py> {
        let _current = Current::of(slf.py(), slf.get().device(), stream)?;
        let _chosen = allocator::chosen(allocator)?;
        reduction::call(row("all")?, slf, &asked([axis, None, out, None, r#where], keepdims))
    }

    /// The mean of the elements: ``sum(a) / n``.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// dtype : dtype-like, optional
    ///     The type in which is computed, and of the result.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).mean(axis=0).tolist()
    /// [2.0, 3.0]
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
            keepdims: "bool" = false, *, r#where: "Any" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn mean<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        dtype: Given<'_, 'py>,
        out: Given<'_, 'py>,
        keepdims: bool,
        r#where: Given<'_, 'py>,
    ) -> Result<'py> {
        reduction::call(row("mean")?, slf, &asked([axis, dtype, out, None, r#where], keepdims))
    }

    /// The variance of the elements, read once: ``sum(abs(a - mean(a))**2) / (n - ddof)``.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// dtype : dtype-like, optional
    ///     The type in which is computed, and of the result.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// ddof, correction : float, optional
    ///     What is taken from the number of elements by which the sum of squares is divided; the second name is the array API's.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([1.0, 3.0]).var().item()
    /// 1.0
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
            ddof: "float" = 0.0, keepdims: "bool" = false, *, r#where: "Any" = None,
            correction: "float | None" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn var<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        dtype: Given<'_, 'py>,
        out: Given<'_, 'py>,
        ddof: f64,
        keepdims: bool,
        r#where: Given<'_, 'py>,
        correction: Option<f64>,
    ) -> Result<'py> {
        let mut asked = asked([axis, dtype, out, None, r#where], keepdims);
        asked.less = correction.unwrap_or(ddof);
        reduction::call(row("var")?, slf, &asked)
    }

    /// The standard deviation of the elements: the root of their variance.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int or tuple of ints, optional
    ///     The axes that are reduced; all by default.
    /// dtype : dtype-like, optional
    ///     The type in which is computed, and of the result.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// ddof, correction : float, optional
    ///     What is taken from the number of elements by which the sum of squares is divided; the second name is the array API's.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    /// where : GPUArray of bool, optional
    ///     Which elements count.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([1.0, 3.0]).std(ddof=1).item()
    /// 1.4142135623730951
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
            ddof: "float" = 0.0, keepdims: "bool" = false, *, r#where: "Any" = None,
            correction: "float | None" = None
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn std<'py>(
        slf: &Bound<'py, Self>,
        axis: Given<'_, 'py>,
        dtype: Given<'_, 'py>,
        out: Given<'_, 'py>,
        ddof: f64,
        keepdims: bool,
        r#where: Given<'_, 'py>,
        correction: Option<f64>,
    ) -> Result<'py> {
        let mut asked = asked([axis, dtype, out, None, r#where], keepdims);
        asked.less = correction.unwrap_or(ddof);
        reduction::deviation(row("var")?, slf, &asked)
    }

    /// Where the least element is; the first of equal ones, and NaN before all others.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int, optional
    ///     The axis that is reduced; without one the elements count in C order.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[3, 1], [0, 4]]).argmin(axis=1).tolist()
    /// [1, 0]
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, *, keepdims: "bool" = false
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn argmin<'py>(slf: &Bound<'py, Self>, axis: Given<'_, 'py>, out: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
        reduction::call(row("argmin")?, slf, &asked([axis, None, out, None, None], keepdims))
    }

    /// Where the greatest element is; the first of equal ones, and NaN before all others.
    ///
    /// The result stays on the device; without axes it has none. It is the same each time, bit for bit.
    ///
    /// Parameters
    /// ----------
    /// axis : int, optional
    ///     The axis that is reduced; without one the elements count in C order.
    /// out : GPUArray, optional
    ///     Where the result goes.
    /// keepdims : bool, optional
    ///     Whether reduced axes stay, with length 1.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu([[3, 1], [0, 4]]).argmax().item()
    /// 3
    #[pyo3(
        signature = (
            axis: "ShapeLike | None" = None, out: "GPUArray | None" = None, *, keepdims: "bool" = false
        ) -> "GPUArray"
    )]
    #[allow(clippy::too_many_arguments, reason = "NumPy's signature")]
    fn argmax<'py>(slf: &Bound<'py, Self>, axis: Given<'_, 'py>, out: Given<'_, 'py>, keepdims: bool) -> Result<'py> {
        reduction::call(row("argmax")?, slf, &asked([axis, None, out, None, None], keepdims))
    }
}

/// A reduction as a function: ``function(a, ...)`` is ``a.function(...)``.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.sum(PyGPU.to_gpu([1, 2, 3])).item()
/// 6
// The `dict` is for `__doc__`, as in `Ufunc`.
// stub: @property
// stub: def __doc__(self) -> str: ...  # type: ignore[override]
#[pyclass(frozen, dict, name = "Reduction", module = "PyGPU")]
pub(crate) struct Reduction(&'static str);

#[pymethods]
impl Reduction {
    #[pyo3(signature = (a: "GPUArray", /, *arguments: "Any", **keywords: "Any") -> "GPUArray")]
    fn __call__<'py>(
        &self,
        a: Own<'_, 'py>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        a.as_any().getattr(self.0)?.call(arguments, keywords)
    }

    /// Its name, which is NumPy's.
    #[getter]
    fn __name__(&self) -> &'static str {
        self.0
    }

    /// The method's parameters behind the array, for whoever asks `inspect.signature`.
    #[getter]
    // stub: -> Signature
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        ending::run_python(py, || {
            py.import(intern!(py, "PyGPU._protocols.signatures"))?.call_method1(intern!(py, "of_reduction"), (self.0,))
        })
    }

    fn __repr__(&self) -> String {
        format!("<PyGPU.Reduction {}>", self.0)
    }
}

/// The line below the title of a method's parameters, and the function's parameter that stands there before them.
const RULE: &str = "----------\n";
const A: &str = "----------\na : GPUArray\n    What is reduced; ``function(a, ...)`` is ``a.function(...)``.\n";

const METHODS: [&str; 11] = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax"];

fn add_reductions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for name in METHODS {
        let made = Bound::new(module.py(), Reduction(name))?;
        let of_method: String = module.py().get_type::<GpuArray>().getattr(name)?.getattr("__doc__")?.extract()?;
        let as_function = [
            (RULE.to_owned(), A.to_owned()),
            (">>> PyGPU.to_gpu(".to_owned(), [">>> PyGPU.", name, "(PyGPU.to_gpu("].concat()),
            ([").", name, "()"].concat(), "))".to_owned()),
            ([").", name, "("].concat(), "), ".to_owned()),
        ];
        let of_function = as_function.iter().fold(of_method, |text, (method, function)| text.replace(method, function));
        made.setattr("__doc__", of_function)?;
        module.add(name, made)?;
    }
    Ok(())
}

names! {
    with add_reductions;
    classes "Reductions": Reduction;
    values "Reductions": sum, prod, min, max, any, all, mean, var, std, argmin, argmax;
    aliases "Reductions": amin = min, amax = max;
}
