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

use crate::exported_names::ExportedNames;

/// Adds classes and functions to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    ufunc::register(names);
    ufunc_at::register(names);
    fft::register(names);
    parametric_functions::register(names);
    parametric_functions::nan_to_num::register(names);
    parametric_functions::round::register(names);
    sorting::register(names);
    product::register(names);
    searching::register(names);
    random::register(names);
    mathematics::register(names);
    reduction_methods::register(names);
    scan::register(names);
    python_protocols::register(names);
    nan_reductions::register(names);
}
