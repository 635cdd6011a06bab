//! Process-wide storage of an opened library, one per vendor.

use super::{LibrarySpec, SearchPaths};
use crate::{BackendKind, Library};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeOnce;

/// Static with NVIDIA's and AMD's library, both of which can be open in one process.
pub struct OpenLibraries<T: 'static> {
    cuda: ForkSafeOnce<T>,
    hip: ForkSafeOnce<T>,
}

impl<T> OpenLibraries<T> {
    /// Creates empty storage.
    pub const fn new() -> Self {
        Self { cuda: ForkSafeOnce::new(), hip: ForkSafeOnce::new() }
    }

    /// Returns the storage of a vendor; `None` for the CPU.
    #[inline]
    pub const fn of(&self, kind: BackendKind) -> Option<&ForkSafeOnce<T>> {
        match kind {
            BackendKind::Cuda => Some(&self.cuda),
            BackendKind::Hip => Some(&self.hip),
            BackendKind::Cpu => None,
        }
    }
}

impl LibrarySpec {
    /// Returns the library in `place`; the first call that finds the library stores it there.
    ///
    /// # Errors
    /// As [`Self::open`] and `make`; the next call searches again.
    pub(super) fn at<T>(
        &self,
        place: &'static ForkSafeOnce<T>,
        kind: BackendKind,
        driver: i32,
        places: &SearchPaths,
        make: impl FnOnce(Library, BackendKind) -> Result<T>,
    ) -> Result<&'static T> {
        if let Some(found) = place.get() {
            return Ok(found);
        }
        // No lock is held while opening, because it calls Python and the system's loader.
        let made = make(self.open(kind, driver, places)?, kind)?;
        Ok(place.get_or_init(|| made))
    }
}
