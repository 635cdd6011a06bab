//! Contains a pool for the objects of vendor libraries that only one call may use at a time, such as handles and plans.
//!
//! A library handle stores its stream and workspace, so concurrent calls cannot share a handle. A pool avoids a
//! process-wide lock during library calls: a caller checks out an object, or creates one if the pool has none, and
//! returns it after the call.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::BackendKind;
use pygpu_base::fork_safe::ForkSafeMutex;

/// Key of a pool of library handles: backend, device number, and the device's reset epoch.
pub type HandleKey = (BackendKind, i32, u32);

/// A pool of idle objects, each stored with a key. The number of objects is limited.
pub struct ObjectPool<K: 'static, T: 'static> {
    things: ForkSafeMutex<Vec<(K, T)>>,
    most: AtomicUsize,
}

impl<K: PartialEq + Send, T: Send> ObjectPool<K, T> {
    /// Creates an empty pool for at most `most` objects.
    pub const fn new(most: usize) -> Self {
        Self { things: ForkSafeMutex::new(Vec::new()), most: AtomicUsize::new(most) }
    }

    /// Checks out the most recently returned object with this key, because the device's caches may still contain data
    /// of this object. Returns `None` if the pool has no object with this key.
    pub fn take(&'static self, key: &K) -> Option<T> {
        let mut things = self.things.lock();
        let place = things.iter().rposition(|(known, _)| known == key)?;
        Some(things.remove(place).1)
    }

    /// Returns an object to the pool. If the pool is full, evicts the least recently returned object, which the
    /// caller must destroy.
    #[must_use = "the caller must destroy the objects of a vendor library"]
    pub fn put(&'static self, key: K, thing: T) -> Option<T> {
        let mut things = self.things.lock();
        things.push((key, thing));
        (things.len() > self.most.load(Ordering::Relaxed)).then(|| things.remove(0).1)
    }

    /// Returns the number of objects in the pool whose key satisfies a condition.
    pub fn count(&'static self, condition: impl Fn(&K) -> bool) -> usize {
        self.things.lock().iter().filter(|(key, _)| condition(key)).count()
    }

    /// Removes from the pool all objects whose key satisfies a condition, and returns them. The caller must destroy
    /// these objects.
    #[must_use = "the caller must destroy the objects of a vendor library"]
    pub fn take_all(&'static self, condition: impl Fn(&K) -> bool) -> Vec<T> {
        let mut things = self.things.lock();
        things.extract_if(.., |(key, _)| condition(key)).map(|(_, thing)| thing).collect()
    }

    /// Returns the maximum number of objects that the pool may contain.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Sets the maximum number of objects that the pool may contain. If the pool contains more objects, evicts the
    /// least recently returned ones, which the caller must destroy.
    #[must_use = "the caller must destroy the objects of a vendor library"]
    pub fn set_most(&'static self, most: usize) -> Vec<T> {
        let mut things = self.things.lock();
        self.most.store(most, Ordering::Relaxed);
        let excess = things.len().saturating_sub(most);
        things.drain(..excess).map(|(_, thing)| thing).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn taken_object_is_not_available_until_returned() {
        static SHELF: ObjectPool<i32, &str> = ObjectPool::new(2);
        assert_eq!(SHELF.take(&1), None);
        assert_eq!(SHELF.put(1, "a"), None);
        assert_eq!(SHELF.take(&2), None);
        assert_eq!(SHELF.take(&1), Some("a"));
        assert_eq!(SHELF.take(&1), None);
    }

    #[test]
    fn least_recently_returned_object_is_evicted_first() {
        static SHELF: ObjectPool<i32, &str> = ObjectPool::new(2);
        assert_eq!((SHELF.put(1, "a"), SHELF.put(2, "b")), (None, None));
        let again = SHELF.take(&1).unwrap();
        assert_eq!(SHELF.put(1, again), None);
        assert_eq!(SHELF.put(3, "c"), Some("b"));
        assert_eq!((SHELF.take(&1), SHELF.take(&3)), (Some("a"), Some("c")));
    }

    #[test]
    fn lower_limit_evicts_least_recently_returned_objects() {
        static SHELF: ObjectPool<i32, &str> = ObjectPool::new(3);
        for (key, thing) in [(1, "a"), (2, "b"), (3, "c")] {
            assert_eq!(SHELF.put(key, thing), None);
        }
        assert_eq!(SHELF.set_most(1), ["a", "b"]);
        assert_eq!((SHELF.most(), SHELF.count(|_| true)), (1, 1));
        assert_eq!(SHELF.put(4, "d"), Some("c"));
        assert_eq!(SHELF.set_most(2), [""; 0]);
    }

    #[test]
    fn pool_counts_and_takes_objects_with_matching_keys() {
        static SHELF: ObjectPool<i32, &str> = ObjectPool::new(4);
        for (key, thing) in [(1, "a"), (2, "b"), (3, "c")] {
            assert_eq!(SHELF.put(key, thing), None);
        }
        assert_eq!(SHELF.count(|key| key % 2 == 1), 2);
        assert_eq!(SHELF.take_all(|key| key % 2 == 1), ["a", "c"]);
        assert_eq!((SHELF.count(|_| true), SHELF.take(&2)), (1, Some("b")));
    }
}
