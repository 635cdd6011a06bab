//! What hardly a launch has: arguments that must be kept alive, copied back, told of it, or laid where they are aligned.

use pyo3::prelude::*;

use super::on_host::Temporary;
use super::pointers::Handler;
use crate::callback::Kept;
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_device::stream::Stream;
use pygpu_kernel::Wide;
use pygpu_memory::Access;

/// The arguments of one that has.
#[derive(Default)]
pub(crate) struct Rare<'py> {
    /// Arrays of other libraries.
    pub(super) foreign: Vec<(Array, Access)>,
    /// What keeps memory alive of which only the address is known.
    pub(super) owners: Vec<Kept>,
    pub(super) host: Vec<(Temporary<'py>, Access)>,
    pub(super) handlers: Vec<Handler<'py>>,
    pub(super) wide: Vec<Wide>,
}

impl Rare<'_> {
    /// Waits for the stream if something of the host is under way, and lets go of what was kept.
    pub(super) fn wait(self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        let Self { foreign, host: temporaries, .. } = self;
        let host: Vec<Array> = temporaries.iter().map(|(temporary, _)| temporary.array().clone()).collect();
        drop(temporaries);
        // Dropped without the GIL, since that may reach the driver.
        Ok(py.without_gil(|| {
            let waited = if host.is_empty() { Ok(()) } else { stream.synchronize() };
            drop((host, foreign));
            waited
        })?)
    }
}
