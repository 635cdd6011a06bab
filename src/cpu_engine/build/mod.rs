//! Compiles one source: preprocesses and rewrites it, compiles the result to an object file, and links this file with
//! the scheduler.

mod builtin_preprocessor;
mod checksums;
mod compiler_probe;
mod compiler_process;
mod dependencies;
pub mod headers;
mod precompiled;
mod stub_libraries;

use std::fs;
use std::path::Path;

use self::compiler_probe::Probe;
use self::compiler_process::{CompilerRun, LIST, SCHEDULER};
pub use self::dependencies::{IncludedFile, dependencies};
use self::precompiled::{PreparedBuild, PreparedHeader};
use super::find_compiler::CxxCompiler;

/// A source to compile, with its options.
pub struct Build<'a> {
    /// The source as the user wrote it.
    pub source: &'a str,
    /// The source's name in messages.
    pub name: &'a str,
    /// Options for the compiler.
    pub options: &'a [String],
    /// Header files to include before the source.
    pub force_include: &'a [String],
    /// Names of the template instances to compile.
    pub expressions: &'a [String],
}

/// The result of a compilation.
pub struct BuildOutput {
    /// The bytes of the shared library.
    pub image: Vec<u8>,
    /// The compiler's messages.
    pub log: String,
    /// The files that the compiler read.
    pub included: IncludedFile,
}

/// The reason for which a compilation failed.
pub enum Failure {
    /// The source does not compile. The field contains the compiler's messages.
    Source(String),
    /// The compilation failed for another reason than the source, for example a failure of the file system.
    Machine(String),
}

/// Returns whether the compiler options (such as those for debugging) require that the source file still exists while
/// the kernel runs.
pub fn wants_source(options: &[String]) -> bool {
    options.iter().any(|option| option.starts_with("-g") && option != "-g0")
}

/// Returns whether an option enables AddressSanitizer.
pub fn wants_address_sanitizer(options: &[String]) -> bool {
    options.iter().any(|option| {
        option.strip_prefix("-fsanitize=").is_some_and(|names| names.split(',').any(|name| name == "address"))
    })
}

/// Compiles a source to a shared library.
pub fn build(compiler: &CxxCompiler, request: &Build<'_>) -> Result<BuildOutput, Failure> {
    let options: Vec<String> = request.options.iter().filter(|option| definition(option).is_none()).cloned().collect();
    let job = BuildJob { compiler, request, options: &options };
    match precompiled::find(compiler, &options) {
        PreparedHeader::Ready(folder) => match job.build(Some(&folder), None) {
            // Either the source has an error, or a power failure has damaged a precompiled file. The checksums
            // distinguish these cases. A compilation without the precompiled parts, which takes several times as long,
            // is thus repeated only if necessary.
            Err(Failure::Source(_)) if !checksums::are_unchanged(&folder) => {
                let plain = job.build(None, None);
                if plain.is_ok() {
                    precompiled::remove(&folder);
                }
                plain
            }
            other => other,
        },
        // The precompiled header is built concurrently with this compilation, for later compilations. This compilation
        // reads the plain headers.
        PreparedHeader::Absent(folder) => job.build(None, precompiled::begin(compiler, &options, folder)),
        PreparedHeader::Useless => job.build(None, None),
    }
}

/// One compilation: the source, the compiler, and those options that are not written into the source.
struct BuildJob<'a> {
    compiler: &'a CxxCompiler,
    request: &'a Build<'a>,
    options: &'a [String],
}

/// Returns a function that converts an I/O error to a [`Failure`]. The failure's text begins with `what`.
pub fn machine(what: &str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Machine(format!("{what}: {error}"))
}

