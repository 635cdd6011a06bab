//! Orders that a device may choose, drawn from a seed: operations are held back until the host waits for them.
//!
//! Where nothing orders two operations a device may run them either way round, but threads that run what they get as soon as
//! they can nearly always choose the order of submission, in which a missing wait does no harm. So an operation is held back,
//! or not, as the seed says of its stream and its number. It goes on when the host waits for something that is ordered
//! behind it, and at the latest after [`LONGEST`], since a device gets on by itself. What nobody waits for is thus overtaken by
//! everything that somebody waits for, and the same seed holds back the same operations, however quick the machine is.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::state::{Locked, Point, State};

/// So long a device rests with something to do.
const LONGEST: Duration = Duration::from_millis(20);

/// What is drawn from, and how far the host waits for each stream.
#[derive(Default)]
pub(crate) struct Reordering {
    /// `None`: everything runs as soon as it can.
    seed: Option<u64>,
    demanded: HashMap<u64, u64>,
}

impl Reordering {
    pub(crate) fn of(config: &Config) -> Self {
        Self { seed: config.reorders.then_some(config.seed), demanded: HashMap::new() }
    }
}

impl State {
    /// Whether the seed holds back an operation.
    pub(crate) fn is_held_back(&self, (stream, number): Point) -> bool {
        let Some(seed) = self.reordering.seed else { return false };
        // Of three streams one runs at once, one late, and one as it comes.
        match mixed(seed, stream, 0) % 3 {
            0 => false,
            1 => true,
            _ => mixed(seed, stream, number).is_multiple_of(2),
        }
    }

    fn is_demanded(&self, (stream, number): Point) -> bool {
        self.ended || self.reordering.demanded.get(&stream).is_some_and(|&wanted| wanted >= number)
    }

    /// The host waits for these points: what they are ordered behind is held back no longer.
    pub(crate) fn demand(&mut self, points: &[Point]) {
        if self.reordering.seed.is_none() {
            return;
        }
        let mut wanted = points.to_vec();
        while let Some((stream, number)) = wanted.pop() {
            let before = self.reordering.demanded.entry(stream).or_default();
            if *before >= number {
                continue;
            }
            *before = number;
            let Some(stream) = self.streams.get(&stream) else { continue };
            wanted.extend(stream.ordered_before(number));
            stream.wake.notify_all();
        }
    }

    /// Lets go of the lock as long as an operation, which was submitted then, is held back.
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

/// Vigna's splitmix64 over the three.
fn mixed(seed: u64, stream: u64, number: u64) -> u64 {
    let step = |bits: u64| {
        let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    step(step(step(seed) ^ stream) ^ number)
}
