//! Manages driver arrays, textures and surfaces. Each has a memory block of zero bytes, through which its uses are
//! tracked and its destruction is ordered like the free of memory.

use std::sync::Arc;

use crate::{Access, Allocation, BlockUse, ordered, pool, retired_objects};
use pygpu_backend::{Address, ArrayBox, ArrayCopy, ArrayHandle, ArrayShape, Resource, SURFACE, Sampling, Textures};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;

/// A driver array, texture or surface.
enum DriverObject {
    Array(ArrayHandle, usize),
    Texture(u64),
    Surface(u64),
}

/// Destroys the driver array, texture or surface when dropped.
struct DriverObjectGuard {
    device: Device,
    epoch: u32,
    textures: &'static dyn Textures,
    made: DriverObject,
}

impl Drop for DriverObjectGuard {
    fn drop(&mut self) {
        if shutdown::exiting() || self.epoch != self.device.epoch() {
            return;
        }
        let index = self.device.index();
        // SAFETY: `self` is the only owner of the driver object, and is dropped after every stream has completed its
        // uses of the object.
        shutdown::defer(unsafe {
            match self.made {
                DriverObject::Array(array, _) => self.textures.destroy_array(index, array),
                DriverObject::Texture(texture) => self.textures.destroy_texture(index, texture),
                DriverObject::Surface(surface) => self.textures.destroy_surface(index, surface),
            }
        });
        if let DriverObject::Array(_, bytes) = self.made {
            pool::account_for_free(self.device, bytes);
        }
    }
}

/// Owner of the block of a driver object; its drop destroys the object. When the block is freed, its allocation stream
/// has waited for all uses on other streams, but its own work may be incomplete. The object is therefore retired: it is
/// destroyed after this stream has completed that work.
struct DriverObjectOwner {
    alloc_stream: Stream,
    taken: Option<DriverObjectGuard>,
}

impl Drop for DriverObjectOwner {
    fn drop(&mut self) {
        let Some(taken) = self.taken.take() else { return };
        if shutdown::exiting() || taken.device.is_cpu() || taken.epoch != taken.device.epoch() {
            return;
        }
        shutdown::defer(retired_objects::keep_until_passed(&self.alloc_stream, Box::new(taken)));
    }
}

/// Creates the block of zero bytes through which the uses of the object are tracked. If `stream` is borrowed, the block
/// uses the default stream instead, because a borrowed stream may be destroyed before the block.
fn block(stream: &Stream, taken: DriverObjectGuard) -> Arc<Allocation> {
    let alloc_stream = if stream.is_foreign() { Stream::default_of(stream.device()) } else { stream.clone() };
    let owner = DriverObjectOwner { alloc_stream: alloc_stream.clone(), taken: Some(taken) };
    // SAFETY: the block has no bytes, so its address is never accessed.
    Arc::new(unsafe { Allocation::imported(0, 0, alloc_stream, Box::new(owner)) })
}

/// A driver array. Clones refer to the same array.
#[derive(Clone)]
pub struct DriverArray {
    block: Arc<Allocation>,
    handle: ArrayHandle,
    shape: ArrayShape,
    textures: &'static dyn Textures,
}

