//! Computes Fourier transforms by the vendors' libraries and own kernels, for any layout and any axes.
//!
//! [`embedding`] describes two arrays' layouts to a library, [`plans`] caches the library's plans, and [`prepare`] adds
//! the steps that the libraries lack: conversion, zero padding, scaling. [`columns`] replaces the libraries where they
//! are slow.

pub mod columns;
mod embedding;
pub mod plans;
mod prepare;

use smallvec::SmallVec;

use crate::ufunc::cast;
use columns::ColumnTransform;
use embedding::Embedding;
use prepare::{cropped, is_even, real_of, scale, turned, write};
use pygpu_array::Array;
use pygpu_backend::libraries::fft::{Direction, Fft, FftType, RANK};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_base::small_sort;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_layout::{Dims, Layout, MemoryOrder};

/// Kind of a Fourier transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transform {
    /// Complex to complex.
    Forward,
    /// Inverse transform of complex to complex values.
    Inverse,
    /// Transform of real values to their half spectrum.
    FromReal,
    /// Transform of a half spectrum to real values.
    ToReal,
}

impl Transform {
    const fn direction(self) -> Direction {
        match self {
            Self::Forward | Self::FromReal => Direction::Forward,
            Self::Inverse | Self::ToReal => Direction::Inverse,
        }
    }

    /// Returns the element type in which the transform of elements of type `kind` is computed, or `None` if the type is
    /// unsupported.
    pub fn computes_in(self, kind: ScalarType) -> Option<ScalarType> {
        use ScalarType::{
            BFloat16, Bool, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16,
            UInt32, UInt64,
        };
        match kind {
            Complex64 | Complex128 if self == Self::FromReal => None,
            Float16 | BFloat16 | Float32 | Complex64 => Some(Complex64),
            Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float64 | Complex128 => {
                Some(Complex128)
            }
            _ => None,
        }
    }

    /// Returns the element type of the result of a transform along `axes` axes.
    pub fn results_in(self, kind: ScalarType, axes: usize) -> Option<ScalarType> {
        let computed = self.computes_in(kind)?;
        Some(match (self, kind, axes) {
            (Self::ToReal, ScalarType::Float16 | ScalarType::BFloat16, 1) => kind,
            (Self::ToReal, ..) => real_of(computed),
            _ => computed,
        })
    }
}

/// A transform to execute.
pub struct FftProblem<'a> {
    /// The vendor's FFT library.
    pub library: &'static Fft,
    /// The array to transform.
    pub input: &'a Array,
    /// Whether the input is a temporary array, which the transform may overwrite.
    pub is_ours: bool,
    /// The array for the result, which has the result's shape; `None` if the function must allocate it.
    pub out: Option<&'a Array>,
    /// The kind of transform.
    pub transform: Transform,
    /// The transformed axes, each at most once, with their numbers of points. If the input or the output is real, the
    /// complex array has only n / 2 + 1 elements along the last of these axes, instead of n.
    pub axes: &'a [(usize, i64)],
    /// Scale factor by which the result of the transform is multiplied.
    pub factor: f64,
}

impl FftProblem<'_> {
    /// Returns the shape of the result.
    pub fn shape(&self) -> Dims {
        self.shape_of(self.transform == Transform::FromReal)
    }

    fn shape_of(&self, is_half: bool) -> Dims {
        let mut shape: Dims = self.input.layout().shape().collect();
        self.axes.iter().for_each(|&(axis, points)| shape[axis] = points);
        if let (true, Some(&(axis, points))) = (is_half, self.axes.last()) {
            shape[axis] = points / 2 + 1;
        }
        shape
    }

    fn complex(&self) -> Result<ScalarType> {
        let kind = self.input.dtype().kind();
        let name = self.input.dtype().name();
        self.transform.computes_in(kind).ok_or_else(|| Error::type_error(format!("{name} is not transformed")))
    }
}

