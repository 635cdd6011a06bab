//! Defines the type of a vendor's opened library with its devices.

use std::ffi::c_int;

use super::symbols::{Names, Symbols, Types};
use crate::{BackendKind, TensorMaps};

/// A vendor's types and constants. The type that implements this trait contains the state that only this vendor needs.
pub trait Vendor: Types {
    /// Functions that the other vendor's library lacks or has with other parameters.
    type Api: Send + Sync;
    /// State of a device that only this vendor needs.
    type Slot: Default + Send + Sync;
    const KIND: BackendKind;
    /// Name of the driver library in messages.
    const LIBRARY: &str;
    /// Symbol names, in this vendor's library, of the functions that both vendors have.
    const SYMBOLS: &'static Names;
    /// Names, in messages, of the functions that both vendors have.
    const NAMES: &'static Names;
    /// Returns the interface to tensor maps, if the vendor supports them.
    fn tensor_maps(_: &Driver<Self>) -> Option<&dyn TensorMaps> {
        None
    }
}

/// Data of a device, queried once when the library is opened.
pub struct DeviceSlot<V: Vendor> {
    /// The driver's handle of the device.
    pub handle: c_int,
    /// Maximum pitch in bytes of the driver's copies.
    pub max_pitch: usize,
    /// Whether the device reads pageable host memory directly. Such a device may still read this memory after the
    /// function that copies it has returned.
    pub reads_pageable: bool,
    pub own: V::Slot,
}

/// A vendor's opened library, with at least one device.
pub struct Driver<V: Vendor> {
    pub symbols: Symbols<V>,
    pub api: V::Api,
    pub library: String,
    pub version: i32,
    /// The data of each device, in the driver's order of devices.
    pub slots: Box<[DeviceSlot<V>]>,
    pub own: V,
}
