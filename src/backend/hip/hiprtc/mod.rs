//! Compiles by hiprtc, which is AMD's compiler as a library. hiprtc is opened at the first compilation.
//!
//! Only architectures reported by the runtime may be passed to hiprtc: version 5.2 ends the process for an unknown
//! architecture.

pub mod library_search;

use std::ffi::{c_char, c_int};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::cuda_and_hip::DriverCallGuard;
use crate::cuda_and_hip::loader::symbol_table;
use crate::cuda_and_hip::rtc::{self, Program, RtcFunctions, RtcHandle as hiprtcProgram, SUCCESS};
use crate::{CompileOption, CompileRequest, Compiled, Compiler, Library};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings;

/// Declares the functions of the library, with the types of AMD's header.
macro_rules! hiprtc_api {
    ($expand:ident) => {
        $expand! {
            required {
                fn hiprtcVersion(major: *mut c_int, minor: *mut c_int);
                fn hiprtcCreateProgram(
                    program: *mut hiprtcProgram,
                    source: *const c_char,
                    name: *const c_char,
                    count: c_int,
                    headers: *const *const c_char,
                    names: *const *const c_char
                );
                fn hiprtcDestroyProgram(program: *mut hiprtcProgram);
                fn hiprtcAddNameExpression(program: hiprtcProgram, expression: *const c_char);
                fn hiprtcGetLoweredName(
                    program: hiprtcProgram,
                    expression: *const c_char,
                    name: *mut *const c_char
                );
                fn hiprtcCompileProgram(program: hiprtcProgram, count: c_int, options: *const *const c_char);
                fn hiprtcGetProgramLogSize(program: hiprtcProgram, bytes: *mut usize);
                fn hiprtcGetProgramLog(program: hiprtcProgram, log: *mut c_char);
                fn hiprtcGetCodeSize(program: hiprtcProgram, bytes: *mut usize);
                fn hiprtcGetCode(program: hiprtcProgram, image: *mut c_char);
            }
            optional {}
        }
    };
}

hiprtc_api!(symbol_table);

/// The opened hiprtc library.
pub struct Hiprtc {
    api: Api,
    calls: RtcFunctions,
    version: String,
    path: String,
    /// Architectures of the runtime's devices, with their features: `gfx90a:sramecc+:xnack-`.
    architectures: Vec<String>,
}

impl Hiprtc {
    pub fn open(library: Library, architectures: Vec<String>) -> Result<Self> {
        let path = library.path("hiprtcVersion");
        // SAFETY: the library exports hiprtc's version function.
        let api = unsafe { Api::load(&library) }
            .map_err(|missing| Error::Unavailable(format!("{path} lacks {}: update ROCm", missing.join(", "))))?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the out-parameters are writable.
        rtc::check("HIPRTC", unsafe { (api.hiprtcVersion)(&mut major, &mut minor) }, "hiprtcVersion")?;
        let calls = rtc::calls!(
            api,
            "HIPRTC",
            hiprtcCreateProgram,
            hiprtcDestroyProgram,
            hiprtcAddNameExpression,
            hiprtcGetLoweredName,
            hiprtcCompileProgram,
            hiprtcGetProgramLogSize,
            hiprtcGetProgramLog
        );
        Ok(Self { api, calls, version: format!("{major}.{minor}"), path, architectures })
    }
}

/// Returns the compiler option for `architecture`. Rejects an architecture that no device has; the features after the
/// colon are not compared.
fn target(architectures: &[String], architecture: &str) -> Result<String> {
    let plain = |text: &str| text.split(':').next().map(str::to_owned);
    if architectures.iter().any(|known| plain(known) == plain(architecture)) {
        return Ok(format!("--offload-arch={architecture}"));
    }
    Err(Error::value(format!(
        "the devices are {}, and none is {architecture}: leave the option out, and the device's own is taken; \
         compiler=\"hipcc\" takes any",
        architectures.join(", ")
    )))
}

