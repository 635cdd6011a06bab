//! Compares layouts with a slow model: a list of the byte offsets of all elements, computed index by index.
//!
//! A random chain of views is applied to the layout and to the model. After each view, the layout must have the same
//! offsets as the model. On a failure the test prints the chain, and proptest prints the seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use pygpu::layout::{
    CopyBlocks, Index, Layout, MemoryOrder, Odometer, Uniform, for_each_line, for_each_run, overlap, paired,
};

use model::{Model, Step, apply};

#[path = "layout/loop_nests.rs"]
mod loop_nests;
#[path = "layout/model.rs"]
mod model;

#[derive(Clone, Debug)]
struct Chain {
    shape: Vec<i64>,
    f: bool,
    itemsize: i64,
    steps: Vec<Step>,
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

fn chain(longest: usize) -> impl Strategy<Value = Chain> {
    let len = prop_oneof![1 => Just(0i64), 2 => Just(1), 12 => 2i64..6];
    let itemsize = prop_oneof![Just(1i64), Just(4), Just(3)];
    (proptest::collection::vec(len, 0..5), any::<bool>(), itemsize, proptest::collection::vec(step(), 0..longest))
        .prop_map(|(shape, f, itemsize, steps)| Chain { shape, f, itemsize, steps })
}

impl Chain {
    fn start(&self) -> (Layout, Model) {
        let layout =
            Layout::contiguous(&self.shape, self.itemsize, if self.f { MemoryOrder::F } else { MemoryOrder::C })
                .unwrap();
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

/// Returns whether the elements of a model, taken in C or F order, are adjacent in memory.
fn is_contiguous(model: &Model, order: MemoryOrder, itemsize: i64) -> bool {
    let list: Vec<i64> = match order {
        MemoryOrder::C => model.offsets.clone(),
        MemoryOrder::F => Model::f_order(&model.shape).into_iter().map(|place| model.offsets[place]).collect(),
    };
    list.windows(2).all(|pair| pair[1] == pair[0] + itemsize)
}

/// Returns the offsets of all bytes of the model's elements.
fn bytes(model: &Model, itemsize: i64) -> Vec<i64> {
    model.offsets.iter().flat_map(|offset| *offset..offset + itemsize).collect()
}

/// Returns the pairs of bytes that an elementwise copy copies: the offset of the written byte, and the offset of the
/// read byte. The pairs are sorted.
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

/// Returns another layout of the same shape. Depending on `kind`, it is C- or F-contiguous, equal, padded or reversed.
fn partner(layout: &Layout, kind: u8) -> Layout {
    let shape: Vec<i64> = layout.shape().collect();
    match kind % 5 {
        0 => Layout::contiguous(&shape, layout.itemsize(), MemoryOrder::C).unwrap(),
        1 => Layout::contiguous(&shape, layout.itemsize(), MemoryOrder::F).unwrap(),
        2 => layout.clone(),
        3 => {
            let padded: Vec<i64> = shape.iter().map(|len| 2 * len + 1).collect();
            let middle: Vec<Index> =
                shape.iter().map(|len| Index::Slice { start: Some(1), stop: Some(len + 1), step: None }).collect();
            Layout::contiguous(&padded, layout.itemsize(), MemoryOrder::C).unwrap().index(&middle).unwrap()
        }
        _ => Layout::contiguous(&shape, layout.itemsize(), MemoryOrder::C).unwrap().flip(None).unwrap(),
    }
}

/// Returns the configuration of proptest. After a failure, proptest prints the seed and stores it in a folder that git
/// ignores. The next run tests stored seeds first.
fn config() -> ProptestConfig {
    let kept = FileFailurePersistence::Direct("proptest-regressions/layout.txt");
    ProptestConfig { cases: 2000, failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn view_of_layout_has_same_elements_as_view_of_model(chain in chain(12)) {
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
    fn layout_flags_and_extent_match_offsets_of_model(chain in chain(8)) {
        chain.run(|layout, model| {
            let itemsize = layout.itemsize();
            assert_eq!(layout.is_c_contiguous(), is_contiguous(model, MemoryOrder::C, itemsize), "{layout:?}");
            assert_eq!(layout.is_f_contiguous(), is_contiguous(model, MemoryOrder::F, itemsize), "{layout:?}");
            let low = model.offsets.iter().min().copied();
            let high = model.offsets.iter().max().map(|offset| offset + itemsize);
            assert_eq!(layout.extent(), low.zip(high));
        });
    }

    #[test]
    fn paired_axes_visit_elements_of_model_and_cannot_be_merged(chain in chain(8), kind: u8) {
        let (layout, _) = chain.run(|_, _| ());
        let other = partner(&layout, kind);
        let (axes, offsets) = paired(&layout, &other).unwrap();
        let mut found: Vec<[i64; 2]> = Odometer::new(&axes, offsets).collect();
        let mut expected: Vec<[i64; 2]> =
            Model::of(&layout).offsets.into_iter().zip(Model::of(&other).offsets).map(|(a, b)| [a, b]).collect();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(axes.iter().map(|axis| axis.len).product::<i64>(), layout.size());
        prop_assert!(axes.iter().all(|axis| axis.len != 1 && axis.strides[0] >= 0));
        for pair in axes.windows(2) {
            prop_assert!(pair[0].strides[0] >= pair[1].strides[0]);
            prop_assert!((0..2).any(|k| pair[0].strides[k] != pair[1].len * pair[1].strides[k]));
        }
    }

    #[test]
    fn copy_blocks_match_elementwise_copy(chain in chain(8), kind: u8, swap: bool) {
        let (layout, _) = chain.run(|_, _| ());
        let other = partner(&layout, kind);
        let (dst, src) = if swap { (&other, &layout) } else { (&layout, &other) };
        let expected = copied(&Model::of(dst), &Model::of(src), dst.itemsize());
        let found = match CopyBlocks::of(dst, src).unwrap() {
            CopyBlocks::One { dst, src, bytes } => runs_to_pairs([(dst, src, bytes)]),
            CopyBlocks::Uniform(block) => {
                check_pitches(&block);
                runs_to_pairs(block.rows().map(|(dst, src)| (dst, src, block.width)))
            }
            CopyBlocks::Many(many) => {
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
    fn overlap_of_layouts_with_common_bytes_is_always_detected(chain in chain(8), second in proptest::collection::vec(step(), 0..8)) {
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

fn check_pitches(block: &Uniform) {
    assert!(block.dst_pitch >= block.width && block.src_pitch >= block.width);
    for (slice, pitch) in [(block.dst_slice, block.dst_pitch), (block.src_slice, block.src_pitch)] {
        assert!(block.depth == 1 || (slice % pitch == 0 && slice >= pitch * block.height));
    }
}
