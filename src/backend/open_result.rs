//! Defines the result of opening a backend.

use super::{Attempt, Backend};

/// The result of opening a backend.
pub struct OpenResult {
    /// The opened backend, or the reason why it cannot be used.
    pub backend: std::result::Result<&'static dyn Backend, String>,
    /// Path of the opened driver library; empty if none was opened.
    pub library: String,
    /// Driver version; 0 if unknown.
    pub driver_version: i32,
    /// Failed attempts to open a driver library.
    pub attempts: Vec<Attempt>,
}

impl OpenResult {
    /// Creates the result for a backend that cannot be used. The reason was found before any library was opened.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self { backend: Err(reason.into()), library: String::new(), driver_version: 0, attempts: Vec::new() }
    }
}
