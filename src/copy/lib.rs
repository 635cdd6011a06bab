//! Copies arrays of any layout from host to device, from device to host and between devices, and fills arrays.
//!
//! No other crate calls a backend's copies and fills. A copy is decomposed into forms that a copy engine supports: one
//! contiguous block, evenly spaced rows, or several blocks or groups of rows. Within a device, [`kernels`] copies
//! layouts of any other form, or [`host_fallback`] if no compiler is available. [`host_device`] copies between host and
//! device, large pageable memory through the [`ring_transfer`]. Every function uses `memory::ordered`, which waits for
//! conflicting uses and records the new use.
//!
//! Pageable host memory may be changed or freed when a call returns. Pinned host memory is in use until the stream has
//! completed the copy: the caller must synchronize the stream or keep the memory alive (`memory::retired_objects`).

mod cpu_backend_copies;
mod fill;
mod host_device;
mod host_fallback;
mod host_host;
mod kernels;
pub mod ring_transfer;
mod word_fill;

use pygpu_array::Array;
use pygpu_backend::libraries::profiler_ranges::range;
use pygpu_backend::{Address, Direction, Extent, NodeKind, Pitched};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::{self as layout, CopyBlocks, Layout, MemoryOrder, Uniform};
use pygpu_memory::{Access, ordered, stream_captures};

pub use fill::fill;
pub use host_device::{is_pinned, to_device, to_device_and_wait, to_host, to_host_and_wait};
pub use kernels::{Bounds, Indexed, Selection, check_capture, gather, gather_into, scatter};

/// Host memory with a layout, whose offsets are relative to `address`.
#[derive(Clone)]
pub struct HostBuffer {
    /// Address of byte 0 of the layout.
    pub address: Address,
    /// Shape, strides and item size of the memory.
    pub layout: Layout,
}

/// Maximum number of contiguous blocks that are copied by one driver call each. For more blocks, a copy through the
/// host is faster.
const MANY: i64 = 256;

/// Source or target of a copy: the address of byte 0 of its layout, and the layout.
#[derive(Clone, Copy)]
struct CopyOperand<'a> {
    base: Address,
    layout: &'a Layout,
}

fn side_of(array: &Array) -> CopyOperand<'_> {
    CopyOperand { base: array.allocation().address(), layout: array.layout() }
}

fn side_of_host(host: &HostBuffer) -> CopyOperand<'_> {
    CopyOperand { base: host.address, layout: &host.layout }
}

fn check_shapes(target: &Layout, source: &Layout) -> Result<()> {
    if target.shape().eq(source.shape()) && target.itemsize() == source.itemsize() {
        return Ok(());
    }
    let list = |layout: &Layout| layout.shape().map(|len| len.to_string()).collect::<Vec<_>>().join(", ");
    Err(Error::value(format!(
        "copy: the source has shape ({}) and items of {} bytes, the target shape ({}) and items of {} bytes",
        list(source),
        source.itemsize(),
        list(target),
        target.itemsize()
    )))
}

/// Copies an array into another array of the same device or of another, as an operation on `stream`. If source and
/// target overlap, the source is read before the target is written.
///
/// # Errors
/// `ValueError` if the shapes or item sizes differ; `OutOfMemory` for a temporary copy; driver errors.
pub fn between(target: &Array, source: &Array, stream: &Stream) -> Result<()> {
    check_shapes(target.layout(), source.layout())?;
    if target.layout().size() == 0 {
        return Ok(());
    }
    if target.device() != source.device() && !(target.device().is_cpu() && source.device().is_cpu()) {
        return across(target, source, stream);
    }
    let _range = range(|| format!("PyGPU copy {} bytes", target.layout().nbytes()));
    if may_overlap(target, source) {
        let scratch = Array::on_new_memory(source.layout().dense_like(), source.dtype(), stream.clone())?;
        between(&scratch, source, stream)?;
        return between(target, &scratch, stream);
    }
    let device = target.device();
    if device.is_cpu() {
        let uses = [(source, Access::Read), (target, Access::Write)];
        let owned = || (target.clone(), source.clone());
        return cpu_backend_copies::on_cpu(stream, NodeKind::Copy, &uses, (target, source), owned, |target, source| {
            // SAFETY: source and target are memory of borrowed arrays, and do not overlap.
            unsafe { host_host::copy(side_of(target), side_of(source)) }
        });
    }
    let blocks = CopyBlocks::of(target.layout(), source.layout())?;
    if kernels::suit(&blocks) && kernels::copy(target, source, stream)? {
        return Ok(());
    }
    if let CopyBlocks::Many(many) = &blocks
        && many.count() > MANY
    {
        return host_fallback::between(target, source, stream);
    }
    ordered(&[(source.allocation(), Access::Read), (target.allocation(), Access::Write)], stream, || {
        // SAFETY: source and target are memory of arrays; the recorded uses keep this memory alive until the stream has
        // completed the copy.
        unsafe { copy_blocks(device, Direction::DeviceToDevice, side_of(target), side_of(source), &blocks, stream) }
    })
}

