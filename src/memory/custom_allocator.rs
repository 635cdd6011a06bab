//! Selects custom allocators in place of PyGPU's pool, for the whole process or for one thread.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pygpu_backend::Address;
use pygpu_base::error::Result;
use pygpu_base::flush_points;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_device::stream::Stream;

/// Owner of memory that PyGPU did not allocate. It is dropped with the last array that uses the memory.
pub type OwnerBox = Box<dyn Any + Send + Sync>;

/// Memory returned by a custom allocator.
pub struct AllocatorBlock {
    /// The address of the first byte; not 0.
    pub address: Address,
    /// The stream in whose order the memory may be used and is freed.
    pub stream: Stream,
    /// Frees the memory when dropped, in the order of `stream`.
    pub owner: OwnerBox,
}

/// A custom allocator for new arrays.
pub trait Allocator: Any + Send + Sync {
    /// Allocates `bytes` bytes (not 0) on the stream's device, preferably in the order of the stream. The caller has
    /// made this device current.
    ///
    /// # Errors
    /// Errors of the allocator.
    fn allocate(&self, bytes: usize, stream: &Stream) -> Result<AllocatorBlock>;
}

/// Selects the custom allocator, or PyGPU's pool, for the memory of new arrays.
#[derive(Clone, Default)]
pub enum AllocatorChoice {
    /// PyGPU's pool.
    #[default]
    Pool,
    /// A custom allocator.
    Plugged(Arc<dyn Allocator>),
}

/// Whether a custom allocator was ever selected in this process. Until the first selection, each allocation checks only
/// this flag.
static IN_USE: AtomicBool = AtomicBool::new(false);
static PROCESS: ForkSafeMutex<AllocatorChoice> = ForkSafeMutex::new(AllocatorChoice::Pool);
thread_local! {
    static THREAD: RefCell<Option<AllocatorChoice>> = const { RefCell::new(None) };
}

/// Returns whether a custom allocator was ever selected, so that it may have to allocate the next array.
#[inline]
pub fn is_in_use() -> bool {
    IN_USE.load(Ordering::Relaxed)
}

/// Records that results may use custom allocators: an operation on arrays from a custom allocator may use this
/// allocator for its result, even if no allocator was selected explicitly.
pub fn use_for_results() {
    IN_USE.store(true, Ordering::Relaxed);
}

/// Returns whether this thread has its own selection of an allocator, instead of that of the process.
pub fn is_chosen_for_thread() -> bool {
    THREAD.with_borrow(Option::is_some)
}

/// Returns the custom allocator of this thread's new arrays, or `None` for the pool.
#[inline]
pub(super) fn current() -> Option<Arc<dyn Allocator>> {
    // A flush, which launches deferred operations, allocates their results from PyGPU's pool. A custom allocator may
    // run Python code, which is forbidden during a flush.
    if !is_in_use() || flush_points::is_in_batch() {
        return None;
    }
    match choice() {
        AllocatorChoice::Pool => None,
        AllocatorChoice::Plugged(allocator) => Some(allocator),
    }
}

/// Returns the allocator in effect for this thread: the allocator that the thread has selected, or otherwise the
/// allocator of the process.
pub fn choice() -> AllocatorChoice {
    let own = THREAD.with_borrow(Clone::clone);
    own.unwrap_or_else(|| PROCESS.lock().clone())
}

/// Selects the allocator of the process. Every thread that has not selected an allocator itself uses this allocator.
pub fn choose(choice: AllocatorChoice) {
    IN_USE.store(true, Ordering::Relaxed);
    // The previously selected allocator may own Python objects, so it is dropped after the lock is released.
    let before = std::mem::replace(&mut *PROCESS.lock(), choice);
    drop(before);
}

/// Selects the allocator for this thread. `None` selects the allocator of the process. Returns the thread's previous
/// selection.
pub fn choose_for_thread(choice: Option<AllocatorChoice>) -> Option<AllocatorChoice> {
    IN_USE.store(true, Ordering::Relaxed);
    THREAD.replace(choice)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::Allocation;
    use pygpu_device::Device;

    #[derive(Default)]
    struct Counting {
        live: Arc<AtomicUsize>,
    }

    struct Bytes(Arc<AtomicUsize>, #[allow(dead_code)] Vec<u8>);

    impl Drop for Bytes {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    impl Allocator for Counting {
        fn allocate(&self, bytes: usize, stream: &Stream) -> Result<AllocatorBlock> {
            self.live.fetch_add(1, Ordering::Relaxed);
            let memory = vec![7; bytes];
            let address = memory.as_ptr() as Address;
            Ok(AllocatorBlock {
                address,
                stream: stream.clone(),
                owner: Box::new(Bytes(Arc::clone(&self.live), memory)),
            })
        }
    }

    #[test]
    fn thread_allocator_is_used_until_choice_is_reset() {
        let stream = Stream::default_of(Device::cpu().unwrap());
        let allocator = Counting::default();
        let live = Arc::clone(&allocator.live);
        let before = choose_for_thread(Some(AllocatorChoice::Plugged(Arc::new(allocator))));
        let (block, empty) = (Allocation::new(3, stream.clone()).unwrap(), Allocation::new(0, stream.clone()).unwrap());
        assert_eq!((live.load(Ordering::Relaxed), empty.address()), (1, 0));
        assert!(!block.is_imported());
        choose_for_thread(before);
        let own = Allocation::new(3, stream).unwrap();
        assert_eq!(live.load(Ordering::Relaxed), 1);
        drop((block, own));
        assert_eq!(live.load(Ordering::Relaxed), 0);
    }
}
