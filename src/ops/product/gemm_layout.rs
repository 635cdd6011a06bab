//! Describes a product to the vendors' BLAS: `out = op(first) op(second)` in column-major order.
//!
//! PyGPU's results are row-major, whereas the library's results are column-major. Therefore the library computes the
//! transposed product: its first operand is PyGPU's second operand, and its result is PyGPU's result transposed. To
//! transpose an operand, the library call has a flag, which costs nothing.

use smallvec::SmallVec;

use super::operands::{MatrixOperand, Out, ProductProblem};
use pygpu_backend::libraries::{Operation, Outcome};
use pygpu_base::small_sort;

/// A batch axis: its length, and the strides in bytes of both operands and the results.
type BatchAxis = (i64, [i64; 3]);

/// A product as BLAS computes it: both operands, the results, and the batch axes.
pub(super) struct GemmLayout {
    /// PyGPU's first operand, or its second operand if `is_turned` is set. The rows of this operand correspond to
    /// columns of the library's result.
    a: MatrixOperand,
    b: MatrixOperand,
    out: Out,
    depth: i64,
    /// Memory addresses of `a`, `b` and the array of results.
    addresses: [u64; 3],
    /// Batch axes, outermost first. One library call covers the last axis by a stride; the other axes need separate
    /// calls.
    axes: SmallVec<[BatchAxis; 4]>,
    /// Whether each operand, and the array of results, already has the type of the computation.
    are_plain: [bool; 3],
    /// Whether the operands are exchanged. If so, `a` is PyGPU's second operand, and `b` is PyGPU's first operand.
    is_turned: bool,
}

/// Returns the leading dimension of a matrix that is contiguous along the axis `near`; `None` if BLAS does not support
/// the layout. Each axis is given by its length and stride.
fn leading(near: (i64, i64), far: (i64, i64), itemsize: i64) -> Option<i64> {
    if near.0 > 1 && near.1 != itemsize {
        return None;
    }
    if far.0 <= 1 {
        return Some(near.0.max(1));
    }
    let apart = far.1 / itemsize;
    (far.1 % itemsize == 0 && apart >= near.0.max(1)).then_some(apart)
}

