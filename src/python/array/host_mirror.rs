//! Manages the host mirror of an array: an ndarray that belongs to the array, and that later transfers to the host
//! reuse.

use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use crate::ffi::objects::references;
use crate::runtime::ndarray_cache::CacheSlot;

/// The ndarray that belongs to an array, if there is one.
#[derive(Default)]
pub(crate) enum HostMirror {
    #[default]
    None,
    /// An ndarray from which the array was created (PybindGPU), or that `to_host` created. The array keeps this ndarray
    /// alive.
    Owned(Py<PyAny>),
    /// The ndarray that the last `get` returned: a weak reference, and a cached strong reference. The next `get` fills
    /// the same ndarray again if no other reference is left.
    Returned(Py<PyWeakrefReference>, Option<CacheSlot>),
}

impl HostMirror {
    /// Returns the ndarray to which the array holds a strong reference, for the garbage collector; `None` if there is
    /// none.
    pub(crate) fn referent(&self) -> Option<&Py<PyAny>> {
        match self {
            Self::Owned(host) => Some(host),
            _ => None,
        }
    }

    /// Returns the mirrored ndarray if the array owns it, or if code outside the mirror refers to it; otherwise `None`.
    pub(crate) fn live_ndarray<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::None => None,
            Self::Owned(host) => Some(host.bind(py).clone()),
            Self::Returned(weak, cached) => {
                let host = weak.bind(py).upgrade()?;
                let own_references = 1 + isize::from(cached.as_ref().is_some_and(CacheSlot::is_filled));
                let is_alive = cached.is_none() || references(&host) > own_references;
                is_alive.then_some(host)
            }
        }
    }
}
