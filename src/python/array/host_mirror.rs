//! Host mirror of an array.

use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use crate::ffi::objects::references;
use crate::runtime::result_cache::CacheSlot;

/// Host mirror of an array.
#[derive(Default)]
pub(crate) enum HostMirror {
    #[default]
    None,
    /// An ndarray over which the array was created (PybindGPU), or that `to_host` created: kept alive as long as the
    /// array.
    Own(Py<PyAny>),
    /// A weak reference to the last result of `get`, and a cached strong reference, which the next `get` fills again if
    /// no other reference is left.
    Returned(Py<PyWeakrefReference>, Option<CacheSlot>),
}

impl HostMirror {
    /// The ndarray that the garbage collector may count as the array's.
    pub(crate) fn referent(&self) -> Option<&Py<PyAny>> {
        match self {
            Self::Own(host) => Some(host),
            _ => None,
        }
    }

    /// The ndarray, if the array owns it or other references to it exist.
    pub(crate) fn held<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::None => None,
            Self::Own(host) => Some(host.bind(py).clone()),
            Self::Returned(weak, spare) => {
                let host = weak.bind(py).upgrade()?;
                let own = 1 + isize::from(spare.as_ref().is_some_and(CacheSlot::is_there));
                let is_held = spare.is_none() || references(&host) > own;
                is_held.then_some(host)
            }
        }
    }
}