/// Returns whether two arrays of one device may overlap.
pub fn may_overlap(target: &Array, source: &Array) -> bool {
    if std::sync::Arc::ptr_eq(target.allocation(), source.allocation()) {
        return layout::overlap(target.layout(), source.layout());
    }
    if !target.allocation().is_imported() && !source.allocation().is_imported() {
        return false;
    }
    // Two imported memory blocks may be parts of the same memory, so addresses are compared instead of offsets.
    match (target.layout().extent(), source.layout().extent()) {
        (Some((target_low, target_high)), Some((source_low, source_high))) => {
            let base = source.allocation().address().wrapping_sub(target.allocation().address()) as i64;
            target_low < source_high.wrapping_add(base) && source_low.wrapping_add(base) < target_high
        }
        _ => false,
    }
}

/// Returns whether two arrays have the same elements at the same addresses.
pub fn is_same_place(one: &Array, other: &Array) -> bool {
    let (first, second) = (one.layout(), other.layout());
    one.address() == other.address()
        && first.itemsize() == second.itemsize()
        && first.shape().eq(second.shape())
        && first.strides().eq(second.strides())
}

/// Copies an array to another device: by one driver copy if both arrays are contiguous, or by a kernel with peer
/// access.
fn across(target: &Array, source: &Array, stream: &Stream) -> Result<()> {
    let (to, from) = (target.device(), source.device());
    if from.is_cpu() {
        let host = HostBuffer { address: source.allocation().address(), layout: source.layout().clone() };
        // SAFETY: the borrow of `source` keeps its memory valid until the copy is complete, because the call waits for
        // the copy.
        return unsafe { to_device_and_wait(target, &host, &on_device(stream, to)) };
    }
    if to.is_cpu() {
        let host = HostBuffer { address: target.allocation().address(), layout: target.layout().clone() };
        // SAFETY: the borrow of `target` keeps its memory valid until the copy is complete, because the call waits for
        // the copy.
        return unsafe { to_host_and_wait(&host, source, &on_device(stream, from)) };
    }
    if to.kind() != from.kind() {
        return Err(Error::not_supported(format!(
            "copy from {from} to {to}: no driver serves both; go through the host"
        )));
    }
    if !matches!(CopyBlocks::of(target.layout(), source.layout())?, CopyBlocks::One { .. })
        && reach_over(target, source, stream)?
    {
        return Ok(());
    }
    let sending = behind(stream, from)?;
    let dense = source.layout().dense_like();
    if !matches!(CopyBlocks::of(&dense, source.layout())?, CopyBlocks::One { .. }) {
        let packed = Array::on_new_memory(dense, source.dtype(), sending.clone())?;
        between(&packed, source, &sending)?;
        return across(target, &packed, &sending);
    }
    let receiving = on_device(stream, to);
    if !matches!(CopyBlocks::of(target.layout(), source.layout())?, CopyBlocks::One { .. }) {
        let landed = Array::on_new_memory(dense, target.dtype(), receiving.clone())?;
        across(&landed, source, &sending)?;
        return between(target, &landed, &receiving);
    }
    ordered(&[(source.allocation(), Access::Read), (target.allocation(), Access::Write)], &sending, || {
        let bytes = target.layout().nbytes() as usize;
        let (low_target, low_source) = (lowest(target), lowest(source));
        let backend = to.backend();
        // SAFETY: source and target are dense ranges of equal size; the recorded uses keep their memory alive until the
        // stream has completed the copy.
        unsafe { backend.copy_peer(to.index(), low_target, from.index(), low_source, bytes, sending.handle()) }
    })?;
    receiving.wait_for(&sending)?;
    before(stream, &sending)
}

/// Returns a stream of `device`, after making it wait for all work already enqueued on `stream`, by PyGPU or by other
/// code.
fn behind(stream: &Stream, device: Device) -> Result<Stream> {
    let own = on_device(stream, device);
    // The wait is omitted during a capture, because it would make the waiting stream part of the capture.
    if !stream_captures::is_any() {
        own.wait_for(stream)?;
    }
    Ok(own)
}

/// Makes later work on `stream` wait for the work that a copy between devices enqueued on another stream, `own`.
fn before(stream: &Stream, own: &Stream) -> Result<()> {
    if stream_captures::is_any() { Ok(()) } else { stream.wait_for(own) }
}

