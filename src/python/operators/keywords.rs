//! The keywords of a call: `out`, `where`, `dtype`, `casting`, `order`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};

use crate::array::class::GpuArray;
use crate::convert::dtype;
use pygpu_base::dtype::ScalarType;
use pygpu_ops::ufunc::{Casting, UfuncEntry};

/// Memory order of the axes of a new result.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ResultOrder {
    C,
    F,
    /// F order if all operands have it.
    A,
    /// The order of the operands.
    #[default]
    K,
}

/// The keywords of a call.
#[derive(Default)]
pub(crate) struct UfuncKeywords<'py> {
    /// Arrays for the results.
    pub(crate) out: [Option<Bound<'py, GpuArray>>; 2],
    /// Boolean mask of the elements to write.
    pub(crate) mask: Option<Bound<'py, GpuArray>>,
    /// The type of the results, which selects the loop.
    pub(crate) dtype: Option<ScalarType>,
    /// The casting rule.
    pub(crate) casting: Casting,
    /// Memory order of a new result.
    pub(crate) order: ResultOrder,
}

impl<'py> UfuncKeywords<'py> {
    /// Requests a result in an existing array.
    pub(crate) fn into_array(out: &Bound<'py, GpuArray>) -> Self {
        Self { out: [Some(out.clone()), None], ..Self::default() }
    }

    /// Reads the keywords of a call; `None` if they contain an array of another library.
    ///
    /// # Errors
    /// `TypeError` and `ValueError` as NumPy's.
    pub(crate) fn read(row: &UfuncEntry, keywords: &Bound<'py, PyDict>) -> PyResult<Option<Self>> {
        let mut wish = Self::default();
        for (key, value) in keywords {
            let key = key.cast_into::<PyString>()?;
            let is_known = match key.to_str()? {
                "out" => wish.read_out(row, value)?,
                "where" => wish.read_mask(row, value)?,
                "dtype" => wish.read_dtype(&value)?,
                "casting" => wish.read_casting(&value)?,
                "order" => wish.read_order(&value)?,
                "subok" => match value.is_instance_of::<PyBool>() {
                    true => true,
                    false => return Err(PyTypeError::new_err("'subok' must be a boolean")),
                },
                other @ ("sig" | "signature" | "axes" | "axis" | "keepdims") => {
                    return Err(PyTypeError::new_err(format!(
                        "{}() does not take the keyword {other} in PyGPU; it takes out, where, dtype, casting and order",
                        row.name
                    )));
                }
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "{}() got an unexpected keyword argument '{other}'; out, where, dtype, casting and order are understood",
                        row.name
                    )));
                }
            };
            if !is_known {
                return Ok(None);
            }
        }
        Ok(Some(wish))
    }

    /// Reads an output array that follows the operands of a call.
    ///
    /// # Errors
    /// `TypeError` if the keyword is given too.
    pub(crate) fn read_positional(&mut self, place: usize, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        if self.out.iter().any(Option::is_some) && place == 0 {
            return Err(PyTypeError::new_err("cannot specify 'out' as both a positional and keyword argument"));
        }
        if value.is_none() {
            return Ok(true);
        }
        let Ok(own) = value.cast::<GpuArray>() else { return Ok(false) };
        self.out[place] = Some(own.clone());
        Ok(true)
    }

    fn read_out(&mut self, row: &UfuncEntry, value: Bound<'py, PyAny>) -> PyResult<bool> {
        if value.is_none() {
            return Ok(true);
        }
        let Ok(outs) = value.cast::<PyTuple>() else {
            if row.outputs() > 1 {
                return Err(PyTypeError::new_err("'out' must be a tuple of arrays"));
            }
            return self.read_positional(0, &value);
        };
        if outs.len() != row.outputs() {
            return Err(PyValueError::new_err("The 'out' tuple must have exactly one entry per ufunc output"));
        }
        for (place, one) in outs.iter().enumerate() {
            if one.is_none() {
                continue;
            }
            let Ok(own) = one.cast_into::<GpuArray>() else { return Ok(false) };
            self.out[place] = Some(own);
        }
        Ok(true)
    }

    fn read_mask(&mut self, row: &UfuncEntry, value: Bound<'py, PyAny>) -> PyResult<bool> {
        if value.is_instance_of::<PyBool>() && value.is_truthy()? {
            return Ok(true);
        }
        let Ok(own) = value.cast_into::<GpuArray>() else { return Ok(false) };
        if own.get().dtype().kind() != ScalarType::Bool {
            return Err(PyTypeError::new_err(format!(
                "{}: where= is an array of bool: Cannot cast array data from dtype('{}') to dtype('bool') according to the rule \
                 'safe'",
                row.name,
                own.get().dtype().name()
            )));
        }
        self.mask = Some(own);
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
        let found = Casting::ALL.into_iter().find(|(known, _)| name.to_str().is_ok_and(|name| name == *known));
        let Some((_, casting)) = found else {
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
        let name = value.str()?;
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
