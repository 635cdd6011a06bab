//! Uses NVRTC, NVIDIA's compiler as a library, which is opened at the first compilation.
//!
//! If NVRTC supports the device's architecture, it produces a cubin, which needs no further compilation. Otherwise it
//! produces PTX for the newest architecture that both NVRTC and the device support, and the driver compiles the PTX.
//! NVRTC has no default search path for headers. Therefore PyGPU passes the header folders of NVRTC's toolkit for a
//! source with includes.

pub mod library_search;

use std::ffi::{c_char, c_int};
use std::time::SystemTime;

use crate::cuda_and_hip::DriverCallGuard;
use crate::cuda_and_hip::loader::symbol_table;
use crate::cuda_and_hip::rtc::{self, Program, RtcFunctions, RtcHandle as nvrtcProgram, SUCCESS};
use crate::includes;
use crate::{CompileOption, CompileRequest, Compiled, Compiler, Library};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings;
use pygpu_base::small_sort;

/// Declares the functions of the library, with the types of NVIDIA's header.
macro_rules! nvrtc_api {
    ($expand:ident) => {
        $expand! {
            required {
                fn nvrtcVersion(major: *mut c_int, minor: *mut c_int);
                fn nvrtcGetNumSupportedArchs(count: *mut c_int);
                fn nvrtcGetSupportedArchs(architectures: *mut c_int);
                fn nvrtcCreateProgram(
                    program: *mut nvrtcProgram,
                    source: *const c_char,
                    name: *const c_char,
                    count: c_int,
                    headers: *const *const c_char,
                    names: *const *const c_char
                );
                fn nvrtcDestroyProgram(program: *mut nvrtcProgram);
                fn nvrtcAddNameExpression(program: nvrtcProgram, expression: *const c_char);
                fn nvrtcGetLoweredName(
                    program: nvrtcProgram,
                    expression: *const c_char,
                    name: *mut *const c_char
                );
                fn nvrtcCompileProgram(program: nvrtcProgram, count: c_int, options: *const *const c_char);
                fn nvrtcGetProgramLogSize(program: nvrtcProgram, bytes: *mut usize);
                fn nvrtcGetProgramLog(program: nvrtcProgram, log: *mut c_char);
                fn nvrtcGetPTXSize(program: nvrtcProgram, bytes: *mut usize);
                fn nvrtcGetPTX(program: nvrtcProgram, image: *mut c_char);
                fn nvrtcGetCUBINSize(program: nvrtcProgram, bytes: *mut usize);
                fn nvrtcGetCUBIN(program: nvrtcProgram, image: *mut c_char);
            }
            optional {}
        }
    };
}

nvrtc_api!(symbol_table);

/// The opened NVRTC library.
pub struct Nvrtc {
    api: Api,
    calls: RtcFunctions,
    version: String,
    path: String,
    /// Architectures for which this NVRTC produces cubins, in ascending order: 75, 80, ... 120.
    architectures: Vec<u32>,
}

impl Nvrtc {
    pub fn open(library: Library) -> Result<Self> {
        let path = library.path("nvrtcVersion");
        // SAFETY: the library was found under NVRTC's name, so its functions have the declared signatures.
        let api = unsafe { Api::load(&library) }.map_err(|missing| {
            Error::Unavailable(format!("{path} lacks {}: NVRTC 11.2 or newer is needed", missing.join(", ")))
        })?;
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the out-parameters are writable.
        check(unsafe { (api.nvrtcVersion)(&mut major, &mut minor) }, "nvrtcVersion")?;
        // SAFETY: the out-parameter is writable.
        check(unsafe { (api.nvrtcGetNumSupportedArchs)(&mut count) }, "nvrtcGetNumSupportedArchs")?;
        let mut architectures: Vec<c_int> = vec![0; count.max(0) as usize];
        // SAFETY: the buffer has space for the number of architectures that the library returned above.
        check(unsafe { (api.nvrtcGetSupportedArchs)(architectures.as_mut_ptr()) }, "nvrtcGetSupportedArchs")?;
        let mut architectures: Vec<u32> = architectures.into_iter().map(|number| number.max(0) as u32).collect();
        small_sort::sort_by_key(&mut architectures, |one| *one);
        Ok(Self { calls: calls(&api), api, version: format!("{major}.{minor}"), path, architectures })
    }

