//! Chains of views. Layouts of small arrays are compared with a model that lists all elements; for layouts with random
//! strides, the documented properties of a `Layout` are checked.

use arbitrary::{Result, Unstructured};
use pygpu::layout::{
    CopyBlocks, Index, Layout, LoopNest, MAX_RANK, MemoryOrder, broadcast_shapes, for_each_run, overlap, paired,
    resolve_shape,
};

use super::source::{extent, number, numbers, optional, size_fits};
use model::{Model, Step, apply};

#[path = "../../tests/rust/layout/model.rs"]
mod model;

pub fn run(bytes: &[u8]) {
    let bytes = &mut Unstructured::new(bytes);
    // A chain ends without an error when no bytes are left.
    let _ = if bytes.arbitrary().unwrap_or(false) { wild_chain(bytes) } else { modelled_chain(bytes) };
}

fn order(bytes: &mut Unstructured<'_>) -> Result<MemoryOrder> {
    Ok(if bytes.arbitrary()? { MemoryOrder::F } else { MemoryOrder::C })
}

fn modelled_chain(bytes: &mut Unstructured<'_>) -> Result<()> {
    let rank = bytes.int_in_range(0..=4)?;
    let shape: Vec<i64> = (0..rank).map(|_| bytes.int_in_range(0..=5)).collect::<Result<_>>()?;
    let itemsize = *bytes.choose(&[1, 3, 4, 8])?;
    let mut layout = Layout::contiguous(&shape, itemsize, order(bytes)?).unwrap();
    let mut model = Model::of(&layout);
    while !bytes.is_empty() && model.offsets.len() <= 1000 && model.shape.len() <= 8 {
        if let Some(next) = apply(&step(bytes)?, &layout, &model) {
            (layout, model) = next;
            check_against(&layout, &model);
        }
    }
    Ok(())
}

fn step(bytes: &mut Unstructured<'_>) -> Result<Step> {
    let bound = |bytes: &mut Unstructured<'_>| optional(bytes, |bytes| bytes.int_in_range(-7..=7));
    Ok(match bytes.int_in_range(0..=16u8)? {
        0 => Step::Integer(bytes.arbitrary()?, bytes.arbitrary()?),
        1 => {
            let stride = optional(bytes, |bytes| bytes.choose(&[-4, -3, -2, -1, 1, 2, 3]).copied())?;
            Step::Slice(bytes.arbitrary()?, bound(bytes)?, bound(bytes)?, stride)
        }
        2 => Step::NewAxis(bytes.arbitrary()?),
        3 => Step::EllipsisInteger(bytes.arbitrary()?),
        4 => Step::Permute((0..6).map(|_| bytes.arbitrary()).collect::<Result<_>>()?),
        5 => Step::Swap(bytes.arbitrary()?, bytes.arbitrary()?),
        6 => Step::Move(bytes.arbitrary()?, bytes.arbitrary()?),
        7 => Step::Flip(bytes.arbitrary()?),
        8 => Step::Squeeze,
        9 => Step::Expand(bytes.arbitrary()?),
        10 => Step::Broadcast(bytes.arbitrary()?, bytes.int_in_range(0..=3)?),
        11 => Step::BroadcastOnes(bytes.int_in_range(0..=3)?),
        12 => Step::Diagonal(bytes.int_in_range(-5..=5)?, bytes.arbitrary()?, bytes.arbitrary()?),
        13 => Step::Split(bytes.arbitrary()?, bytes.arbitrary()?, bytes.arbitrary()?),
        14 => Step::Merge(bytes.arbitrary()?, bytes.arbitrary()?),
        15 => Step::Ravel(bytes.arbitrary()?),
        _ => Step::ViewDtype(bytes.arbitrary()?),
    })
}

fn check_against(layout: &Layout, model: &Model) {
    let found = Model::of(layout);
    assert_eq!((&found.shape, &found.offsets), (&model.shape, &model.offsets), "{layout:?}");
    let dense = Layout::contiguous(&model.shape, layout.itemsize(), MemoryOrder::C).unwrap();
    let mut copied = vec![];
    for_each_run(&dense, layout, |to, from, len| copied.extend((0..len).map(|byte| (to + byte, from + byte)))).unwrap();
    copied.sort_unstable();
    let itemsize = layout.itemsize();
    let wanted = model.offsets.iter().flat_map(|from| *from..from + itemsize).enumerate();
    let wanted: Vec<(i64, i64)> = wanted.map(|(to, from)| (to as i64, from)).collect();
    assert_eq!(copied, wanted, "{layout:?}");
}

/// Draws a layout and views of any shape, strides and arguments. Each view that is not rejected must have the documented
/// properties and be inside the array.
fn wild_chain(bytes: &mut Unstructured<'_>) -> Result<()> {
    let shape = numbers(bytes)?;
    let itemsize = match bytes.int_in_range(0..=7u8)? {
        0 => number(bytes)?,
        power => 1 << (power % 5),
    };
    let made = if bytes.arbitrary()? {
        Layout::contiguous(&shape, itemsize, order(bytes)?)
    } else {
        let strides: Vec<i64> = shape.iter().map(|_| number(bytes)).collect::<Result<_>>()?;
        Layout::strided(&shape, &strides, number(bytes)?, itemsize)
    };
    let Ok(mut layout) = made else { return Ok(()) };
    check_promises(&layout);
    while !bytes.is_empty() {
        let Some(view) = wild_view(&layout, bytes)? else { continue };
        check_promises(&view);
        check_inside(&view, &layout);
        ask_everything(&view, &layout);
        layout = view;
    }
    Ok(())
}

