//! Opens a vendor's library at run time, and records failed attempts with their reasons.
//!
//! An opened library is never closed: a driver starts threads and installs exit handlers, and closing the library would
//! unmap their code. A missing library or symbol is an error or a `None`, never a panic.

pub mod file_identity;

use std::ffi::c_void;
use std::mem::ManuallyDrop;

/// A failed attempt to open a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The name that was passed to the system's loader.
    pub name: String,
    /// The loader's message.
    pub error: String,
}

/// An opened library, which is never closed.
#[derive(Debug)]
pub struct Library {
    handle: ManuallyDrop<libloading::Library>,
    name: String,
    attempts: Vec<Attempt>,
}

impl Library {
    /// Opens the first of the given files or names that the system's loader accepts.
    ///
    /// # Errors
    /// Every candidate with the loader's reason, if none could be opened.
    pub fn open(candidates: &[&str]) -> Result<Self, Vec<Attempt>> {
        let mut attempts = Vec::new();
        for &name in candidates {
            // SAFETY: opening runs the library's initialisers; the candidates are vendor drivers, which are meant to
            // be loaded at run time.
            match unsafe { libloading::Library::new(name) } {
                Ok(handle) => {
                    return Ok(Self { handle: ManuallyDrop::new(handle), name: name.to_owned(), attempts });
                }
                Err(error) => attempts.push(Attempt { name: name.to_owned(), error: reason(&error) }),
            }
        }
        Err(attempts)
    }

    /// Returns the name by which the library was opened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the attempts that failed before this library was opened.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Returns a function of the library, or `None` if the symbol is missing.
    ///
    /// # Safety
    /// `T` is the function pointer type of the symbol.
    pub unsafe fn get<T: Copy>(&self, symbol: &str) -> Option<T> {
        // This assertion fails at compile time if `T` is not as wide as a pointer.
        const { assert!(size_of::<T>() == size_of::<*mut c_void>(), "a symbol is one pointer wide") };
        // SAFETY: the caller guarantees that the symbol has the type `T`; the library is never closed, so the copy
        // stays valid.
        unsafe { self.handle.get::<T>(symbol) }.ok().map(|found| *found)
    }

    /// Returns whether the library has a symbol.
    pub fn has(&self, symbol: &str) -> bool {
        // SAFETY: the symbol is only looked up; its address is not used.
        unsafe { self.get::<*const c_void>(symbol) }.is_some()
    }

    /// Returns the file that contains `symbol`, or the name by which the library was opened if the system does not
    /// report the file. The path distinguishes a toolkit's stub library from the driver.
    pub fn path(&self, symbol: &str) -> String {
        // SAFETY: the address is only looked up, never called.
        let address = unsafe { self.get::<*const c_void>(symbol) };
        address.and_then(file_of).unwrap_or_else(|| self.name.clone())
    }
}

/// Returns the system's message, which `libloading` stores as the source of its error.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(unix)]
fn file_of(address: *const c_void) -> Option<String> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: `info` is writable; the system only compares `address` with the mapped ranges.
    let found = unsafe { libc::dladdr(address, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: on success the name is a C string that lives as long as the library, which is never closed.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    Some(name.to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn file_of(_address: *const c_void) -> Option<String> {
    None
}

/// Expands a list of functions into the table `Api` of their addresses. A function returns its status code as `u32`,
/// unless the list has another type. A status code is an integer, because a code that the Rust enum lacks would be an
/// invalid enum value, which is undefined behaviour.
macro_rules! symbol_table {
    (@output) => { u32 };
    (@output $output:ty) => { $output };
    (
        required { $(fn $name:ident($($arg:ident: $type:ty),*) $(-> $output:ty)?;)* }
        optional { $(fn $extra:ident($($extra_arg:ident: $extra_type:ty),*);)* }
    ) => {
        /// The addresses of the driver's functions, under their exported names.
        #[allow(non_snake_case, missing_docs)]
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($arg: $type),*) -> symbol_table!(@output $($output)?),)*
            $(pub $extra: Option<unsafe extern "C" fn($($extra_arg: $extra_type),*) -> u32>,)*
        }

        impl Api {
            /// Looks up each listed function in the library.
            ///
            /// # Errors
            /// The names of the required functions that the library lacks.
            ///
            /// # Safety
            /// The library is the driver whose functions are listed.
            pub unsafe fn load(library: &$crate::Library) -> std::result::Result<Self, Vec<&'static str>> {
                let required = [$(stringify!($name)),*];
                let missing: Vec<_> = required.into_iter().filter(|name| !library.has(name)).collect();
                if !missing.is_empty() {
                    return Err(missing);
                }
                Ok(Self {
                    // SAFETY: the signatures are those of the vendor's header; a test compares them.
                    $($name: unsafe { library.get(stringify!($name)) }.ok_or(vec![stringify!($name)])?,)*
                    // SAFETY: the signatures are those of the vendor's header; a test compares them.
                    $($extra: unsafe { library.get(stringify!($extra)) },)*
                })
            }
        }
    };
}
pub(crate) use symbol_table;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn every_missing_candidate_is_recorded_with_a_reason() {
        let attempts = Library::open(&["libpygpu-none.so.1", "libpygpu-none.so"]).unwrap_err();
        assert_eq!(
            attempts.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(),
            ["libpygpu-none.so.1", "libpygpu-none.so"]
        );
        assert!(attempts.iter().all(|a| a.error.contains("libpygpu-none")), "{attempts:?}");
    }

    #[test]
    fn empty_candidate_list_fails_without_attempts() {
        assert!(Library::open(&[]).unwrap_err().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn open_library_reports_its_symbols_and_file() {
        let library = Library::open(&["libpygpu-none.so", "libc.so.6"]).unwrap();
        assert_eq!((library.name(), library.attempts().len()), ("libc.so.6", 1));
        assert!(library.has("getpid") && !library.has("getpid_of_pygpu"));
        // SAFETY: this is the C library's signature of the function.
        let getpid = unsafe { library.get::<unsafe extern "C" fn() -> i32>("getpid") }.unwrap();
        // SAFETY: `getpid` has no preconditions.
        assert_eq!(unsafe { getpid() } as u32, std::process::id());
        assert!(library.path("getpid").contains("libc"), "{}", library.path("getpid"));
        assert_eq!(library.path("getpid_of_pygpu"), "libc.so.6");
    }
}
