//! Runs `nvcc` or `hipcc` as an external program, in two cases: the user selects the program, or the source includes a
//! header that the compiler library does not find.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use super::symbols;
use pygpu_backend::{
    BackendKind, CompileOption, CompileRequest, Compiled, Compiler, FileFingerprint, included_by_list,
};
use pygpu_base::error::{CompileError, Error, Result};
use pygpu_base::settings::{self, Settings, Variable};

/// An external compiler program.
pub struct CompilerProcess {
    program: PathBuf,
    path: String,
    version: String,
    kind: BackendKind,
}

/// Returns the file name of a backend's compiler program; `None` if the backend has none.
fn usual_name(kind: BackendKind) -> Option<&'static str> {
    match kind {
        BackendKind::Cuda => Some("nvcc"),
        BackendKind::Hip => Some("hipcc"),
        BackendKind::Cpu => None,
    }
}

/// Returns the environment variables that may name the folder of the backend's toolkit, and the default folder of this
/// toolkit.
fn homes(kind: BackendKind) -> (&'static [Variable], &'static str) {
    match kind {
        BackendKind::Hip => (&[Variable::ROCM_PATH, Variable::HIP_PATH], "/opt/rocm"),
        _ => (&[Variable::CUDA_HOME, Variable::CUDA_PATH], "/usr/local/cuda"),
    }
}

impl CompilerProcess {
    /// Finds a compiler program by name or path.
    ///
    /// # Errors
    /// `Unavailable` with the searched locations; `NotSupported` on the CPU backend, which has one compiler only.
    pub fn find(kind: BackendKind, name: &str) -> Result<Self> {
        let Some(usual) = usual_name(kind) else {
            return Err(Error::not_supported(format!(
                "compiler=\"{name}\": the cpu backend has one compiler, the machine's C++ compiler (CXX names another)"
            )));
        };
        let is_usual = Path::new(name).file_stem().is_some_and(|stem| stem == usual);
        if !is_usual {
            return Err(Error::value(format!(
                "compiler=\"{name}\": the {} backend takes \"{usual}\", or the path of one; None is its library",
                kind.name()
            )));
        }
        let settings = settings::get();
        let mut searched = Vec::new();
        for program in candidates(kind, name, settings) {
            match version(&program, settings) {
                Ok(version) => return Ok(Self { path: program.display().to_string(), program, version, kind }),
                Err(error) => searched.push(format!("\n  {}: {error}", program.display())),
            }
        }
        Err(Error::Unavailable(format!(
            "{name} was not found: install the toolkit that has it, or set {}; searched:{}",
            homes(kind).0.iter().map(|variable| variable.name()).collect::<Vec<_>>().join(" or "),
            searched.concat()
        )))
    }

    /// Returns the compiler program of a backend, if installed.
    pub fn usual(kind: BackendKind) -> Option<Self> {
        Self::find(kind, usual_name(kind)?).ok()
    }

    fn spelled(&self, option: &CompileOption, options: &mut Vec<String>) {
        let is_hip = self.kind == BackendKind::Hip;
        let text = match option {
            CompileOption::Define(name, None) => format!("-D{name}"),
            CompileOption::Define(name, Some(value)) => format!("-D{name}={value}"),
            CompileOption::Undefine(name) => format!("-U{name}"),
            CompileOption::Include(folder) => format!("-I{folder}"),
            CompileOption::ForceInclude(file) => {
                options.push("-include".to_owned());
                file.clone()
            }
            CompileOption::Standard(standard) => format!("-std={standard}"),
            CompileOption::FastMath if is_hip => "-ffast-math".to_owned(),
            CompileOption::FastMath => "--use_fast_math".to_owned(),
            CompileOption::FusedMultiplyAdd(on) if is_hip => {
                format!("-ffp-contract={}", if *on { "fast" } else { "off" })
            }
            CompileOption::FusedMultiplyAdd(on) => format!("--fmad={on}"),
            CompileOption::Optimize(level) => format!("-O{level}"),
            CompileOption::Debug if is_hip => "-g".to_owned(),
            CompileOption::Debug => "-G".to_owned(),
            CompileOption::LineInfo if is_hip => "-gline-tables-only".to_owned(),
            CompileOption::LineInfo => "-lineinfo".to_owned(),
            CompileOption::MaxRegisters(most) if is_hip => format!("--gpu-max-registers={most}"),
            CompileOption::MaxRegisters(most) => format!("--maxrregcount={most}"),
            CompileOption::NoWarnings => "-w".to_owned(),
            CompileOption::Verbose if is_hip => "-Rpass-analysis=kernel-resource-usage".to_owned(),
            CompileOption::Verbose => "--ptxas-options=-v".to_owned(),
            // `-rdc` is passed for both values of `on`, because the program always links a cubin, whether or not its
            // code is relocatable.
            CompileOption::Relocatable(on) => format!("{}={on}", if is_hip { "-fgpu-rdc" } else { "-rdc" }),
            CompileOption::Own(text) => text.clone(),
        };
        options.push(text);
    }

    fn failure(&self, request: &CompileRequest<'_>, options: Vec<String>, log: String) -> Error {
        Error::Compile(Box::new(CompileError {
            compiler: format!("{} {}", self.name(), self.version),
            options,
            name: request.name.to_owned(),
            source: request.source.to_owned(),
            log,
        }))
    }
}

