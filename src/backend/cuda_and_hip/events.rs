//! Creates, records and queries events of CUDA or HIP.

use std::ffi::c_uint;

use super::current_context::{CurrentDeviceGuard, VendorContexts};
use super::driver::Driver;
use super::symbols::Raw;
use crate::error_codes::NOT_READY;
use crate::{EventFlags, EventHandle, Events, StreamHandle};
use pygpu_base::error::Result;

pub const BLOCKING_SYNC: c_uint = 1;
pub const DISABLE_TIMING: c_uint = 2;
pub const INTERPROCESS: c_uint = 4;

/// Vendor-specific part of events, which CUDA and HIP implement differently.
pub trait VendorEvents: VendorContexts {
    /// Implements [`Events::record_event_of_device`].
    ///
    /// # Safety
    /// The event is alive and belongs to the device.
    unsafe fn record_of_device(driver: &Driver<Self>, device: i32, event: EventHandle) -> Result<bool>;
}

pub fn described(event: EventHandle) -> String {
    format!("event {:#x}", event.0)
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorEvents> Events for Driver<V> {
    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle> {
        let bits = if flags.blocking_sync { BLOCKING_SYNC } else { 0 }
            | if flags.timing { 0 } else { DISABLE_TIMING }
            | if flags.interprocess { INTERPROCESS } else { 0 };
        let mut event = Raw::NONE;
        self.call(
            device,
            V::NAMES.event_create,
            // SAFETY: the out-parameter is writable.
            |on| unsafe { (on.symbols.event_create)(&mut event, bits) },
            || format!("{flags:?}"),
        )?;
        Ok(EventHandle(event.number()))
    }

    unsafe fn destroy_event(&self, device: i32, event: EventHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.event_destroy,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe { (on.symbols.event_destroy)(Raw::of(event.0)) },
            || described(event),
        )
    }

    #[inline]
    unsafe fn record_event(&self, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.event_record,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe { (on.symbols.event_record)(Raw::of(event.0), Raw::of(stream.0)) },
            || format!("{}, stream {:#x}", described(event), stream.0),
        )
    }

    unsafe fn record_event_of_device(&self, device: i32, event: EventHandle) -> Result<bool> {
        // SAFETY: the caller guarantees the conditions of `record_of_device`.
        unsafe { V::record_of_device(self, device, event) }
    }

    unsafe fn query_event(&self, device: i32, event: EventHandle) -> Result<bool> {
        let mut reached = true;
        let ask = |on: &CurrentDeviceGuard<'_, V>| {
            // SAFETY: the caller guarantees the conditions of the driver call.
            let code = self.beside_captures(|| unsafe { (on.symbols.event_query)(Raw::of(event.0)) });
            reached = code != NOT_READY;
            self.tolerated(code, NOT_READY)
        };
        self.call(device, V::NAMES.event_query, ask, || described(event))?;
        Ok(reached)
    }

    unsafe fn synchronize_event(&self, device: i32, event: EventHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.event_synchronize,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| self.beside_captures(|| unsafe { (on.symbols.event_synchronize)(Raw::of(event.0)) }),
            || described(event),
        )
    }

    unsafe fn elapsed(&self, device: i32, start: EventHandle, end: EventHandle) -> Result<f32> {
        let mut milliseconds = 0.0;
        self.call(
            device,
            V::NAMES.event_elapsed,
            // SAFETY: the caller guarantees the conditions of the driver call; the out-parameter is writable.
            |on| unsafe { (on.symbols.event_elapsed)(&mut milliseconds, Raw::of(start.0), Raw::of(end.0)) },
            || format!("from {} to {}", described(start), described(end)),
        )?;
        Ok(milliseconds)
    }
}
