//! The one error type of the crate.
//!
//! Every variant says what was tried, on what and with which values; a driver's refusal adds the driver's own
//! name, number and text. `python::errors` maps each variant to one Python exception class and nothing else does.

use std::fmt;
use std::sync::Arc;

/// Result of every fallible function of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A value, shape or size is not acceptable: `ValueError`.
    #[error("{0}")]
    Value(String),
    /// An argument is of a kind that cannot work: `TypeError`.
    #[error("{0}")]
    Type(String),
    /// An index is out of range or there are too many: `IndexError`.
    #[error("{0}")]
    Index(String),
    /// A memory block cannot be lent in the form asked for: `BufferError`.
    #[error("{0}")]
    Buffer(String),
    /// The operation exists but not on this backend, device or driver: `NotSupportedError`.
    #[error("{0}")]
    NotSupported(String),
    /// No backend can serve the request; the text holds the report of what was searched.
    #[error("{0}")]
    Unavailable(String),
    /// A GPU call in a process forked after the driver was initialised.
    #[error(
        "{operation}: this process was forked after the {backend} driver was initialised, and a driver does not \
         survive fork(); start workers with multiprocessing.get_context(\"spawn\") or \"forkserver\""
    )]
    Forked {
        /// The call that was refused.
        operation: &'static str,
        /// Name of the backend.
        backend: &'static str,
    },
    /// Memory could not be had, also after synchronising and trimming the pool.
    #[error("{}", out_of_memory_text(.0))]
    OutOfMemory(Box<OutOfMemory>),
    /// A driver refused a call.
    #[error("{0}")]
    Driver(Box<DriverError>),
    /// A kernel's source does not compile: `CompileError`.
    #[error("{0}")]
    Compile(Box<CompileError>),
    /// What the caller gave to be called failed; the error is its own.
    #[error("{0}")]
    Callback(Arc<dyn std::error::Error + Send + Sync>),
}

/// A source that does not compile.
#[derive(Debug, Clone)]
pub struct CompileError {
    /// The compiler, with its version.
    pub compiler: String,
    /// The options, in the compiler's words.
    pub options: Vec<String>,
    /// The name of the source in messages.
    pub name: String,
    /// The source, as the user wrote it.
    pub source: String,
    /// What the compiler said.
    pub log: String,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not compile {}", self.compiler, self.name)?;
        if !self.options.is_empty() {
            write!(f, " with {}", self.options.join(" "))?;
        }
        f.write_str(":")?;
        told_once(&self.log).iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

/// The lines of a compiler's log. A generated kernel has the user's text for several elements, so that the same is said of each: what was
/// said before is left out, with the indented lines that show where.
fn told_once(log: &str) -> Vec<&str> {
    let (mut told, mut is_known): (Vec<&str>, bool) = (Vec::new(), false);
    for line in log.trim_end().lines() {
        let is_detail = line.is_empty() || line.starts_with([' ', '\t']);
        is_known = if is_detail { is_known } else { told.contains(&line) };
        if !is_known {
            told.push(line);
        }
    }
    told
}

/// A driver's refusal.
#[derive(Debug, Clone)]
pub struct DriverError {
    /// The driver's function, for example `cuMemAllocAsync`.
    pub operation: &'static str,
    /// The driver's number; the codes that CUDA's runtime, CUDA's driver and HIP share are equal.
    pub code: u32,
    /// The driver's name of the code, for example `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// The driver's one-line explanation.
    pub text: String,
    /// The device, as `cuda:0`; empty where none is concerned.
    pub device: String,
    /// The values of the call that matter, and what to do about it if that is known.
    pub detail: String,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed", self.operation)?;
        if !self.device.is_empty() {
            write!(f, " on {}", self.device)?;
        }
        write!(f, ": {} ({}): {}", self.name, self.code, self.text)?;
        if !self.detail.is_empty() {
            write!(f, " [{}]", self.detail)?;
        }
        Ok(())
    }
}

