//! Managed tensors with random fields: a tensor is imported if its fields are valid and otherwise rejected by a
//! `BufferError`. An imported or rejected tensor is deleted exactly once.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use arbitrary::{Result, Unstructured};
use pygpu::array::Array;
use pygpu::copy::{self, HostBuffer};
use pygpu::dtype::DType;
use pygpu::error::Error;
use pygpu::interop::dlpack::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion,
    DLTensor,
};
use pygpu::interop::dlpack::import::{ImportedTensor, allocate_like};
use pygpu::interop::dlpack::{DlpackFlags, export};
use pygpu::layout::{Layout, MAX_RANK, MemoryOrder};
use pygpu::stream::Stream;

use super::source::{extent, number, optional, size_fits};

thread_local! {
    static DELETED: Cell<usize> = const { Cell::new(0) };
}

unsafe extern "C" fn delete_legacy(_: *mut DLManagedTensor) {
    DELETED.with(|deleted| deleted.set(deleted.get() + 1));
}

unsafe extern "C" fn delete_versioned(_: *mut DLManagedTensorVersioned) {
    DELETED.with(|deleted| deleted.set(deleted.get() + 1));
}

const WORDS: usize = 64;
const BYTES: i64 = 8 * WORDS as i64;

/// The fields of a tensor. `shape` and `strides` have as many elements as an import reads; other fields may be invalid.
struct Claims {
    is_versioned: bool,
    version: DLPackVersion,
    flags: u64,
    has_deleter: bool,
    /// Offset in bytes from the start of the memory; `None` for a null pointer.
    data: Option<i64>,
    device: (u32, i32),
    ndim: i32,
    element: (u8, u8, u16),
    shape: Option<Vec<i64>>,
    strides: Option<Vec<i64>>,
    byte_offset: u64,
}

impl Claims {
    fn read(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let lies = bytes.arbitrary::<u16>()?;
        // Most fields must be valid in most runs, because an import ends at the first invalid field.
        let lie = |place: u16| lies >> place & 1 == 1;
        let rank = if lie(0) { bytes.int_in_range(0..=MAX_RANK)? } else { bytes.int_in_range(0..=4)? };
        let ndim = if lie(1) { bytes.arbitrary()? } else { rank as i32 };
        // The number of lengths is `ndim` if that is a valid rank.
        let count = usize::try_from(ndim).ok().filter(|&count| count <= MAX_RANK).unwrap_or(rank);
        let shape = (0..count).map(|_| if lie(2) { number(bytes) } else { bytes.int_in_range(0..=4) });
        let shape: Vec<i64> = shape.collect::<Result<_>>()?;
        let strides = optional(bytes, |bytes| {
            (0..count).map(|_| if lie(3) { number(bytes) } else { bytes.int_in_range(-6..=6) }).collect()
        })?;
        let known = [(2, 32, 1), (2, 64, 1), (0, 8, 1), (1, 16, 1), (5, 64, 1), (5, 128, 1), (6, 8, 1), (4, 16, 1)];
        Ok(Self {
            is_versioned: bytes.arbitrary()?,
            version: match lie(4) {
                true => DLPackVersion { major: bytes.arbitrary()?, minor: bytes.arbitrary()? },
                false => DLPackVersion { major: 1, minor: bytes.int_in_range(0..=4)? },
            },
            flags: if lie(5) { bytes.arbitrary()? } else { bytes.int_in_range(0..=3)? },
            has_deleter: !lie(6),
            data: match lie(7) {
                true => optional(bytes, number)?,
                false => Some(BYTES / 2 + 8 * bytes.int_in_range(-4..=4)?),
            },
            device: if lie(8) { (bytes.int_in_range(0..=20)?, bytes.arbitrary()?) } else { (1, 0) },
            ndim,
            element: match lie(9) {
                true => (bytes.arbitrary()?, bytes.arbitrary()?, bytes.int_in_range(0..=4)?),
                false => *bytes.choose(&known)?,
            },
            shape: if lie(10) { None } else { Some(shape) },
            strides,
            byte_offset: if lie(11) { bytes.arbitrary()? } else { 8 * bytes.int_in_range(0..=2)? },
        })
    }

    fn legacy(&self, dl_tensor: DLTensor) -> DLManagedTensor {
        let deleter = self.has_deleter.then_some(delete_legacy as unsafe extern "C" fn(*mut DLManagedTensor));
        DLManagedTensor { dl_tensor, manager_ctx: null_mut(), deleter }
    }

