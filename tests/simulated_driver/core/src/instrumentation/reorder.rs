//! Chooses legal orders of execution by a seed: some operations are held back until the host waits for them.
//!
//! A device may run unordered operations in any order. Threads that run operations as soon as possible nearly always
//! produce the order of submission, in which a missing wait has no effect. Therefore the seed, the stream and the number
//! of an operation determine whether the operation is held back. A held-back operation continues when the host waits for
//! an operation that is ordered after it, and at the latest after [`LONGEST`], because a real device makes progress by
//! itself. Operations for which the host waits thus overtake operations for which the host does not wait. Equal seeds
//! hold back the same operations, independently of the machine's speed.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::state::{Locked, Point, State};

/// Maximum time for which an operation is held back.
const LONGEST: Duration = Duration::from_millis(20);

/// Seed that selects the operations to hold back, and for each stream the last operation for which the host waits.
#[derive(Default)]
pub(crate) struct Reordering {
    /// Seed that selects the operations to hold back. If `None`, every operation runs as soon as possible.
    seed: Option<u64>,
    demanded: HashMap<u64, u64>,
}

impl Reordering {
    pub(crate) fn of(config: &Config) -> Self {
        Self { seed: config.reorders.then_some(config.seed), demanded: HashMap::new() }
    }
}

impl State {
    /// Returns whether the seed selects an operation to be held back.
    pub(crate) fn is_held_back(&self, (stream, number): Point) -> bool {
        let Some(seed) = self.reordering.seed else { return false };
        // One third of the streams runs every operation immediately, one third holds back every operation, and one
        // third holds back operations that the seed selects.
        match mixed(seed, stream, 0) % 3 {
            0 => false,
            1 => true,
            _ => mixed(seed, stream, number).is_multiple_of(2),
        }
    }

    fn is_demanded(&self, (stream, number): Point) -> bool {
        self.ended || self.reordering.demanded.get(&stream).is_some_and(|&wanted| wanted >= number)
    }

    /// Releases all held-back operations that are ordered before `points`, because the host waits for these points.
    pub(crate) fn demand(&mut self, points: &[Point]) {
        if self.reordering.seed.is_none() {
            return;
        }
        let mut pending = points.to_vec();
        while let Some((stream, number)) = pending.pop() {
            let before = self.reordering.demanded.entry(stream).or_default();
            if *before >= number {
                continue;
            }
            *before = number;
            let Some(stream) = self.streams.get(&stream) else { continue };
            pending.extend(stream.ordered_before(number));
            stream.wake.notify_all();
        }
    }

    /// Waits, with the lock released, while an operation is held back. `submitted` is the time of its submission.
    pub(crate) fn hold_back(mut state: Locked<'_>, point: Point, submitted: Instant) -> Locked<'_> {
        if !state.is_held_back(point) {
            return state;
        }
        let end = submitted + LONGEST;
        while !state.is_demanded(point)
            && let Some(rest) = end.checked_duration_since(Instant::now())
        {
            let Some(wake) = state.streams.get(&point.0).map(|stream| stream.wake.clone()) else { break };
            state = wake.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }
}

/// Mixes the three numbers by Vigna's splitmix64 generator.
fn mixed(seed: u64, stream: u64, number: u64) -> u64 {
    let step = |bits: u64| {
        let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    step(step(step(seed) ^ stream) ^ number)
}
