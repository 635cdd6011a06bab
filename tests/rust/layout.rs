//! Layouts against a slow model: the plain list of the byte offsets of all elements, worked out index by index.
//!
//! A random chain of views is applied to both, and after each the layout must name the model's offsets. A failure
//! prints the chain, and proptest its seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use proptest::prelude::*;
use pygpu::layout::{
    Blocks, Index, Indexer, Layout, Odometer, Order, broadcast_shapes, collapse, for_each_line, for_each_run, overlap,
};

/// Shape, and the offset of every element in C order.
#[derive(Clone, Debug)]
struct Model {
    shape: Vec<i64>,
    offsets: Vec<i64>,
}

/// Every index of a shape, in C order.
fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    shape.iter().fold(vec![vec![]], |prefixes, &len| {
        prefixes.iter().flat_map(|prefix| (0..len).map(move |i| [&prefix[..], &[i]].concat())).collect()
    })
}

fn place(shape: &[i64], index: &[i64]) -> usize {
    assert!(shape.iter().zip(index).all(|(len, i)| (0..*len).contains(i)), "{index:?} is not in {shape:?}");
    shape.iter().zip(index).fold(0, |place, (len, i)| place * len + i) as usize
}

impl Model {
    /// A new shape, each index of which names the element at an old index.
    fn gather(&self, shape: Vec<i64>, old: impl Fn(&[i64]) -> Vec<i64>) -> Self {
        let offsets = indices(&shape).iter().map(|new| self.offsets[place(&self.shape, &old(new))]).collect();
        Self { shape, offsets }
    }

    fn of(layout: &Layout) -> Self {
        let shape: Vec<i64> = layout.shape().collect();
        let strides: Vec<i64> = layout.strides().collect();
        let at = |index: &Vec<i64>| layout.offset() + index.iter().zip(&strides).map(|(i, s)| i * s).sum::<i64>();
        Self { offsets: indices(&shape).iter().map(at).collect(), shape }
    }

    /// Flat positions in F order of the C-ordered list.
    fn f_order(shape: &[i64]) -> Vec<usize> {
        let reversed: Vec<i64> = shape.iter().rev().copied().collect();
        let back = |index: &Vec<i64>| index.iter().rev().copied().collect::<Vec<_>>();
        indices(&reversed).iter().map(|index| place(shape, &back(index))).collect()
    }

    fn reshape(&self, shape: &[i64], order: Order) -> Self {
        if order == Order::C {
            return Self { shape: shape.to_vec(), offsets: self.offsets.clone() };
        }
        let mut offsets = vec![0; self.offsets.len()];
        for (from, to) in Self::f_order(&self.shape).into_iter().zip(Self::f_order(shape)) {
            offsets[to] = self.offsets[from];
        }
        Self { shape: shape.to_vec(), offsets }
    }
}

/// A view, with numbers that are folded into whatever range the array at hand allows.
#[derive(Clone, Debug)]
enum Step {
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

fn step() -> impl Strategy<Value = Step> {
    let bound = || proptest::option::of(-7i64..8);
    let stride = proptest::option::of((-4i64..4).prop_filter("not zero", |step| *step != 0));
    prop_oneof![
        1 => (any::<u8>(), any::<i64>()).prop_map(|(a, i)| Step::Integer(a, i)),
        4 => (any::<u8>(), bound(), bound(), stride).prop_map(|(a, b, c, d)| Step::Slice(a, b, c, d)),
        1 => any::<u8>().prop_map(Step::NewAxis),
        1 => any::<i64>().prop_map(Step::EllipsisInteger),
        2 => proptest::collection::vec(any::<u8>(), 6).prop_map(Step::Permute),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Step::Swap(a, b)),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Step::Move(a, b)),
        2 => any::<u8>().prop_map(Step::Flip),
        1 => Just(Step::Squeeze),
        1 => any::<u8>().prop_map(Step::Expand),
        1 => (any::<u8>(), 0i64..4).prop_map(|(a, n)| Step::Broadcast(a, n)),
        1 => (0i64..4).prop_map(Step::BroadcastOnes),
        1 => (-5i64..5, any::<u8>(), any::<u8>()).prop_map(|(o, a, b)| Step::Diagonal(o, a, b)),
        2 => (any::<u8>(), any::<u8>(), any::<bool>()).prop_map(|(a, b, f)| Step::Split(a, b, f)),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(a, f)| Step::Merge(a, f)),
        1 => any::<bool>().prop_map(Step::Ravel),
        1 => any::<bool>().prop_map(Step::ViewDtype),
    ]
}

fn fold(value: u8, range: usize) -> usize {
    value as usize % range
}

