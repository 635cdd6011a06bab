//! What one call at a time may use, and the next finds where the last one put it: handles of libraries, plans.
//!
//! A library's handle knows a stream and a workspace, so two threads cannot share it, and no lock of the process is held while a
//! library works. So who needs one takes it away, and puts it back; who finds none makes one.

use pygpu_base::fork_safe::Global;

/// A few things of one kind, by what tells them apart.
pub struct Shelf<K: 'static, T: 'static> {
    things: Global<Vec<(K, T)>>,
    most: usize,
}

impl<K: PartialEq + Send, T: Send> Shelf<K, T> {
    /// An empty one, for at most so many things.
    pub const fn new(most: usize) -> Self {
        Self { things: Global::new(Vec::new()), most }
    }

    /// Takes a thing away: the one that was put there last, whose state the device's caches may still have.
    pub fn take(&'static self, key: &K) -> Option<T> {
        let mut things = self.things.lock();
        let place = things.iter().rposition(|(known, _)| known == key)?;
        Some(things.remove(place).1)
    }

    /// Puts a thing there. Gives what has to go for it, which nobody has used for longest and the caller ends.
    #[must_use = "a thing of a library does not end by itself"]
    pub fn put(&'static self, key: K, thing: T) -> Option<T> {
        let mut things = self.things.lock();
        things.push((key, thing));
        (things.len() > self.most).then(|| things.remove(0).1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn what_is_taken_is_nobody_elses_until_it_is_put_back() {
        static SHELF: Shelf<i32, &str> = Shelf::new(2);
        assert_eq!(SHELF.take(&1), None);
        assert_eq!(SHELF.put(1, "a"), None);
        assert_eq!(SHELF.take(&2), None);
        assert_eq!(SHELF.take(&1), Some("a"));
        assert_eq!(SHELF.take(&1), None);
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        static SHELF: Shelf<i32, &str> = Shelf::new(2);
        assert_eq!((SHELF.put(1, "a"), SHELF.put(2, "b")), (None, None));
        let again = SHELF.take(&1).unwrap();
        assert_eq!(SHELF.put(1, again), None);
        assert_eq!(SHELF.put(3, "c"), Some("b"));
        assert_eq!((SHELF.take(&1), SHELF.take(&3)), (Some("a"), Some("c")));
    }
}
