//! Provides the recording backend for one test at a time.
//!
//! All tests of the process share pools, pooled events and deferred errors. Each test therefore holds a lock while it
//! uses the backend.

#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use pygpu::backend::StreamFlags;
use pygpu::device::Device;
use pygpu::memory::{Allocation, pool};
use pygpu::shutdown;
use pygpu::stream::Stream;

use crate::recording_backend::{Call, Recording};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Recording driver and one of its devices. This value holds the lock that keeps other tests from using the driver.
pub struct Bench {
    pub driver: &'static Recording,
    pub device: Device,
    _turn: MutexGuard<'static, ()>,
}

pub fn bench() -> Bench {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // All tests share one driver, because the process stores pools and pooled events per kind of driver.
    static DRIVER: OnceLock<&'static Recording> = OnceLock::new();
    let driver = DRIVER.get_or_init(Recording::new);
    let device = Device::new(*driver, 0).unwrap();
    pool::set_release_threshold(device, 0).unwrap(); // With threshold 0, PyGPU keeps no freed block for reuse.
    driver.take();
    let _ = shutdown::report_deferred();
    Bench { driver, device, _turn: turn }
}

impl Bench {
    pub fn stream(&self) -> Stream {
        Stream::create(self.device, StreamFlags::default()).unwrap()
    }

    pub fn block(&self, stream: &Stream) -> Arc<Allocation> {
        let block = Arc::new(Allocation::new(64, stream.clone()).unwrap());
        self.driver.take();
        block
    }

    /// Takes the recorded calls, and returns a pair for each wait: the waiting stream, and the stream of the event for
    /// which it waits.
    pub fn waits(&self) -> Vec<(usize, usize)> {
        let mut recorded = std::collections::HashMap::new();
        let mut waits = Vec::new();
        for call in self.driver.take() {
            match call {
                Call::Record { event, stream } => {
                    recorded.insert(event, stream);
                }
                Call::Wait { stream, event } => waits.push((stream, recorded[&event])),
                _ => {}
            }
        }
        waits
    }
}