impl DriverArray {
    /// Creates a driver array with undefined elements.
    ///
    /// # Errors
    /// `OutOfMemory`, after synchronizing and trimming; `ValueError` for a shape that is too large; driver errors.
    pub fn new(shape: ArrayShape, stream: &Stream) -> Result<Self> {
        let device = stream.device();
        let textures = device.backend().textures()?;
        let bytes = shape.bytes().filter(|bytes| isize::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or_else(|| Error::value("an array of so many elements does not fit any memory"))?;
        let epoch = device.epoch();
        let account = pool::account_for(device, bytes)?;
        let handle = pool::or_after_trim(device, || textures.create_array(device.index(), &shape))?;
        account.keep();
        let taken = DriverObjectGuard { device, epoch, textures, made: DriverObject::Array(handle, bytes) };
        Ok(Self { block: block(stream, taken), handle, shape, textures })
    }

    /// Returns the device of the array.
    pub fn device(&self) -> Device {
        self.block.device()
    }

    /// Returns the shape of the array.
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// Returns the driver's handle of the array.
    pub fn handle(&self) -> ArrayHandle {
        self.handle
    }

    /// Copies elements between a part of the driver array and contiguous rows in memory of the array's device.
    ///
    /// # Errors
    /// `ValueError` for a part that is not inside the array; driver errors.
    ///
    /// # Safety
    /// The memory block must contain as many bytes as the part of the array, from `address` on.
    pub unsafe fn copy(
        &self,
        part: &ArrayBox,
        (memory, address): (&Arc<Allocation>, Address),
        way: ArrayCopy,
        stream: &Stream,
    ) -> Result<()> {
        self.check(part)?;
        if part.extent.contains(&0) {
            return Ok(());
        }
        let (own, others) = match way {
            ArrayCopy::Write => (Access::Write, Access::Read),
            ArrayCopy::Read => (Access::Read, Access::Write),
        };
        let index = self.device().index();
        ordered(&[(&self.block, own), (memory, others)], stream, || {
            let array = (self.handle, &self.shape);
            // SAFETY: the block keeps the driver array alive; the part was checked to be inside the array; the caller
            // guarantees valid memory at `address`.
            unsafe { self.textures.copy_array(index, array, part, address, way, stream.handle()) }
        })
    }

    fn check(&self, part: &ArrayBox) -> Result<()> {
        let item = self.shape.texel.bytes();
        let lengths = [self.shape.width * item, self.shape.height.max(1), self.shape.depth.max(1)];
        for (axis, name) in ["bytes of a row", "rows", "planes"].iter().enumerate() {
            let (at, count, length) = (part.at[axis], part.extent[axis], lengths[axis]);
            if at.checked_add(count).is_none_or(|end| end > length) {
                return Err(Error::value(format!(
                    "the copy reaches from {at} over {count} {name}, and the array has {length}"
                )));
            }
        }
        if part.at[0].is_multiple_of(item) && part.extent[0].is_multiple_of(item) {
            return Ok(());
        }
        Err(Error::value(format!(
            "the copy begins at byte {} of the rows and takes {} bytes of each; the array's elements have {item}",
            part.at[0], part.extent[0]
        )))
    }
}

/// The memory from which a texture reads its elements.
pub enum Texels<'a> {
    /// A driver array.
    Array(&'a DriverArray),
    /// The texture reads memory in a block. The resource describes the address and the form of the elements.
    Memory(&'a Arc<Allocation>, Resource),
}

/// A texture or a surface: a handle for kernels, and the memory that kernels access through it. Clones refer to the
/// same object.
#[derive(Clone)]
pub struct KernelObject {
    number: u64,
    /// The block that tracks the uses of the texture or surface itself. Another block tracks the uses of the memory
    /// that it accesses.
    block: Arc<Allocation>,
    resource: Arc<Allocation>,
    access: Access,
}

impl KernelObject {
    /// Creates a texture.
    ///
    /// # Errors
    /// Driver errors, e.g. for a source that cannot be sampled.
    ///
    /// # Safety
    /// If `texels` is memory in a block, the resource must describe a range inside this block.
    pub unsafe fn texture(texels: &Texels<'_>, sampling: &Sampling, stream: &Stream) -> Result<Self> {
        let (memory, resource) = match texels {
            Texels::Array(array) => (&array.block, Resource::Array(array.handle, array.shape)),
            Texels::Memory(memory, resource) => (*memory, *resource),
        };
        let device = memory.device();
        let (epoch, textures) = (device.epoch(), device.backend().textures()?);
        // SAFETY: the returned texture keeps the source alive; the caller guarantees that the resource is inside its
        // memory block.
        let number = unsafe { textures.create_texture(device.index(), &resource, sampling)? };
        let taken = DriverObjectGuard { device, epoch, textures, made: DriverObject::Texture(number) };
        Ok(Self { number, block: block(stream, taken), resource: Arc::clone(memory), access: Access::Read })
    }

    /// Creates a surface, through which kernels write an array. The array must have been created with support for
    /// surfaces.
    ///
    /// # Errors
    /// `ValueError` for an array that kernels cannot write; driver errors.
    pub fn surface(array: &DriverArray, stream: &Stream) -> Result<Self> {
        if array.shape.flags & SURFACE == 0 {
            return Err(Error::value(
                "the array was not made for surfaces: make it with surface=True (PyCUDA: array3d_flags.SURFACE_LDST)",
            ));
        }
        let device = array.device();
        let (epoch, textures) = (device.epoch(), device.backend().textures()?);
        // SAFETY: the returned surface keeps the array alive.
        let number = unsafe { textures.create_surface(device.index(), (array.handle, &array.shape))? };
        let taken = DriverObjectGuard { device, epoch, textures, made: DriverObject::Surface(number) };
        Ok(Self { number, block: block(stream, taken), resource: Arc::clone(&array.block), access: Access::Write })
    }

    /// Returns the handle through which kernels access the texture or surface.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the device of the texture or surface.
    pub fn device(&self) -> Device {
        self.block.device()
    }

    /// Returns the memory blocks that a kernel with this handle uses, with the kinds of access.
    pub fn uses(&self) -> [BlockUse<'_>; 2] {
        [(&self.block, Access::Read), (&self.resource, self.access)]
    }
}
