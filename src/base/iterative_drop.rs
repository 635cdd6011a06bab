//! Ends of long chains of owners: one after the other, not one inside the other.
//!
//! An array may keep its lender, which keeps an array, and so on, thousands deep; and between two of ours there may be frames of
//! Python, NumPy and others. Each `Drop` through which such a chain must pass hands over here what it keeps: the first few are
//! dropped where they are, what is deeper waits in a queue of the thread, which the outermost of them empties. (CPython's
//! containers do the same, its "trashcan"; objects of extensions do not.)

use std::cell::{Cell, RefCell};

/// How many drops may be inside each other. Each is some kilobytes of stack with the frames between them.
const DEEPEST: usize = 16;

type End = Box<dyn FnOnce()>;

/// What is under way on a thread.
struct Chain {
    /// How many drops are inside each other.
    depth: Cell<usize>,
    waits: Cell<bool>,
}

thread_local! {
    static CHAIN: Chain = const { Chain { depth: Cell::new(0), waits: Cell::new(false) } };
    static WAITING: RefCell<Vec<End>> = const { RefCell::new(Vec::new()) };
}

/// Ends `value`: by `now`, or by `later` once the chain that is under way above has come back. `later` may be called in any state
/// of the thread, `now` only here.
#[inline]
pub fn end<T: 'static>(value: T, now: impl FnOnce(T), later: fn(T)) {
    CHAIN.with(|chain| {
        let depth = chain.depth.get();
        if depth >= DEEPEST {
            wait(value, later);
            return;
        }
        let _level = Level::enter(chain, depth);
        now(value);
        if depth == 0 && chain.waits.get() {
            empty();
        }
    });
}

/// One more drop that is under way, also if it panics.
struct Level<'a>(&'a Chain, usize);

impl<'a> Level<'a> {
    #[inline]
    fn enter(chain: &'a Chain, depth: usize) -> Self {
        chain.depth.set(depth + 1);
        Self(chain, depth)
    }
}

impl Drop for Level<'_> {
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
    // The thread is ending and has no queue any more: then the chain is as deep as it is.
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
                end(next, drop, drop);
            }
        }
    }

    fn chain(length: usize) -> Link {
        (0..length).fold(Link(None), |next, _| Link(Some(Box::new(next))))
    }

    #[test]
    fn a_chain_of_a_million_owners_ends_without_a_million_frames() {
        drop(chain(1_000_000));
        assert!(WAITING.with_borrow(Vec::is_empty));
        assert_eq!(CHAIN.with(|chain| chain.depth.get()), 0);
    }

    #[test]
    fn a_short_chain_ends_where_it_is_dropped() {
        thread_local! { static ENDED: Cell<usize> = const { Cell::new(0) }; }
        struct Counted;
        impl Drop for Counted {
            fn drop(&mut self) {
                ENDED.set(ENDED.get() + 1);
            }
        }
        end(Counted, drop, |_| unreachable!());
        assert_eq!(ENDED.get(), 1);
    }
}
