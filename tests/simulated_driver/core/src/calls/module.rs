//! Images, kernels and launches: the part common to both vendors. An image is the output of the simulated compilers:
//! a host shared library.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use crate::argument::In;
use crate::code::{COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_IMAGE, INVALID_VALUE, Outcome};
use crate::driver::Driver;
use crate::kernel::Function;
use crate::kernel::engine::Shape;

/// Beginning of the text that the simulated NVRTC returns as PTX. The names of the kernels follow, and the image in
/// hexadecimal digits.
pub const PTX: &str = "//\n// Made by a simulated compiler: the host's machine code, in digits\n//\n.version 8.7\n.target sm_90\n.address_size 64\n";
/// Prefix of the line with the digits.
pub const DIGITS: &str = "// image ";
const FATBIN: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// Returns the bytes of an image: host machine code, or the first one in a container or text.
///
/// # Errors
/// An error code.
pub fn bytes(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    let word =
        |at: usize| (0..8).rev().try_fold(0u64, |sum, byte| Outcome::Ok(sum << 8 | u64::from(image.at(at + byte)?)));
    match magic {
        FATBIN => {
            // The first part follows a 16-byte header: its header's length at 4, its own length at 8.
            let header = (word(16)? >> 32) as usize;
            let length = word(24)? as usize;
            (0..length).map(|position| image.at(16 + header + position)).collect()
        }
        [b'_', b'_', b'C', b'L'] => {
            // The number of parts, then offset, length and length of the name of each.
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

/// Decodes the digits of a text.
fn of_text(image: In<u8>) -> Outcome<Vec<u8>> {
    let text = (0..).map(|position| image.at(position)).take_while(|byte| !matches!(byte, Ok(0) | Err(_)));
    let text = text.collect::<Outcome<Vec<u8>>>()?;
    let text = String::from_utf8(text).map_err(|_| INVALID_IMAGE)?;
    let (_, digits) = text.rsplit_once(DIGITS).ok_or(INVALID_IMAGE)?;
    let digits = digits.trim().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8).ok_or(INVALID_IMAGE);
    digits.chunks(2).map(|pair| Ok(digit(pair[0])? << 4 | digit(*pair.last().unwrap_or(&0))?)).collect()
}

/// Returns the machine code, whose end follows from its header.
fn of_machine_code(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    if magic != *b"\x7fELF" {
        return Err(INVALID_IMAGE);
    }
    let header: [u8; 64] = image.cast().get()?;
    let number =
        |at: usize, size: usize| header[at..at + size].iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    // The section table is at the end of a linker's output.
    let length = number(40, 8).checked_add(number(58, 2) * number(60, 2)).ok_or(INVALID_IMAGE)?;
    (0..length as usize).map(|position| image.at(position)).collect()
}

/// Launches with an array of pointers to the parameter values.
///
/// # Errors
/// An error code.
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
        // SAFETY: the caller of the C function guarantees as many bytes as the parameter has.
        Ok(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec())
    });
    let values = values.collect::<Outcome<Vec<_>>>()?;
    driver.launch(call, device, function, shape, values, stream)
}

/// Returns the maximum number of threads per block of a kernel.
pub fn max_threads(function: &Function) -> i32 {
    if function.kernel.max_threads == 0 { 1024 } else { function.kernel.max_threads as i32 }
}

/// Returns the number of blocks that run at once on a multiprocessor of 2048 threads and `bytes` bytes of shared
/// memory.
///
/// # Errors
/// An error code.
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

/// Returns the number of blocks that fills all multiprocessors, and the block size; a `limit` of 0 means no limit.
pub fn suggested_shape(function: &Function, multiprocessors: i32, limit: i32) -> (i32, i32) {
    let most = max_threads(function);
    let best = if limit > 0 { most.min(limit) } else { most };
    (multiprocessors * (2048 / best), best)
}

/// Structure of a launch with attributes, equal for both vendors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    /// Number of blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// The stream.
    pub stream: u64,
    attributes: In<Attribute>,
    count: u32,
}

/// An attribute: its number and value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    /// Number in the vendors' headers.
    pub number: u32,
    padding: u32,
    /// Value; the attribute determines how many entries are used.
    pub value: [i32; 16],
}

impl Config {
    /// Returns the attributes.
    ///
    /// # Errors
    /// An error code.
    pub fn attributes(&self) -> Outcome<Vec<Attribute>> {
        (0..self.count as usize).map(|position| self.attributes.at(position)).collect()
    }
}

/// Recent launches with attributes.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records a launch with attributes.
pub fn remember(call: &str, attributes: &[Attribute]) {
    let told = attributes.iter().map(|one| format!(r#""{}": {:?}"#, one.number, &one.value[..3]));
    let line = format!(r#"{{"call": "{call}", "attributes": {{{}}}}}"#, told.collect::<Vec<_>>().join(", "));
    let mut lines = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push(line);
    let surplus = lines.len().saturating_sub(64);
    lines.drain(..surplus);
}

/// Returns the recent launches with attributes, each as a JSON object.
pub fn launches() -> Vec<String> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Maximum threads resident on a multiprocessor.
const THREADS_AT_ONCE: u64 = 2048;

/// Fails for a cooperative launch of more blocks than run at once.
///
/// # Errors
/// An error code.
pub fn fits_at_once(shape: &Shape, multiprocessors: i32) -> Outcome<()> {
    let product = |lengths: [u32; 3]| lengths.iter().map(|&length| u64::from(length)).product::<u64>();
    let most = THREADS_AT_ONCE.checked_div(product(shape.block)).ok_or(INVALID_VALUE)?
        * u64::from(multiprocessors.unsigned_abs());
    if shape.cooperative && product(shape.grid) > most { Err(COOPERATIVE_LAUNCH_TOO_LARGE) } else { Ok(()) }
}
