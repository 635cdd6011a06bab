//! Injects faults into calls, and counts the calls of each function.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Effect of an injected fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// The call returns the error code and has no other effect. The number counts the successive calls that fail.
    Times(u64),
    /// The call returns the error code, and every later call that needs the device's context returns the same code.
    Sticky,
    /// The call succeeds. Its work fails when it is executed, and the context is unusable from then on.
    Asynchronous,
}

/// Describes a fault that a test injects into a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Exported name of the function that shall fail.
    pub name: String,
    /// Selects the call that fails, counted from now on: 1 is the next call of the function.
    pub nth: u64,
    /// Error code that the call returns.
    pub code: u32,
    /// Effect of the fault.
    pub manner: Manner,
}

impl Fault {
    /// Parses one fault of `PYGPU_SIM_FAULT`, `name:nth:code[:times|sticky|async]`: the name of the function, the
    /// number of the call that fails, its error code, and how many calls fail.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split(':');
        let name = parts.next().filter(|name| !name.is_empty())?.to_owned();
        let (nth, code) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let manner = match parts.next() {
            None => Manner::Times(1),
            Some("sticky") => Manner::Sticky,
            Some("async") => Manner::Asynchronous,
            Some(times) => Manner::Times(times.parse().ok()?),
        };
        parts.next().is_none().then_some(Self { name, nth, code, manner })
    }
}

#[derive(Default)]
struct Table {
    counts: HashMap<&'static str, u64>,
    armed: Vec<Fault>,
}

/// Injected faults that have not occurred yet, and how often each function was called.
#[derive(Default)]
pub struct Faults(Mutex<Table>);

impl Faults {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call of a function. If an injected fault selects this call, returns the error code and the effect.
    pub fn count(&self, name: &'static str) -> Option<(u32, Manner)> {
        let mut table = self.table();
        *table.counts.entry(name).or_insert(0) += 1;
        if table.armed.is_empty() {
            return None;
        }
        let mut found = None;
        for fault in table.armed.iter_mut().filter(|fault| fault.name == name) {
            fault.nth = fault.nth.saturating_sub(1);
            if fault.nth == 0 && found.is_none() {
                found = Some((fault.code, fault.manner));
                match &mut fault.manner {
                    // The remaining repetitions affect the next calls of the function.
                    Manner::Times(times) if *times > 1 => (fault.nth, *times) = (1, *times - 1),
                    _ => fault.name.clear(),
                }
            }
        }
        table.armed.retain(|fault| !fault.name.is_empty());
        found
    }

    /// Injects a fault.
    pub fn arm(&self, fault: Fault) {
        self.table().armed.push(fault);
    }

    /// Removes all faults that have not occurred yet.
    pub fn clear(&self) {
        self.table().armed.clear();
    }

    /// Returns how often a function was called.
    pub fn calls(&self, name: &str) -> u64 {
        self.table().counts.get(name).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;

    fn codes(faults: &Faults, name: &'static str, calls: usize) -> Vec<u32> {
        (0..calls).map(|_| faults.count(name).map_or(0, |fault| fault.0)).collect()
    }

    #[test]
    fn fault_occurs_on_nth_call_and_requested_times() {
        let faults = Faults::default();
        faults.count("other");
        faults.arm(Fault::parse("call:2:999:3").unwrap());
        assert_eq!(codes(&faults, "call", 6), [0, 999, 999, 999, 0, 0]);
        assert_eq!((faults.calls("call"), faults.calls("other"), faults.calls("none")), (6, 1, 0));
    }

    #[test]
    fn two_faults_of_one_function_both_occur() {
        let faults = Faults::default();
        faults.arm(Fault::parse("call:1:2").unwrap());
        faults.arm(Fault::parse("call:3:700:sticky").unwrap());
        assert_eq!(codes(&faults, "call", 4), [2, 0, 700, 0]);
        faults.arm(Fault::parse("call:1:2").unwrap());
        faults.clear();
        assert_eq!(codes(&faults, "call", 1), [0]);
    }

    #[test]
    fn fault_parse_rejects_invalid_text() {
        for text in ["", "call", "call:1", "call:x:2", ":1:2", "call:1:2:often", "call:1:2:3:4"] {
            assert_eq!(Fault::parse(text), None, "{text}");
        }
    }
}
