//! Opens the vendors' mathematical libraries. Each library is opened on first use and never closed.
//!
//! Each library has an entry here with both vendors' names, and a file with the list of its functions under both
//! vendors' names. A library is searched for among the libraries that are already open in the process, in locations
//! that the caller provides (`hints`: wheels, conda environments), in the toolkit's folder, and through the system's
//! loader. The names that were tried are stored for `show_config`.

mod blas;
pub mod fft;
mod object_pool;
mod open_libraries;
pub mod profiler_ranges;
mod rand;
mod solver;

use std::path::{Path, PathBuf};

use open_libraries::OpenLibraries;

use super::{Attempt, BackendKind, Library};
use pygpu_base::error::{DriverError, Error, Result};
use pygpu_base::fork_safe::{ForkSafeMutex, ForkSafeOnce};
use pygpu_base::log_queue::{self, LogLevel};
use pygpu_base::settings::{self, Settings, Variable};
use pygpu_base::small_sort;

pub use blas::{Blas, BlasHandle, BlasWorkspace, Gemm, GemmType, Matrix, Operation, Outcome, blas, opened_blas};
pub use object_pool::{HandleKey, ObjectPool};
pub use rand::{Rand, SobolTable, rand};
pub use solver::{ArrayRole, Element, Factorization, FactorizationKind, IDLE_HANDLES, Solver, open_solver, solver};

/// Declares a library's `Functions`, each under both vendors' names; a function is `None` if the opened library is
/// too old to have it.
macro_rules! functions {
    ($($name:ident: $type:ty = $cuda:literal, $hip:literal;)*) => {
        struct Functions {
            $($name: Option<$type>,)*
        }

        impl Functions {
            /// Looks up the functions in the library.
            ///
            /// # Safety
            /// `library` is the library of the vendor of `kind`.
            unsafe fn of(library: &Library, kind: BackendKind) -> Self {
                let is_hip = kind == BackendKind::Hip;
                Self {
                    // SAFETY: the signatures are those of both vendors' headers.
                    $($name: unsafe { library.get(if is_hip { $hip } else { $cuda }) },)*
                }
            }
        }
    };
}

use functions;

/// Names of a library that both vendors provide.
pub struct LibrarySpec {
    /// Names of NVIDIA's and AMD's library in messages.
    pub names: [&'static str; 2],
    /// NVIDIA's file names by CUDA major version, newest first.
    cuda: &'static [(i32, &'static str)],
    /// AMD's file names, newest first.
    hip: &'static [&'static str],
    /// Name of AMD's package to install, for messages.
    package: &'static str,
}

/// Result of the search for a library, for reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryReport {
    /// Name of the library.
    pub name: &'static str,
    /// Path of the opened file; `None` if none could be opened.
    pub path: Option<String>,
    /// Failed attempts to open the library.
    pub attempts: Vec<Attempt>,
}

static LOOKED_FOR: ForkSafeMutex<Vec<LibraryReport>> = ForkSafeMutex::new(Vec::new());

/// Returns the libraries that were searched for so far, each with the result of its last search.
pub fn libraries() -> Vec<LibraryReport> {
    LOOKED_FOR.lock().clone()
}

fn record(report: LibraryReport) {
    match &report.path {
        Some(path) => log_queue::log(LogLevel::Debug, || format!("opened {path} as {}", report.name)),
        None => log_queue::log(LogLevel::Info, || {
            let tried: Vec<_> = report.attempts.iter().map(|attempt| attempt.name.as_str()).collect();
            format!("{} was not found; searched {}", report.name, tried.join(", "))
        }),
    }
    let mut known = LOOKED_FOR.lock();
    known.retain(|other| other.name != report.name);
    known.push(report);
}

