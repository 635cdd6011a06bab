//! Defines a slow model of a layout: a list of the byte offsets of all elements. Every view is computed index by index.

use pygpu::layout::{Index, Indexer, Layout, MemoryOrder, broadcast_shapes};

/// Shape of an array, and the byte offset of each element in C order.
#[derive(Clone, Debug)]
pub struct Model {
    pub shape: Vec<i64>,
    pub offsets: Vec<i64>,
}

/// Returns every index of a shape, in C order.
pub fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![vec![]], |prefixes, &len| {
        prefixes.iter().flat_map(|prefix| (0..len).map(move |i| [&prefix[..], &[i]].concat())).collect()
    })
}

pub fn place(shape: &[i64], index: &[i64]) -> usize {
    assert!(shape.iter().zip(index).all(|(len, i)| (0..*len).contains(i)), "{index:?} is not in {shape:?}");
    shape.iter().zip(index).fold(0, |place, (len, i)| place * len + i) as usize
}

impl Model {
    /// Returns the model of a view. `old` returns, for each index of the view, the index of the same element in this
    /// model.
    pub fn gather(&self, shape: Vec<i64>, old: impl Fn(&[i64]) -> Vec<i64>) -> Self {
        let offsets = indices(&shape).iter().map(|new| self.offsets[place(&self.shape, &old(new))]).collect();
        Self { shape, offsets }
    }

    pub fn of(layout: &Layout) -> Self {
        let shape: Vec<i64> = layout.shape().collect();
        let strides: Vec<i64> = layout.strides().collect();
        let at = |index: &Vec<i64>| layout.offset() + index.iter().zip(&strides).map(|(i, s)| i * s).sum::<i64>();
        Self { offsets: indices(&shape).iter().map(at).collect(), shape }
    }

    /// Returns for each element, in F order, its position in C order.
    pub fn f_order(shape: &[i64]) -> Vec<usize> {
        let reversed: Vec<i64> = shape.iter().rev().copied().collect();
        let back = |index: &Vec<i64>| index.iter().rev().copied().collect::<Vec<_>>();
        indices(&reversed).iter().map(|index| place(shape, &back(index))).collect()
    }

    pub fn reshape(&self, shape: &[i64], order: MemoryOrder) -> Self {
        if order == MemoryOrder::C {
            return Self { shape: shape.to_vec(), offsets: self.offsets.clone() };
        }
        let mut offsets = vec![0; self.offsets.len()];
        for (from, to) in Self::f_order(&self.shape).into_iter().zip(Self::f_order(shape)) {
            offsets[to] = self.offsets[from];
        }
        Self { shape: shape.to_vec(), offsets }
    }
}

/// View operation whose parameters are random numbers. `apply` maps these numbers to values that are valid for the
/// array.
#[derive(Clone, Debug)]
pub enum Step {
    Integer(u8, i64),
    Slice(u8, Option<i64>, Option<i64>, Option<i64>),
    NewAxis(u8),
    EllipsisInteger(i64),
    Permute(Vec<u8>),
    Swap(u8, u8),
    Move(u8, u8),
    Flip(u8),
    Squeeze,
    Expand(u8),
    Broadcast(u8, i64),
    BroadcastOnes(i64),
    Diagonal(i64, u8, u8),
    Split(u8, u8, bool),
    Merge(u8, bool),
    Ravel(bool),
    ViewDtype(bool),
}

pub fn fold(value: u8, range: usize) -> usize {
    value as usize % range
}

/// Returns the indices that a slice selects on an axis of length `len`, by Python's rules.
pub fn python_slice(len: i64, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Vec<i64> {
    let step = step.unwrap_or(1);
    let clamp = |index: i64, low: i64, high: i64| (if index < 0 { index + len } else { index }).clamp(low, high);
    let (mut at, stop) = if step > 0 {
        (start.map_or(0, |i| clamp(i, 0, len)), stop.map_or(len, |i| clamp(i, 0, len)))
    } else {
        (start.map_or(len - 1, |i| clamp(i, -1, len - 1)), stop.map_or(-1, |i| clamp(i, -1, len - 1)))
    };
    let mut taken = vec![];
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        taken.push(at);
        at += step;
    }
    taken
}

const ALL: Index = Index::Slice { start: None, stop: None, step: None };

