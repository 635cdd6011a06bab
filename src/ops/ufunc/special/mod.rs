//! Defines the special functions, with the names of SciPy's ufuncs, as table entries of the same kind as those of
//! [`super::TABLE`].
//!
//! The functions compute in double, except where an expression contains `{T}` or calls a function that the device has
//! for each type. As in SciPy, results are float32 if float32 can represent all values of the operands' type, otherwise
//! float64. Only bfloat16, which SciPy lacks, gives bfloat16 results.

mod bessel;
mod distributions;
mod elementary;
mod error_functions;
mod gamma;
pub mod header;
mod integrals;
pub(super) mod shared_headers;
mod xsf;

use super::ufunc_table::{HostEvaluation, Output, ScalarRule, TypeSet, UfuncEntry, UfuncGroup};
use pygpu_base::dtype::ScalarType::*;

/// Describes a special function by its table entry and the parts of its docstring.
#[derive(Debug)]
pub struct SpecialFunction {
    /// The table entry, whose name is that of SciPy's ufunc.
    pub row: UfuncEntry,
    /// Names of the operands in the docstring, each followed by a comma and a space.
    pub parameters: &'static str,
    /// The definition.
    pub formula: &'static str,
    /// Operands of the example in the docstring. A list represents an array.
    pub operands: &'static str,
    /// Result of the docstring's example, rounded to 6 decimals.
    pub result: &'static str,
}

impl SpecialFunction {
    /// Whether code of xsf or PyGPU computes the function, instead of a mathematical function of the device.
    pub fn has_text(&self) -> bool {
        self.row.group(Float64).is_some_and(|group| group.text.contains("pygpu_"))
    }
}

/// Types whose values float32 can represent.
const SMALL: TypeSet = TypeSet::of(&[Bool, Int8, UInt8, Int16, UInt16, Float16]);
const INTEGERS: TypeSet = TypeSet::of(&[Int32, UInt32, Int64, UInt64]);
/// Operand types for which a function computes in float32.
const SINGLE: TypeSet = TypeSet::of(&[BFloat16, Float32]);
const DOUBLE: TypeSet = TypeSet::of(&[Float64]);
const REAL: TypeSet = TypeSet::of(&[BFloat16, Float32, Float64]);
const COMPLEX: TypeSet = TypeSet::of(&[Complex64, Complex128]);

/// Implementations (loops) for operands of small integer types and float16, which compute in float32.
const fn small(second: Option<&'static str>) -> UfuncGroup {
    group(SMALL, Output::As(Float32), "", second, 0)
}

/// Implementations (loops) for operands of integer types that float32 cannot represent, which compute in float64.
const fn integers(second: Option<&'static str>) -> UfuncGroup {
    group(INTEGERS, Output::As(Float64), "", second, 0)
}

/// Implementations (loops) for real operands of a function with complex results, which compute in complex128.
const fn as_complex() -> UfuncGroup {
    group(SMALL.with(INTEGERS).with(REAL), Output::As(Complex128), "", None, 0)
}

const fn real(text: &'static str, second: Option<&'static str>, weight: u8) -> UfuncGroup {
    group(REAL, Output::Same, text, second, weight)
}

const fn single(text: &'static str, weight: u8) -> UfuncGroup {
    group(SINGLE, Output::Same, text, None, weight)
}

const fn double(text: &'static str, weight: u8) -> UfuncGroup {
    group(DOUBLE, Output::Same, text, None, weight)
}

const fn complex(text: &'static str, weight: u8) -> UfuncGroup {
    group(COMPLEX, Output::Same, text, None, weight)
}

const fn group(
    kinds: TypeSet,
    output: Output,
    text: &'static str,
    second: Option<&'static str>,
    weight: u8,
) -> UfuncGroup {
    let second = match second {
        Some(second) => Some((output, second)),
        None => None,
    };
    UfuncGroup { kinds, output, text, second, weight, is_long: false }
}

const fn function(
    row: UfuncEntry,
    parameters: &'static str,
    formula: &'static str,
    operands: &'static str,
    result: &'static str,
) -> SpecialFunction {
    let row = UfuncEntry { host: HostEvaluation::SciPy, nature: ScalarRule::Plain, ..row };
    SpecialFunction { row, parameters, formula, operands, result }
}

/// Creates the entry of a function of real numbers, which may have a second result, or loops of complex numbers.
macro_rules! special {
    (
        $name:literal ($($parameter:ident),+) $summary:literal $formula:literal [$($header:expr),*] $groups:expr;
        $operands:literal => $result:literal
    ) => {
        $crate::ufunc::special::function(
            UfuncEntry {
                name: $name,
                summary: $summary,
                inputs: [$(stringify!($parameter)),+].len(),
                groups: $groups,
                headers: &[$($header),*],
                ..UfuncEntry::EMPTY
            },
            concat!($(stringify!($parameter), ", "),+),
            $formula,
            $operands,
            $result,
        )
    };
}
use special;

static FUNCTIONS: [&[SpecialFunction]; 6] = [
    error_functions::FUNCTIONS,
    gamma::FUNCTIONS,
    elementary::FUNCTIONS,
    bessel::FUNCTIONS,
    integrals::FUNCTIONS,
    distributions::FUNCTIONS,
];

/// Returns all special functions.
pub fn functions() -> impl Iterator<Item = &'static SpecialFunction> {
    FUNCTIONS.iter().copied().flatten()
}

/// Looks up a special function by the name of SciPy's ufunc.
pub fn row(name: &str) -> Option<&'static UfuncEntry> {
    functions().map(|one| &one.row).find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]
    use super::*;
    use crate::ufunc::kernel::{LoopOperand, kernel_of};

    /// A special function whose header contains a macro, or a reference to an operand, could modify its operands. Its
    /// kernel would then load single elements instead of several at once. This test checks that all kernels load
    /// several elements at once.
    #[test]
    fn kernels_of_special_functions_process_packs() {
        for row in functions().map(|one| &one.row) {
            let Some(group) = row.group(Float32) else { continue };
            let outputs: Vec<_> =
                [Some(group.output), group.second.map(|second| second.0)].into_iter().flatten().collect();
            let outputs: Vec<_> = outputs.iter().map(|output| output.of(Float32)).collect();
            let inputs = vec![LoopOperand::Array(Float32); row.inputs];
            let kernel = kernel_of(row, Float32, &inputs, &outputs, false).unwrap();
            assert!(kernel.analysis().in_packs, "{}", row.name);
        }
    }
}
