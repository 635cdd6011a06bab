//! What came of opening a backend.

use super::{Attempt, Backend};

/// What came of opening a backend.
pub struct Opening {
    /// The backend, or why it cannot be used.
    pub backend: std::result::Result<&'static dyn Backend, String>,
    /// The library that was opened; empty where none was.
    pub library: String,
    /// The driver's version; 0 where it is not known.
    pub driver_version: i32,
    /// The libraries that were looked for in vain.
    pub attempts: Vec<Attempt>,
}

impl Opening {
    /// A backend that cannot be used, for a reason that is known before any library is opened.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self { backend: Err(reason.into()), library: String::new(), driver_version: 0, attempts: Vec::new() }
    }
}
