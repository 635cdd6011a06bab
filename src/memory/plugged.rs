//! Allocators of others in the place of PyGPU's pool: for the whole process, or for one thread.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pygpu_backend::Address;
use pygpu_base::error::Result;
use pygpu_base::flush;
use pygpu_base::fork_safe::Global;
use pygpu_device::stream::Stream;

/// Memory that somebody else owns: dropped when the last array that uses it is gone.
pub type Lent = Box<dyn Any + Send + Sync>;

/// What an allocator gave.
pub struct Block {
    /// The first byte; not 0.
    pub address: Address,
    /// In whose order the memory may be used, and is given back.
    pub stream: Stream,
    /// Gives the memory back when it is dropped, for use in the order of `stream`.
    pub owner: Lent,
}

/// Somebody else's memory for new arrays.
pub trait Allocator: Any + Send + Sync {
    /// `bytes` (not 0) of the stream's device, which is current, best in the order of the stream.
    ///
    /// # Errors
    /// The allocator's own.
    fn allocate(&self, bytes: usize, stream: &Stream) -> Result<Block>;
}

/// Whose memory new arrays get.
#[derive(Clone, Default)]
pub enum Choice {
    /// PyGPU's pool.
    #[default]
    Pool,
    /// Somebody else's.
    Plugged(Arc<dyn Allocator>),
}

/// Whether anything but the pool was ever chosen: as long as it was not, nobody looks further.
static IN_USE: AtomicBool = AtomicBool::new(false);
static PROCESS: Global<Choice> = Global::new(Choice::Pool);
thread_local! {
    static THREAD: RefCell<Option<Choice>> = const { RefCell::new(None) };
}

/// Whether an allocator may be called for the next array.
#[inline]
pub fn is_in_use() -> bool {
    IN_USE.load(Ordering::Relaxed)
}

/// Says that an allocator is called for arrays that nobody chose it for: for the results of operations on those it was chosen for.
pub fn use_for_results() {
    IN_USE.store(true, Ordering::Relaxed);
}

/// Whether this thread has a choice of its own.
pub fn is_chosen_for_thread() -> bool {
    THREAD.with_borrow(Option::is_some)
}

/// Who gives memory to this thread's new arrays; `None` for the pool.
#[inline]
pub(super) fn current() -> Option<Arc<dyn Allocator>> {
    // An allocator of the program is Python's: memory of a flush is always PyGPU's.
    if !is_in_use() || flush::is_in_batch() {
        return None;
    }
    match choice() {
        Choice::Pool => None,
        Choice::Plugged(allocator) => Some(allocator),
    }
}

/// What holds for this thread.
pub fn choice() -> Choice {
    let own = THREAD.with_borrow(Clone::clone);
    own.unwrap_or_else(|| PROCESS.lock().clone())
}

/// Chooses for all threads that have no choice of their own.
pub fn choose(choice: Choice) {
    IN_USE.store(true, Ordering::Relaxed);
    // The one before is dropped without the lock: it may be Python's.
    let before = std::mem::replace(&mut *PROCESS.lock(), choice);
    drop(before);
}

/// Chooses for this thread, `None` for what holds for the process; returns what held before.
pub fn choose_for_thread(choice: Option<Choice>) -> Option<Choice> {
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
        fn allocate(&self, bytes: usize, stream: &Stream) -> Result<Block> {
            self.live.fetch_add(1, Ordering::Relaxed);
            let memory = vec![7; bytes];
            let address = memory.as_ptr() as Address;
            Ok(Block { address, stream: stream.clone(), owner: Box::new(Bytes(Arc::clone(&self.live), memory)) })
        }
    }

    #[test]
    fn a_threads_own_allocator_gives_its_memory_until_the_choice_is_taken_back() {
        let stream = Stream::default_of(Device::cpu().unwrap());
        let allocator = Counting::default();
        let live = Arc::clone(&allocator.live);
        let before = choose_for_thread(Some(Choice::Plugged(Arc::new(allocator))));
        let (block, empty) = (Allocation::new(3, stream.clone()).unwrap(), Allocation::new(0, stream.clone()).unwrap());
        assert_eq!((live.load(Ordering::Relaxed), empty.address()), (1, 0));
        assert!(!block.is_lent());
        choose_for_thread(before);
        let own = Allocation::new(3, stream).unwrap();
        assert_eq!(live.load(Ordering::Relaxed), 1);
        drop((block, own));
        assert_eq!(live.load(Ordering::Relaxed), 0);
    }
}
