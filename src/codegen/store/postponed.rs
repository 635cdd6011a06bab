//! Variants that a flush found missing, and compiles between two attempts.

use std::cell::RefCell;
use std::path::PathBuf;

use super::{COMPILED, Identity, Key};
use pygpu_base::error::Error;
use pygpu_device::Device;
use pygpu_kernel::{self as kernel, Source};

thread_local! {
    /// Variants that a flush of this thread found missing.
    pub(super) static POSTPONED: RefCell<Vec<Postponed>> = const { RefCell::new(Vec::new()) };
    /// Those of them that could not be compiled since.
    pub(super) static REFUSED: RefCell<Vec<(Variant, Error)>> = const { RefCell::new(Vec::new()) };
}

/// A variant by its own identity.
pub(super) struct Variant {
    pub(super) family: u64,
    pub(super) place: u64,
    pub(super) key: Key,
}

impl Variant {
    fn identity(&self) -> Identity<'_> {
        Identity { family: self.family, place: self.place, key: &self.key }
    }

    pub(super) fn is(&self, of: &Identity<'_>) -> bool {
        self.family == of.family && self.place == of.place && self.key.as_slice() == of.key
    }
}

/// A variant that is to be compiled between two attempts of a flush.
pub struct Postponed {
    pub(super) variant: Variant,
    pub(super) device: Device,
    pub(super) name: String,
    pub(super) source: Source,
}

impl Postponed {
    /// Compiles it. An error is left to the operation that needs it.
    pub fn compile(self) {
        let Self { variant, device, name, source } = self;
        // Python searches before, and not while other threads wait for this one: it may need the same kernel.
        let with = |hints: &[PathBuf]| {
            let make = || kernel::load(device, &source, hints)?.function(&name).map(Some);
            COMPILED.find_or_make(&variant.identity(), make)
        };
        let mut made = with(&kernel::files(device.kind(), false));
        if let Err(Error::Unavailable(_)) = made {
            made = with(&kernel::files(device.kind(), true));
        }
        if let Err(error) = made {
            REFUSED.with_borrow_mut(|refused| refused.push((variant, error)));
        }
    }
}

/// Whether a flush of this thread found a variant missing.
pub fn has_postponed() -> bool {
    POSTPONED.with_borrow(|all| !all.is_empty())
}

/// Takes the variants that a flush of this thread found missing.
pub fn take_postponed() -> Vec<Postponed> {
    POSTPONED.take()
}

/// Forgets what could not be compiled for a flush of this thread: the next one tries again.
pub fn forget_refused() {
    drop(REFUSED.take());
}
