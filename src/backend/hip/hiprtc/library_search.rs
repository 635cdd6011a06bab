//! Searches for hiprtc. The search covers, in this order, the files that the caller provides, the runtime's folder,
//! ROCm's folder, the system's loader, and finally the runtime itself, which contained hiprtc's functions up to ROCm 6.

use std::path::{Path, PathBuf};

use crate::cuda_and_hip::loader::file_identity::identity_of_first;
use crate::{Attempt, Library};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings::{Settings, Variable};
use pygpu_base::small_sort;

/// File names of hiprtc, newest first.
#[cfg(not(windows))]
const NAMES: [&str; 4] = ["libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so"];
#[cfg(windows)]
const NAMES: [&str; 2] = ["hiprtc0700.dll", "hiprtc0600.dll"];

/// Returns the library names in order of preference for a runtime: first the name with the runtime's major version.
fn names(runtime: &str) -> Vec<&'static str> {
    let version = runtime.rsplit_once("libamdhip64").map_or("", |(_, rest)| rest);
    let mut names = NAMES.to_vec();
    // The sort is stable, so the names without the runtime's major version stay in order, newest first.
    let suits = |name: &str| {
        name.strip_prefix("libhiprtc").is_some_and(|own| own == version || version.starts_with(&format!("{own}.")))
    };
    small_sort::sort_by_key(&mut names, |name| !suits(name) || *name == "libhiprtc.so");
    names
}

/// Returns all file paths and names under which to search for hiprtc, in order. `runtime` is the path of AMD's runtime
/// library.
fn candidates(runtime: &str, hints: &[PathBuf], settings: &Settings) -> Vec<PathBuf> {
    let names = names(runtime);
    let mut found = hints.to_vec();
    let beside = Path::new(runtime).parent().filter(|folder| folder.is_absolute()).map(Path::to_path_buf);
    let roots = settings.folders(&[Variable::ROCM_PATH, Variable::HIP_PATH]);
    let mut folders: Vec<PathBuf> = beside.into_iter().collect();
    folders.extend(roots.map(|root| root.join(if cfg!(windows) { "bin" } else { "lib" })));
    let files = |folder: PathBuf| {
        names.iter().map(move |name| folder.join(name)).filter(|path| path.exists()).collect::<Vec<_>>()
    };
    found.extend(folders.into_iter().flat_map(files));
    found.extend(names.iter().map(PathBuf::from));
    if cfg!(unix) {
        found.extend(files(PathBuf::from("/opt/rocm/lib")));
    }
    found.push(PathBuf::from(runtime));
    found
}

/// Returns a text that identifies the hiprtc that [`driver_library`] would open, without opening it. The text is part
/// of a cache key.
pub fn identity(runtime: &str, hints: &[PathBuf], settings: &Settings) -> String {
    format!("hiprtc\n{}", identity_of_first(&candidates(runtime, hints, settings), settings))
}

/// Opens the first usable hiprtc library of the search.
///
/// # Errors
/// `Unavailable` with all names that were tried and the package to install.
pub fn open(runtime: &str, hints: &[PathBuf], settings: &Settings) -> Result<Library> {
    let mut attempts: Vec<Attempt> = Vec::new();
    for candidate in candidates(runtime, hints, settings) {
        let Some(name) = candidate.to_str() else { continue };
        match Library::open(&[name]) {
            // The runtime library always exists, but not every version of it contains hiprtc's functions.
            Ok(library) if library.has("hiprtcVersion") => return Ok(library),
            Ok(_) => attempts.push(Attempt { name: name.to_owned(), error: "it has no hiprtcVersion".to_owned() }),
            Err(failed) => attempts.extend(failed),
        }
    }
    Err(not_found(&attempts))
}

fn not_found(attempts: &[Attempt]) -> Error {
    let mut text = String::from(
        "hiprtc, the library that compiles kernels, was not found; it is a part of ROCm: install its package hiprtc or \
         hip-runtime-amd, or set ROCM_PATH to where ROCm is; searched:",
    );
    for attempt in attempts {
        text.push_str(&format!("\n  {}: {}", attempt.name, attempt.error));
    }
    Error::Unavailable(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    #[cfg(unix)]
    fn hiprtc_of_runtime_version_is_tried_first_and_runtime_last() {
        assert_eq!(names("/x/libamdhip64.so.6")[..2], ["libhiprtc.so.6", "libhiprtc.so.7"]);
        assert_eq!(names("/x/libamdhip64.so.7.2.53211")[0], "libhiprtc.so.7");
        let hints = [PathBuf::from("/a/libhiprtc.so.5")];
        let order = candidates("/x/libamdhip64.so.6", &hints, &Settings::default());
        assert_eq!(order.first(), hints.first());
        assert_eq!(order.last().unwrap(), Path::new("/x/libamdhip64.so.6"));
    }

    #[test]
    fn missing_hiprtc_error_names_variable_and_searched_paths() {
        let attempts = [Attempt { name: "/x/libhiprtc.so.7".into(), error: "no such file".into() }];
        let text = not_found(&attempts).to_string();
        for part in ["ROCM_PATH", "/x/libhiprtc.so.7: no such file"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
