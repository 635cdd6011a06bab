//! Implements the operators and protocols of Python and NumPy for arrays.

mod fft;
mod mathematics;
mod method_declarations;
mod methods;
mod nan_reductions;
mod numpy_fallback;
mod operand;
pub(crate) mod operator_methods;
pub(crate) mod parametric_functions;
mod product;
pub(crate) mod python_protocols;
mod random;
mod reduce;
mod reduction_methods;
mod scan;
mod searching;
mod sorting;
pub(crate) mod ufunc;
mod ufunc_at;
pub(crate) mod ufunc_call;
pub(crate) mod ufunc_keywords;
mod ufunc_launch;
mod ufunc_results;
mod where_mask;

use pyo3::prelude::*;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ufunc::register(module)?;
    ufunc_at::register(module)?;
    fft::register(module)?;
    parametric_functions::register(module)?;
    parametric_functions::nan_to_num::register(module)?;
    parametric_functions::round::register(module)?;
    sorting::register(module)?;
    product::register(module)?;
    searching::register(module)?;
    random::register(module)?;
    mathematics::register(module)?;
    reduction_methods::register(module)?;
    scan::register(module)?;
    python_protocols::register(module)?;
    nan_reductions::register(module)
}
