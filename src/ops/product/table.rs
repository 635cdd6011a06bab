//! NumPy's functions that are products: which axes of their operands are no batch.

use crate::ufunc::Row;
use crate::ufunc::table::{Group, Host, Kinds, Nature, Output};

/// All types of numbers have a loop of their own.
static LOOPS: [Group; 1] = [Group { kinds: Kinds::ALL, output: Output::Same, text: "", second: None, weight: 0 }];

/// One function.
#[derive(Debug)]
pub struct Named {
    /// What is the same as for functions that go element by element.
    pub row: Row,
    /// Which operands are vectors; none of them, where the number of axes says it.
    pub are_vectors: Option<[bool; 2]>,
    /// Of which operand the complex conjugate is taken.
    pub are_conjugated: [bool; 2],
    /// As NumPy writes it.
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

/// Products of matrices; a vector is a row on the left and a column on the right.
pub static MATMUL: Named = named("matmul", Host::Ufunc, None, [false, false], "(n?,k),(k,m?)->(n?,m?)");
/// Matrices with vectors.
pub static MATVEC: Named = named("matvec", Host::Steps, Some([false, true]), [false, false], "(m,n),(n)->(m)");
/// Vectors, conjugated, with matrices.
pub static VECMAT: Named = named("vecmat", Host::Steps, Some([true, false]), [true, false], "(n),(n,m)->(m)");
/// Vectors, the first ones conjugated, with vectors.
pub static VECDOT: Named = named("vecdot", Host::Ufunc, Some([true, true]), [true, false], "(n),(n)->()");

/// The function of a name.
pub fn named_as(name: &str) -> Option<&'static Named> {
    [&MATMUL, &MATVEC, &VECMAT, &VECDOT].into_iter().find(|one| one.row.name == name)
}
