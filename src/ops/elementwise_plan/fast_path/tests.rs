#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::{AccessPattern, ElementPlan, PackLayout};
use crate::kernel_argument::{Argument, ArgumentRole};
use crate::user_source_analysis::{Analysis, Texts};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::{Index, Layout, MemoryOrder};
use pygpu_memory::Allocation;

const BLOCK: usize = 1 << 12;
const NAMES: [&str; 3] = ["a", "b", "z"];

/// A random array in one of two memory blocks.
#[derive(Clone, Debug)]
struct Drawn {
    kind: ScalarType,
    block: usize,
    offset: i64,
    order: MemoryOrder,
    /// Selects one of several views of the memory block. Views that are reversed, strided or have an additional axis do
    /// not qualify for the fast path.
    view: u8,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let kinds = prop::sample::select(vec![
        ScalarType::Float32,
        ScalarType::Float32,
        ScalarType::UInt8,
        ScalarType::Float16,
        ScalarType::Float64,
        ScalarType::Complex128,
        ScalarType::Opaque,
    ]);
    let order = prop::sample::select(vec![MemoryOrder::C, MemoryOrder::C, MemoryOrder::C, MemoryOrder::F]);
    let offset = prop_oneof![4 => (0_i64..64).prop_map(|at| at * 16), 1 => 0_i64..64];
    (kinds, 0_usize..2, offset, order, prop_oneof![5 => Just(0_u8), 1 => 1_u8..4]).prop_map(
        |(kind, block, offset, order, view)| {
            let offset = if kind == ScalarType::Opaque {
                offset
            } else {
                offset / 16 * 16 + offset % 16 / size_of(kind) * size_of(kind)
            };
            Drawn { kind, block, offset, order, view }
        },
    )
}

fn size_of(kind: ScalarType) -> i64 {
    dtype(kind).itemsize() as i64
}

fn dtype(kind: ScalarType) -> DType {
    if kind == ScalarType::Opaque { DType::opaque(3, 0) } else { DType::new(kind) }
}

fn array(one: &Drawn, shape: &[i64], blocks: &[Arc<Allocation>]) -> Array {
    let mut strides: Vec<i64> = Layout::contiguous(shape, size_of(one.kind), one.order).unwrap().strides().collect();
    if one.view == 3 {
        strides.iter_mut().for_each(|stride| *stride *= 2);
    }
    let layout = Layout::strided(shape, &strides, one.offset, size_of(one.kind)).unwrap();
    let layout = match one.view {
        1 if !shape.is_empty() => layout.index(&[Index::Slice { start: None, stop: None, step: Some(-1) }]).unwrap(),
        2 => layout.index(&[Index::NewAxis]).unwrap(),
        _ => layout,
    };
    Array::over(Arc::clone(&blocks[one.block]), layout, dtype(one.kind), false).unwrap()
}

fn arguments(all: &[Drawn], constant: bool) -> Vec<Argument> {
    let of = |(one, name): (&Drawn, &&str)| Argument {
        name: (*name).to_owned(),
        c_type: "T".to_owned(),
        dtype: dtype(one.kind),
        role: ArgumentRole::Vector { constant: constant && *name != "z" },
    };
    all.iter().zip(&NAMES).map(of).collect()
}

#[test]
fn fast_path_returns_same_plan_as_general_path() {
    let stream = Stream::default_of(Device::cpu().unwrap());
    let blocks = [(); 2].map(|()| Arc::new(Allocation::new(BLOCK, stream.clone()).unwrap()));
    let taken = Cell::new(0);
    let texts = ["z[i] = a[i] + b[i]", "z[i] += a[i]; a[i] = b[i]", "z[i] = a[i] + b[0]", "z[i] = a[i] + b[i] + i"];
    let shape = prop::collection::vec(0_i64..5, 0..4);
    let call = (prop::array::uniform3(drawn()), shape, prop::sample::select(texts.to_vec()), any::<bool>());
    proptest!(ProptestConfig::with_cases(4000), |((all, shape, text, constant) in call)| {
        let arrays = all.each_ref().map(|one| array(one, &shape, &blocks));
        let arrays = arrays.each_ref();
        let arguments = arguments(&all, constant && !text.contains("a[i] ="));
        let analysis = Analysis::of(&arguments, &Texts { operation: text.to_owned(), ..Texts::default() });
        if let Some(short) = super::plan(&analysis, &arrays) {
            taken.set(taken.get() + 1);
            let long = ElementPlan::of_any("f", &arguments, &analysis, &arrays).unwrap();
            prop_assert_eq!((short.pack, short.way), (long.pack, long.way));
            prop_assert_eq!(&short.operands, &long.operands);
            prop_assert_eq!((short.size(), short.key(false)), (long.size(), long.key(false)));
        }
    });
    assert!(taken.get() > 200, "plain in {} of 4000 calls", taken.get());
}

