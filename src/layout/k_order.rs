//! Determines the memory order of the result of an operation with several operands, which is NumPy's order `'K'`.

use super::{Dims, Layout, MemoryOrder};
use pygpu_base::error::Result;

impl Layout {
    /// Returns a dense layout of the shape to which the operands are broadcast. Its axes are in the memory order on
    /// which the operands agree; axes on which they do not agree are in C order.
    ///
    /// # Errors
    /// `ValueError` if the size in bytes exceeds 64 bits.
    pub fn in_k_order(shape: &[i64], operands: &[&Self], itemsize: i64) -> Result<Self> {
        let mut made = Self::contiguous(shape, itemsize, MemoryOrder::C)?;
        if operands.iter().all(|operand| operand.is_c_contiguous()) || made.is_empty() {
            return Ok(made);
        }
        let mut innermost_first: Dims = Dims::new();
        for axis in (0..shape.len()).rev() {
            // Axes whose relative order no operand determines stay in C order.
            let (mut place, mut candidate) = (innermost_first.len(), innermost_first.len());
            while candidate > 0 {
                candidate -= 1;
                match is_nearer(operands, shape.len(), axis, innermost_first[candidate] as usize) {
                    Some(true) => place = candidate,
                    Some(false) => break,
                    None => {}
                }
            }
            innermost_first.insert(place, axis as i64);
        }
        let mut stride = itemsize;
        for axis in innermost_first {
            made.axes[axis as usize].stride = stride;
            stride *= shape[axis as usize];
        }
        Ok(made)
    }
}

/// Returns whether `axis` must be nearer to the innermost axis than `other`, because every operand with nonzero strides
/// along both axes has the smaller stride along `axis`. Returns `None` if no operand has nonzero strides along both
/// axes.
fn is_nearer(operands: &[&Layout], rank: usize, axis: usize, other: usize) -> Option<bool> {
    let stride = |operand: &Layout, axis: usize| {
        let own = operand.axes.get((axis + operand.ndim()).checked_sub(rank)?)?;
        (own.len != 1 && own.stride != 0).then(|| own.stride.unsigned_abs())
    };
    let said = operands.iter().filter_map(|operand| Some(stride(operand, axis)? < stride(operand, other)?));
    said.reduce(|all, one| all && one)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn strides(shape: &[i64], operands: &[&Layout]) -> Vec<i64> {
        Layout::in_k_order(shape, operands, 8).unwrap().strides().collect()
    }

    #[test]
    fn axis_order_common_to_operands_determines_result_order() {
        let plain = Layout::contiguous(&[2, 3, 4], 4, MemoryOrder::C).unwrap();
        let back = Layout::contiguous(&[2, 3, 4], 4, MemoryOrder::F).unwrap();
        let mixed = Layout::contiguous(&[3, 2, 4], 4, MemoryOrder::C).unwrap().transpose(Some(&[1, 0, 2])).unwrap();
        assert_eq!(strides(&[2, 3, 4], &[&back, &back]), [8, 16, 48]);
        assert_eq!(strides(&[2, 3, 4], &[&mixed, &mixed]), [32, 64, 8]);
        assert_eq!(strides(&[2, 3, 4], &[&back, &plain]), [96, 32, 8]);
        assert_eq!(strides(&[2, 3, 4], &[&plain, &back]), [96, 32, 8]);
        assert_eq!(strides(&[2, 3, 4], &[&Layout::scalar(4), &back]), [8, 16, 48]);
        assert_eq!(strides(&[0, 3], &[&Layout::contiguous(&[0, 3], 4, MemoryOrder::F).unwrap()]).len(), 2);
    }

    #[test]
    fn operand_does_not_determine_order_of_its_broadcast_axes() {
        let row = Layout::contiguous(&[4], 4, MemoryOrder::C).unwrap();
        let across = Layout::contiguous(&[3, 4], 4, MemoryOrder::F).unwrap();
        assert_eq!(strides(&[3, 4], &[&row, &across]), [8, 24]);
        let column = Layout::contiguous(&[3, 1], 4, MemoryOrder::C).unwrap();
        assert_eq!(strides(&[3, 4], &[&column, &row]), [32, 8]);
    }
}
