//! Searches for the library of the run-time compiler. Only the Python layer, above this crate, can find the library in
//! installed wheels. This module calls a function that the Python layer registers.

use std::path::PathBuf;

use super::compile::{self, KernelSource};
use super::module::{Module, load};
use pygpu_backend::BackendKind;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::PythonAccess;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::Device;

/// Function that returns candidate paths of the compiler's library. `thorough` is set if no library could be loaded
/// from the paths that a call without `thorough` returned.
pub type CompilerSearch = fn(kind: BackendKind, thorough: bool) -> Vec<PathBuf>;

static SEARCH: ForkSafeOnce<CompilerSearch> = ForkSafeOnce::new();

/// Candidate paths of the compiler's library for each backend, found before the backend's first operation was deferred.
static RESOLVED: [ForkSafeOnce<Vec<PathBuf>>; 4] = [const { ForkSafeOnce::new() }; 4];

/// Registers the function that searches for the compiler's library. Only the first registration has an effect.
pub fn search_with(search: CompilerSearch) {
    SEARCH.set(search);
}

/// Searches for the candidate paths of a backend's compiler library, once per process. Must be called before an
/// operation is deferred, because a flush must not search.
#[inline]
pub fn resolve(kind: BackendKind) {
    let known = &RESOLVED[kind as usize % RESOLVED.len()];
    if known.get().is_none() {
        resolve_now(kind, known);
    }
}

#[cold]
fn resolve_now(kind: BackendKind, known: &'static ForkSafeOnce<Vec<PathBuf>>) {
    // The search is not inside `get_or_init`, because it runs Python code, which may call this function recursively.
    let found = search(kind, false);
    known.set(found);
}

/// Returns the candidate paths of the compiler's library that were found earlier or, if `thorough` is set, the result
/// of a new search.
pub fn files(kind: BackendKind, thorough: bool) -> Vec<PathBuf> {
    match RESOLVED[kind as usize % RESOLVED.len()].get() {
        Some(known) if !thorough => known.clone(),
        _ => search(kind, thorough),
    }
}

/// Searches for candidate paths of the compiler's library. During a flush, returns the paths found earlier instead,
/// because a search runs Python code.
fn search(kind: BackendKind, thorough: bool) -> Vec<PathBuf> {
    match PythonAccess::here() {
        Some(_) => SEARCH.get().map(|search| search(kind, thorough)).unwrap_or_default(),
        None if thorough => Vec::new(),
        None => RESOLVED[kind as usize % RESOLVED.len()].get().cloned().unwrap_or_default(),
    }
}

/// Loads one of PyGPU's own kernels from its source, like [`load`]. The compiler's library is searched for at the paths
/// that the function registered by [`search_with`] returns.
///
/// # Errors
/// The errors of [`load`].
pub fn load_searching(device: Device, source: &KernelSource) -> Result<Module> {
    match load(device, source, &search(device.kind(), false)) {
        Err(Error::Unavailable(text)) => match search(device.kind(), true) {
            hints if hints.is_empty() => Err(Error::Unavailable(text)),
            hints => load(device, source, &hints),
        },
        other => other,
    }
}

/// Returns whether the image of a source is cached, in which case [`load_searching`] does not compile it.
pub fn is_kept(device: Device, source: &KernelSource) -> bool {
    compile::is_kept(device, source, &search(device.kind(), false))
}
