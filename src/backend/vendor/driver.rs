//! A vendor's library, opened, with its devices.

use std::ffi::c_int;

use super::symbols::{Names, Symbols, Types};
use crate::{BackendKind, TensorMaps};

/// A vendor, and its state in addition to the common state.
pub trait Vendor: Types {
    /// Functions that the other vendor lacks, or that have other parameters there.
    type Api: Send + Sync;
    /// State of a device.
    type Slot: Default + Send + Sync;
    const KIND: BackendKind;
    /// Name of the library in messages.
    const LIBRARY: &str;
    /// Symbol names in the library.
    const SYMBOLS: &'static Names;
    /// Function names in messages.
    const NAMES: &'static Names;
    /// Returns the interface to tensor maps, if the vendor supports them.
    fn tensor_maps(_: &Driver<Self>) -> Option<&dyn TensorMaps> {
        None
    }
}

/// Device data, queried once when the library is opened.
pub struct DeviceSlot<V: Vendor> {
    /// The driver's handle of the device.
    pub handle: c_int,
    /// Largest pitch that the driver accepts.
    pub max_pitch: usize,
    /// Whether the device reads pageable memory directly, and may therefore do so after a copy has returned.
    pub reads_pageable: bool,
    pub own: V::Slot,
}

/// A vendor's library with at least one device.
pub struct Driver<V: Vendor> {
    pub symbols: Symbols<V>,
    pub api: V::Api,
    pub library: String,
    pub version: i32,
    /// One slot per device, in the driver's order.
    pub slots: Box<[DeviceSlot<V>]>,
    pub own: V,
}
