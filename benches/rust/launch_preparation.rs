//! Measures the nanoseconds that PyGPU needs before it launches an expression's kernel: for the plan of the loop, the
//! key of the compiled kernel, and the parameters of the launch.
#![allow(clippy::unwrap_used, missing_docs)]

mod timing;

use std::hint::black_box;

use pygpu::array::Array;
use pygpu::device::Device;
use pygpu::dtype::{DType, ScalarType};
use pygpu::kernel::Arguments;
use pygpu::layout::{Index, MemoryOrder};
use pygpu::ops::{Argument, ArgumentRole, Elementwise, Texts};
use pygpu::stream::Stream;

use crate::timing::Group;

fn array(shape: &[i64]) -> Array {
    let stream = Stream::default_of(Device::cpu().unwrap());
    Array::empty(shape, DType::new(ScalarType::Float32), MemoryOrder::C, stream).unwrap()
}

/// Returns an array that takes every second element along every axis.
fn halved(shape: &[i64]) -> Array {
    let whole = array(&shape.iter().map(|len| 2 * len).collect::<Vec<_>>());
    let key = vec![Index::Slice { start: None, stop: None, step: Some(2) }; shape.len()];
    whole.view(whole.layout().index(&key).unwrap()).unwrap()
}

fn turned(shape: &[i64]) -> Array {
    let straight = array(&shape.iter().rev().copied().collect::<Vec<_>>());
    straight.view(straight.layout().transpose(None).unwrap()).unwrap()
}

fn vector(name: &str, constant: bool) -> Argument {
    let role = ArgumentRole::Vector { constant };
    Argument { name: name.to_owned(), c_type: "float".to_owned(), dtype: DType::new(ScalarType::Float32), role }
}

fn calls() {
    let arguments = vec![vector("x", true), vector("y", true), vector("z", false)];
    let texts = Texts { operation: "z[i] = 2 * x[i] + y[i]".to_owned(), ..Texts::default() };
    let kernel = Elementwise::new("axpy".to_owned(), arguments, texts, Vec::new()).unwrap();
    let plane = [512, 512];
    let sets = [
        ("flat", [array(&plane), array(&plane), array(&plane)]),
        ("a line of every second", [halved(&[512]), halved(&[512]), halved(&[512])]),
        ("a row for each", [array(&plane), array(&[512]), array(&plane)]),
        ("every second of a plane", [halved(&plane), halved(&plane), halved(&plane)]),
        ("one turned", [turned(&plane), array(&plane), array(&plane)]),
        ("four axes", [halved(&[4, 4, 4, 4]), halved(&[4, 4, 4, 4]), halved(&[4, 4, 4, 4])]),
    ];
    let group = Group::new("a call");
    for (name, arrays) in &sets {
        let arrays: Vec<&Array> = arrays.iter().collect();
        group.time(name, || {
            let plan = kernel.plan(black_box(&arrays), false).unwrap();
            let mut values = Arguments::new();
            plan.push(&mut values);
            black_box((plan.key(false), values.len()))
        });
    }
}

fn main() {
    calls();
}
