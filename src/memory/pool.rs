//! Allocates device memory: from one stream-ordered pool per device, or plain driver calls if the driver has no pools.
//!
//! The pool is private to PyGPU, so that its settings affect no other library. It caches freed memory up to a threshold
//! (by default all of it, see `set_release_threshold`), because returning memory to the driver costs a hundred times
//! more than caching it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::{retired_objects, stream_captures};
use pygpu_backend::{self as backend, Address, PoolHandle, PoolStatistics, StreamHandle};
use pygpu_base::error::{Error, OutOfMemory, Result};
use pygpu_base::flush_points::{self, FlushReason};
use pygpu_base::fork_safe::{ForkSafeMutex, ForkSafeOnce};
use pygpu_base::settings::{self, Variable};
use pygpu_device::stream::{self, Stream};
use pygpu_device::{Device, PerDevice, per_device};

/// Counts of PyGPU's allocations on one device, with their limits.
struct Accounts {
    bytes: AtomicUsize,
    /// Maximum total size in bytes of the live allocations.
    limit: AtomicUsize,
    peak: AtomicUsize,
    count: AtomicUsize,
    threshold: AtomicU64,
    /// The driver's pool, with the number of device resets at the time of its creation, because a device reset destroys
    /// the pool.
    pool: ForkSafeMutex<Option<(u32, Option<PoolHandle>)>>,
}

static ACCOUNTS: PerDevice<Accounts> = per_device!(Accounts::new());

/// PyGPU's live allocations on one device. For the CPU backend, only allocations of arrays are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryUsage {
    /// Size of the live allocations in bytes.
    pub bytes: usize,
    /// Maximum of `bytes` so far.
    pub peak: usize,
    /// Number of live allocations.
    pub count: usize,
    /// Statistics of the driver's pool; all zero if the driver has no pools.
    pub pool: PoolStatistics,
    /// Size in bytes of the small blocks in the caches of the device's streams. The driver's pool counts them as used.
    pub recycled: usize,
}

impl Accounts {
    const fn new() -> Self {
        Self {
            bytes: AtomicUsize::new(0),
            limit: AtomicUsize::new(usize::MAX),
            peak: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            threshold: AtomicU64::new(u64::MAX),
            pool: ForkSafeMutex::new(None),
        }
    }

