//! Describes arguments of generated kernels, as the user declared them.

use std::fmt;

use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_kernel::{Element, fits};

/// Whether an argument is a scalar or an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentRole {
    /// A scalar.
    Scalar,
    /// An array. The field `constant` is set if the user declared the array `const`.
    Vector {
        /// Whether the kernel must not write the array.
        constant: bool,
    },
}

/// One argument of a kernel, as declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// The argument's name in the user's source.
    pub name: String,
    /// The C type of the scalar, or of the array's elements.
    pub c_type: String,
    /// The dtype that corresponds to `c_type`.
    pub dtype: DType,
    /// Whether the argument is a scalar or an array.
    pub role: ArgumentRole,
}

impl Argument {
    /// Whether the argument is an array.
    pub fn is_vector(&self) -> bool {
        matches!(self.role, ArgumentRole::Vector { .. })
    }

    /// Whether an array of `dtype` may be passed for this argument. The rules are those for a pointer argument of
    /// a kernel, with one exception: for a declared structured dtype, `dtype` must be that dtype or bytes of its size.
    pub fn takes(&self, dtype: DType) -> bool {
        match self.dtype.kind() {
            ScalarType::Opaque => {
                dtype == self.dtype || (dtype.itemsize() == self.dtype.itemsize() && dtype.kind() == ScalarType::Opaque)
            }
            kind => Element::Named(kind).takes(dtype) && fits(kind, dtype),
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role {
            ArgumentRole::Scalar => write!(f, "{} {}", self.c_type, self.name),
            ArgumentRole::Vector { constant: false } => write!(f, "{} *{}", self.c_type, self.name),
            ArgumentRole::Vector { constant: true } => write!(f, "const {} *{}", self.c_type, self.name),
        }
    }
}

/// Checks that a name is valid for a kernel or an argument.
///
/// # Errors
/// `ValueError` with the invalid name.
pub fn check_name(name: &str) -> Result<()> {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    if is_name { Ok(()) } else { Err(Error::value(format!("'{name}' is no name in C"))) }
}

/// Checks that the arguments have distinct names, and that none of them is a name that the generated kernel uses
/// itself.
///
/// # Errors
/// `ValueError` with the name.
pub fn check(arguments: &[Argument]) -> Result<()> {
    const TAKEN: [&str; 5] = ["i", "n", "tid", "total_threads", "cta_start"];
    for (position, argument) in arguments.iter().enumerate() {
        check_name(&argument.name)?;
        if TAKEN.contains(&argument.name.as_str()) {
            return Err(Error::value(format!(
                "an argument cannot be named '{}': the kernel's text finds the index, the length and the threads as {}",
                argument.name,
                TAKEN.join(", ")
            )));
        }
        if arguments[..position].iter().any(|other| other.name == argument.name) {
            return Err(Error::value(format!("two arguments are named '{}'", argument.name)));
        }
    }
    Ok(())
}
