//! Images, kernels and launches, as far as the vendors' calls agree. An image is what the simulated compilers make: a shared
//! library of the host.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use crate::argument::In;
use crate::code::{COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_IMAGE, INVALID_VALUE, Outcome};
use crate::driver::Driver;
use crate::kernel::Function;
use crate::kernel::engine::Shape;

/// How the text begins that the simulated NVRTC gives as PTX. Behind it stand the names of the kernels, and in digits the image.
pub const PTX: &str = "//\n// Made by a simulated compiler: the host's machine code, in digits\n//\n.version 8.7\n.target sm_90\n.address_size 64\n";
/// What stands before the digits.
pub const DIGITS: &str = "// image ";
const FATBIN: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// The bytes of an image: those of the host's machine code itself, or of the first that a container or a text holds.
///
/// # Errors
/// A code.
pub fn bytes(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    let word =
        |at: usize| (0..8).rev().try_fold(0u64, |sum, byte| Outcome::Ok(sum << 8 | u64::from(image.at(at + byte)?)));
    match magic {
        FATBIN => {
            // Behind 16 bytes of a header the first part: its header's length at 4, its own at 8.
            let header = (word(16)? >> 32) as usize;
            let length = word(24)? as usize;
            (0..length).map(|position| image.at(16 + header + position)).collect()
        }
        [b'_', b'_', b'C', b'L'] => {
            // The number of parts, then of each where it is, how long it is, and the length of its name.
            let mut row = BUNDLE.len() + 8;
            for _ in 0..word(BUNDLE.len())? {
                let (start, length, name) = (word(row)? as usize, word(row + 8)? as usize, word(row + 16)? as usize);
                if length > 0 {
                    return (0..length).map(|position| image.at(start + position)).collect();
                }
                row += 24 + name;
            }
            Err(INVALID_IMAGE)
        }
        [b'/', b'/', b'\n', _] => of_text(image),
        _ => of_machine_code(image),
    }
}

/// What the digits of a text say.
fn of_text(image: In<u8>) -> Outcome<Vec<u8>> {
    let text = (0..).map(|position| image.at(position)).take_while(|byte| !matches!(byte, Ok(0) | Err(_)));
    let text = text.collect::<Outcome<Vec<u8>>>()?;
    let text = String::from_utf8(text).map_err(|_| INVALID_IMAGE)?;
    let (_, digits) = text.rsplit_once(DIGITS).ok_or(INVALID_IMAGE)?;
    let digits = digits.trim().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8).ok_or(INVALID_IMAGE);
    digits.chunks(2).map(|pair| Ok(digit(pair[0])? << 4 | digit(*pair.last().unwrap_or(&0))?)).collect()
}

/// Machine code, which ends where its own header says.
fn of_machine_code(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    if magic != *b"\x7fELF" {
        return Err(INVALID_IMAGE);
    }
    let header: [u8; 64] = image.cast().get()?;
    let number =
        |at: usize, size: usize| header[at..at + size].iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    // The table of sections stands at the end of what a linker writes.
    let length = number(40, 8).checked_add(number(58, 2) * number(60, 2)).ok_or(INVALID_IMAGE)?;
    (0..length as usize).map(|position| image.at(position)).collect()
}

/// Launches with an array of pointers to the values of the parameters.
///
/// # Errors
/// A code.
pub fn launch(
    driver: &Driver,
    call: &'static str,
    device: usize,
    function: u64,
    shape: Shape,
    stream: u64,
    arguments: In<*const c_void>,
) -> Outcome<()> {
    let function = driver.function_of(function)?;
    let values = function.kernel.parameters.iter().enumerate().map(|(position, &(bytes, _))| {
        let value = arguments.at(position)?;
        if value.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller of the C function promises as many bytes as the parameter has.
        Ok(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec())
    });
    let values = values.collect::<Outcome<Vec<_>>>()?;
    driver.launch(call, device, function, shape, values, stream)
}

/// Most threads of a block that a kernel takes.
pub fn max_threads(function: &Function) -> i32 {
    if function.kernel.max_threads == 0 { 1024 } else { function.kernel.max_threads as i32 }
}

/// Blocks that run at once on a multiprocessor of 2048 threads and so many bytes of shared memory.
///
/// # Errors
/// A code.
pub fn active_blocks(function: &Function, threads: i32, shared: usize, bytes: i32) -> Outcome<i32> {
    if threads <= 0 {
        return Err(INVALID_VALUE);
    }
    if threads > max_threads(function) {
        return Ok(0);
    }
    let wanted = shared.saturating_add(function.kernel.shared_bytes as usize);
    let by_shared = (bytes as usize).checked_div(wanted).map_or(32, |blocks| blocks.min(32) as i32);
    Ok((2048 / threads).min(by_shared))
}

/// Blocks that fill so many multiprocessors, and the threads of a block; `limit` 0 is none.
pub fn suggested_shape(function: &Function, multiprocessors: i32, limit: i32) -> (i32, i32) {
    let most = max_threads(function);
    let best = if limit > 0 { most.min(limit) } else { most };
    (multiprocessors * (2048 / best), best)
}

/// The structure of a launch with attributes, which is the same for both vendors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The stream.
    pub stream: u64,
    attributes: In<Attribute>,
    count: u32,
}

/// One attribute: its number and what it says.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    /// The vendors' number.
    pub number: u32,
    padding: u32,
    /// As many as the attribute has.
    pub value: [i32; 16],
}

impl Config {
    /// The attributes.
    ///
    /// # Errors
    /// A code.
    pub fn attributes(&self) -> Outcome<Vec<Attribute>> {
        (0..self.count as usize).map(|position| self.attributes.at(position)).collect()
    }
}

/// The last launches with attributes.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Remembers a launch with attributes.
pub fn remember(call: &str, attributes: &[Attribute]) {
    let told = attributes.iter().map(|one| format!(r#""{}": {:?}"#, one.number, &one.value[..3]));
    let line = format!(r#"{{"call": "{call}", "attributes": {{{}}}}}"#, told.collect::<Vec<_>>().join(", "));
    let mut lines = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push(line);
    let surplus = lines.len().saturating_sub(64);
    lines.drain(..surplus);
}

/// The last launches with attributes, each as a JSON object.
pub fn launches() -> Vec<String> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Threads that a multiprocessor runs at once.
const THREADS_AT_ONCE: u64 = 2048;

/// Refuses a cooperative launch of more blocks than run at once.
///
/// # Errors
/// A code.
pub fn fits_at_once(shape: &Shape, multiprocessors: i32) -> Outcome<()> {
    let product = |lengths: [u32; 3]| lengths.iter().map(|&length| u64::from(length)).product::<u64>();
    let most = THREADS_AT_ONCE.checked_div(product(shape.block)).ok_or(INVALID_VALUE)?
        * u64::from(multiprocessors.unsigned_abs());
    if shape.cooperative && product(shape.grid) > most { Err(COOPERATIVE_LAUNCH_TOO_LARGE) } else { Ok(()) }
}
