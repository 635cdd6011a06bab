//! Defines the error type that all crates share.
//!
//! The message of every variant states the operation, the object of the operation and the values involved. The message
//! of a driver error also contains the driver's name, number and text of the error. Only the module `python::errors`
//! maps the variants to Python exception classes, one class per variant.

use std::fmt;
use std::sync::Arc;

/// Result type of every fallible function of the crates.
pub type Result<T> = std::result::Result<T, Error>;

/// An error. Each variant is one kind of failure.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A value, shape or size is not acceptable. Python raises `ValueError`.
    #[error("{0}")]
    Value(String),
    /// An argument has an unsupported type. Python raises `TypeError`.
    #[error("{0}")]
    Type(String),
    /// An index is out of range, or there are too many indices. Python raises `IndexError`.
    #[error("{0}")]
    Index(String),
    /// An axis is out of range. Python raises NumPy's `AxisError`, which is an `IndexError` and a `ValueError`.
    #[error("{}axis {axis} is out of bounds for array of dimension {ndim}", prefix(argument))]
    Axis {
        /// Name of the argument, if the function has several axis arguments.
        argument: Option<&'static str>,
        /// The axis as the caller passed it.
        axis: i64,
        /// Number of axes of the array.
        ndim: usize,
    },
    /// A memory block cannot be exported in the requested form. Python raises `BufferError`.
    #[error("{0}")]
    Buffer(String),
    /// The operation is not supported by this backend, device or driver. Python raises `NotSupportedError`.
    #[error("{0}")]
    NotSupported(String),
    /// No backend can be used for the request; the text lists the libraries that were searched.
    #[error("{0}")]
    Unavailable(String),
    /// A GPU call was made in a process that was forked after the driver was initialised.
    #[error(
        "{operation}: this process was forked after the {backend} driver was initialised, and a driver does not \
         survive fork(); start workers with multiprocessing.get_context(\"spawn\") or \"forkserver\""
    )]
    Forked {
        /// Name of the call that was rejected.
        operation: &'static str,
        /// Name of the backend.
        backend: &'static str,
    },
    /// An allocation failed, even after synchronizing and trimming the pool.
    #[error("{}", out_of_memory_text(.0))]
    OutOfMemory(Box<OutOfMemory>),
    /// A driver call returned an error code.
    #[error("{0}")]
    Driver(Box<DriverError>),
    /// A kernel's source does not compile. Python raises `CompileError`.
    #[error("{0}")]
    Compile(Box<CompileError>),
    /// A callback function that the caller passed to PyGPU has failed. The field contains its error.
    #[error("{0}")]
    Callback(Arc<dyn std::error::Error + Send + Sync>),
}

/// Returns the argument's name as the prefix of an error message; empty without a name.
fn prefix(argument: &Option<&str>) -> String {
    argument.map_or_else(String::new, |argument| format!("{argument}: "))
}

/// Details of a failed compilation.
#[derive(Debug, Clone)]
pub struct CompileError {
    /// Name and version of the compiler.
    pub compiler: String,
    /// The options with which the compiler was called.
    pub options: Vec<String>,
    /// Name of the source in the compiler's messages.
    pub name: String,
    /// The source as the user wrote it.
    pub source: String,
    /// The compiler's messages.
    pub log: String,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} could not compile {}", self.compiler, self.name)?;
        if !self.options.is_empty() {
            write!(f, " with {}", self.options.join(" "))?;
        }
        f.write_str(":")?;
        distinct_lines(&self.log).iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

/// Returns the lines of a compiler's log without repetitions. A generated kernel contains the user's expression several
/// times, once for each element that one vector load returns, so the compiler reports each mistake several times. A
/// repeated message is omitted together with the indented lines that show its position.
fn distinct_lines(log: &str) -> Vec<&str> {
    let (mut lines, mut is_known): (Vec<&str>, bool) = (Vec::new(), false);
    for line in log.trim_end().lines() {
        let is_detail = line.is_empty() || line.starts_with([' ', '\t']);
        is_known = if is_detail { is_known } else { lines.contains(&line) };
        if !is_known {
            lines.push(line);
        }
    }
    lines
}

/// Details of a driver call that returned an error code.
#[derive(Debug, Clone)]
pub struct DriverError {
    /// Name of the driver function, for example `cuMemAllocAsync`.
    pub operation: &'static str,
    /// The driver's error code. The CUDA runtime, the CUDA driver and HIP use equal numbers for the codes they share.
    pub code: u32,
    /// Name of the error code, for example `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// The driver's one-line explanation.
    pub text: String,
    /// Name of the device, such as `cuda:0`; empty if the call concerns no device.
    pub device: String,
    /// Arguments of the call that explain the error, and the remedy if one is known.
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

/// Details of a failed allocation.
#[derive(Debug, Clone)]
pub struct OutOfMemory {
    /// Name of the driver function, for example `cuMemAllocFromPoolAsync`.
    pub operation: &'static str,
    /// Name of the error code.
    pub name: String,
    /// The driver's one-line explanation.
    pub text: String,
    /// Number of bytes that were requested.
    pub requested: usize,
    /// Name of the device, such as `cuda:0`.
    pub device: String,
    /// Free memory of the device in bytes, if the driver reports it.
    pub free: Option<usize>,
    /// Total memory of the device in bytes, if the driver reports it.
    pub total: Option<usize>,
    /// Total size in bytes of the live PyGPU arrays on the device.
    pub used: usize,
    /// Maximum size in bytes of the live arrays, if the allocation failed because of this limit.
    pub limit: Option<usize>,
    /// Purpose of the allocation, for the message; empty if the function that the user called makes the purpose
    /// evident.
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
    /// Creates a `ValueError`.
    pub fn value(text: impl Into<String>) -> Self {
        Self::Value(text.into())
    }

    /// Creates a `TypeError`.
    pub fn type_error(text: impl Into<String>) -> Self {
        Self::Type(text.into())
    }

    /// Creates an `IndexError`.
    pub fn index(text: impl Into<String>) -> Self {
        Self::Index(text.into())
    }

    /// Creates a `BufferError`.
    pub fn buffer(text: impl Into<String>) -> Self {
        Self::Buffer(text.into())
    }

    /// Creates a `NotSupportedError`.
    pub fn not_supported(text: impl Into<String>) -> Self {
        Self::NotSupported(text.into())
    }

    /// Returns the driver's error code, for a driver error; `None` for other errors.
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
    use crate::fork_safe::ForkSafeOnce;

    static RAISE: ForkSafeOnce<fn(&Error) -> PyErr> = ForkSafeOnce::new();

    /// Sets the function that converts an error to a Python exception. Only the first call has an effect.
    ///
    /// Rust permits an implementation of pyo3's conversion trait for [`Error`] only in this crate, which defines the
    /// type. The exception classes, however, are created by the extension module, which therefore registers `raise`.
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
    use super::distinct_lines;

    #[test]
    fn repeated_compiler_messages_are_omitted_with_their_details() {
        let first = "a(1): error: no x\n  x = 1\n  ^";
        let other = "a(2): error: no y\n  y = 1\n  ^";
        let log = format!("{first}\n\n{other}\n\n{first}\n\n2 errors detected\n");
        assert_eq!(distinct_lines(&log).join("\n"), format!("{first}\n\n{other}\n\n2 errors detected"));
        assert!(distinct_lines("").is_empty());
    }
}
