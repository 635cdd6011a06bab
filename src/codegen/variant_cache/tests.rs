#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use super::*;

fn of(family: u64, key: &[u8]) -> VariantId<'_> {
    VariantId { family, place: 7 << 32, key }
}

fn make<V: Clone + Send + Sync>(store: &'static VariantCache<V>, of: &VariantId<'_>, value: V) -> V {
    store.find_or_make(of, || Ok(Some(value))).unwrap().unwrap()
}

#[test]
fn whole_keys_distinguish_variants() {
    static STORE: VariantCache<u32> = VariantCache::new(1000);
    let keys: Vec<Vec<u8>> = (0..200u8).map(|n| vec![n % 3; usize::from(n)]).collect();
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(STORE.find(&of(1, key)), None);
        make(&STORE, &of(1, key), number as u32);
    }
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(STORE.find(&of(1, key)), Some(Some(number as u32)));
        assert_eq!(STORE.find(&of(2, key)), None, "of another kernel");
        assert_eq!(STORE.find(&VariantId { place: 8 << 32, ..of(1, key) }), None, "of another device");
        assert_eq!(STORE.find(&VariantId { place: 7 << 32 | 1, ..of(1, key) }), None, "of the device after a reset");
    }
}

#[test]
fn entries_with_same_hash_are_distinguished() {
    let entry = |key: &[u8]| {
        let (key, was_used) = (VariantKey::from_slice(key), AtomicBool::new(false));
        Arc::new(CompiledVariant {
            hash: of(1, b"a").hash(),
            family: 1,
            place: 7 << 32,
            value: Some(key.len()),
            key,
            was_used,
        })
    };
    let table = VariantTable::of(vec![entry(b"bb"), entry(b"ccc"), entry(b"a")]);
    assert_eq!(table.find(&of(1, b"a")).unwrap().value, Some(1));
    assert!(table.find(&of(1, b"d")).is_none());
}

#[test]
fn concurrent_requests_build_a_variant_once_and_share_it() {
    static STORE: VariantCache<u32> = VariantCache::new(100);
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let (count, start) = (8, Barrier::new(8));
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                start.wait();
                let slowly = || {
                    MADE.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(30));
                    Ok(Some(5))
                };
                assert_eq!(STORE.find_or_make(&of(1, b"k"), slowly).unwrap(), Some(5));
            });
        }
    });
    assert_eq!(MADE.load(Ordering::Relaxed), 1);
}

#[test]
fn failed_build_is_not_cached_and_next_request_retries() {
    static STORE: VariantCache<u32> = VariantCache::new(100);
    let fails = || Err(Error::value("no"));
    assert!(STORE.find_or_make(&of(1, b"k"), fails).is_err());
    assert_eq!(STORE.find(&of(1, b"k")), None);
    let panics = std::panic::catch_unwind(|| STORE.find_or_make(&of(1, b"k"), || panic!("in the compiler")));
    assert!(panics.is_err());
    assert_eq!(make(&STORE, &of(1, b"k"), 6), 6);
}

#[test]
fn variant_without_value_is_cached_and_not_rebuilt() {
    static STORE: VariantCache<u32> = VariantCache::new(100);
    assert_eq!(STORE.find_or_make(&of(1, b"k"), || Ok(None)).unwrap(), None);
    assert_eq!(STORE.find(&of(1, b"k")), Some(None));
    assert_eq!(STORE.find_or_make(&of(1, b"k"), || panic!("tried again")).unwrap(), None);
}

#[test]
fn full_cache_stays_within_bound_and_keeps_used_variants() {
    static STORE: VariantCache<u32> = VariantCache::new(16);
    make(&STORE, &of(1, b"often"), 0);
    for number in 0..100u8 {
        make(&STORE, &of(1, &[number]), 1);
        assert_eq!(STORE.find(&of(1, b"often")), Some(Some(0)));
        let count = STORE.entries(&STORE.changing.lock()).len();
        assert!(count <= 16, "{count} after {number}");
    }
}

#[test]
fn forget_drops_only_variants_of_the_family() {
    static STORE: VariantCache<Arc<u32>> = VariantCache::new(100);
    let value = Arc::new(3);
    make(&STORE, &of(1, b"a"), Arc::clone(&value));
    make(&STORE, &of(2, b"a"), Arc::clone(&value));
    STORE.forget(1);
    assert_eq!((STORE.find(&of(1, b"a")), Arc::strong_count(&value)), (None, 2));
    STORE.forget(2);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn adding_after_device_reset_drops_variants_from_before_reset() {
    static STORE: VariantCache<Arc<u32>> = VariantCache::new(100);
    let value = Arc::new(3);
    make(&STORE, &of(1, b"a"), Arc::clone(&value));
    make(&STORE, &VariantId { place: 8 << 32, ..of(1, b"a") }, Arc::clone(&value));
    make(&STORE, &VariantId { place: 7 << 32 | 1, ..of(1, b"b") }, Arc::new(4));
    assert_eq!(Arc::strong_count(&value), 2, "the other device's stays");
}

#[test]
fn lookups_succeed_while_tables_are_replaced_and_freed() {
    static STORE: VariantCache<Arc<u64>> = VariantCache::new(64);
    static DONE: AtomicBool = AtomicBool::new(false);
    let value = Arc::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !DONE.load(Ordering::Relaxed) {
                    for key in 0..64u8 {
                        if let Some(found) = STORE.find(&of(9, &[key])) {
                            assert_eq!(*found.unwrap(), 0);
                        }
                    }
                }
            });
        }
        for turn in 0..3000u64 {
            make(&STORE, &of(9, &[(turn % 64) as u8]), Arc::clone(&value));
            // The test sleeps so that a concurrently running test of `fork` can acquire every lock of the process.
            thread::sleep(Duration::from_micros(50));
            if turn % 100 == 99 {
                STORE.forget(9);
            }
        }
        DONE.store(true, Ordering::Relaxed);
    });
    STORE.forget(9);
    make(&STORE, &of(10, b"x"), Arc::new(1)); // adding an entry frees the tables that were replaced earlier
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn forked_child_builds_variant_that_parent_was_building() {
    static STORE: VariantCache<u32> = VariantCache::new(100);
    let begun = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let slowly = || {
                begun.wait();
                thread::sleep(Duration::from_millis(300));
                Ok(Some(1))
            };
            STORE.find_or_make(&of(1, b"k"), slowly).unwrap();
        });
        begun.wait();
        // SAFETY: the child uses only the store, whose locks survive a fork, and ends by `_exit`.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::alarm(20);
                let made = STORE.find_or_make(&of(1, b"k"), || Ok(Some(2)));
                libc::_exit(made.ok().flatten().unwrap_or(0) as i32);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 2, "{status}");
        }
    });
}