/// Enqueues a transform and returns its result.
///
/// # Errors
/// `TypeError` for unsupported types; `OutOfMemory`; library errors; compiler errors; driver errors.
pub fn run(task: &FftProblem<'_>, stream: &Stream) -> Result<Array> {
    let complex = task.complex()?;
    let computed = if task.transform == Transform::ToReal { real_of(complex) } else { complex };
    let shape = task.shape();
    let result_dtype = match (task.out, task.transform.results_in(task.input.dtype().kind(), task.axes.len())) {
        (Some(out), _) => out.dtype(),
        (None, kind) => DType::new(kind.unwrap_or(computed)),
    };
    let takes = |out: &&Array| {
        let is_complex = matches!(task.transform, Transform::Forward | Transform::Inverse);
        let is_apart = !copy::may_overlap(out, task.input) || (is_complex && copy::is_same_place(out, task.input));
        out.dtype().kind() == computed && is_apart && is_even(out) && !out.layout().has_internal_overlap()
    };
    let target = match task.out.filter(takes) {
        Some(out) => out.clone(),
        None => dense_like(task.input, &shape, computed, stream)?,
    };
    if !target.layout().is_empty() {
        into(task, &target, complex, stream)?;
    }
    if let Some(out) = task.out {
        if !copy::is_same_place(out, &target) {
            convert(out, &target, stream)?;
        }
        return Ok(out.clone());
    }
    if result_dtype == target.dtype() {
        return Ok(target);
    }
    let made = dense_like(task.input, &shape, result_dtype.kind(), stream)?;
    convert(&made, &target, stream)?;
    Ok(made)
}

fn convert(target: &Array, source: &Array, stream: &Stream) -> Result<()> {
    if target.dtype() == source.dtype() {
        return copy::between(target, source, stream);
    }
    cast::cast(target, cast::CastSource::Array(source), None, stream)
}

/// Allocates a dense array whose axes have the same order in memory as those of `like`.
fn dense_like(like: &Array, shape: &[i64], kind: ScalarType, stream: &Stream) -> Result<Array> {
    let dtype = DType::new(kind);
    let layout = Layout::in_k_order(shape, &[like.layout()], dtype.itemsize() as i64)?;
    Array::on_new_memory(layout, dtype, stream.clone())
}

fn into(task: &FftProblem<'_>, target: &Array, complex: ScalarType, stream: &Stream) -> Result<()> {
    let long: SmallVec<[usize; 4]> =
        task.axes.iter().filter(|(_, points)| *points > 1).map(|(axis, _)| *axis).collect();
    let factor = match task.transform {
        Transform::Forward | Transform::Inverse => complex_into(task, target, &long, stream)?,
        Transform::FromReal => from_real_into(task, target, complex, &long, stream)?,
        Transform::ToReal => to_real_into(task, target, complex, &long, stream)?,
    };
    scale(target, factor, stream)
}

/// Converts the input to the element type, size and alignment that the library requires. Returns the input itself if it
/// is already suitable, otherwise a converted copy in the array that `target` returns. Also returns the factor by which
/// the transform's result must still be multiplied.
fn ready(
    task: &FftProblem<'_>,
    shape: &[i64],
    kind: ScalarType,
    target: impl FnOnce() -> Result<Array>,
    stream: &Stream,
) -> Result<(Array, f64)> {
    let source = cropped(task.input, shape)?;
    let is_whole = source.layout().shape().eq(shape.iter().copied());
    if is_whole && source.dtype().kind() == kind && is_even(&source) {
        return Ok((source, task.factor));
    }
    let made = target()?;
    let factor = write(&made, &source, task.factor, stream)?;
    Ok((made, factor))
}

fn complex_into(task: &FftProblem<'_>, target: &Array, long: &[usize], stream: &Stream) -> Result<f64> {
    let (source, factor) = ready(task, &task.shape(), target.dtype().kind(), || Ok(target.clone()), stream)?;
    let call = FftCall { library: task.library, direction: task.transform.direction(), stream };
    call.several(&source, target, long, factor)
}

fn from_real_into(
    task: &FftProblem<'_>,
    target: &Array,
    complex: ScalarType,
    long: &[usize],
    stream: &Stream,
) -> Result<f64> {
    let Some(&(last, points)) = task.axes.last() else { return Ok(task.factor) };
    let call = FftCall { library: task.library, direction: Direction::Forward, stream };
    if points == 1 {
        let source = cropped(task.input, &task.shape())?;
        let factor = write(target, &source, task.factor, stream)?;
        return call.several(target, target, long, factor);
    }
    let shape = task.shape_of(false);
    let kind = real_of(complex);
    let (source, factor) = ready(task, &shape, kind, || dense_like(task.input, &shape, kind, stream), stream)?;
    if long.len() <= RANK && call.at_once(FftType::FromReal, &source, target, long)? {
        return Ok(factor);
    }
    let factor = call.along(FftType::FromReal, &source, target, last, factor)?;
    call.several(target, target, &long[..long.len() - 1], factor)
}

