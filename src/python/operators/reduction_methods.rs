//! Defines the reductions of arrays as methods and as functions.

use crate::array::class::ArrayResult;
use crate::convert::OptionalArg;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::method_declarations::entry;
use super::reduce::variance;
use super::reduce::{self, ReductionArgs};
use crate::array::{array_argument::ArrayArg, class::GpuArray};
use crate::create::allocator;
use crate::exported_names::{ExportedNames, names};
use crate::finalization;
use crate::py_once::intern;
use crate::runtime::current_stream::CurrentStreamGuard;
use pygpu_ops::reductions::{self as axis_reductions, ReductionEntry};
use pyo3::exceptions::{PyTypeError, PyValueError};

pub(super) fn find_reduction(name: &str) -> PyResult<&'static ReductionEntry> {
    axis_reductions::row(name).ok_or_else(|| PyTypeError::new_err(format!("there is no reduction {name}")))
}

pub(super) fn reduction_args<'py>(
    [axis, dtype, out, initial, mask]: [OptionalArg<'_, 'py>; 5],
    keepdims: bool,
) -> ReductionArgs<'py> {
    let [axis, dtype, out, initial, mask] = [axis, dtype, out, initial, mask].map(|argument| argument.cloned());
    ReductionArgs { axis, dtype, out, keepdims, initial, mask, ddof: 0.0 }
}

/// Returns the number that is subtracted from the count of elements. A caller passes this number as `ddof` (NumPy's
/// name) or as `correction` (the array API's name).
///
/// # Errors
/// `ValueError` if both names have a value.
pub(super) fn degrees_of_freedom(ddof: f64, correction: Option<f64>) -> PyResult<f64> {
    match correction {
        Some(_) if ddof != 0.0 => {
            Err(PyValueError::new_err(format!("ddof and correction can't be provided simultaneously: ddof={ddof}")))
        }
        correction => Ok(correction.unwrap_or(ddof)),
    }
}

/// Returns the documentation of the parameter that has the given key in this file's table of parameters, such as
/// `axes`.
macro_rules! parameter {
    (a) => { "a : GPUArray" };
    (axes) => { "axis : int or tuple of ints, optional\n    The axes that are reduced; all by default." };
    (axis) => { "axis : int, optional\n    The axis that is reduced; without one the elements count in C order." };
    (dtype) => { "dtype : dtype-like, optional\n    The type of the computation and of the result." };
    (out) => { "out : GPUArray, optional\n    Array for the result." };
    (keepdims) => { "keepdims : bool, optional\n    Whether reduced axes stay, with length 1." };
    (initial) => { "initial : number, optional\n    A value that counts as one more element." };
    (mask) => { "where : GPUArray of bool, or bool, optional\n    Mask of the included elements; a number includes all elements or none." };
    (ddof) => {
        "ddof, correction : float, optional\n    Number subtracted from the count of elements in the divisor of the sum of \
         squares; the second name is the array API's."
    };
    (mean) => {
        "mean : GPUArray or number, optional\n    The means, with reduced axes of length 1. Without them one pass over the elements \
         computes means and variances."
    };
    (stream) => { "stream : Stream, optional\n    PyCUDA's; the thread's current stream by default." };
    (allocator) => { "allocator : callable, optional\n    PyCUDA's: allocates the result." };
}
pub(super) use parameter;

