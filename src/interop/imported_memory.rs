//! Describes arrays in memory of other libraries. Checks such a description, and converts it to an array.
//!
//! The memory is not accessed, because only the producer of the description can guarantee that its address is valid.
//! The checks detect overflowing sizes, null addresses, misaligned addresses, and elements outside the address space.

use pygpu_array::Array;
use pygpu_backend::Address;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_layout::tuple_text;
use pygpu_layout::{Dims, Layout, MemoryOrder};
use pygpu_memory::OwnerBox;

/// Description of an array in memory of another library.
pub struct ImportedMemory {
    /// Address of element zero. If a stride is negative, this is not the lowest address.
    pub address: Address,
    /// Lengths of the axes.
    pub shape: Dims,
    /// Strides in bytes; `None` for C order.
    pub strides: Option<Dims>,
    /// The type of the elements.
    pub dtype: DType,
    /// Whether writes to the memory are forbidden.
    pub readonly: bool,
}

/// End of the user-space addresses on every platform with a GPU driver.
const END_OF_ADDRESSES: i64 = 1 << 57;

impl ImportedMemory {
    /// Returns the layout of the described array, with offsets relative to element zero.
    ///
    /// # Errors
    /// `ValueError` for negative lengths, overflowing sizes or strides, and a wrong number of strides.
    fn layout(&self) -> Result<Layout> {
        let itemsize = self.dtype.itemsize() as i64;
        let dense = Layout::contiguous(&self.shape, itemsize, MemoryOrder::C)?;
        let Some(strides) = self.strides.as_ref() else { return Ok(dense) };
        if strides.len() == self.shape.len() && dense.is_empty() {
            return Ok(dense);
        }
        // The stride of an axis of length 1 has no meaning. It is replaced by the stride of a dense array of this
        // shape.
        let believed = |(axis, &stride): (usize, &i64)| match dense.axes().get(axis) {
            Some(axis) if axis.len == 1 => axis.stride,
            _ => stride,
        };
        let strides: Dims = strides.iter().enumerate().map(believed).collect();
        Layout::strided(&self.shape, &strides, 0, itemsize)
    }

    /// Checks that the address is aligned for the element type.
    ///
    /// # Errors
    /// `ValueError` for a misaligned address; the message contains the address.
    pub fn check_alignment(&self, on_host: bool) -> Result<()> {
        let itemsize = self.dtype.itemsize();
        let alignment = match self.dtype.kind() {
            ScalarType::Opaque => 1,
            // The host reads the two parts of a complex number separately; a device reads both parts by one access.
            ScalarType::Complex64 | ScalarType::Complex128 if on_host => itemsize / 2,
            _ => itemsize,
        };
        if self.address.is_multiple_of(alignment) || self.shape.contains(&0) {
            return Ok(());
        }
        Err(Error::value(format!(
            "the data pointer {:#x} is misaligned: elements of {} lie on multiples of {alignment} bytes; copy the data \
             to aligned memory first",
            self.address,
            self.dtype.name()
        )))
    }

    /// Returns the layout of the described array, after checking that all its elements are inside the address space.
    fn checked_layout(&self) -> Result<Layout> {
        let layout = self.layout()?;
        if let Some((low, high)) = layout.extent() {
            self.check_extent(low, high)?;
        }
        Ok(layout)
    }

    /// Checks the description, for a caller that has not yet determined the owner of the memory.
    ///
    /// # Errors
    /// `ValueError`.
    pub fn check(&self) -> Result<()> {
        self.checked_layout().map(|_| ())
    }

    /// Creates the array that the description specifies. Work enqueued on `stream` may use the array without further
    /// synchronization. The owner is dropped with the last array that uses the memory, or immediately if an error is
    /// returned.
    ///
    /// # Errors
    /// `ValueError` for every invalid part of the description.
    ///
    /// # Safety
    /// The description of the memory must be correct until `owner` is dropped.
    pub unsafe fn adopt(&self, stream: Stream, owner: OwnerBox) -> Result<Array> {
        let layout = self.checked_layout()?;
        // SAFETY: the caller guarantees that the description is correct until the owner is dropped.
        unsafe { Array::imported(self.address, layout, self.dtype, self.readonly, stream, Some(owner)) }
    }

