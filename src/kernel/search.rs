//! Where else the compiler's library may be: what only the program around the crate knows, asked when a kernel is compiled.

use std::path::PathBuf;

use super::compile::{self, Source};
use super::module::{Module, load};
use pygpu_backend::BackendKind;
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Once;
use pygpu_device::Device;

/// Files in which the library may be; `thorough` when those that are quickly found have not served.
pub type Search = fn(kind: BackendKind, thorough: bool) -> Vec<PathBuf>;

static SEARCH: Once<Search> = Once::new();

/// Says who knows; the first one stays.
pub fn search_with(search: Search) {
    SEARCH.set(search);
}

/// As [`load`], with the files that [`search_with`] knows of. For kernels of the library's own.
///
/// # Errors
/// As `load`.
pub fn load_searching(device: Device, source: &Source) -> Result<Module> {
    let ask = |thorough| SEARCH.get().map(|search| search(device.kind(), thorough)).unwrap_or_default();
    match load(device, source, &ask(false)) {
        Err(Error::Unavailable(text)) => match ask(true) {
            hints if hints.is_empty() => Err(Error::Unavailable(text)),
            hints => load(device, source, &hints),
        },
        other => other,
    }
}

/// Whether an image of a source was kept, so that [`load_searching`] would compile nothing.
pub fn is_kept(device: Device, source: &Source) -> bool {
    let hints = SEARCH.get().map(|search| search(device.kind(), false)).unwrap_or_default();
    compile::is_kept(device, source, &hints)
}
