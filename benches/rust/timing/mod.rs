//! Times closures and prints the median time of a call. No benchmark library is used, because such a library depends on
//! fifty crates, which every run of the tests and of clippy would compile.
#![allow(clippy::print_stdout)]

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

const WARM_UP: Duration = Duration::from_millis(200);
/// Duration of one sample, which is long compared with the resolution of the clock.
const SAMPLE: Duration = Duration::from_millis(10);
const SAMPLES: usize = 60;

/// Group of benchmarks with a common heading in the output.
pub struct Group {
    name: String,
    bytes: Option<u64>,
    /// Positional arguments of the program. If there are any, a benchmark runs only if its name contains one of them.
    selected: Vec<String>,
}

impl Group {
    /// Creates a group, whose name precedes the names of its benchmarks.
    pub fn new(name: &str) -> Self {
        let selected = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
        Self { name: name.to_owned(), bytes: None, selected }
    }

    /// Sets the number of bytes that each later benchmark processes per call, so that their rates are printed.
    #[allow(dead_code, reason = "not every program processes bytes")]
    pub fn bytes_per_call(&mut self, bytes: u64) {
        self.bytes = Some(bytes);
    }

    /// Times `call`, and prints the median and the quartiles of the time per call over all samples.
    pub fn time<R>(&self, name: &str, mut call: impl FnMut() -> R) {
        let name = format!("{}/{name}", self.name);
        if !self.selected.is_empty() && !self.selected.iter().any(|part| name.contains(part.as_str())) {
            return;
        }
        let calls = calls_per_sample(&mut call);
        let mut samples: Vec<f64> = (0..SAMPLES).map(|_| seconds_of(calls, &mut call) / calls as f64).collect();
        samples.sort_by(f64::total_cmp);
        let [low, median, high] = [1, 2, 3].map(|quarter| samples[SAMPLES * quarter / 4]);
        let rate = self.bytes.map_or_else(String::new, |bytes| format!("  {:8.2} GB/s", bytes as f64 / median / 1e9));
        println!("{name:50} {:>11}  [{} .. {}]{rate}", readable(median), readable(low), readable(high));
    }
}

/// Calls `call` until the caches are warm, and returns how many calls take as long as one sample.
fn calls_per_sample<R>(call: &mut impl FnMut() -> R) -> u64 {
    let (begun, mut calls) = (Instant::now(), 0_u32);
    while begun.elapsed() < WARM_UP {
        black_box(call());
        calls += 1;
    }
    let each = begun.elapsed() / calls.max(1);
    (SAMPLE.as_nanos() / each.as_nanos().max(1)).clamp(1, u128::from(u32::MAX)) as u64
}

fn seconds_of<R>(calls: u64, call: &mut impl FnMut() -> R) -> f64 {
    let begun = Instant::now();
    for _ in 0..calls {
        black_box(call());
    }
    begun.elapsed().as_secs_f64()
}

fn readable(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-6 => format!("{:.2} ns", seconds * 1e9),
        _ if seconds < 1e-3 => format!("{:.2} us", seconds * 1e6),
        _ => format!("{:.2} ms", seconds * 1e3),
    }
}
