//! Determines the size of each kernel's static shared memory from the image's symbol table.
//!
//! A shared variable is a thread-local variable inside a function. C++ compilers put the function's mangled name before
//! the variable's name: the variable `s` of the function `_Z1kPi` has the symbol `_ZZ1kPiE1s`. The size of a kernel
//! does not include variables of the functions that it calls.

use crate::elf_check::{half, number, word};

const SYMBOLS: u32 = 2;
const FUNCTION: u8 = 2;
const THREAD_LOCAL: u8 = 6;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;

/// The symbols of an image from which sizes of shared memory are computed.
#[derive(Default)]
pub struct StaticShared<'a> {
    functions: Vec<(usize, &'a [u8])>,
    variables: Vec<(&'a [u8], usize)>,
    /// Address of `pygpu_cpu_module`, the table of kernels, in the image.
    module: usize,
}

fn text(image: &[u8], at: usize) -> Option<&[u8]> {
    let rest = image.get(at..)?;
    rest.get(..rest.iter().position(|&byte| byte == 0)?)
}

impl<'a> StaticShared<'a> {
    /// Reads the symbols of an image. If the image has no symbols of shared variables, its kernels have no static
    /// shared memory.
    pub fn of(image: &'a [u8]) -> Self {
        let mut found = Self::default();
        let _ = found.read(image); // unreadable symbols are treated as absent
        found
    }

    fn read(&mut self, image: &'a [u8]) -> Option<()> {
        if !image.starts_with(b"\x7fELF") {
            return None;
        }
        let (sections, count) = (number(image, 40)?, usize::from(half(image, 60)?));
        let section = |index: usize| sections.checked_add(index.checked_mul(SECTION_BYTES)?);
        let table = (0..count).filter_map(section).find(|&at| word(image, at + 4) == Some(SYMBOLS))?;
        let names = number(image, section(usize::try_from(word(image, table + 40)?).ok()?)? + 24)?;
        let (first, bytes) = (number(image, table + 24)?, number(image, table + 32)?);
        for symbol in image.get(first..first.checked_add(bytes)?)?.chunks_exact(SYMBOL_BYTES) {
            let name = text(image, names.checked_add(usize::try_from(word(symbol, 0)?).ok()?)?)?;
            let (value, size) = (number(symbol, 8)?, number(symbol, 16)?);
            match symbol[4] & 15 {
                FUNCTION if value != 0 => self.functions.push((value, name)),
                THREAD_LOCAL if name.starts_with(b"_ZZ") => self.variables.push((name, size)),
                _ if name == b"pygpu_cpu_module" => self.module = value,
                _ => {}
            }
        }
        Some(())
    }

    /// Returns the size in bytes of the static shared memory of a kernel. `function` and `module` are the addresses of
    /// the kernel and of `pygpu_cpu_module`, the table of kernels, in the process that loaded the image.
    pub fn bytes(&self, function: usize, module: usize) -> u32 {
        if self.variables.is_empty() {
            return 0;
        }
        let place = function.wrapping_sub(module).wrapping_add(self.module);
        let of_one = |name: &[u8]| {
            let start = match name.strip_prefix(b"_Z") {
                Some(rest) => [b"_ZZ", rest, b"E"].concat(),
                None => [b"_ZZ", name.len().to_string().as_bytes(), name, b"E"].concat(),
            };
            self.variables.iter().filter(|(name, _)| name.starts_with(&start)).map(|(_, bytes)| bytes).sum::<usize>()
        };
        let names = self.functions.iter().filter(|(at, _)| *at == place).map(|(_, name)| of_one(name));
        names.max().and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0)
    }
}