    fn versioned(&self, dl_tensor: DLTensor) -> DLManagedTensorVersioned {
        DLManagedTensorVersioned {
            version: self.version,
            manager_ctx: null_mut(),
            deleter: self
                .has_deleter
                .then_some(delete_versioned as unsafe extern "C" fn(*mut DLManagedTensorVersioned)),
            flags: DlpackFlags::from_bits_retain(self.flags),
            dl_tensor,
        }
    }

    fn tensor(&mut self, memory: &mut [u64]) -> DLTensor {
        let pointer = |numbers: &mut Option<Vec<i64>>| numbers.as_mut().map_or(null_mut(), Vec::as_mut_ptr);
        let (code, bits, lanes) = self.element;
        DLTensor {
            data: self.data.map_or(null_mut(), |at| memory.as_mut_ptr().wrapping_byte_offset(at as isize).cast()),
            device: DLDevice { device_type: DLDeviceType(self.device.0), device_id: self.device.1 },
            ndim: self.ndim,
            dtype: DLDataType { code: DLDataTypeCode(code), bits, lanes },
            shape: pointer(&mut self.shape),
            strides: pointer(&mut self.strides),
            byte_offset: self.byte_offset,
        }
    }

    /// Returns the strides in bytes, those of C order if the tensor has none; `None` if a stride overflows.
    fn byte_strides(&self, shape: &[i64], itemsize: i64) -> Option<Vec<i64>> {
        match &self.strides {
            Some(strides) => strides.iter().map(|stride| stride.checked_mul(itemsize)).collect(),
            None => Layout::contiguous(shape, itemsize, MemoryOrder::C).ok().map(|dense| dense.strides().collect()),
        }
    }

    /// Returns whether all fields are valid, and all elements are inside the existing memory.
    fn is_true(&self, memory: &[u64]) -> bool {
        let (code, bits, lanes) = self.element;
        let (Ok(dtype), Some(data)) = (DType::from_dlpack(code, bits, lanes), self.data) else { return false };
        let itemsize = dtype.itemsize() as i64;
        let shape = self.shape.clone().unwrap_or_default();
        let Some(strides) = self.byte_strides(&shape, itemsize) else { return false };
        let Some(first) = i64::try_from(self.byte_offset).ok().and_then(|offset| data.checked_add(offset)) else {
            return false;
        };
        let address = (memory.as_ptr() as usize).wrapping_add_signed(first as isize);
        let inside = match extent(shape.iter().copied().zip(strides), first, itemsize) {
            Some((low, high)) => low >= 0 && high <= i128::from(BYTES) && address.is_multiple_of(itemsize as usize),
            None => true,
        };
        (!self.is_versioned || self.version.major == 1)
            && matches!(self.device.0, 1 | 3 | 11)
            && self.ndim as usize == shape.len()
            && size_fits(&shape, itemsize)
            && inside
    }
}

pub fn run(bytes: &[u8]) {
    let Ok(mut claims) = Claims::read(&mut Unstructured::new(bytes)) else { return };
    let mut memory: Vec<u64> = (0..WORDS as u64).map(|word| word.wrapping_mul(0x0101_0F1E_3B5A_7753)).collect();
    let tensor = claims.tensor(&mut memory);
    DELETED.with(|deleted| deleted.set(0));
    // Both structures outlive the array, which is dropped at the end of the match.
    let mut legacy = claims.legacy(tensor);
    let mut versioned = claims.versioned(tensor);
    // SAFETY: the structures are those of this file and outlive the import; the ownership of each is passed on once.
    let taken = unsafe {
        match claims.is_versioned {
            true => ImportedTensor::versioned(NonNull::from(&mut versioned)),
            false => Ok(ImportedTensor::legacy(NonNull::from(&mut legacy))),
        }
    };
    match taken.and_then(import) {
        Ok(Some(array)) => check(&array, &claims, &memory),
        // The random device exists on this machine. Whether the address belongs to its memory is unknown.
        Ok(None) => {}
        Err(Error::Buffer(text)) => assert!(!claims.is_true(&memory), "the truth is refused: {text}"),
        Err(other) => panic!("{other:?} is no BufferError"),
    }
    assert_eq!(DELETED.with(Cell::get), usize::from(claims.has_deleter));
    check_prototype(&tensor, &claims);
}