/// Copies an array to another device by one kernel with peer access. The kernel runs on the device with the
/// non-contiguous array, so that each access over the link moves up to 16 contiguous bytes. Returns `false` without
/// peer access or a compiler; the caller then makes dense copies on both devices.
fn reach_over(target: &Array, source: &Array, stream: &Stream) -> Result<bool> {
    let (to, from) = (target.device(), source.device());
    let dense = source.layout().dense_like();
    let is_dense = matches!(CopyBlocks::of(&dense, source.layout())?, CopyBlocks::One { .. });
    let (here, there, far) = if is_dense { (to, from, source) } else { (from, to, target) };
    // A kernel that accesses memory which its device cannot reach destroys the whole context. Memory that PyGPU did not
    // allocate (a virtual range, another library's pool, another process's block) may be accessible from its own device
    // only. During a capture the driver cannot be queried, so the kernel is not used then.
    if stream_captures::is_any()
        || !far.allocation().is_from_pool()
        || !here.backend().can_access_peer(here.index(), there.index())?
    {
        return Ok(false);
    }
    here.backend().enable_peer_access(here.index(), there.index())?;
    let working = behind(stream, here)?;
    if !kernels::copy(target, source, &working)? {
        return Ok(false);
    }
    on_device(stream, to).wait_for(&working)?;
    before(stream, &working)?;
    Ok(true)
}

fn lowest(array: &Array) -> Address {
    let low = array.layout().extent().map_or(0, |(low, _)| low);
    array.allocation().address().wrapping_add_signed(low as isize)
}

/// Returns `stream` if it belongs to the device, otherwise the calling thread's current stream of this device.
fn on_device(stream: &Stream, device: Device) -> Stream {
    if stream.device() == device { stream.clone() } else { pygpu_device::stream::current(device) }
}

/// Makes the stream wait for conflicting uses of an array, runs `work`, which enqueues a use of the array on the
/// stream, and records this use.
fn with_access(array: &Array, access: Access, stream: &Stream, work: impl FnOnce() -> Result<()>) -> Result<()> {
    ordered(&[(array.allocation(), access)], stream, work)
}

/// Copies all contiguous blocks between two operands by driver calls.
///
/// # Safety
/// All memory that the blocks cover in both operands must stay valid until the stream has completed this copy.
unsafe fn copy_blocks(
    device: Device,
    direction: Direction,
    target: CopyOperand<'_>,
    source: CopyOperand<'_>,
    blocks: &CopyBlocks,
    stream: &Stream,
) -> Result<()> {
    match blocks {
        CopyBlocks::One { dst, src, bytes } => {
            let (to, from) = (at(target.base, *dst), at(source.base, *src));
            // SAFETY: the caller guarantees that the run is valid in both operands until the copy is complete.
            unsafe { device.backend().copy(device.index(), direction, to, from, *bytes as usize, stream.handle()) }
        }
        // SAFETY: the caller guarantees that the block is valid in both operands until the copy is complete.
        CopyBlocks::Uniform(block) => unsafe { copy_uniform(device, direction, target, source, block, stream) },
        CopyBlocks::Many(many) => many.blocks().try_for_each(|block| {
            // SAFETY: the caller guarantees that every block is valid in both operands until the copy is complete.
            unsafe { copy_uniform(device, direction, target, source, &block, stream) }
        }),
    }
}

/// Copies evenly spaced rows between two operands by one driver call.
///
/// # Safety
/// The conditions of `copy_blocks` apply.
unsafe fn copy_uniform(
    device: Device,
    direction: Direction,
    target: CopyOperand<'_>,
    source: CopyOperand<'_>,
    block: &Uniform,
    stream: &Stream,
) -> Result<()> {
    let to = Pitched {
        address: at(target.base, block.dst),
        row_pitch: block.dst_pitch as usize,
        plane_pitch: block.dst_slice as usize,
    };
    let from = Pitched {
        address: at(source.base, block.src),
        row_pitch: block.src_pitch as usize,
        plane_pitch: block.src_slice as usize,
    };
    let extent = Extent { width: block.width as usize, height: block.height as usize, depth: block.depth as usize };
    // SAFETY: the caller guarantees that all rows are valid in both operands until the copy is complete.
    unsafe { device.backend().copy_pitched(device.index(), direction, to, from, extent, stream.handle()) }
}

fn at(base: Address, offset: i64) -> Address {
    base.wrapping_add_signed(offset as isize)
}

/// Copies an array into a new array on the same device, in C or F order.
///
/// # Errors
/// `OutOfMemory`; driver errors.
pub fn duplicate(source: &Array, order: MemoryOrder, stream: &Stream) -> Result<Array> {
    let shape: layout::Dims = source.layout().shape().collect();
    let copy = Array::empty(&shape, source.dtype(), order, stream.clone())?;
    between(&copy, source, stream)?;
    Ok(copy)
}
