//! Where blocks come from: one stream-ordered pool for each device, plain allocation where the driver has none.
//!
//! The pool is PyGPU's own, so that its settings are nobody else's. It keeps what was freed up to a threshold (all of it
//! unless `set_release_threshold` says otherwise), since giving memory back to the driver costs a hundred times more than
//! keeping it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::{capture, pending};
use pygpu_backend::{self as backend, Address, PoolHandle, PoolStatistics, StreamHandle};
use pygpu_base::error::{Error, OutOfMemory, Result};
use pygpu_base::flush::{self, Cause};
use pygpu_base::fork_safe::{Global, Once};
use pygpu_base::settings::{self, Variable};
use pygpu_device::stream::{self, Stream};
use pygpu_device::{Device, PerDevice, per_device};

/// What PyGPU holds on one device.
struct Accounts {
    bytes: AtomicUsize,
    /// Most bytes that there may be.
    limit: AtomicUsize,
    peak: AtomicUsize,
    count: AtomicUsize,
    threshold: AtomicU64,
    /// The pool of an epoch; a reset destroys it.
    pool: Global<Option<(u32, Option<PoolHandle>)>>,
}

static ACCOUNTS: PerDevice<Accounts> = per_device!(Accounts::new());

/// Live allocations of PyGPU on one device; of host memory, those of arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Bytes in live allocations.
    pub bytes: usize,
    /// Most bytes there ever were.
    pub peak: usize,
    /// Live allocations.
    pub count: usize,
    /// What the driver's pool says; all zero where there is none.
    pub pool: PoolStatistics,
    /// Bytes of small blocks that streams keep for their next arrays; the driver's pool counts them as used.
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
            pool: Global::new(None),
        }
    }

    /// Bytes that were counted were had.
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

/// The device's pool, made on first use; `None` where its driver has no pools.
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
    // Not under the lock. Of two threads that make one at once the later one's stays empty, and unused.
    let made = device.backend().create_pool(device.index(), accounts.threshold.load(Ordering::Relaxed))?;
    let mut slot = slot();
    let kept = known(&slot).unwrap_or((epoch, made));
    *slot = Some(kept);
    Ok(kept.1)
}

/// How the driver has to be given a block back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Source {
    /// It has no pool, or this is memory of the host.
    Plain,
    /// To its pool, in the order of a stream.
    Pool,
    /// Likewise, or the stream keeps it: it has one of the sizes for that.
    Recyclable,
}

/// `bytes` (not 0) in the order of `stream`.
#[inline]
pub(super) fn allocate(bytes: usize, stream: &Stream) -> Result<(Address, Source)> {
    let device = stream.device();
    if device.is_cpu()
        && let Some(address) = on_host(device, bytes)
    {
        return Ok((address, Source::Plain));
    }
    let account = account_for(device, bytes)?;
    let size = if most_kept(stream)? > 0 { stream::spare_size(bytes) } else { None };
    if size.is_some()
        && let Some(address) = stream.take_spare(bytes)
    {
        account.keep();
        return Ok((address, Source::Recyclable));
    }
    let pool = pool_of(device)?;
    let address = or_after_trim(device, || try_allocate(size.unwrap_or(bytes), stream, pool));
    let address = address.map_err(|error| with_accounts(error, device, bytes))?;
    account.keep();
    let source = match (pool, size) {
        (None, _) => Source::Plain,
        (Some(_), None) => Source::Pool,
        (Some(_), Some(_)) => Source::Recyclable,
    };
    Ok((address, source))
}

/// Most bytes of small blocks that a stream keeps and gives out again; 0 for a stream that takes part in a capture, whoever began
/// that: the driver makes such memory a part of the graph.
#[inline]
fn most_kept(stream: &Stream) -> Result<usize> {
    const MOST: u64 = 32 << 20;
    static IS_ON: Once<bool> = Once::new();
    let is_on =
        || *IS_ON.get_or_init(|| !matches!(settings::get().text(Variable::RECYCLE).as_deref(), Some("0" | "off")));
    if !stream.keeps_spare() || !is_on() || backend::is_forked() || capture::number_of(stream)?.is_some() {
        return Ok(0);
    }
    Ok(accounts(stream.device()).threshold.load(Ordering::Relaxed).min(MOST) as usize)
}

