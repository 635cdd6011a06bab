//! Stores opened libraries for the whole process, one for each vendor.

use super::{LibrarySpec, SearchPaths};
use crate::{BackendKind, Library};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeOnce;

/// Storage for NVIDIA's and AMD's version of one library. One process can have opened both versions.
pub struct OpenLibraries<T: 'static> {
    cuda: ForkSafeOnce<T>,
    hip: ForkSafeOnce<T>,
}

impl<T> OpenLibraries<T> {
    /// Creates storage that contains no library.
    pub const fn new() -> Self {
        Self { cuda: ForkSafeOnce::new(), hip: ForkSafeOnce::new() }
    }

    /// Returns a vendor's entry of the storage; `None` for the CPU.
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
    /// Returns the library stored in `place`. If `place` is empty, searches for the library and stores it there.
    ///
    /// # Errors
    /// The errors of [`Self::open`] and of `make`. After an error, the next call searches again.
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
        // No lock is held while the library is opened, because the search calls Python and the system's loader.
        let made = make(self.open(kind, driver, places)?, kind)?;
        Ok(place.get_or_init(|| made))
    }
}
