//! What the environment says, read once, as one value: the [`Settings`].
//!
//! `getenv` reads a table that `setenv` moves, and Python's `os.environ[name] = value` is a `setenv` of whoever holds the GIL.
//! So nothing else in the crate reads the environment, not even by the standard library's ways that do (temporary folders, the
//! home folder, a child that inherits it): here it is copied, by a reader that Python gives and that runs under the GIL, when
//! the first of the settings is needed. What a program changes later is not seen. `tests/backend/test_settings.py` holds this.
//!
//! Whoever initialises something behind a lock takes the settings before the lock: the reader may wait for the GIL.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::fork_safe::Once;

/// The name of a variable. Only this file makes one, so that the list below is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable(&'static str);

#[allow(missing_docs, reason = "docs/environment.md says what each does")]
impl Variable {
    pub const BACKEND: Self = Self("PYGPU_BACKEND");
    pub const BLAS: Self = Self("PYGPU_BLAS");
    pub const CACHE: Self = Self("PYGPU_CACHE");
    pub const CACHE_DIR: Self = Self("PYGPU_CACHE_DIR");
    pub const CACHE_SIZE: Self = Self("PYGPU_CACHE_SIZE");
    pub const CPU_BREAK: Self = Self("PYGPU_CPU_BREAK");
    pub const CPU_DEVICES: Self = Self("PYGPU_CPU_DEVICES");
    pub const CPU_OPTIONS: Self = Self("PYGPU_CPU_OPTIONS");
    pub const CPU_ORDER: Self = Self("PYGPU_CPU_ORDER");
    pub const CUDA_ARRAY_INTERFACE_SYNC: Self = Self("PYGPU_CUDA_ARRAY_INTERFACE_SYNC");
    pub const DEVICE: Self = Self("PYGPU_DEVICE");
    pub const FUSION: Self = Self("PYGPU_FUSION");
    pub const FUSION_COMPILE: Self = Self("PYGPU_FUSION_COMPILE");
    pub const OWN_CXX: Self = Self("PYGPU_CXX");
    pub const PINNED_LIMIT: Self = Self("PYGPU_PINNED_LIMIT");
    pub const PROFILE: Self = Self("PYGPU_PROFILE");
    pub const RECYCLE: Self = Self("PYGPU_RECYCLE");
    pub const STAGING_CHUNK: Self = Self("PYGPU_STAGING_CHUNK");
    pub const STAGING_THREADS: Self = Self("PYGPU_STAGING_THREADS");
    pub const STAGING_THRESHOLD: Self = Self("PYGPU_STAGING_THRESHOLD");
    pub const STRICT: Self = Self("PYGPU_STRICT");
    pub const STRIDED_COPY: Self = Self("PYGPU_STRIDED_COPY");
    pub const TF32: Self = Self("PYGPU_TF32");
    pub const CUDA_HOME: Self = Self("CUDA_HOME");
    pub const CUDA_PATH: Self = Self("CUDA_PATH");
    pub const CUDA_VISIBLE_DEVICES: Self = Self("CUDA_VISIBLE_DEVICES");
    pub const CXX: Self = Self("CXX");
    pub const HIP_PATH: Self = Self("HIP_PATH");
    pub const HIP_VISIBLE_DEVICES: Self = Self("HIP_VISIBLE_DEVICES");
    pub const HOME: Self = Self("HOME");
    pub const LD_LIBRARY_PATH: Self = Self("LD_LIBRARY_PATH");
    pub const LOCALAPPDATA: Self = Self("LOCALAPPDATA");
    pub const PATH: Self = Self("PATH");
    pub const ROCM_PATH: Self = Self("ROCM_PATH");
    pub const ROCR_VISIBLE_DEVICES: Self = Self("ROCR_VISIBLE_DEVICES");
    pub const TMPDIR: Self = Self("TMPDIR");
    pub const XDG_CACHE_HOME: Self = Self("XDG_CACHE_HOME");

    /// What changes the meaning of a source to a compiler that is a program: part of what an image is kept under.
    const OF_COMPILERS: [Self; 13] = [
        Self::CPU_OPTIONS,
        Self("CPATH"),
        Self("C_INCLUDE_PATH"),
        Self("CPLUS_INCLUDE_PATH"),
        Self("LIBRARY_PATH"),
        Self("GCC_EXEC_PREFIX"),
        Self("COMPILER_PATH"),
        Self("CCC_OVERRIDE_OPTIONS"),
        Self("NVCC_PREPEND_FLAGS"),
        Self("NVCC_APPEND_FLAGS"),
        Self("NVCC_CCBIN"),
        Self("HIPCC_COMPILE_FLAGS_APPEND"),
        Self("HIP_CLANG_PATH"),
    ];
    const HEADER_FOLDERS: [Self; 3] = [Self("CPATH"), Self("C_INCLUDE_PATH"), Self("CPLUS_INCLUDE_PATH")];