fn to_real_into(
    task: &FftProblem<'_>,
    target: &Array,
    complex: ScalarType,
    long: &[usize],
    stream: &Stream,
) -> Result<f64> {
    let Some(&(last, points)) = task.axes.last() else { return Ok(task.factor) };
    let call = FftCall { library: task.library, direction: Direction::Inverse, stream };
    let shape = task.shape_of(true);
    // The libraries overwrite the input of a transform from half spectrum to real values, so the caller's input is
    // copied.
    let room = || dense_like(task.input, &shape, complex, stream);
    let (half, factor) = if task.is_ours {
        ready(task, &shape, complex, room, stream)?
    } else {
        let half = room()?;
        let factor = write(&half, &cropped(task.input, &shape)?, task.factor, stream)?;
        (half, factor)
    };
    let others = if points > 1 { &long[..long.len() - 1] } else { long };
    let factor = call.several(&half, &half, others, factor)?;
    if points == 1 {
        convert(target, &half, stream)?;
        return Ok(factor);
    }
    prepare::clear_imaginary(&half, last, points, stream)?;
    call.along(FftType::ToReal, &half, target, last, factor)
}

/// An FFT library, with the direction of its transforms and the stream on which they are enqueued.
struct FftCall<'a> {
    library: &'static Fft,
    direction: Direction,
    stream: &'a Stream,
}

impl FftCall<'_> {
    /// Transforms an array along several axes by one library plan. Returns `false`, without any transform, if the
    /// library cannot express the layout.
    fn at_once(&self, way: FftType, source: &Array, target: &Array, axes: &[usize]) -> Result<bool> {
        let is_double = target.dtype().itemsize() == if way == FftType::ToReal { 8 } else { 16 };
        let Some(embedding) = Embedding::of(way, is_double, source.layout(), target.layout(), axes) else {
            return Ok(false);
        };
        plans::run(self.library, &embedding, [source, target], self.direction, self.stream)?;
        Ok(true)
    }

    /// Transforms complex numbers along any axes, from one array into another or in place. Returns the factor by which
    /// the result must still be multiplied: 1 if it was already multiplied by `factor`.
    fn several(&self, source: &Array, target: &Array, axes: &[usize], mut factor: f64) -> Result<f64> {
        let mut left: SmallVec<[usize; 4]> = axes.into();
        small_sort::sort_by_key(&mut left, |&axis| -target.layout().axes()[axis].stride);
        let mut from = source;
        while !left.is_empty() {
            let mut count = left.len().min(RANK);
            while count > 1 && !self.at_once(FftType::Complex, from, target, &left[left.len() - count..])? {
                count -= 1;
            }
            if let (1, Some(&axis)) = (count, left.last()) {
                factor = self.along(FftType::Complex, from, target, axis, factor)?;
            }
            left.truncate(left.len() - count);
            from = target;
        }
        if !copy::is_same_place(from, target) {
            copy::between(target, from, self.stream)?;
        }
        Ok(factor)
    }

    /// Transforms an array of any layout along one axis, and returns the factor as `several` does. If the library cannot
    /// express the layout or is slow, transforms a copy in which this axis is the last.
    fn along(&self, way: FftType, source: &Array, target: &Array, axis: usize, factor: f64) -> Result<f64> {
        if way == FftType::Complex {
            let task = ColumnTransform { source, target, axis, direction: self.direction, factor };
            if columns::run(&task, self.stream)? {
                return Ok(1.0);
            }
        }
        let is_slow = way == FftType::Complex && columns::is_slow_in_library(source, target, axis);
        if !is_slow && self.at_once(way, source, target, &[axis])? {
            return Ok(factor);
        }
        let mut order: SmallVec<[usize; 8]> = (0..source.layout().ndim()).filter(|other| *other != axis).collect();
        order.push(axis);
        let (from, to) = (turned(source, &order)?, turned(target, &order)?);
        let read = copy::duplicate(&from, MemoryOrder::C, self.stream)?;
        let written = match way {
            FftType::Complex => read.clone(),
            _ => {
                let shape: Dims = to.layout().shape().collect();
                Array::empty(&shape, to.dtype(), MemoryOrder::C, self.stream.clone())?
            }
        };
        if !self.at_once(way, &read, &written, &[order.len() - 1])? {
            return Err(Error::value(format!(
                "transforms along the last axis of {:?} cannot be described",
                read.layout()
            )));
        }
        copy::between(&to, &written, self.stream)?;
        Ok(factor)
    }
}
