//! Contains a pool for the objects of vendor libraries that only one call may use at a time, such as handles and plans.
//!
//! A library handle stores its stream and workspace, so concurrent calls cannot share a handle. A pool avoids a
//! process-wide lock during library calls: a caller checks out an object, or creates one if the pool has none, and
//! returns it after the call.

use pygpu_base::fork_safe::ForkSafeMutex;

/// A pool of idle objects, each stored with a key. The number of objects is limited.
pub struct ObjectPool<K: 'static, T: 'static> {
    things: ForkSafeMutex<Vec<(K, T)>>,
    most: usize,
}

impl<K: PartialEq + Send, T: Send> ObjectPool<K, T> {
    /// Creates an empty pool for at most `most` objects.
    pub const fn new(most: usize) -> Self {
        Self { things: ForkSafeMutex::new(Vec::new()), most }
    }

    /// Checks out the object with this key that was returned last, because its state may still be in the device's
    /// caches. Returns `None` if the pool has no object with this key.
    pub fn take(&'static self, key: &K) -> Option<T> {
        let mut things = self.things.lock();
        let place = things.iter().rposition(|(known, _)| known == key)?;
        Some(things.remove(place).1)
    }

    /// Returns an object to the pool. If the pool is full, evicts the least recently returned object, which the
    /// caller must destroy.
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
}
