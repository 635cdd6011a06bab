//! Searches for NVRTC: in files that the caller provides, in the toolkit's folder, and by the system's loader.
//!
//! At the first compilation NVRTC opens its library of built-in declarations by the bare file name. The loader does not
//! find this library in a wheel's folder, unless the library is already open. Therefore PyGPU first opens the library
//! by its full path, from NVRTC's folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cuda_and_hip::loader::file_identity::identity_of_first;
use crate::{Attempt, Library};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings::{Settings, Variable};
use pygpu_base::small_sort;

/// File names of NVRTC by CUDA major version, newest first.
#[cfg(not(windows))]
const NAMES: [(i32, &str); 2] = [(13, "libnvrtc.so.13"), (12, "libnvrtc.so.12")];
#[cfg(windows)]
const NAMES: [(i32, &str); 2] = [(13, "nvrtc64_130_0.dll"), (12, "nvrtc64_120_0.dll")];

#[cfg(not(windows))]
const BUILTINS: &str = "libnvrtc-builtins.so";
#[cfg(windows)]
const BUILTINS: &str = "nvrtc-builtins64";

/// Environment variables that contain the folder of a CUDA toolkit.
const HOMES: [Variable; 2] = [Variable::CUDA_HOME, Variable::CUDA_PATH];

/// Returns the library names in order of preference for a driver version. An image that was compiled by a newer CUDA
/// version than that of the driver may fail to load.
fn names(driver: i32) -> Vec<&'static str> {
    let fits = |major: i32| major <= driver / 1000;
    let mut names: Vec<_> = NAMES.to_vec();
    small_sort::sort_by_key(&mut names, |&(major, _)| (!fits(major), -major));
    names.into_iter().map(|(_, name)| name).collect()
}

/// Returns all file paths and names under which to search for NVRTC, in order. If an environment variable names a file,
/// returns only this file.
pub fn candidates(driver: i32, hints: &[PathBuf], settings: &Settings) -> Vec<PathBuf> {
    if let Some(file) = settings.filled(Variable::NVRTC) {
        return vec![PathBuf::from(file)];
    }
    let names = names(driver);
    let suits = |path: &PathBuf| {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        names.iter().position(|name| *name == file).unwrap_or(names.len())
    };
    let mut found: Vec<PathBuf> = hints.to_vec();
    small_sort::sort_by_key(&mut found, suits); // a stable sort: files of equal name keep the caller's order
    for root in settings.folders(&HOMES) {
        for folder in ["lib64", "lib", "targets/x86_64-linux/lib", "bin"] {
            found.extend(names.iter().map(|name| root.join(folder).join(name)).filter(|path| path.exists()));
        }
    }
    found.extend(names.iter().map(PathBuf::from));
    if cfg!(unix) {
        let usual = names.iter().map(|name| Path::new("/usr/local/cuda/lib64").join(name));
        found.extend(usual.filter(|path| path.exists()));
        found.push(PathBuf::from("libnvrtc.so"));
    }
    found
}

/// Returns a text that identifies the NVRTC that [`driver_library`] would open, as part of a cache key: the path of the
/// first existing file, or the search path of the system's loader.
pub fn identity(driver: i32, hints: &[PathBuf], settings: &Settings) -> String {
    let homes: Vec<_> = settings.folders(&HOMES).collect();
    format!(
        "nvrtc for {driver}, headers of {homes:?}\n{}",
        identity_of_first(&candidates(driver, hints, settings), settings)
    )
}

/// Opens the first usable NVRTC library of the search.
///
/// # Errors
/// `Unavailable` with all names that were tried and the package to install.
pub fn open(driver: i32, hints: &[PathBuf], settings: &Settings) -> Result<Library> {
    let mut attempts: Vec<Attempt> = Vec::new();
    for candidate in candidates(driver, hints, settings) {
        open_builtins(&candidate);
        let Some(name) = candidate.to_str() else { continue };
        match Library::open(&[name]) {
            Ok(library) => return Ok(library),
            Err(failed) => attempts.extend(failed),
        }
    }
    Err(match settings.filled(Variable::NVRTC) {
        Some(file) => not_usable(file, &attempts),
        None => not_found(driver, &attempts),
    })
}

/// Opens the library of built-in declarations in the folder of an NVRTC file. A failure is ignored here, because NVRTC
/// reports the failure when it compiles.
fn open_builtins(file: &Path) {
    let Some(folder) = file.parent().filter(|folder| folder.is_absolute()) else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let is_builtins = |name: &str| name.starts_with(BUILTINS) && !name.contains(".alt.");
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_builtins)
            && let Some(path) = entry.path().to_str()
        {
            let _ = Library::open(&[path]);
        }
    }
}

/// Returns the name of the package to install for a driver version.
pub fn advice(driver: i32) -> String {
    let extra = if driver >= 13000 { "cuda13" } else { "cuda12" };
    let other = if driver >= 13000 { "cuda12" } else { "cuda13" };
    format!(
        "install it with: pip install \"PyGPU[{extra}]\" (or \"PyGPU[{other}]\"; the driver serves CUDA {}.{}), or set \
         CUDA_HOME to a CUDA toolkit",
        driver / 1000,
        driver % 1000 / 10
    )
}

