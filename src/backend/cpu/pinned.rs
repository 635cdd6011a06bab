//! What a program has asked to be pinned. On the host nothing needs to be; a capture takes in copies of pinned memory only, since
//! a launch reads it again, and so it is known.

use std::collections::BTreeMap;

use crate::backend::Address;
use crate::global::{Global, Guard};

/// The pinned ranges: bytes by first byte.
static RANGES: Global<BTreeMap<Address, usize>> = Global::new(BTreeMap::new());

fn ranges() -> Guard<BTreeMap<Address, usize>> {
    RANGES.lock()
}

pub fn enter(address: Address, bytes: usize) {
    ranges().insert(address, bytes);
}

pub fn remove(address: Address) {
    ranges().remove(&address);
}

pub fn holds(address: Address) -> bool {
    let ranges = ranges();
    let before = ranges.range(..=address).next_back();
    before.is_some_and(|(first, bytes)| address - first < *bytes)
}
