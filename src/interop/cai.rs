//! The CUDA array interface, version 3, as plain data: who waits for whom when memory changes hands by it.

use std::any::Any;

use super::description::Description;
use super::streams;
use pygpu_array::Array;
use pygpu_backend::{self as backend, Backend, BackendKind, PointerKind, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Once;
use pygpu_base::settings::{self, Variable};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::{self, Stream};
use pygpu_memory::Lent;

/// The producer's object, and how to end our use of its memory.
struct Borrowed {
    keeper: Option<Lent>,
    ready: Stream,
    /// Whether the producer works on a stream of its own, and not on the legacy default one.
    has_own_stream: bool,
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if shutdown::exiting() {
            std::mem::forget(self.keeper.take());
            return;
        }
        // The protocol wants the producer's stream to wait for ours now, and to live as long as the producer's object. CuPy's
        // does not, and a dead handle crashes the driver: the host waits instead.
        shutdown::defer(if self.has_own_stream {
            self.ready.synchronize()
        } else {
            Stream::default_of(self.ready.device()).wait_for(&self.ready)
        });
    }
}

impl Borrowed {
    /// Whether nobody has to wait when the memory is given back.
    fn ends_at_once(&self) -> bool {
        !self.has_own_stream && self.ready == Stream::default_of(self.ready.device())
    }
}

/// Behind a lender that [`import`] made: who keeps the producer's object. `None` also where giving it back must wait.
pub fn keeper_of(lender: &(dyn Any + Send + Sync)) -> Option<&(dyn Any + Send + Sync)> {
    let borrowed = lender.downcast_ref::<Borrowed>().filter(|borrowed| borrowed.ends_at_once())?;
    borrowed.keeper.as_deref()
}

/// Whether a producer's stream is waited for. A user who orders the work by other means switches it off.
fn waits_for_producers() -> bool {
    static WAITS: Once<bool> = Once::new();
    *WAITS.get().unwrap_or_else(|| {
        let asked = settings::get().get(Variable::CUDA_ARRAY_INTERFACE_SYNC);
        WAITS.get_or_init(|| asked.is_none_or(|value| value != "0"))
    })
}

/// The array that an interface describes. `stream` is what the interface says under that name.
///
/// # Errors
/// `ValueError` for claims that cannot be true; `Unavailable` without a GPU; the driver's.
///
/// # Safety
/// What the interface says of the memory is true as long as `keeper` is not dropped.
pub unsafe fn import(description: &Description, stream: Option<i64>, keeper: Lent) -> Result<Array> {
    let producer = streams::of_cai_producer(stream)?;
    description.check()?;
    description.check_alignment(false)?;
    let device = device_of(description)?;
    let ready = stream::own_current(device);
    // Without elements there is nothing to wait for, nor an address that tells of which device the stream is.
    let producer = producer.filter(|_| !description.shape.contains(&0));
    if let Some(handle) = producer
        && waits_for_producers()
    {
        ready.wait_for(&Stream::named(device, handle)?)?;
    }
    let has_own_stream = producer.is_some_and(|handle| handle != StreamHandle::DEFAULT);
    let owner = Borrowed { keeper: Some(keeper), ready: ready.clone(), has_own_stream };
    // SAFETY: promised by the caller.
    unsafe { description.adopt(ready, Box::new(owner)) }
}

/// The interface does not say which device the memory is of: the driver does.
fn device_of(description: &Description) -> Result<Device> {
    let is_gpu = |backend: &&'static dyn Backend| backend.kind() != BackendKind::Cpu;
    let backend = match Some(backend::default_backend()?).filter(is_gpu) {
        Some(backend) => backend,
        // Where there is no GPU at all, the refusal is that of the interface's own vendor.
        None => backend::available().into_iter().find(is_gpu).map_or_else(|| backend::by_name("cuda"), Ok)?,
    };
    let current = || Device::new(backend, backend.current_device()?);
    if description.shape.contains(&0) {
        return current();
    }
    match backend.pointer_kind(description.address)? {
        PointerKind::Device(index) => Device::new(backend, index),
        // The device reads it in place.
        PointerKind::Managed | PointerKind::Host => current(),
        PointerKind::Unregistered => Err(Error::value(format!(
            "__cuda_array_interface__: {:#x} is no address of device memory that the driver knows",
            description.address
        ))),
    }
}

/// Puts everything that uses the array behind one stream, and gives what the interface says of it. The memory may be used
/// by others from now on.
///
/// # Errors
/// The driver's.
pub fn export(array: &Array) -> Result<Option<usize>> {
    let allocation = array.allocation();
    allocation.expose();
    let stream = allocation.join(array.access_of_others())?;
    match array.device().kind() {
        BackendKind::Cpu => Ok(None),
        // The interface has no word for a stream of HIP: the work is over before it is handed out.
        BackendKind::Hip => stream.synchronize().map(|()| None),
        kind => Ok(streams::as_cai_producer(kind, stream.handle())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pygpu_base::dtype::{DType, Kind};
    use pygpu_layout::{Dims, Order};

    #[test]
    fn a_forbidden_stream_and_an_odd_address_are_refused_before_a_device_is_asked() {
        let description = |address| Description {
            address,
            shape: Dims::from_slice(&[2]),
            strides: None,
            dtype: DType::new(Kind::Float32),
            readonly: false,
        };
        // SAFETY: refused before anything is made of it.
        let imported = |address, stream| unsafe { import(&description(address), stream, Box::new(())) };
        assert!(matches!(imported(64, Some(0)), Err(Error::Value(_))));
        assert!(matches!(imported(65, None), Err(Error::Value(_))));
    }

    #[test]
    fn a_host_array_names_no_stream() {
        let stream = Stream::default_of(Device::cpu().unwrap());
        let array = Array::empty(&[3], DType::new(Kind::Int8), Order::C, stream).unwrap();
        assert_eq!(export(&array).unwrap(), None);
    }
}