impl BuildJob<'_> {
    /// Compiles the source with the precompiled parts in the folder `ready`. If `ready` is `None`, compiles it without
    /// these parts, while `making` builds them.
    fn build(&self, ready: Option<&Path>, making: Option<PreparedBuild<'_>>) -> Result<BuildOutput, Failure> {
        let folder = tempfile::Builder::new().prefix("pygpu-").tempdir_in(&self.compiler.host.temporary);
        let folder = folder.map_err(machine("no temporary folder"))?;
        let place = folder.path();
        let headers = match ready {
            Some(ready) => precompiled::link(ready, place),
            None => headers::write(&place.join("include")),
        };
        headers.map_err(machine("the headers cannot be written"))?;
        self.write(place).map_err(machine("the source cannot be written"))?;
        let run = CompilerRun { compiler: self.compiler, place, options: self.options };
        // The object file of the scheduler (`runtime.cpp`) and the compiler's header folders do not depend on the
        // source. The probes that determine them therefore run concurrently with the compilation of the source, and
        // their outputs are cached for the process.
        let scheduler = match (ready, &making) {
            (None, None) => Some(compiler_probe::probe(Probe::Scheduler, &run)?),
            _ => None,
        };
        let folders = compiler_probe::probe(Probe::Folders, &run)?;
        let plain = ready.and_then(|ready| Some((ready, builtin_preprocessor::preprocess(self.request, ready)?)));
        let list =
            plain.as_ref().map_or_else(|| place.join(LIST), |(ready, _)| ready.join(builtin_preprocessor::READ_FILES));
        let compiled = run.compile(self.request, plain.map(|(_, text)| text));
        let made = making.map(PreparedBuild::end);
        let scheduler = scheduler.map(|probe| probe.answer(&run)).transpose()?;
        let folders = folders.answer(&run)?;
        let mut log = compiled?;
        let object = match (ready.or(made.as_ref().and_then(Option::as_deref)), scheduler) {
            (Some(folder), _) => folder.join(SCHEDULER),
            (None, scheduler) => {
                let scheduler =
                    scheduler.map_or_else(|| compiler_probe::probe(Probe::Scheduler, &run)?.answer(&run), Ok)?;
                let object = scheduler.map_err(|stderr| {
                    Failure::Source(format!("{log}PyGPU's own scheduler does not compile:\n{stderr}"))
                })?;
                fs::write(place.join(SCHEDULER), object).map_err(machine("the scheduler cannot be written"))?;
                place.join(SCHEDULER)
            }
        };
        log.push_str(&run.link(&object, ready)?.map_err(|stderr| Failure::Source(format!("{log}{stderr}")))?);
        let list = fs::read(list).ok();
        let places: Vec<&Path> = [Some(place), ready].into_iter().flatten().collect();
        let folders = folders.map_or_else(|stderr| stderr, |stderr| String::from_utf8_lossy(&stderr).into_owned());
        let included = IncludedFile::of(list.as_deref(), &precompiled::named_folders(self.options), &folders, &places);
        let image = fs::read(place.join("kernel.so")).map_err(machine("the compiled library cannot be read"))?;
        if wants_source(self.request.options) {
            let _ = fs::remove_file(place.join("kernel.so"));
            let _kept = folder.keep();
        }
        Ok(BuildOutput { image, log, included })
    }

    fn write(&self, place: &Path) -> std::io::Result<()> {
        fs::write(place.join("unit.cpp"), unit(self.request))?;
        if !self.request.name.contains('/') && !matches!(self.request.name, "" | "unit.cpp" | "include") {
            // The source is written to a file, because the compiler's messages quote lines of it and a debugger shows
            // it.
            fs::write(place.join(self.request.name), as_written(self.request))?;
        }
        Ok(())
    }
}

/// Returns the `#define` or `#undef` line for an option `-D` or `-U`, to be written before the source. On the command
/// line the macro would also apply to headers, where `-DN=7` breaks every template with a parameter `N`. Macros that
/// configure headers stay on the command line.
fn definition(option: &str) -> Option<String> {
    let for_headers = |name: &str| name.starts_with("PYGPU_CPU_") || name == "NDEBUG" || name.starts_with("NDEBUG=");
    if let Some(name) = option.strip_prefix("-U").filter(|name| !name.is_empty() && !for_headers(name)) {
        return Some(format!("#undef {name}\n"));
    }
    let text = option.strip_prefix("-D").filter(|text| !text.is_empty() && !for_headers(text))?;
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    Some(format!("#define {name} {value}\n"))
}

/// Returns whether a source may use textures or surfaces. The long header for textures and surfaces is included only in
/// this case.
fn speaks_of_textures(request: &Build<'_>) -> bool {
    const WORDS: [&str; 10] = [
        "tex1D",
        "tex2D",
        "tex3D",
        "surf1D",
        "surf2D",
        "surf3D",
        "TextureObject",
        "SurfaceObject",
        "ReadMode",
        "BoundaryMode",
    ];
    !request.force_include.is_empty() || WORDS.iter().any(|word| request.source.contains(word))
}

/// Returns the text to compile: includes and definitions, then the source with the user's line numbers.
fn unit(request: &Build<'_>) -> String {
    let definitions: String = request.options.iter().filter_map(|option| definition(option)).collect();
    let name = request.name.replace('\\', "\\\\").replace('"', "\\\"");
    let includes: String = request.force_include.iter().map(|file| format!("#include \"{file}\"\n")).collect();
    let textures = if speaks_of_textures(request) { "#include <pygpu_cpu/textures.h>\n" } else { "" };
    format!("#include <pygpu_cpu.h>\n{textures}{definitions}{includes}#line 1 \"{name}\"\n{}\n", request.source)
}

/// Returns the user's source, without the text that PyGPU added before the source's first line.
fn as_written<'a>(request: &Build<'a>) -> &'a str {
    let marker = format!("#line 1 \"{}\"\n", request.name);
    request.source.rsplit_once(&marker).map_or(request.source, |(_, rest)| rest)
}
