//! The kernels themselves: compiled when first needed, kept for each device, given up where there is no compiler.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::class::Class;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{self, Function, Module, Source};

/// Which kernel: what its source is compiled with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Variant {
    pub(super) class: Class,
    pub(super) unit: i64,
    pub(super) rank: usize,
    pub(super) group: i64,
    pub(super) lanes: i64,
}

/// A device as long as it is not reset.
type Place = (usize, usize, u32);

/// Kernels that were compiled, and `None` for what could not be: it is not tried again.
type Known = HashMap<(Place, Variant), Option<Function>>;

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

/// Held for moments only: not while something is compiled.
fn known() -> MutexGuard<'static, Option<Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernel; `None` where there is no way to have it.
pub(super) fn function(device: Device, variant: Variant) -> Option<Function> {
    let key = ((device.kind() as usize, device.slot(), device.epoch()), variant);
    if let Some(found) = known().as_ref().and_then(|known| known.get(&key)) {
        return found.clone();
    }
    let (found, is_final) = match make(device, variant) {
        Ok(function) => (Some(function), true),
        // What a driver refuses now it may take later: full memory, a device that is busy with something else.
        Err(error) => (None, !matches!(error, Error::Driver(_) | Error::OutOfMemory(_) | Error::Forked { .. })),
    };
    if is_final {
        known().get_or_insert_default().insert(key, found.clone());
    }
    found
}

fn make(device: Device, variant: Variant) -> Result<Function> {
    let source = variant.source();
    let built = kernel::build_searching(device, &source)?;
    Module::of_source(device, source, built)?.function(variant.name())
}

impl Variant {
    const fn name(&self) -> &'static str {
        match self.class {
            Class::Lines => "move_lines",
            Class::Flat { .. } => "move_flat",
            Class::Squares { .. } => "move_squares",
            Class::Tiles { .. } => "move_tiles",
        }
    }

    fn source(&self) -> Source {
        let mut defined = vec![("UNIT", self.unit), ("DIMS", self.rank as i64)];
        let text = match self.class {
            Class::Lines => include_str!("device/lines.cu"),
            Class::Flat { wide } => {
                defined.push(("WIDE", i64::from(wide)));
                include_str!("device/flat.cu")
            }
            Class::Squares { vector } => {
                defined.extend([("VECTOR", vector), ("GROUP", self.group), ("LANES_Y", self.lanes)]);
                include_str!("device/squares.cu")
            }
            Class::Tiles { x, y } => {
                defined.extend([("TILE_X", x), ("TILE_Y", y), ("GROUP", self.group)]);
                include_str!("device/tiles.cu")
            }
        };
        Source {
            text: [include_str!("device/common.cu"), text].concat(),
            name: format!("{}.cu", self.name()),
            options: defined.into_iter().map(|(name, value)| format!("-D{name}={value}")).collect(),
            ..Source::default()
        }
    }
}
