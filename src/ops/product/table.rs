//! Table of NumPy's products: which axes of their operands are not batch axes.

use crate::ufunc::Row;
use crate::ufunc::table::{Group, Host, Kinds, Nature, Output};

/// Every numeric type has a loop.
static LOOPS: [Group; 1] = [Group { kinds: Kinds::ALL, output: Output::Same, text: "", second: None, weight: 0 }];

/// One function.
#[derive(Debug)]
pub struct Named {
    /// The properties shared with elementwise functions.
    pub row: Row,
    /// Which operands are vectors; `None` if it depends on the number of axes.
    pub are_vectors: Option<[bool; 2]>,
    /// Which operands are conjugated.
    pub are_conjugated: [bool; 2],
    /// NumPy's signature.
    pub signature: &'static str,
}

const fn named(
    name: &'static str,
    host: Host,
    are_vectors: Option<[bool; 2]>,
    are_conjugated: [bool; 2],
    signature: &'static str,
) -> Named {
    let row = Row {
        name,
        inputs: 2,
        groups: &LOOPS,
        preamble: "",
        fixed: None,
        nature: Nature::Plain,
        host,
        summary: "A product.",
    };
    Named { row, are_vectors, are_conjugated, signature }
}

/// Matrix product; a vector is a row on the left and a column on the right.
pub static MATMUL: Named = named("matmul", Host::Ufunc, None, [false, false], "(n?,k),(k,m?)->(n?,m?)");
/// Matrix-vector product.
pub static MATVEC: Named = named("matvec", Host::Steps, Some([false, true]), [false, false], "(m,n),(n)->(m)");
/// Vector-matrix product with a conjugated vector.
pub static VECMAT: Named = named("vecmat", Host::Steps, Some([true, false]), [true, false], "(n),(n,m)->(m)");
/// Inner product of vectors; the first one is conjugated.
pub static VECDOT: Named = named("vecdot", Host::Ufunc, Some([true, true]), [true, false], "(n),(n)->()");

/// Looks up a function by name.
pub fn named_as(name: &str) -> Option<&'static Named> {
    [&MATMUL, &MATVEC, &VECMAT, &VECDOT].into_iter().find(|one| one.row.name == name)
}
