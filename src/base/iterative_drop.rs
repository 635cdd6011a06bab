//! Drops long owner chains without recursion.
//!
//! An array may own the exporter of its memory, which owns another array, and so on for thousands of levels. A
//! recursive drop would put frames of PyGPU, Python, NumPy and other libraries onto the stack for each level. The
//! `Drop` of each owner in such a chain passes the owner's contents to [`drop_iteratively`]: up to `DEEPEST` levels are
//! dropped in place; the contents of deeper levels are put into a queue of the thread, which the outermost call of
//! [`drop_iteratively`] empties. (CPython's containers do the same with their "trashcan"; objects of extensions do
//! not.)

use std::cell::{Cell, RefCell};

/// Maximum depth of nested drops. Each level needs some kilobytes of stack, including the frames of other libraries.
const DEEPEST: usize = 16;

type DropFn = Box<dyn FnOnce()>;

/// The nested drops of a thread that are in progress.
struct Chain {
    /// Number of drops that are currently nested.
    depth: Cell<usize>,
    waits: Cell<bool>,
}

thread_local! {
    static CHAIN: Chain = const { Chain { depth: Cell::new(0), waits: Cell::new(false) } };
    static WAITING: RefCell<Vec<DropFn>> = const { RefCell::new(Vec::new()) };
}

/// Drops `value` by passing it to `now` immediately. If too many drops are nested, passes it to `later` instead, when
/// the outermost drop returns. `later` may run in any state of the thread; `now` runs only inside this call.
#[inline]
pub fn drop_iteratively<T: 'static>(value: T, now: impl FnOnce(T), later: fn(T)) {
    CHAIN.with(|chain| {
        let depth = chain.depth.get();
        if depth >= DEEPEST {
            wait(value, later);
            return;
        }
        let _level = DropDepth::enter(chain, depth);
        now(value);
        if depth == 0 && chain.waits.get() {
            empty();
        }
    });
}

/// Counts one level of nested drops until this value is dropped, also during a panic.
struct DropDepth<'a>(&'a Chain, usize);

impl<'a> DropDepth<'a> {
    #[inline]
    fn enter(chain: &'a Chain, depth: usize) -> Self {
        chain.depth.set(depth + 1);
        Self(chain, depth)
    }
}

impl Drop for DropDepth<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.depth.set(self.1);
    }
}

#[cold]
fn wait<T: 'static>(value: T, later: fn(T)) {
    let mut value = Some(value);
    let queued = WAITING.try_with(|waiting| {
        let value = value.take();
        waiting.borrow_mut().push(Box::new(move || value.into_iter().for_each(later)));
        CHAIN.with(|chain| chain.waits.set(true));
    });
    // If the thread is terminating, its queue no longer exists. The value is then dropped in place, however deep the
    // chain is.
    if queued.is_err() {
        value.into_iter().for_each(later);
    }
}

#[cold]
fn empty() {
    let next = || WAITING.try_with(|waiting| waiting.borrow_mut().pop()).ok().flatten();
    while let Some(end) = next() {
        end();
    }
    CHAIN.with(|chain| chain.waits.set(false));
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Link(Option<Box<Link>>);

    impl Drop for Link {
        fn drop(&mut self) {
            if let Some(next) = self.0.take() {
                drop_iteratively(next, drop, drop);
            }
        }
    }

    fn chain(length: usize) -> Link {
        (0..length).fold(Link(None), |next, _| Link(Some(Box::new(next))))
    }

    #[test]
    fn chain_of_a_million_owners_drops_without_recursion() {
        drop(chain(1_000_000));
        assert!(WAITING.with_borrow(Vec::is_empty));
        assert_eq!(CHAIN.with(|chain| chain.depth.get()), 0);
    }

    #[test]
    fn short_chain_is_dropped_in_place() {
        thread_local! { static ENDED: Cell<usize> = const { Cell::new(0) }; }
        struct Counted;
        impl Drop for Counted {
            fn drop(&mut self) {
                ENDED.set(ENDED.get() + 1);
            }
        }
        drop_iteratively(Counted, drop, |_| unreachable!());
        assert_eq!(ENDED.get(), 1);
    }
}