impl GemmLayout {
    /// Describes a product to BLAS. Returns `None` if an operand is a vector, unless the matrix is read across the inner
    /// axis.
    pub(super) fn of(task: &ProductProblem) -> Option<Self> {
        let mut axes: SmallVec<[BatchAxis; 4]> = SmallVec::new();
        if let Some(walk) = &task.walk {
            let strides = |side: usize| walk.strides(task.side_in_walk(side));
            let of_sides = strides(0).zip(strides(1)).zip(strides(2));
            axes.extend(walk.lens().zip(of_sides).map(|(len, ((a, b), out))| (len, [a, b, out])));
        }
        // The longest axis becomes the last axis, which one call covers. This minimizes the number of calls.
        small_sort::sort_by_key(&mut axes, |(len, _)| *len);
        let kinds = [task.a.kind, task.b.kind, task.out.kind];
        let mut made = Self {
            a: task.a,
            b: task.b,
            out: task.out,
            depth: task.depth,
            addresses: [0, 1, 2].map(|side| task.address(side)),
            axes,
            are_plain: kinds.map(|kind| kind == task.computed),
            is_turned: task.is_turned(),
        };
        made.fold();
        let is_across = task.is_vector_across_matrix();
        if (made.a.rows < 2 || made.b.rows < 2) && !is_across {
            return None;
        }
        // The library's kernels for vectors require that its second operand is the vector.
        if is_across || made.out.row.unsigned_abs() < made.out.column.unsigned_abs() {
            made.turn();
        }
        Some(made)
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.a, &mut self.b);
        self.out = Out { row: self.out.column, column: self.out.row, ..self.out };
        self.addresses.swap(0, 1);
        self.are_plain.swap(0, 1);
        self.axes.iter_mut().for_each(|(_, strides)| strides.swap(0, 1));
        self.is_turned = !self.is_turned;
    }

    /// Merges the last batch axis into the row axis of one operand, if all matrices of the batch share the other
    /// operand. One product then replaces the batch.
    fn fold(&mut self) {
        let Some(&(len, [a, b, out])) = self.axes.last() else { return };
        if b == 0 {
            if let Some((row, to)) = folded(&self.a, self.out.row, (a, out)) {
                self.a.row = row;
                self.a.rows *= len;
                self.out.row = to;
                self.axes.pop();
            }
        } else if a == 0
            && let Some((row, to)) = folded(&self.b, self.out.column, (b, out))
        {
            self.b.row = row;
            self.b.rows *= len;
            self.out.column = to;
            self.axes.pop();
        }
    }

    /// Returns whether the library supports each of three layouts: those of PyGPU's first operand, of its second
    /// operand, and of the results.
    pub(super) fn fits_library(&self) -> [bool; 3] {
        let is_even = |side: usize, itemsize: i64| {
            // Strides along the outer batch axes only change the addresses that the library calls receive, so only the
            // last batch axis is checked.
            self.axes.last().is_none_or(|(_, strides)| strides[side] >= 0 && strides[side] % itemsize == 0)
        };
        let first = is_even(1, self.b.itemsize) && self.are_plain[1] && self.first().is_some();
        let second = is_even(0, self.a.itemsize) && self.are_plain[0] && self.second().is_some();
        let out = is_even(2, self.out.itemsize) && self.are_plain[2] && self.result().is_some();
        if self.is_turned { [first, second, out] } else { [second, first, out] }
    }

    /// Returns the operation and the leading dimension for the library's first operand, which is PyGPU's second
    /// operand. If this operand is in C order, it needs no transposition, because its rows are the columns of the
    /// library's matrix.
    fn first(&self) -> Option<(Operation, i64)> {
        let (rows, inner) = ((self.b.rows, self.b.row), (self.depth, self.b.step));
        let across = leading(rows, inner, self.b.itemsize).map(|leading| (Operation::Plain, leading));
        let along = leading(inner, rows, self.b.itemsize).map(|leading| (Operation::Transposed, leading));
        conjugated(self.b.is_conjugated, across, along)
    }

    fn second(&self) -> Option<(Operation, i64)> {
        let (rows, inner) = ((self.a.rows, self.a.row), (self.depth, self.a.step));
        let across = leading(rows, inner, self.a.itemsize).map(|leading| (Operation::Transposed, leading));
        let along = leading(inner, rows, self.a.itemsize).map(|leading| (Operation::Plain, leading));
        conjugated(self.a.is_conjugated, along, across)
    }

    fn result(&self) -> Option<i64> {
        leading((self.b.rows, self.out.column), (self.a.rows, self.out.row), self.out.itemsize)
    }

    /// Returns the operations (transposition, conjugation) on the two operands, and the leading dimensions of both
    /// operands and the result, in the library's order.
    pub(super) fn forms(&self) -> Option<([Operation; 2], [i64; 3])> {
        let ((first, leading_first), (second, leading_second)) = (self.first()?, self.second()?);
        Some(([first, second], [leading_first, leading_second, self.result()?]))
    }

    /// Returns the lengths `m`, `n` and `k` of the product for the library, whose operands are exchanged.
    pub(super) fn lengths(&self) -> [i64; 3] {
        [self.b.rows, self.a.rows, self.depth]
    }

    /// For the library's first operand, second operand and result: the index of the corresponding array among PyGPU's
    /// first operand, second operand and results.
    const OURS: [usize; 3] = [1, 0, 2];

    /// Returns the number of matrices that one call multiplies.
    pub(super) fn count(&self) -> i64 {
        self.axes.last().map_or(1, |(len, _)| *len)
    }

    /// Returns the distance, in elements, between consecutive matrices of a call, for one of the library's operands.
    pub(super) fn batch_stride(&self, side: usize) -> i64 {
        let itemsize = [self.b.itemsize, self.a.itemsize, self.out.itemsize][side];
        self.axes.last().map_or(0, |(_, strides)| strides[Self::OURS[side]] / itemsize)
    }

    /// Returns the number of library calls that the product needs.
    pub(super) fn calls(&self) -> i64 {
        self.outer().iter().map(|(len, _)| len).product()
    }

    fn outer(&self) -> &[BatchAxis] {
        self.axes.split_last().map_or(&[], |(_, outer)| outer)
    }

    /// Returns the number of multiply-adds per matrix.
    pub(super) fn each(&self) -> i64 {
        self.a.rows.saturating_mul(self.b.rows).saturating_mul(self.depth)
    }

    /// Returns the number of multiply-adds per call.
    pub(super) fn per_call(&self) -> i64 {
        self.each().saturating_mul(self.count())
    }

    /// Returns the number of times that the product uses each element of an operand. If this number is large, copying
    /// the operand takes little time relative to the product.
    pub(super) fn others(&self, side: usize) -> i64 {
        match (side, self.is_turned) {
            (2, _) => self.depth,
            (0, false) | (1, true) => self.b.rows,
            _ => self.a.rows,
        }
    }

    /// Calls `work` once for each library call that the product needs, with the addresses of operands and result in the
    /// library's order.
    pub(super) fn each_call(&self, mut work: impl FnMut([u64; 3]) -> Outcome<()>) -> Outcome<()> {
        for call in 0..self.calls() {
            let (mut rest, mut offsets) = (call, [0; 3]);
            for (len, strides) in self.outer().iter().rev() {
                let at = rest % len;
                rest /= len;
                offsets.iter_mut().zip(strides).for_each(|(offset, stride)| *offset += at * stride);
            }
            work(Self::OURS.map(|side| self.addresses[side].wrapping_add_signed(offsets[side])))?;
        }
        Ok(())
    }
}

