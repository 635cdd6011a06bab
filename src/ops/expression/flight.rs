//! The flight of what is being launched: one at a time, taken out of the window.

use std::sync::Condvar;

use super::window::{self, Taken, Window};
use super::{report, run};
use pygpu_backend as backend;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush::{self, Cause, Launching};
use pygpu_base::fork_safe::Guard;
use pygpu_device::shutdown;

static LANDED: Condvar = Condvar::new();

/// What a thread has taken out of the window, and launches.
struct Flight {
    taken: Taken,
    _launching: Launching,
}

impl Drop for Flight {
    fn drop(&mut self) {
        let mut room = std::mem::take(&mut self.taken.nodes);
        room.clear(); // not under the lock: what ends with it may reach a driver
        let mut window = window::lock();
        window.is_flying = false;
        window.remove(self.taken.live);
        window.reuse(room);
        drop(window);
        LANDED.notify_all();
    }
}

/// Waits until no other thread launches anything, and takes out all that waits.
fn take_off(cause: Cause) -> Option<Flight> {
    let mut window: Guard<Window> = window::lock();
    while window.is_flying {
        window = window.wait(&LANDED);
    }
    if window.is_empty() {
        return None;
    }
    let taken = window.take_all();
    window.is_flying = true;
    drop(window);
    report::closed(cause, taken.live);
    Some(Flight { taken, _launching: Launching::begin() })
}

/// Launches all that waits, and waits for who is launching some of it. Not to be called with Python's lock.
///
/// # Errors
/// The first of what failed, which says how many operations did.
pub fn close(cause: Cause) -> Result<()> {
    // Nor from what a driver's stream calls, which may call no driver.
    if flush::is_launching() || shutdown::exiting() || backend::is_host_call() {
        return Ok(());
    }
    if backend::is_forked() {
        abandon();
        return Ok(());
    }
    match take_off(cause) {
        Some(mut flight) => run::all(flight.taken.first, &mut flight.taken.nodes),
        None => Ok(()),
    }
}

/// Drops what waits in a forked child, which has no driver: the parent launches its own.
#[cold]
fn abandon() {
    let mut window = window::lock();
    let Taken { first, nodes, live } = window.take_all();
    window.remove(live);
    drop(window);
    for (number, node) in (first..).zip(&nodes) {
        let forked = || Error::Forked { operation: "the launch of what was put off", backend: "GPU" };
        node.iter()
            .filter(|node| node.target.is_none())
            .for_each(|node| window::remember_failure(number, node, forked()));
    }
}
