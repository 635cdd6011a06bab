//! Operations that have failed, for whoever asks for their results.

use super::node::Node;
use crate::deferral;
use crate::error::Error;
use crate::global::Global;

/// By the operations' numbers, as long as their results are held.
static FAILURES: Global<Vec<(u64, Error)>> = Global::new(Vec::new());

/// Remembers why an operation failed, for whoever asks for its result.
pub(super) fn remember(number: u64, node: &Node, error: &Error) {
    let Some(block) = node.result.upgrade() else { return };
    FAILURES.lock().push((number, error.clone()));
    deferral::add(1);
    block.fail(number);
}

/// Why the operation of a number failed.
pub(super) fn of(number: u64) -> Error {
    let known = FAILURES.lock().iter().find(|(other, _)| *other == number).map(|(_, error)| error.clone());
    known.unwrap_or_else(|| Error::value("the operation that makes this array failed"))
}

/// Says that nobody asks for the result of a number any more.
pub(super) fn forget(number: u64) {
    let mut failures = FAILURES.lock();
    let Some(place) = failures.iter().position(|(other, _)| *other == number) else { return };
    let forgotten = failures.swap_remove(place);
    drop(failures);
    drop(forgotten); // an error may be somebody else's object
    deferral::remove(1);
}
