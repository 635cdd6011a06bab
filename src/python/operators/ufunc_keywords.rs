//! Reads the keyword arguments of a ufunc call: `out`, `where`, `dtype`, `casting`, `order`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};

use super::where_mask;
use crate::array::class::GpuArray;
use crate::convert::dtype;
use pygpu_base::dtype::ScalarType;
use pygpu_device::Device;
use pygpu_ops::ufunc::{Casting, UfuncEntry};

/// Memory order of the axes of a new result.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ResultOrder {
    C,
    F,
    /// The result is in F order if all operands are in F order, otherwise in C order.
    A,
    /// The axes of the result have the same order in memory as those of the operands, as with NumPy's order='K'.
    #[default]
    K,
}

/// Keyword arguments of a ufunc call.
#[derive(Default)]
pub(crate) struct UfuncKeywords<'py> {
    /// Output arrays that the caller passed: one for each result, or `None` for a result without an output array.
    pub(crate) out: [Option<Bound<'py, GpuArray>>; 2],
    /// Boolean mask: the call writes only the elements for which the mask is true.
    pub(crate) mask: Option<Bound<'py, GpuArray>>,
    /// Requested type of the results. It selects the ufunc's loop, i.e. its implementation for certain types.
    pub(crate) dtype: Option<ScalarType>,
    /// The rule that determines which casts of operands and results are allowed.
    pub(crate) casting: Casting,
    /// Memory order of new results.
    pub(crate) order: ResultOrder,
}

impl<'py> UfuncKeywords<'py> {
    /// Returns the keywords of a call that passes only the output array `out`.
    pub(crate) fn into_array(out: &Bound<'py, GpuArray>) -> Self {
        Self { out: [Some(out.clone()), None], ..Self::default() }
    }

    /// Reads the keyword arguments of a ufunc call. Returns `None` if a value is an array of another library.
    /// `arguments` are the call's positional arguments.
    ///
    /// # Errors
    /// `TypeError` and `ValueError`, as in NumPy.
    pub(crate) fn read(
        entry: &UfuncEntry,
        arguments: &Bound<'py, PyTuple>,
        keywords: &Bound<'py, PyDict>,
    ) -> PyResult<Option<Self>> {
        let mut parsed = Self::default();
        for (key, value) in keywords.iter() {
            let key = key.cast_into::<PyString>()?;
            let is_supported = match key.to_str()? {
                "out" => parsed.read_out(entry, value)?,
                "where" => parsed.read_mask(entry, value, || where_mask::device_of_call(arguments, keywords))?,
                "dtype" => parsed.read_dtype(&value)?,
                "casting" => parsed.read_casting(&value)?,
                "order" => parsed.read_order(&value)?,
                "subok" => match value.is_instance_of::<PyBool>() {
                    true => true,
                    false => return Err(PyTypeError::new_err("'subok' must be a boolean")),
                },
                other @ ("sig" | "signature" | "axes" | "axis" | "keepdims") => {
                    return Err(PyTypeError::new_err(format!(
                        "{}() does not take the keyword {other} in PyGPU; it takes out, where, dtype, casting and order",
                        entry.name
                    )));
                }
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "{}() got an unexpected keyword argument '{other}'; it takes out, where, dtype, casting and order",
                        entry.name
                    )));
                }
            };
            if !is_supported {
                return Ok(None);
            }
        }
        Ok(Some(parsed))
    }

    /// Reads output array number `index` of a call, which is passed by position after the operands. Returns false for
    /// an array of another library.
    ///
    /// # Errors
    /// `TypeError` if `out` is passed by keyword too.
    pub(crate) fn read_positional(&mut self, index: usize, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        if self.out.iter().any(Option::is_some) && index == 0 {
            return Err(PyTypeError::new_err("cannot specify 'out' as both a positional and keyword argument"));
        }
        if value.is_none() {
            return Ok(true);
        }
        let Ok(array) = value.cast::<GpuArray>() else { return Ok(false) };
        self.out[index] = Some(array.clone());
        Ok(true)
    }

    fn read_out(&mut self, entry: &UfuncEntry, value: Bound<'py, PyAny>) -> PyResult<bool> {
        if value.is_none() {
            return Ok(true);
        }
        let Ok(outs) = value.cast::<PyTuple>() else {
            if entry.outputs() > 1 {
                return Err(PyTypeError::new_err("'out' must be a tuple of arrays"));
            }
            return self.read_positional(0, &value);
        };
        if outs.len() != entry.outputs() {
            return Err(PyValueError::new_err("The 'out' tuple must have exactly one entry per ufunc output"));
        }
        for (index, item) in outs.iter().enumerate() {
            if item.is_none() {
                continue;
            }
            let Ok(array) = item.cast_into::<GpuArray>() else { return Ok(false) };
            self.out[index] = Some(array);
        }
        Ok(true)
    }

    fn read_mask(
        &mut self,
        entry: &UfuncEntry,
        value: Bound<'py, PyAny>,
        device: impl FnOnce() -> PyResult<Device>,
    ) -> PyResult<bool> {
        if let Some(is_true) = where_mask::truth_of_number(&value)? {
            self.mask = if is_true { None } else { Some(where_mask::none_selected(value.py(), device()?)?) };
            return Ok(true);
        }
        let Ok(array) = value.cast_into::<GpuArray>() else { return Ok(false) };
        if array.get().dtype().kind() != ScalarType::Bool {
            return Err(PyTypeError::new_err(format!(
                "{}: where= is an array of bool: Cannot cast array data from dtype('{}') to dtype('bool') according to the rule \
                 'safe'",
                entry.name,
                array.get().dtype().name()
            )));
        }
        self.mask = Some(array);
        Ok(true)
    }

    fn read_dtype(&mut self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        if !value.is_none() {
            self.dtype = Some(dtype::from_python(value)?.kind());
        }
        Ok(true)
    }

    fn read_casting(&mut self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        let Ok(name) = value.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("casting must be str, not {}", value.get_type().name()?)));
        };
        let rule = Casting::ALL.into_iter().find(|(rule_name, _)| name.to_str().is_ok_and(|name| name == *rule_name));
        let Some((_, casting)) = rule else {
            return Err(PyValueError::new_err(format!(
                "casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe' (got '{name}')"
            )));
        };
        self.casting = casting;
        Ok(true)
    }

    fn read_order(&mut self, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        if value.is_none() {
            return Ok(true);
        }
        let Ok(name) = value.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("order must be str, not {}", value.get_type().name()?)));
        };
        self.order = match name.to_str()?.to_ascii_uppercase().as_str() {
            "C" => ResultOrder::C,
            "F" => ResultOrder::F,
            "A" => ResultOrder::A,
            "K" => ResultOrder::K,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "order must be one of 'C', 'F', 'A', or 'K' (got '{name}')"
                )));
            }
        };
        Ok(true)
    }
}
