//! Blocks whose addresses were given out as numbers: who comes with a number gets the block back, and with it what is known of
//! its use. Holds no block alive. Arrays are not in here, since to enter each would cost more than to make it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Allocation;
use crate::backend::Address;

static BLOCKS: Mutex<BTreeMap<Address, Weak<Allocation>>> = Mutex::new(BTreeMap::new());

/// Held for moments, and nothing is dropped meanwhile: the end of a block may reach a driver.
fn blocks() -> MutexGuard<'static, BTreeMap<Address, Weak<Allocation>>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enters a block, in the place of one that ended.
pub fn enter(block: &Arc<Allocation>) {
    if block.bytes() > 0 {
        blocks().insert(block.address(), Arc::downgrade(block));
    }
}

/// Forgets a block before it ends: its addresses may be somebody else's soon.
pub fn forget(block: &Arc<Allocation>) {
    let mut blocks = blocks();
    if blocks.get(&block.address()).is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(block))) {
        blocks.remove(&block.address());
    }
}

/// The living block in which an address lies.
pub fn find(address: Address) -> Option<Arc<Allocation>> {
    let found = blocks().range(..=address).next_back().and_then(|(_, block)| block.upgrade())?;
    (found.is_alive() && address - found.address() < found.bytes()).then_some(found)
}
