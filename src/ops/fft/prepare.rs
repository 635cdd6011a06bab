//! Implements the steps before and after a library's transform: conversion, cropping, zero padding, scaling.

use super::embedding::is_reachable;
use crate::ufunc::{self, LoopOperand, cast};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::Arguments;
use pygpu_layout::{Axis, Dims, Layout};

/// Returns the real type of a complex type; other types are returned unchanged.
pub(super) const fn real_of(kind: ScalarType) -> ScalarType {
    match kind {
        ScalarType::Complex64 => ScalarType::Float32,
        ScalarType::Complex128 => ScalarType::Float64,
        other => other,
    }
}

fn with_axes(array: &Array, axes: &[Axis], offset: i64, dtype: DType) -> Result<Array> {
    let shape: Dims = axes.iter().map(|axis| axis.len).collect();
    let strides: Dims = axes.iter().map(|axis| axis.stride).collect();
    array.view_as(Layout::strided(&shape, &strides, offset, dtype.itemsize() as i64)?, dtype)
}

/// Returns a view of the first elements along each axis. Their number is the length in `shape`, or the array's length
/// if that is smaller.
pub(super) fn cropped(array: &Array, shape: &[i64]) -> Result<Array> {
    let layout = array.layout();
    if layout.shape().zip(shape).all(|(own, most)| own <= *most) {
        return Ok(array.clone());
    }
    let crop = |(axis, most): (&Axis, &i64)| Axis { len: axis.len.min(*most), ..*axis };
    let axes: Vec<Axis> = layout.axes().iter().zip(shape).map(crop).collect();
    with_axes(array, &axes, layout.offset(), array.dtype())
}

/// Returns a view of an array with permuted axes.
pub(super) fn turned(array: &Array, order: &[usize]) -> Result<Array> {
    let axes: Vec<Axis> = order.iter().map(|&axis| array.layout().axes()[axis]).collect();
    with_axes(array, &axes, array.layout().offset(), array.dtype())
}

/// Returns a view of complex numbers as pairs of real ones along an additional last axis; a real array is returned
/// unchanged.
fn as_real(array: &Array) -> Result<Array> {
    if !array.dtype().kind().is_complex() {
        return Ok(array.clone());
    }
    let part = DType::new(real_of(array.dtype().kind()));
    let mut axes = array.layout().axes().to_vec();
    axes.push(Axis { len: 2, stride: part.itemsize() as i64 });
    with_axes(array, &axes, array.layout().offset(), part)
}

/// Whether an FFT library accepts the array's alignment and strides.
pub(super) fn is_even(array: &Array) -> bool {
    let itemsize = array.dtype().itemsize();
    // The libraries require each real array to start at a multiple of a complex element's size.
    let alignment = if array.dtype().kind().is_complex() { itemsize } else { 2 * itemsize };
    is_reachable(array.layout()) && array.address().is_multiple_of(alignment)
}

/// Converts the elements of `source` to the type of `target` and multiplies them by a factor.
fn scaled(target: &Array, source: &Array, factor: f64, stream: &Stream) -> Result<()> {
    let (target, source) = (as_real(target)?, as_real(source)?);
    let kind = target.dtype().kind();
    let row = ufunc::row("multiply").ok_or_else(|| Error::value("there is no function named multiply"))?;
    let kernel = ufunc::kernel_of(row, kind, &[LoopOperand::Array(kind), LoopOperand::Value], &[kind], false)?;
    let mut values = Arguments::new();
    match kind {
        ScalarType::Float32 => values.push(&(factor as f32).to_le_bytes()),
        _ => values.push(&factor.to_le_bytes()),
    }
    let arrays = [&source, &target];
    let plan = kernel.plan(&arrays, false)?;
    // SAFETY: the kernel was created above for arrays of these types and a scalar of this type, and the plan was made
    // for these arrays.
    unsafe { kernel.run(&plan, &arrays, &mut values, None, stream) }
}

/// Multiplies the elements of an array by a factor, in place.
pub(super) fn scale(target: &Array, factor: f64, stream: &Stream) -> Result<()> {
    if factor == 1.0 { Ok(()) } else { scaled(target, target, factor, stream) }
}

/// Writes the input of a transform to `target`, converted and zero-padded. Returns the factor by which the transform's
/// result must still be multiplied: 1 if the elements were already multiplied by `factor` here.
pub(super) fn write(target: &Array, source: &Array, factor: f64, stream: &Stream) -> Result<f64> {
    let shape: Dims = source.layout().shape().collect();
    let part = cropped(target, &shape)?;
    if part.layout().size() < target.layout().size() {
        let zeroes = [0; 16];
        copy::fill(target, &zeroes[..target.dtype().itemsize()], stream)?;
    }
    let itemsize = source.dtype().itemsize();
    let is_aligned = source.address().is_multiple_of(itemsize)
        && source.layout().axes().iter().all(|axis| axis.stride % itemsize as i64 == 0);
    if part.layout().is_empty() {
        return Ok(1.0);
    }
    if source.dtype() != target.dtype() {
        cast::cast(&part, cast::CastSource::Array(source), None, stream)?;
        return Ok(factor);
    }
    if factor == 1.0 || !is_aligned {
        copy::between(&part, source, stream)?;
        return Ok(factor);
    }
    scaled(&part, source, factor, stream)?;
    Ok(1.0)
}

/// Sets the meaningless imaginary parts of a half spectrum to zero. These are the imaginary part of the first element
/// along an axis and, for an even number of points, the imaginary part of the last element. NumPy ignores nonzero
/// values of these parts, whereas each vendor's library treats them differently.
pub(super) fn clear_imaginary(half: &Array, axis: usize, points: i64, stream: &Stream) -> Result<()> {
    let part = DType::new(real_of(half.dtype().kind()));
    let mut axes = half.layout().axes().to_vec();
    let stride = axes[axis].stride;
    axes[axis] = if points % 2 == 0 { Axis { len: 2, stride: stride * (points / 2) } } else { Axis { len: 1, stride } };
    let parts = with_axes(half, &axes, half.layout().offset() + part.itemsize() as i64, part)?;
    copy::fill(&parts, &[0; 8][..part.itemsize()], stream)
}