    /// Counts a successful allocation, whose bytes were already added to the total before the allocation.
    #[inline]
    fn keep(&self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        if bytes > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(bytes, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

#[inline]
fn accounts(device: Device) -> &'static Accounts {
    ACCOUNTS.of(device)
}

/// Returns the device's pool, which is created on first use, or `None` if the driver has no pools.
fn pool_of(device: Device) -> Result<Option<PoolHandle>> {
    if device.is_cpu() {
        return Ok(None);
    }
    let accounts = accounts(device);
    let epoch = device.epoch();
    let slot = || accounts.pool.lock();
    let known = |slot: &Option<(u32, Option<PoolHandle>)>| slot.filter(|(made_in, _)| *made_in == epoch);
    if let Some((_, pool)) = known(&slot()) {
        return Ok(pool);
    }
    // The pool is created without holding the lock. If two threads create a pool concurrently, the second pool stays
    // empty and unused.
    let made = device.backend().create_pool(device.index(), accounts.threshold.load(Ordering::Relaxed))?;
    let mut slot = slot();
    let kept = known(&slot).unwrap_or((epoch, made));
    *slot = Some(kept);
    Ok(kept.1)
}

/// The way in which a memory block must be freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum BlockSource {
    /// The block is freed by a plain driver call, or on the CPU backend as host memory.
    Plain,
    /// The block is returned to the driver's pool in stream order.
    Pool,
    /// The block is small enough for the stream's block cache. It is returned to this cache, or to the driver's pool if
    /// the cache is full.
    Recyclable,
}

/// Allocates a memory block of `bytes` bytes (not 0) in the order of `stream`.
#[inline]
pub(super) fn allocate(bytes: usize, stream: &Stream) -> Result<(Address, BlockSource)> {
    let device = stream.device();
    if device.is_cpu()
        && let Some(address) = on_host(device, bytes)
    {
        return Ok((address, BlockSource::Plain));
    }
    let account = account_for(device, bytes)?;
    let size = if most_kept(stream)? > 0 { stream::spare_size(bytes) } else { None };
    if size.is_some()
        && let Some(address) = stream.take_spare(bytes)
    {
        account.keep();
        return Ok((address, BlockSource::Recyclable));
    }
    let pool = pool_of(device)?;
    let address = or_after_trim(device, || try_allocate(size.unwrap_or(bytes), stream, pool));
    let address = address.map_err(|error| with_accounts(error, device, bytes))?;
    account.keep();
    let source = match (pool, size) {
        (None, _) => BlockSource::Plain,
        (Some(_), None) => BlockSource::Pool,
        (Some(_), Some(_)) => BlockSource::Recyclable,
    };
    Ok((address, source))
}

/// Returns the maximum number of bytes in a stream's block cache. The maximum is 0 for a stream that takes part in any
/// capture, because memory that is allocated on such a stream becomes part of the graph.
#[inline]
fn most_kept(stream: &Stream) -> Result<usize> {
    const MOST: u64 = 32 << 20;
    static IS_ON: ForkSafeOnce<bool> = ForkSafeOnce::new();
    let is_on = || *IS_ON.get_or_init(|| settings::get().is_on(Variable::RECYCLE, true));
    if !stream.has_block_cache() || !is_on() || backend::is_forked() || stream_captures::number_of(stream)?.is_some() {
        return Ok(0);
    }
    Ok(accounts(stream.device()).threshold.load(Ordering::Relaxed).min(MOST) as usize)
}

/// Takes a memory block from the stream's cache without a driver call. Returns `None` if a driver call is needed.
#[inline]
pub(super) fn take_kept(bytes: usize, stream: &Stream) -> Option<Address> {
    if !is_never_captured(stream) || most_kept(stream).unwrap_or(0) == 0 || stream::spare_size(bytes).is_none() {
        return None;
    }
    let accounts = accounts(stream.device());
    if (flush_points::has_pending() && limit(stream.device()).is_some()) || !fits(accounts, bytes) {
        return None;
    }
    let found = stream.take_spare(bytes);
    match found {
        Some(_) => accounts.keep(),
        None => _ = accounts.bytes.fetch_sub(bytes, Ordering::Relaxed),
    }
    found
}

/// Puts a memory block into the stream's cache without a driver call. Returns `false` if a driver call is needed.
///
/// # Safety
/// The conditions of [`free`] apply to a recyclable block.
#[inline]
pub(super) unsafe fn keep(address: Address, bytes: usize, stream: &Stream) -> bool {
    let most = if is_never_captured(stream) { most_kept(stream).unwrap_or(0) } else { 0 };
    // SAFETY: the caller guarantees the conditions of `cache_block`.
    let is_kept = most > 0 && unsafe { stream.cache_block(address, bytes, most) };
    if is_kept {
        account_for_free(stream.device(), bytes);
    }
    is_kept
}

/// Returns whether this is the legacy default stream. The legacy default stream can never be capturing, so no driver
/// call is needed to check whether it is.
#[inline]
fn is_never_captured(stream: &Stream) -> bool {
    stream.handle() == StreamHandle::DEFAULT
}

/// Returns a block to the pool. All uses of the block must be in the order of `stream`.
///
/// # Errors
/// Driver errors.
///
/// # Safety
/// The block must come from [`allocate`] with this size and stream, and be [`BlockSource::Recyclable`] if
/// `is_recyclable` is set. The block must not be used any more.
#[inline]
pub(super) unsafe fn free(address: Address, bytes: usize, stream: &Stream, is_recyclable: bool) -> Result<()> {
    let device = stream.device();
    let most = if is_recyclable { most_kept(stream).unwrap_or(0) } else { 0 };
    // SAFETY: the caller guarantees the conditions of `cache_block`.
    if most > 0 && unsafe { stream.cache_block(address, bytes, most) } {
        return Ok(());
    }
    // SAFETY: the caller guarantees the conditions of `free_to_pool`.
    unsafe { device.backend().free_to_pool(device.index(), address, stream.handle()) }
}

/// Allocates host memory, without the retries that [`allocate`] makes if memory is short. The call therefore costs
/// little more than the system's allocation. Returns `None` if the limit would be exceeded or the system has no memory.
#[inline]
fn on_host(device: Device, bytes: usize) -> Option<Address> {
    let accounts = accounts(device);
    if !fits(accounts, bytes) {
        return None;
    }
    match device.backend().allocate(device.index(), bytes) {
        Ok(address) => {
            accounts.keep();
            Some(address)
        }
        Err(_) => {
            accounts.bytes.fetch_sub(bytes, Ordering::Relaxed);
            None
        }
    }
}

/// Frees memory that is no longer needed: launches pending operations, which may free their operands, waits for the
/// device, and drops retired objects. Does nothing while this thread launches a batch: the launch allocates results
/// through this module too, but must not wait.
#[cold]
fn give_way(device: Device) -> Result<()> {
    if flush_points::is_in_batch() {
        return Ok(());
    }
    flush_points::flush(FlushReason::OutOfMemory);
    retired_objects::synchronize(device)
}

/// Calls `ask`, which allocates memory by a driver call. After an out-of-memory error, drops retired objects, trims the
/// pool, and calls `ask` once more.
#[inline]
pub(super) fn or_after_trim<T>(device: Device, ask: impl Fn() -> Result<T>) -> Result<T> {
    match ask() {
        // While a capture is active, `ask` is not called again, because waiting for the device would invalidate the
        // capture.
        Err(Error::OutOfMemory(_)) if !stream_captures::is_any() => {
            give_way(device)?;
            trim(device, 0)?;
            ask()
        }
        other => other,
    }
}

/// Allocates memory that the driver provides outside its pools. `ask` calls the driver and returns the address and the
/// size; `Backend::free` frees the memory.
pub(super) fn allocate_by(device: Device, ask: impl Fn() -> Result<(Address, usize)>) -> Result<(Address, usize)> {
    let (address, bytes) = or_after_trim(device, ask).map_err(|error| {
        let requested = if let Error::OutOfMemory(memory) = &error { memory.requested } else { 0 };
        with_accounts(error, device, requested)
    })?;
    // Here the bytes are counted after the allocation, because the driver determines the size of the memory.
    match account_for(device, bytes) {
        Ok(account) => {
            account.keep();
            Ok((address, bytes))
        }
        Err(error) => {
            // SAFETY: the memory was allocated above, and no work uses it yet.
            unsafe { device.backend().free(device.index(), address, bytes)? };
            Err(error)
        }
    }
}

/// Bytes that are counted before they are allocated, so that two threads together cannot exceed the limit. Dropping the
/// value without a call of `keep` subtracts the bytes again.
pub(super) struct ReservedBytes {
    device: Device,
    bytes: usize,
}

impl ReservedBytes {
    /// Makes the count of these bytes permanent, because the allocation has succeeded.
    pub(super) fn keep(self) {
        accounts(self.device).keep();
        std::mem::forget(self);
    }
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        accounts(self.device).bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Adds bytes that are about to be allocated to the total of the device.
///
/// # Errors
/// `OutOfMemory` beyond the limit, even after retired objects were dropped; driver errors.
pub(super) fn account_for(device: Device, bytes: usize) -> Result<ReservedBytes> {
    if !stream_captures::is_any() {
        make_room(device, bytes);
    }
    if fits(accounts(device), bytes) {
        return Ok(ReservedBytes { device, bytes });
    }
    if !stream_captures::is_any() {
        give_way(device)?;
    }
    if fits(accounts(device), bytes) { Ok(ReservedBytes { device, bytes }) } else { Err(beyond_limit(device, bytes)) }
}

#[inline]
fn fits(accounts: &Accounts, bytes: usize) -> bool {
    let before = accounts.bytes.fetch_add(bytes, Ordering::Relaxed);
    let fits = before.saturating_add(bytes) <= accounts.limit.load(Ordering::Relaxed);
    if !fits {
        accounts.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
    fits
}

#[cold]
fn beyond_limit(device: Device, bytes: usize) -> Error {
    const OUT_OF_MEMORY: u32 = 2;
    let backend = device.backend();
    let accounts = accounts(device);
    let info = device.memory_info().ok();
    Error::OutOfMemory(Box::new(OutOfMemory {
        operation: "an array",
        name: backend.error_name(OUT_OF_MEMORY),
        text: backend.error_text(OUT_OF_MEMORY),
        requested: bytes,
        device: device.to_string(),
        free: info.map(|info| info.free),
        total: info.map(|info| info.total),
        used: accounts.bytes.load(Ordering::Relaxed),
        limit: Some(accounts.limit.load(Ordering::Relaxed)),
        detail: String::new(),
    }))
}

/// Sets the maximum size in bytes of PyGPU's live blocks on a device. Existing blocks stay, even if they exceed the
/// limit.
pub fn set_limit(device: Device, limit: Option<usize>) {
    accounts(device).limit.store(limit.unwrap_or(usize::MAX), Ordering::Relaxed);
}

/// Returns whether an allocation of `bytes` would exceed the limit of a device. Callers add to `bytes` the size of the
/// results of deferred operations, whose memory is not allocated yet. A flush therefore has as much memory available as
/// eager operations would have.
#[inline]
pub fn exceeds_limit(device: Device, bytes: impl FnOnce() -> usize) -> bool {
    let accounts = accounts(device);
    let limit = accounts.limit.load(Ordering::Relaxed);
    limit != usize::MAX && accounts.bytes.load(Ordering::Relaxed).saturating_add(bytes()) > limit
}

/// Launches pending operations if their results and an allocation of `bytes` would together exceed the limit, because
/// the launch may free operands.
#[inline]
fn make_room(device: Device, bytes: usize) {
    if flush_points::has_pending()
        && !flush_points::is_in_batch()
        && exceeds_limit(device, || bytes.saturating_add(flush_points::pending_bytes()))
    {
        flush_points::flush(FlushReason::OutOfMemory);
    }
}

/// Returns the maximum size in bytes of PyGPU's live blocks on a device; `None` for no limit.
pub fn limit(device: Device) -> Option<usize> {
    Some(accounts(device).limit.load(Ordering::Relaxed)).filter(|&limit| limit != usize::MAX)
}

fn try_allocate(bytes: usize, stream: &Stream, pool: Option<PoolHandle>) -> Result<Address> {
    let device = stream.device();
    match pool {
        Some(pool) => device.backend().allocate_from_pool(device.index(), pool, bytes, stream.handle()),
        None => device.backend().allocate(device.index(), bytes),
    }
}

#[cold]
fn with_accounts(error: Error, device: Device, bytes: usize) -> Error {
    match error {
        Error::OutOfMemory(mut error) => {
            // The count already includes the requested bytes. They are subtracted, because `used` should contain only
            // the bytes of live blocks.
            error.used = accounts(device).bytes.load(Ordering::Relaxed).saturating_sub(bytes);
            error.requested = bytes;
            error.device = device.to_string();
            Error::OutOfMemory(error)
        }
        other => other,
    }
}

#[inline]
pub(super) fn account_for_free(device: Device, bytes: usize) {
    let accounts = accounts(device);
    accounts.bytes.fetch_sub(bytes, Ordering::Relaxed);
    accounts.count.fetch_sub(1, Ordering::Relaxed);
}

/// Returns statistics of PyGPU's memory on a device.
///
/// # Errors
/// Driver errors.
pub fn figures(device: Device) -> Result<MemoryUsage> {
    let accounts = accounts(device);
    let pool = match pool_of(device)? {
        Some(pool) => device.backend().pool_statistics(pool)?,
        None => PoolStatistics::default(),
    };
    Ok(MemoryUsage {
        bytes: accounts.bytes.load(Ordering::Relaxed),
        peak: accounts.peak.load(Ordering::Relaxed),
        count: accounts.count.load(Ordering::Relaxed),
        pool,
        recycled: stream::spare_bytes(device),
    })
}

/// Sets the maximum number of freed bytes that the pool keeps for later allocations instead of returning them to the
/// driver.
///
/// # Errors
/// Driver errors.
pub fn set_release_threshold(device: Device, bytes: u64) -> Result<()> {
    accounts(device).threshold.store(bytes, Ordering::Relaxed);
    stream::free_spare(device)?;
    match pool_of(device)? {
        Some(pool) => device.backend().set_pool_release_threshold(pool, bytes),
        None => Ok(()),
    }
}

/// Returns the maximum number of freed bytes that the pool keeps for later allocations.
pub fn release_threshold(device: Device) -> u64 {
    accounts(device).threshold.load(Ordering::Relaxed)
}

/// Returns unused memory of the pool to the driver, until the pool holds at most `keep` bytes.
///
/// # Errors
/// Driver errors.
pub fn trim(device: Device, keep: usize) -> Result<()> {
    stream::free_spare(device)?;
    match pool_of(device)? {
        Some(pool) => device.backend().trim_pool(pool, keep),
        None => Ok(()),
    }
}

/// Resets the memory statistics of a device after a device reset, which destroys all memory of the device.
pub fn forget(device: Device) {
    let accounts = accounts(device);
    accounts.bytes.store(0, Ordering::Relaxed);
    accounts.count.store(0, Ordering::Relaxed);
}
