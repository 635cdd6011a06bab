//! What an array remembers of the host.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use crate::runtime::spare::Spare;

/// What an array remembers of the host.
#[derive(Default)]
pub(crate) enum HostSide {
    #[default]
    None,
    /// Made over it, in PybindGPU's form, or asked for one by `to_host`: kept as long as the array.
    Own(Py<PyAny>),
    /// What `get` returned last, as long as somebody holds it; and what is kept of it for the next `get` when nobody does.
    Returned(Py<PyWeakrefReference>, Option<Spare>),
}

impl HostSide {
    /// What the collector may count as the array's.
    pub(crate) fn referent(&self) -> Option<&Py<PyAny>> {
        match self {
            Self::Own(host) => Some(host),
            _ => None,
        }
    }

    /// The ndarray, if it is kept or somebody holds it.
    pub(crate) fn held<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::None => None,
            Self::Own(host) => Some(host.bind(py).clone()),
            Self::Returned(weak, spare) => {
                let host = weak.bind(py).upgrade()?;
                let own = 1 + isize::from(spare.as_ref().is_some_and(Spare::is_there));
                // SAFETY: a live object and the GIL.
                let is_held = spare.is_none() || unsafe { ffi::Py_REFCNT(host.as_ptr()) } > own;
                is_held.then_some(host)
            }
        }
    }
}
