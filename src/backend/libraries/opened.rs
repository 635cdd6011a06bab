//! What a library is once it is open: one of each vendor's, for as long as the process lives.

use super::{Noun, Places};
use crate::{BackendKind, Library};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::Once;

/// A static's: NVIDIA's library and AMD's, which may be open in one process.
pub struct Opened<T: 'static> {
    cuda: Once<T>,
    hip: Once<T>,
}

impl<T> Opened<T> {
    /// None is open.
    pub const fn new() -> Self {
        Self { cuda: Once::new(), hip: Once::new() }
    }

    /// Where a vendor's is; the CPU has none.
    #[inline]
    pub const fn of(&self, kind: BackendKind) -> Option<&Once<T>> {
        match kind {
            BackendKind::Cuda => Some(&self.cuda),
            BackendKind::Hip => Some(&self.hip),
            BackendKind::Cpu => None,
        }
    }
}

impl Noun {
    /// What is at `place`, or is put there by the first call that finds the library.
    ///
    /// # Errors
    /// As [`Self::open`] and `make`; then it is looked for again the next time.
    pub(super) fn at<T>(
        &self,
        place: &'static Once<T>,
        kind: BackendKind,
        driver: i32,
        places: &Places,
        make: impl FnOnce(Library, BackendKind) -> Result<T>,
    ) -> Result<&'static T> {
        if let Some(found) = place.get() {
            return Ok(found);
        }
        // Who opens holds no lock: it asks Python, and the system's loader.
        let made = make(self.open(kind, driver, places)?, kind)?;
        Ok(place.get_or_init(|| made))
    }
}
