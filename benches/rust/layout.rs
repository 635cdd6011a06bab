//! Measures how many nanoseconds PyGPU needs to compute the shape, strides and offset of a view for a Python expression
//! such as `a[1:3]` or `a.T`, and to plan copies between such views.
#![allow(clippy::unwrap_used, missing_docs)]

mod timing;

use std::hint::black_box;

use pygpu::layout::{CopyBlocks, Index, Indexer, Layout, MemoryOrder, for_each_line, overlap, paired};

use crate::timing::Group;

const ALL: Index = Index::Slice { start: None, stop: None, step: None };

fn part(start: i64, stop: i64) -> Index {
    Index::Slice { start: Some(start), stop: Some(stop), step: None }
}

fn fresh(shape: &[i64]) -> Layout {
    Layout::contiguous(shape, 4, MemoryOrder::C).unwrap()
}

fn indexing() {
    let group = Group::new("index");
    let line = fresh(&[1000]);
    let matrix = fresh(&[100, 100]);
    let deep = fresh(&[2, 3, 4, 5, 6, 7, 8, 9]);
    group.time("a[1:3], streamed", || {
        let mut view = Layout::scalar(1);
        let mut indexer = Indexer::new(black_box(&line), &mut view, 1, false);
        indexer.slice(black_box(Some(1)), black_box(Some(3)), None).unwrap();
        indexer.finish().unwrap();
        view
    });
    group.time("a[1:3], clipped before", || {
        let mut view = Layout::scalar(1);
        let mut indexer = Indexer::new(black_box(&line), &mut view, 1, false);
        indexer.slice_clipped(black_box(1), black_box(1), black_box(2)).unwrap();
        indexer.finish().unwrap();
        view
    });
    group.time("a[5], streamed", || {
        let mut view = Layout::scalar(1);
        let mut indexer = Indexer::new(black_box(&matrix), &mut view, 1, false);
        indexer.integer(black_box(5)).unwrap();
        indexer.finish().unwrap();
        view
    });
    let keys: [(&str, &Layout, &[Index]); 5] = [
        ("a[1:3]", &line, &[part(1, 3)]),
        ("a[::-2]", &line, &[Index::Slice { start: None, stop: None, step: Some(-2) }]),
        ("a[5, 1:3]", &matrix, &[Index::Integer(5), part(1, 3)]),
        (
            "a[1:3, None, ..., ::2]",
            &matrix,
            &[part(1, 3), Index::NewAxis, Index::Ellipsis, Index::Slice { start: None, stop: None, step: Some(2) }],
        ),
        ("a[0, :] of rank 8", &deep, &[Index::Integer(0), ALL]),
    ];
    for (name, layout, key) in keys {
        group.time(name, || black_box(layout).index(black_box(key)).unwrap());
    }
}

fn reshaping() {
    let group = Group::new("views");
    let matrix = fresh(&[100, 120]);
    let even = matrix.index(&[ALL, Index::Slice { start: None, stop: None, step: Some(2) }]).unwrap();
    let cube = fresh(&[10, 20, 30]);
    group.time("clone", || black_box(&cube).clone());
    group.time("contiguous((100, 120))", || fresh(black_box(&[100, 120])));
    group.time("a.T", || black_box(&matrix).transpose(None).unwrap());
    group.time("a.transpose(2, 0, 1)", || black_box(&cube).permute(black_box(&[2, 0, 1])).unwrap());
    group.time("a.swapaxes(0, 1)", || black_box(&cube).swap_axes(0, 1).unwrap());
    group.time("a.reshape(-1, 30), contiguous", || {
        black_box(&matrix).reshape(black_box(&[-1, 30]), MemoryOrder::C).unwrap()
    });
    group.time("a[:, ::2].reshape(-1, 30)", || black_box(&even).reshape(black_box(&[-1, 30]), MemoryOrder::C).unwrap());
    group.time("a.ravel()", || black_box(&cube).ravel(MemoryOrder::C).unwrap());
    group.time("broadcast_to", || black_box(&matrix).broadcast_to(black_box(&[3, 100, 120])).unwrap());
    group.time("view(int8)", || black_box(&matrix).view_dtype(black_box(1)).unwrap());
    group.time("is_c_contiguous", || black_box(&cube).is_c_contiguous());
    group.time("extent", || black_box(&cube).extent());
}

fn copies() {
    let group = Group::new("copies");
    let cube = fresh(&[10, 20, 30]);
    let boxed = fresh(&[20, 40, 60]).index(&[part(0, 10), part(0, 20), part(0, 30)]).unwrap();
    let turned = fresh(&[30, 20, 10]).transpose(None).unwrap();
    for (name, src) in [("one", &cube), ("3d", &boxed), ("transposed", &turned)] {
        group.time(&format!("walk, {name}"), || paired(black_box(&cube), black_box(src)).unwrap());
        group.time(&format!("blocks, {name}"), || CopyBlocks::of(black_box(&cube), black_box(src)).unwrap());
    }
    group.time("200 lines of a transpose", || {
        let mut sum = 0;
        for_each_line(black_box(&cube), black_box(&turned), |line| sum += line.dst ^ line.src).unwrap();
        sum
    });
    group.time("overlap of two halves", || overlap(black_box(&cube), black_box(&boxed)));
    group.time("has_internal_overlap", || black_box(&boxed).has_internal_overlap());
}

fn main() {
    indexing();
    reshaping();
    copies();
}
