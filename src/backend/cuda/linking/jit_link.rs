//! Links device code with nvJitLink, NVIDIA's linker library, which is searched for at the first link.

use std::ffi::{CString, c_char, c_void};
use std::path::{Path, PathBuf};

use crate::cuda_and_hip::DriverCallGuard;
use crate::cuda_and_hip::loader::symbol_table;
use crate::{Compiled, Library, LinkInput, LinkKind, LoadOptions};
use pygpu_base::settings::{Settings, Variable};
use pygpu_base::small_sort;

type JitLinkHandle = *mut c_void;

/// Declares the functions of the library, with the types of NVIDIA's header.
macro_rules! nvjitlink_api {
    ($expand:ident) => {
        $expand! {
            required {
                fn nvJitLinkCreate(handle: *mut JitLinkHandle, count: u32, options: *mut *const c_char);
                fn nvJitLinkDestroy(handle: *mut JitLinkHandle);
                fn nvJitLinkAddData(
                    handle: JitLinkHandle,
                    kind: u32,
                    data: *const c_void,
                    bytes: usize,
                    name: *const c_char
                );
                fn nvJitLinkComplete(handle: JitLinkHandle);
                fn nvJitLinkGetLinkedCubinSize(handle: JitLinkHandle, bytes: *mut usize);
                fn nvJitLinkGetLinkedCubin(handle: JitLinkHandle, cubin: *mut c_void);
                fn nvJitLinkGetErrorLogSize(handle: JitLinkHandle, bytes: *mut usize);
                fn nvJitLinkGetErrorLog(handle: JitLinkHandle, log: *mut c_char);
                fn nvJitLinkGetInfoLogSize(handle: JitLinkHandle, bytes: *mut usize);
                fn nvJitLinkGetInfoLog(handle: JitLinkHandle, log: *mut c_char);
            }
            optional {}
        }
    };
}
nvjitlink_api!(symbol_table);

const SUCCESS: u32 = 0;

/// File names of nvJitLink by CUDA major version, newest first.
#[cfg(not(windows))]
const NAMES: [(i32, &str); 2] = [(13, "libnvJitLink.so.13"), (12, "libnvJitLink.so.12")];
#[cfg(windows)]
const NAMES: [(i32, &str); 2] = [(13, "nvJitLink_130_0.dll"), (12, "nvJitLink_120_0.dll")];

fn number_of(kind: LinkKind) -> u32 {
    match kind {
        LinkKind::Cubin => 1,
        LinkKind::Ptx => 2,
        LinkKind::Fatbinary => 4,
        LinkKind::Object => 5,
        LinkKind::Library => 6,
    }
}

/// Returns all file paths and names under which to search for nvJitLink, in order: next to NVRTC, in a toolkit, through
/// the system's loader. Library versions newer than the driver's version are tried last.
fn candidates(driver: i32, beside: Option<&str>, settings: &Settings) -> Vec<PathBuf> {
    let mut names = NAMES.to_vec();
    small_sort::sort_by_key(&mut names, |&(major, _)| (major > driver / 1000, -major));
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(folder) = beside.map(Path::new).and_then(Path::parent).filter(|folder| folder.is_absolute()) {
        folders.push(folder.to_path_buf());
        // Wheels of CUDA 12 have nvidia/cuda_nvrtc/lib next to nvidia/nvjitlink/lib.
        folders.extend(folder.parent().and_then(Path::parent).map(|root| root.join("nvjitlink/lib")));
    }
    for root in settings.folders(&[Variable::CUDA_HOME, Variable::CUDA_PATH]) {
        folders.extend(["lib64", "lib", "targets/x86_64-linux/lib", "bin"].map(|folder| root.join(folder)));
    }
    folders.push(PathBuf::from("/usr/local/cuda/lib64"));
    let within = folders.iter().flat_map(|folder| names.iter().map(move |(_, name)| folder.join(name)));
    let mut found: Vec<PathBuf> = within.filter(|path| path.exists()).collect();
    found.extend(names.iter().map(|(_, name)| PathBuf::from(name)));
    found
}

/// The opened nvJitLink library.
pub struct JitLink(Api);

/// Opens the first usable nvJitLink library of the search. Returns `None` if the search finds none.
pub fn open(driver: i32, beside: Option<&str>, settings: &Settings) -> Option<JitLink> {
    candidates(driver, beside, settings).iter().find_map(|path| {
        let library = Library::open(&[path.to_str()?]).ok()?;
        // SAFETY: the library was found under nvJitLink's name, so its functions have the declared signatures.
        unsafe { Api::load(&library) }.ok().map(JitLink)
    })
}

/// Holds the state of one link, which is destroyed when this value is dropped.
struct JitLinkage<'a> {
    api: &'a Api,
    handle: JitLinkHandle,
}

impl Drop for JitLinkage<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle was created by `link`, and is destroyed only here.
        unsafe { (self.api.nvJitLinkDestroy)(&mut self.handle) };
    }
}

