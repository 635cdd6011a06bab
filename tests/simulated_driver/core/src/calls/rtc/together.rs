//! Sources that are known before they are needed, compiled as few units: a compiler's start and its headers cost more than a kernel.
//!
//! While sources are collected, each that has no image is noted and refused. Then those whose heads are alike become one unit, in which
//! each kernel has a number behind its name, and each source gets the unit's library for an image, with the number in the word of
//! the file's header that no processor of ours reads. A unit that does not compile, or says anything, is none: its sources are
//! compiled one by one when they are asked for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::images::{folder, keep};
use crate::kernel::engine::{Build, build};
use crate::rtc;

/// Of one unit; each of its images holds them all.
const MOST: usize = 32;
const KERNEL: &str = "extern \"C\" __global__ ";
/// `e_flags` of an ELF file of 64 bits.
const FLAGS: std::ops::Range<usize> = 48..52;

/// A source with one kernel, without its head.
struct Source {
    name: String,
    kernel: String,
    place: PathBuf,
}

/// By what they share: options and head.
type Units = BTreeMap<(Vec<String>, String), Vec<Source>>;

static COLLECTED: Mutex<Option<Units>> = Mutex::new(None);

/// Notes a source if sources are collected now and it can be of a unit; whether it did.
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

/// From now on sources are collected; whether they can be.
pub fn collect_sources() -> bool {
    let units = folder().map(|_| Units::new());
    let can_be = units.is_some();
    *COLLECTED.lock().unwrap_or_else(PoisonError::into_inner) = units;
    can_be
}

/// Compiles what was collected; how many images that made.
pub fn compile_together() -> usize {
    let units = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    let parts =
        units.iter().flat_map(|((options, head), sources)| sources.chunks(MOST).map(move |part| (options, head, part)));
    parts.map(|(options, head, part)| compile(options, head, part).unwrap_or(0)).sum()
}

/// One unit, kept for each of its sources.
fn compile(options: &[String], head: &str, sources: &[Source]) -> Option<usize> {
    if sources.len() < 2 {
        return None;
    }
    let mut text = head.to_owned();
    for (number, Source { name, kernel, .. }) in sources.iter().enumerate() {
        // Writing to a string cannot fail.
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

/// What a kernel is called in a unit.
pub fn numbered(name: &str, number: u32) -> String {
    format!("{name}_{number}")
}

/// The number of the kernel that an image of a unit is for, and the image as the compiler made it.
pub fn chosen(image: &[u8]) -> Option<(u32, Vec<u8>)> {
    let flags = image.get(FLAGS)?.try_into().ok()?;
    let number = u32::from_le_bytes(flags).checked_sub(1)?;
    let mut plain = image.to_vec();
    plain[FLAGS].fill(0);
    Some((number, plain))
}