/// Applies a view operation to the layout and to the model. Returns `None` if the operation is not possible for this
/// layout.
pub fn apply(step: &Step, layout: &Layout, model: &Model) -> Option<(Layout, Model)> {
    let shape = &model.shape;
    let ndim = shape.len();
    let with = |axis: usize, value: i64, index: &[i64]| {
        let mut index = index.to_vec();
        index[axis] = value;
        index
    };
    let without = |axis: usize| [&shape[..axis], &shape[axis + 1..]].concat();
    let inserted = |axis: usize, value: i64, list: &[i64]| [&list[..axis], &[value], &list[axis..]].concat();
    let some_axis = |value: u8| (ndim > 0).then(|| fold(value, ndim.max(1)));
    let negative = |axis: usize, value: u8| if value & 128 == 0 { axis as i64 } else { axis as i64 - ndim as i64 };
    let order = |f: bool| if f { MemoryOrder::F } else { MemoryOrder::C };
    Some(match *step {
        Step::Integer(axis, i) => {
            let axis = some_axis(axis)?;
            let len = shape[axis];
            let index = (len > 0).then(|| i.rem_euclid(2 * len.max(1)) - len)?;
            let mut key = vec![ALL; axis];
            key.push(Index::Integer(index));
            let at = index.rem_euclid(len);
            (layout.index(&key).unwrap(), model.gather(without(axis), |new| inserted(axis, at, new)))
        }
        Step::EllipsisInteger(i) => {
            let last = ndim.checked_sub(1)?;
            let at = (shape[last] > 0).then(|| i.rem_euclid(shape[last].max(1)))?;
            let view = layout.index(&[Index::Ellipsis, Index::Integer(at)]).unwrap();
            (view, model.gather(without(last), |new| inserted(last, at, new)))
        }
        Step::Slice(axis, start, stop, step) => {
            let axis = some_axis(axis)?;
            let taken = python_slice(shape[axis], start, stop, step);
            let mut key = vec![ALL; axis];
            key.push(Index::Slice { start, stop, step });
            let view = layout.index(&key).unwrap();
            let mut streamed = Layout::scalar(1);
            let mut indexer = Indexer::new(layout, &mut streamed, axis + 1, true);
            (0..axis).for_each(|axis| indexer.slice_clipped(0, 1, shape[axis]).unwrap());
            let first = taken.first().copied().unwrap_or(0);
            indexer.slice_clipped(first, step.unwrap_or(1), taken.len() as i64).unwrap();
            indexer.ellipsis().unwrap();
            indexer.finish().unwrap();
            assert_eq!(view, streamed, "the two ways to slice differ");
            let new_shape = with(axis, taken.len() as i64, shape);
            (view, model.gather(new_shape, |new| with(axis, taken[new[axis] as usize], new)))
        }
        Step::NewAxis(axis) | Step::Expand(axis) => {
            let place = fold(axis, ndim + 1);
            let view = if matches!(step, Step::Expand(_)) {
                layout.expand_dims(&[if axis & 128 == 0 { place as i64 } else { place as i64 - ndim as i64 - 1 }])
            } else {
                let mut key = vec![ALL; place];
                key.push(Index::NewAxis);
                layout.index(&key)
            };
            let grown = inserted(place, 1, shape);
            (view.unwrap(), model.gather(grown, |new| [&new[..place], &new[place + 1..]].concat()))
        }
        Step::Permute(ref keys) => {
            let mut axes: Vec<usize> = (0..ndim).collect();
            axes.sort_by_key(|axis| keys.get(*axis).copied().unwrap_or(0));
            let signed: Vec<i64> = axes.iter().map(|axis| negative(*axis, keys[0])).collect();
            let new_shape = axes.iter().map(|axis| shape[*axis]).collect();
            let old = |new: &[i64]| {
                let mut old = vec![0; ndim];
                axes.iter().zip(new).for_each(|(axis, i)| old[*axis] = *i);
                old
            };
            (layout.transpose(Some(&signed)).unwrap(), model.gather(new_shape, old))
        }
        Step::Swap(a, b) => {
            let (first, second) = (some_axis(a)?, some_axis(b)?);
            let swap = |list: &[i64]| {
                let mut list = list.to_vec();
                list.swap(first, second);
                list
            };
            (layout.swap_axes(negative(first, a), second as i64).unwrap(), model.gather(swap(shape), swap))
        }
        Step::Move(a, b) => {
            let (from, to) = (some_axis(a)?, some_axis(b)?);
            let shift = |list: &[i64], from: usize, to: usize| {
                let mut list = list.to_vec();
                let value = list.remove(from);
                list.insert(to, value);
                list
            };
            let view = layout.move_axis(&[from as i64], &[negative(to, b)]).unwrap();
            (view, model.gather(shift(shape, from, to), |new| shift(new, to, from)))
        }
        Step::Flip(value) => {
            let axis = some_axis(value)?;
            let view = layout.flip(Some(&[negative(axis, value)])).unwrap();
            (view, model.gather(shape.clone(), |new| with(axis, shape[axis] - 1 - new[axis], new)))
        }
        Step::Squeeze => {
            let new_shape = shape.iter().copied().filter(|len| *len != 1).collect();
            (layout.squeeze(None).unwrap(), Model { shape: new_shape, offsets: model.offsets.clone() })
        }
        Step::Broadcast(axis, len) => {
            let place = fold(axis, ndim + 1);
            let expanded = layout.expand_dims(&[place as i64]).unwrap();
            let new_shape = inserted(place, len, shape);
            let view = expanded.broadcast_to(&new_shape).unwrap();
            (view, model.gather(new_shape, |new| [&new[..place], &new[place + 1..]].concat()))
        }
        Step::BroadcastOnes(len) => {
            let stretched: Vec<i64> = shape.iter().map(|old| if *old == 1 { len } else { *old }).collect();
            let new_shape = inserted(0, len, &stretched);
            let view = layout.broadcast_to(&new_shape).unwrap();
            let common = broadcast_shapes(&[shape, &stretched, &vec![1; ndim]]).unwrap();
            assert_eq!(common[..], if len == 1 { shape.clone() } else { stretched.clone() });
            let old = |new: &[i64]| new[1..].iter().zip(shape).map(|(i, len)| if *len == 1 { 0 } else { *i }).collect();
            (view, model.gather(new_shape, old))
        }
        Step::Diagonal(offset, a, b) => {
            let (first, second) = (some_axis(a)?, some_axis(b)?);
            (first != second).then_some(())?;
            let (up, down) = (offset.max(0), (-offset).max(0));
            let len = (shape[first] - down).min(shape[second] - up).max(0);
            let rest: Vec<usize> = (0..ndim).filter(|axis| *axis != first && *axis != second).collect();
            let new_shape: Vec<i64> = rest.iter().map(|axis| shape[*axis]).chain([len]).collect();
            let old = |new: &[i64]| {
                let mut old = vec![0; ndim];
                rest.iter().zip(new).for_each(|(axis, i)| old[*axis] = *i);
                (old[first], old[second]) = (new[ndim - 2] + down, new[ndim - 2] + up);
                old
            };
            (layout.diagonal(offset, negative(first, a), second as i64).unwrap(), model.gather(new_shape, old))
        }
        Step::Split(axis, divisor, f) => {
            let axis = some_axis(axis)?;
            let divisors: Vec<i64> = (1..=shape[axis]).filter(|d| shape[axis] % d == 0).collect();
            let part = *divisors.get(fold(divisor, divisors.len().max(1)))?;
            let new_shape = [&shape[..axis], &[part, shape[axis] / part], &shape[axis + 1..]].concat();
            let mut requested_shape = new_shape.clone();
            if divisor & 128 != 0 && !requested_shape.contains(&0) {
                requested_shape[axis] = -1;
            }
            let reshaped = layout.reshape(&requested_shape, order(f)).unwrap();
            (reshaped.expect("splitting an axis never needs a copy"), model.reshape(&new_shape, order(f)))
        }
        Step::Merge(axis, f) => {
            let first = (ndim >= 2).then(|| fold(axis, (ndim - 1).max(1)))?;
            let merged = [&shape[..first], &[shape[first] * shape[first + 1]], &shape[first + 2..]].concat();
            (layout.reshape(&merged, order(f)).unwrap()?, model.reshape(&merged, order(f)))
        }
        Step::Ravel(f) => {
            let size = model.offsets.len() as i64;
            (layout.ravel(order(f)).unwrap()?, model.reshape(&[size], order(f)))
        }
        Step::ViewDtype(halve) => {
            let itemsize = layout.itemsize();
            let new = if halve { itemsize / 2 } else { itemsize * 2 };
            let view = (!halve || itemsize % 2 == 0).then(|| layout.view_dtype(new).ok()).flatten()?;
            let mut shape = shape.clone();
            let last = shape.last_mut()?;
            *last = *last * itemsize / new;
            let offsets = if halve {
                model.offsets.iter().flat_map(|offset| [*offset, offset + new]).collect()
            } else {
                model.offsets.iter().step_by(2).copied().collect()
            };
            (view, Model { shape, offsets })
        }
    })
}