    /// The name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// A copy of the environment.
#[derive(Clone, Default, Debug)]
pub struct Settings {
    variables: HashMap<OsString, OsString>,
}

/// Reads the environment where that is safe; `None` where it cannot be read any more.
pub type Reader = fn() -> Option<Vec<(OsString, OsString)>>;

static READER: Once<Reader> = Once::new();
static SETTINGS: Once<Settings> = Once::new();

/// Says who reads; the first one stays. Without one the standard library's lock is trusted: all of the program is Rust.
pub fn read_with(reader: Reader) {
    READER.set(reader);
}

/// The settings, as they were when they were first asked for.
#[inline]
pub fn get() -> &'static Settings {
    match SETTINGS.get() {
        Some(settings) => settings,
        None => first(),
    }
}

#[cold]
fn first() -> &'static Settings {
    static NONE: Once<Settings> = Once::new();
    let read = match READER.get() {
        Some(reader) => reader(),
        None => Some(std::env::vars_os().collect()),
    };
    // Two threads may both have read: they wait for nobody while they do, and the first one's is kept.
    match read {
        Some(variables) => SETTINGS.get_or_init(|| Settings::of(variables)),
        None => NONE.get_or_init(Settings::default),
    }
}

impl Settings {
    /// The settings of an environment.
    pub fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect() }
    }

    /// The value of a variable, which may be empty.
    pub fn get(&self, variable: Variable) -> Option<&OsStr> {
        self.variables.get(OsStr::new(variable.0)).map(OsString::as_os_str)
    }

    /// The value of a variable; an empty one counts as none.
    pub fn filled(&self, variable: Variable) -> Option<&OsStr> {
        self.get(variable).filter(|value| !value.is_empty())
    }

    /// The value as text without blanks around it; an empty one counts as none.
    pub fn text(&self, variable: Variable) -> Option<String> {
        let text = self.get(variable)?.to_string_lossy().trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// All of it, for a child process.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        self.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Where temporary files go.
    pub fn temporary(&self) -> PathBuf {
        self.filled(Variable::TMPDIR).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
    }

    /// Whether nothing is to be kept for later processes.
    pub fn cache_is_off(&self) -> bool {
        self.filled(Variable::CACHE).is_some_and(|value| value == "0" || value.eq_ignore_ascii_case("off"))
    }

    /// Where what can be made again is kept for later processes; `None` where that is switched off or there is no such place.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        match self.filled(Variable::CACHE_DIR) {
            _ if self.cache_is_off() => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None => self.platform_folder().map(|folder| folder.join("PyGPU")),
        }
    }

    /// Where programs of this platform keep such things. A few lines: the crate for it brings a licence that the wheel does not have,
    /// and reads the environment.
    fn platform_folder(&self) -> Option<PathBuf> {
        // The specification says to ignore a path that is not absolute.
        let named = |variable| self.get(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
        if cfg!(windows) {
            return named(Variable::LOCALAPPDATA);
        }
        match named(Variable::XDG_CACHE_HOME) {
            Some(folder) => Some(folder),
            None if cfg!(target_os = "macos") => named(Variable::HOME).map(|home| home.join("Library/Caches")),
            None => named(Variable::HOME).map(|home| home.join(".cache")),
        }
    }

    /// The file of a program that is named without a folder, as a shell finds it.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.get(Variable::PATH)?;
        std::env::split_paths(folders).map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Folders of headers that the machine's compilers look into unasked.
    pub fn header_folders(&self) -> Vec<PathBuf> {
        let lists = Variable::HEADER_FOLDERS.into_iter().filter_map(|variable| self.filled(variable));
        lists.flat_map(std::env::split_paths).collect()
    }

    /// What changes the meaning of a source to a compiler that is a program.
    pub fn of_compilers(&self) -> String {
        let set = Variable::OF_COMPILERS.into_iter().filter_map(|variable| Some((variable.0, self.get(variable)?)));
        set.map(|(name, value)| format!("\n{name}={value:?}")).collect()
    }

    /// Folders that variables name.
    pub fn folders<'a>(&'a self, variables: &'a [Variable]) -> impl Iterator<Item = &'a Path> {
        variables.iter().filter_map(|variable| self.filled(*variable)).map(Path::new)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        Settings::of(pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))))
    }

    #[test]
    fn an_empty_variable_counts_as_none_where_a_value_is_wanted() {
        let settings = settings(&[("PYGPU_CACHE", ""), ("CXX", " g++ "), ("TMPDIR", "/there")]);
        assert_eq!(settings.get(Variable::CACHE), Some(OsStr::new("")));
        assert_eq!(settings.filled(Variable::CACHE), None);
        assert_eq!(settings.text(Variable::CXX).as_deref(), Some("g++"));
        assert_eq!(settings.text(Variable::CACHE), None);
        assert_eq!(settings.temporary(), Path::new("/there"));
        assert_eq!(Settings::default().temporary(), Path::new("/tmp"));
    }

    #[test]
    fn what_was_read_first_is_what_there_is() {
        assert!(std::ptr::eq(get(), get()));
    }
}
