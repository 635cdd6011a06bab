//! Checks that an ELF file is complete. The system's loader trusts the file's headers, and an access beyond the end of
//! a file or buffer ends the process.

const PROGRAMS: ElfTable = ElfTable { first: 32, size: 54, count: 56, place: 8, length: 32, absent: None };
const CLASS_64: u8 = 2;
/// Type of a section that has no data in the file.
const NOBITS: u32 = 8;
const SECTIONS: ElfTable = ElfTable { first: 40, size: 58, count: 60, place: 24, length: 32, absent: Some(NOBITS) };

/// Offsets of the fields that describe a header table of an ELF file. In the file header: the table's position, entry
/// size and entry count. In an entry of the table: the position and the length of the data.
struct ElfTable {
    first: usize,
    size: usize,
    count: usize,
    place: usize,
    length: usize,
    absent: Option<u32>,
}

/// Returns whether all data that the ELF headers refer to is inside the image. Checks only 64-bit ELF files in native
/// byte order, because the engine loads no other files. Returns true for any other file.
pub fn is_whole(image: &[u8]) -> bool {
    let is_other = !image.starts_with(b"\x7fELF") || image.get(4).is_some_and(|class| *class != CLASS_64);
    is_other || [PROGRAMS, SECTIONS].iter().all(|table| lies_inside(image, table).is_some())
}

fn lies_inside(image: &[u8], table: &ElfTable) -> Option<()> {
    let first = number(image, table.first)?;
    let (size, count) = (usize::from(half(image, table.size)?), usize::from(half(image, table.count)?));
    (0..count).try_for_each(|index| {
        let row = first.checked_add(index.checked_mul(size)?)?;
        image.get(row..row.checked_add(size)?)?;
        // The type is the first word in a program header's entry, and the second word in a section header's entry.
        let kind = if table.absent.is_some() { word(image, row.checked_add(4)?)? } else { word(image, row)? };
        let place = number(image, row.checked_add(table.place)?)?;
        let length = number(image, row.checked_add(table.length)?)?;
        let is_inside = place.checked_add(length)? <= image.len();
        (is_inside || table.absent == Some(kind)).then_some(())
    })
}

fn bytes<const N: usize>(image: &[u8], at: usize) -> Option<[u8; N]> {
    image.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub fn half(image: &[u8], at: usize) -> Option<u16> {
    bytes(image, at).map(u16::from_ne_bytes)
}

pub fn word(image: &[u8], at: usize) -> Option<u32> {
    bytes(image, at).map(u32::from_ne_bytes)
}

pub fn number(image: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_ne_bytes(bytes(image, at)?)).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn truncated_elf_file_is_rejected() {
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_whole(&whole));
        for length in [4, 16, 63, 64, 100, 4096, whole.len() / 2, whole.len() - 1] {
            assert!(!is_whole(&whole[..length]), "{length}");
        }
        assert!(is_whole(b"text"));
    }
}
