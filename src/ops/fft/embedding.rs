//! Describes arrays of any layout to an FFT library: as batches of transforms with strides and a distance.

use smallvec::SmallVec;

use pygpu_backend::libraries::fft::{FftLayout, FftType, RANK, Shape};
use pygpu_base::small_sort;
use pygpu_layout::{Axis, Layout};

/// Maximum number of library calls per transform: this number of calls costs less time than copying both arrays. More
/// calls are allowed if each call transforms at least `LARGE` elements.
const FEW: i64 = 4;
const LARGE: i64 = 1 << 18;

/// A batch of transforms that a library executes in one call, and the axes along which this call is repeated.
pub(super) struct Embedding {
    pub(super) shape: Shape,
    repeats: SmallVec<[Batch; 2]>,
}

/// An axis along which transforms are repeated: the axis's length, and its stride in bytes in the input and in the
/// output.
#[derive(Clone, Copy)]
pub(super) struct Batch {
    pub(super) len: i64,
    pub(super) input: i64,
    pub(super) output: i64,
}

/// A transformed axis: its number of points, and its length and stride in the input and in the output.
#[derive(Clone, Copy)]
struct Transformed {
    points: i64,
    input: Axis,
    output: Axis,
}

/// Whether the strides of a layout are multiples of the element size, so that a library can address every element.
pub(super) fn is_reachable(layout: &Layout) -> bool {
    layout.axes().iter().all(|axis| axis.len < 2 || (axis.stride > 0 && axis.stride % layout.itemsize() == 0))
}

/// Describes the transformed axes of one array. Returns `None` if a library cannot express them. A library requires
/// that each stride is a multiple of the next axis's stride, and that the elements along each axis do not extend beyond
/// the stride of the axis before it.
fn side(axes: &[Axis], itemsize: i64, distance: Option<i64>) -> Option<FftLayout> {
    let last = axes.last()?;
    let mut side = FftLayout { stride: last.stride / itemsize, ..FftLayout::default() };
    for (place, axis) in axes.iter().enumerate() {
        side.embed[place] = match place.checked_sub(1).map(|before| axes[before]) {
            None => axis.len,
            Some(outer) if outer.stride % axis.stride == 0 => outer.stride / axis.stride,
            Some(_) => return None,
        };
        if side.embed[place] < axis.len {
            return None;
        }
    }
    side.distance = match distance {
        Some(bytes) => bytes / itemsize,
        None => side.embed[..axes.len()].iter().product::<i64>() * side.stride,
    };
    Some(side)
}

/// Returns the axes that are not transformed, coalesced where possible.
pub(super) fn batches(input: &Layout, output: &Layout, axes: &[usize]) -> SmallVec<[Batch; 4]> {
    let both = input.axes().iter().zip(output.axes()).enumerate();
    let mut all: SmallVec<[Batch; 4]> = both
        .filter(|(axis, (input, _))| !axes.contains(axis) && input.len > 1)
        .map(|(_, (input, output))| Batch { len: input.len, input: input.stride, output: output.stride })
        .collect();
    small_sort::sort_by_key(&mut all, |batch| -batch.output);
    let mut merged: SmallVec<[Batch; 4]> = SmallVec::new();
    for batch in all {
        match merged.last_mut() {
            Some(outer) if outer.input == batch.input * batch.len && outer.output == batch.output * batch.len => {
                *outer = Batch { len: outer.len * batch.len, ..batch };
            }
            _ => merged.push(batch),
        }
    }
    merged
}

impl Embedding {
    /// Describes the transforms along `axes`. If one of the two arrays is real, the other array has only n / 2 + 1
    /// elements along the last of these axes, instead of n. Returns `None` if a library cannot express the layout, or
    /// if too many calls would be needed. The strides of both layouts must be multiples of the element size.
    pub(super) fn of(way: FftType, is_double: bool, input: &Layout, output: &Layout, axes: &[usize]) -> Option<Self> {
        let mut order: SmallVec<[Transformed; RANK]> = SmallVec::new();
        for &axis in axes {
            let (input, output) = (*input.axes().get(axis)?, *output.axes().get(axis)?);
            order.push(Transformed { points: input.len.max(output.len), input, output });
        }
        if let (Some(&last), true) = (axes.last(), way == FftType::ToReal) {
            // If the input is a half spectrum, the number of points of the transform is the output's length along the
            // transformed axis.
            order.last_mut()?.points = output.axes()[last].len;
        }
        let free = order.len() - usize::from(way != FftType::Complex);
        small_sort::sort_by_key(&mut order[..free], |one| -one.input.stride);
        if order.is_empty() || order.len() > RANK {
            return None;
        }
        let mut repeats = batches(input, output, axes);
        let (first, second) = (input.itemsize(), output.itemsize());
        let is_along = order.last().is_some_and(|one| one.input.stride == first && one.output.stride == second);
        // Each call must include the axis along which elements are adjacent: as a transformed axis if possible,
        // otherwise as the axis along which one call repeats its transform.
        let is_beside = |place: &usize| repeats[*place].input == first && repeats[*place].output == second;
        let beside = (0..repeats.len()).find(|place| !is_along && is_beside(place));
        let longest = (0..repeats.len()).max_by_key(|&place| repeats[place].len);
        let batch = beside.or(longest).map(|place| repeats.remove(place));
        let mut points = [1; RANK];
        order.iter().zip(&mut points).for_each(|(one, target)| *target = one.points);
        let count = batch.map_or(1, |batch| batch.len);
        let calls: i64 = repeats.iter().map(|one| one.len).product();
        let is_worth_it = calls <= FEW || points.iter().product::<i64>() * count >= LARGE;
        if calls > 1 && !(is_worth_it && (is_along || beside.is_some())) {
            return None;
        }
        // The libraries require each real array to start at a multiple of a complex element's size.
        let is_even = |one: &Batch| match way {
            FftType::Complex => true,
            FftType::FromReal => one.input % (2 * first) == 0,
            FftType::ToReal => one.output % (2 * second) == 0,
        };
        if !repeats.iter().all(is_even) {
            return None;
        }
        let of_input: SmallVec<[Axis; RANK]> = order.iter().map(|one| one.input).collect();
        let of_output: SmallVec<[Axis; RANK]> = order.iter().map(|one| one.output).collect();
        let shape = Shape {
            way,
            is_double,
            rank: order.len(),
            points,
            input: side(&of_input, first, batch.map(|batch| batch.input))?,
            output: side(&of_output, second, batch.map(|batch| batch.output))?,
            batch: count,
        };
        Some(Self { shape, repeats: repeats.into_iter().collect() })
    }

