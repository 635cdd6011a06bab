//! Reads the environment variables once and stores them in [`Settings`].
//!
//! `getenv` reads a table that `setenv` moves, and Python's `os.environ[name] = value` calls `setenv` under the GIL. A
//! read without the GIL may therefore access freed memory. Hence no other code in the crates reads the environment, not
//! even through the standard library (temporary folders, the home folder, a child process that inherits the
//! environment); `tests/backend/test_settings.py` verifies this. When the first setting is needed, this module copies
//! the environment, by a function that `python` registers and that runs under the GIL. Later changes of the environment
//! have no effect.
//!
//! Code that initializes a value under a lock reads the settings before taking the lock, because the function that
//! reads the environment may wait for the GIL.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::fork_safe::{ForkSafeMutex, ForkSafeOnce};
use crate::log_queue::{self, LogLevel};

/// Name of an environment variable. Only this file creates values of this type, so that its list of variables is
/// complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variable(&'static str);

#[allow(missing_docs, reason = "docs/environment.md says what each does")]
impl Variable {
    pub const BACKEND: Self = Self("PYGPU_BACKEND");
    pub const BLAS: Self = Self("PYGPU_BLAS");
    pub const CACHE: Self = Self("PYGPU_CACHE");
    pub const CACHE_DIR: Self = Self("PYGPU_CACHE_DIR");
    pub const CACHE_SIZE: Self = Self("PYGPU_CACHE_SIZE");
    pub const CHECK_STREAMS: Self = Self("PYGPU_CHECK_STREAMS");
    pub const CPU_BREAK: Self = Self("PYGPU_CPU_BREAK");
    pub const CPU_DEVICES: Self = Self("PYGPU_CPU_DEVICES");
    pub const CPU_OPTIONS: Self = Self("PYGPU_CPU_OPTIONS");
    pub const CPU_ORDER: Self = Self("PYGPU_CPU_ORDER");
    pub const CUDA_ARRAY_INTERFACE_SYNC: Self = Self("PYGPU_CUDA_ARRAY_INTERFACE_SYNC");
    pub const DEVICE: Self = Self("PYGPU_DEVICE");
    pub const FUSION: Self = Self("PYGPU_FUSION");
    pub const FUSION_COMPILE: Self = Self("PYGPU_FUSION_COMPILE");
    pub const NVRTC: Self = Self("PYGPU_NVRTC");
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

    /// Environment variables that change the output of a compiler program for the same source. Their values are part of
    /// the cache key of a module image.
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

    /// Returns the variable's name.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// A copy of the environment variables.
#[derive(Clone, Default, Debug)]
pub struct Settings {
    variables: HashMap<OsString, OsString>,
}

/// Function that reads the environment variables safely. It returns `None` if Python is shutting down and they cannot
/// be read any more.
pub type EnvironmentReader = fn() -> Option<Vec<(OsString, OsString)>>;

static READER: ForkSafeOnce<EnvironmentReader> = ForkSafeOnce::new();
static SETTINGS: ForkSafeOnce<Settings> = ForkSafeOnce::new();

/// Registers the function that reads the environment variables. Later calls have no effect. Without a registered
/// function, `std::env` reads the variables. The lock inside `std::env` then suffices, because a program without a
/// registered function is assumed to contain only Rust code, which changes the environment through `std::env`.
pub fn read_with(reader: EnvironmentReader) {
    READER.set(reader);
}

/// Returns the settings. They are read at the first call.
#[inline]
pub fn get() -> &'static Settings {
    match SETTINGS.get() {
        Some(settings) => settings,
        None => first(),
    }
}

#[cold]
fn first() -> &'static Settings {
    static NONE: ForkSafeOnce<Settings> = ForkSafeOnce::new();
    let read = match READER.get() {
        Some(reader) => reader(),
        None => Some(std::env::vars_os().collect()),
    };
    // Two threads may read the environment variables at the same time, because no lock is held meanwhile. The result
    // that is stored first is returned to both threads.
    match read {
        Some(variables) => SETTINGS.get_or_init(|| Settings::of(variables)),
        None => NONE.get_or_init(Settings::default),
    }
}

/// Logs a warning, once for each variable, that the value of an environment variable is ignored.
pub fn warn_ignored(variable: Variable, text: &str, expected: &str) {
    static WARNED: ForkSafeMutex<Vec<Variable>> = ForkSafeMutex::new(Vec::new());
    let mut warned = WARNED.lock();
    if !warned.contains(&variable) {
        warned.push(variable);
        log_queue::log(LogLevel::Warning, || {
            format!("{}={text} is ignored: its values are {expected}", variable.name())
        });
    }
}

