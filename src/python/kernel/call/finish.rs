//! The end of a call that has more to do than to launch: what is kept alive, copied back, told.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use super::pack::Call;
use super::pointers;
use super::refusal;
use crate::array::Array;
use crate::kernel::{Configuration, check_ends, launch};
use crate::memory::{Use, pending};
use crate::python::gil::WithoutGil;

impl Call<'_, '_> {
    /// A launch with arguments that must be kept alive or copied back.
    #[cold]
    pub(super) fn finish<C: Configuration>(
        &mut self,
        py: Python<'_>,
        shape: &C,
        args: &Bound<'_, PyTuple>,
    ) -> PyResult<()> {
        let launched = self.launch(py, shape, args);
        let (stream, has_host) = (self.stream, !self.host.is_empty());
        if launched.is_err() || has_host || stream.device().is_cpu() {
            // The host's values are there when the call returns.
            let waited = self.wait(py);
            return launched.and(waited);
        }
        let kept = (std::mem::take(&mut self.foreign), std::mem::take(&mut self.owners));
        Ok(py.without_gil(|| pending::keep_until_passed(stream, Box::new(kept)))?)
    }

    fn launch<C: Configuration>(&mut self, py: Python<'_>, shape: &C, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        let (function, stream) = (self.function, self.stream);
        let told = match self.handlers.is_empty() {
            true => py.None().into_bound(py),
            false => pointers::stream_or_none(py, stream)?,
        };
        self.handlers.iter().try_for_each(|handler| handler.enter(&told))?;
        let arguments = &mut self.arguments;
        let mut uses: SmallVec<[Use<'_>; 8]> = self.uses.iter().copied().collect();
        uses.extend(self.blocks.iter().map(|(block, access)| (block, *access)));
        uses.extend(self.foreign.iter().map(|(array, access)| (array.allocation(), *access)));
        uses.extend(self.host.iter().map(|(temporary, access)| (temporary.array().allocation(), *access)));
        // SAFETY: as in `pack::call`.
        py.without_gil(|| unsafe { launch::launch(function, shape, stream, arguments, &uses) })?;
        check_ends(function, &uses, |block| refusal::whose(args, block))?;
        self.host.iter().try_for_each(|(temporary, _)| temporary.leave(py, stream))?;
        self.handlers.iter().try_for_each(|handler| handler.leave(&told))
    }

    /// Waits for the stream if something of the host is under way, and lets go of what was kept.
    fn wait(&mut self, py: Python<'_>) -> PyResult<()> {
        let stream = self.stream;
        let host: Vec<Array> = self.host.iter().map(|(temporary, _)| temporary.array().clone()).collect();
        self.host.clear();
        let foreign = std::mem::take(&mut self.foreign);
        // Dropped without the GIL, since that may reach the driver.
        Ok(py.without_gil(|| {
            let waited = if host.is_empty() { Ok(()) } else { stream.synchronize() };
            drop((host, foreign));
            waited
        })?)
    }

    /// After an argument that was refused: a copy of one before it may be under way.
    #[cold]
    pub(super) fn abandon(&mut self, py: Python<'_>) {
        if !self.host.is_empty() || !self.foreign.is_empty() {
            // The refusal is what is told; a driver that fails says so at the next call too.
            let _ = self.wait(py);
        }
    }
}
