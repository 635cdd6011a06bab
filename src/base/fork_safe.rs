//! Locks of the process: those that survive `fork`, and what is made once behind one.
//!
//! A child has one thread, the one that forked. A lock that another thread held at that moment stays locked in the child for
//! ever, over data that was half written. So every lock of a static is a [`Global`]: `fork` waits until all are free, and holds
//! them while it copies the process. What is made on first use is a [`Once`], for the same reason.
//! `tests/backend/test_global_locks.py` holds that there are no others.
//!
//! In which order they are nested does not matter: `fork` waits for none while it has another. What the forking thread holds
//! itself it goes on holding, on both sides. Locks of single objects are not held over `fork`: take them for moments only.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crate::ffi_guard::caught;

/// How long `fork` waits for the locks. Some are held while a driver is opened.
const PATIENCE: Duration = Duration::from_secs(10);

/// A static's lock. Panics of who had it are passed over: what it guards is changed in single steps.
// The node first, so that its address is the lock's.
#[repr(C)]
pub struct Global<T: 'static> {
    node: Node,
    /// The thread that has the lock; 0 for none.
    owner: AtomicUsize,
    mutex: Mutex<T>,
}

/// A lock in the list of those that `fork` takes, whatever they guard.
struct Node {
    is_listed: AtomicBool,
    next: AtomicPtr<Node>,
    hold: fn(&'static Node) -> Holding,
}

/// What became of the wish to have a lock now.
enum Holding {
    /// It is had by what is in the box, or by this thread anyway.
    Had(Option<Box<dyn Held>>),
    /// Another thread has it.
    Taken,
}

trait Held {}
impl<T> Held for Guard<T> {}

/// The locks that were ever taken: the latest first.
static LISTED: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// Its address is the thread's number.
    static SELF: Cell<u8> = const { Cell::new(0) };
    static HELD_OVER_FORK: RefCell<Vec<Box<dyn Held>>> = const { RefCell::new(Vec::new()) };
}

#[cfg(debug_assertions)]
thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// How many of these locks the calling thread has. No driver is called with any: it may wait for another thread, which waits for the
/// lock. Counted only in builds with debug assertions, which hold it at each call (`backend::exit::Passage`).
#[cfg(debug_assertions)]
pub fn held() -> usize {
    HELD.try_with(Cell::get).unwrap_or(0)
}

#[inline]
fn this_thread() -> usize {
    SELF.with(|own| ptr::from_ref(own) as usize)
}

impl<T: Send> Global<T> {
    /// A lock over a value.
    pub const fn new(value: T) -> Self {
        let node = Node { is_listed: AtomicBool::new(false), next: AtomicPtr::new(ptr::null_mut()), hold: Self::hold };
        Self { node, owner: AtomicUsize::new(0), mutex: Mutex::new(value) }
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&'static self) -> Guard<T> {
        if !self.node.is_listed.load(Ordering::Acquire) {
            self.node.enter();
        }
        self.guard(self.mutex.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[inline]
    fn guard(&'static self, guard: MutexGuard<'static, T>) -> Guard<T> {
        Guard { owned: Owned::enter(&self.owner), guard }
    }

    fn hold(node: &'static Node) -> Holding {
        // SAFETY: only `Global::<T>::new` makes a node with this function, and puts it at the beginning of itself.
        let own = unsafe { &*ptr::from_ref(node).cast::<Self>() };
        match own.mutex.try_lock() {
            Ok(guard) => Holding::Had(Some(Box::new(own.guard(guard)))),
            Err(TryLockError::Poisoned(guard)) => Holding::Had(Some(Box::new(own.guard(guard.into_inner())))),
            Err(TryLockError::WouldBlock) if own.owner.load(Ordering::Relaxed) == this_thread() => Holding::Had(None),
            Err(TryLockError::WouldBlock) => Holding::Taken,
        }
    }
}

/// A lock that is had.
pub struct Guard<T: 'static> {
    owned: Owned, // dropped first: who has the lock next enters its own number
    guard: MutexGuard<'static, T>,
}

/// Says whose the lock is while it is had.
struct Owned(&'static AtomicUsize);

impl Owned {
    #[inline]
    fn enter(owner: &'static AtomicUsize) -> Self {
        owner.store(this_thread(), Ordering::Relaxed);
        #[cfg(debug_assertions)]
        let _ = HELD.try_with(|held| held.set(held.get() + 1));
        Self(owner)
    }
}

impl Drop for Owned {
    #[inline]
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
        #[cfg(debug_assertions)]
        let _ = HELD.try_with(|held| held.set(held.get() - 1));
    }
}

impl<T> Guard<T> {
    /// Gives the lock up until somebody calls.
    pub fn wait(self, call: &Condvar) -> Self {
        let Self { owned, guard } = self;
        let owner = owned.0;
        drop(owned);
        let guard = call.wait(guard).unwrap_or_else(PoisonError::into_inner);
        Self { owned: Owned::enter(owner), guard }
    }
}

impl<T> Deref for Guard<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Guard<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Whether the list is being changed, or the process forks. Had for a few steps, and never waited for with a lock.
static CHANGING: AtomicBool = AtomicBool::new(false);

fn begin_change() {
    while CHANGING.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
}

fn end_change() {
    CHANGING.store(false, Ordering::Release);
}

impl Node {
    /// Puts the lock into the list, before it is taken for the first time.
    #[cold]
    fn enter(&'static self) {
        begin_change();
        let first = LISTED.load(Ordering::Relaxed);
        if first.is_null() {
            // The only failure is a lack of memory for the entry, which leaves the risk that there was.
            // SAFETY: the handlers are static and do not unwind.
            unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
        }
        if !self.is_listed.load(Ordering::Relaxed) {
            self.next.store(first, Ordering::Relaxed);
            LISTED.store(ptr::from_ref(self).cast_mut(), Ordering::Release);
            self.is_listed.store(true, Ordering::Release);
        }
        end_change();
    }
}

extern "C" fn before_fork() {
    caught((), || {
        begin_change();
        let held = hold_all();
        let _ = HELD_OVER_FORK.try_with(|over| over.replace(held));
    });
}

extern "C" fn after_fork() {
    caught((), || {
        let held = HELD_OVER_FORK.try_with(RefCell::take);
        drop(held);
        end_change();
    });
}

/// Takes all locks, or after long waiting those that are free: better a child with a risk than no child.
fn hold_all() -> Vec<Box<dyn Held>> {
    let start = Instant::now();
    loop {
        let (mut held, mut are_all) = (Vec::new(), true);
        let mut next = LISTED.load(Ordering::Acquire);
        // SAFETY: the list is made of nodes of statics, and does not change meanwhile.
        while let Some(node) = unsafe { next.as_ref() } {
            match (node.hold)(node) {
                Holding::Had(guard) => held.extend(guard),
                Holding::Taken => are_all = false,
            }
            next = node.next.load(Ordering::Relaxed);
        }
        if are_all || start.elapsed() > PATIENCE {
            return held;
        }
        drop(held); // whoever has the missing one may need these
        thread::sleep(Duration::from_micros(50));
    }
}

/// What a static makes on first use. Unlike with `OnceLock`, a child that is forked while another thread makes it finds it made.
pub struct Once<T: 'static> {
    making: Global<()>,
    made: OnceLock<T>,
}