/// As [`allocate`], of what the stream keeps and without a question to a driver; `None` where one has to be asked.
#[inline]
pub(super) fn take_kept(bytes: usize, stream: &Stream) -> Option<Address> {
    if !is_never_captured(stream) || most_kept(stream).unwrap_or(0) == 0 || stream::spare_size(bytes).is_none() {
        return None;
    }
    let accounts = accounts(stream.device());
    if (flush::is_any() && limit(stream.device()).is_some()) || !fits(accounts, bytes) {
        return None;
    }
    let found = stream.take_spare(bytes);
    match found {
        Some(_) => accounts.keep(),
        None => _ = accounts.bytes.fetch_sub(bytes, Ordering::Relaxed),
    }
    found
}

/// Gives a block to the stream to keep, without a question to a driver; `false` where one has to be asked.
///
/// # Safety
/// As for [`free`], of a block that is recyclable.
#[inline]
pub(super) unsafe fn keep(address: Address, bytes: usize, stream: &Stream) -> bool {
    let most = if is_never_captured(stream) { most_kept(stream).unwrap_or(0) } else { 0 };
    // SAFETY: promised by the caller.
    let is_kept = most > 0 && unsafe { stream.keep_spare(address, bytes, most) };
    if is_kept {
        account_for_free(stream.device(), bytes);
    }
    is_kept
}

/// Whether it is the legacy default stream, of which alone is known without its driver that it takes part in no capture.
#[inline]
fn is_never_captured(stream: &Stream) -> bool {
    stream.handle() == StreamHandle::DEFAULT
}

/// Takes back a block from the pool, whose uses are all in the order of `stream`.
///
/// # Errors
/// The driver's.
///
/// # Safety
/// The block came from [`allocate`] with so many bytes, for this stream, and as [`Source::Recyclable`] if it is said to be that;
/// nobody has it any more.
#[inline]
pub(super) unsafe fn free(address: Address, bytes: usize, stream: &Stream, is_recyclable: bool) -> Result<()> {
    let device = stream.device();
    let most = if is_recyclable { most_kept(stream).unwrap_or(0) } else { 0 };
    // SAFETY: promised by the caller.
    if most > 0 && unsafe { stream.keep_spare(address, bytes, most) } {
        return Ok(());
    }
    // SAFETY: promised by the caller.
    unsafe { device.backend().free_to_pool(device.index(), address, stream.handle()) }
}

/// The way of nearly every block of the host, which takes little longer than its memory; `None` where there is none at once.
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

/// Launches pending operations, whose operands may end with them, and waits for what only waits for a stream. A flush, which comes here
/// for its own results, waits for no stream.
#[cold]
fn give_way(device: Device) -> Result<()> {
    if flush::is_in_batch() {
        return Ok(());
    }
    flush::flush(Cause::Memory);
    pending::synchronize(device)
}

/// Asks once more when what only waits for a stream, and what the pool keeps, was let go of.
#[inline]
pub(super) fn or_after_trim<T>(device: Device, ask: impl Fn() -> Result<T>) -> Result<T> {
    match ask() {
        // A wait for the device would make a capture invalid.
        Err(Error::OutOfMemory(_)) if !capture::is_any() => {
            give_way(device)?;
            trim(device, 0)?;
            ask()
        }
        other => other,
    }
}

/// Memory of a kind that the driver has beside its pools, and its bytes, which it takes back by `Backend::free`.
pub(super) fn allocate_by(device: Device, ask: impl Fn() -> Result<(Address, usize)>) -> Result<(Address, usize)> {
    let (address, bytes) = or_after_trim(device, ask).map_err(|error| {
        let requested = if let Error::OutOfMemory(memory) = &error { memory.requested } else { 0 };
        with_accounts(error, device, requested)
    })?;
    // Counted afterwards: only the driver knows how large it is.
    match account_for(device, bytes) {
        Ok(account) => {
            account.keep();
            Ok((address, bytes))
        }
        Err(error) => {
            // SAFETY: had above, and known to nobody.
            unsafe { device.backend().free(device.index(), address, bytes)? };
            Err(error)
        }
    }
}

