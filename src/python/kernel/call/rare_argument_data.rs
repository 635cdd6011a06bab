//! Stores rarely used data of a kernel launch. These are owners to keep alive, host arrays to copy back, hooks of
//! arguments, and the positions of arguments with a special alignment.

use pyo3::prelude::*;

use super::host_arguments::Temporary;
use super::pointer_holders::HolderHandler;
use crate::callback::SendPyObject;
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_device::stream::Stream;
use pygpu_kernel::WideValue;
use pygpu_memory::Access;

/// Rarely used data of the arguments of one launch. Most launches need no such data.
#[derive(Default)]
pub(crate) struct RareArgumentData<'py> {
    /// Arrays of other libraries that are arguments of the launch, each with the kind of access (read or write).
    pub(super) foreign: Vec<(Array, Access)>,
    /// Python objects that own memory of which PyGPU has only the address.
    pub(super) owners: Vec<SendPyObject>,
    pub(super) host: Vec<(Temporary<'py>, Access)>,
    pub(super) handlers: Vec<HolderHandler<'py>>,
    pub(super) wide: Vec<WideValue>,
}

impl RareArgumentData<'_> {
    /// Waits for the stream if there are device copies of host arrays. Then releases these copies and all owners.
    pub(super) fn wait(self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        let Self { foreign, host: temporaries, .. } = self;
        let host: Vec<Array> = temporaries.iter().map(|(temporary, _)| temporary.array().clone()).collect();
        drop(temporaries);
        // The device copies and the arrays of other libraries are dropped without the GIL, because dropping them may
        // call the driver.
        Ok(py.without_gil(|| {
            let outcome = if host.is_empty() { Ok(()) } else { stream.synchronize() };
            drop((host, foreign));
            outcome
        })?)
    }
}
