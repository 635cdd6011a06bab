//! Caches FFT plans, which transforms of the same shape reuse.

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::embedding::Embedding;
use pygpu_array::Array;
use pygpu_backend::BackendKind;
use pygpu_backend::libraries::ObjectPool;
use pygpu_backend::libraries::fft::{Direction, Fft, FftPlan, FftType, Shape};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_layout::MemoryOrder;
use pygpu_memory::{Access, BlockUse, ordered, stream_captures};

/// The cached plans. By default their number is limited to 64, because each plan owns tables in device memory.
static PLANS: ObjectPool<FftPlanKey, Arc<SharedFftPlan>> = ObjectPool::new(64);

#[derive(PartialEq)]
struct FftPlanKey {
    device: (BackendKind, i32),
    /// Number of resets of the device before the plan was created; a device reset invalidates all earlier plans.
    epoch: u32,
    shape: Shape,
}

/// A plan that all transforms of one shape share. Captured graphs own the plan too, because their launches read the
/// plan's tables.
struct SharedFftPlan {
    library: &'static Fft,
    device: Device,
    epoch: u32,
    plan: Mutex<Option<FftPlan>>,
}

impl Drop for SharedFftPlan {
    fn drop(&mut self) {
        let plan = self.plan.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(plan) = plan
            && !shutdown::exiting()
            && self.device.epoch() == self.epoch
        {
            let mut plan = Some(plan);
            let ended = within(self.device, &mut || plan.take().into_iter().for_each(|plan| self.library.end(plan)));
            shutdown::defer(ended);
        }
    }
}

/// Returns the number of cached plans of a device, and the maximum number of cached plans over all devices.
pub fn counts(device: Device) -> (usize, usize) {
    (PLANS.count(|key| key.device == id_of(device)), PLANS.most())
}

/// Removes the cached plans of a device. Plans that captured graphs use stay alive until these graphs are destroyed.
pub fn clear(device: Device) {
    drop_afterwards(PLANS.take_all(|key| key.device == id_of(device)));
}

/// Sets the maximum number of cached plans over all devices, and removes the plans that exceed it.
pub fn set_most(most: usize) {
    drop_afterwards(PLANS.set_most(most));
}

fn drop_afterwards(plans: Vec<Arc<SharedFftPlan>>) {
    plans.into_iter().for_each(|plan| stream_captures::drop_afterwards(Box::new(plan)));
}

fn id_of(device: Device) -> (BackendKind, i32) {
    (device.kind(), device.index())
}

fn within(device: Device, work: &mut dyn FnMut()) -> Result<()> {
    device.backend().device_code()?.within(device.index(), "FFT", work)
}

/// Returns the error for a capture that needs a new plan. The library fills a new plan's tables on the legacy stream,
/// which would invalidate a capture on a blocking stream.
#[cold]
fn no_plan() -> Error {
    Error::not_supported(
        "a transform of this shape and layout has no plan yet, and a capture cannot make one: transform arrays of the same shape, \
         layout and types once before the capture",
    )
}

impl SharedFftPlan {
    #[cold]
    fn make(library: &'static Fft, device: Device, shape: &Shape) -> Result<Arc<Self>> {
        let epoch = device.epoch();
        let mut made = None;
        within(device, &mut || made = Some(library.plan(shape)))?;
        let plan = made.transpose()?;
        Ok(Arc::new(Self { library, device, epoch, plan: Mutex::new(plan) }))
    }

    /// If `stream` is capturing, keeps the plan alive as long as the captured graph exists.
    fn keep_for_graph(this: &Arc<Self>, stream: &Stream) -> Result<()> {
        if !stream_captures::is_capturing(stream)? {
            return Ok(());
        }
        match stream_captures::of(stream)? {
            Some(own) => own.retain(Box::new(Arc::clone(this))),
            // In a capture that another library began, the plan is leaked, because PyGPU cannot determine when a graph
            // that another library captured is destroyed.
            None => std::mem::forget(Arc::clone(this)),
        }
        Ok(())
    }
}

/// Enqueues transforms on a stream.
///
/// # Errors
/// `NotSupported` in a capture if the plan does not exist yet; `OutOfMemory`; library errors; driver errors.
pub(super) fn run(
    library: &'static Fft,
    embedding: &Embedding,
    [input, output]: [&Array; 2],
    direction: Direction,
    stream: &Stream,
) -> Result<()> {
    let device = stream.device();
    let shape = &embedding.shape;
    let key = FftPlanKey { device: id_of(device), epoch: device.epoch(), shape: *shape };
    let lasting = match PLANS.take(&key) {
        Some(found) => found,
        None if stream_captures::is_capturing(stream)? => return Err(no_plan()),
        None => SharedFftPlan::make(library, device, shape)?,
    };
    SharedFftPlan::keep_for_graph(&lasting, stream)?;
    if let Some(plan) = lasting.plan.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        let work = match plan.area() {
            0 => None,
            area => Some(Array::empty(&[area as i64], DType::new(ScalarType::UInt8), MemoryOrder::C, stream.clone())?),
        };
        // A library may overwrite the half spectrum that it transforms to real values, so the use of the input is
        // recorded as a write.
        let of_input = if shape.way == FftType::ToReal { Access::Write } else { Access::Read };
        let is_one = Arc::ptr_eq(input.allocation(), output.allocation());
        let mut uses: SmallVec<[BlockUse<'_>; 3]> = SmallVec::from_iter([(output.allocation(), Access::Write)]);
        uses.extend((!is_one).then(|| (input.allocation(), of_input)));
        uses.extend(work.as_ref().map(|work| (work.allocation(), Access::Write)));
        let area = work.as_ref().map_or(0, Array::address);
        ordered(&uses, stream, || {
            let mut done = Ok(());
            within(device, &mut || {
                // SAFETY: the borrow of `stream` keeps it alive. The work area was allocated for this call and is freed
                // in stream order. Shape and offsets come from the layouts of arrays, whose elements are inside their
                // memory blocks; the uses of these blocks are recorded.
                done = unsafe {
                    library.place(plan, shape, stream.handle(), area).and_then(|()| {
                        embedding.places().try_for_each(|[from, to]| {
                            let at = |array: &Array, bytes: i64| array.address().wrapping_add_signed(bytes as isize);
                            library.run(plan, shape, [at(input, from), at(output, to)], direction)
                        })
                    })
                };
            })?;
            done
        })?;
    }
    if let Some(oldest) = PLANS.put(key, lasting) {
        stream_captures::drop_afterwards(Box::new(oldest));
    }
    Ok(())
}