/// Translates an nvcc option for hiprtc, which takes clang's options. The result is empty for an option that only
/// concerns host code.
fn spelled(option: &CompileOption) -> Result<Vec<String>> {
    let one = |text: String| Ok(vec![text]);
    let refused = |what: &str| {
        Err(Error::not_supported(format!(
            "hiprtc cannot follow {what}; leave it out, or compile with compiler=\"hipcc\""
        )))
    };
    match option {
        CompileOption::Define(name, None) => one(format!("-D{name}")),
        CompileOption::Define(name, Some(value)) => one(format!("-D{name}={value}")),
        CompileOption::Undefine(name) => one(format!("-U{name}")),
        CompileOption::Include(folder) => one(format!("-I{folder}")),
        CompileOption::ForceInclude(file) => Ok(vec!["-include".to_owned(), file.clone()]),
        CompileOption::Standard(standard) => one(format!("-std={standard}")),
        CompileOption::FastMath => one("-ffast-math".to_owned()),
        CompileOption::FusedMultiplyAdd(on) => one(format!("-ffp-contract={}", if *on { "fast" } else { "off" })),
        CompileOption::Optimize(level) => one(format!("-O{level}")),
        CompileOption::Relocatable(false) => Ok(Vec::new()),
        CompileOption::Debug => one("-g".to_owned()),
        CompileOption::LineInfo => one("-gline-tables-only".to_owned()),
        CompileOption::NoWarnings => one("-w".to_owned()),
        CompileOption::MaxRegisters(most) => refused(&format!("-maxrregcount={most}")),
        CompileOption::Verbose => one("-Rpass-analysis=kernel-resource-usage".to_owned()),
        CompileOption::Relocatable(true) => refused("-rdc=true or -dc (relocatable device code)"),
        CompileOption::Own(text) if text.starts_with("--ptxas-options") => refused(text),
        option if option.is_of_nvcc() => Ok(Vec::new()),
        CompileOption::Own(text) => one(text.clone()),
    }
}

/// Adds the source's name by a `#line` directive, because messages would otherwise show the name of a temporary file.
fn named(request: &CompileRequest<'_>) -> String {
    let name = request.name.replace('\\', "\\\\").replace('"', "\\\"");
    format!("#line 1 \"{name}\"\n{}", request.source)
}