/// If a batch axis can be merged into the rows of an operand, returns the strides of the merged rows in the operand and
/// in the result.
fn folded(side: &MatrixOperand, out: i64, apart: (i64, i64)) -> Option<(i64, i64)> {
    match side.rows {
        1 => Some(apart),
        rows => (apart == (rows * side.row, rows * out)).then_some((side.row, out)),
    }
}

/// Selects the operation on an operand: the conjugate transpose if the operand must be conjugated, otherwise no
/// transposition if possible.
fn conjugated(
    is_conjugated: bool,
    plain: Option<(Operation, i64)>,
    transposed: Option<(Operation, i64)>,
) -> Option<(Operation, i64)> {
    match is_conjugated {
        true => transposed.map(|(_, leading)| (Operation::Adjoint, leading)),
        false => plain.or(transposed),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;
    use pygpu_base::dtype::ScalarType;

    fn side(rows: i64, row: i64, step: i64) -> MatrixOperand {
        MatrixOperand { kind: ScalarType::Float32, is_conjugated: false, address: 0x1000, itemsize: 4, rows, row, step }
    }

    fn out(row: i64, column: i64) -> Out {
        Out { kind: ScalarType::Float32, address: 0x2000, itemsize: 4, row, column }
    }

    fn forms(a: MatrixOperand, b: MatrixOperand, out: Out, depth: i64) -> Option<([Operation; 2], [i64; 3])> {
        GemmLayout::of(&ProductProblem::of(a, b, out, depth)).unwrap().forms()
    }

    #[test]
    fn blas_takes_c_order_and_transposed_matrices_without_copy() {
        let (plain, turned) = (Operation::Plain, Operation::Transposed);
        // Products of matrices of 10 by 20 and 20 by 30: first with both in C order, then with one operand transposed,
        // then with parts of wider matrices.
        let [a, b] = [side(10, 80, 4), side(30, 4, 120)];
        assert_eq!(forms(a, b, out(120, 4), 20), Some(([plain, plain], [30, 20, 30])));
        assert_eq!(forms(side(10, 4, 40), b, out(120, 4), 20), Some(([plain, turned], [30, 10, 30])));
        assert_eq!(forms(a, side(30, 80, 4), out(120, 4), 20), Some(([turned, plain], [20, 20, 30])));
        assert_eq!(forms(side(10, 400, 4), b, out(200, 4), 20), Some(([plain, plain], [30, 100, 50])));
        // If the result is in F order, the product is transposed, which exchanges the operands.
        let matrices = GemmLayout::of(&ProductProblem::of(a, b, out(4, 40), 20)).unwrap();
        assert_eq!((matrices.lengths(), matrices.forms()), ([10, 30, 20], Some(([turned, turned], [20, 30, 10]))));
    }

    #[test]
    fn fits_library_rejects_layouts_that_blas_does_not_support() {
        let lies = |a: MatrixOperand, b: MatrixOperand, out: Out| {
            GemmLayout::of(&ProductProblem::of(a, b, out, 20)).unwrap().fits_library()
        };
        let [a, b] = [side(10, 80, 4), side(30, 4, 120)];
        assert_eq!(lies(a, b, out(120, 4)), [true; 3]);
        assert_eq!(lies(side(10, 160, 8), b, out(120, 4)), [false, true, true]);
        assert_eq!(lies(a, side(30, 4, -120), out(120, 4)), [true, false, true]);
        assert_eq!(lies(a, side(30, 4, 0), out(240, 8)), [true, false, false]);
        // BLAS does not support overlapping rows.
        assert_eq!(lies(side(10, 4, 4), b, out(120, 4)), [false, true, true]);
        let conjugated = MatrixOperand { is_conjugated: true, ..a };
        assert_eq!(lies(conjugated, b, out(120, 4)), [false, true, true]);
        let turned = MatrixOperand { is_conjugated: true, ..side(10, 4, 40) };
        assert_eq!(lies(turned, b, out(120, 4)), [true; 3]);
    }

    #[test]
    fn batch_times_a_shared_matrix_is_merged_into_one_product() {
        assert_eq!(folded(&side(10, 80, 4), 120, (800, 1200)), Some((80, 120)));
        assert_eq!(folded(&side(1, 0, 4), 0, (80, 120)), Some((80, 120)));
        assert_eq!(folded(&side(10, 80, 4), 120, (1000, 1200)), None);
    }
}
