//! Operands of a product: the address and strides of each matrix, and the batches of matrices.

use pygpu_array::Array;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::Result;
use pygpu_layout::{Dims, Layout, LoopNest, LoopNestRules};

/// A product of arrays. The last axes are rows and columns, or the elements of a vector; the axes before them are the
/// batch.
pub struct Product<'a> {
    /// The two operands. The first is a matrix or a single row vector; the second is a matrix or a single column
    /// vector.
    pub operands: [&'a Array; 2],
    /// Whether each operand is a vector.
    pub are_vectors: [bool; 2],
    /// Whether each operand is conjugated.
    pub are_conjugated: [bool; 2],
    /// The element type in which the product is computed.
    pub computed: ScalarType,
    /// The array for the results: the batch axes, then the rows and columns that operands other than vectors have. It
    /// does not overlap the operands.
    pub out: &'a Array,
}

/// One operand as the kernels address it, by its rows and its inner axis. For the second operand, *rows* means the
/// columns of the matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixOperand {
    pub(super) kind: ScalarType,
    pub(super) is_conjugated: bool,
    pub(super) address: u64,
    pub(super) itemsize: i64,
    /// Number of the operand's rows, or of its columns for the second operand.
    pub(super) rows: i64,
    /// Distance in bytes between consecutive rows, or between columns for the second operand.
    pub(super) row: i64,
    /// Distance in bytes between consecutive elements along the inner axis.
    pub(super) step: i64,
}

impl MatrixOperand {
    /// Whether the operand's smallest stride is that of the inner axis.
    pub(super) fn is_along(&self) -> bool {
        match (self.step, self.row) {
            (step, _) if step == self.itemsize => true,
            (_, row) if row == self.itemsize => false,
            (step, row) => row == 0 || (step != 0 && step.unsigned_abs() <= row.unsigned_abs()),
        }
    }
}

/// Address and strides by which the kernels address the array of results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Out {
    pub(super) kind: ScalarType,
    pub(super) address: u64,
    pub(super) itemsize: i64,
    pub(super) row: i64,
    pub(super) column: i64,
}

/// A product as the kernels compute it.
#[derive(Debug)]
pub(super) struct ProductProblem {
    pub(super) a: MatrixOperand,
    pub(super) b: MatrixOperand,
    pub(super) out: Out,
    pub(super) computed: ScalarType,
    /// Length of the inner axis, along which the products of elements are summed.
    pub(super) depth: i64,
    pub(super) batches: i64,
    /// The loop nest over the batches of operands and results; `None` for a single product.
    pub(super) walk: Option<LoopNest>,
    /// Whether the product is transposed, which exchanges its operands. If so, `a` is the second operand, and `b` is
    /// the first operand.
    is_turned: bool,
}

/// Whether a type is an integer type or bool. If so, sums of its values are computed in unsigned integers, which wrap
/// around.
pub(super) fn is_whole(kind: ScalarType) -> bool {
    !kind.is_complex()
        && !matches!(kind, ScalarType::Float16 | ScalarType::BFloat16 | ScalarType::Float32 | ScalarType::Float64)
}

/// Returns the type of the partial sums that a second launch adds up.
pub(super) fn kind_of_parts(computed: ScalarType) -> ScalarType {
    match computed {
        ScalarType::Float16 | ScalarType::BFloat16 => ScalarType::Float32,
        ScalarType::Int64 | ScalarType::UInt64 => ScalarType::UInt64,
        kind if is_whole(kind) => ScalarType::UInt32,
        kind => kind,
    }
}

/// Returns the length and stride of an axis; `from_end` counts the axes from the last one.
fn axis(layout: &Layout, from_end: usize) -> (i64, i64) {
    let axes = layout.axes();
    axes.len().checked_sub(from_end).and_then(|at| axes.get(at)).map_or((1, 0), |axis| (axis.len, axis.stride))
}

fn batch_axes(array: &Array, cores: usize) -> usize {
    array.layout().ndim().saturating_sub(cores)
}

/// Returns the layout of an array's batch axes. Each index of this layout addresses the first element of one matrix.
fn batch(array: &Array, cores: usize) -> Result<Layout> {
    let layout = array.layout();
    let axes = layout.ndim().saturating_sub(cores);
    let shape: Dims = layout.shape().take(axes).collect();
    let strides: Dims = layout.strides().take(axes).collect();
    Layout::strided(&shape, &strides, 0, layout.itemsize())
}

