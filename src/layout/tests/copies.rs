use super::*;

fn uniform(blocks: CopyBlocks) -> Uniform {
    match blocks {
        CopyBlocks::Uniform(block) => block,
        other => panic!("expected one uniform block, got {other:?}"),
    }
}

fn part(layout: &Layout, key: &[Index]) -> Layout {
    layout.index(key).unwrap()
}

#[test]
fn copy_between_equal_dense_layouts_is_one_block() {
    let layout = fresh(&[3, 4]);
    for both in [layout.flip(None).unwrap(), layout.transpose(None).unwrap(), layout.flip(Some(&[0])).unwrap()] {
        assert_eq!(CopyBlocks::of(&both, &both).unwrap(), CopyBlocks::One { dst: 0, src: 0, bytes: 48 });
    }
    assert_eq!(CopyBlocks::of(&fresh(&[]), &fresh(&[])).unwrap(), CopyBlocks::One { dst: 0, src: 0, bytes: 4 });
    let empty = fresh(&[2, 0]);
    assert!(matches!(CopyBlocks::of(&empty, &empty).unwrap(), CopyBlocks::One { bytes: 0, .. }));
}

#[test]
fn copy_of_rows_of_larger_array_is_one_2d_block() {
    let all = slice(None, None, None);
    let large = fresh(&[6, 10]);
    let rows = part(&large, &[slice(1, 4, None), slice(2, 7, None)]);
    let block = uniform(CopyBlocks::of(&fresh(&[3, 5]), &rows).unwrap());
    assert_eq!((block.width, block.height, block.depth), (20, 3, 1));
    assert_eq!((block.dst_pitch, block.src_pitch, block.dst, block.src), (20, 40, 0, 48));
    let column = part(&large, &[all, Index::Integer(3)]);
    let block = uniform(CopyBlocks::of(&column, &fresh(&[6])).unwrap());
    assert_eq!((block.width, block.height, block.dst_pitch, block.src_pitch), (4, 6, 40, 4));
}

#[test]
fn copy_of_box_of_larger_array_is_one_3d_block() {
    let middle = [slice(1, 3, None), slice(1, 4, None), slice(2, 5, None)];
    let block = uniform(CopyBlocks::of(&fresh(&[2, 3, 3]), &part(&fresh(&[4, 5, 6]), &middle)).unwrap());
    assert_eq!((block.width, block.height, block.depth), (12, 3, 2));
    assert_eq!((block.src_pitch, block.src_slice, block.dst_pitch, block.dst_slice), (24, 120, 12, 36));
}

#[test]
fn slices_at_no_multiple_of_pitch_are_separate_copy_blocks() {
    let src = Layout::strided(&[2, 3, 3], &[100, 24, 4], 0, 4).unwrap();
    let CopyBlocks::Many(many) = CopyBlocks::of(&fresh(&[2, 3, 3]), &src).unwrap() else { panic!("one block") };
    assert_eq!((many.count(), many.block.height, many.block.depth), (2, 3, 1));
    assert_eq!(many.blocks().map(|block| block.src).collect::<Vec<_>>(), [0, 100]);
}

#[test]
fn copy_from_broadcast_or_reversed_source_is_many_blocks() {
    let dst = fresh(&[3, 4]);
    for src in [fresh(&[4]).broadcast_to(&[3, 4]).unwrap(), dst.flip(None).unwrap()] {
        assert!(matches!(CopyBlocks::of(&dst, &src).unwrap(), CopyBlocks::Many(_)));
    }
}

#[test]
fn copy_of_transposed_source_visits_destination_in_order() {
    let mut lines = vec![];
    let src = fresh(&[4, 3]).transpose(None).unwrap();
    for_each_line(&fresh(&[3, 4]), &src, |line| lines.push(line)).unwrap();
    let line = Line { dst: 0, src: 0, count: 4, dst_stride: 4, src_stride: 12, width: 4 };
    assert_eq!(lines, [line, Line { dst: 16, src: 4, ..line }, Line { dst: 32, src: 8, ..line }]);
}

#[test]
fn copy_rejects_different_shapes_or_itemsizes() {
    value_error(
        CopyBlocks::of(&fresh(&[3, 4]), &fresh(&[4])),
        "shapes differ: (3,4) to write, (4,) to read; broadcast the source first",
    );
    value_error(
        CopyBlocks::of(&fresh(&[2]), &Layout::contiguous(&[2], 8, MemoryOrder::C).unwrap()),
        "itemsizes differ: 4 bytes to write, 8 to read; convert the dtype first",
    );
}

#[test]
fn interleaved_elements_and_halves_of_rows_do_not_overlap() {
    let layout = fresh(&[6, 8]);
    let all = slice(None, None, None);
    let halves = [[all, slice(None, 4, None)], [all, slice(4, None, None)]].map(|key| part(&layout, &key));
    let steps = [[all, slice(None, None, 2)], [all, slice(1, None, 2)]].map(|key| part(&layout, &key));
    let shifted = [slice(None, -1, None), slice(1, None, None)].map(|key| part(&layout, &[key]));
    assert!(!overlap(&halves[0], &halves[1]) && !overlap(&steps[1], &steps[0]));
    assert!(overlap(&shifted[0], &shifted[1]) && overlap(&halves[0], &steps[1]));
    assert!(!overlap(&layout, &fresh(&[0])));
}

#[test]
fn broadcast_axis_and_sliding_window_overlap_internally() {
    let window = Layout::strided(&[3, 4], &[4, 4], 0, 4).unwrap();
    assert!(window.has_internal_overlap());
    assert!(fresh(&[3]).broadcast_to(&[2, 3]).unwrap().has_internal_overlap());
    assert!(!fresh(&[3]).broadcast_to(&[1, 3]).unwrap().has_internal_overlap());
    assert!(!fresh(&[3, 4]).transpose(None).unwrap().flip(None).unwrap().has_internal_overlap());
}