/// What was asked for and what there was when memory ran out.
#[derive(Debug, Clone)]
pub struct OutOfMemory {
    /// The driver's function, for example `cuMemAllocFromPoolAsync`.
    pub operation: &'static str,
    /// The driver's name of the code.
    pub name: String,
    /// The driver's one-line explanation.
    pub text: String,
    /// Bytes asked for.
    pub requested: usize,
    /// The device, as `cuda:0`.
    pub device: String,
    /// Free bytes of the device, if it could say.
    pub free: Option<usize>,
    /// Bytes of the device in all, if it could say.
    pub total: Option<usize>,
    /// Bytes that live PyGPU arrays hold there.
    pub used: usize,
    /// How many they may hold, if it was this that was in the way.
    pub limit: Option<usize>,
    /// For whom it was asked, if the call does not show that.
    pub detail: String,
}

fn out_of_memory_text(error: &OutOfMemory) -> String {
    let mut text = format!(
        "out of memory on {}: {} asked for {} bytes; live PyGPU arrays hold {} bytes there",
        error.device, error.operation, error.requested, error.used
    );
    if let Some(limit) = error.limit {
        text.push_str(&format!(", and set_memory_limit() allows {limit}"));
    }
    if let (Some(free), Some(total)) = (error.free, error.total) {
        text.push_str(&format!("; the device has {free} of {total} bytes free"));
    }
    if !error.detail.is_empty() {
        text.push_str(&format!(" [{}]", error.detail));
    }
    text
}

impl Error {
    /// A `ValueError`.
    pub fn value(text: impl Into<String>) -> Self {
        Self::Value(text.into())
    }

    /// A `TypeError`.
    pub fn type_error(text: impl Into<String>) -> Self {
        Self::Type(text.into())
    }

    /// An `IndexError`.
    pub fn index(text: impl Into<String>) -> Self {
        Self::Index(text.into())
    }

    /// A `BufferError`.
    pub fn buffer(text: impl Into<String>) -> Self {
        Self::Buffer(text.into())
    }

    /// A `NotSupportedError`.
    pub fn not_supported(text: impl Into<String>) -> Self {
        Self::NotSupported(text.into())
    }

    /// The driver's code, if a driver refused.
    pub fn code(&self) -> Option<u32> {
        match self {
            Self::Driver(error) => Some(error.code),
            Self::OutOfMemory(_) => Some(2),
            _ => None,
        }
    }
}

#[cfg(feature = "python")]
mod python {
    use pyo3::PyErr;
    use pyo3::exceptions::PyRuntimeError;

    use super::Error;
    use crate::fork_safe::Once;

    static RAISE: Once<fn(&Error) -> PyErr> = Once::new();

    /// Sets the function that makes Python's exception of an error. Only the first call counts.
    ///
    /// The conversion is an implementation of a foreign trait, so that it must stand in this crate; the exception classes are made by
    /// the extension module.
    pub fn raise_with(raise: fn(&Error) -> PyErr) {
        RAISE.get_or_init(|| raise);
    }

    impl From<Error> for PyErr {
        #[cold]
        fn from(error: Error) -> Self {
            match RAISE.get() {
                Some(raise) => raise(&error),
                None => PyRuntimeError::new_err(error.to_string()),
            }
        }
    }
}
#[cfg(feature = "python")]
pub use python::raise_with;

#[cfg(test)]
mod tests {
    use super::told_once;

    #[test]
    fn what_a_compiler_says_again_is_left_out_with_its_details() {
        let first = "a(1): error: no x\n  x = 1\n  ^";
        let other = "a(2): error: no y\n  y = 1\n  ^";
        let log = format!("{first}\n\n{other}\n\n{first}\n\n2 errors detected\n");
        assert_eq!(told_once(&log).join("\n"), format!("{first}\n\n{other}\n\n2 errors detected"));
        assert!(told_once("").is_empty());
    }
}