impl Compiler for Hiprtc {
    fn name(&self) -> &str {
        "hiprtc"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn spell(&self, request: &CompileRequest<'_>) -> Result<Vec<String>> {
        let mut options = vec![target(&self.architectures, request.architecture)?];
        for option in request.options {
            options.extend(spelled(option)?);
        }
        // hiprtc compiles as C++14 by default, NVRTC as C++17.
        if !options.iter().any(|option| option.starts_with("-std=")) {
            options.push("-std=c++17".to_owned());
        }
        Ok(options)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled> {
        let options = self.spell(request)?;
        let begun = SystemTime::now();
        let _passage = DriverCallGuard::begin();
        let text = named(request);
        let program = Program::new(&self.calls, &CompileRequest { source: &text, ..*request })?;
        let code = program.compile(&options)?;
        let log = program.log()?;
        if code != SUCCESS {
            let compiler = format!("hiprtc {}", self.version);
            return Err(rtc::failure(&self.calls, code, compiler, request, options, log));
        }
        let lowered = program.lowered(request.expressions)?;
        let image = program.bytes(self.api.hiprtcGetCodeSize, self.api.hiprtcGetCode, "hiprtcGetCode")?;
        // clang, on which hiprtc is based, also searches the header folders of the machine's compilers.
        let folders: Vec<PathBuf> = settings::get().header_folders();
        let read = rtc::places(request, &folders).and_then(|places| places.fingerprints(request.source, begun));
        Ok(Compiled { image, log, lowered, read })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    /// Checks at compile time that the signatures declared above match hiprtc's header, as `abi` does for the runtime's
    /// functions.
    mod signatures {
        use super::*;
        use cubecl_hip_sys::{self as sys, hiprtcProgram};

        macro_rules! check {
            (required { $(fn $name:ident($($arg:ident: $type:ty),*);)* } optional {}) => {
                $(const _: unsafe extern "C" fn($($type),*) -> sys::hiprtcResult = sys::$name;)*
            };
        }
        hiprtc_api!(check);
    }

    #[test]
    fn hiprtc_options_are_translated_and_unsupported_options_rejected() {
        let words = |option| spelled(&option).unwrap().join(" ");
        assert_eq!(words(CompileOption::Define("N".into(), Some("3".into()))), "-DN=3");
        assert_eq!(words(CompileOption::FusedMultiplyAdd(false)), "-ffp-contract=off");
        assert_eq!(words(CompileOption::ForceInclude("a.h".into())), "-include a.h");
        let text = spelled(&CompileOption::MaxRegisters(32)).unwrap_err().to_string();
        assert!(text.contains("-maxrregcount=32") && text.contains("hipcc"), "{text}");
    }

    #[test]
    fn architecture_without_device_is_rejected_before_hiprtc() {
        let known = ["gfx90a:sramecc+:xnack-".to_owned()];
        assert_eq!(target(&known, &known[0]).unwrap(), "--offload-arch=gfx90a:sramecc+:xnack-");
        assert_eq!(target(&known, "gfx90a").unwrap(), "--offload-arch=gfx90a");
        for other in ["gfx942", "gfx90a0", "sm_90"] {
            let text = target(&known, other).unwrap_err().to_string();
            assert!(text.contains(other) && text.contains("gfx90a:sramecc+"), "{text}");
        }
    }

    #[test]
    fn source_keeps_its_name_and_line_numbers() {
        let request = CompileRequest {
            source: "int a;",
            name: "a\"b.cu",
            architecture: "gfx90a",
            options: &[],
            expressions: &[],
        };
        assert_eq!(named(&request), "#line 1 \"a\\\"b.cu\"\nint a;");
    }
    /// Tests the compiler of HIP 5.2, which works without a device. `make test` unpacks this compiler
    /// (tests/fetch_amd_runtime.sh).
    #[test]
    fn amd_compiler_accepts_translated_options() {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        assert!(root.join("tests/fetch_amd_runtime.sh").exists(), "{root:?} is not the repository");
        let Ok(libraries) = std::fs::read_to_string(root.join("build/amd/.ready")) else { return };
        let child = "hip::hiprtc::tests::amd_compiler_compiles_for_architecture_without_device";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", child, "--ignored"])
            .env("LD_LIBRARY_PATH", libraries.trim())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
    }

    #[test]
    #[ignore = "run by the test above in a separate process, because AMD's compiler aborts on unknown input"]
    fn amd_compiler_compiles_for_architecture_without_device() {
        let Ok(library) = Library::open(&["libamdhip64.so.5"]) else { return };
        let architecture = "gfx90a:sramecc+:xnack-";
        let hiprtc = Hiprtc::open(library, vec![architecture.to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let header = folder.path().join("first.h");
        std::fs::write(&header, "#define FACTOR 2\n").unwrap();
        let options = [
            CompileOption::Define("N".into(), Some("3".into())),
            CompileOption::ForceInclude(header.display().to_string()),
            CompileOption::Include(folder.path().display().to_string()),
            CompileOption::FusedMultiplyAdd(false),
            CompileOption::FastMath,
            CompileOption::Optimize(3),
            CompileOption::LineInfo,
            CompileOption::NoWarnings,
            CompileOption::Verbose,
        ];
        let source = "template <int K> __global__ void times(float *x) { x[threadIdx.x] *= K * N * FACTOR; }";
        let expressions = ["times<3>".to_owned()];
        let mut request =
            CompileRequest { source, name: "a b.cu", architecture, options: &options, expressions: &expressions };
        let compiled = hiprtc.compile(&request).unwrap();
        assert!(compiled.image.starts_with(b"\x7fELF"), "{:?}", &compiled.image[..16]);
        assert!(compiled.lowered[0].starts_with("_Z5times"), "{:?}", compiled.lowered);

        request = CompileRequest { source: "\n__global__ void k() { absent(); }", expressions: &[], ..request };
        let Err(Error::Compile(refused)) = hiprtc.compile(&request) else { panic!("it has compiled") };
        assert!(refused.log.contains("a b.cu:2:23: error: ") && refused.log.contains("absent"), "{}", refused.log);
    }
}
