//! Measures the copies that `to_gpu` and `get` perform on the CPU backend, by layout and element size, and compares
//! them with a plain copy.
//!
//! The same strided copies also pack host memory before an upload to a device, and unpack it after a download.
#![allow(clippy::unwrap_used, missing_docs)]

mod timing;

use pygpu::array::Array;
use pygpu::copy::{self, HostBuffer};
use pygpu::device::Device;
use pygpu::dtype::{DType, ScalarType};
use pygpu::layout::{Index, Layout, MemoryOrder};
use pygpu::stream::Stream;

use crate::timing::Group;

/// Names of two sizes, with the rows and columns of the copied array. The size "4 Mi" exceeds the processor's caches.
const SHAPES: [(&str, [i64; 2]); 2] = [("64 Ki", [64, 1024]), ("4 Mi", [4096, 1024])];
const KINDS: [(&str, ScalarType); 4] = [
    ("uint8", ScalarType::UInt8),
    ("int16", ScalarType::Int16),
    ("float32", ScalarType::Float32),
    ("complex128", ScalarType::Complex128),
];

type View = fn(&Layout, [i64; 2]) -> Layout;

/// Host memory of an array that has twice as many columns as are copied, and the layout of the copied columns.
struct Host {
    bytes: Vec<u8>,
    layout: Layout,
}

impl Host {
    fn new(shape: [i64; 2], dtype: DType, view: View) -> Self {
        let wide = Layout::contiguous(&[shape[0], 2 * shape[1]], dtype.itemsize() as i64, MemoryOrder::C).unwrap();
        Self { bytes: vec![1; wide.nbytes() as usize], layout: view(&wide, shape) }
    }

    fn side(&mut self) -> HostBuffer {
        HostBuffer { address: self.bytes.as_mut_ptr() as usize, layout: self.layout.clone() }
    }
}

fn part(stop: Option<i64>, step: Option<i64>) -> Index {
    Index::Slice { start: None, stop, step }
}

fn left_half(wide: &Layout, [_, columns]: [i64; 2]) -> Layout {
    wide.index(&[part(None, None), part(Some(columns), None)]).unwrap()
}

fn every_second(wide: &Layout, _shape: [i64; 2]) -> Layout {
    wide.index(&[part(None, None), part(None, Some(2))]).unwrap()
}

/// Returns a layout of the same shape in which the elements of a column are adjacent in memory.
fn transposed(wide: &Layout, [rows, columns]: [i64; 2]) -> Layout {
    Layout::contiguous(&[columns, rows], wide.itemsize(), MemoryOrder::C).unwrap().transpose(None).unwrap()
}

fn dense(wide: &Layout, shape: [i64; 2]) -> Layout {
    Layout::contiguous(&shape, wide.itemsize(), MemoryOrder::C).unwrap()
}

fn both_ways(group: &Group, name: &str, array: &Array, host: &mut Host, stream: &Stream) {
    let side = host.side();
    // SAFETY: the vector of `host` covers all offsets of its layout, and is borrowed until the benchmark ends.
    group.time(&format!("to the array, {name}"), || unsafe { copy::to_device(array, &side, stream) }.unwrap());
    // SAFETY: the vector of `host` covers all offsets of its layout, and no two elements of the layout overlap.
    group.time(&format!("to the host, {name}"), || unsafe { copy::to_host(&side, array, stream) }.unwrap());
}

fn layouts() {
    let stream = Stream::default_of(Device::cpu().unwrap());
    let dtype = DType::new(ScalarType::Float32);
    for (label, shape) in SHAPES {
        let mut group = Group::new(&format!("float32, {label}"));
        let array = Array::empty(&shape, dtype, MemoryOrder::C, stream.clone()).unwrap();
        group.bytes_per_call(array.layout().nbytes() as u64);
        let source = vec![1u8; array.layout().nbytes() as usize];
        let mut target = source.clone();
        group.time("plain copy of the same bytes", || target.copy_from_slice(&source));
        for (name, view) in [
            ("dense", dense as View),
            ("the left half of rows", left_half),
            ("every second column", every_second),
            ("transposed", transposed),
        ] {
            both_ways(&group, name, &array, &mut Host::new(shape, dtype, view), &stream);
        }
    }
}

fn widths() {
    let stream = Stream::default_of(Device::cpu().unwrap());
    let (label, shape) = SHAPES[0];
    let mut group = Group::new(&format!("every second column, {label}"));
    for (name, kind) in KINDS {
        let dtype = DType::new(kind);
        let array = Array::empty(&shape, dtype, MemoryOrder::C, stream.clone()).unwrap();
        group.bytes_per_call(array.layout().nbytes() as u64);
        both_ways(&group, name, &array, &mut Host::new(shape, dtype, every_second), &stream);
    }
}

fn new_arrays() {
    let stream = Stream::default_of(Device::cpu().unwrap());
    let group = Group::new("new arrays");
    for (name, shape) in [("36 bytes", [3, 3]), ("4 KiB", [4, 256]), ("16 MiB", [4096, 1024])] {
        group.time(&format!("empty, {name}"), || {
            Array::empty(&shape, DType::new(ScalarType::Float32), MemoryOrder::C, stream.clone()).unwrap()
        });
    }
}

fn main() {
    layouts();
    widths();
    new_arrays();
}
