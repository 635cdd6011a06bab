//! Implements the backend's [`Compiler`] by the machine's C++ compiler.

use std::path::{Path, absolute};
use std::time::SystemTime;

use crate::{CompileOption, CompileRequest, Compiled, Compiler, FileFingerprint, includes};
use pygpu_base::error::{CompileError, Error, Result};
use pygpu_cpu_engine::{self as engine, Build, CxxCompiler, Failure, HostEnvironment, IncludedFile, build, find};

/// A C++ compiler that was found on the machine.
pub struct HostCompiler {
    compiler: CxxCompiler,
    name: String,
    path: String,
}

impl HostCompiler {
    /// Searches for a C++ compiler.
    ///
    /// # Errors
    /// `Unavailable` with all names that were tried.
    pub fn open(host: &HostEnvironment) -> Result<Self> {
        let compiler = find(host).map_err(Error::Unavailable)?;
        let name = compiler.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let path = compiler.path.display().to_string();
        Ok(Self { compiler, name, path })
    }
}

/// Converts a path to an absolute one, because the compiler runs in a private folder.
fn full(path: &str) -> String {
    absolute(Path::new(path)).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

/// Translates an nvcc option for g++ and clang++, or returns `None` for an option that only concerns GPUs.
fn spelled(option: &CompileOption) -> Option<String> {
    Some(match option {
        CompileOption::Define(name, None) => format!("-D{name}"),
        CompileOption::Define(name, Some(value)) => format!("-D{name}={value}"),
        CompileOption::Undefine(name) => format!("-U{name}"),
        CompileOption::Include(folder) => format!("-I{}", full(folder)),
        // The engine's headers require C++17.
        CompileOption::Standard(standard) if matches!(standard.as_str(), "c++03" | "c++11" | "c++14") => return None,
        CompileOption::Standard(standard) => format!("-std={standard}"),
        CompileOption::FusedMultiplyAdd(true) => "-ffp-contract=fast".to_owned(),
        CompileOption::FusedMultiplyAdd(false) => "-ffp-contract=off".to_owned(),
        CompileOption::Optimize(level) => format!("-O{level}"),
        CompileOption::Debug => "-g".to_owned(),
        CompileOption::LineInfo => "-g1".to_owned(),
        CompileOption::NoWarnings => "-w".to_owned(),
        option if option.is_of_nvcc() => return None,
        CompileOption::Own(text) => text.clone(),
        // Fast math permits less accurate results but does not require them, so exact results are correct. Register
        // limits and linking have no meaning on a host.
        CompileOption::ForceInclude(_)
        | CompileOption::FastMath
        | CompileOption::MaxRegisters(_)
        | CompileOption::Verbose
        | CompileOption::Relocatable(_) => return None,
    })
}

/// Options whose value, in the same argument or in the next one, is the path of a header file or folder. PyGPU accepts
/// them, because the compiler also reports the files that it reads through these options.
const LISTED: [&str; 6] = ["-iquote", "-idirafter", "-imacros", "-isystem", "-include", "-I"];

/// Returns fingerprints of the files that a compilation read, or `None` if they cannot be determined.
fn read(request: &CompileRequest<'_>, included: &IncludedFile, begun: SystemTime) -> Option<Vec<FileFingerprint>> {
    let mut unknown = Vec::new();
    let mut options = request.options.iter();
    while let Some(option) = options.next() {
        match option {
            option if option.is_of_nvcc() => {}
            CompileOption::Own(text) if LISTED.contains(&text.as_str()) => drop(options.next()),
            CompileOption::Own(text) if LISTED.iter().any(|listed| text.starts_with(listed)) => {}
            CompileOption::Own(text) => unknown.push(text.as_str()),
            _ => {}
        }
    }
    let files = included.files.as_deref().filter(|_| includes::name_no_file(unknown))?;
    includes::fingerprints_of(request.source, files, &included.folders, &engine::headers(), begun)
}

const NO_PTX: &str = "\n(the cpu backend has no PTX: put inline assembly of a GPU behind #ifndef __PYGPU_CPU__)";
const NO_LAUNCHES: &str = "\n(on the cpu backend a kernel cannot launch kernels: dynamic parallelism is for CUDA)";

/// Appends a note to the log if options for nvcc's assembler were passed. These options (`-Xptxas`) request output that
/// the CPU backend cannot produce.
fn with_note(mut log: String, options: &[CompileOption]) -> String {
    if options.contains(&CompileOption::Verbose) {
        log.push_str(
            "--ptxas-options=-v: how many registers a kernel takes is not known on the cpu backend, which has none\n",
        );
    }
    log
}

impl Compiler for HostCompiler {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.compiler.version
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn spell(&self, request: &CompileRequest<'_>) -> Result<Vec<String>> {
        let mut options: Vec<String> = request.options.iter().filter_map(spelled).collect();
        if request.options.contains(&CompileOption::Debug) {
            options.push("-O0".to_owned());
        }
        options.extend(self.compiler.host.options.iter().cloned());
        Ok(options)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled> {
        let options = self.spell(request)?;
        let force_include: Vec<String> = request
            .options
            .iter()
            .filter_map(|option| if let CompileOption::ForceInclude(file) = option { Some(full(file)) } else { None })
            .collect();
        let begun = SystemTime::now();
        let task = Build {
            source: request.source,
            name: request.name,
            options: &options,
            force_include: &force_include,
            expressions: request.expressions,
        };
        match build(&self.compiler, &task) {
            Ok(made) => {
                let read = read(request, &made.included, begun);
                let log = with_note(made.log, request.options);
                Ok(Compiled { image: made.image, log, lowered: request.expressions.to_vec(), read })
            }
            Err(Failure::Source(mut log)) => {
                if log.contains("Assembler messages")
                    || log.contains("in an \u{2018}asm\u{2019}")
                    || log.contains("in 'asm'")
                {
                    log.push_str(NO_PTX);
                }
                if request.source.contains("<<<") && log.contains("<<<") {
                    log.push_str(NO_LAUNCHES);
                }
                Err(Error::Compile(Box::new(CompileError {
                    compiler: format!("{} ({})", self.path, self.compiler.version),
                    options,
                    name: request.name.to_owned(),
                    source: request.source.to_owned(),
                    log,
                })))
            }
            Err(Failure::Machine(text)) => Err(Error::value(text)),
        }
    }
}
