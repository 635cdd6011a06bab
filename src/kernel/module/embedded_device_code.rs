//! Extracts the device code from prebuilt host libraries, so that the driver can load the code.

use std::ops::Range;

use pygpu_backend::BackendKind;
use pygpu_base::error::{Error, Result};

/// Names of the ELF sections in which nvcc and hipcc store device code.
const OF_CUDA: &str = ".nv_fatbin";
const OF_HIP: &str = ".hip_fatbin";
/// First bytes of a fatbin.
pub const FATBIN: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// Returns the ranges of a host library's bytes that the driver loads as separate modules. Empty if the image is not a
/// host library with device code.
///
/// # Errors
/// `ValueError` for a library without code for this kind of device.
pub fn parts(image: &[u8], kind: BackendKind) -> Result<Vec<Range<usize>>> {
    let own = match kind {
        BackendKind::Cuda => OF_CUDA,
        BackendKind::Hip => OF_HIP,
        BackendKind::Cpu => "",
    };
    if let Some(place) = section(image, own) {
        let content = &image[place.clone()];
        let found = if kind == BackendKind::Hip { bundles(content) } else { fatbins(content) };
        if found.is_empty() {
            return Err(Error::value(format!("the library's section {own} has no device code in it")));
        }
        return Ok(found.into_iter().map(|part| place.start + part.start..place.start + part.end).collect());
    }
    match [OF_CUDA, OF_HIP].into_iter().find(|name| section(image, name).is_some()) {
        Some(other) => Err(Error::value(format!(
            "the library has device code for {} (in its section {other}), which the {} backend cannot run: compile its source here",
            if other == OF_CUDA { "NVIDIA's GPUs" } else { "AMD's GPUs" },
            kind.name()
        ))),
        None => Ok(Vec::new()),
    }
}

/// Returns the ranges of consecutive fatbins. A fatbin's header contains the lengths of the header and of the contents.
fn fatbins(section: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(header) = section.get(at..at + 16) {
        let mut step = 8; // bytes by which the search advances if no fatbin begins at the current position
        if header.starts_with(&FATBIN) {
            let rest = number(header, 8, 8).unwrap_or(usize::MAX);
            let length = number(header, 6, 2).unwrap_or(0).saturating_add(rest);
            let end = at.saturating_add(length).min(section.len());
            found.push(at..end);
            step = (end - at).next_multiple_of(8);
        }
        at += step;
    }
    found
}

/// Returns the ranges of consecutive offload bundles. A bundle ends where the next bundle begins. If the section
/// contains a compressed bundle, it contains no other bundle.
fn bundles(section: &[u8]) -> Vec<Range<usize>> {
    if section.starts_with(b"CCOB") {
        return std::iter::once(0..section.len()).collect();
    }
    let starts: Vec<usize> = (0..section.len()).step_by(8).filter(|&at| section[at..].starts_with(BUNDLE)).collect();
    let ends = starts.iter().skip(1).copied().chain([section.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Reads an unsigned little-endian integer of `width` bytes at offset `at`.
pub(super) fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    usize::try_from(bytes.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))).ok()
}

/// Returns the range of a section in a 64-bit ELF file; `None` if the section is missing or the file is truncated.
fn section(image: &[u8], name: &str) -> Option<Range<usize>> {
    if name.is_empty() || !image.starts_with(b"\x7fELF") {
        return None;
    }
    let (first, size, count) = (number(image, 40, 8)?, number(image, 58, 2)?, number(image, 60, 2)?);
    let row = |index: usize| first.checked_add(index.checked_mul(size)?);
    let names = number(image, row(number(image, 62, 2)?)? + 24, 8)?;
    (0..count).find_map(|index| {
        let row = row(index)?;
        let text = image.get(names.checked_add(number(image, row, 4)?)?..)?;
        let (start, length) = (number(image, row + 24, 8)?, number(image, row + 32, 8)?);
        let end = start.checked_add(length).filter(|&end| end <= image.len())?;
        (text.strip_prefix(name.as_bytes())?.first() == Some(&0)).then_some(start..end)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, clippy::single_range_in_vec_init)]
    use super::*;

    fn fatbin(payload: usize) -> Vec<u8> {
        let mut bytes = FATBIN.to_vec();
        bytes.extend([1, 0, 16, 0]);
        bytes.extend((payload as u64).to_le_bytes());
        bytes.extend(std::iter::repeat_n(7, payload));
        bytes
    }

    #[test]
    fn fatbins_separated_by_gaps_are_found() {
        let mut section = fatbin(24);
        section.extend([0; 16]);
        section.extend(fatbin(8));
        assert_eq!(fatbins(&section), [0..40, 56..80]);
        section.truncate(76);
        assert_eq!(fatbins(&section), [0..40, 56..76]); // includes the truncated fatbin, which the backend rejects
        assert!(fatbins(b"").is_empty());
    }

    #[test]
    fn offload_bundle_extends_to_next_bundle() {
        let mut section = BUNDLE.to_vec();
        section.resize(64, 0);
        section.extend(BUNDLE);
        assert_eq!(bundles(&section), [0..64, 64..88]);
        assert_eq!(bundles(b"CCOB..."), [0..7]);
    }

    #[test]
    fn invalid_host_library_has_no_device_code() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for image in [&b""[..], b"\x7fELF", b".version 8.0", &own, &own[..own.len() / 2]] {
            assert!(parts(image, BackendKind::Cuda).unwrap().is_empty());
        }
        assert!(section(&own, ".text").is_some());
    }
}
