//! Manages the free ranges of a device's address space.
//!
//! A freed range first goes into quarantine, where its addresses are not reused. A use of the range after its free is
//! therefore detected, and does not access a new block.

use std::collections::{BTreeMap, VecDeque};

/// Manages the free ranges of an address space.
pub struct Ranges {
    free: BTreeMap<u64, u64>,
    quarantine: VecDeque<(u64, u64)>,
    quarantined: u64,
    /// Maximum number of bytes in quarantine.
    keep: u64,
}

impl Ranges {
    /// Creates an address space in which `start .. start + bytes` is free.
    pub fn new(start: u64, bytes: u64, keep: u64) -> Self {
        Self { free: BTreeMap::from([(start, bytes)]), quarantine: VecDeque::new(), quarantined: 0, keep }
    }

    /// Takes the first free range that is long enough; returns its first address, or `None` if there is no such range.
    pub fn take(&mut self, bytes: u64) -> Option<u64> {
        self.first_fit(bytes).or_else(|| {
            while let Some((start, length)) = self.quarantine.pop_front() {
                self.release(start, length);
            }
            self.quarantined = 0;
            self.first_fit(bytes)
        })
    }

    fn first_fit(&mut self, bytes: u64) -> Option<u64> {
        let (start, length) = self.free.iter().find(|(_, length)| **length >= bytes).map(|(s, l)| (*s, *l))?;
        self.free.remove(&start);
        if length > bytes {
            self.free.insert(start + bytes, length - bytes);
        }
        Some(start)
    }

    /// Frees a range; its addresses go into quarantine first.
    pub fn give(&mut self, start: u64, bytes: u64) {
        self.quarantine.push_back((start, bytes));
        self.quarantined += bytes;
        while self.quarantined > self.keep {
            let Some((start, length)) = self.quarantine.pop_front() else { break };
            self.quarantined -= length;
            self.release(start, length);
        }
    }

    fn release(&mut self, mut start: u64, mut bytes: u64) {
        if let Some(after) = self.free.remove(&(start + bytes)) {
            bytes += after;
        }
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            self.free.remove(&before);
            (start, bytes) = (before, length + bytes);
        }
        self.free.insert(start, bytes);
    }
}

#[cfg(test)]
mod tests {
    #![allow(missing_docs)]
    use super::*;

    #[test]
    fn adjacent_free_ranges_are_merged() {
        let mut ranges = Ranges::new(100, 30, 0);
        let all = [ranges.take(10), ranges.take(10), ranges.take(10)];
        assert_eq!((all, ranges.take(1)), ([Some(100), Some(110), Some(120)], None));
        ranges.give(110, 10);
        ranges.give(120, 10);
        ranges.give(100, 10);
        assert_eq!(ranges.take(30), Some(100));
    }

    #[test]
    fn freed_range_stays_in_quarantine_while_other_ranges_fit() {
        let mut ranges = Ranges::new(0, 20, 100);
        assert_eq!(ranges.take(10), Some(0));
        ranges.give(0, 10);
        assert_eq!((ranges.take(10), ranges.take(10)), (Some(10), Some(0)));
    }
}