impl Product<'_> {
    fn side(&self, place: usize) -> (MatrixOperand, i64) {
        let (array, is_vector) = (self.operands[place], self.are_vectors[place]);
        let layout = array.layout();
        let (rows, inner) = match (is_vector, place) {
            (true, _) => ((1, 0), axis(layout, 1)),
            (false, 0) => (axis(layout, 2), axis(layout, 1)),
            (false, _) => (axis(layout, 1), axis(layout, 2)),
        };
        let side = MatrixOperand {
            kind: array.dtype().kind(),
            is_conjugated: self.are_conjugated[place] && self.computed.is_complex(),
            address: array.address() as u64,
            itemsize: layout.itemsize(),
            rows: rows.0,
            row: rows.1,
            step: inner.1,
        };
        (side, inner.0)
    }

    /// Describes the product for the kernels. The operands are exchanged if the exchange makes the results contiguous
    /// along the kernel's columns.
    ///
    /// # Errors
    /// The errors of [`LoopNest::plan`].
    pub(super) fn task(&self) -> Result<ProductProblem> {
        let ((a, depth), (b, _)) = (self.side(0), self.side(1));
        let out = self.out.layout();
        let column = if self.are_vectors[1] { 0 } else { axis(out, 1).1 };
        let row = match self.are_vectors {
            [true, _] => 0,
            [false, true] => axis(out, 1).1,
            [false, false] => axis(out, 2).1,
        };
        let to = Out {
            kind: self.out.dtype().kind(),
            address: self.out.address() as u64,
            itemsize: out.itemsize(),
            row,
            column,
        };
        let (walk, batches) = self.batches()?;
        let task = ProductProblem { a, b, out: to, computed: self.computed, depth, batches, walk, is_turned: false };
        let is_across = a.rows > 1 && b.rows > 1 && row.unsigned_abs() < column.unsigned_abs();
        Ok(if is_across || (a.rows == 1 && b.rows > 1) { task.turned() } else { task })
    }

    fn batches(&self) -> Result<(Option<LoopNest>, i64)> {
        let cores = self.are_vectors.map(|is_vector| if is_vector { 1 } else { 2 });
        let cores_of_out = self.are_vectors.iter().filter(|is_vector| !**is_vector).count();
        if batch_axes(self.out, cores_of_out) == 0 {
            return Ok((None, 1));
        }
        let sides =
            [batch(self.operands[0], cores[0])?, batch(self.operands[1], cores[1])?, batch(self.out, cores_of_out)?];
        let views: [&Layout; 3] = [&sides[0], &sides[1], &sides[2]];
        // The batches are traversed in C order, because partial results are stored in C order too.
        let walk = LoopNest::plan(&views, LoopNestRules::default())?;
        let count = walk.size();
        Ok((Some(walk), count))
    }
}

impl ProductProblem {
    /// Creates a product of floats without batches, for tests.
    #[cfg(test)]
    pub(super) fn of(a: MatrixOperand, b: MatrixOperand, out: Out, depth: i64) -> Self {
        Self { a, b, out, computed: ScalarType::Float32, depth, batches: 1, walk: None, is_turned: false }
    }

    fn turned(self) -> Self {
        let out = Out { row: self.out.column, column: self.out.row, ..self.out };
        Self { a: self.b, b: self.a, out, is_turned: !self.is_turned, ..self }
    }

    /// Whether the product is transposed, which exchanges its operands. If so, `a` is the second operand, and `b` is
    /// the first operand.
    pub(super) fn is_turned(&self) -> bool {
        self.is_turned
    }

    /// Whether the product is that of one matrix and one vector, and reads the matrix across the inner axis, as
    /// `vector @ matrix` does for a matrix in C order.
    pub(super) fn is_vector_across_matrix(&self) -> bool {
        self.batches == 1 && self.b.rows == 1 && self.a.rows > 1 && !self.a.is_along()
    }

    /// Returns the index of operand `side` in the loop nest over batches.
    pub(super) fn side_in_walk(&self, side: usize) -> usize {
        match (side, self.is_turned) {
            (0 | 1, true) => 1 - side,
            _ => side,
        }
    }

    /// Returns the address of the first matrix in an operand's batch.
    pub(super) fn address(&self, side: usize) -> u64 {
        let address = [self.a.address, self.b.address, self.out.address][side];
        let offset = self.walk.as_ref().map_or(0, |walk| walk.offset(self.side_in_walk(side)));
        address.wrapping_add_signed(offset)
    }

    /// Returns the bitwise OR of an operand's address and its batch strides, for alignment checks.
    pub(super) fn bits(&self, side: usize) -> i64 {
        let strides = self.walk.iter().flat_map(|walk| walk.strides(self.side_in_walk(side)));
        strides.fold(self.address(side) as i64, |bits, stride| bits | stride)
    }
}
