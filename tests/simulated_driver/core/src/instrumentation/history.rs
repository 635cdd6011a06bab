//! Records the recent accesses to the bytes of a block, and checks whether a new access is ordered after them.

use std::collections::VecDeque;

use crate::byte_region::Region;
use crate::vector_clock::Clock;

/// Describes one access of an operation to a block.
#[derive(Clone, Debug)]
pub struct Touch {
    /// Bytes that the operation accesses.
    pub region: Region,
    /// Whether the access is a write.
    pub write: bool,
    /// Stream of the operation.
    pub stream: u64,
    /// Number of the operation within its stream.
    pub number: u64,
    /// Name of the driver function that submitted the operation.
    pub call: &'static str,
}

/// Holds the recent accesses to one block.
#[derive(Default, Debug)]
pub struct History(VecDeque<Touch>);

/// Maximum number of recorded accesses. The oldest accesses are dropped, so races with them are not detected.
const MOST: usize = 128;

impl History {
    /// Records an access of an operation that is ordered after the operations in `clock`. Returns the first earlier
    /// access with which it races. `known` returns the number of the last operation of a stream that the host has
    /// observed to be complete.
    pub fn note(&mut self, touch: Touch, clock: &Clock, known: impl Fn(u64) -> u64) -> Option<Touch> {
        let mut race = None;
        self.0.retain(|old| {
            if old.number <= known(old.stream) {
                return false;
            }
            let ordered = old.stream == touch.stream || old.number <= clock.at(old.stream);
            if !ordered && race.is_none() && (old.write || touch.write) && old.region.overlaps(&touch.region) {
                race = Some(old.clone());
            }
            // Drop older accesses that are ordered before the new access: every operation that is ordered after the new
            // access is also ordered after these older accesses.
            !(ordered && (touch.write || !old.write) && touch.region.covers(&old.region))
        });
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(touch);
        race
    }

    /// Returns the first recorded access that is not ordered before a new operation on `stream`. The new operation is
    /// ordered after the operations in `clock`.
    pub fn unordered(&self, stream: u64, clock: &Clock, known: impl Fn(u64) -> u64) -> Option<&Touch> {
        let mut touches = self.0.iter();
        touches.find(|old| old.stream != stream && old.number > known(old.stream) && old.number > clock.at(old.stream))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;

    fn touch(stream: u64, number: u64, start: u64, bytes: u64, write: bool) -> Touch {
        Touch { region: Region::line(start, bytes).unwrap(), write, stream, number, call: "call" }
    }

    #[test]
    fn read_does_not_race_with_read_but_write_does() {
        let mut history = History::default();
        assert!(history.note(touch(1, 1, 0, 8, false), &Clock::default(), |_| 0).is_none());
        assert!(history.note(touch(2, 1, 0, 8, false), &Clock::default(), |_| 0).is_none());
        let raced = history.note(touch(3, 1, 4, 8, true), &Clock::default(), |_| 0);
        assert_eq!(raced.unwrap().stream, 1);
    }

    #[test]
    fn accesses_ordered_by_clock_or_host_wait_do_not_race() {
        let mut history = History::default();
        let mut clock = Clock::default();
        clock.raise(1, 4);
        assert!(history.note(touch(1, 4, 0, 8, true), &Clock::default(), |_| 0).is_none());
        assert!(history.note(touch(2, 1, 0, 4, false), &clock, |_| 0).is_none());
        assert!(
            history.note(touch(3, 1, 4, 4, false), &Clock::default(), |stream| u64::from(stream == 1) * 4).is_none()
        );
    }

    #[test]
    fn history_of_block_used_by_one_stream_stays_short() {
        let mut history = History::default();
        for number in 1..10_000 {
            let touch = touch(1, number, 0, 8, number % 3 == 0);
            assert!(history.note(touch, &Clock::default(), |_| 0).is_none());
        }
        assert!(history.0.len() <= 3, "{}", history.0.len());
    }
}
