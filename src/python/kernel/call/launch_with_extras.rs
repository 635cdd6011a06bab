//! Launches kernels with arguments that need the rarely used [`LaunchExtras`].

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

use super::argument_packing::CallContext;
use super::launch_extras::LaunchExtras;
use super::{argument_errors, pointer_holders};
use crate::gil::WithoutGil;
use pygpu_kernel::launch;
use pygpu_kernel::{Configuration, check_ends};
use pygpu_memory::{BlockUse, retired};

impl<'py> CallContext<'_, 'py> {
    /// Returns the launch extras, which are allocated at the first use.
    pub(super) fn extras(&mut self) -> &mut LaunchExtras<'py> {
        self.extras.get_or_insert_default()
    }

    /// Launches the kernel with the launch extras. If the call waits for the stream, the owners in the extras are
    /// released after the wait. Otherwise the owners are kept until the stream has passed the launch.
    #[cold]
    pub(super) fn finish<C: Configuration>(
        &mut self,
        py: Python<'_>,
        shape: &C,
        args: &Bound<'_, PyTuple>,
        extras: LaunchExtras<'py>,
    ) -> PyResult<()> {
        let launched = self.launch(py, shape, args, &extras);
        let stream = self.stream;
        if launched.is_err() || !extras.host.is_empty() || stream.device().is_cpu() {
            // If values are copied back to host arrays, the call waits for the stream, because these arrays must
            // contain the values when the call returns.
            let outcome = extras.wait(py, stream);
            return launched.and(outcome);
        }
        let LaunchExtras { foreign, owners, .. } = extras;
        if foreign.is_empty() && owners.is_empty() {
            return launched;
        }
        Ok(py.without_gil(|| retired::keep_until_passed(stream, Box::new((foreign, owners))))?)
    }

    fn launch<C: Configuration>(
        &mut self,
        py: Python<'_>,
        shape: &C,
        args: &Bound<'_, PyTuple>,
        extras: &LaunchExtras<'_>,
    ) -> PyResult<()> {
        let (function, stream) = (self.function, self.stream);
        let stream_object = match extras.handlers.is_empty() {
            true => py.None().into_bound(py),
            false => pointer_holders::stream_or_none(py, stream)?,
        };
        extras.handlers.iter().try_for_each(|handler| handler.enter(&stream_object))?;
        let arguments = &mut self.arguments;
        extras.wide.iter().for_each(|wide| arguments.align(*wide));
        let mut uses: SmallVec<[BlockUse<'_>; 8]> = self.uses.iter().copied().collect();
        uses.extend(self.blocks.iter().map(|(block, access)| (block, *access)));
        uses.extend(extras.foreign.iter().map(|(array, access)| (array.allocation(), *access)));
        uses.extend(extras.host.iter().map(|(temporary, access)| (temporary.array().allocation(), *access)));
        // SAFETY: the arguments were checked like in `argument_packing::call_with_blocks`: their number and sizes match those of
        // the kernel's parameters, as far as the driver or the source reports them.
        py.without_gil(|| unsafe { launch::launch(function, shape, stream, arguments, &uses) })?;
        check_ends(function, &uses, |block| argument_errors::describe_block(args, block))?;
        extras.host.iter().try_for_each(|(temporary, _)| temporary.leave(py, stream))?;
        extras.handlers.iter().try_for_each(|handler| handler.leave(&stream_object))
    }

    /// Releases the resources of the earlier arguments after an argument was rejected. Waits for the stream first,
    /// because the copy of an earlier argument may still be running.
    #[cold]
    pub(super) fn abandon(&mut self, py: Python<'_>) {
        if let Some(extras) = self.extras.take() {
            // A driver error of the wait is dropped here, because the caller raises the error of the rejected argument,
            // and the next driver call reports the driver error again.
            let _ = extras.wait(py, self.stream);
        }
    }
}
