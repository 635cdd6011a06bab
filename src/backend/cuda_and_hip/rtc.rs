//! Compiles device code by NVRTC or hiprtc. hiprtc has NVRTC's functions under other names, and the same error codes.
//!
//! This module owns the library's program object during one compilation. It does not interpret options and does not
//! search for libraries.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};

use crate::includes::{self, IncludeSearch};
use crate::{CompileOption, CompileRequest};
use pygpu_base::error::{CompileError, DriverError, Error, Result};

/// Handle of a program (a source to compile) in either library.
pub type RtcHandle = *mut c_void;

/// A function of the compiler library, and its name for error messages.
type NamedSymbol<F> = (F, &'static str);
type OfProgram<T> = unsafe extern "C" fn(RtcHandle, T) -> u32;
type Create = unsafe extern "C" fn(
    *mut RtcHandle,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> u32;

/// The functions that both NVRTC and hiprtc have.
pub struct RtcFunctions {
    /// Prefix of the names of the compiler library's error codes: `NVRTC` or `HIPRTC`.
    pub prefix: &'static str,
    pub create: NamedSymbol<Create>,
    pub destroy: unsafe extern "C" fn(*mut RtcHandle) -> u32,
    pub add_name: NamedSymbol<OfProgram<*const c_char>>,
    pub lowered: NamedSymbol<unsafe extern "C" fn(RtcHandle, *const c_char, *mut *const c_char) -> u32>,
    pub compile: NamedSymbol<unsafe extern "C" fn(RtcHandle, c_int, *const *const c_char) -> u32>,
    pub log_size: OfProgram<*mut usize>,
    pub log: NamedSymbol<OfProgram<*mut c_char>>,
}

/// Collects the functions of a library's table in an `RtcFunctions`. The functions' names begin with the given prefix.
macro_rules! calls {
    ($api:expr, $prefix:literal, $create:ident, $destroy:ident, $add:ident, $lowered:ident, $compile:ident, $size:ident, $log:ident) => {
        $crate::cuda_and_hip::rtc::RtcFunctions {
            prefix: $prefix,
            create: ($api.$create, stringify!($create)),
            destroy: $api.$destroy,
            add_name: ($api.$add, stringify!($add)),
            lowered: ($api.$lowered, stringify!($lowered)),
            compile: ($api.$compile, stringify!($compile)),
            log_size: $api.$size,
            log: ($api.$log, stringify!($log)),
        }
    };
}
pub(crate) use calls;

pub const SUCCESS: u32 = 0;
const OUT_OF_MEMORY: u32 = 1;
pub const INVALID_OPTION: u32 = 5;
pub const COMPILATION: u32 = 6;
const BUILTIN: u32 = 7;

/// Names of the compiler library's error codes without the prefix. The index in this list is the code.
const CODES: [&str; 13] = [
    "SUCCESS",
    "ERROR_OUT_OF_MEMORY",
    "ERROR_PROGRAM_CREATION_FAILURE",
    "ERROR_INVALID_INPUT",
    "ERROR_INVALID_PROGRAM",
    "ERROR_INVALID_OPTION",
    "ERROR_COMPILATION",
    "ERROR_BUILTIN_OPERATION_FAILURE",
    "ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "ERROR_NAME_EXPRESSION_NOT_VALID",
    "ERROR_INTERNAL_ERROR",
    "ERROR_TIME_FILE_WRITE_FAILED",
];

pub fn check(prefix: &str, code: u32, operation: &'static str) -> Result<()> {
    if code == SUCCESS { Ok(()) } else { Err(refusal(prefix, code, operation, String::new())) }
}

#[cold]
pub fn refusal(prefix: &str, code: u32, operation: &'static str, detail: String) -> Error {
    let name = format!("{prefix}_{}", CODES.get(code as usize).copied().unwrap_or("ERROR"));
    let text = match code {
        OUT_OF_MEMORY => "no host memory".to_owned(),
        BUILTIN => "the library of built-in declarations could not be opened".to_owned(),
        _ => format!("{prefix} refused"),
    };
    Error::Driver(Box::new(DriverError { operation, code, name, text, device: String::new(), detail }))
}

/// Creates the error of a failed compilation. `compiler` is the compiler's name and version.
#[cold]
pub fn failure(
    calls: &RtcFunctions,
    code: u32,
    compiler: String,
    request: &CompileRequest<'_>,
    options: Vec<String>,
    log: String,
) -> Error {
    match code {
        COMPILATION => Error::Compile(Box::new(CompileError {
            compiler,
            options,
            name: request.name.to_owned(),
            source: request.source.to_owned(),
            log,
        })),
        INVALID_OPTION => {
            Error::value(format!("{compiler} does not take an option of {}: {}", options.join(" "), log.trim()))
        }
        code => refusal(calls.prefix, code, calls.compile.1, format!("{compiler}: {}", log.trim())),
    }
}

/// Returns whether the source may include files, even if it spells `#` as a digraph or continues the line of the
/// directive.
pub fn may_include(request: &CompileRequest<'_>) -> bool {
    let is_forced = request.options.iter().any(|option| matches!(option, CompileOption::ForceInclude(_)));
    is_forced || includes::names(request.source.as_bytes()).is_none_or(|names| !names.is_empty())
}

/// Returns the folders in which the compiler library searches for headers: the folder in the source's name, the folders
/// in the options, and the library's own folders. Returns `None` if an unknown option may name a file.
pub fn places<'a>(request: &CompileRequest<'a>, own: &[PathBuf]) -> Option<IncludeSearch<'a>> {
    let mut search = IncludeSearch { own: vec![PathBuf::new()], folders: Vec::new(), before: Vec::new() };
    search.own.extend(Path::new(request.name).parent().map(Path::to_path_buf));
    for option in request.options {
        match option {
            CompileOption::Include(folder) => search.folders.push(PathBuf::from(folder)),
            CompileOption::ForceInclude(file) => search.before.push(file),
            CompileOption::Own(text) if !includes::name_no_file([text.as_str()]) => return None,
            _ => {}
        }
    }
    search.folders.extend_from_slice(own);
    Some(search)
}

