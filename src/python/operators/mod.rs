//! Operators and protocols of Python and NumPy.

mod at;
mod by_numpy;
pub(crate) mod compute;
mod declaration;
mod fft;
pub(crate) mod functions;
pub(crate) mod keywords;
mod mathematics;
mod methods;
mod nan;
mod on_device;
mod operand;
mod order;
mod product;
pub(crate) mod protocols;
mod random;
mod reduction;
mod reductions;
mod result;
mod scan;
mod search;
pub(crate) mod slots;
pub(crate) mod ufunc;

use pyo3::prelude::*;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ufunc::register(module)?;
    at::register(module)?;
    fft::register(module)?;
    functions::register(module)?;
    order::register(module)?;
    product::register(module)?;
    search::register(module)?;
    random::register(module)?;
    mathematics::register(module)?;
    reductions::register(module)?;
    scan::register(module)?;
    protocols::register(module)?;
    nan::register(module)
}
