//! Search for the compiler's library. Only the layer above (Python) can find it in installed wheels; this module calls
//! it when a kernel is compiled.

use std::path::PathBuf;

use super::compile::{self, KernelSource};
use super::module::{Module, load};
use pygpu_backend::BackendKind;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush::PythonAccess;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::Device;

/// Function that returns candidate files of the library. `thorough` is set if the candidates that are found quickly
/// have failed.
pub type CompilerSearch = fn(kind: BackendKind, thorough: bool) -> Vec<PathBuf>;

static SEARCH: ForkSafeOnce<CompilerSearch> = ForkSafeOnce::new();

/// Candidate files per backend, which were found before the backend's first operation was deferred.
static RESOLVED: [ForkSafeOnce<Vec<PathBuf>>; 4] = [const { ForkSafeOnce::new() }; 4];

/// Registers the function that searches for the library. Only the first registration has an effect.
pub fn search_with(search: CompilerSearch) {
    SEARCH.set(search);
}

/// Searches for the candidate files of a backend, once. Called before an operation is deferred, because a flush must
/// not search.
#[inline]
pub fn resolve(kind: BackendKind) {
    let known = &RESOLVED[kind as usize % RESOLVED.len()];
    if known.get().is_none() {
        resolve_now(kind, known);
    }
}

#[cold]
fn resolve_now(kind: BackendKind, known: &'static ForkSafeOnce<Vec<PathBuf>>) {
    let found = search(kind, false); // not inside `get_or_init`: Python code may call this function recursively
    known.set(found);
}

/// Returns candidate files for a flush: the files found earlier; if `thorough` is set, the result of a new search.
pub fn files(kind: BackendKind, thorough: bool) -> Vec<PathBuf> {
    match RESOLVED[kind as usize % RESOLVED.len()].get() {
        Some(known) if !thorough => known.clone(),
        _ => search(kind, thorough),
    }
}

/// Returns candidate files of the library. During a flush only files found earlier are returned.
fn search(kind: BackendKind, thorough: bool) -> Vec<PathBuf> {
    match PythonAccess::here() {
        Some(_) => SEARCH.get().map(|search| search(kind, thorough)).unwrap_or_default(),
        None if thorough => Vec::new(),
        None => RESOLVED[kind as usize % RESOLVED.len()].get().cloned().unwrap_or_default(),
    }
}

/// Loads a source like [`load`], with the candidate files of the registered search. For PyGPU's own kernels.
///
/// # Errors
/// As [`load`].
pub fn load_searching(device: Device, source: &KernelSource) -> Result<Module> {
    match load(device, source, &search(device.kind(), false)) {
        Err(Error::Unavailable(text)) => match search(device.kind(), true) {
            hints if hints.is_empty() => Err(Error::Unavailable(text)),
            hints => load(device, source, &hints),
        },
        other => other,
    }
}

/// Whether the image of a source is cached, so that [`load_searching`] compiles nothing.
pub fn is_kept(device: Device, source: &KernelSource) -> bool {
    compile::is_kept(device, source, &search(device.kind(), false))
}