fn not_usable(file: &OsStr, attempts: &[Attempt]) -> Error {
    let name = Variable::NVRTC.name();
    let reason = attempts.iter().map(|attempt| attempt.error.as_str()).collect::<Vec<_>>().join("; ");
    Error::Unavailable(format!(
        "NVRTC, the library that compiles kernels, cannot be opened: {name} names the file {}, and no other file is tried \
         ({reason}); correct the name, or unset {name} to search for NVRTC",
        file.display()
    ))
}

fn not_found(driver: i32, attempts: &[Attempt]) -> Error {
    let mut text = format!("NVRTC, the library that compiles kernels, was not found; {}; searched:", advice(driver));
    for attempt in attempts {
        text.push_str(&format!("\n  {}: {}", attempt.name, attempt.error));
    }
    Error::Unavailable(text)
}

/// Returns the header folders that belong to an NVRTC, because NVRTC has no default search path.
pub fn header_folders(library: &str, settings: &Settings) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    if let Some(folder) = Path::new(library).parent().filter(|folder| folder.is_absolute()) {
        // In wheels of CUDA 13 and in conda, lib is next to include. In wheels of CUDA 12, nvidia/cuda_nvrtc/lib is
        // next to nvidia/cuda_runtime/include. In a toolkit, targets/x86_64-linux/lib is next to include.
        roots.extend(folder.parent().map(|root| root.join("include")));
        for wheel in ["cuda_runtime", "cuda_cccl", "curand"] {
            roots.extend(folder.parent().and_then(Path::parent).map(|root| root.join(wheel).join("include")));
        }
    }
    roots.extend(settings.folders(&HOMES).map(|root| root.join("include")));
    if cfg!(unix) {
        roots.push(PathBuf::from("/usr/local/cuda/include"));
    }
    if !roots.iter().any(|root| root.join("cuda_runtime.h").exists()) {
        return Vec::new();
    }
    roots.extend(roots.clone().iter().map(|root| root.join("cccl")));
    let mut folders: Vec<PathBuf> = Vec::new();
    // A toolkit has all headers in one or two folders, whereas each wheel has its own header folder.
    for header in ["cuda_runtime.h", "thrust/complex.h", "cub/cub.cuh", "curand_kernel.h"] {
        if let Some(folder) = roots.iter().find(|root| root.join(header).exists())
            && !folders.contains(folder)
        {
            folders.push(folder.clone());
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn driver_version_decides_which_nvrtc_is_tried_first() {
        assert_eq!(names(12080), ["libnvrtc.so.12", "libnvrtc.so.13"]);
        assert_eq!(names(13000), ["libnvrtc.so.13", "libnvrtc.so.12"]);
        let hints = ["/b/libnvrtc.so.13", "/a/libnvrtc.so.12", "/c/other.so"].map(PathBuf::from);
        let order = candidates(12080, &hints, &Settings::default());
        assert_eq!(&order[..3], ["/a/libnvrtc.so.12", "/b/libnvrtc.so.13", "/c/other.so"].map(PathBuf::from));
        assert!(order.contains(&PathBuf::from("libnvrtc.so.12")));
    }

    #[test]
    fn named_nvrtc_is_only_candidate() {
        let settings = Settings::of([("PYGPU_NVRTC".into(), "/nowhere/nvrtc.so".into())]);
        let hints = [PathBuf::from("/a/libnvrtc.so.12")];
        assert_eq!(candidates(12080, &hints, &settings), [PathBuf::from("/nowhere/nvrtc.so")]);
        let text = open(12080, &hints, &settings).unwrap_err().to_string();
        for part in ["PYGPU_NVRTC names the file /nowhere/nvrtc.so", "unset PYGPU_NVRTC"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn nvrtc_identity_changes_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libnvrtc.so.12");
        let without = identity(12080, std::slice::from_ref(&file), &Settings::default());
        std::fs::write(&file, "one").unwrap();
        let first = identity(12080, std::slice::from_ref(&file), &Settings::default());
        assert_eq!(first, identity(12080, std::slice::from_ref(&file), &Settings::default()));
        std::fs::write(&file, "another").unwrap();
        assert!(first != without && first != identity(12080, std::slice::from_ref(&file), &Settings::default()));
        assert_ne!(first, identity(13000, &[file], &Settings::default()));
    }

    #[test]
    fn missing_nvrtc_error_names_extras_and_searched_paths() {
        let attempts = [Attempt { name: "/x/libnvrtc.so.12".into(), error: "no such file".into() }];
        let text = not_found(12080, &attempts).to_string();
        for part in ["PyGPU[cuda12]", "PyGPU[cuda13]", "CUDA 12.8", "/x/libnvrtc.so.12: no such file"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
