//! Implements the calls for images, kernels and launches that CUDA and HIP have in common. An image is the output of
//! the simulated compilers: a shared library for the host.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use crate::argument::In;
use crate::driver::Driver;
use crate::error_codes::{COOPERATIVE_LAUNCH_TOO_LARGE, INVALID_IMAGE, INVALID_VALUE, Outcome};
use crate::kernel::Function;
use crate::kernel::engine::Shape;

/// Beginning of the text that the simulated NVRTC returns as PTX. It is followed by the names of the kernels and by the
/// bytes of the image in hexadecimal digits.
pub const PTX: &str = "//\n// Made by a simulated compiler: the host's machine code, in digits\n//\n.version 8.7\n.target sm_90\n.address_size 64\n";
/// Prefix of the line in the PTX text that contains the hexadecimal digits.
pub const DIGITS: &str = "// image ";
const FATBIN: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";

/// Extracts the host machine code from an image: from the first part of a container of several images, from an image in
/// text form, or from the machine code itself.
///
/// # Errors
/// The error code that the vendor's driver returns for an invalid argument or state.
pub fn bytes(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    let word =
        |at: usize| (0..8).rev().try_fold(0u64, |sum, byte| Outcome::Ok(sum << 8 | u64::from(image.at(at + byte)?)));
    match magic {
        FATBIN => {
            // The first part of the container follows a 16-byte header. The part stores the length of its header at
            // offset 4, and the length of its content at offset 8.
            let header = (word(16)? >> 32) as usize;
            let length = word(24)? as usize;
            (0..length).map(|position| image.at(16 + header + position)).collect()
        }
        [b'_', b'_', b'C', b'L'] => {
            // The container stores the number of parts, and then for each part its offset, its length and the length of
            // its name.
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

/// Decodes the hexadecimal digits of an image in text form.
fn of_text(image: In<u8>) -> Outcome<Vec<u8>> {
    let text = (0..).map(|position| image.at(position)).take_while(|byte| !matches!(byte, Ok(0) | Err(_)));
    let text = text.collect::<Outcome<Vec<u8>>>()?;
    let text = String::from_utf8(text).map_err(|_| INVALID_IMAGE)?;
    let (_, digits) = text.rsplit_once(DIGITS).ok_or(INVALID_IMAGE)?;
    let digits = digits.trim().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8).ok_or(INVALID_IMAGE);
    digits.chunks(2).map(|pair| Ok(digit(pair[0])? << 4 | digit(*pair.last().unwrap_or(&0))?)).collect()
}

/// Copies the machine code from memory. The length of the code is computed from its ELF header.
fn of_machine_code(image: In<u8>) -> Outcome<Vec<u8>> {
    let magic: [u8; 4] = image.cast().get()?;
    if magic != *b"\x7fELF" {
        return Err(INVALID_IMAGE);
    }
    let header: [u8; 64] = image.cast().get()?;
    let number =
        |at: usize, size: usize| header[at..at + size].iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    // Linkers write the section table at the end of a file, so the end of the table is the end of the machine code.
    let length = number(40, 8).checked_add(number(58, 2) * number(60, 2)).ok_or(INVALID_IMAGE)?;
    (0..length as usize).map(|position| image.at(position)).collect()
}

/// Launches a kernel whose parameter values are given as an array of pointers.
///
/// # Errors
/// The error code that the vendor's driver returns for an invalid argument or state.
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
        // SAFETY: the caller of the C function guarantees that each pointer refers to a value of its parameter's size.
        Ok(unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) }.to_vec())
    });
    let values = values.collect::<Outcome<Vec<_>>>()?;
    driver.launch(call, device, function, shape, values, stream)
}

/// Returns the maximum number of threads per block of a kernel.
pub fn max_threads(function: &Function) -> i32 {
    if function.kernel.max_threads == 0 { 1024 } else { function.kernel.max_threads as i32 }
}

/// Returns the number of blocks that run at once on a multiprocessor with 2048 threads and `bytes` bytes of shared
/// memory.
///
/// # Errors
/// The error code that the vendor's driver returns for an invalid argument or state.
pub fn active_blocks(function: &Function, threads: i32, shared: usize, bytes: i32) -> Outcome<i32> {
    if threads <= 0 {
        return Err(INVALID_VALUE);
    }
    if threads > max_threads(function) {
        return Ok(0);
    }
    let bytes_per_block = shared.saturating_add(function.kernel.shared_bytes as usize);
    let by_shared = (bytes as usize).checked_div(bytes_per_block).map_or(32, |blocks| blocks.min(32) as i32);
    Ok((2048 / threads).min(by_shared))
}

/// Returns a number of blocks that fills all multiprocessors, and the block size. A `limit` of 0 means that the block
/// size is not limited.
pub fn suggested_shape(function: &Function, multiprocessors: i32, limit: i32) -> (i32, i32) {
    let most = max_threads(function);
    let best = if limit > 0 { most.min(limit) } else { most };
    (multiprocessors * (2048 / best), best)
}

/// Argument of a launch with attributes, with a layout that CUDA and HIP share.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    /// Number of blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Stream of the launch.
    pub stream: u64,
    attributes: In<Attribute>,
    count: u32,
}

/// Describes a launch attribute by its number and its value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    /// Number of the attribute in the vendors' headers.
    pub number: u32,
    padding: u32,
    /// Value of the attribute. The number of the attribute determines how many entries are used.
    pub value: [i32; 16],
}

impl Config {
    /// Reads the list of attributes.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn attributes(&self) -> Outcome<Vec<Attribute>> {
        (0..self.count as usize).map(|position| self.attributes.at(position)).collect()
    }
}

/// The most recent launches with attributes, recorded for tests.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records a launch with attributes, so that a test can inspect it.
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

/// Maximum number of threads that are resident on a multiprocessor.
const THREADS_AT_ONCE: u64 = 2048;

/// Checks that all blocks of a cooperative launch can run at once.
///
/// # Errors
/// `COOPERATIVE_LAUNCH_TOO_LARGE` if they cannot.
pub fn fits_at_once(shape: &Shape, multiprocessors: i32) -> Outcome<()> {
    let product = |lengths: [u32; 3]| lengths.iter().map(|&length| u64::from(length)).product::<u64>();
    let most = THREADS_AT_ONCE.checked_div(product(shape.block)).ok_or(INVALID_VALUE)?
        * u64::from(multiprocessors.unsigned_abs());
    if shape.cooperative && product(shape.grid) > most { Err(COOPERATIVE_LAUNCH_TOO_LARGE) } else { Ok(()) }
}
