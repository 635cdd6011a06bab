//! Calls the functions with 64-bit sizes, which compute eigenvalues.

use super::{At, SolverWorkspace, pointer};
use crate::BackendKind;
use crate::libraries::solver::{Factorization, FactorizationKind, I, P, Solver, SolverHandle};
use pygpu_base::error::Result;

/// Maximum number of rows for which `syevjBatched` uses a fast algorithm. `XsyevBatched` takes 1.3 to 2.2 times as long
/// for stacks of 1000 such matrices.
const JACOBI_ROWS: usize = 32;

/// Calls a function for eigenvalues of a general matrix. The function's first arguments are the matrix, its
/// eigenvalues, and the eigenvectors; left eigenvectors are not computed.
macro_rules! geev {
    (
        $solver:ident, $function:ident, $name:literal, $handle:ident, $task:ident, $vectors:ident,
        [$a:ident, $w:ident, $v:ident], $($more:expr),*
    ) => {{
        let (kind, of_values, n) = ($task.element.number(), $task.element.complex().number(), $task.n as i64);
        let [none, right] = [false, $vectors].map(|vectors| $solver.choices().vectors(vectors));
        let (own, params, nothing) = ($handle.own, $handle.params, std::ptr::null_mut());
        call!(
            $solver, $solver.functions.$function, $name, own, params, none, right, n, kind, $a, n, of_values, $w, kind,
            nothing, n, kind, $v, n, kind, $($more),*
        )
    }};
}

/// Calls a function with 64-bit sizes for eigenvalues of symmetric matrices. The function's first arguments are the
/// matrices and their eigenvalues.
macro_rules! syev {
    (
        $solver:ident, $function:ident, $name:literal, $handle:ident, $task:ident, [$lower:ident, $vectors:ident],
        [$a:ident, $w:ident], $($more:expr),*
    ) => {{
        let (kind, of_values, n) = ($task.element.number(), $task.element.real().number(), $task.n as i64);
        let choices = $solver.choices();
        let (mode, triangle) = (choices.vectors($vectors), choices.triangle($lower));
        let (own, params) = ($handle.own, $handle.params);
        call!(
            $solver, $solver.functions.$function, $name, own, params, mode, triangle, n, kind, $a, n, of_values, $w, kind,
            $($more),*
        )
    }};
}

impl Solver {
    /// Returns whether the library computes eigenvalues of stacks of symmetric matrices of any size.
    fn has_syev_batched(&self) -> bool {
        self.kind == BackendKind::Cuda && self.functions.syev_batched.is_some()
    }

    /// Returns whether stacks of symmetric matrices with `n` rows are computed by `XsyevBatched`.
    pub(super) fn uses_syev_batched(&self, n: usize) -> bool {
        n > JACOBI_ROWS && self.has_syev_batched()
    }

    /// Returns whether the library computes eigenvalues of a symmetric matrix by a function with 64-bit sizes.
    pub(super) fn has_wide_syevd(&self) -> bool {
        self.kind == BackendKind::Cuda && self.functions.syevd.is_some()
    }

    /// Returns whether the library has a function for a factorization task.
    pub fn has(&self, task: &Factorization) -> bool {
        let is_stack_of_symmetric = matches!(task.what, FactorizationKind::EighOfMany { .. });
        !is_stack_of_symmetric || task.n <= JACOBI_ROWS || self.has_syev_batched()
    }

    pub(super) fn room_of_symmetric(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        [lower, vectors]: [bool; 2],
    ) -> Result<SolverWorkspace> {
        let [a, w, ..] = At::new(task).matrix(0);
        let (mut bytes, mut host) = (0, 0);
        syev!(self, syevd_size, "Xsyevd_bufferSize", handle, task, [lower, vectors], [a, w], &mut bytes, &mut host)?;
        Ok(SolverWorkspace { bytes, host, ..Default::default() })
    }

    pub(super) fn eigh(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        [a, w, info]: [P; 3],
        [lower, vectors]: [bool; 2],
        (room, work): (SolverWorkspace, P),
        host: &mut [u8],
    ) -> Result<()> {
        let (address, bytes) = (host.as_mut_ptr().cast(), host.len());
        syev!(self, syevd, "Xsyevd", handle, task, [lower, vectors], [a, w], work, room.bytes, address, bytes, info)
    }

    pub(super) fn room_of_eig(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        vectors: bool,
    ) -> Result<SolverWorkspace> {
        let [a, w, v, ..] = At::new(task).matrix(0);
        let (mut bytes, mut host) = (0, 0);
        geev!(self, geev_size, "Xgeev_bufferSize", handle, task, vectors, [a, w, v], &mut bytes, &mut host)?;
        Ok(SolverWorkspace { bytes, host, ..Default::default() })
    }

    /// Returns the workspace for a stack of symmetric matrices, and the number of matrices per call. The library limits
    /// the number of elements to 32 bits. Some versions also refuse stacks of 32768 and more matrices.
    pub(super) fn room_of_symmetric_stack(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        [lower, vectors]: [bool; 2],
    ) -> Result<SolverWorkspace> {
        let [a, w, ..] = At::new(task).matrix(0);
        let room_of = |batch: usize| {
            let (mut bytes, mut host) = (0, 0);
            syev!(
                self,
                syev_batched_size,
                "XsyevBatched_bufferSize",
                handle,
                task,
                [lower, vectors],
                [a, w],
                &mut bytes,
                &mut host,
                batch as i64
            )
            .map(|()| SolverWorkspace { bytes, host, batch, ..Default::default() })
        };
        let mut batch = task.batch.min(I::MAX as usize / (task.n * task.n)).max(1);
        let room = loop {
            match room_of(batch) {
                Ok(room) => break room,
                Err(error) if batch == 1 => return Err(error),
                Err(_) => batch = batch.div_ceil(2),
            }
        };
        let rest = task.batch % batch;
        let last = if rest > 0 { room_of(rest)? } else { room };
        Ok(SolverWorkspace { bytes: room.bytes.max(last.bytes), host: room.host.max(last.host), ..room })
    }

    pub(super) fn eigh_of_stack(
        &self,
        handle: &SolverHandle,
        (task, at): (&Factorization, &At<'_>),
        [lower, vectors]: [bool; 2],
        (room, address): (SolverWorkspace, usize),
        host: &mut [u8],
    ) -> Result<()> {
        let (work, in_host, bytes) = (pointer(address), host.as_mut_ptr().cast(), host.len());
        (0..task.batch).step_by(room.batch).try_for_each(|first| {
            let [a, w, info, ..] = at.matrix(first);
            let batch = room.batch.min(task.batch - first) as i64;
            syev!(
                self,
                syev_batched,
                "XsyevBatched",
                handle,
                task,
                [lower, vectors],
                [a, w],
                work,
                room.bytes,
                in_host,
                bytes,
                info,
                batch
            )
        })
    }

    pub(super) fn eig(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        [a, w, v, info]: [P; 4],
        vectors: bool,
        (room, work): (SolverWorkspace, P),
        host: &mut [u8],
    ) -> Result<()> {
        let (address, bytes) = (host.as_mut_ptr().cast(), host.len());
        geev!(self, geev, "Xgeev", handle, task, vectors, [a, w, v], work, room.bytes, address, bytes, info)
    }
}