fn wild_view(layout: &Layout, bytes: &mut Unstructured<'_>) -> Result<Option<Layout>> {
    let made = match bytes.int_in_range(0..=11u8)? {
        0 | 1 => layout.index(&key(bytes)?),
        2 => layout.transpose(optional(bytes, numbers)?.as_deref()),
        3 => layout.swap_axes(number(bytes)?, number(bytes)?),
        4 => layout.move_axis(&numbers(bytes)?, &numbers(bytes)?),
        5 => layout.flip(optional(bytes, numbers)?.as_deref()),
        6 => layout.squeeze(optional(bytes, numbers)?.as_deref()),
        7 => layout.expand_dims(&numbers(bytes)?),
        8 => layout.broadcast_to(&wanted_shape(layout, bytes)?),
        9 => layout.diagonal(number(bytes)?, number(bytes)?, number(bytes)?),
        10 => {
            let wanted = wanted_shape(layout, bytes)?;
            let _ = resolve_shape(layout.size(), &wanted);
            return Ok(layout.reshape(&wanted, order(bytes)?).ok().flatten());
        }
        _ => layout.view_dtype(*bytes.choose(&[1, 2, 3, 4, 8, 16, 0, -1, i64::MAX])?),
    };
    Ok(made.ok())
}

/// Draws a shape that is similar to that of the array, because nearly all other shapes are rejected.
fn wanted_shape(layout: &Layout, bytes: &mut Unstructured<'_>) -> Result<Vec<i64>> {
    let mut shape: Vec<i64> = match bytes.int_in_range(0..=2u8)? {
        0 => return numbers(bytes),
        1 => layout.shape().collect(),
        _ => vec![layout.size()],
    };
    for _ in 0..bytes.int_in_range(0..=3)? {
        let place = bytes.int_in_range(0..=shape.len())?;
        if bytes.arbitrary()? || place == shape.len() {
            shape.insert(place, *bytes.choose(&[1, 1, 1, -1, 0, 2, 1 << 40])?);
        } else if shape[place] % 2 == 0 {
            shape[place] /= 2;
            shape.insert(place, 2);
        } else {
            shape[place] = number(bytes)?;
        }
    }
    Ok(shape)
}

fn key(bytes: &mut Unstructured<'_>) -> Result<Vec<Index>> {
    let count = bytes.int_in_range(0..=5)?;
    (0..count)
        .map(|_| {
            Ok(match bytes.int_in_range(0..=6u8)? {
                0 | 1 => Index::Integer(number(bytes)?),
                2..=4 => Index::Slice {
                    start: optional(bytes, number)?,
                    stop: optional(bytes, number)?,
                    step: optional(bytes, number)?,
                },
                5 => Index::Ellipsis,
                _ => Index::NewAxis,
            })
        })
        .collect()
}

/// Checks the properties that the documentation of the crate `layout` promises for every layout.
fn check_promises(layout: &Layout) {
    let shape: Vec<i64> = layout.shape().collect();
    assert!(shape.len() <= MAX_RANK && layout.itemsize() >= 1, "{layout:?}");
    assert!(size_fits(&shape, layout.itemsize()), "{layout:?}");
    assert_eq!(layout.is_empty(), shape.contains(&0));
    assert_eq!(layout.nbytes(), layout.size() * layout.itemsize());
    let axes = layout.axes().iter().map(|axis| (axis.len, axis.stride));
    let wanted = extent(axes, layout.offset(), layout.itemsize());
    let found = layout.extent().map(|(low, high)| (i128::from(low), i128::from(high)));
    assert_eq!(found, wanted, "{layout:?}");
    assert!(wanted.is_none_or(|(low, high)| high - low <= i128::from(i64::MAX)), "{layout:?}");
}

fn check_inside(view: &Layout, of: &Layout) {
    match (view.extent(), of.extent()) {
        (Some((low, high)), Some((first, end))) => {
            assert!(first <= low && high <= end, "{view:?} is not inside {of:?}");
        }
        (Some(_), None) => panic!("{view:?} has elements, and {of:?} has none"),
        (None, _) => assert_eq!(view.offset(), of.offset(), "the offset of an empty view stays inside"),
    }
}

/// Calls further functions with a layout; no call may panic or take long.
fn ask_everything(view: &Layout, of: &Layout) {
    let dense = view.dense_like();
    check_promises(&dense);
    assert!(dense.shape().eq(view.shape()) && (dense.is_empty() || dense.extent() == Some((0, dense.nbytes()))));
    if let Ok(wider) = view.with_itemsize(16) {
        check_promises(&wider);
    }
    if let Ok(moved) = view.with_offset(i64::MAX / 2) {
        check_promises(&moved);
    }
    let _ = (view.has_internal_overlap(), overlap(view, of), view.is_c_contiguous(), view.is_f_contiguous());
    let shapes: Vec<Vec<i64>> = vec![view.shape().collect(), of.shape().collect()];
    let _ = broadcast_shapes(&[&shapes[0], &shapes[1]]);
    assert_eq!(LoopNest::c_order(view).size(), view.size());
    assert_eq!(paired(&dense, view).unwrap().0.iter().map(|axis| axis.len).product::<i64>(), view.size());
    for (to, from) in [(&dense, view), (view, &dense), (view, view)] {
        if let Ok(CopyBlocks::Many(many)) = CopyBlocks::of(to, from) {
            assert!(many.count() > 1);
        }
    }
}