impl Settings {
    /// Creates settings from environment variables, each passed as a pair of name and value.
    pub fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect() }
    }

    /// Returns the value of an environment variable, which may be empty.
    pub fn get(&self, variable: Variable) -> Option<&OsStr> {
        self.variables.get(OsStr::new(variable.0)).map(OsString::as_os_str)
    }

    /// Returns the value of an environment variable, or `None` if it is empty or not set.
    pub fn filled(&self, variable: Variable) -> Option<&OsStr> {
        self.get(variable).filter(|value| !value.is_empty())
    }

    /// Returns the value of an environment variable as text without surrounding blanks, or `None` if the text is empty.
    pub fn text(&self, variable: Variable) -> Option<String> {
        let text = self.get(variable)?.to_string_lossy().trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Returns true if the variable is `1`, `on`, `true` or `yes`, and false if it is `0`, `off`, `false` or `no`.
    /// Upper and lower case are equivalent. Returns the default if the variable is empty or not set. For any other
    /// value, logs a warning and returns the default.
    pub fn is_on(&self, variable: Variable, default: bool) -> bool {
        let Some(text) = self.text(variable) else { return default };
        match text.to_ascii_lowercase().as_str() {
            "1" | "on" | "true" | "yes" => true,
            "0" | "off" | "false" | "no" => false,
            _ => {
                warn_ignored(
                    variable,
                    &text,
                    if default { "'1' (the default) or '0'" } else { "'0' (the default) or '1'" },
                );
                default
            }
        }
    }

    /// Returns all environment variables, for a child process.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        self.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Returns the folder for temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.filled(Variable::TMPDIR).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from)
    }

    /// Returns whether the disk cache is disabled.
    pub fn cache_is_off(&self) -> bool {
        !self.is_on(Variable::CACHE, true)
    }

    /// Returns the folder of the disk cache, or `None` if the cache is disabled or no folder can be determined.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        match self.filled(Variable::CACHE_DIR) {
            _ if self.cache_is_off() => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None => self.platform_folder().map(|folder| folder.join("PyGPU")),
        }
    }

    /// Returns the platform's folder for caches. PyGPU implements the search, because the usual crate for this purpose
    /// reads environment variables directly, and the wheel does not include its licence.
    fn platform_folder(&self) -> Option<PathBuf> {
        // The XDG specification requires that a path that is not absolute is ignored.
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

    /// Returns the path of a program, given its name without a folder, by a search on `PATH` as in a shell.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = self.get(Variable::PATH)?;
        std::env::split_paths(folders).map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Returns the header folders that the machine's compilers search by default.
    pub fn header_folders(&self) -> Vec<PathBuf> {
        let lists = Variable::HEADER_FOLDERS.into_iter().filter_map(|variable| self.filled(variable));
        lists.flat_map(std::env::split_paths).collect()
    }

    /// Returns, as text, the values of the environment variables that change the output of a compiler program.
    pub fn of_compilers(&self) -> String {
        let set = Variable::OF_COMPILERS.into_iter().filter_map(|variable| Some((variable.0, self.get(variable)?)));
        set.map(|(name, value)| format!("\n{name}={value:?}")).collect()
    }

    /// Returns the folders that the given environment variables name, one folder per variable.
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
    fn empty_variable_counts_as_unset_if_value_is_required() {
        let settings = settings(&[("PYGPU_CACHE", ""), ("CXX", " g++ "), ("TMPDIR", "/there")]);
        assert_eq!(settings.get(Variable::CACHE), Some(OsStr::new("")));
        assert_eq!(settings.filled(Variable::CACHE), None);
        assert_eq!(settings.text(Variable::CXX).as_deref(), Some("g++"));
        assert_eq!(settings.text(Variable::CACHE), None);
        assert_eq!(settings.temporary(), Path::new("/there"));
        assert_eq!(Settings::default().temporary(), Path::new("/tmp"));
    }

    #[test]
    fn switch_has_default_for_absent_and_for_unknown_value() {
        for (text, expected) in
            [("1", true), (" ON ", true), ("yes", true), ("0", false), ("False", false), ("no", false)]
        {
            for default in [true, false] {
                assert_eq!(settings(&[("PYGPU_TF32", text)]).is_on(Variable::TF32, default), expected, "{text}");
            }
        }
        for text in ["", "2", "maybe"] {
            for default in [true, false] {
                assert_eq!(settings(&[("PYGPU_TF32", text)]).is_on(Variable::TF32, default), default, "{text}");
            }
        }
        assert!(settings(&[("PYGPU_CACHE", "off")]).cache_is_off());
        assert!(!settings(&[("PYGPU_CACHE", "offf")]).cache_is_off());
    }

    #[test]
    fn settings_are_read_once() {
        assert!(std::ptr::eq(get(), get()));
    }
}
