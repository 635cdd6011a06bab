//! Contains process-wide locks and once-cells that survive `fork`.
//!
//! A forked child has one thread, the one that called `fork`. A lock that another thread held at that moment would stay
//! locked in the child forever, and the data that it guards might be half written. Therefore every lock in a static is
//! a [`ForkSafeMutex`]: `fork` acquires all of them and holds them while the process is copied. Values initialized on
//! first use are in a [`ForkSafeOnce`] for the same reason. `tests/backend/test_global_locks.py` verifies that no other
//! static locks exist.
//!
//! Locks may be nested in any order, because `fork` never waits for one lock while holding another. The locks that the
//! forking thread already holds stay held in both processes. `fork` does not acquire locks that belong to single
//! objects, so code may hold such a lock for a few instructions only.

use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use crate::ffi_guard::catch_panic;

/// Maximum time for which `fork` tries to acquire the locks. The time must suffice for a lock that is held while a
/// driver is opened.
const PATIENCE: Duration = Duration::from_secs(10);

/// A lock for a static variable. The lock ignores poisoning: the guarded value is changed in single steps, so that a
/// panic leaves it consistent.
// `node` is the first field, so that the address of the node is also the address of the lock.
#[repr(C)]
pub struct ForkSafeMutex<T: 'static> {
    node: LockNode,
    /// Number that identifies the thread which holds the lock; 0 if no thread holds it.
    owner: AtomicUsize,
    mutex: Mutex<T>,
}

/// An entry in the list of locks that `fork` acquires, without the type of the guarded value.
struct LockNode {
    is_listed: AtomicBool,
    next: AtomicPtr<LockNode>,
    hold: fn(&'static LockNode) -> ForkHold,
}

/// Result of trying to acquire a lock without waiting.
enum ForkHold {
    /// The lock was acquired; contains the guard. `None` if this thread already held the lock.
    Had(Option<Box<dyn AnyGuard>>),
    /// Another thread holds the lock.
    Taken,
}

trait AnyGuard {}
impl<T> AnyGuard for ForkSafeGuard<T> {}

/// Head of the list of all locks that were ever acquired, latest first.
static LISTED: AtomicPtr<LockNode> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// A thread-local variable, whose address identifies the thread.
    static SELF: Cell<u8> = const { Cell::new(0) };
    static HELD_OVER_FORK: RefCell<Vec<Box<dyn AnyGuard>>> = const { RefCell::new(Vec::new()) };
}

#[cfg(debug_assertions)]
thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of fork-safe locks that the calling thread holds. A thread that holds such a lock must not call a
/// driver, because the driver may wait for a thread that waits for the lock. Locks are counted only in builds with
/// debug assertions; `backend::cuda_and_hip::exit_guard::DriverCallGuard` verifies the count at each driver call.
#[cfg(debug_assertions)]
pub fn locks_held() -> usize {
    HELD.try_with(Cell::get).unwrap_or(0)
}

#[inline]
fn this_thread() -> usize {
    SELF.with(|own| ptr::from_ref(own) as usize)
}

impl<T: Send> ForkSafeMutex<T> {
    /// Creates a lock that guards `value`.
    pub const fn new(value: T) -> Self {
        let node =
            LockNode { is_listed: AtomicBool::new(false), next: AtomicPtr::new(ptr::null_mut()), hold: Self::hold };
        Self { node, owner: AtomicUsize::new(0), mutex: Mutex::new(value) }
    }

