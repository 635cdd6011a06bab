//! Drops objects whose destructors call a driver, so that no destructor waits for the GIL or uses an unloaded driver
//! during process exit.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyCFunction;

use crate::gil::{self, WithoutGil};
use pygpu_array::graph::Graph;
use pygpu_backend as backend;
use pygpu_base::flush_points::PythonAccess;
use pygpu_device::shutdown;
use pygpu_kernel::{Function, Module};
use pygpu_memory::Allocation;
use pygpu_memory::texture::{DriverArray, KernelObject};
use pygpu_ops::{Elementwise, Reduce, Scan};

/// Drops a value with the GIL released, because the driver may wait for a thread that waits for the GIL.
pub(crate) fn drop_detached<T: Send + 'static>(value: T) {
    if backend::is_host_call() || PythonAccess::expected().is_none() {
        shutdown::defer_drop(Box::new(value));
        return;
    }
    if shutdown::exiting() {
        // During process exit, the drop of a value calls no driver.
        drop(value);
        return;
    }
    Python::attach(|py| py.without_gil(move || drop(value)));
}

/// A value whose drop may call a driver.
pub(crate) trait DriverObject: Send + 'static {
    /// Whether the drop of this value calls a driver.
    fn calls_driver(&self) -> bool {
        true
    }
}

/// Holds a field of a PyGPU object. The drop of the field calls a driver, and is performed by [`drop_detached`].
pub(crate) struct Detached<T: DriverObject>(ManuallyDrop<T>);

impl<T: DriverObject> Detached<T> {
    #[inline]
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T: DriverObject> Deref for Detached<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DriverObject> Drop for Detached<T> {
    fn drop(&mut self) {
        // SAFETY: the value is taken out once, here, because `drop` runs once.
        let value = unsafe { ManuallyDrop::take(&mut self.0) };
        if value.calls_driver() { drop_detached(value) } else { drop(value) }
    }
}

/// Implements [`DriverObject`] for types, with the condition under which the drop of a value calls a driver.
macro_rules! driver_objects {
    ($($class:ty: |$value:ident| $calls_driver:expr;)*) => {
        $(
            impl DriverObject for $class {
                fn calls_driver(&self) -> bool {
                    let $value = self;
                    $calls_driver
                }
            }
        )*
    };
}

driver_objects! {
    Arc<Allocation>: |block| !block.device().is_cpu();
    Function: |function| !function.device().is_cpu(); // the drop of a function may unload the kernel's module
    Module: |module| !module.device().is_cpu();
    OnceLock<Graph>: |graph| graph.get().is_some();
    Elementwise: |kernel| kernel.variants().is_on_device();
    Reduce: |kernel| kernel.variants().is_on_device();
    Scan: |kernel| kernel.variants().is_on_device();
}

impl DriverObject for DriverArray {}
impl DriverObject for KernelObject {}

/// Prints the stored error of a destructor at process exit, if no PyGPU call has raised this error.
fn report_unreported_errors(py: Python<'_>) {
    if let Err(error) = shutdown::report_deferred() {
        PyErr::from(error).write_unraisable(py, None);
    }
}

/// Registers an `atexit` function after which dropped objects no longer free memory, because the driver may be partly
/// unloaded by then.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let begin_exit = PyCFunction::new_closure(py, Some(c"leave_to_process"), None, |args, _| {
        report_unreported_errors(args.py());
        gil::begin_process_exit(args.py());
    })?;
    py.import("atexit")?.call_method1("register", (begin_exit,))?;
    Ok(())
}
