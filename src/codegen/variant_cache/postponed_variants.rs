//! Records the kernel variants that a flush needs but that are not compiled. PyGPU compiles them between two attempts
//! of that flush.

use std::cell::RefCell;
use std::path::PathBuf;

use super::{COMPILED, VariantId, VariantKey};
use pygpu_base::error::Error;
use pygpu_device::Device;
use pygpu_kernel::{self as kernel, KernelSource};

thread_local! {
    /// The kernel variants that a flush of this thread needed and did not find in the cache.
    pub(super) static POSTPONED: RefCell<Vec<Postponed>> = const { RefCell::new(Vec::new()) };
    /// Variants of `POSTPONED` whose compilation failed, with the error.
    pub(super) static REFUSED: RefCell<Vec<(PostponedVariant, Error)>> = const { RefCell::new(Vec::new()) };
}

/// Identifies a variant like [`VariantId`](super::VariantId), but owns the key.
pub(super) struct PostponedVariant {
    pub(super) family: u64,
    pub(super) place: u64,
    pub(super) key: VariantKey,
}

impl PostponedVariant {
    fn identity(&self) -> VariantId<'_> {
        VariantId { family: self.family, place: self.place, key: &self.key }
    }

    pub(super) fn is(&self, of: &VariantId<'_>) -> bool {
        self.family == of.family && self.place == of.place && self.key.as_slice() == of.key
    }
}

/// A variant that must be compiled between two attempts of a flush.
pub struct Postponed {
    pub(super) variant: PostponedVariant,
    pub(super) device: Device,
    pub(super) name: String,
    pub(super) source: KernelSource,
}

impl Postponed {
    /// Compiles the variant. If this fails, the error is stored for the operation that needs the variant.
    pub fn compile(self) {
        let Self { variant, device, name, source } = self;
        // The search for the compiler runs Python code, which may itself need this kernel. The search therefore ends
        // before this thread claims the compilation, because from then on other threads wait for the result.
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

/// Returns whether a flush of this thread needed kernel variants that are not compiled.
pub fn has_postponed() -> bool {
    POSTPONED.with_borrow(|all| !all.is_empty())
}

/// Takes the list of kernel variants that a flush of this thread needed and did not find in the cache.
pub fn take_postponed() -> Vec<Postponed> {
    POSTPONED.take()
}

/// Clears the errors of failed compilations of this thread, so that the next flush retries them.
pub fn forget_refused() {
    drop(REFUSED.take());
}