/// Imports a tensor as a consumer does; returns `None` for a device other than the host.
fn import(tensor: ImportedTensor) -> Result<Option<Array>, Error> {
    let device = tensor.device()?;
    if !device.is_cpu() {
        return Ok(None);
    }
    tensor.into_array(Stream::default_of(device)).map(Some)
}

fn check(array: &Array, claims: &Claims, memory: &[u64]) {
    let (layout, itemsize) = (array.layout(), array.layout().itemsize());
    let shape = claims.shape.clone().unwrap_or_default();
    assert!(layout.shape().eq(shape.iter().copied()));
    assert_eq!(itemsize * 8, i64::from(claims.element.1).max(8));
    assert_eq!(array.readonly(), claims.is_versioned && claims.flags & 1 == 1);
    if shape.contains(&0) {
        assert_eq!(array.address(), 0);
        return;
    }
    let data = claims.data.map(|at| (memory.as_ptr() as usize).wrapping_add_signed(at as isize)).unwrap();
    assert_eq!(Some(array.address()), data.checked_add(claims.byte_offset as usize));
    if let Some(strides) = &claims.strides {
        // The stride of an axis with one element is not compared, because the product with the item size may overflow.
        for ((len, found), claimed) in shape.iter().zip(layout.strides()).zip(strides) {
            assert!(*len == 1 || found == claimed * itemsize, "{layout:?}");
        }
    }
    if claims.is_true(memory) && layout.size() <= 4096 {
        check_values(array, memory);
    }
    check_round_trip(array);
}

/// Compares the values of a copy with the values that are read from the memory element by element.
fn check_values(array: &Array, memory: &[u64]) {
    let (layout, itemsize) = (array.layout(), array.layout().itemsize());
    let mut offsets = vec![array.address() as i64 - memory.as_ptr() as i64];
    for axis in layout.axes() {
        offsets = offsets.iter().flat_map(|at| (0..axis.len).map(move |i| at + i * axis.stride)).collect();
    }
    let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let wanted: Vec<u8> =
        offsets.iter().flat_map(|&at| bytes[at as usize..(at + itemsize) as usize].iter().copied()).collect();
    let shape: Vec<i64> = layout.shape().collect();
    let mut found = vec![0_u8; wanted.len()];
    let dense = Layout::contiguous(&shape, itemsize, MemoryOrder::C).unwrap();
    let target = HostBuffer { address: found.as_mut_ptr() as usize, layout: dense };
    // SAFETY: the buffer is as large as its layout, and the memory of the array exists.
    unsafe { copy::to_host(&target, array, &Stream::default_of(array.device())) }.unwrap();
    assert_eq!(found, wanted, "{layout:?}");
}

/// Exports an array and imports it again: both arrays must be equal in address, dtype and layout.
fn check_round_trip(array: &Array) {
    let managed = match export::versioned(array, DlpackFlags::empty(), None) {
        Ok(managed) => managed,
        Err(Error::Buffer(_)) => return,
        Err(other) => panic!("{other:?} is no BufferError"),
    };
    // SAFETY: the tensor is new, and its ownership is passed on once.
    let back = import(unsafe { ImportedTensor::versioned(managed) }.unwrap()).unwrap().unwrap();
    assert_eq!((back.address(), back.readonly(), back.dtype()), (array.address(), array.readonly(), array.dtype()));
    assert!(back.layout().shape().eq(array.layout().shape()));
    for (back, axis) in back.layout().axes().iter().zip(array.layout().axes()) {
        assert!(axis.len == 1 || axis.stride == back.stride, "{:?}", array.layout());
    }
}

/// Calls the allocator of the exchange table with the same tensor as the prototype of dtype, shape and device.
fn check_prototype(prototype: &DLTensor, claims: &Claims) {
    let is_small = claims.shape.iter().flatten().all(|len| *len <= 64) && claims.ndim <= 3;
    if prototype.device.device_type != DLDeviceType::CPU || !is_small {
        return;
    }
    match allocate_like(prototype) {
        Ok(made) => {
            // SAFETY: the tensor is new, and its ownership is passed on once.
            let array = import(unsafe { ImportedTensor::versioned(made) }.unwrap()).unwrap().unwrap();
            assert!(array.layout().shape().eq(claims.shape.iter().flatten().copied()));
            assert!(array.layout().is_c_contiguous() && !array.readonly());
        }
        Err(Error::Buffer(_)) => {}
        Err(other) => panic!("{other:?} is no BufferError"),
    }
}