impl LibrarySpec {
    /// Returns the name of NVIDIA's or AMD's library, for messages.
    pub const fn name(&self, kind: BackendKind) -> &'static str {
        match kind {
            BackendKind::Hip => self.names[1],
            _ => self.names[0],
        }
    }

    /// Returns the file names in order of preference for a driver version: a library of a newer CUDA version may need
    /// functions that the driver lacks.
    fn files(&self, kind: BackendKind, driver: i32) -> Vec<&'static str> {
        if kind == BackendKind::Hip {
            return self.hip.to_vec();
        }
        let mut files = self.cuda.to_vec();
        small_sort::sort_by_key(&mut files, |&(major, _)| (major > driver / 1000, -major));
        let mut names: Vec<_> = files.into_iter().map(|(_, name)| name).collect();
        names.dedup();
        names
    }

    fn candidates(&self, kind: BackendKind, driver: i32, hints: &[PathBuf], settings: &Settings) -> Vec<PathBuf> {
        let files = self.files(kind, driver);
        let place = |path: &PathBuf| -> usize {
            let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            files.iter().position(|name| *name == file).unwrap_or(files.len())
        };
        // Only those of the caller's files (`hints`) are used that have one of this library's file names, because other
        // files may belong to the other vendor's library.
        let mut found: Vec<_> = hints.iter().filter(|path| place(path) < files.len()).cloned().collect();
        small_sort::sort_by_key(&mut found, place); // a stable sort: files of equal name keep the caller's order
        let (homes, usual): (&[Variable], _) = match kind {
            BackendKind::Hip => (&[Variable::ROCM_PATH, Variable::HIP_PATH], "/opt/rocm/lib"),
            _ => (&[Variable::CUDA_HOME, Variable::CUDA_PATH], "/usr/local/cuda/lib64"),
        };
        let within = |folder: &Path| -> Vec<PathBuf> {
            files.iter().map(|name| folder.join(name)).filter(|path| path.exists()).collect()
        };
        for root in settings.folders(homes) {
            for folder in ["lib64", "lib", "targets/x86_64-linux/lib", "bin"] {
                found.extend(within(&root.join(folder)));
            }
        }
        found.extend(files.iter().map(PathBuf::from));
        found.extend(within(Path::new(usual)));
        found
    }

    /// Opens the first file of the search that the system's loader accepts. If the user has named a file, only this
    /// file is tried.
    ///
    /// # Errors
    /// `Unavailable` with the package to install and all names that were tried.
    fn open(&self, kind: BackendKind, driver: i32, places: &SearchPaths) -> Result<Library> {
        self.find(kind, driver, places).map_err(|attempts| self.not_found(kind, driver, &attempts))
    }

    /// Opens the library like [`Self::open`], but returns the failed attempts, for a caller that writes its own error
    /// message.
    fn find(&self, kind: BackendKind, driver: i32, places: &SearchPaths) -> std::result::Result<Library, Vec<Attempt>> {
        let mut attempts: Vec<Attempt> = Vec::new();
        let opened = match &places.named {
            Some(named) => first(std::slice::from_ref(named), &mut attempts),
            None => in_process(&self.files(kind, driver))
                .or_else(|| first(&self.candidates(kind, driver, &places.hints, settings::get()), &mut attempts)),
        };
        record(LibraryReport {
            name: self.name(kind),
            path: opened.as_ref().map(|library| library.name().to_owned()),
            attempts: attempts.clone(),
        });
        opened.ok_or(attempts)
    }

    fn not_found(&self, kind: BackendKind, driver: i32, attempts: &[Attempt]) -> Error {
        let advice = match kind {
            BackendKind::Hip => {
                format!("it is a part of ROCm: install its package {}, or set ROCM_PATH to where ROCm is", self.package)
            }
            _ => {
                let extra = if driver >= 13000 { "cuda13-math" } else { "cuda12-math" };
                format!("install it with: pip install \"PyGPU[{extra}]\", or set CUDA_HOME to a CUDA toolkit")
            }
        };
        let mut text = format!("{} was not found; {advice}; searched:", self.name(kind));
        for attempt in attempts {
            text.push_str(&format!("\n  {}: {}", attempt.name, attempt.error));
        }
        Error::Unavailable(text)
    }

    /// Creates the error of a failed call of the library in `path`, with its code and the name of the code.
    #[cold]
    fn refusal(&self, kind: BackendKind, path: &str, operation: &'static str, (code, name): (u32, String)) -> Error {
        Error::Driver(Box::new(DriverError {
            operation,
            code,
            name,
            text: format!("{} refused the call", self.name(kind)),
            device: String::new(),
            detail: path.to_owned(),
        }))
    }
}

