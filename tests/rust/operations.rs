//! Tests elementwise kernels, reductions and scans that are generated from expressions, without Python. The kernels run
//! on the CPU backend, which compiles the same source as a GPU backend. The tests are skipped without a C++ compiler.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::undocumented_unsafe_blocks)]
#![allow(clippy::print_stderr)] // Prints why a test is skipped.

use pygpu::array::Array;
use pygpu::device::Device;
use pygpu::dtype::{DType, ScalarType};
use pygpu::error::Error;
use pygpu::kernel::{self, Arguments, KernelSource};
use pygpu::layout::{Index, MemoryOrder};
use pygpu::ops::{Argument, ArgumentRole, Elementwise, Reduce, ReductionSpec, Scan, Scanning, Texts};
use pygpu::stream::Stream;

/// Returns the CPU's stream, or `None` if device code cannot be compiled for the CPU.
fn stream() -> Option<Stream> {
    let device = Device::cpu().unwrap();
    let source =
        KernelSource { text: "extern \"C\" __global__ void nothing() {}".to_owned(), ..KernelSource::default() };
    match kernel::load_searching(device, &source) {
        Ok(_) => Some(Stream::default_of(device)),
        Err(Error::Unavailable(text) | Error::NotSupported(text)) => {
            eprintln!("skipped: {text}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn int64() -> DType {
    DType::new(ScalarType::Int64)
}

fn vector(name: &str, constant: bool) -> Argument {
    Argument {
        name: name.to_owned(),
        c_type: "long long".to_owned(),
        dtype: int64(),
        role: ArgumentRole::Vector { constant },
    }
}

/// Returns an array with the elements 0, 1, 2 and so on.
fn counted(shape: &[i64], stream: &Stream) -> Array {
    let array = Array::empty(shape, int64(), MemoryOrder::C, stream.clone()).unwrap();
    let first = array.address() as *mut i64;
    (0..array.layout().size()).for_each(|number| unsafe { *first.offset(number as isize) = number });
    array
}

fn values(array: &Array) -> Vec<i64> {
    let mut values = Vec::new();
    let (shape, strides): (Vec<i64>, Vec<i64>) = (array.layout().shape().collect(), array.layout().strides().collect());
    for number in 0..array.layout().size() {
        let (mut rest, mut at) = (number, array.address() as i64);
        for (len, stride) in shape.iter().zip(&strides).rev() {
            at += rest % len * stride;
            rest /= len;
        }
        values.push(unsafe { *(at as *const i64) });
    }
    values
}

fn view(array: &Array, key: &[Index]) -> Array {
    array.view(array.layout().index(key).unwrap()).unwrap()
}

fn every(step: i64) -> Index {
    Index::Slice { start: None, stop: None, step: Some(step) }
}

fn texts(operation: &str) -> Texts {
    Texts { operation: operation.to_owned(), ..Texts::default() }
}

#[test]
fn expression_runs_over_arrays_of_any_layout() {
    let Some(stream) = stream() else { return };
    let arguments = vec![vector("x", true), vector("y", true), vector("z", false)];
    let kernel = Elementwise::new("add".to_owned(), arguments, texts("z[i] = x[i] + 10 * y[i]"), Vec::new()).unwrap();
    let base = counted(&[4, 6, 10], &stream);
    let sides = [
        view(&base, &[every(1), every(2), every(-3)]),
        view(&base, &[Index::Integer(1), every(2), every(3)]), // This operand is broadcast along the first axis.
        view(&counted(&[4, 6, 8], &stream), &[every(-1), every(-2), every(2)]),
    ];
    let plan = |arrays: &[&Array]| kernel.plan(arrays, false).unwrap();
    let arrays: Vec<&Array> = sides.iter().collect();
    let (first, second) = (values(&sides[0]), values(&sides[1]));
    assert!(!kernel.is_compiled(stream.device(), &plan(&arrays), false));
    unsafe { kernel.run(&plan(&arrays), &arrays, &mut Arguments::new(), None, &stream).unwrap() };
    let expected: Vec<i64> = (0..48).map(|i| first[i] + 10 * second[i % 12]).collect();
    assert_eq!(values(&sides[2]), expected);
    assert!(kernel.is_compiled(stream.device(), &plan(&arrays), false));
    // These arrays have another shape, but the same access patterns, so they use the kernel that is already compiled.
    let shorter: Vec<Array> = sides[..2]
        .iter()
        .chain([&sides[2]])
        .map(|side| {
            let last = side.layout().ndim() - 1;
            let key: Vec<Index> = (0..=last).map(|axis| if axis == last { part(0, 3) } else { every(1) }).collect();
            view(side, &key)
        })
        .collect();
    assert!(kernel.is_compiled(stream.device(), &plan(&shorter.iter().collect::<Vec<_>>()), false));
    // Contiguous arrays have other access patterns, so they need a new kernel.
    let flat: Vec<Array> = (0..3).map(|_| counted(&[12], &stream)).collect();
    assert!(!kernel.is_compiled(stream.device(), &plan(&flat.iter().collect::<Vec<_>>()), false));
}

fn part(start: i64, stop: i64) -> Index {
    Index::Slice { start: Some(start), stop: Some(stop), step: None }
}

#[test]
fn element_plan_has_at_most_320_bytes() {
    assert!(size_of::<pygpu::ops::ElementPlan>() <= 320, "{} bytes", size_of::<pygpu::ops::ElementPlan>());
}

fn sum() -> Reduce {
    let of = ReductionSpec {
        name: "total".to_owned(),
        dtype: int64(),
        c_type: "long long".to_owned(),
        neutral: "0".to_owned(),
        reduce: "a + b".to_owned(),
        map: "x[i]".to_owned(),
        preamble: String::new(),
        options: Vec::new(),
    };
    Reduce::new(of, vec![vector("x", true)]).unwrap()
}

#[test]
fn reduction_of_any_length_matches_sum() {
    let Some(stream) = stream() else { return };
    let sum = sum();
    for length in [0, 1, 5, 40_000] {
        let array = view(&counted(&[length], &stream), &[every(-3)]);
        let reduced = unsafe { sum.reduced(&[&array], Arguments::new(), &stream).unwrap() };
        assert_eq!(values(&reduced), [values(&array).iter().sum::<i64>()], "{length} elements");
    }
}

#[test]
fn reduction_rejects_result_of_wrong_dtype_or_size_before_launch() {
    let Some(stream) = stream() else { return };
    let (sum, array, device) = (sum(), counted(&[40_000], &stream), stream.device());
    let ready = sum.ready(sum.plan(&[&array]).unwrap(), device).unwrap();
    let new = |shape: &[i64], kind| Array::empty(shape, DType::new(kind), MemoryOrder::C, stream.clone()).unwrap();
    let run =
        |out: &Array, parts: &Array| unsafe { sum.run(&ready, &[&array], Arguments::new(), [out, parts], &stream) };
    let (out, parts) = (new(&[], ScalarType::Int64), new(&[ready.parts()], ScalarType::Int64));
    for (wrong, text) in [
        (new(&[], ScalarType::Float32), "out is float32, and the result int64"),
        (new(&[0], ScalarType::Int64), "out has no elements"),
    ] {
        assert!(run(&wrong, &parts).unwrap_err().to_string().contains(text));
    }
    if ready.parts() > 0 {
        assert!(run(&out, &new(&[0], ScalarType::Int64)).unwrap_err().to_string().contains("there is no room"));
    }
    run(&out, &parts).unwrap();
    assert_eq!(values(&out), [40_000 * 39_999 / 2]);
}

fn cumulative(neutral: Option<&str>) -> Scan {
    Scan::new(Scanning {
        name: "cumulative".to_owned(),
        dtype: int64(),
        c_type: "long long".to_owned(),
        expression: "a + b".to_owned(),
        neutral: neutral.map(str::to_owned),
        preamble: String::new(),
        options: Vec::new(),
    })
    .unwrap()
}

fn prefix_sums(of: &[i64], is_exclusive: bool) -> Vec<i64> {
    let mut sum = 0;
    let step = |value: &i64| {
        let before = sum;
        sum += value;
        if is_exclusive { before } else { sum }
    };
    of.iter().map(step).collect()
}

#[test]
fn scans_of_any_stride_and_length_match_prefix_sums() {
    let Some(stream) = stream() else { return };
    for (scan, is_exclusive) in [(cumulative(None), false), (cumulative(Some("0")), true)] {
        for (length, step) in [(0, 1), (1, 1), (1000, -1), (5000, 3)] {
            let array = view(&counted(&[length], &stream), &[every(step)]);
            let scanned = scan.scanned(&array, &stream).unwrap();
            assert_eq!(values(&scanned), prefix_sums(&values(&array), is_exclusive), "{length} by {step}");
        }
    }
}

#[test]
fn scan_accepts_input_as_output_but_rejects_partial_overlap() {
    let Some(stream) = stream() else { return };
    let scan = cumulative(None);
    let parts = |length: i64| {
        let count = scan.blocks(stream.device(), length) as i64;
        Array::empty(&[count], int64(), MemoryOrder::C, stream.clone()).unwrap()
    };
    let array = counted(&[100], &stream);
    scan.run(&array, &array, &parts(100), &stream).unwrap();
    assert_eq!(values(&array), prefix_sums(&(0..100).collect::<Vec<_>>(), false));
    let before = values(&array);
    let refused = |input: &Array, output: &Array| {
        scan.run(input, output, &parts(input.layout().size()), &stream).unwrap_err().to_string()
    };
    let all = &array;
    let shares = [
        (view(all, &[part(0, 99)]), view(all, &[part(1, 100)])),
        (all.clone(), view(all, &[every(-1)])),
        (view(all, &[every(2)]), view(all, &[part(0, 50)])),
    ];
    for (input, output) in shares {
        assert!(refused(&input, &output).contains("shares memory with the input or itself"));
    }
    let single = view(all, &[part(0, 1)]);
    let repeated = single.view(single.layout().broadcast_to(&[100]).unwrap()).unwrap();
    assert!(refused(&counted(&[100], &stream), &repeated).contains("shares memory"));
    assert!(refused(all, &counted(&[99], &stream)).contains("the input has 100 elements, and output_ary 99"));
    assert!(refused(&counted(&[10, 10], &stream), all).contains("input has 2 axes"));
    assert_eq!(values(&array), before, "nothing was written");
    // The two views are interleaved, so their elements do not overlap.
    let (even, odd) =
        (view(all, &[every(2)]), view(&array, &[Index::Slice { start: Some(1), stop: None, step: Some(2) }]));
    scan.run(&even, &odd, &parts(50), &stream).unwrap();
    assert_eq!(values(&odd), prefix_sums(&values(&even), false));
}