    /// Returns the byte offsets at which each library call begins in the input and the output, relative to the first
    /// elements of these arrays.
    pub(super) fn places(&self) -> impl Iterator<Item = [i64; 2]> + '_ {
        let calls: i64 = self.repeats.iter().map(|one| one.len).product();
        (0..calls).map(|mut number| {
            let mut place = [0; 2];
            for one in self.repeats.iter().rev() {
                let along = number % one.len;
                number /= one.len;
                place[0] += along * one.input;
                place[1] += along * one.output;
            }
            place
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use pygpu_layout::MemoryOrder;

    fn dense(shape: &[i64]) -> Layout {
        Layout::contiguous(shape, 8, MemoryOrder::C).unwrap()
    }

    fn complex(layout: &Layout, axes: &[usize]) -> Option<Embedding> {
        Embedding::of(FftType::Complex, false, layout, layout, axes)
    }

    #[test]
    fn transforms_of_trailing_axes_form_one_batch() {
        let made = complex(&dense(&[5, 4, 3, 2]), &[2, 3]).unwrap();
        let side = FftLayout { embed: [3, 2, 0], stride: 1, distance: 6 };
        assert_eq!((made.shape.points, made.shape.batch, made.shape.input), ([3, 2, 1], 20, side));
        assert_eq!(made.places().collect::<Vec<_>>(), [[0, 0]]);
    }

    #[test]
    fn transforms_of_leading_or_outer_axes_need_no_copy() {
        let first = complex(&dense(&[5, 4]), &[0]).unwrap().shape;
        assert_eq!((first.points, first.batch), ([5, 1, 1], 4));
        assert_eq!(first.input, FftLayout { embed: [5, 0, 0], stride: 4, distance: 1 });
        let around = complex(&dense(&[5, 4, 3]), &[2, 0]).unwrap().shape;
        assert_eq!((around.points, around.batch), ([5, 3, 1], 4));
        assert_eq!(around.input, FftLayout { embed: [5, 12, 0], stride: 1, distance: 3 });
    }

    #[test]
    fn transform_of_middle_axis_needs_several_calls_or_a_copy() {
        let made = complex(&dense(&[3, 4, 5]), &[1]).unwrap();
        assert_eq!((made.shape.batch, made.shape.input.distance), (5, 1));
        assert_eq!(made.places().collect::<Vec<_>>(), [[0, 0], [160, 160], [320, 320]]);
        assert!(complex(&dense(&[30, 4, 50]), &[1]).is_none());
        // In this case, no batch axis is cheap: batches along the last axis would need 4096 calls; along the first axis
        // only 32, but each call would access scattered elements.
        assert!(complex(&dense(&[4096, 64, 32]), &[1]).is_none());
    }

    #[test]
    fn half_spectrum_transform_takes_point_count_from_real_array() {
        let (real, half) = (Layout::contiguous(&[6, 8], 4, MemoryOrder::C).unwrap(), dense(&[6, 5]));
        let made = Embedding::of(FftType::FromReal, false, &real, &half, &[0, 1]).unwrap().shape;
        assert_eq!((made.points, made.input.embed, made.output.embed), ([6, 8, 1], [6, 8, 0], [6, 5, 0]));
        let made = Embedding::of(FftType::ToReal, false, &half, &real, &[1]).unwrap().shape;
        assert_eq!((made.points, made.batch, made.input.distance, made.output.distance), ([8, 1, 1], 6, 5, 8));
        let (real, half) = (Layout::contiguous(&[8, 6], 4, MemoryOrder::C).unwrap(), dense(&[5, 6]));
        // A library cannot express this case: the axis of the half spectrum is not the last one, so the axes are
        // transformed individually.
        assert!(Embedding::of(FftType::FromReal, false, &real, &half, &[1, 0]).is_none());
    }
}
