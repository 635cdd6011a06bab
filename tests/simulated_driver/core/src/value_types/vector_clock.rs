//! Defines the vector clock of an operation: for each stream, how many of that stream's operations happen before this
//! operation.
//!
//! A stream without an entry has the number 0. `State::learn` removes entries for operations that the host has observed
//! to be complete, so that clocks stay small.

/// Pairs of a stream and an operation number: the stream's last operation that happens before the owner of this clock,
/// which is an operation or a point.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Clock(Vec<(u64, u64)>);

impl Clock {
    /// Returns the number of the last operation of `stream` that happens before the operation to which this clock
    /// belongs.
    pub fn at(&self, stream: u64) -> u64 {
        self.0.binary_search_by_key(&stream, |entry| entry.0).map_or(0, |place| self.0[place].1)
    }

    /// Records that operation `number` of a stream, and all earlier operations of that stream, happen before the
    /// operation to which this clock belongs.
    pub fn raise(&mut self, stream: u64, number: u64) {
        if number == 0 {
            return;
        }
        match self.0.binary_search_by_key(&stream, |entry| entry.0) {
            Ok(place) => self.0[place].1 = self.0[place].1.max(number),
            Err(place) => self.0.insert(place, (stream, number)),
        }
    }

    /// Adds all operations that are recorded in the clock `other`.
    pub fn join(&mut self, other: &Self) {
        for &(stream, number) in &other.0 {
            self.raise(stream, number);
        }
    }

    /// Keeps only the entries for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(u64, u64) -> bool) {
        self.0.retain(|&(stream, number)| keep(stream, number));
    }

    /// Returns the entries as pairs of a stream and an operation number.
    pub fn entries(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    #![allow(missing_docs)]
    use super::*;

    #[test]
    fn clock_join_takes_maximum_per_stream() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.raise(1, 5);
        a.raise(3, 1);
        b.raise(3, 4);
        b.raise(2, 2);
        a.join(&b);
        assert_eq!(a.entries().collect::<Vec<_>>(), [(1, 5), (2, 2), (3, 4)]);
        assert_eq!((a.at(3), a.at(9)), (4, 0));
        a.retain(|stream, _| stream != 3);
        assert_eq!(a.at(3), 0);
    }
}
