//! Queues log messages for Python's `logging`. The messages come from slow paths such as compilation, library loading
//! and fallbacks.
//!
//! The thread that calls [`log`] may hold locks and may lack the GIL. Therefore `log` only queues a record and calls
//! the wake-up function that `python` registered. Without a registered function, records are dropped. There is no
//! switch that disables logging, because fast paths never log.

use crate::fork_safe::{ForkSafeMutex, ForkSafeOnce};

/// Severity of a log record. The discriminants are the levels of Python's `logging`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogLevel {
    /// Level of messages about details, such as cache accesses and opened libraries.
    Debug = 10,
    /// Level of messages about slow steps, such as compilations and fallbacks, and about missing optional components.
    Info = 20,
    /// Level of messages about requests that cannot be fulfilled.
    Warning = 30,
}

/// A log record, which consists of one sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogRecord {
    /// Severity of the record.
    pub level: LogLevel,
    /// The sentence, which names the operation and its object.
    pub text: String,
}

/// Maximum number of queued records; further records are dropped.
const MOST: usize = 1000;

static NOTES: ForkSafeMutex<Vec<LogRecord>> = ForkSafeMutex::new(Vec::new());
static BELL: ForkSafeOnce<fn()> = ForkSafeOnce::new();

/// Registers the wake-up function, which is called after a record was queued. The function must be callable in any
/// state of any thread. Later registrations have no effect.
pub fn set_wakeup(bell: fn()) {
    BELL.set(bell);
}

/// Calls the wake-up function. Other queues, which are delivered together with the log records, use this function too.
#[cold]
pub fn wake() {
    if let Some(ring) = BELL.get() {
        ring();
    }
}

/// Queues a record.
#[cold]
pub fn log(level: LogLevel, text: impl FnOnce() -> String) {
    let Some(ring) = BELL.get() else { return };
    let note = LogRecord { level, text: text() };
    let mut notes = NOTES.lock();
    if notes.len() < MOST {
        notes.push(note);
    }
    drop(notes);
    ring();
}

/// Takes all queued records, oldest first.
pub fn take() -> Vec<LogRecord> {
    std::mem::take(&mut *NOTES.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_records_are_queued_in_order_up_to_a_bound_after_wakeup_is_set() {
        log(LogLevel::Info, || "lost".to_owned());
        assert!(take().is_empty());
        set_wakeup(|| {});
        for number in 0..MOST + 5 {
            log(LogLevel::Debug, || number.to_string());
        }
        let texts: Vec<_> = take().into_iter().map(|note| note.text).collect();
        // Other tests of the process may log records meanwhile.
        assert!(texts.len() <= MOST && texts.contains(&"7".to_owned()));
        assert!(texts.iter().position(|text| text == "3") < texts.iter().position(|text| text == "9"));
    }
}
