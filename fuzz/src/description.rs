//! Descriptions of memory as in array interfaces: a description is accepted exactly if it is valid, and the owner of the
//! memory is released exactly once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arbitrary::{Result, Unstructured};
use pygpu::array::Array;
use pygpu::device::Device;
use pygpu::dtype::{DType, ScalarType};
use pygpu::error::Error;
use pygpu::interop::cuda_array_interface;
use pygpu::interop::imported_memory::ImportedMemory;
use pygpu::layout::{Dims, MAX_RANK};
use pygpu::stream::Stream;

use super::source::{extent, number, numbers, optional, size_fits};

/// Counts how often the owner of the memory is released.
struct Owner(Arc<AtomicUsize>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub fn run(bytes: &[u8]) {
    let bytes = &mut Unstructured::new(bytes);
    let Ok((description, stream)) = claims(bytes) else { return };
    let dropped = Arc::new(AtomicUsize::new(0));
    let stream_of_host = Stream::default_of(Device::cpu().unwrap());
    // SAFETY: the memory of the array is neither read nor written.
    let adopted = unsafe { description.adopt(stream_of_host, Box::new(Owner(Arc::clone(&dropped)))) };
    assert_eq!(adopted.is_ok(), description.check().is_ok());
    assert_eq!(adopted.is_ok(), can_be_true(&description), "{}", text_of(&description));
    match adopted {
        Ok(array) => {
            assert_eq!(dropped.load(Ordering::SeqCst), 0);
            check(&array, &description);
        }
        Err(Error::Value(text)) => assert!(!text.is_empty()),
        Err(other) => panic!("{other:?} is no ValueError"),
    }
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    let _ = (description.check_alignment(true), description.check_alignment(false));
    // The random address belongs to no device, so the import must fail and release the owner.
    if !description.shape.contains(&0) {
        // SAFETY: the import fails, so no memory is read or written.
        let imported =
            unsafe { cuda_array_interface::import(&description, stream, Box::new(Owner(Arc::clone(&dropped)))) };
        assert!(imported.is_err());
        assert_eq!(dropped.load(Ordering::SeqCst), 2);
    }
}

fn claims(bytes: &mut Unstructured<'_>) -> Result<(ImportedMemory, Option<i64>)> {
    let shape = if bytes.ratio(3, 4)? { few(bytes, 0, 6)? } else { numbers(bytes)? };
    let strides = optional(bytes, |bytes| match bytes.int_in_range(0..=3u8)? {
        0 => numbers(bytes),
        _ => shape.iter().map(|_| number(bytes)).collect(),
    })?;
    let address = match bytes.int_in_range(0..=3u8)? {
        0 => number(bytes)? as usize,
        1 => (1 << 57) - bytes.int_in_range(0..=64_usize)?,
        _ => 4096 + bytes.int_in_range(0..=64_usize)?,
    };
    let description = ImportedMemory {
        address,
        shape: Dims::from_vec(shape),
        strides: strides.map(Dims::from_vec),
        dtype: dtype(bytes)?,
        readonly: bytes.arbitrary()?,
    };
    Ok((description, optional(bytes, number)?))
}

fn few(bytes: &mut Unstructured<'_>, low: i64, high: i64) -> Result<Vec<i64>> {
    (0..bytes.int_in_range(0..=4)?).map(|_| bytes.int_in_range(low..=high)).collect()
}

/// Draws a dtype from a typestr, which in most cases has the form of a valid typestr.
fn dtype(bytes: &mut Unstructured<'_>) -> Result<DType> {
    let typestr = if bytes.ratio(7, 8)? {
        let order = *bytes.choose(&["<", "|", ">", "=", ""])?;
        let kind = *bytes.choose(&["f", "i", "u", "b", "c", "V", "M", "O", "S"])?;
        format!("{order}{kind}{}", *bytes.choose(&[0_u64, 1, 2, 3, 4, 8, 16, 1 << 31, u64::MAX])?)
    } else {
        String::from_utf8_lossy(bytes.bytes(bytes.len().min(12))?).into_owned()
    };
    match DType::from_typestr(&typestr) {
        Ok(dtype) => {
            assert!(dtype.itemsize() > 0, "{typestr}");
            Ok(dtype)
        }
        Err(_) => Ok(DType::new(*bytes.choose(&[ScalarType::Float32, ScalarType::Int8, ScalarType::Complex128])?)),
    }
}

/// Returns whether a description is valid, by an independent check in arithmetic that does not overflow.
fn can_be_true(description: &ImportedMemory) -> bool {
    let itemsize = description.dtype.itemsize() as i64;
    let shape = &description.shape[..];
    if shape.len() > MAX_RANK || !size_fits(shape, itemsize) {
        return false;
    }
    let dense = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<i64>() * itemsize);
    let strides: Vec<i64> = match &description.strides {
        Some(strides) if strides.len() != shape.len() => return false,
        _ if shape.contains(&0) => return true,
        Some(strides) => strides.to_vec(),
        None => dense.collect(),
    };
    let Some((low, high)) = extent(shape.iter().copied().zip(strides), 0, itemsize) else { return true };
    let address = description.address as i128;
    description.address != 0 && address + low >= 0 && address + high <= 1 << 57
}

fn check(array: &Array, description: &ImportedMemory) {
    let layout = array.layout();
    assert!(layout.shape().eq(description.shape.iter().copied()));
    assert_eq!(array.readonly(), description.readonly);
    assert_eq!(array.dtype(), description.dtype);
    assert_eq!(array.address(), if layout.is_empty() { 0 } else { description.address });
    let (low, high) = layout.extent().unwrap_or_default();
    assert_eq!(array.allocation().bytes() as i64, high - low);
    if let Some(strides) = description.strides.as_ref().filter(|_| !layout.is_empty()) {
        for (axis, stride) in layout.axes().iter().zip(strides) {
            assert!(axis.len == 1 || axis.stride == *stride);
        }
    }
}

fn text_of(description: &ImportedMemory) -> String {
    let ImportedMemory { address, shape, strides, dtype, .. } = description;
    format!("{address:#x} {shape:?} {strides:?} {}", dtype.name())
}