/// Declares one reduction through [`entry`]. The first word, such as `number` or `truth`, selects the parameter list of
/// the reduction; several reductions share a parameter list.
macro_rules! reduction_entry {
    (number $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axes dtype out keepdims initial mask]
            (axis: "int | tuple[int, ...] | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
             keepdims: "bool" = false, initial: "complex | None" = None, r#where: "GPUArray | bool | None" = None)
            (axis: OptionalArg<'_, 'py>, dtype: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>, keepdims: bool, initial: OptionalArg<'_, 'py>,
             r#where: OptionalArg<'_, 'py>)
            &reduction_args([axis, dtype, out, initial, r#where], keepdims), $($rest)* }
    };
    (extreme $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axes out keepdims initial mask]
            (axis: "int | tuple[int, ...] | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false,
             initial: "complex | None" = None, r#where: "GPUArray | bool | None" = None)
            (axis: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>, keepdims: bool, initial: OptionalArg<'_, 'py>, r#where: OptionalArg<'_, 'py>)
            &reduction_args([axis, None, out, initial, r#where], keepdims), $($rest)* }
    };
    (truth $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axes out keepdims mask stream allocator]
            (axis: "int | tuple[int, ...] | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false, *,
             r#where: "GPUArray | bool | None" = None, stream: "StreamLike" = None,
             allocator: "Callable[[int], Any] | None" = None)
            (axis: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>, keepdims: bool, r#where: OptionalArg<'_, 'py>, stream: OptionalArg<'_, 'py>,
             allocator: OptionalArg<'_, 'py>)
            (reduction_args([axis, None, out, None, r#where], keepdims), stream, allocator), $($rest)* }
    };
    (average $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axes dtype out keepdims mask]
            (axis: "int | tuple[int, ...] | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
             keepdims: "bool" = false, *, r#where: "GPUArray | bool | None" = None)
            (axis: OptionalArg<'_, 'py>, dtype: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>, keepdims: bool, r#where: OptionalArg<'_, 'py>)
            &reduction_args([axis, dtype, out, None, r#where], keepdims), $($rest)* }
    };
    (variance $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axes dtype out ddof keepdims mask mean]
            (axis: "int | tuple[int, ...] | None" = None, dtype: "DTypeLike | None" = None, out: "GPUArray | None" = None,
             ddof: "float" = 0.0, keepdims: "bool" = false, *, r#where: "GPUArray | bool | None" = None,
             mean: "Operand | None" = None, correction: "float | None" = None)
            (axis: OptionalArg<'_, 'py>, dtype: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>, ddof: f64, keepdims: bool, r#where: OptionalArg<'_, 'py>,
             mean: OptionalArg<'_, 'py>, correction: Option<f64>)
            (&ReductionArgs { ddof: degrees_of_freedom(ddof, correction)?, ..reduction_args([axis, dtype, out, None, r#where], keepdims) }, mean), $($rest)* }
    };
    (index $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axis out keepdims]
            (axis: "int | None" = None, out: "GPUArray | None" = None, *, keepdims: "bool" = false)
            (axis: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>, keepdims: bool)
            &reduction_args([axis, None, out, None, None], keepdims), $($rest)* }
    };
    (extent $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axes out keepdims]
            (axis: "int | tuple[int, ...] | None" = None, out: "GPUArray | None" = None, keepdims: "bool" = false)
            (axis: OptionalArg<'_, 'py>, out: OptionalArg<'_, 'py>, keepdims: bool)
            &reduction_args([axis, None, out, None, None], keepdims), $($rest)* }
    };
    (count $form:ident $name:ident $($rest:tt)*) => {
        reduction_entry! { @ $form $name [axes keepdims]
            (axis: "int | tuple[int, ...] | None" = None, *, keepdims: "bool" = false)
            (axis: OptionalArg<'_, 'py>, keepdims: bool)
            &reduction_args([axis, None, None, None, None], keepdims), $($rest)* }
    };
    // A reduction as a method: it receives the array as `self`, and its documentation contains a note on the result.
    (@ method $name:ident [$($documented:ident)*] $signature:tt $parameters:tt $options:expr,
     {$(#[$summary:meta])*} {$(#[$example:meta])*} $run:path, $first:tt) => {
        reduction_entry! { @@ method $name [$($documented)*] $signature $parameters $options,
            {
                $(#[$summary])*
                ///
                /// The result stays on the device. Without `axis` the result has no axes. Repeated calls return bitwise
                /// identical results.
            }
            {$(#[$example])*} $run, $first }
    };
    (@ function $name:ident [$($documented:ident)*] $($rest:tt)*) => {
        reduction_entry! { @@ function $name [a $($documented)*] $($rest)* }
    };
    (@@ $form:ident $name:ident [$($documented:ident)*] $signature:tt $parameters:tt $options:expr,
     {$($summary:tt)*} {$(#[$example:meta])*} $run:path, $first:tt) => {
        entry! { $form $name
            {
                $($summary)*
                ///
                /// Parameters
                /// ----------
                $(#[doc = parameter!($documented)])*
                ///
                /// Examples
                /// --------
                /// >>> import PyGPU
                $(#[$example])*
            }
            $signature [-> "GPUArray"] $parameters Bound<'py, GpuArray>, $run, $first, $options }
    };
}
pub(super) use reduction_entry;

/// Declares reductions. Each declaration consists of these parts in order:
///
/// 1. a summary;
/// 2. the name of the parameter list, such as `number` or `truth`: see `reduction_entry`;
/// 3. the form (`method` or `function`), and the name in Python;
/// 4. the Rust function that computes the reduction;
/// 5. the name by which `find_reduction` finds the reduction in the table of reductions;
/// 6. examples.
macro_rules! reductions {
    ($($(#[$summary:meta])* $family:ident $form:ident $name:ident => $run:path, $entry:literal { $(#[$example:meta])* })*) => {
        $(reduction_entry! { $family $form $name {$(#[$summary])*} {$(#[$example])*} $run, [find_reduction($entry)?] })*
    };
}
pub(super) use reductions;

/// Computes `any` or `all`. Both methods accept PyCUDA's keywords: the stream of the computation, and the allocator of
/// the result.
fn truth<'py>(
    entry: &'static ReductionEntry,
    a: &Bound<'py, GpuArray>,
    (options, stream, allocator): (ReductionArgs<'py>, OptionalArg<'_, 'py>, OptionalArg<'_, 'py>),
) -> ArrayResult<'py> {
    let _current = CurrentStreamGuard::from_argument(a.py(), a.get().device(), stream)?;
    let _chosen = allocator::select(allocator)?;
    reduce::call(entry, a, &options)
}

reductions! {
    /// Sum the elements; integers are summed as 64-bit integers.
    number method sum => reduce::call, "sum" {
        /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).sum(axis=0).tolist()
        /// [4, 6]
    }
    /// Multiply the elements; integers are multiplied as 64-bit integers.
    number method prod => reduce::call, "prod" {
        /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).prod(axis=1).tolist()
        /// [2, 12]
    }
    /// Return the smallest element, or NaN if an element is NaN.
    extreme method min => reduce::call, "min" {
        /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).min(axis=0).tolist()
        /// [1, 2]
    }
    /// Return the largest element, or NaN if an element is NaN.
    extreme method max => reduce::call, "max" {
        /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).max().item()
        /// 4
    }
    /// Return whether an element is not 0.
    truth method any => truth, "any" {
        /// >>> PyGPU.to_gpu([[0, 2], [0, 0]]).any(axis=1).tolist()
        /// [True, False]
    }
    /// Return whether all elements are not 0.
    truth method all => truth, "all" {
        /// >>> PyGPU.to_gpu([[1, 2], [0, 4]]).all(axis=1).tolist()
        /// [True, False]
    }
    /// Return the mean of the elements: ``sum(a) / n``.
    average method mean => reduce::call, "mean" {
        /// >>> PyGPU.to_gpu([[1, 2], [3, 4]]).mean(axis=0).tolist()
        /// [2.0, 3.0]
    }
    /// Return the variance of the elements in one pass: ``sum(abs(a - mean(a))**2) / (n - ddof)``.
    variance method var => variance::variance, "var" {
        /// >>> PyGPU.to_gpu([1.0, 3.0]).var().item()
        /// 1.0
    }
    /// Return the standard deviation of the elements: the root of their variance.
    variance method std => variance::standard_deviation, "var" {
        /// >>> PyGPU.to_gpu([1.0, 3.0]).std(ddof=1).item()
        /// 1.4142135623730951
    }
    /// Return the index of the smallest element, the first of equal ones; a NaN takes precedence.
    index method argmin => reduce::call, "argmin" {
        /// >>> PyGPU.to_gpu([[3, 1], [0, 4]]).argmin(axis=1).tolist()
        /// [1, 0]
    }
    /// Return the index of the largest element, the first of equal ones; a NaN takes precedence.
    index method argmax => reduce::call, "argmax" {
        /// >>> PyGPU.to_gpu([[3, 1], [0, 4]]).argmax().item()
        /// 3
    }
}

/// A reduction as a function: ``function(a, ...)`` is ``a.function(...)``.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.sum(PyGPU.to_gpu([1, 2, 3])).item()
/// 6
// The class has a `dict` for the `__doc__` of each object, like the class `Ufunc`.
// stub: @property
// stub: def __doc__(self) -> str: ...  # type: ignore[override]
#[pyclass(frozen, dict, name = "Reduction", module = "PyGPU")]
pub(crate) struct PyReductionFunction(&'static str);

#[pymethods]
impl PyReductionFunction {
    #[pyo3(signature = (a: "GPUArray", /, *arguments: "Any", **keywords: "Any") -> "GPUArray")]
    fn __call__<'py>(
        &self,
        a: ArrayArg<'py>,
        arguments: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        a.as_any().getattr(self.0)?.call(arguments, keywords)
    }

    /// NumPy's name of the function.
    #[getter]
    fn __name__(&self) -> &'static str {
        self.0
    }

    /// The method's parameters after the array, for `inspect.signature`.
    #[getter]
    // stub: -> Signature
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._protocols.signatures"))?.call_method1(intern!(py, "of_reduction"), (self.0,))
        })
    }

    fn __repr__(&self) -> String {
        format!("<PyGPU.Reduction {}>", self.0)
    }
}

/// The line below the heading `Parameters` in a method's docstring. In the docstring of the function of the same name,
/// `A` replaces this line, and thereby adds the array as the first parameter.
const RULE: &str = "----------\n";
const A: &str = "----------\na : GPUArray\n    The operand; ``function(a, ...)`` is ``a.function(...)``.\n";

const METHODS: [&str; 11] = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax"];

/// Creates the function of a reduction, with a docstring that is derived from the method's docstring.
fn create<'py>(module: &Bound<'py, PyModule>, name: &'static str) -> PyResult<Bound<'py, PyAny>> {
    let function_object = Bound::new(module.py(), PyReductionFunction(name))?;
    let method_doc: String = module.py().get_type::<GpuArray>().getattr(name)?.getattr("__doc__")?.extract()?;
    let replacements = [
        (RULE.to_owned(), A.to_owned()),
        (">>> PyGPU.to_gpu(".to_owned(), [">>> PyGPU.", name, "(PyGPU.to_gpu("].concat()),
        ([").", name, "()"].concat(), "))".to_owned()),
        ([").", name, "("].concat(), "), ".to_owned()),
    ];
    let function_doc = replacements.iter().fold(method_doc, |text, (method, function)| text.replace(method, function));
    function_object.setattr("__doc__", function_doc)?;
    Ok(function_object.into_any())
}

fn add_reductions(names: &mut ExportedNames) {
    for name in METHODS {
        names.add(name, create, name, true);
    }
}

names! {
    with add_reductions;
    classes "Reductions": PyReductionFunction;
    values "Reductions": sum, prod, min, max, any, all, mean, var, std, argmin, argmax;
    aliases "Reductions": amin = min, amax = max;
}
