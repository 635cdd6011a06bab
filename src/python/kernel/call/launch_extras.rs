//! Rarely used extras of a launch: arguments that need an owner, a copy back, a hook call, or an alignment.

use pyo3::prelude::*;

use super::host_arguments::Temporary;
use super::pointer_holders::HolderHandler;
use crate::callback::SendPyObject;
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_device::stream::Stream;
use pygpu_kernel::WideValue;
use pygpu_memory::Access;

/// Rarely used data of the arguments of one launch.
#[derive(Default)]
pub(crate) struct LaunchExtras<'py> {
    /// Arrays of other libraries.
    pub(super) foreign: Vec<(Array, Access)>,
    /// Owners of memory for which only the address is passed.
    pub(super) owners: Vec<SendPyObject>,
    pub(super) host: Vec<(Temporary<'py>, Access)>,
    pub(super) handlers: Vec<HolderHandler<'py>>,
    pub(super) wide: Vec<WideValue>,
}

impl LaunchExtras<'_> {
    /// Waits for the stream if there are copies of host arrays, and releases the owners.
    pub(super) fn wait(self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        let Self { foreign, host: temporaries, .. } = self;
        let host: Vec<Array> = temporaries.iter().map(|(temporary, _)| temporary.array().clone()).collect();
        drop(temporaries);
        // The device copies and foreign arrays are dropped without the GIL, because dropping them may call the driver.
        Ok(py.without_gil(|| {
            let outcome = if host.is_empty() { Ok(()) } else { stream.synchronize() };
            drop((host, foreign));
            outcome
        })?)
    }
}
