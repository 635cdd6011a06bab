//! Where else the compiler's library may be: what only the program around the crate knows, asked when a kernel is compiled.

use std::path::PathBuf;

use super::compile::{self, Source};
use super::module::{Module, load};
use pygpu_backend::BackendKind;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush::PythonAccess;
use pygpu_base::fork_safe::Once;
use pygpu_device::Device;

/// Files in which the library may be; `thorough` when those that are quickly found have not served.
pub type Search = fn(kind: BackendKind, thorough: bool) -> Vec<PathBuf>;

static SEARCH: Once<Search> = Once::new();

/// Files for each kind of device, as they were found before its first operation was deferred.
static RESOLVED: [Once<Vec<PathBuf>>; 4] = [const { Once::new() }; 4];

/// Registers the search; the first one stays.
pub fn search_with(search: Search) {
    SEARCH.set(search);
}

/// Finds the compiler's files for a kind of device, unless that was done. No operation is deferred before: a flush does not search.
#[inline]
pub fn resolve(kind: BackendKind) {
    let known = &RESOLVED[kind as usize % RESOLVED.len()];
    if known.get().is_none() {
        resolve_now(kind, known);
    }
}

#[cold]
fn resolve_now(kind: BackendKind, known: &'static Once<Vec<PathBuf>>) {
    let found = search(kind, false); // not within `get_or_init`: Python may come here again
    known.set(found);
}

/// Files in which the library may be, for a flush: those that are known, or all that Python finds.
pub fn files(kind: BackendKind, thorough: bool) -> Vec<PathBuf> {
    match RESOLVED[kind as usize % RESOLVED.len()].get() {
        Some(known) if !thorough => known.clone(),
        _ => search(kind, thorough),
    }
}

/// Files in which the library may be. Within a flush those that are known.
fn search(kind: BackendKind, thorough: bool) -> Vec<PathBuf> {
    match PythonAccess::here() {
        Some(_) => SEARCH.get().map(|search| search(kind, thorough)).unwrap_or_default(),
        None if thorough => Vec::new(),
        None => RESOLVED[kind as usize % RESOLVED.len()].get().cloned().unwrap_or_default(),
    }
}

/// As [`load`], with the files that [`search_with`] finds. For kernels of the library's own.
///
/// # Errors
/// As `load`.
pub fn load_searching(device: Device, source: &Source) -> Result<Module> {
    match load(device, source, &search(device.kind(), false)) {
        Err(Error::Unavailable(text)) => match search(device.kind(), true) {
            hints if hints.is_empty() => Err(Error::Unavailable(text)),
            hints => load(device, source, &hints),
        },
        other => other,
    }
}

/// Whether an image of a source was kept, so that [`load_searching`] would compile nothing.
pub fn is_kept(device: Device, source: &Source) -> bool {
    compile::is_kept(device, source, &search(device.kind(), false))
}