impl<T> Once<T> {
    /// Not made yet.
    pub const fn new() -> Self {
        Self { making: Global::new(()), made: OnceLock::new() }
    }

    /// What was made, if it was.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.made.get()
    }

    /// What was made, by `make` if by nobody before; others wait for it. `make` must not ask for the same again.
    #[inline]
    pub fn get_or_init(&'static self, make: impl FnOnce() -> T) -> &'static T {
        match self.made.get() {
            Some(made) => made,
            None => self.first(make),
        }
    }

    #[cold]
    fn first(&'static self, make: impl FnOnce() -> T) -> &'static T {
        let _making = self.making.lock();
        self.made.get_or_init(make)
    }

    /// Sets it, unless it was made before.
    pub fn set(&'static self, value: T) {
        self.get_or_init(|| value);
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::undocumented_unsafe_blocks)]
    use super::*;

    static ONE: Global<u32> = Global::new(1);
    static TWO: Global<u32> = Global::new(2);
    static MADE: Once<u32> = Once::new();

    /// Forks; the child answers with what `work` says, and is killed if it hangs.
    fn in_child(work: impl FnOnce() -> u32) -> i32 {
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::alarm(20);
                libc::_exit(work() as i32);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            assert!(libc::WIFEXITED(status), "the child was ended by signal {}", libc::WTERMSIG(status));
            libc::WEXITSTATUS(status)
        }
    }

    #[test]
    fn a_child_finds_every_lock_free_whatever_other_threads_do_with_them() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let work = |first: &'static Global<u32>, second: &'static Global<u32>| {
            move || {
                while !STOP.load(Ordering::Relaxed) {
                    let outer = first.lock();
                    thread::sleep(Duration::from_micros(300));
                    if let Holding::Had(Some(_inner)) = (second.node.hold)(&second.node) {
                        thread::sleep(Duration::from_micros(100));
                    }
                    drop(outer);
                    thread::yield_now();
                }
            }
        };
        drop((ONE.lock(), TWO.lock()));
        let threads = [thread::spawn(work(&ONE, &TWO)), thread::spawn(work(&TWO, &ONE))];
        for _ in 0..20 {
            assert_eq!(in_child(|| *ONE.lock() + *TWO.lock()), 3);
        }
        STOP.store(true, Ordering::Relaxed);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn who_has_a_lock_may_fork_and_has_it_on_both_sides() {
        static OWN: Global<u32> = Global::new(5);
        let mut own = OWN.lock();
        *own += 1;
        assert_eq!(in_child(|| *own), 6);
        drop(own);
        assert_eq!(*OWN.lock(), 6);
    }

    #[test]
    fn a_child_finds_made_what_another_thread_was_making() {
        let maker = thread::spawn(|| {
            MADE.get_or_init(|| {
                thread::sleep(Duration::from_millis(200));
                9
            })
        });
        while MADE.making.owner.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        assert_eq!(in_child(|| *MADE.get_or_init(|| 1)), 9);
        assert_eq!(*maker.join().unwrap(), 9);
    }
}
