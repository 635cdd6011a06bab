//! Records pinned and managed host memory. On the host, pinned and managed memory is ordinary memory. It is registered
//! for two reasons: a capture accepts only copies of such memory, because each launch of the graph reads the memory
//! again; and usage hints are accepted only for managed memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Address, PointerKind};
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};

/// Registered memory ranges: the size in bytes and the memory kind of each range, keyed by the address of its first
/// byte.
static RANGES: ForkSafeMutex<BTreeMap<Address, (usize, PointerKind)>> = ForkSafeMutex::new(BTreeMap::new());
/// Number of registered ranges of managed memory. While the number is 0, freeing memory skips the lookup in the
/// registry.
static MANAGED: AtomicUsize = AtomicUsize::new(0);

fn ranges() -> ForkSafeGuard<BTreeMap<Address, (usize, PointerKind)>> {
    RANGES.lock()
}

pub fn enter(address: Address, bytes: usize) {
    ranges().insert(address, (bytes, PointerKind::Host));
}

pub fn enter_managed(address: Address, bytes: usize) {
    ranges().insert(address, (bytes, PointerKind::Managed));
    MANAGED.fetch_add(1, Ordering::Relaxed);
}

pub fn remove(address: Address) {
    ranges().remove(&address);
}

/// Removes a range of managed memory from the registry when the memory is freed. Addresses of other memory are ignored.
#[inline]
pub fn remove_managed(address: Address) {
    if MANAGED.load(Ordering::Relaxed) > 0 {
        remove_if_managed(address);
    }
}

#[cold]
fn remove_if_managed(address: Address) {
    let mut ranges = ranges();
    if ranges.get(&address).is_some_and(|(_, kind)| *kind == PointerKind::Managed) {
        ranges.remove(&address);
        MANAGED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the kind of the range that contains an address, and the number of bytes from the address to the end of the
/// range.
pub fn kind_of(address: Address) -> Option<(PointerKind, usize)> {
    let ranges = ranges();
    let (first, (bytes, kind)) = ranges.range(..=address).next_back()?;
    (address - first < *bytes).then(|| (*kind, bytes - (address - first)))
}
