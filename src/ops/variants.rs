//! The compiled forms of one generated kernel.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::plan::Key;
use crate::device::Device;
use crate::kernel::Function;

/// What was compiled, for each device and key. Few, so a list is searched.
#[derive(Default)]
pub struct Variants(Mutex<Vec<(Device, Key, Function)>>);

impl Variants {
    fn list(&self) -> MutexGuard<'_, Vec<(Device, Key, Function)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The form of a key, if it is there and its device was not reset since.
    pub fn find(&self, device: Device, key: &[u8]) -> Option<Function> {
        let list = self.list();
        let found = list.iter().find(|(on, known, _)| *on == device && known.as_slice() == key);
        found.map(|(_, _, function)| function.clone()).filter(|function| function.module().check_alive().is_ok())
    }

    /// Keeps a form.
    pub fn keep(&self, device: Device, key: Key, function: Function) {
        let mut list = self.list();
        let old = list.iter().position(|(on, known, _)| *on == device && *known == key);
        let old = old.map(|position| list.swap_remove(position));
        list.push((device, key, function));
        drop(list);
        drop(old); // may reach the driver
    }

    /// Takes everything out, for an owner that ends.
    pub fn take(&self) -> Vec<Function> {
        std::mem::take(&mut *self.list()).into_iter().map(|(_, _, function)| function).collect()
    }
}
