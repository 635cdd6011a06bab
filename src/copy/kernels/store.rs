//! The kernels themselves: compiled when first needed, kept for each device, given up where there is no compiler.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::global::{Global, Guard};
use crate::kernel::{self, Function, Source};

/// The file of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum File {
    Lines,
    Flat,
    Squares,
    Tiles,
    Select,
    Places,
}

impl File {
    const fn text(self) -> &'static str {
        match self {
            Self::Lines => include_str!("device/lines.cu"),
            Self::Flat => include_str!("device/flat.cu"),
            Self::Squares => include_str!("device/squares.cu"),
            Self::Tiles => include_str!("device/tiles.cu"),
            Self::Select => include_str!("device/select.cu"),
            Self::Places => include_str!("device/places.cu"),
        }
    }
}

/// Which kernel: its name, and what its source is compiled with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Variant {
    file: File,
    name: &'static str,
    defined: SmallVec<[(&'static str, i64); 7]>,
}

/// A device as long as it is not reset.
type Place = (usize, usize, u32);

/// Kernels that were compiled, and `None` for what could not be: it is not tried again.
type Known = HashMap<(Place, Variant), Option<Function>>;

static KNOWN: Global<Option<Known>> = Global::new(None);

/// Held for moments only: not while something is compiled.
fn known() -> Guard<Option<Known>> {
    KNOWN.lock()
}

/// The kernel; `None` where there is no way to have it.
pub(super) fn function(device: Device, variant: Variant) -> Option<Function> {
    let key = ((device.kind() as usize, device.slot(), device.epoch()), variant);
    if let Some(found) = known().as_ref().and_then(|known| known.get(&key)) {
        return found.clone();
    }
    let (found, is_final) = match make(device, &key.1) {
        Ok(function) => (Some(function), true),
        // What a driver refuses now it may take later: full memory, a device that is busy with something else.
        Err(error) => (None, !matches!(error, Error::Driver(_) | Error::OutOfMemory(_) | Error::Forked { .. })),
    };
    if is_final {
        known().get_or_insert_default().insert(key, found.clone());
    }
    found
}

fn make(device: Device, variant: &Variant) -> Result<Function> {
    let source = variant.source();
    kernel::load_searching(device, &source)?.function(variant.name)
}

impl Variant {
    pub(super) fn new(file: File, name: &'static str, defined: impl IntoIterator<Item = (&'static str, i64)>) -> Self {
        Self { file, name, defined: defined.into_iter().collect() }
    }

    /// The same kernel, compiled with one definition more.
    pub(super) fn with(mut self, name: &'static str, value: i64) -> Self {
        self.defined.push((name, value));
        self
    }

    fn source(&self) -> Source {
        Source {
            text: [include_str!("device/common.cu"), self.file.text()].concat(),
            name: format!("{}.cu", self.name),
            options: self.defined.iter().map(|(name, value)| format!("-D{name}={value}")).collect(),
            ..Source::default()
        }
    }
}