/// Python's own enumeration of a slice, element by element.
fn python_slice(len: i64, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Vec<i64> {
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

/// Applies a step to the layout and to the model; `None` where it does not apply or would make too much of it.
fn apply(step: &Step, layout: &Layout, model: &Model) -> Option<(Layout, Model)> {
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
    let order = |f: bool| if f { Order::F } else { Order::C };
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
            let mut indexer = Indexer::new(layout, axis + 1, true);
            (0..axis).for_each(|axis| indexer.slice_clipped(0, 1, shape[axis]).unwrap());
            let first = taken.first().copied().unwrap_or(0);
            indexer.slice_clipped(first, step.unwrap_or(1), taken.len() as i64).unwrap();
            indexer.ellipsis().unwrap();
            assert_eq!(view, indexer.finish().unwrap(), "the two ways to slice differ");
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
            let mut wanted = new_shape.clone();
            if divisor & 128 != 0 && !wanted.contains(&0) {
                wanted[axis] = -1;
            }
            let reshaped = layout.reshape(&wanted, order(f)).unwrap();
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

#[derive(Clone, Debug)]
struct Chain {
    shape: Vec<i64>,
    f: bool,
    itemsize: i64,
    steps: Vec<Step>,
}

fn chain(longest: usize) -> impl Strategy<Value = Chain> {
    let len = prop_oneof![1 => Just(0i64), 2 => Just(1), 12 => 2i64..6];
    let itemsize = prop_oneof![Just(1i64), Just(4), Just(3)];
    (proptest::collection::vec(len, 0..5), any::<bool>(), itemsize, proptest::collection::vec(step(), 0..longest))
        .prop_map(|(shape, f, itemsize, steps)| Chain { shape, f, itemsize, steps })
}

impl Chain {
    fn start(&self) -> (Layout, Model) {
        let layout = Layout::contiguous(&self.shape, self.itemsize, if self.f { Order::F } else { Order::C }).unwrap();
        let model = Model::of(&layout);
        (layout, model)
    }

    fn run(&self, mut check: impl FnMut(&Layout, &Model)) -> (Layout, Model) {
        let (mut layout, mut model) = self.start();
        for step in &self.steps {
            if model.offsets.len() > 2000 || model.shape.len() > 8 {
                break;
            }
            if let Some(next) = apply(step, &layout, &model) {
                (layout, model) = next;
                check(&layout, &model);
            }
        }
        (layout, model)
    }
}

/// A list is contiguous if it names adjacent elements in order, in C or F order of its shape.
fn is_contiguous(model: &Model, order: Order, itemsize: i64) -> bool {
    let list: Vec<i64> = match order {
        Order::C => model.offsets.clone(),
        Order::F => Model::f_order(&model.shape).into_iter().map(|place| model.offsets[place]).collect(),
    };
    list.windows(2).all(|pair| pair[1] == pair[0] + itemsize)
}

/// Every byte that the model touches.
fn bytes(model: &Model, itemsize: i64) -> Vec<i64> {
    model.offsets.iter().flat_map(|offset| *offset..offset + itemsize).collect()
}

/// The pairs (written byte, read byte) of an elementwise copy, sorted.
fn copied(dst: &Model, src: &Model, itemsize: i64) -> Vec<(i64, i64)> {
    let mut pairs: Vec<(i64, i64)> = bytes(dst, itemsize).into_iter().zip(bytes(src, itemsize)).collect();
    pairs.sort_unstable();
    pairs
}

fn runs_to_pairs(runs: impl IntoIterator<Item = (i64, i64, i64)>) -> Vec<(i64, i64)> {
    let mut pairs: Vec<(i64, i64)> =
        runs.into_iter().flat_map(|(dst, src, bytes)| (0..bytes).map(move |byte| (dst + byte, src + byte))).collect();
    pairs.sort_unstable();
    pairs
}

/// Two layouts of one shape: the chain's result, and a contiguous, shuffled, broadcast or equal partner for it.
fn partner(layout: &Layout, kind: u8) -> Layout {
    let shape: Vec<i64> = layout.shape().collect();
    match kind % 5 {
        0 => Layout::contiguous(&shape, layout.itemsize(), Order::C).unwrap(),
        1 => Layout::contiguous(&shape, layout.itemsize(), Order::F).unwrap(),
        2 => layout.clone(),
        3 => {
            let padded: Vec<i64> = shape.iter().map(|len| 2 * len + 1).collect();
            let middle: Vec<Index> =
                shape.iter().map(|len| Index::Slice { start: Some(1), stop: Some(len + 1), step: None }).collect();
            Layout::contiguous(&padded, layout.itemsize(), Order::C).unwrap().index(&middle).unwrap()
        }
        _ => Layout::contiguous(&shape, layout.itemsize(), Order::C).unwrap().flip(None).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_view_names_the_elements_that_the_model_names(chain in chain(12)) {
        let allocation = chain.start().0.nbytes();
        chain.run(|layout, model| {
            let found = Model::of(layout);
            assert_eq!((&found.shape, &found.offsets), (&model.shape, &model.offsets), "{layout:?}");
            assert_eq!(layout.size(), model.offsets.len() as i64);
            assert_eq!(layout.nbytes(), layout.size() * layout.itemsize());
            assert!((0..=allocation).contains(&layout.offset()), "the offset stays inside the allocation");
        });
    }

    #[test]
    fn flags_and_extent_follow_from_the_offsets(chain in chain(8)) {
        chain.run(|layout, model| {
            let itemsize = layout.itemsize();
            assert_eq!(layout.is_c_contiguous(), is_contiguous(model, Order::C, itemsize), "{layout:?}");
            assert_eq!(layout.is_f_contiguous(), is_contiguous(model, Order::F, itemsize), "{layout:?}");
            let low = model.offsets.iter().min().copied();
            let high = model.offsets.iter().max().map(|offset| offset + itemsize);
            assert_eq!(layout.extent(), low.zip(high));
        });
    }

    #[test]
    fn collapsing_keeps_the_elements_together_and_leaves_nothing_to_merge(chain in chain(8), kind: u8) {
        let (layout, _) = chain.run(|_, _| ());
        let other = partner(&layout, kind);
        let collapsed = collapse([&layout, &other]).unwrap();
        let mut found: Vec<[i64; 2]> = Odometer::new(&collapsed.axes, collapsed.offsets).collect();
        let mut expected: Vec<[i64; 2]> =
            Model::of(&layout).offsets.into_iter().zip(Model::of(&other).offsets).map(|(a, b)| [a, b]).collect();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(collapsed.size(), layout.size());
        prop_assert!(collapsed.axes.iter().all(|axis| axis.len != 1 && axis.strides[0] >= 0));
        for pair in collapsed.axes.windows(2) {
            prop_assert!(pair[0].strides[0] >= pair[1].strides[0]);
            prop_assert!((0..2).any(|k| pair[0].strides[k] != pair[1].len * pair[1].strides[k]));
        }
    }

    #[test]
    fn blocks_copy_the_bytes_of_an_elementwise_copy(chain in chain(8), kind: u8, swap: bool) {
        let (layout, _) = chain.run(|_, _| ());
        let other = partner(&layout, kind);
        let (dst, src) = if swap { (&other, &layout) } else { (&layout, &other) };
        let expected = copied(&Model::of(dst), &Model::of(src), dst.itemsize());
        let found = match Blocks::of(dst, src).unwrap() {
            Blocks::One { dst, src, bytes } => runs_to_pairs([(dst, src, bytes)]),
            Blocks::Uniform(block) => {
                check_pitches(&block);
                runs_to_pairs(block.rows().map(|(dst, src)| (dst, src, block.width)))
            }
            Blocks::Many(many) => {
                many.blocks().for_each(|block| check_pitches(&block));
                prop_assert_eq!(many.blocks().len() as i64, many.count());
                prop_assert!(many.count() > 1);
                runs_to_pairs(many.runs())
            }
        };
        prop_assert_eq!(&found, &expected);
        let mut runs = vec![];
        for_each_run(dst, src, |dst, src, bytes| runs.push((dst, src, bytes))).unwrap();
        prop_assert_eq!(runs_to_pairs(runs), expected.clone());
        let mut runs = vec![];
        for_each_line(dst, src, |line| {
            runs.extend((0..line.count).map(|i| {
                (line.dst + i * line.dst_stride, line.src + i * line.src_stride, line.width)
            }));
        }).unwrap();
        prop_assert_eq!(runs_to_pairs(runs), expected);
    }

    #[test]
    fn overlap_is_never_denied_wrongly(chain in chain(8), second in proptest::collection::vec(step(), 0..8)) {
        let (a, first) = chain.run(|_, _| ());
        let (b, other) = Chain { steps: second, ..chain.clone() }.run(|_, _| ());
        let taken = bytes(&first, a.itemsize());
        let meets = bytes(&other, b.itemsize()).iter().any(|byte| taken.contains(byte));
        prop_assert!(overlap(&a, &b) || !meets, "{:?} and {:?} share bytes", a, b);
        prop_assert_eq!(overlap(&a, &b), overlap(&b, &a));
        let mut unique = taken.clone();
        unique.sort_unstable();
        unique.dedup();
        prop_assert!(a.has_internal_overlap() || unique.len() == taken.len(), "{:?} meets itself", a);
    }
}

fn check_pitches(block: &pygpu::layout::Uniform) {
    assert!(block.dst_pitch >= block.width && block.src_pitch >= block.width);
    for (slice, pitch) in [(block.dst_slice, block.dst_pitch), (block.src_slice, block.src_pitch)] {
        assert!(block.depth == 1 || (slice % pitch == 0 && slice >= pitch * block.height));
    }
}
