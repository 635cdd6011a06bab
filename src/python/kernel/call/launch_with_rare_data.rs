//! Launches kernels with arguments that need the rarely used [`RareArgumentData`].

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use super::argument_packing::CallContext;
use super::rare_argument_data::RareArgumentData;
use super::{argument_errors, pointer_holders};
use crate::gil::WithoutGil;
use pygpu_kernel::launch;
use pygpu_kernel::{Configuration, check_ends};
use pygpu_memory::{BlockUse, retired_objects};

impl<'py> CallContext<'_, 'py> {
    /// Returns the rare argument data, which are allocated at the first use.
    pub(super) fn rare_data(&mut self) -> &mut RareArgumentData<'py> {
        self.rare_data.get_or_insert_default()
    }

    /// Launches the kernel with the rare argument data. If the call waits for the stream, the owners in this data are
    /// released after the wait. Otherwise the owners are kept until the stream has passed the launch.
    #[cold]
    pub(super) fn finish<C: Configuration>(
        &mut self,
        py: Python<'_>,
        shape: &C,
        args: &Bound<'_, PyTuple>,
        rare_data: RareArgumentData<'py>,
    ) -> PyResult<()> {
        let launched = self.launch(py, shape, args, &rare_data);
        let stream = self.stream;
        if launched.is_err() || !rare_data.host.is_empty() || stream.device().is_cpu() {
            // If values are copied back to host arrays, the call waits for the stream, because these arrays must
            // contain the values when the call returns.
            let outcome = rare_data.wait(py, stream);
            return launched.and(outcome);
        }
        let RareArgumentData { foreign, owners, .. } = rare_data;
        if foreign.is_empty() && owners.is_empty() {
            return launched;
        }
        Ok(py.without_gil(|| retired_objects::keep_until_passed(stream, Box::new((foreign, owners))))?)
    }

    fn launch<C: Configuration>(
        &mut self,
        py: Python<'_>,
        shape: &C,
        args: &Bound<'_, PyTuple>,
        rare_data: &RareArgumentData<'_>,
    ) -> PyResult<()> {
        let (function, stream) = (self.function, self.stream);
        let stream_object = match rare_data.handlers.is_empty() {
            true => py.None().into_bound(py),
            false => pointer_holders::stream_or_none(py, stream)?,
        };
        rare_data.handlers.iter().try_for_each(|handler| handler.enter(&stream_object))?;
        let arguments = &mut self.arguments;
        rare_data.wide.iter().for_each(|wide| arguments.align(*wide));
        let mut uses: SmallVec<[BlockUse<'_>; 8]> = self.uses.iter().copied().collect();
        uses.extend(self.blocks.iter().map(|(block, access)| (block, *access)));
        uses.extend(rare_data.foreign.iter().map(|(array, access)| (array.allocation(), *access)));
        uses.extend(rare_data.host.iter().map(|(temporary, access)| (temporary.array().allocation(), *access)));
        // SAFETY: the arguments were checked like in `argument_packing::call_with_blocks`: their number and sizes match those of
        // the kernel's parameters, as far as the driver or the source reports them.
        py.without_gil(|| unsafe { launch::launch(function, shape, stream, arguments, &uses) })?;
        check_ends(function, &uses, |block| argument_errors::describe_block(args, block))?;
        rare_data.host.iter().try_for_each(|(temporary, _)| temporary.leave(py, stream))?;
        rare_data.handlers.iter().try_for_each(|handler| handler.leave(&stream_object))
    }

    /// Releases the resources of the earlier arguments after an argument was rejected. Waits for the stream first,
    /// because the copy of an earlier argument may still be running.
    #[cold]
    pub(super) fn abandon(&mut self, py: Python<'_>) {
        if let Some(rare_data) = self.rare_data.take() {
            // A driver error of the wait is dropped here, because the caller raises the error of the rejected argument,
            // and the next driver call reports the driver error again.
            let _ = rare_data.wait(py, self.stream);
        }
    }
}