#[test]
fn fast_path_accepts_aligned_arrays_without_overlap_only() {
    let stream = Stream::default_of(Device::cpu().unwrap());
    let block = [Arc::new(Allocation::new(BLOCK, stream).unwrap())];
    let pack = |kinds: [ScalarType; 3], offsets: [i64; 3], shape: &[i64]| {
        let of = |at: usize| Drawn { kind: kinds[at], block: 0, offset: offsets[at], order: MemoryOrder::C, view: 0 };
        let all = [of(0), of(1), of(2)];
        let arguments = arguments(&all, true);
        let texts = Texts { operation: "z[i] = a[i] + b[i]".to_owned(), ..Texts::default() };
        let arrays = all.each_ref().map(|one| array(one, shape, &block));
        super::plan(&Analysis::of(&arguments, &texts), &arrays.each_ref()).map(|plan| plan.pack)
    };
    let (f32, f16, c128) = (ScalarType::Float32, ScalarType::Float16, ScalarType::Complex128);
    assert_eq!(pack([f32; 3], [0, 256, 512], &[2, 8]), Some(4));
    assert_eq!(pack([f16; 3], [0, 0, 512], &[2, 8]), Some(8));
    assert_eq!(pack([f32, f16, c128], [0, 256, 512], &[8]), Some(4));
    assert_eq!(pack([f32; 3], [0, 256, 512], &[3]), Some(1));
    assert_eq!(pack([f32; 3], [0, 256, 512], &[]), Some(1));
    assert_eq!(pack([f32; 3], [0, 256, 256], &[16]), None, "the result lies where an operand does");
    assert_eq!(pack([f32; 3], [0, 260, 512], &[16]), None, "one is not aligned");
}

#[test]
fn aligned_rows_columns_and_submatrices_are_read_in_packs() {
    let stream = Stream::default_of(Device::cpu().unwrap());
    let block = Arc::new(Allocation::new(BLOCK, stream).unwrap());
    let forms = |sides: [(&[i64], i64); 2], columns: i64| {
        let shape = [6, columns];
        let made = |strides: &[i64], offset: i64| {
            let layout = Layout::strided(&shape, strides, offset, 4).unwrap();
            Array::over(Arc::clone(&block), layout, DType::new(ScalarType::Float32), false).unwrap()
        };
        let [a, b] = sides.map(|(strides, offset)| made(strides, offset));
        let z = made(&[4 * columns, 4], 2048);
        let plain = Drawn { kind: ScalarType::Float32, block: 0, offset: 0, order: MemoryOrder::C, view: 0 };
        let arguments = arguments(&[plain.clone(), plain.clone(), plain], true);
        let texts = Texts { operation: "z[i] = a[i] + b[i]".to_owned(), ..Texts::default() };
        let plan = ElementPlan::of("f", &arguments, &Analysis::of(&arguments, &texts), &[&a, &b, &z]).unwrap();
        (plan.way == PackLayout::InnerContiguous)
            .then(|| [plan.operands[0].form, plan.operands[1].form, plan.operands[2].form])
    };
    let (row, column, part, odd): (&[i64], &[i64], &[i64], &[i64]) = (&[0, 4], &[4, 0], &[64, 4], &[60, 4]);
    assert_eq!(
        forms([(&[32, 4], 0), (row, 512)], 8),
        Some([AccessPattern::Contiguous, AccessPattern::InnerContiguous, AccessPattern::Contiguous])
    );
    assert_eq!(
        forms([(column, 4), (part, 512)], 8),
        Some([AccessPattern::InnerBroadcast, AccessPattern::InnerContiguous, AccessPattern::Contiguous])
    );
    assert_eq!(forms([(&[32, 4], 0), (odd, 512)], 8), None, "rows are not aligned");
    assert_eq!(forms([(&[32, 4], 0), (row, 516)], 8), None, "the row is not aligned");
    assert_eq!(forms([(&[28, 4], 0), (row, 512)], 7), None, "a row is no whole packs");
    assert_eq!(forms([(&[32, 4], 0), (&[64, 8], 512)], 8), None, "every second element");
}
