//! Calls the functions of the solver library for a factorization.

use std::ffi::c_int;

use super::{Factorization, FactorizationKind, I, P, Solver, SolverHandle};
use crate::{BackendKind, StreamHandle};
use pygpu_base::error::Result;

/// Sizes of the workspace that the library needs for a factorization.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SolverWorkspace {
    /// Size of the workspace in device memory, in elements of the matrix, as the library reports it.
    lwork: usize,
    /// Size of the workspace in device memory, in bytes.
    pub bytes: usize,
    /// Size of the host memory in bytes.
    pub host: usize,
    /// Number of matrices that one call of `XsyevBatched` computes.
    batch: usize,
}

/// Alignment in bytes of each part of a workspace.
const ALIGNMENT: usize = 256;

fn pointer(address: usize) -> P {
    std::ptr::with_exposed_provenance_mut(address)
}

/// The vendor's constants for the options of a factorization.
struct Choices {
    is_hip: bool,
}

impl Choices {
    fn transposed(&self, transposed: bool) -> u32 {
        u32::from(transposed) + if self.is_hip { 111 } else { 0 }
    }

    fn triangle(&self, lower: bool) -> u32 {
        if self.is_hip { 121 + u32::from(lower) } else { u32::from(!lower) }
    }

    fn vectors(&self, vectors: bool) -> u32 {
        u32::from(vectors) + if self.is_hip { 201 } else { 0 }
    }
}

/// Calls a library function, or returns an error if the library lacks it.
macro_rules! call {
    ($solver:ident, $function:expr, $name:literal, $($argument:expr),* $(,)?) => {{
        let function = $function.ok_or_else(|| $solver.absent($name))?;
        // SAFETY: the arguments match the function's signature; the caller of `run` guarantees that the task's
        // addresses are valid.
        let code = unsafe { function($($argument),*) };
        $solver.checked(code, $name)
    }};
}

// After the macro, which the module uses.
mod eigenvalues;

/// Addresses of one matrix of the batch and of the results for this matrix, taken from the task's arrays.
struct At<'a> {
    task: &'a Factorization,
    steps: [usize; Factorization::PARTS],
}

impl<'a> At<'a> {
    fn new(task: &'a Factorization) -> Self {
        use super::ArrayRole::{Addresses, Complexes, Elements, Integers, Reals};
        let mut steps = [0; Factorization::PARTS];
        for (step, (role, count, _)) in steps.iter_mut().zip(task.parts()) {
            *step = count
                * match role {
                    Elements => task.element.bytes(),
                    Reals => task.element.real_bytes(),
                    Complexes => task.element.complex().bytes(),
                    Integers => size_of::<c_int>(),
                    Addresses => size_of::<u64>(),
                };
        }
        Self { task, steps }
    }

    fn matrix(&self, number: usize) -> [P; Factorization::PARTS] {
        std::array::from_fn(|place| pointer(self.task.addresses[place] + number * self.steps[place]))
    }
}

impl Solver {
    fn choices(&self) -> Choices {
        Choices { is_hip: self.kind == BackendKind::Hip }
    }

