//! Loads module images in the formats that the driver accepts: cubins, PTX and fat binaries.

use std::ffi::c_void;

use super::driver::Cuda;
use super::sys::{CUjit_option as Option_, CUmodule};
use crate::cuda_and_hip::{Driver, VendorModules};
use crate::error_codes::SUCCESS;
use crate::{LoadOptions, Loaded, ModuleHandle};
use pygpu_base::error::{Error, Result};
use pygpu_cpu_engine::is_whole;

/// Size of each of the driver's two logs in bytes.
const LOG_BYTES: usize = 16 << 10;

/// Options of the driver's JIT compiler, and the buffers into which this compiler writes its logs.
pub struct Jit {
    pub options: Vec<Option_>,
    pub values: Vec<*mut c_void>,
    info: Vec<u8>,
    errors: Vec<u8>,
}

impl Jit {
    pub fn new(options: &LoadOptions) -> Self {
        let mut jit = Self { options: vec![], values: vec![], info: vec![0; LOG_BYTES], errors: vec![0; LOG_BYTES] };
        let (info, errors) = (jit.info.as_mut_ptr(), jit.errors.as_mut_ptr());
        jit.push(Option_::CU_JIT_INFO_LOG_BUFFER, info.cast());
        jit.push(Option_::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES - 1));
        jit.push(Option_::CU_JIT_ERROR_LOG_BUFFER, errors.cast());
        jit.push(Option_::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, number(LOG_BYTES - 1));
        if let Some(most) = options.max_registers {
            jit.push(Option_::CU_JIT_MAX_REGISTERS, number(most as usize));
        }
        if options.debug {
            jit.push(Option_::CU_JIT_GENERATE_DEBUG_INFO, number(1));
        }
        if options.line_info {
            jit.push(Option_::CU_JIT_GENERATE_LINE_INFO, number(1));
        }
        jit
    }

    /// Returns the driver's information log.
    pub fn remarks(&self) -> String {
        text(&self.info)
    }

    /// Returns the driver's error log and information log, each preceded by a semicolon.
    pub fn complaints(&self) -> String {
        let logs = [text(&self.errors), text(&self.info)];
        logs.iter().filter(|log| !log.is_empty()).map(|log| format!("; {log}")).collect()
    }

    fn push(&mut self, option: Option_, value: *mut c_void) {
        self.options.push(option);
        self.values.push(value);
    }
}

/// Converts a number to a pointer, because the driver's function takes numeric options as pointers.
fn number(value: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(value)
}

fn text(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim().to_owned()
}

fn is_whole_fatbin(image: &[u8]) -> bool {
    // After the magic number and a version, the header contains its own size and the size of the data after the header.
    let header = image.get(6..8).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes);
    let rest = image.get(8..16).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let length = header.zip(rest).and_then(|(header, rest)| rest.checked_add(u64::from(header)));
    length.is_some_and(|length| length <= image.len() as u64)
}

/// Rejects an image of an unknown format, and an image with fewer bytes than its header states. Without this check, the
/// driver would trust the header and read beyond the image.
fn check_image(image: &[u8]) -> Result<()> {
    const ELF: &[u8] = b"\x7fELF";
    const FATBIN: &[u8] = &0xBA55_ED50_u32.to_le_bytes();
    if image.starts_with(ELF) && is_whole(image) || image.starts_with(FATBIN) && is_whole_fatbin(image) {
        return Ok(());
    }
    if image.starts_with(ELF) || image.starts_with(FATBIN) {
        return Err(Error::value(format!("the image of {} bytes is cut short: it says that it has more", image.len())));
    }
    // PTX is text, with `.version` before everything except comments.
    let is_text = image.iter().take(4096).all(|&byte| byte.is_ascii() && byte != 0);
    if is_text && image.windows(8).any(|window| window == b".version") {
        return Ok(());
    }
    let first = &image[..image.len().min(8)];
    Err(Error::value(format!(
        "the image of {} bytes that begins with {first:02x?} is no cubin, PTX or fatbin, which are what CUDA loads",
        image.len()
    )))
}

impl VendorModules for Cuda {
    fn load(driver: &Driver<Self>, device: i32, image: &[u8], options: &LoadOptions) -> Result<Loaded> {
        const OPERATION: &str = "cuModuleLoadDataEx";
        check_image(image)?;
        // The driver requires PTX to end with a zero byte.
        let image = [image, &[0]].concat();
        let mut jit = Jit::new(options);
        let mut module: CUmodule = std::ptr::null_mut();
        let current = driver.enter(device, OPERATION)?;
        // SAFETY: the image is complete according to its header and ends with a zero byte; there are as many options as
        // values, and the log buffers have the given sizes.
        let code = unsafe {
            (current.api.cuModuleLoadDataEx)(
                &mut module,
                image.as_ptr().cast(),
                jit.options.len() as u32,
                jit.options.as_mut_ptr(),
                jit.values.as_mut_ptr(),
            )
        };
        if code == SUCCESS {
            return Ok(Loaded { module: ModuleHandle(module.expose_provenance()), log: jit.remarks() });
        }
        let detail = format!("an image of {} bytes, driver {}{}", image.len() - 1, driver.version, jit.complaints());
        Err(driver.refusal(code, OPERATION, Some(device), detail))
    }
}
