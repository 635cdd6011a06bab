//! Calls the library's functions for batched LU factorisation, and for the solution of linear systems with the factors.

use std::ffi::{c_int, c_void};

use super::{Blas, BlasHandle, BlasWorkspace, NOUN};
use crate::libraries::{Element, Factorization, FactorizationKind};
use crate::{BackendKind, Library};
use pygpu_base::error::{Error, Result};

type P = *mut c_void;
/// The library function `getrfBatched`. Its parameters are the handle, length, matrix addresses, leading dimension,
/// pivots, error info, batch size.
type Getrf = unsafe extern "C" fn(P, c_int, P, c_int, P, P, c_int) -> u32;
/// The library function `getrsBatched`. Its parameters are the handle, operation, length, right-hand sides, factors,
/// pivots, addresses of right-hand sides, error info (on the host), batch size.
type Getrs = unsafe extern "C" fn(P, u32, c_int, c_int, P, c_int, P, P, c_int, *mut c_int, c_int) -> u32;

/// The library's functions, one for each element type.
pub struct LuFunctions {
    getrf: [Option<Getrf>; 4],
    getrs: [Option<Getrs>; 4],
}

impl LuFunctions {
    /// Looks up the functions in the library.
    ///
    /// # Safety
    /// `library` is the library of the vendor of `kind`.
    pub unsafe fn of(library: &Library, kind: BackendKind) -> Self {
        let prefix = if kind == BackendKind::Hip { "hipblas" } else { "cublas" };
        let name = |element: Element, name: &str| format!("{prefix}{}{name}", element.letter());
        Self {
            // SAFETY: the signature is that of both vendors' headers.
            getrf: Element::ALL.map(|element| unsafe { library.get(&name(element, "getrfBatched")) }),
            // SAFETY: the signature is that of both vendors' headers.
            getrs: Element::ALL.map(|element| unsafe { library.get(&name(element, "getrsBatched")) }),
        }
    }
}

fn pointer(address: usize) -> P {
    std::ptr::with_exposed_provenance_mut(address)
}

impl Blas {
    /// Returns whether the library supports batched factorisation of matrices of this element type.
    pub fn has_lu(&self, element: Element) -> bool {
        let number = element as usize;
        self.lu.getrf.get(number).is_some_and(Option::is_some) && self.lu.getrs.get(number).is_some_and(Option::is_some)
    }

    /// Enqueues a task of kind `LuOfMany` or `LuSolveOfMany` on a stream. The handle's device must be current.
    ///
    /// # Safety
    /// The task's addresses refer to arrays as described by its parts, and addresses stored in arrays refer to the
    /// matrices; stream, workspace and handle are alive, and no other thread uses the handle.
    ///
    /// # Errors
    /// Errors of the library.
    pub unsafe fn lu(&self, handle: BlasHandle, desk: &BlasWorkspace, task: &Factorization) -> Result<()> {
        // SAFETY: the caller guarantees that stream, workspace and handle are alive, and that no other thread uses the
        // handle.
        unsafe { self.sit_down(handle, desk) }.map_err(|code| self.refusal(code, "SetStream"))?;
        let number = task.element as usize;
        let [n, k, batch] = [task.n, task.k, task.batch].map(|number| number as c_int);
        let [_, matrices, pivots, fourth, sides, _] = task.addresses.map(pointer);
        let (code, name) = match task.what {
            FactorizationKind::LuSolveOfMany { transposed } => {
                let operation = u32::from(transposed) + if self.is_hip() { 111 } else { 0 };
                let mut wrong = 0;
                let getrs = self.lu.getrs.get(number).copied().flatten();
                // SAFETY: the caller guarantees that the handle is alive and the addresses refer to the task's arrays;
                // the out-parameter is writable, and the library writes it before the call returns.
                let code = getrs.map(|getrs| unsafe {
                    getrs(handle.raw(), operation, n, k, matrices, n, pivots, sides, n, &mut wrong, batch)
                });
                (code, "getrsBatched")
            }
            _ => {
                let getrf = self.lu.getrf.get(number).copied().flatten();
                // SAFETY: the caller guarantees that the handle is alive and the addresses refer to the task's arrays.
                let code = getrf.map(|getrf| unsafe { getrf(handle.raw(), n, matrices, n, pivots, fourth, batch) });
                (code, "getrfBatched")
            }
        };
        match code {
            Some(0) => Ok(()),
            code => Err(self.refusal(code.unwrap_or(super::NOT_SUPPORTED), name)),
        }
    }

    #[cold]
    fn refusal(&self, code: u32, operation: &'static str) -> Error {
        let (prefix, names): (_, &[(u32, &str)]) = if self.is_hip() {
            ("HIPBLAS", &[(2, "ALLOC_FAILED"), (3, "INVALID_VALUE"), (5, "EXECUTION_FAILED"), (6, "INTERNAL_ERROR")])
        } else {
            ("CUBLAS", &[(3, "ALLOC_FAILED"), (7, "INVALID_VALUE"), (13, "EXECUTION_FAILED"), (14, "INTERNAL_ERROR")])
        };
        let name = names.iter().find(|(known, _)| *known == code).map_or("REFUSED", |(_, name)| name);
        NOUN.refusal(self.kind, &self.path, operation, (code, format!("{prefix}_STATUS_{name}")))
    }
}
