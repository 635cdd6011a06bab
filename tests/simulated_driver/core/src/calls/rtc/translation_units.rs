//! Compiles several kernel sources as one translation unit, because starting a compiler and reading its headers takes
//! longer than compiling a kernel.
//!
//! While sources are being collected, each source that has no cached image is recorded, and its compilation is reported
//! as failed. Then up to [`MOST`] sources become one translation unit. Sources with equal beginnings ("heads") share one
//! namespace of the unit, and each kernel has a number appended to its name. Each source gets the unit's library as its
//! image; the number is stored in a word of the ELF header that is unused on the supported processors. A unit that does
//! not compile, or for which the compiler prints a message, is replaced by one unit for each head. If such a unit does
//! not compile either, its sources are compiled individually when they are requested.

use std::collections::{BTreeMap, BTreeSet};
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
/// Beginning of the name of a head's namespace in a unit.
const NAMESPACE: &str = "pygpu_head_";
/// Position of `e_flags` in a 64-bit ELF file.
const FLAGS: std::ops::Range<usize> = 48..52;

/// Source of one kernel, without the beginning ("head") that other sources of the unit also have.
struct Source {
    name: String,
    kernel: String,
    place: PathBuf,
}

/// Collected sources, grouped by compiler options, then by common head.
type Collected = BTreeMap<Vec<String>, BTreeMap<String, Vec<Source>>>;

/// The sources of a unit: each head with its kernels.
type Unit<'a> = Vec<(&'a str, &'a [Source])>;

static COLLECTED: Mutex<Option<Collected>> = Mutex::new(None);

/// Records a source, if sources are being collected and the source can be compiled in a unit. Returns whether it was
/// recorded.
pub fn collect(task: &Build<'_>, source: &str, place: &PathBuf) -> bool {
    let mut collected = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(groups), Some((head, kernel))) = (collected.as_mut(), source.split_once(KERNEL)) else { return false };
    let name = task.name.trim_end_matches(".cu");
    // PyGPU does not repeat a failed compilation of a kernel that moves elements, but uses the host instead.
    if name.starts_with("move_")
        || kernel.contains("__global__")
        || kernel.matches(&format!(" {name}(")).count() != 1
        || !task.expressions.is_empty()
    {
        return false;
    }
    let heads = groups.entry(task.options.to_vec()).or_default();
    let sources = heads.entry(head.to_owned()).or_default();
    if sources.iter().all(|known| known.place != *place) {
        sources.push(Source { name: name.to_owned(), kernel: kernel.to_owned(), place: place.clone() });
    }
    true
}

/// Starts collecting sources. Returns false if `PYGPU_SIM_IMAGES` names no folder for images.
pub fn collect_sources() -> bool {
    let groups = folder().map(|_| Collected::new());
    let can_be = groups.is_some();
    *COLLECTED.lock().unwrap_or_else(PoisonError::into_inner) = groups;
    can_be
}

/// Compiles the collected sources; returns the number of images that were stored.
pub fn compile_together() -> usize {
    let groups = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    let mut images = 0;
    for (options, heads) in &groups {
        for unit in units(heads) {
            let parts = if unit.len() > 1 { unit.as_slice() } else { &[] };
            images += compile(options, &unit)
                .unwrap_or_else(|| parts.iter().filter_map(|part| compile(options, std::slice::from_ref(part))).sum());
        }
    }
    images
}

/// Divides sources into units of at most `MOST` kernels. The sources of one head stay together if they fit.
fn units(heads: &BTreeMap<String, Vec<Source>>) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::new();
    let mut room = 0;
    for (head, sources) in heads {
        for part in sources.chunks(MOST) {
            match units.last_mut().filter(|_| part.len() <= room) {
                Some(unit) => unit.push((head, part)),
                None => {
                    units.push(vec![(head, part)]);
                    room = MOST;
                }
            }
            room -= part.len();
        }
    }
    units
}

/// Compiles one unit, and stores the library as the image of each of its sources. Returns the number of images, or
/// `None` if the unit has one source or does not compile.
fn compile(options: &[String], unit: &[(&str, &[Source])]) -> Option<usize> {
    let kernels: usize = unit.iter().map(|(_, sources)| sources.len()).sum();
    if kernels < 2 {
        return None;
    }
    let text = if let [(head, sources)] = unit { joined(head, sources, 0) } else { in_namespaces(unit) };
    let task = Build { source: &text, name: "pygpu_unit.cu", options, force_include: &[], expressions: &[] };
    let mut made = build(rtc::compiler().ok()?, &task).ok().filter(|made| made.log.is_empty())?;
    for (number, source) in (1u32..).zip(unit.iter().flat_map(|(_, sources)| *sources)) {
        made.image.get_mut(FLAGS)?.copy_from_slice(&number.to_le_bytes());
        keep(&source.place, &made.image).ok()?;
    }
    Some(kernels)
}

/// Returns a head and its kernels. `first` is the number of the first kernel.
fn joined(head: &str, sources: &[Source], first: u32) -> String {
    let mut text = head.to_owned();
    for (number, Source { name, kernel, .. }) in (first..).zip(sources) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "{KERNEL}{}",
            kernel.replacen(&format!(" {name}("), &format!(" {}(", numbered(name, number)), 1)
        );
    }
    text
}

/// Returns a unit's text with a namespace for each head, because heads define different types by the same names. The
/// headers that the heads include come before all namespaces. Macros that a head defines end with its namespace.
fn in_namespaces(unit: &[(&str, &[Source])]) -> String {
    let (mut includes, mut text, mut first) = (String::new(), String::new(), 0);
    for (number, (head, sources)) in unit.iter().enumerate() {
        let joined = joined(head, sources, first);
        first += sources.len() as u32;
        let directives = |name: &'static str| {
            let directives = joined.lines().filter_map(|line| line.trim_start().strip_prefix('#'));
            directives.filter_map(move |line| line.trim_start().strip_prefix(name))
        };
        includes.extend(directives("include").map(|file| format!("#include{file}\n")));
        let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_';
        let macros: BTreeSet<&str> =
            directives("define ").filter_map(|text| text.trim_start().split(is_end).next()).collect();
        text.extend(macros.iter().map(|name| format!("#pragma push_macro(\"{name}\")\n")));
        let _ = writeln!(text, "namespace {NAMESPACE}{number} {{\n{joined}\n}}");
        text.extend(macros.iter().map(|name| format!("#pragma pop_macro(\"{name}\")\n")));
    }
    includes + &text
}

/// Returns the own name of the kernel with a number. `listed` is a name in the library of a unit.
pub fn own_name(listed: &str, number: u32) -> Option<&str> {
    let name = listed.strip_suffix(&numbered("", number))?;
    let in_namespace = name.strip_prefix(NAMESPACE).and_then(|rest| rest.split_once("::"));
    Some(in_namespace.map_or(name, |(_, name)| name))
}

/// Returns the name of a kernel in a unit, without its namespace: its own name with the number appended.
fn numbered(name: &str, number: u32) -> String {
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