    /// Returns the architecture to compile for, so that a device of `architecture` can run the result.
    fn target(&self, architecture: &str) -> Result<String> {
        // Code for an architecture such as `sm_90a` runs only on devices of architecture 9.0, so such a name is passed
        // unchanged. A `compute_` architecture that the user has written is passed unchanged, too.
        let number = architecture.strip_prefix("sm_").and_then(|digits| digits.parse::<u32>().ok());
        let Some(number) = number else { return Ok(architecture.to_owned()) };
        if self.architectures.contains(&number) {
            return Ok(architecture.to_owned());
        }
        let older = self.architectures.iter().rev().find(|known| **known < number);
        older.map(|known| format!("compute_{known}")).ok_or_else(|| {
            Error::not_supported(format!(
                "NVRTC {} in {} compiles for {:?}, and the device is {architecture}: an older NVRTC serves it (for \
                 devices before sm_75 that of CUDA 12: pip install \"PyGPU[cuda12]\")",
                self.version, self.path, self.architectures
            ))
        })
    }

    /// Compiles a source, and returns the program with the library's error code.
    fn compiled(&self, request: &CompileRequest<'_>, options: &[String]) -> Result<(Program<'_>, u32)> {
        if may_be_minimal(request) {
            let program = Program::new(&self.calls, request)?;
            let with_fewer = [options, &[MINIMAL.to_owned()]].concat();
            let code = program.compile(&with_fewer)?;
            if !matches!(code, rtc::INVALID_OPTION | rtc::COMPILATION) {
                return Ok((program, code));
            }
        }
        // A failed program cannot be compiled again.
        let program = Program::new(&self.calls, request)?;
        let code = program.compile(options)?;
        Ok((program, code))
    }
}

/// The option that omits the declarations of textures, surfaces and CUDA's runtime. NVRTC otherwise parses these
/// declarations before each source, which takes 6 ms of the 31 ms for an empty kernel. NVRTC before 12.4 rejects the
/// option without compiling.
const MINIMAL: &str = "--minimal";

/// Headers of C's standard library. PyGPU's own sources include them for other compilers.
const STANDARD_HEADERS: [&str; 4] = ["float.h", "limits.h", "math.h", "stdint.h"];

/// Whether a source probably needs no declaration that [`MINIMAL`] omits. If it needs one nevertheless, for example by
/// way of a macro, it is compiled again without the option.
fn may_be_minimal(request: &CompileRequest<'_>) -> bool {
    let is_special = |option: &CompileOption| {
        use CompileOption::{Debug, ForceInclude, Own, Relocatable};
        matches!(option, Own(_) | ForceInclude(_) | Relocatable(true) | Debug)
    };
    let mut words = request.source.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_');
    let included = includes::names(request.source.as_bytes());
    !request.options.iter().any(is_special)
        && !words.any(|word| ["cuda", "tex", "surf"].iter().any(|omitted| word.starts_with(omitted)))
        && !request.source.contains("<<<")
        && included.is_some_and(|names| names.iter().all(|name| STANDARD_HEADERS.contains(&name.text.as_str())))
}

/// Translates an nvcc option for NVRTC, or returns `None` for an option that only concerns host code.
fn spelled(option: &CompileOption) -> Result<Option<String>> {
    Ok(Some(match option {
        CompileOption::Define(name, None) => format!("-D{name}"),
        CompileOption::Define(name, Some(value)) => format!("-D{name}={value}"),
        CompileOption::Undefine(name) => format!("-U{name}"),
        CompileOption::Include(folder) => format!("-I{folder}"),
        CompileOption::ForceInclude(file) => format!("--pre-include={file}"),
        CompileOption::Standard(standard) => format!("--std={standard}"),
        CompileOption::FastMath => "--use_fast_math".to_owned(),
        CompileOption::FusedMultiplyAdd(on) => format!("--fmad={on}"),
        // nvcc's -O applies to host code; device code is always optimised.
        CompileOption::Optimize(_) | CompileOption::Relocatable(false) => return Ok(None),
        CompileOption::Debug => "--device-debug".to_owned(),
        CompileOption::LineInfo => "--generate-line-info".to_owned(),
        CompileOption::MaxRegisters(most) => format!("--maxrregcount={most}"),
        CompileOption::NoWarnings => "--disable-warnings".to_owned(),
        CompileOption::Verbose => "--ptxas-options=-v".to_owned(),
        // Relocatable code is incomplete: the module `linking` links it before it is loaded.
        CompileOption::Relocatable(true) => "--relocatable-device-code=true".to_owned(),
        CompileOption::Own(text) => match text.trim_start_matches('-') {
            // Kernel sources contain no host functions, so every function may be compiled for the device.
            "expt-relaxed-constexpr" => "--device-as-default-execution-space".to_owned(),
            // NVRTC needs neither the option for the default stream nor that for device lambdas. PyGPU passes a stream
            // to each launch, and NVRTC always enables device lambdas.
            "expt-extended-lambda" | "extended-lambda" => return Ok(None),
            word if word.starts_with("default-stream") => return Ok(None),
            _ => text.clone(),
        },
    }))
}

