//! Who touched which bytes of a block, as far as it can still matter, and whether a new touch is ordered behind them.

use std::collections::VecDeque;

use crate::clock::Clock;
use crate::region::Region;

/// One use of a block.
#[derive(Clone, Debug)]
pub struct Touch {
    /// Which bytes.
    pub region: Region,
    /// Whether they were written.
    pub write: bool,
    /// By which stream.
    pub stream: u64,
    /// By which of its operations.
    pub number: u64,
    /// What the operation was.
    pub call: &'static str,
}

/// The recent uses of one block.
#[derive(Default, Debug)]
pub struct History(VecDeque<Touch>);

/// Uses beyond this many push out the oldest: a race with those is missed.
const MOST: usize = 128;

impl History {
    /// Notes a touch by an operation that is ordered behind `clock`; the first earlier touch that it races with.
    /// `known` tells how far the host knows each stream to be done.
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
            // Who is ordered behind the new one is ordered behind the old one too.
            !(ordered && (touch.write || !old.write) && touch.region.covers(&old.region))
        });
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(touch);
        race
    }

    /// The first touch that is not ordered before something behind `clock` on `stream`.
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
    fn reads_do_not_race_with_reads() {
        let mut history = History::default();
        assert!(history.note(touch(1, 1, 0, 8, false), &Clock::default(), |_| 0).is_none());
        assert!(history.note(touch(2, 1, 0, 8, false), &Clock::default(), |_| 0).is_none());
        let raced = history.note(touch(3, 1, 4, 8, true), &Clock::default(), |_| 0);
        assert_eq!(raced.unwrap().stream, 1);
    }

    #[test]
    fn order_by_clock_or_by_the_hosts_knowledge_is_no_race() {
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
    fn a_block_used_by_one_stream_keeps_a_short_history() {
        let mut history = History::default();
        for number in 1..10_000 {
            let touch = touch(1, number, 0, 8, number % 3 == 0);
            assert!(history.note(touch, &Clock::default(), |_| 0).is_none());
        }
        assert!(history.0.len() <= 3, "{}", history.0.len());
    }
}
