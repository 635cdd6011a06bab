//! hiprtc: AMD's compiler as a library, opened when something is compiled for the first time.
//!
//! Must only be given an architecture that a device of AMD's has named: hiprtc 5.2 ends the process for one it does not know.

use std::ffi::{c_char, c_int};
use std::path::PathBuf;

use super::driver::Hip;
use super::hiprtc_search as search;
use crate::backend::exit::Passage;
use crate::backend::loader::symbol_table;
use crate::backend::rtc::{self, Calls, Handle as hiprtcProgram, Program, SUCCESS};
use crate::backend::{CompileOption, CompileRequest, Compiled, Compiler, Library};
use crate::error::{Error, Result};

/// The functions, with the types of AMD's header.
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

/// The open library.
pub struct Hiprtc {
    api: Api,
    calls: Calls,
    version: String,
    path: String,
}

/// The compiler of a runtime; opened by the first call that finds it.
pub fn of<'a>(hip: &'a Hip, hints: &[PathBuf]) -> Result<&'a Hiprtc> {
    if let Some(open) = hip.hiprtc.get() {
        return Ok(open);
    }
    let opened = Hiprtc::open(search::open(&hip.library, hints)?)?;
    // Another thread may have been quicker: the library is then open twice, which is once to the loader.
    Ok(hip.hiprtc.get_or_init(|| opened))
}

impl Hiprtc {
    fn open(library: Library) -> Result<Self> {
        let path = library.path("hiprtcVersion");
        // SAFETY: the library has hiprtc's function of its version.
        let api = unsafe { Api::load(&library) }
            .map_err(|missing| Error::Unavailable(format!("{path} lacks {}: update ROCm", missing.join(", "))))?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the targets are writable.
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
        Ok(Self { api, calls, version: format!("{major}.{minor}"), path })
    }
}

/// hiprtc takes the name of a GPU of AMD's, with its features.
fn target(architecture: &str) -> Result<String> {
    if architecture.starts_with("gfx") {
        return Ok(format!("--offload-arch={architecture}"));
    }
    Err(Error::value(format!("hiprtc compiles for AMD's architectures, such as gfx90a, and not for {architecture:?}")))
}

/// An option in hiprtc's words, which are clang's; nothing for what concerns the host's code only.
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
        CompileOption::Verbose => refused("-Xptxas -v (resource usage in the log)"),
        CompileOption::Relocatable(true) => refused("-rdc=true or -dc (relocatable device code)"),
        CompileOption::Own(text) => one(text.clone()),
    }
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
        let mut options = vec![target(request.architecture)?];
        for option in request.options {
            options.extend(spelled(option)?);
        }
        // hiprtc's own default is C++14, NVRTC's C++17.
        if !options.iter().any(|option| option.starts_with("-std=")) {
            options.push("-std=c++17".to_owned());
        }
        Ok(options)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled> {
        let options = self.spell(request)?;
        let _passage = Passage::begin();
        let program = Program::new(&self.calls, request)?;
        let code = program.compile(&options)?;
        let log = program.log()?;
        if code != SUCCESS {
            let compiler = format!("hiprtc {}", self.version);
            return Err(rtc::failure(&self.calls, code, compiler, request, options, log));
        }
        let lowered = program.lowered(request.expressions)?;
        let image = program.bytes(self.api.hiprtcGetCodeSize, self.api.hiprtcGetCode, "hiprtcGetCode")?;
        Ok(Compiled { image, log, lowered })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    /// Checked while compiling, as for the runtime's functions.
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
    fn options_are_said_in_clangs_words_and_what_hiprtc_lacks_is_refused_by_name() {
        let words = |option| spelled(&option).unwrap().join(" ");
        assert_eq!(words(CompileOption::Define("N".into(), Some("3".into()))), "-DN=3");
        assert_eq!(words(CompileOption::FusedMultiplyAdd(false)), "-ffp-contract=off");
        assert_eq!(words(CompileOption::ForceInclude("a.h".into())), "-include a.h");
        let text = spelled(&CompileOption::MaxRegisters(32)).unwrap_err().to_string();
        assert!(text.contains("-maxrregcount=32") && text.contains("hipcc"), "{text}");
    }

    #[test]
    fn only_architectures_of_amd_reach_hiprtc() {
        assert_eq!(target("gfx90a:sramecc+:xnack-").unwrap(), "--offload-arch=gfx90a:sramecc+:xnack-");
        assert!(target("sm_90").unwrap_err().to_string().contains("gfx90a"));
    }
}