impl Compiler for Nvrtc {
    fn name(&self) -> &str {
        "nvrtc"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn spell(&self, request: &CompileRequest<'_>) -> Result<Vec<String>> {
        let mut options = vec![format!("--gpu-architecture={}", self.target(request.architecture)?)];
        for option in request.options {
            options.extend(spelled(option)?);
        }
        if rtc::may_include(request) {
            let folders = library_search::header_folders(&self.path, settings::get());
            options.extend(folders.iter().map(|folder| format!("-I{}", folder.display())));
        }
        Ok(options)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled> {
        let options = self.spell(request)?;
        let begun = SystemTime::now();
        let _passage = DriverCallGuard::begin();
        let (program, code) = self.compiled(request, &options)?;
        let log = program.log()?;
        if code != SUCCESS {
            let compiler = format!("nvrtc {}", self.version);
            return Err(rtc::failure(&self.calls, code, compiler, request, options, log));
        }
        let lowered = program.lowered(request.expressions)?;
        let api = &self.api;
        let is_ptx = options.first().is_some_and(|target| target.contains("compute_"));
        let image = if is_ptx {
            without_zeros(program.bytes(api.nvrtcGetPTXSize, api.nvrtcGetPTX, "nvrtcGetPTX")?)
        } else {
            program.bytes(api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN, "nvrtcGetCUBIN")?
        };
        let own = rtc::places(request, &library_search::header_folders(&self.path, settings::get()));
        let read = own.and_then(|own| own.fingerprints(request.source, begun));
        Ok(Compiled { image, log, lowered, read })
    }
}

fn calls(api: &Api) -> RtcFunctions {
    rtc::calls!(
        api,
        "NVRTC",
        nvrtcCreateProgram,
        nvrtcDestroyProgram,
        nvrtcAddNameExpression,
        nvrtcGetLoweredName,
        nvrtcCompileProgram,
        nvrtcGetProgramLogSize,
        nvrtcGetProgramLog
    )
}

fn check(code: u32, operation: &'static str) -> Result<()> {
    rtc::check("NVRTC", code, operation)
}

/// Removes the final zero bytes, which are not part of the image.
fn without_zeros(mut image: Vec<u8>) -> Vec<u8> {
    while image.last() == Some(&0) {
        image.pop();
    }
    image
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    /// Checks at compile time that the signatures declared above match NVRTC's header, as `sys` does for the driver's
    /// functions.
    mod signatures {
        use super::*;
        use cudarc::nvrtc::sys::{self, nvrtcProgram};

        macro_rules! check {
            (required { $(fn $name:ident($($arg:ident: $type:ty),*);)* } optional {}) => {
                $(const _: unsafe fn($($type),*) -> sys::nvrtcResult = sys::$name;)*
            };
        }
        nvrtc_api!(check);
    }

    #[test]
    fn nvrtc_drops_host_options_and_translates_nvcc_options() {
        assert_eq!(spelled(&CompileOption::Optimize(3)).unwrap(), None);
        assert_eq!(spelled(&CompileOption::Define("N".into(), Some("3".into()))).unwrap().unwrap(), "-DN=3");
        let said = |text: &str| spelled(&CompileOption::Own(text.into())).unwrap();
        assert_eq!(said("--expt-relaxed-constexpr").unwrap(), "--device-as-default-execution-space");
        assert_eq!((said("-expt-extended-lambda"), said("--default-stream=per-thread")), (None, None));
        assert_eq!(said("--ftz=true").unwrap(), "--ftz=true");
        assert_eq!(spelled(&CompileOption::Relocatable(true)).unwrap().unwrap(), "--relocatable-device-code=true");
    }

    #[test]
    fn source_is_minimal_without_textures_runtime_and_includes() {
        let of = |source, options: &[CompileOption]| {
            may_be_minimal(&CompileRequest { source, name: "n", architecture: "sm_90", options, expressions: &[] })
        };
        assert!(of(
            "#include <math.h>\n// CUDA\npycuda::complex<float> context;",
            &[CompileOption::FusedMultiplyAdd(false)]
        ));
        for text in
            ["tex2D<float>(t, x, y)", "cudaTextureObject_t t;", "surf1Dread", "k<<<1, 1>>>()", "#include \"a.h\""]
        {
            assert!(!of(text, &[]), "{text}");
        }
        for option in [CompileOption::Own("-x".into()), CompileOption::Relocatable(true), CompileOption::Debug] {
            assert!(!of("", &[option]));
        }
    }
}