impl JitLinkage<'_> {
    fn log(
        &self,
        size: unsafe extern "C" fn(JitLinkHandle, *mut usize) -> u32,
        get: unsafe extern "C" fn(JitLinkHandle, *mut c_char) -> u32,
    ) -> String {
        let mut length = 0;
        // SAFETY: the link state is alive, and the out-parameter is writable.
        if unsafe { size(self.handle, &mut length) } != SUCCESS || length == 0 {
            return String::new();
        }
        let mut bytes = vec![0u8; length + 1];
        // SAFETY: the buffer is longer than the size that the library returned.
        if unsafe { get(self.handle, bytes.as_mut_ptr().cast()) } != SUCCESS {
            return String::new();
        }
        String::from_utf8_lossy(&bytes).trim_end_matches(['\0', '\n', ' ']).to_owned()
    }

    fn failed(&self, operation: &str, code: u32, what: &str) -> String {
        let log = self.log(self.api.nvJitLinkGetErrorLogSize, self.api.nvJitLinkGetErrorLog);
        format!("{operation} failed with {code} for {what}: {log}")
    }
}

impl JitLink {
    /// Links the inputs (cubins, PTX, object files) into one image for an architecture.
    ///
    /// # Errors
    /// A text with the linker's log.
    pub fn link(
        &self,
        architecture: &str,
        inputs: &[LinkInput<'_>],
        load_options: &LoadOptions,
    ) -> Result<Compiled, String> {
        let _passage = DriverCallGuard::begin();
        let mut texts = vec![format!("-arch={architecture}")];
        texts.extend(load_options.debug.then(|| "-g".to_owned()));
        texts.extend(load_options.line_info.then(|| "-lineinfo".to_owned()));
        texts.extend(load_options.max_registers.map(|most| format!("-maxrregcount={most}")));
        let texts: Vec<CString> = texts.into_iter().filter_map(|text| CString::new(text).ok()).collect();
        let mut options: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let api = &self.0;
        let mut handle: JitLinkHandle = std::ptr::null_mut();
        // SAFETY: the out-parameter is writable; there are as many options as stated, each ending with a zero byte.
        let code = unsafe { (api.nvJitLinkCreate)(&mut handle, options.len() as u32, options.as_mut_ptr()) };
        if code != SUCCESS {
            return Err(format!("nvJitLinkCreate failed with {code} for {architecture}"));
        }
        let state = JitLinkage { api, handle };
        for input in inputs {
            // PTX is text. The library requires a zero byte at its end, and the size includes this byte.
            let data = if input.kind == LinkKind::Ptx { [input.data, &[0]].concat() } else { input.data.to_vec() };
            let (kind, bytes) = (number_of(input.kind), data.as_ptr().cast());
            // SAFETY: the link state is alive; the call reads the given number of bytes; the name is a C string.
            let code = unsafe { (api.nvJitLinkAddData)(handle, kind, bytes, data.len(), input.name.as_ptr()) };
            if code != SUCCESS {
                return Err(state.failed("nvJitLinkAddData", code, &format!("{:?}", input.name)));
            }
        }
        // SAFETY: the link state is alive during the call.
        let code = unsafe { (api.nvJitLinkComplete)(handle) };
        if code != SUCCESS {
            return Err(state.failed("nvJitLinkComplete", code, &format!("{} parts", inputs.len())));
        }
        let mut length = 0;
        // SAFETY: the link is complete, and the out-parameter is writable.
        let code = unsafe { (api.nvJitLinkGetLinkedCubinSize)(handle, &mut length) };
        if code != SUCCESS {
            return Err(state.failed("nvJitLinkGetLinkedCubinSize", code, architecture));
        }
        let mut image = vec![0u8; length];
        // SAFETY: the buffer has the size that the library returned.
        let code = unsafe { (api.nvJitLinkGetLinkedCubin)(handle, image.as_mut_ptr().cast()) };
        if code != SUCCESS {
            return Err(state.failed("nvJitLinkGetLinkedCubin", code, architecture));
        }
        let log = state.log(api.nvJitLinkGetInfoLogSize, api.nvJitLinkGetInfoLog);
        Ok(Compiled { image, log, lowered: Vec::new(), read: None })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn library_adjacent_to_nvrtc_is_tried_before_system_library() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("nvidia/nvjitlink/lib");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(NAMES[1].1), "").unwrap();
        let nvrtc = root.path().join("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        let found = candidates(12080, nvrtc.to_str(), &Settings::default());
        assert_eq!(found[0], folder.join(NAMES[1].1));
        assert_eq!(found[found.len() - 2..], [NAMES[1].1, NAMES[0].1].map(PathBuf::from));
        assert_eq!(candidates(13000, None, &Settings::default()).last(), Some(&PathBuf::from(NAMES[1].1)));
    }
}