    /// Returns the sizes of the workspace that a factorization task needs. The handle's device must be current.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn room(&self, handle: &SolverHandle, task: &Factorization) -> Result<SolverWorkspace> {
        let typed = self.of(task.element);
        let choices = self.choices();
        let [a, b, c, d, ..] = At::new(task).matrix(0);
        let [m, n, k, batch] = [task.m, task.n, task.k, task.batch].map(|number| number as I);
        let [left, right] = [m, n];
        let own = handle.own;
        let mut lwork: I = 0;
        let mut more = 0;
        match task.what {
            FactorizationKind::Lu => call!(self, typed.getrf_size, "getrf_bufferSize", own, m, n, a, m, &mut lwork)?,
            FactorizationKind::LuSolve { .. } | FactorizationKind::CholeskyOfMany { .. } => (),
            FactorizationKind::LuOfMany | FactorizationKind::LuSolveOfMany { .. } => {
                return Err(self.absent("getrfBatched"));
            }
            FactorizationKind::Cholesky { lower } => {
                let triangle = choices.triangle(lower);
                call!(self, typed.potrf_size, "potrf_bufferSize", own, triangle, n, a, n, &mut lwork)?;
            }
            FactorizationKind::Qr => call!(self, typed.geqrf_size, "geqrf_bufferSize", own, m, n, a, m, &mut lwork)?,
            FactorizationKind::QrVectors => {
                call!(self, typed.orgqr_size, "orgqr_bufferSize", own, m, n, k, a, m, b, &mut lwork)?
            }
            FactorizationKind::Eigh { lower, vectors } if self.has_wide_syevd() => {
                return self.room_of_symmetric(handle, task, [lower, vectors]);
            }
            FactorizationKind::Eigh { lower, vectors } => {
                let (mode, triangle) = (choices.vectors(vectors), choices.triangle(lower));
                call!(self, typed.syevd_size, "syevd_bufferSize", own, mode, triangle, n, a, n, b, &mut lwork)?;
            }
            FactorizationKind::EighOfMany { lower, vectors } if self.uses_syev_batched(task.n) => {
                return self.room_of_symmetric_stack(handle, task, [lower, vectors]);
            }
            FactorizationKind::EighOfMany { lower, vectors } => {
                let (mode, triangle) = (choices.vectors(vectors), choices.triangle(lower));
                call!(
                    self,
                    typed.syevj_size,
                    "syevjBatched_bufferSize",
                    own,
                    mode,
                    triangle,
                    n,
                    a,
                    n,
                    b,
                    &mut lwork,
                    handle.syevj,
                    batch,
                )?;
            }
            FactorizationKind::Svd { vectors, full } => {
                let mode = choices.vectors(vectors);
                call!(
                    self,
                    typed.gesvdj_size,
                    "gesvdj_bufferSize",
                    own,
                    mode,
                    I::from(!full),
                    m,
                    n,
                    a,
                    m,
                    b,
                    c,
                    left,
                    d,
                    right,
                    &mut lwork,
                    handle.gesvdj,
                )?;
            }
            FactorizationKind::SvdOfMany { vectors } => {
                let mode = choices.vectors(vectors);
                call!(
                    self,
                    typed.gesvdj_batched_size,
                    "gesvdjBatched_bufferSize",
                    own,
                    mode,
                    m,
                    n,
                    a,
                    m,
                    b,
                    c,
                    left,
                    d,
                    right,
                    &mut lwork,
                    handle.gesvdj,
                    batch,
                )?;
            }
            FactorizationKind::SvdByQr { .. } => {
                call!(self, typed.gesvd_size, "gesvd_bufferSize", own, m, n, &mut lwork)?;
                more = 5 * task.few() * task.element.real_bytes();
            }
            FactorizationKind::Eig { vectors } => return self.room_of_eig(handle, task, vectors),
        }
        let lwork = usize::try_from(lwork).unwrap_or(0);
        let bytes = (lwork * task.element.bytes()).next_multiple_of(ALIGNMENT) + more;
        Ok(SolverWorkspace { lwork, bytes, ..Default::default() })
    }

    /// Enqueues a factorization task on a stream. The handle's device must be current.
    ///
    /// # Errors
    /// Errors of the library.
    ///
    /// # Safety
    /// The task's addresses refer to arrays as described by its parts, and `room` to memory of the required size; both
    /// are valid in stream order.
    pub unsafe fn run(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        stream: StreamHandle,
        room: (SolverWorkspace, usize),
        host: &mut [u8],
    ) -> Result<()> {
        call!(self, self.functions.set_stream, "SetStream", handle.own, pointer(stream.0))?;
        let at = At::new(task);
        match task.what {
            FactorizationKind::EighOfMany { lower, vectors } if self.uses_syev_batched(task.n) => {
                self.eigh_of_stack(handle, (task, &at), [lower, vectors], room, host)
            }
            FactorizationKind::CholeskyOfMany { .. }
            | FactorizationKind::EighOfMany { .. }
            | FactorizationKind::SvdOfMany { .. } => self.all_at_once(handle, task, at.matrix(0), room),
            _ => (0..task.batch).try_for_each(|number| self.one(handle, task, at.matrix(number), room, host)),
        }
    }

    fn one(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        [a, b, c, d, e, _]: [P; Factorization::PARTS],
        (room, address): (SolverWorkspace, usize),
        host: &mut [u8],
    ) -> Result<()> {
        let typed = self.of(task.element);
        let choices = self.choices();
        let own = handle.own;
        let [m, n, k, lwork] = [task.m, task.n, task.k, room.lwork].map(|number| number as I);
        let work = pointer(address);
        match task.what {
            FactorizationKind::Lu => call!(self, typed.getrf, "getrf", own, m, n, a, m, work, b, c),
            FactorizationKind::LuSolve { transposed } => {
                let transposed = choices.transposed(transposed);
                call!(self, typed.getrs, "getrs", own, transposed, n, k, a, n, b, c, n, d)
            }
            FactorizationKind::Cholesky { lower } => {
                call!(self, typed.potrf, "potrf", own, choices.triangle(lower), n, a, n, work, lwork, b)
            }
            FactorizationKind::Qr => call!(self, typed.geqrf, "geqrf", own, m, n, a, m, b, work, lwork, c),
            FactorizationKind::QrVectors => call!(self, typed.orgqr, "orgqr", own, m, n, k, a, m, b, work, lwork, c),
            FactorizationKind::Eigh { lower, vectors } if self.has_wide_syevd() => {
                self.eigh(handle, task, [a, b, c], [lower, vectors], (room, work), host)
            }
            FactorizationKind::Eigh { lower, vectors } => {
                let (mode, triangle) = (choices.vectors(vectors), choices.triangle(lower));
                call!(self, typed.syevd, "syevd", own, mode, triangle, n, a, n, b, work, lwork, c)
            }
            FactorizationKind::Svd { vectors, full } => {
                let mode = choices.vectors(vectors);
                let params = handle.gesvdj;
                call!(
                    self,
                    typed.gesvdj,
                    "gesvdj",
                    own,
                    mode,
                    I::from(!full),
                    m,
                    n,
                    a,
                    m,
                    b,
                    c,
                    m,
                    d,
                    n,
                    work,
                    lwork,
                    e,
                    params,
                )
            }
            FactorizationKind::SvdByQr { vectors, full } => {
                let job = if !vectors {
                    b'N'
                } else if full {
                    b'A'
                } else {
                    b'S'
                } as i8;
                let more = pointer(address + (room.lwork * task.element.bytes()).next_multiple_of(ALIGNMENT));
                let rows = task.sides()[1] as I;
                call!(self, typed.gesvd, "gesvd", own, job, job, m, n, a, m, b, c, m, d, rows, work, lwork, more, e,)
            }
            FactorizationKind::Eig { vectors } => self.eig(handle, task, [a, b, c, d], vectors, (room, work), host),
            FactorizationKind::CholeskyOfMany { .. }
            | FactorizationKind::EighOfMany { .. }
            | FactorizationKind::SvdOfMany { .. } => Ok(()),
            FactorizationKind::LuOfMany | FactorizationKind::LuSolveOfMany { .. } => Err(self.absent("getrfBatched")),
        }
    }

    fn all_at_once(
        &self,
        handle: &SolverHandle,
        task: &Factorization,
        [a, b, c, d, e, _]: [P; Factorization::PARTS],
        (room, address): (SolverWorkspace, usize),
    ) -> Result<()> {
        let typed = self.of(task.element);
        let choices = self.choices();
        let own = handle.own;
        let [m, n, batch, lwork] = [task.m, task.n, task.batch, room.lwork].map(|number| number as I);
        let work = pointer(address);
        match task.what {
            FactorizationKind::CholeskyOfMany { lower } => {
                let triangle = choices.triangle(lower);
                call!(self, typed.potrf_batched, "potrfBatched", own, triangle, n, b, n, c, batch)
            }
            FactorizationKind::EighOfMany { lower, vectors } => {
                let (mode, triangle) = (choices.vectors(vectors), choices.triangle(lower));
                let params = handle.syevj;
                call!(self, typed.syevj, "syevjBatched", own, mode, triangle, n, a, n, b, work, lwork, c, params, batch)
            }
            FactorizationKind::SvdOfMany { vectors } => {
                let mode = choices.vectors(vectors);
                let params = handle.gesvdj;
                call!(
                    self,
                    typed.gesvdj_batched,
                    "gesvdjBatched",
                    own,
                    mode,
                    m,
                    n,
                    a,
                    m,
                    b,
                    c,
                    m,
                    d,
                    n,
                    work,
                    lwork,
                    e,
                    params,
                    batch,
                )
            }
            _ => Ok(()),
        }
    }
}