fn c_string(text: &str, what: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::value(format!("{what} has a zero byte in it")))
}

/// A program (a source to compile) of the library; destroyed when dropped.
pub struct Program<'a> {
    calls: &'a RtcFunctions,
    handle: RtcHandle,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created in `new`, and is destroyed only here.
        unsafe { (self.calls.destroy)(&mut self.handle) };
    }
}

impl<'a> Program<'a> {
    pub fn new(calls: &'a RtcFunctions, request: &CompileRequest<'_>) -> Result<Self> {
        let (source, name) = (c_string(request.source, "the source")?, c_string(request.name, "the source's name")?);
        let mut handle: RtcHandle = std::ptr::null_mut();
        let none = std::ptr::null();
        let (create, operation) = calls.create;
        // SAFETY: the out-parameter is writable; the source and its name end with a zero byte; the number of headers is
        // 0.
        let code = unsafe { create(&mut handle, source.as_ptr(), name.as_ptr(), 0, none, none) };
        check(calls.prefix, code, operation)?;
        let program = Self { calls, handle };
        let (add, operation) = calls.add_name;
        for expression in request.expressions {
            let text = c_string(expression, "a name")?;
            // SAFETY: the program is alive, and the text ends with a zero byte.
            check(calls.prefix, unsafe { add(handle, text.as_ptr()) }, operation)?;
        }
        Ok(program)
    }

    /// Compiles the program, and returns the library's error code. The log contains the details.
    pub fn compile(&self, options: &[String]) -> Result<u32> {
        let texts = options.iter().map(|option| c_string(option, "an option")).collect::<Result<Vec<_>>>()?;
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        // SAFETY: the program is alive; the array contains the given number of texts, each ending with a zero byte.
        Ok(unsafe { (self.calls.compile.0)(self.handle, pointers.len() as c_int, pointers.as_ptr()) })
    }

    pub fn log(&self) -> Result<String> {
        let (log, operation) = self.calls.log;
        let bytes = self.bytes(self.calls.log_size, log, operation)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_end_matches('\0').trim_end().to_owned())
    }

    /// Returns an output of the program, such as its log. The first function in the parameters returns the output's
    /// size, the second function its bytes.
    pub fn bytes(
        &self,
        size: OfProgram<*mut usize>,
        get: OfProgram<*mut c_char>,
        operation: &'static str,
    ) -> Result<Vec<u8>> {
        let mut length = 0;
        // SAFETY: the program is alive, and the out-parameter is writable.
        check(self.calls.prefix, unsafe { size(self.handle, &mut length) }, operation)?;
        let mut bytes = vec![0u8; length];
        // SAFETY: the buffer has the size that the library returned.
        check(self.calls.prefix, unsafe { get(self.handle, bytes.as_mut_ptr().cast()) }, operation)?;
        Ok(bytes)
    }

    /// Returns the mangled name, in the compiled image, of the kernel that each name expression denotes.
    pub fn lowered(&self, expressions: &[String]) -> Result<Vec<String>> {
        expressions.iter().map(|expression| self.lowered_name(expression)).collect()
    }

    fn lowered_name(&self, expression: &str) -> Result<String> {
        let text = c_string(expression, "a name")?;
        let mut name: *const c_char = std::ptr::null();
        let (lowered, operation) = self.calls.lowered;
        // SAFETY: the program is alive, the text ends with a zero byte, and the out-parameter is writable.
        let code = unsafe { lowered(self.handle, text.as_ptr(), &mut name) };
        if code != SUCCESS || name.is_null() {
            return Err(refusal(self.calls.prefix, code, operation, format!("the name {expression}")));
        }
        // SAFETY: on success the name is a C string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
}
