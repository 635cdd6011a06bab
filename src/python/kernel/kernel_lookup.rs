//! Looks up a kernel by its name. The kernel belongs to the module, is a template instance that is compiled on demand,
//! or is a function of a prebuilt library.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::compiler::with_compiler;
use pygpu_kernel::{Function, Module, mangled_names};

/// Returns the kernel `name` of a module, or the instance `name` of a template in the module's source.
#[inline]
pub(crate) fn function(py: Python<'_>, module: &Module, name: &str) -> PyResult<Function> {
    if module.lacks_instance(name)
        && let Some(source) = module.source()
    {
        return with_compiler(py, module.device(), source, |hints| module.instance(name, hints));
    }
    if module.source().is_none() && name.contains(['<', '(']) {
        return find_demangled(py, module, name);
    }
    Ok(py.without_gil(|| module.function(name))?)
}

/// Returns the kernel of an image whose demangled name is `name`.
#[cold]
fn find_demangled(py: Python<'_>, module: &Module, name: &str) -> PyResult<Function> {
    if py.without_gil(|| module.names())?.iter().any(|exported| exported == name) {
        return Ok(py.without_gil(|| module.function(name))?);
    }
    let names = py.without_gil(|| mangled_names(module.image()));
    let mangled: Option<String> =
        py.import("PyGPU._kernels.mangling")?.getattr("find_mangled")?.call1((name, names))?.extract()?;
    Ok(py.without_gil(|| module.function(mangled.as_deref().unwrap_or(name)))?)
}

/// Returns the instance of the template `name` with the template arguments `arguments`.
pub(crate) fn instantiate_template(module: &Module, name: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<Function> {
    let py = arguments.py();
    let backend = module.device().kind().name();
    let templates = py.import(intern!(py, "PyGPU._kernels.templates"))?;
    let name: String = templates.getattr("spelled")?.call1((name, arguments, backend))?.extract()?;
    function(py, module, &name)
}
