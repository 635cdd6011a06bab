//! Compiles several kernel sources as one translation unit, because starting a compiler and reading its headers takes
//! longer than compiling a kernel.
//!
//! While sources are being collected, each source that has no cached image is recorded, and its compilation is reported
//! as failed. Then sources with equal beginnings ("heads") become one translation unit, in which each kernel has a
//! number appended to its name. Each source gets the unit's library as its image; the number is stored in a word of the
//! ELF header that is unused on the supported processors. A unit that does not compile, or for which the compiler prints
//! a message, is discarded. Its sources are compiled individually when they are requested.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::images::{folder, keep};
use crate::kernel::engine::{Build, build};
use crate::rtc;

/// Maximum number of sources per unit. The image of each source contains all kernels of its unit, so larger units would
/// make large images.
const MOST: usize = 32;
const KERNEL: &str = "extern \"C\" __global__ ";
/// Position of `e_flags` in a 64-bit ELF file.
const FLAGS: std::ops::Range<usize> = 48..52;

/// Source of one kernel, without the beginning ("head") that other sources of the unit also have.
struct Source {
    name: String,
    kernel: String,
    place: PathBuf,
}

/// Collected sources, grouped by compiler options and common head.
type Units = BTreeMap<(Vec<String>, String), Vec<Source>>;

static COLLECTED: Mutex<Option<Units>> = Mutex::new(None);

/// Records a source, if sources are being collected and the source can be compiled in a unit. Returns whether it was
/// recorded.
pub fn collect(task: &Build<'_>, source: &str, place: &PathBuf) -> bool {
    let mut collected = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(units), Some((head, kernel))) = (collected.as_mut(), source.split_once(KERNEL)) else { return false };
    let name = task.name.trim_end_matches(".cu");
    if kernel.contains("__global__")
        || kernel.matches(&format!(" {name}(")).count() != 1
        || !task.expressions.is_empty()
    {
        return false;
    }
    let unit = units.entry((task.options.to_vec(), head.to_owned())).or_default();
    if unit.iter().all(|known| known.place != *place) {
        unit.push(Source { name: name.to_owned(), kernel: kernel.to_owned(), place: place.clone() });
    }
    true
}

/// Starts collecting sources. Returns false if `PYGPU_SIM_IMAGES` names no folder for images.
pub fn collect_sources() -> bool {
    let units = folder().map(|_| Units::new());
    let can_be = units.is_some();
    *COLLECTED.lock().unwrap_or_else(PoisonError::into_inner) = units;
    can_be
}

/// Compiles the collected sources; returns the number of images that were stored.
pub fn compile_together() -> usize {
    let units = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    let parts =
        units.iter().flat_map(|((options, head), sources)| sources.chunks(MOST).map(move |part| (options, head, part)));
    parts.map(|(options, head, part)| compile(options, head, part).unwrap_or(0)).sum()
}

/// Compiles one unit, and stores the library as the image of each of its sources.
fn compile(options: &[String], head: &str, sources: &[Source]) -> Option<usize> {
    if sources.len() < 2 {
        return None;
    }
    let mut text = head.to_owned();
    for (number, Source { name, kernel, .. }) in sources.iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "{KERNEL}{}",
            kernel.replacen(&format!(" {name}("), &format!(" {}(", numbered(name, number as u32)), 1)
        );
    }
    let task = Build { source: &text, name: "pygpu_unit.cu", options, force_include: &[], expressions: &[] };
    let mut made = build(rtc::compiler().ok()?, &task).ok().filter(|made| made.log.is_empty())?;
    for (number, source) in (1u32..).zip(sources) {
        made.image.get_mut(FLAGS)?.copy_from_slice(&number.to_le_bytes());
        keep(&source.place, &made.image).ok()?;
    }
    Some(sources.len())
}

/// Returns the name of a kernel in a unit: its own name with the number appended.
pub fn numbered(name: &str, number: u32) -> String {
    format!("{name}_{number}")
}

/// Splits a stored image into the kernel number that `compile` inserted and the original image of the compiler. Returns
/// `None` if the image contains no kernel number.
pub fn chosen(image: &[u8]) -> Option<(u32, Vec<u8>)> {
    let flags = image.get(FLAGS)?.try_into().ok()?;
    let number = u32::from_le_bytes(flags).checked_sub(1)?;
    let mut plain = image.to_vec();
    plain[FLAGS].fill(0);
    Some((number, plain))
}