fn candidates(kind: BackendKind, name: &str, settings: &Settings) -> Vec<PathBuf> {
    if name.contains(std::path::MAIN_SEPARATOR) {
        return vec![PathBuf::from(name)];
    }
    let (variables, usual) = homes(kind);
    let mut found = vec![settings.program(name).unwrap_or_else(|| PathBuf::from(name))];
    found.extend(settings.folders(variables).map(|root| root.join("bin").join(name)));
    found.push(Path::new(usual).join("bin").join(name));
    found
}

/// Creates a command that receives the environment variables from [`Settings`]. The process's own environment is not
/// read, because other threads may be changing it.
fn command(program: &Path, settings: &Settings) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(settings.environment());
    command
}

/// Returns the last line of the program's `--version` output, which contains the build number.
fn version(program: &Path, settings: &Settings) -> std::result::Result<String, String> {
    if program.parent().is_none_or(|folder| folder.as_os_str().is_empty()) {
        return Err("not on PATH".to_owned());
    }
    let output = command(program, settings).arg("--version").output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("--version ended with {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned).ok_or_else(|| "--version says nothing".to_owned())
}

/// Returns the program's complete output, in which the user's name of the source replaces the path of the temporary
/// file.
fn log_of(output: &Output, file: &Path, name: &str) -> String {
    let text = [output.stderr.as_slice(), output.stdout.as_slice()].concat();
    String::from_utf8_lossy(&text).replace(&file.display().to_string(), name).trim().to_owned()
}

/// Returns fingerprints of the files that the program read while compiling. `None` if the program did not write the
/// list of these files, or if an unrecognized option may have added files that are not in the list.
fn read(
    request: &CompileRequest<'_>,
    own: &Path,
    list: &Path,
    settings: &Settings,
    begun: SystemTime,
) -> Option<Vec<FileFingerprint>> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for option in request.options {
        match option {
            CompileOption::Include(folder) => folders.push(folder.into()),
            CompileOption::Own(_) => return None,
            _ => {}
        }
    }
    folders.extend(Path::new(request.name).parent().map(Path::to_path_buf));
    folders.extend(settings.header_folders());
    included_by_list(request.source, &std::fs::read(list).ok()?, own, &folders, begun)
}

impl Compiler for CompilerProcess {
    fn name(&self) -> &str {
        usual_name(self.kind).unwrap_or("compiler")
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn spell(&self, request: &CompileRequest<'_>) -> Result<Vec<String>> {
        let mut options = match self.kind {
            BackendKind::Hip => vec!["--genco".to_owned(), format!("--offload-arch={}", request.architecture)],
            _ if request.architecture.starts_with("compute_") => {
                vec!["--ptx".to_owned(), format!("-arch={}", request.architecture)]
            }
            _ => vec!["--cubin".to_owned(), format!("-arch={}", request.architecture)],
        };
        for option in request.options {
            self.spelled(option, &mut options);
        }
        Ok(options)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Compiled> {
        let options = self.spell(request)?;
        let settings = settings::get();
        let folder = tempfile::tempdir_in(settings.temporary()).map_err(|error| files(&error))?;
        let suffix = if self.kind == BackendKind::Hip { "hip" } else { "cu" };
        let list = folder.path().join("kernel.d");
        let (source, image) = (folder.path().join(format!("kernel.{suffix}")), folder.path().join("kernel.image"));
        std::fs::write(&source, request.source).map_err(|error| files(&error))?;
        let begun = SystemTime::now();
        let mut command = command(&self.program, settings);
        command.args(&options).arg("-MD").arg("-MF").arg(&list).arg("-o").arg(&image).arg(&source);
        // The folder of the original source is added to the search path for headers, because the compiler receives a
        // copy of the source in a temporary folder.
        if let Some(folder) = Path::new(request.name).parent().filter(|folder| folder.is_dir()) {
            command.arg(format!("-I{}", folder.display()));
        }
        let output = command.output().map_err(|error| files(&error))?;
        let log = log_of(&output, &source, request.name);
        if !output.status.success() {
            return Err(self.failure(request, options, log));
        }
        let image = std::fs::read(&image).map_err(|error| files(&error))?;
        let find = |name: &String| {
            symbols::find(&image, name).ok_or_else(|| {
                Error::value(format!(
                    "{} does not tell the names of templates and overloads in the image, so {name} cannot be found there: \
                     give the kernel an extern \"C\" wrapper, or leave compiler= out",
                    self.name()
                ))
            })
        };
        let lowered = request.expressions.iter().map(find).collect::<Result<_>>()?;
        let read = read(request, folder.path(), &list, settings, begun);
        Ok(Compiled { image, log, lowered, read })
    }
}

fn files(error: &std::io::Error) -> Error {
    Error::Unavailable(format!("the compiler could not be run with its temporary files: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn error_for_missing_compiler_contains_searched_path() {
        let error = CompilerProcess::find(BackendKind::Cuda, "/no/such/folder/nvcc").err().unwrap();
        assert!(
            error.to_string().contains("/no/such/folder/nvcc") && error.to_string().contains("CUDA_HOME"),
            "{error}"
        );
        let error = CompilerProcess::find(BackendKind::Cuda, "clang").err().unwrap();
        assert!(error.to_string().contains("takes \"nvcc\""), "{error}");
        assert!(matches!(CompilerProcess::find(BackendKind::Cpu, "nvcc"), Err(Error::NotSupported(_))));
    }
}
