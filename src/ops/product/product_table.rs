//! Contains the table of NumPy's product functions. The table records which axes of each function's operands are not
//! batch axes.

use crate::ufunc::UfuncEntry;
use crate::ufunc::ufunc_table::{HostEvaluation, Output, ScalarRule, TypeSet, UfuncGroup};

/// The element types that the product functions support, i.e. every numeric type.
static LOOPS: [UfuncGroup; 1] =
    [UfuncGroup { kinds: TypeSet::ALL, output: Output::Same, text: "", second: None, weight: 0, is_long: false }];

/// One of NumPy's product functions.
#[derive(Debug)]
pub struct ProductFunction {
    /// The properties that the product function has in common with elementwise functions.
    pub row: UfuncEntry,
    /// Whether each operand is a vector; `None` if this depends on the operand's number of axes.
    pub are_vectors: Option<[bool; 2]>,
    /// Whether each operand is conjugated.
    pub are_conjugated: [bool; 2],
    /// NumPy's signature of the generalized ufunc, e.g. `(n),(n)->()`.
    pub signature: &'static str,
}

const fn named(
    name: &'static str,
    host: HostEvaluation,
    are_vectors: Option<[bool; 2]>,
    are_conjugated: [bool; 2],
    signature: &'static str,
) -> ProductFunction {
    let row = UfuncEntry {
        name,
        inputs: 2,
        groups: &LOOPS,
        preamble: "",
        headers: &[],
        fixed: None,
        nature: ScalarRule::Plain,
        host,
        summary: "A product.",
    };
    ProductFunction { row, are_vectors, are_conjugated, signature }
}

/// Matrix product. A vector counts as a row if it is the left operand, and as a column if it is the right operand.
pub static MATMUL: ProductFunction =
    named("matmul", HostEvaluation::Ufunc, None, [false, false], "(n?,k),(k,m?)->(n?,m?)");
/// Matrix-vector product.
pub static MATVEC: ProductFunction =
    named("matvec", HostEvaluation::Steps, Some([false, true]), [false, false], "(m,n),(n)->(m)");
/// Vector-matrix product with a conjugated vector.
pub static VECMAT: ProductFunction =
    named("vecmat", HostEvaluation::Steps, Some([true, false]), [true, false], "(n),(n,m)->(m)");
/// Inner product of two vectors, of which the first one is conjugated.
pub static VECDOT: ProductFunction =
    named("vecdot", HostEvaluation::Ufunc, Some([true, true]), [true, false], "(n),(n)->()");

/// Returns the table entry of the product function with the given name.
pub fn named_as(name: &str) -> Option<&'static ProductFunction> {
    [&MATMUL, &MATVEC, &VECMAT, &VECDOT].into_iter().find(|one| one.row.name == name)
}