/// Bytes that are counted before they are had, so that two threads do not pass the limit together.
pub(super) struct Account {
    device: Device,
    bytes: usize,
}

impl Account {
    /// The bytes were had.
    pub(super) fn keep(self) {
        accounts(self.device).keep();
        std::mem::forget(self);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        accounts(self.device).bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Counts bytes that are about to be asked for.
///
/// # Errors
/// `OutOfMemory` beyond the limit, also when all that only waits for a stream is let go of; the driver's.
pub(super) fn account_for(device: Device, bytes: usize) -> Result<Account> {
    if !capture::is_any() {
        make_room(device, bytes);
    }
    if fits(accounts(device), bytes) {
        return Ok(Account { device, bytes });
    }
    if !capture::is_any() {
        give_way(device)?;
    }
    if fits(accounts(device), bytes) { Ok(Account { device, bytes }) } else { Err(beyond_limit(device, bytes)) }
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

/// Sets how many bytes PyGPU's live blocks of a device may have; what lives stays.
pub fn set_limit(device: Device, limit: Option<usize>) {
    accounts(device).limit.store(limit.unwrap_or(usize::MAX), Ordering::Relaxed);
}

/// Whether so many bytes more would exceed the limit of a device. Deferred results count before they have memory: then a flush finds
/// what eager operations would have found.
#[inline]
pub fn exceeds_limit(device: Device, bytes: impl FnOnce() -> usize) -> bool {
    let accounts = accounts(device);
    let limit = accounts.limit.load(Ordering::Relaxed);
    limit != usize::MAX && accounts.bytes.load(Ordering::Relaxed).saturating_add(bytes()) > limit
}

/// Launches pending operations if their results and so many bytes more would exceed the limit: their operands may end with them.
#[inline]
fn make_room(device: Device, bytes: usize) {
    if flush::is_any()
        && !flush::is_in_batch()
        && exceeds_limit(device, || bytes.saturating_add(flush::pending_bytes()))
    {
        flush::flush(Cause::Memory);
    }
}

/// How many bytes PyGPU's live blocks of a device may have; `None` for no limit.
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
            // Without those that were asked for, which are counted already.
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

/// What PyGPU and its pool hold on a device.
///
/// # Errors
/// The driver's.
pub fn figures(device: Device) -> Result<Figures> {
    let accounts = accounts(device);
    let pool = match pool_of(device)? {
        Some(pool) => device.backend().pool_statistics(pool)?,
        None => PoolStatistics::default(),
    };
    Ok(Figures {
        bytes: accounts.bytes.load(Ordering::Relaxed),
        peak: accounts.peak.load(Ordering::Relaxed),
        count: accounts.count.load(Ordering::Relaxed),
        pool,
        recycled: stream::spare_bytes(device),
    })
}

/// How many freed bytes the pool keeps for the next allocation.
///
/// # Errors
/// The driver's.
pub fn set_release_threshold(device: Device, bytes: u64) -> Result<()> {
    accounts(device).threshold.store(bytes, Ordering::Relaxed);
    stream::free_spare(device)?;
    match pool_of(device)? {
        Some(pool) => device.backend().set_pool_release_threshold(pool, bytes),
        None => Ok(()),
    }
}

/// How many freed bytes the pool keeps for the next allocation.
pub fn release_threshold(device: Device) -> u64 {
    accounts(device).threshold.load(Ordering::Relaxed)
}

/// Gives back to the driver what the pool does not use, down to `keep` bytes.
///
/// # Errors
/// The driver's.
pub fn trim(device: Device, keep: usize) -> Result<()> {
    stream::free_spare(device)?;
    match pool_of(device)? {
        Some(pool) => device.backend().trim_pool(pool, keep),
        None => Ok(()),
    }
}

/// What was made on a device before a reset is gone: the accounts start anew.
pub fn forget(device: Device) {
    let accounts = accounts(device);
    accounts.bytes.store(0, Ordering::Relaxed);
    accounts.count.store(0, Ordering::Relaxed);
}