    fn check_extent(&self, low: i64, high: i64) -> Result<()> {
        if self.address == 0 {
            return Err(Error::value(format!(
                "the data pointer is null, and the shape {} has elements",
                tuple_text(&self.shape)
            )));
        }
        let reach = |offset: i64| i64::try_from(self.address).ok().and_then(|address| address.checked_add(offset));
        match (reach(low), reach(high)) {
            (Some(first), Some(end)) if first >= 0 && end <= END_OF_ADDRESSES => Ok(()),
            _ => Err(Error::value(format!(
                "elements of shape {} at {:#x} would lie outside of the address space",
                tuple_text(&self.shape),
                self.address
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pygpu_device::Device;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct CheckedExtent(&'static AtomicUsize);

    impl Drop for CheckedExtent {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn float32(address: Address, shape: &[i64], strides: Option<&[i64]>) -> ImportedMemory {
        let strides = strides.map(Dims::from_slice);
        let dtype = DType::new(ScalarType::Float32);
        ImportedMemory { address, shape: Dims::from_slice(shape), strides, dtype, readonly: false }
    }

    fn adopt(description: &ImportedMemory) -> Result<Array> {
        // SAFETY: the test reads and writes no element of the array.
        unsafe { description.adopt(Stream::default_of(Device::cpu().unwrap()), Box::new(())) }
    }

    #[test]
    fn adopt_rejects_impossible_memory_descriptions() {
        for (address, shape, strides) in [
            (0, &[1][..], None),
            (64, &[-1], None),
            (64, &[i64::MAX, 2], None),
            (64, &[1 << 60], None),
            (64, &[1 << 56], None),
            (64, &[2, 2], Some(&[4][..])),
            (64, &[2], Some(&[i64::MAX])),
            (64, &[20], Some(&[-4])),
            (usize::MAX - 3, &[1], None),
            (64, &[0, i64::MAX, i64::MAX], None),
        ] {
            let result = adopt(&float32(address, shape, strides));
            assert!(matches!(result, Err(Error::Value(_))), "{address:#x} {shape:?} {strides:?}");
        }
    }

    #[test]
    fn imported_empty_array_needs_no_memory_and_ignores_strides() {
        let array = adopt(&float32(0, &[3, 0, 2], Some(&[i64::MIN, i64::MAX, 7]))).unwrap();
        assert_eq!((array.layout().size(), array.address()), (0, 0));
    }

    #[test]
    fn imported_stride_of_axis_of_length_1_is_ignored() {
        let array = adopt(&float32(64, &[3, 1], Some(&[4, i64::MAX]))).unwrap();
        assert!(array.layout().is_c_contiguous());
        assert_eq!(array.layout().strides().collect::<Vec<_>>(), [4, 4]);
    }

    #[test]
    fn imported_negative_strides_extend_below_element_0() {
        let array = adopt(&float32(4096, &[10], Some(&[-4]))).unwrap();
        assert_eq!(array.address(), 4096);
        assert_eq!((array.allocation().address(), array.layout().extent()), (4060, Some((0, 40))));
        assert_eq!(array.allocation().bytes(), 40);
    }

    #[test]
    fn error_for_misaligned_address_contains_address() {
        let text = float32(0x1001, &[1], None).check_alignment(true).unwrap_err().to_string();
        assert!(text.contains("0x1001"), "{text}");
        let mut complex = float32(0x1008, &[1], None);
        complex.dtype = DType::new(ScalarType::Complex128);
        assert!(complex.check_alignment(true).is_ok());
        assert!(complex.check_alignment(false).is_err());
        assert!(float32(1, &[0], None).check_alignment(false).is_ok());
    }

    #[test]
    fn owner_of_imported_memory_is_dropped_with_last_view_or_on_rejection() {
        static DROPS: AtomicUsize = AtomicUsize::new(0);
        let stream = Stream::default_of(Device::cpu().unwrap());
        // SAFETY: as in `adopt`: the test reads and writes no element.
        let array = unsafe { float32(64, &[4], None).adopt(stream.clone(), Box::new(CheckedExtent(&DROPS))).unwrap() };
        let view = array.clone();
        drop(array);
        assert_eq!(DROPS.load(Ordering::SeqCst), 0);
        drop(view);
        assert_eq!(DROPS.load(Ordering::SeqCst), 1);
        // SAFETY: as in `adopt`: the test reads and writes no element.
        let refused = unsafe { float32(64, &[-1], None).adopt(stream, Box::new(CheckedExtent(&DROPS))) };
        assert!(refused.is_err());
        assert_eq!(DROPS.load(Ordering::SeqCst), 2);
    }
}
