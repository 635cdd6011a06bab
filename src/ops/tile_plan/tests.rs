#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
use super::*;
use pygpu_layout::{Index, Layout, LoopNestRules, MemoryOrder};

fn dense(shape: &[i64], itemsize: i64) -> Layout {
    Layout::contiguous(shape, itemsize, MemoryOrder::C).unwrap()
}

/// Plans tiles for a kernel that writes only the last of the arrays.
fn turned(layouts: &[&Layout], itemsize: usize) -> Option<TileTraversal> {
    let written = layouts.len() - 1;
    let walk = LoopNest::plan(layouts, LoopNestRules { lead: Some(written), reduced: 0 }).unwrap();
    Tiles::of(&walk, &(0..written).collect::<Vec<_>>(), itemsize)
}

#[test]
fn only_transposed_operands_are_read_by_tiles() {
    let (across, straight) = (dense(&[300, 200], 4).transpose(None).unwrap(), dense(&[200, 300], 4));
    let found = turned(&[&across, &straight, &straight], 4).unwrap();
    assert_eq!((found.axis, &found.sides[..], found.tiles), (0, &[0][..], Tiles { x: 64, y: 32, group: 1 }));
    assert_eq!(turned(&[&straight, &straight], 4), None);
    assert_eq!(turned(&[&across, &across], 4), None);
    let found = turned(&[&across, &straight, &across, &across, &across, &straight], 4).unwrap();
    assert_eq!(&found.sides[..], [0, 2, 3]);
}

#[test]
fn transposed_axis_is_found_in_loop_nest_of_four_axes() {
    let first = dense(&[3, 60, 4, 70], 4);
    for (axes, axis) in [([0, 3, 2, 1], Some(1)), ([0, 1, 2, 3], None), ([2, 1, 0, 3], None), ([3, 0, 1, 2], Some(0))] {
        let across = first.transpose(Some(&axes)).unwrap();
        let result = dense(&across.shape().collect::<Vec<_>>(), 4);
        assert_eq!(turned(&[&across, &result], 4).map(|found| found.axis), axis, "{axes:?}");
    }
}

#[test]
fn small_short_or_broadcast_operands_are_read_without_tiles() {
    let of = |shape: [i64; 2]| {
        let across = dense(&[shape[1], shape[0]], 4).transpose(None).unwrap();
        turned(&[&across, &dense(&shape, 4)], 4).is_some()
    };
    assert_eq!([[128, 128], [127, 127], [15, 5000], [5000, 15], [16, 5000]].map(of), [true, false, false, false, true]);
    let row = dense(&[300], 4);
    let column = dense(&[200, 1], 4);
    assert_eq!(turned(&[&row, &column, &dense(&[200, 300], 4)], 4), None);
    let every_eighth = dense(&[300, 1600], 4).index(&[slice(1), slice(8)]).unwrap().transpose(None).unwrap();
    assert_eq!(turned(&[&every_eighth, &dense(&[200, 300], 4)], 4), None);
}

#[test]
fn tiles_have_an_element_per_thread_and_fit_short_axes() {
    for itemsize in [1, 2, 4, 8, 16] {
        for (x, y) in [(5000, 5000), (16, 5000), (5000, 16), (16, 16), (100, 33), (17, 1000)] {
            let tiles = Tiles::fitting(itemsize, x, y);
            let side = i64::from(THREADS);
            assert!(tiles.x.count_ones() == 1 && tiles.y.count_ones() == 1, "{tiles:?}");
            assert!(tiles.x <= side && tiles.y <= side && tiles.x * tiles.y >= side, "{tiles:?}");
            assert!(tiles.x < 2 * x && tiles.y < 2 * y.max(16), "{tiles:?} of {x} x {y}");
            assert!(tiles.x * tiles.y % (side * tiles.group * tiles.group) == 0, "{tiles:?}");
            assert!(tiles.room(itemsize) * itemsize * MOST_TURNED <= 48 << 10, "{tiles:?}");
        }
    }
}

#[test]
fn small_elements_are_read_in_groups_of_four_bytes() {
    let group = |itemsize, x, y| Tiles::fitting(itemsize, x, y).group;
    assert_eq!([1, 2, 3, 4, 8, 16].map(|itemsize| group(itemsize, 5000, 5000)), [4, 2, 1, 1, 1, 1]);
    assert_eq!([group(1, 16, 5000), group(1, 5000, 16), group(1, 16, 16), group(2, 16, 16)], [4, 4, 1, 1]);
}

#[test]
fn tile_parameters_contain_tile_counts_and_element_counts() {
    let across = dense(&[5, 300, 200], 4).transpose(Some(&[0, 2, 1])).unwrap();
    let result = dense(&[5, 200, 300], 4);
    let mut walk = LoopNest::plan(&[&across, &result], LoopNestRules { lead: Some(1), reduced: 0 }).unwrap();
    let TileTraversal { tiles, axis, sides } = Tiles::of(&walk, &[0], 4).unwrap();
    assert_eq!((axis, &sides[..]), (1, &[0][..]));
    walk.move_axis_before_innermost(axis);
    assert_eq!((tiles.blocks(&walk), Tiles::span(&walk, 0..2)), (Some(5 * 7 * 5), IndexWidth::Short));
    let (mut found, mut expected) = (ParameterBlock::new(), ParameterBlock::new());
    tiles.push(&mut found, IndexWidth::Short, &walk, 0..2);
    [7, 5].into_iter().for_each(|len| expected.push_divisor(len));
    [240_000, 4, 800, 240_000, 1200, 4].into_iter().for_each(|step| expected.push(step));
    [300, 200].into_iter().for_each(|len| expected.push_word(len));
    assert_eq!(found, expected);
}

#[test]
fn tiles_are_not_used_if_grid_needs_too_many_blocks() {
    let of = |batch: i64| {
        let across = dense(&[batch, 16, 1024], 1).transpose(Some(&[0, 2, 1])).unwrap();
        let result = Layout::strided(&[batch, 1024, 16], &[1 << 15, 16, 1], 0, 1).unwrap();
        turned(&[&across, &result], 1).is_some()
    };
    assert_eq!([of(1 << 20), of(1 << 29)], [true, false]);
}

fn slice(step: i64) -> Index {
    Index::Slice { start: None, stop: None, step: Some(step) }
}
