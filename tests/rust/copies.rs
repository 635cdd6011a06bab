//! Tests the driver calls of copies and fills for every class of layout, on a backend that records every call.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::undocumented_unsafe_blocks)]

mod bench;
mod recording_backend;

use bench::bench;
use pygpu::array::Array;
use pygpu::copy::{self, HostBuffer};
use pygpu::dtype::{DType, ScalarType};
use pygpu::layout::{Index, Layout, MemoryOrder};
use pygpu::stream::Stream;
use recording_backend::Call;

fn int32() -> DType {
    DType::new(ScalarType::Int32)
}

fn upload(array: &Array, values: &[i32], stream: &Stream) {
    let shape: Vec<i64> = array.layout().shape().collect();
    let layout = Layout::contiguous(&shape, 4, MemoryOrder::C).unwrap();
    let side = HostBuffer { address: values.as_ptr() as usize, layout };
    unsafe { copy::to_device(array, &side, stream).unwrap() };
}

fn download(array: &Array, stream: &Stream) -> Vec<i32> {
    let shape: Vec<i64> = array.layout().shape().collect();
    let mut values = vec![-1; array.layout().size() as usize];
    let layout = Layout::contiguous(&shape, 4, MemoryOrder::C).unwrap();
    let side = HostBuffer { address: values.as_mut_ptr() as usize, layout };
    unsafe { copy::to_host(&side, array, stream).unwrap() };
    values
}

fn every(step: i64) -> Index {
    Index::Slice { start: None, stop: None, step: Some(step) }
}

#[test]
fn copies_of_every_layout_class_keep_every_value() {
    let bench = bench();
    let stream = bench.stream();
    let values: Vec<i32> = (0..4 * 6 * 8).collect();
    let array = Array::empty(&[4, 6, 8], int32(), MemoryOrder::C, stream.clone()).unwrap();
    upload(&array, &values, &stream);
    let keys: [&[Index]; 6] = [
        &[],
        &[every(2)],
        &[every(-1), every(2)],
        &[every(1), every(3), every(-2)],
        &[every(2), every(2), every(2)],
        &[Index::Integer(1)],
    ];
    for key in keys {
        let source = array.view(array.layout().index(key).unwrap()).unwrap();
        let expected = download(&source, &stream);
        // The copies have two targets: a new contiguous array in F order, and every second element of a larger array.
        let shape: Vec<i64> = source.layout().shape().collect();
        let dense = Array::empty(&shape, int32(), MemoryOrder::F, stream.clone()).unwrap();
        copy::between(&dense, &source, &stream).unwrap();
        assert_eq!(download(&dense, &stream), expected);
        let doubled: Vec<i64> = shape.iter().map(|len| len * 2).collect();
        let larger = Array::empty(&doubled, int32(), MemoryOrder::C, stream.clone()).unwrap();
        copy::fill(&larger, &9i32.to_le_bytes(), &stream).unwrap();
        let holes = larger.view(larger.layout().index(&vec![every(2); shape.len()]).unwrap()).unwrap();
        copy::between(&holes, &source, &stream).unwrap();
        assert_eq!(download(&holes, &stream), expected);
        let kept = download(&larger, &stream).iter().filter(|&&value| value == 9).count();
        let nines = expected.iter().filter(|&&value| value == 9).count();
        assert_eq!(kept, larger.layout().size() as usize - expected.len() + nines);
        let backwards: Vec<i32> = expected.iter().rev().copied().collect();
        upload(&holes, &backwards, &stream);
        assert_eq!(download(&holes, &stream), backwards);
    }
}

#[test]
fn evenly_spaced_rows_are_copied_by_one_call() {
    let bench = bench();
    let stream = bench.stream();
    let array = Array::empty(&[64, 64], int32(), MemoryOrder::C, stream.clone()).unwrap();
    let columns = array
        .view(array.layout().index(&[every(1), Index::Slice { start: Some(0), stop: Some(32), step: None }]).unwrap())
        .unwrap();
    let dense = Array::empty(&[64, 32], int32(), MemoryOrder::C, stream.clone()).unwrap();
    bench.driver.take();
    copy::between(&dense, &columns, &stream).unwrap();
    assert_eq!(bench.driver.take(), [Call::CopyPitched { width: 128, height: 64, depth: 1 }]);
}

#[test]
fn overlapping_copy_reads_source_before_it_is_overwritten() {
    let bench = bench();
    let stream = bench.stream();
    let array = Array::empty(&[8], int32(), MemoryOrder::C, stream.clone()).unwrap();
    upload(&array, &[0, 1, 2, 3, 4, 5, 6, 7], &stream);
    let part = |start, stop, step| Index::Slice { start, stop, step };
    let head = array.view(array.layout().index(&[part(None, Some(6), None)]).unwrap()).unwrap();
    let tail = array.view(array.layout().index(&[part(Some(2), None, None)]).unwrap()).unwrap();
    copy::between(&tail, &head, &stream).unwrap();
    assert_eq!(download(&array, &stream), [0, 1, 0, 1, 2, 3, 4, 5]);
    let reversed = array.view(array.layout().index(&[every(-1)]).unwrap()).unwrap();
    copy::between(&array.view(array.layout().clone()).unwrap(), &reversed, &stream).unwrap();
    assert_eq!(download(&array, &stream), [5, 4, 3, 2, 1, 0, 1, 0]);
}

#[test]
fn fill_of_view_sets_its_elements_and_keeps_others() {
    let bench = bench();
    let stream = bench.stream();
    for (kind, item) in [
        (ScalarType::UInt8, vec![7]),
        (ScalarType::Int16, vec![1, 2]),
        (ScalarType::Int32, vec![1, 2, 3, 4]),
        (ScalarType::Float64, vec![0; 8]),
        (ScalarType::Float64, vec![1, 2, 3, 4, 5, 6, 7, 8]),
        (ScalarType::Complex128, (0..16).collect()),
    ] {
        let dtype = DType::new(kind);
        let array = Array::empty(&[5, 6], dtype, MemoryOrder::C, stream.clone()).unwrap();
        let odd = array.view(array.layout().index(&[every(2), every(-2)]).unwrap()).unwrap();
        copy::fill(&array, &vec![0xEE; item.len()], &stream).unwrap();
        copy::fill(&odd, &item, &stream).unwrap();
        let mut bytes = vec![0u8; 30 * item.len()];
        let layout = Layout::contiguous(&[5, 6], item.len() as i64, MemoryOrder::C).unwrap();
        let side = HostBuffer { address: bytes.as_mut_ptr() as usize, layout };
        unsafe { copy::to_host(&side, &array, &stream).unwrap() };
        for (place, found) in bytes.chunks(item.len()).enumerate() {
            let (row, column) = (place / 6, place % 6);
            let hit = row % 2 == 0 && column % 2 == 1;
            assert_eq!(found, if hit { item.clone() } else { vec![0xEE; item.len()] }, "{kind:?} at {row}, {column}");
        }
    }
}
