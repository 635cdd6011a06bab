//! Finds the names of the kernels in an image, for drivers that cannot list them. The names are found in the text of
//! PTX, or in the symbol table of machine code.

use super::embedded_device_code::number;

/// Returns the names of the kernels in PTX, a cubin or a code object. Empty for other images and for truncated ones.
pub fn in_image(image: &[u8]) -> Vec<String> {
    if image.starts_with(b"\x7fELF") {
        return in_elf(image).unwrap_or_default();
    }
    let text = String::from_utf8_lossy(image);
    let entries = text.lines().filter_map(|line| line.split_once(".entry")).map(|(_, rest)| rest.trim_start());
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    let names = entries.map(|rest| rest[..rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())].to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// Machine numbers in the ELF headers of GPU code.
const NVIDIA: usize = 190;
const AMD: usize = 224;

fn in_elf(image: &[u8]) -> Option<Vec<String>> {
    const SYMBOLS: usize = 2;
    let machine = number(image, 18, 2)?;
    let (first, size, count) = (number(image, 40, 8)?, number(image, 58, 2)?, number(image, 60, 2)?);
    let row = |index: usize| first.checked_add(index.checked_mul(size)?);
    let table = (0..count).filter_map(row).find(|&row| number(image, row + 4, 4) == Some(SYMBOLS))?;
    let names = row(number(image, table + 40, 4)?)?;
    let (texts, start, length) =
        (number(image, names + 24, 8)?, number(image, table + 24, 8)?, number(image, table + 32, 8)?);
    let symbols = image.get(start..start.checked_add(length)?)?.chunks_exact(24);
    Some(symbols.filter_map(|symbol| kernel_of(machine, symbol, image.get(texts..)?)).collect())
}

/// Returns the name of the kernel that a symbol defines; `None` if the symbol defines none.
fn kernel_of(machine: usize, symbol: &[u8], texts: &[u8]) -> Option<String> {
    /// Flag of a symbol in a cubin that marks a function as a kernel.
    const ENTRY: u8 = 0x10;
    const FUNCTION: u8 = 2;
    let name = texts.get(number(symbol, 0, 4)?..)?;
    let name = std::str::from_utf8(&name[..name.iter().position(|&byte| byte == 0)?]).ok()?;
    let is_there = number(symbol, 6, 2)? != 0;
    match machine {
        NVIDIA if is_there && symbol[4] & 15 == FUNCTION && symbol[5] & ENTRY != 0 => Some(name.to_owned()),
        // For each kernel, an AMD code object contains a descriptor symbol: the kernel's name with the suffix `.kd`.
        AMD if is_there => name.strip_suffix(".kd").map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    /// Returns an ELF file that contains only a symbol table. Each symbol has a name, a type with a binding, and flags.
    fn elf(machine: u16, symbols: &[(&str, u8, u8)]) -> Vec<u8> {
        let (mut texts, mut table) = (vec![0u8], vec![0u8; 24]);
        for (name, kind, other) in symbols {
            let mut symbol = [0u8; 24];
            symbol[..4].copy_from_slice(&(texts.len() as u32).to_le_bytes());
            (symbol[4], symbol[5], symbol[6]) = (*kind, *other, 1);
            table.extend(symbol);
            texts.extend(name.as_bytes());
            texts.push(0);
        }
        let mut image = vec![0u8; 64 + 2 * 64];
        image[..4].copy_from_slice(b"\x7fELF");
        image[18..20].copy_from_slice(&machine.to_le_bytes());
        image[40..48].copy_from_slice(&64u64.to_le_bytes());
        (image[58], image[60]) = (64, 2);
        let mut section = |place: usize, kind: u32, content: &[u8], link: u32| {
            let start = image.len() as u64;
            image.extend(content);
            let row = &mut image[64 + 64 * place..][..64];
            row[4..8].copy_from_slice(&kind.to_le_bytes());
            row[24..32].copy_from_slice(&start.to_le_bytes());
            row[32..40].copy_from_slice(&(content.len() as u64).to_le_bytes());
            row[40..44].copy_from_slice(&link.to_le_bytes());
        };
        section(0, 3, &texts, 0);
        section(1, 2, &table, 0);
        image
    }

    #[test]
    fn kernel_names_are_read_from_ptx_entries() {
        let text = b".version 8.0\n.visible .entry _Z5scalePf(\n\t.param .u64 p\n)\n{ }\n.entry plain\n()\n.func f()\n";
        assert_eq!(in_image(text), ["_Z5scalePf", "plain"]);
    }

    #[test]
    fn kernel_names_are_read_from_elf_symbols() {
        let nvidia = elf(190, &[("_Z1kPi", 0x12, 0x10), ("helper", 0x12, 0), ("table", 0x11, 0)]);
        assert_eq!(in_image(&nvidia), ["_Z1kPi"]);
        let amd = elf(224, &[("_Z1kPi", 0x12, 0), ("_Z1kPi.kd", 0x11, 0)]);
        assert_eq!(in_image(&amd), ["_Z1kPi"]);
        assert!(in_image(&elf(62, &[("main", 0x12, 0)])).is_empty());
        for length in 0..nvidia.len() {
            in_image(&nvidia[..length]); // a truncated image must not cause a panic
        }
        assert!(in_image(b"").is_empty());
    }
}
