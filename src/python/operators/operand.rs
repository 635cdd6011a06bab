//! Classifies the operands of a ufunc call as arrays or numbers, and converts numbers. A *loop* is the implementation
//! of a ufunc for certain types, as in NumPy.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};
use smallvec::SmallVec;

use crate::array::array_argument;
use crate::array::class::GpuArray;
use crate::convert::dtype;
use crate::ffi::ndarray::is_numpy_scalar;
use crate::interop::import;
use crate::kernel::call::scalar_values::{self, HostScalar};
use crate::py_once::intern;
use pygpu_array::{Array, DeferredArray};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_kernel::Arguments;
use pygpu_ops::ufunc::{Casting, PromotionOperand, ScalarRule, UfuncEntry};

/// One operand of a ufunc call.
pub(super) enum UfuncOperand<'a, 'py> {
    /// A PyGPU array.
    Array(&'a DeferredArray),
    /// An array that exists only during the call: an imported array of another library, or a copy.
    Temporary { array: Box<Array>, is_foreign: bool },
    /// A number, with its type as an operand of type promotion.
    Number { object: Bound<'py, PyAny>, kind: PromotionOperand },
}

pub(super) type OperandValues<'a, 'py> = SmallVec<[UfuncOperand<'a, 'py>; 4]>;

impl<'a, 'py> UfuncOperand<'a, 'py> {
    /// Classifies an operand. Returns `None` for objects of types that NumPy's ufuncs do not accept. A list or tuple of
    /// numbers is copied to the current device.
    ///
    /// # Errors
    /// `TypeError` for an ndarray with axes, because its values are on the host.
    #[inline]
    pub(super) fn read(object: &'a Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(array) = object.cast::<GpuArray>() {
            return Ok(Some(Self::Array(DeferredArray::of(array.get().array(object.py())?))));
        }
        Self::read_other(object)
    }

    /// Classifies an operand that is no PyGPU array, like [`Self::read`].
    #[inline]
    fn read_other(object: &'a Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let kind = match HostScalar::read(object) {
            Some(HostScalar::Int) => PromotionOperand::Int,
            Some(HostScalar::Bool) => PromotionOperand::Strong(ScalarType::Bool),
            Some(HostScalar::Typed(kind)) => PromotionOperand::Strong(kind),
            Some(HostScalar::Float) => PromotionOperand::Float,
            Some(HostScalar::Complex) => PromotionOperand::Complex,
            None => return Self::read_foreign(object),
        };
        Ok(Some(Self::Number { object: object.clone(), kind }))
    }

    fn read_foreign(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        let number = |kind| Ok(Some(Self::Number { object: object.clone(), kind }));
        if let Ok(host) = object.cast::<PyUntypedArray>() {
            if host.ndim() > 0 {
                return Err(array_argument::type_error(object));
            }
            let kind = dtype::from_numpy(host.dtype().as_any())?.kind();
            return number(PromotionOperand::Strong(kind));
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let copied = array_argument::sequence_or_error(object)?;
            let array = copied.get().array(object.py())?;
            let array = Box::new(array.view(array.layout().clone())?);
            return Ok(Some(Self::Temporary { array, is_foreign: false }));
        }
        if is_numpy_scalar(object) {
            let kind = dtype::from_numpy(&object.getattr(intern!(object.py(), "dtype"))?)?.kind();
            return number(PromotionOperand::Strong(kind));
        }
        Ok(import::device_array(object)?.map(|array| Self::Temporary { array: Box::new(array), is_foreign: true }))
    }

    #[inline]
    pub(super) fn array(&self) -> Option<&DeferredArray> {
        match self {
            Self::Array(array) => Some(array),
            Self::Temporary { array, .. } => Some(DeferredArray::of(array)),
            Self::Number { .. } => None,
        }
    }

