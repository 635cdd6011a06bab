//! A vendor's library, opened, with its devices.

use std::ffi::c_int;

use super::symbols::{Names, Symbols, Types};
use crate::{BackendKind, TensorMaps};

/// A vendor, and what it keeps beside what both keep.
pub trait Vendor: Types {
    /// The functions that the other vendor has not, or has with other parameters.
    type Api: Send + Sync;
    /// What is kept of a device.
    type Slot: Default + Send + Sync;
    const KIND: BackendKind;
    /// What its library is called in messages.
    const LIBRARY: &str;
    /// The functions' names in the library.
    const SYMBOLS: &'static Names;
    /// Their names in messages.
    const NAMES: &'static Names;
    /// What encodes tensor maps, where the vendor has them.
    fn tensor_maps(_: &Driver<Self>) -> Option<&dyn TensorMaps> {
        None
    }
}

/// What is asked of a device once, when the library is opened.
pub struct Slot<V: Vendor> {
    /// The driver's handle of the device.
    pub handle: c_int,
    /// Pitches above this are refused by the driver.
    pub max_pitch: usize,
    /// Whether the device reads pageable memory by itself, and may therefore do so after a copy has returned.
    pub reads_pageable: bool,
    pub own: V::Slot,
}

/// A vendor's library with at least one device.
pub struct Driver<V: Vendor> {
    pub symbols: Symbols<V>,
    pub api: V::Api,
    pub library: String,
    pub version: i32,
    /// One for each device, in the driver's order.
    pub slots: Box<[Slot<V>]>,
    pub own: V,
}