/// Files to try in the search for a library, as provided by the caller.
#[derive(Default)]
pub struct SearchPaths {
    /// The only file to try, if the user named one.
    pub named: Option<PathBuf>,
    /// Files to try first, before other locations.
    pub hints: Vec<PathBuf>,
}

/// Function that returns the files to try for a library. `name` is NVIDIA's name of the library.
pub type LibrarySearch = fn(name: &str) -> SearchPaths;

static SEARCH: ForkSafeOnce<LibrarySearch> = ForkSafeOnce::new();

/// Registers the function that returns search paths; later calls have no effect. The backend calls the function for
/// libraries that it opens without search paths from its caller (BLAS, NVTX).
pub fn search_with(search: LibrarySearch) {
    SEARCH.set(search);
}

fn places_of(name: &str) -> SearchPaths {
    SEARCH.get().map(|search| search(name)).unwrap_or_default()
}

fn first(candidates: &[PathBuf], attempts: &mut Vec<Attempt>) -> Option<Library> {
    for candidate in candidates {
        let Some(name) = candidate.to_str() else { continue };
        match Library::open(&[name]) {
            Ok(library) => return Some(library),
            Err(failed) => attempts.extend(failed),
        }
    }
    None
}

/// Returns a library that other code of the process has already opened. Opening another file would create a second copy
/// with a separate state.
#[cfg(unix)]
fn in_process(names: &[&'static str]) -> Option<Library> {
    names.iter().find_map(|name| {
        let flags = libc::RTLD_NOLOAD | libc::RTLD_NOW;
        // SAFETY: with this flag the loader only checks whether the library is open, so no code runs.
        let is_open = unsafe { libloading::os::unix::Library::open(Some(*name), flags) }.is_ok();
        if is_open { Library::open(&[name]).ok() } else { None }
    })
}

#[cfg(not(unix))]
fn in_process(_names: &[&'static str]) -> Option<Library> {
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    const NOUN: LibrarySpec = LibrarySpec {
        names: ["cuNone", "hipNone"],
        cuda: &[(13, "libcunone.so.13"), (12, "libcunone.so.12")],
        hip: &["libhipnone.so.1"],
        package: "hipnone",
    };

    #[test]
    fn driver_version_decides_which_library_is_tried_first() {
        assert_eq!(NOUN.files(BackendKind::Cuda, 12080), ["libcunone.so.12", "libcunone.so.13"]);
        assert_eq!(NOUN.files(BackendKind::Cuda, 13000), ["libcunone.so.13", "libcunone.so.12"]);
        let hints = ["/b/libcunone.so.13", "/a/libcunone.so.12"].map(PathBuf::from);
        let found = NOUN.candidates(BackendKind::Cuda, 12080, &hints, &Settings::default());
        assert_eq!(&found[..2], ["/a/libcunone.so.12", "/b/libcunone.so.13"].map(PathBuf::from));
        assert!(found.contains(&PathBuf::from("libcunone.so.12")));
    }

    #[test]
    fn missing_library_error_names_package_and_searched_paths() {
        let places = SearchPaths { named: Some("/x/libcunone.so".into()), hints: Vec::new() };
        let text = NOUN.open(BackendKind::Cuda, 12080, &places).unwrap_err().to_string();
        for part in ["cuNone was not found", "PyGPU[cuda12-math]", "/x/libcunone.so: "] {
            assert!(text.contains(part), "{text}");
        }
        let reports = libraries();
        let report = reports.iter().find(|report| report.name == "cuNone").unwrap();
        assert_eq!((report.path.as_ref(), report.attempts.len()), (None, 1));
        let text = NOUN.open(BackendKind::Hip, 0, &SearchPaths::default()).unwrap_err().to_string();
        assert!(text.contains("hipNone was not found; it is a part of ROCm: install its package hipnone"), "{text}");
    }
}