    #[inline]
    pub(super) fn operand(&self) -> PromotionOperand {
        match self {
            Self::Number { kind, .. } => *kind,
            Self::Array(array) => PromotionOperand::Strong(array.dtype().kind()),
            Self::Temporary { array, .. } => PromotionOperand::Strong(array.dtype().kind()),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.operand() {
            PromotionOperand::Strong(kind) => DType::new(kind).name(),
            PromotionOperand::Int => "int",
            PromotionOperand::Float => "float",
            PromotionOperand::Complex => "complex",
        }
    }

    /// Checks that the casting rule permits the conversion of an operand to `kind`, the loop's type for this operand.
    /// Also checks that a Python integer is in the range of `kind`.
    ///
    /// # Errors
    /// `TypeError`, `OverflowError` or `ValueError` for a rejected operand.
    #[inline(always)] // inlined, because nearly every array already has the loop's type
    pub(super) fn check(&self, entry: &UfuncEntry, index: usize, kind: ScalarType, casting: Casting) -> PyResult<()> {
        match self.operand() == PromotionOperand::Strong(kind) {
            true => Ok(()),
            false => self.check_conversion(entry, index, kind, casting),
        }
    }

    #[inline(never)]
    fn check_conversion(&self, entry: &UfuncEntry, index: usize, kind: ScalarType, casting: Casting) -> PyResult<()> {
        match self.operand() {
            PromotionOperand::Strong(actual) if casting.allows(actual, kind) || is_truth_operand(entry, index) => {
                Ok(())
            }
            PromotionOperand::Strong(actual) => Err(cast_error(entry, index, actual, kind, casting)),
            PromotionOperand::Int => self.check_int(entry, index, kind),
            _ => self.check_weak(entry, index, kind, casting),
        }
    }

    fn check_int(&self, entry: &UfuncEntry, index: usize, kind: ScalarType) -> PyResult<()> {
        let Self::Number { object, .. } = self else { return Ok(()) };
        if !scalar_values::is_integer(kind) || kind == ScalarType::Bool {
            return Ok(());
        }
        if !scalar_values::is_in_range(kind, object) {
            let name = DType::new(kind).name();
            return Err(PyOverflowError::new_err(format!("Python integer {object} out of bounds for {name}")));
        }
        match entry.nature == ScalarRule::Power && index == 1 && object.lt(0)? {
            true => Err(PyValueError::new_err("Integers to negative integer powers are not allowed.")),
            false => Ok(()),
        }
    }

    fn check_weak(&self, entry: &UfuncEntry, index: usize, kind: ScalarType, casting: Casting) -> PyResult<()> {
        let smallest =
            if self.operand() == PromotionOperand::Float { ScalarType::Float16 } else { ScalarType::Complex64 };
        match casting.allows(smallest, kind)
            || Casting::SameKind.allows(smallest, kind)
            || is_truth_operand(entry, index)
        {
            true => Ok(()),
            false => Err(cast_error(entry, index, smallest, kind, casting)),
        }
    }
}

/// Returns whether the function uses only the truth value of its operand number `index`.
fn is_truth_operand(entry: &UfuncEntry, index: usize) -> bool {
    entry.fixed == Some((index, ScalarType::Bool))
}

#[cold]
fn cast_error(entry: &UfuncEntry, index: usize, from: ScalarType, to: ScalarType, casting: Casting) -> PyErr {
    let index = if entry.inputs > 1 { format!(" {index}") } else { String::new() };
    PyTypeError::new_err(format!(
        "Cannot cast ufunc '{}' input{index} from dtype('{}') to dtype('{}') with casting rule '{}'",
        entry.name,
        DType::new(from).name(),
        DType::new(to).name(),
        casting.name()
    ))
}

/// Classifies an operand and appends it to `values`, without launching pending operations. Returns `false` for objects
/// of types that NumPy's ufuncs do not accept.
///
/// # Errors
/// The errors of [`UfuncOperand::read`].
#[inline]
pub(super) fn read_without_flush<'a, 'py>(
    values: &mut OperandValues<'a, 'py>,
    object: &'a Bound<'py, PyAny>,
) -> PyResult<bool> {
    // Floats are checked first, because they are common operands, which `UfuncOperand::read` would check for only after
    // all other types.
    if object.is_exact_instance_of::<PyFloat>() {
        values.push(UfuncOperand::Number { object: object.clone(), kind: PromotionOperand::Float });
        return Ok(true);
    }
    // The operand is constructed at its place in the list, because moving it there would take as long as reading it.
    if let Ok(array) = object.cast::<GpuArray>() {
        values.push(UfuncOperand::Array(array.get().without_flush()?));
        return Ok(true);
    }
    let Some(value) = UfuncOperand::read_other(object)? else { return Ok(false) };
    values.push(value);
    Ok(true)
}

/// Converts numbers among the operands as the function requires. For a comparison, an integer out of the other
/// operand's range becomes an infinity. For a logical function, a number becomes its truth value.
///
/// # Errors
/// The errors of converting the objects.
#[inline]
pub(super) fn convert_numbers(entry: &UfuncEntry, values: &mut OperandValues<'_, '_>) -> PyResult<()> {
    match entry.nature {
        ScalarRule::Comparison => replace_unrepresentable_integers(values),
        ScalarRule::Logical => convert_to_truth(values),
        ScalarRule::Plain | ScalarRule::Power => match entry.fixed {
            Some((index, ScalarType::Bool)) => convert_to_truth(&mut values[index..=index]),
            _ => Ok(()),
        },
    }
}

/// Replaces an integer that the other operand's integer type cannot represent by an infinity of the same sign. The
/// comparison's result is the same, because all values of that type lie on the same side of the integer and of the
/// infinity.
fn replace_unrepresentable_integers(values: &mut [UfuncOperand<'_, '_>]) -> PyResult<()> {
    let other = values.iter().find_map(|value| match value.operand() {
        PromotionOperand::Strong(kind) => Some(kind),
        _ => None,
    });
    let Some(other) = other else { return Ok(()) };
    for value in values {
        let UfuncOperand::Number { object, kind: kind @ PromotionOperand::Int } = value else { continue };
        if scalar_values::is_integer(other) && other != ScalarType::Bool && !scalar_values::is_in_range(other, object) {
            let sign = if object.lt(0)? { f64::NEG_INFINITY } else { f64::INFINITY };
            *object = PyFloat::new(object.py(), sign).into_any();
            *kind = PromotionOperand::Strong(ScalarType::Float64);
        }
    }
    Ok(())
}

fn convert_to_truth(values: &mut [UfuncOperand<'_, '_>]) -> PyResult<()> {
    for value in values {
        if let UfuncOperand::Number { object, kind } = value {
            *object = PyBool::new(object.py(), object.is_truthy()?).to_owned().into_any();
            *kind = PromotionOperand::Strong(ScalarType::Bool);
        }
    }
    Ok(())
}

/// Converts a number to `kind`, the loop's type for this operand, and appends it to the kernel arguments.
///
/// # Errors
/// `TypeError` for an object that cannot be converted to `kind`.
#[inline]
pub(super) fn push(arguments: &mut Arguments, kind: ScalarType, object: &Bound<'_, PyAny>) -> PyResult<()> {
    if !object.is_instance_of::<PyBool>() && scalar_values::push_value(arguments, kind, object).unwrap_or(false) {
        return Ok(());
    }
    push_converted(arguments, kind, object)
}

#[cold]
fn push_converted(arguments: &mut Arguments, kind: ScalarType, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    let is_numpy_value = is_numpy_scalar(object) || object.cast::<PyUntypedArray>().is_ok();
    let scalar = if is_numpy_value { object.call_method0(intern!(py, "item"))? } else { object.clone() };
    let scalar = if scalar.is_instance_of::<PyBool>() && kind != ScalarType::Bool {
        py.get_type::<PyInt>().call1((scalar,))?
    } else {
        scalar
    };
    if scalar_values::push_number(arguments, kind, &scalar)? {
        return Ok(());
    }
    // NumPy converts the number by an explicit cast, which the check of the casting rule has permitted.
    let name = DType::new(kind).name();
    let cast = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "asarray"), (object,))?;
    let cast = cast.call_method1(intern!(py, "astype"), (name,))?.call_method0(intern!(py, "item"))?;
    match scalar_values::push_number(arguments, kind, &cast)? {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!("{object} is no {name}"))),
    }
}
