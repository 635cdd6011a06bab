//! Stores the current stream of each thread.

use std::cell::RefCell;

use super::Stream;
use crate::Device;

thread_local! {
    static CURRENT: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

/// Returns the calling thread's current stream of a device.
#[inline]
pub fn current(device: Device) -> Stream {
    let top = CURRENT.try_with(|stack| stack.borrow().iter().rev().find(|stream| stream.device == device).cloned());
    top.ok().flatten().unwrap_or_else(|| Stream::default_of(device))
}

/// Returns the calling thread's current stream, for a caller that stores the stream beyond the current call. If another
/// library owns the current stream, returns the default stream, because the other library may destroy its stream before
/// the stored stream is used.
pub fn own_current(device: Device) -> Stream {
    let current = current(device);
    if current.is_foreign() { Stream::default_of(device) } else { current }
}

/// Makes a stream the calling thread's current stream on the stream's device.
pub fn push_current(stream: Stream) {
    CURRENT.with(|stack| stack.borrow_mut().push(stream));
}

/// Undoes the latest `push_current` of this stream on the calling thread. Returns `false` if this stream was not pushed
/// on this thread.
pub fn pop_current(stream: &Stream) -> bool {
    let removed = CURRENT.with(|stack| {
        let mut stack = stack.borrow_mut();
        let position = stack.iter().rposition(|other| other == stream);
        position.map(|position| stack.remove(position))
    });
    removed.is_some()
}
