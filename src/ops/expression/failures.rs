//! Operations that have failed, for whoever asks for their results.

use pygpu_base::error::Error;

/// By the operations' numbers, as long as their results are held.
#[derive(Default)]
pub(super) struct Failures(Vec<(u64, Error)>);

impl Failures {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn add(&mut self, number: u64, error: Error) {
        self.0.push((number, error));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why the operation of a number failed.
    pub(super) fn of(&self, number: u64) -> Error {
        let known = self.0.iter().find(|(other, _)| *other == number).map(|(_, error)| error.clone());
        known.unwrap_or_else(|| Error::value("the operation that makes this array failed"))
    }

    /// Takes one out whose result nobody asks for any more.
    pub(super) fn take(&mut self, number: u64) -> Option<Error> {
        let place = self.0.iter().position(|(other, _)| *other == number)?;
        Some(self.0.swap_remove(place).1)
    }
}
