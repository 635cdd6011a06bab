//! Arrays of the driver, textures and surfaces: each a block without an address, so that their uses are ordered and their ends
//! put off as those of memory are.

use std::sync::Arc;

use crate::{Access, Allocation, Use, ordered, pending, pool};
use pygpu_backend::{Address, ArrayBox, ArrayCopy, ArrayHandle, ArrayShape, Resource, SURFACE, Sampling, Textures};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;

/// What a driver has made and takes back.
enum Made {
    Array(ArrayHandle, usize),
    Texture(u64),
    Surface(u64),
}

/// Takes it back when it is dropped.
struct Taken {
    device: Device,
    epoch: u32,
    textures: &'static dyn Textures,
    made: Made,
}

impl Drop for Taken {
    fn drop(&mut self) {
        if shutdown::exiting() || self.epoch != self.device.epoch() {
            return;
        }
        let index = self.device.index();
        // SAFETY: made once, and every stream has passed its uses.
        shutdown::defer(unsafe {
            match self.made {
                Made::Array(array, _) => self.textures.destroy_array(index, array),
                Made::Texture(texture) => self.textures.destroy_texture(index, texture),
                Made::Surface(surface) => self.textures.destroy_surface(index, surface),
            }
        });
        if let Made::Array(_, bytes) = self.made {
            pool::account_for_free(self.device, bytes);
        }
    }
}

/// The owner of a block: when that ends, its other streams were waited for, and its home may still have work.
struct Owner {
    home: Stream,
    taken: Option<Taken>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        let Some(taken) = self.taken.take() else { return };
        if shutdown::exiting() || taken.device.is_cpu() || taken.epoch != taken.device.epoch() {
            return;
        }
        shutdown::defer(pending::keep_until_passed(&self.home, Box::new(taken)));
    }
}

/// A block of no bytes whose uses are those of what was made. A foreign stream may be gone when it ends; the default one never is.
fn block(stream: &Stream, taken: Taken) -> Arc<Allocation> {
    let home = if stream.is_foreign() { Stream::default_of(stream.device()) } else { stream.clone() };
    let owner = Owner { home: home.clone(), taken: Some(taken) };
    // SAFETY: no bytes, so nothing is promised of the address, which nobody has.
    Arc::new(unsafe { Allocation::lent(0, 0, home, Box::new(owner)) })
}

/// An array of the driver. Clones are the same.
#[derive(Clone)]
pub struct DriverArray {
    block: Arc<Allocation>,
    handle: ArrayHandle,
    shape: ArrayShape,
    textures: &'static dyn Textures,
}

impl DriverArray {
    /// An array of whose elements nothing is known.
    ///
    /// # Errors
    /// `OutOfMemory`, also after synchronising and trimming; `ValueError` for one that no memory holds; the driver's.
    pub fn new(shape: ArrayShape, stream: &Stream) -> Result<Self> {
        let device = stream.device();
        let textures = device.backend().textures()?;
        let bytes = shape.bytes().filter(|bytes| isize::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or_else(|| Error::value("an array of so many elements does not fit any memory"))?;
        let epoch = device.epoch();
        let account = pool::account_for(device, bytes)?;
        let handle = pool::or_after_trim(device, || textures.create_array(device.index(), &shape))?;
        account.keep();
        let taken = Taken { device, epoch, textures, made: Made::Array(handle, bytes) };
        Ok(Self { block: block(stream, taken), handle, shape, textures })
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.block.device()
    }

    /// Its shape.
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }

    /// The driver's handle.
    pub fn handle(&self) -> ArrayHandle {
        self.handle
    }

    /// Copies between a part of it and memory of its device in which the rows follow each other.
    ///
    /// # Errors
    /// `ValueError` for a part that is not within the array; the driver's.
    ///
    /// # Safety
    /// From the address on the block has as many bytes as the part.
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
            // SAFETY: the array is alive as long as its block; the part was looked at; the rest is the caller's promise.
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

/// What a texture is to read.
pub enum Texels<'a> {
    /// An array of the driver.
    Array(&'a DriverArray),
    /// Memory, which the resource describes.
    Memory(&'a Arc<Allocation>, Resource),
}

/// A texture or a surface: a number that a kernel takes, and what it reads or writes. Clones are the same.
#[derive(Clone)]
pub struct KernelObject {
    number: u64,
    /// The object itself.
    block: Arc<Allocation>,
    resource: Arc<Allocation>,
    access: Access,
}

impl KernelObject {
    /// A texture.
    ///
    /// # Errors
    /// The driver's, for what it cannot sample.
    ///
    /// # Safety
    /// A resource in memory lies within the block.
    pub unsafe fn texture(texels: &Texels<'_>, sampling: &Sampling, stream: &Stream) -> Result<Self> {
        let (memory, resource) = match texels {
            Texels::Array(array) => (&array.block, Resource::Array(array.handle, array.shape)),
            Texels::Memory(memory, resource) => (*memory, *resource),
        };
        let device = memory.device();
        let (epoch, textures) = (device.epoch(), device.backend().textures()?);
        // SAFETY: what it reads is kept as long as this; the rest is the caller's promise.
        let number = unsafe { textures.create_texture(device.index(), &resource, sampling)? };
        let taken = Taken { device, epoch, textures, made: Made::Texture(number) };
        Ok(Self { number, block: block(stream, taken), resource: Arc::clone(memory), access: Access::Read })
    }

    /// A surface of an array that was made for it.
    ///
    /// # Errors
    /// `ValueError` for an array that kernels cannot write; the driver's.
    pub fn surface(array: &DriverArray, stream: &Stream) -> Result<Self> {
        if array.shape.flags & SURFACE == 0 {
            return Err(Error::value(
                "the array was not made for surfaces: make it with surface=True (PyCUDA: array3d_flags.SURFACE_LDST)",
            ));
        }
        let device = array.device();
        let (epoch, textures) = (device.epoch(), device.backend().textures()?);
        // SAFETY: the array is kept as long as this.
        let number = unsafe { textures.create_surface(device.index(), (array.handle, &array.shape))? };
        let taken = Taken { device, epoch, textures, made: Made::Surface(number) };
        Ok(Self { number, block: block(stream, taken), resource: Arc::clone(&array.block), access: Access::Write })
    }

    /// The number that a kernel takes.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.block.device()
    }

    /// What a kernel that is given the number uses.
    pub fn uses(&self) -> [Use<'_>; 2] {
        [(&self.block, Access::Read), (&self.resource, self.access)]
    }
}