    /// Waits for the lock and acquires it.
    #[inline]
    pub fn lock(&'static self) -> ForkSafeGuard<T> {
        if !self.node.is_listed.load(Ordering::Acquire) {
            self.node.enter();
        }
        self.guard(self.mutex.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[inline]
    fn guard(&'static self, guard: MutexGuard<'static, T>) -> ForkSafeGuard<T> {
        ForkSafeGuard { owned: Owned::enter(&self.owner), guard }
    }

    fn hold(node: &'static LockNode) -> ForkHold {
        // SAFETY: only `ForkSafeMutex::<T>::new` makes a node with this function, and that node is the first field of a
        // `ForkSafeMutex<T>`.
        let own = unsafe { &*ptr::from_ref(node).cast::<Self>() };
        match own.mutex.try_lock() {
            Ok(guard) => ForkHold::Had(Some(Box::new(own.guard(guard)))),
            Err(TryLockError::Poisoned(guard)) => ForkHold::Had(Some(Box::new(own.guard(guard.into_inner())))),
            Err(TryLockError::WouldBlock) if own.owner.load(Ordering::Relaxed) == this_thread() => ForkHold::Had(None),
            Err(TryLockError::WouldBlock) => ForkHold::Taken,
        }
    }
}

/// Guard of a lock that this thread holds; dropping it releases the lock.
pub struct ForkSafeGuard<T: 'static> {
    owned: Owned, // dropped before `guard`: a later drop could clear the number of the next thread with the lock
    guard: MutexGuard<'static, T>,
}

/// When dropped, records that no thread owns the lock.
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

impl<T> ForkSafeGuard<T> {
    /// Releases the lock, waits until the condition variable `call` is signalled, and acquires the lock again.
    pub fn wait(self, call: &Condvar) -> Self {
        let Self { owned, guard } = self;
        let owner = owned.0;
        drop(owned);
        let guard = call.wait(guard).unwrap_or_else(PoisonError::into_inner);
        Self { owned: Owned::enter(owner), guard }
    }
}

impl<T> Deref for ForkSafeGuard<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for ForkSafeGuard<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// Spin lock that protects the list of locks. `fork` holds the spin lock while the process is copied; all other code
/// holds it for a few steps only. A thread that holds another lock never waits for the spin lock.
static CHANGING: AtomicBool = AtomicBool::new(false);

fn begin_change() {
    while CHANGING.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
}

fn end_change() {
    CHANGING.store(false, Ordering::Release);
}

impl LockNode {
    /// Adds the lock to the list of locks that `fork` acquires. Called before the lock is first acquired.
    #[cold]
    fn enter(&'static self) {
        begin_change();
        let first = LISTED.load(Ordering::Relaxed);
        if first.is_null() {
            // `pthread_atfork` fails only if memory is exhausted. In that case `fork` does not acquire the locks.
            // SAFETY: the handlers are static functions and do not unwind.
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
    catch_panic((), || {
        begin_change();
        let held = hold_all();
        let _ = HELD_OVER_FORK.try_with(|over| over.replace(held));
    });
}

extern "C" fn after_fork() {
    catch_panic((), || {
        let held = HELD_OVER_FORK.try_with(RefCell::take);
        drop(held);
        end_change();
    });
}

/// Acquires all locks. If the time [`PATIENCE`] has passed, acquires only the locks that are free: a child in which a
/// lock may stay locked is better than a `fork` that never returns.
fn hold_all() -> Vec<Box<dyn AnyGuard>> {
    let start = Instant::now();
    loop {
        let (mut held, mut are_all) = (Vec::new(), true);
        let mut next = LISTED.load(Ordering::Acquire);
        // SAFETY: the list only contains nodes of statics, and `CHANGING` prevents changes meanwhile.
        while let Some(node) = unsafe { next.as_ref() } {
            match (node.hold)(node) {
                ForkHold::Had(guard) => held.extend(guard),
                ForkHold::Taken => are_all = false,
            }
            next = node.next.load(Ordering::Relaxed);
        }
        if are_all || start.elapsed() > PATIENCE {
            return held;
        }
        drop(held); // all locks are released, because the thread with the unavailable lock may need one of them
        thread::sleep(Duration::from_micros(50));
    }
}

/// Storage, in a static variable, for a value that is created on first use. While another thread creates the value,
/// `fork` waits. Therefore a forked child finds the complete value, unlike with `OnceLock`.
pub struct ForkSafeOnce<T: 'static> {
    making: ForkSafeMutex<()>,
    made: OnceLock<T>,
}

impl<T> ForkSafeOnce<T> {
    /// Creates the storage without a value.
    pub const fn new() -> Self {
        Self { making: ForkSafeMutex::new(()), made: OnceLock::new() }
    }

    /// Returns the stored value; `None` if no value was created yet.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.made.get()
    }

    /// Returns the stored value. The first caller creates it with `make`, while other threads wait. `make` must not
    /// access this storage.
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

    /// Stores a value, unless a value already exists.
    pub fn set(&'static self, value: T) {
        self.get_or_init(|| value);
    }
}

impl<T> Default for ForkSafeOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    static ONE: ForkSafeMutex<u32> = ForkSafeMutex::new(1);
    static TWO: ForkSafeMutex<u32> = ForkSafeMutex::new(2);
    static MADE: ForkSafeOnce<u32> = ForkSafeOnce::new();

    /// Runs `work` in a forked child, and returns the result of `work`, which is the child's exit status. A child that
    /// hangs for 20 s is killed.
    fn in_child(work: impl FnOnce() -> u32) -> i32 {
        // SAFETY: the child runs only `work`, which uses the locks under test, and ends by `_exit`. `status` is valid
        // during `waitpid`.
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
    fn forked_child_finds_every_lock_free() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let work = |first: &'static ForkSafeMutex<u32>, second: &'static ForkSafeMutex<u32>| {
            move || {
                while !STOP.load(Ordering::Relaxed) {
                    let outer = first.lock();
                    thread::sleep(Duration::from_micros(300));
                    if let ForkHold::Had(Some(_inner)) = (second.node.hold)(&second.node) {
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
    fn lock_of_forking_thread_stays_held_in_parent_and_child() {
        static OWN: ForkSafeMutex<u32> = ForkSafeMutex::new(5);
        let mut own = OWN.lock();
        *own += 1;
        assert_eq!(in_child(|| *own), 6);
        drop(own);
        assert_eq!(*OWN.lock(), 6);
    }

    #[test]
    fn fork_during_value_creation_waits_and_child_finds_value() {
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
