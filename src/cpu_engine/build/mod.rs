//! Compiles one source: preprocess, rewrite, compile beside the scheduler, link.

mod compiler_probe;
mod compiler_process;
mod dependencies;
pub mod headers;
mod precompiled;

use std::fs;
use std::path::Path;

use self::compiler_probe::Question;
use self::compiler_process::{LIST, Run, SCHEDULER};
pub use self::dependencies::{Included, dependencies};
use self::precompiled::{Making, Prepared};
use super::find_compiler::CxxCompiler;

/// What is to be compiled.
pub struct Build<'a> {
    /// The source, as the user wrote it.
    pub source: &'a str,
    /// Its name in messages.
    pub name: &'a str,
    /// Options of the compiler.
    pub options: &'a [String],
    /// Files to include before the source.
    pub force_include: &'a [String],
    /// Names of instances of templates that are wanted.
    pub expressions: &'a [String],
}

/// What came of it.
pub struct Made {
    /// The shared library.
    pub image: Vec<u8>,
    /// What the compiler said.
    pub log: String,
    /// The files that it read.
    pub included: Included,
}

/// Why there is no image.
pub enum Failure {
    /// The source does not compile; what the compiler said.
    Source(String),
    /// Something else went wrong.
    Machine(String),
}

/// Options that need the source to be there when the kernel runs.
pub fn wants_source(options: &[String]) -> bool {
    options.iter().any(|option| option.starts_with("-g") && option != "-g0")
}

/// Whether an option asks for the sanitizer of addresses.
pub fn wants_address_sanitizer(options: &[String]) -> bool {
    options.iter().any(|option| {
        option.strip_prefix("-fsanitize=").is_some_and(|names| names.split(',').any(|name| name == "address"))
    })
}

/// Compiles to a shared library.
pub fn build(compiler: &CxxCompiler, request: &Build<'_>) -> Result<Made, Failure> {
    let options: Vec<String> = request.options.iter().filter(|option| definition(option).is_none()).cloned().collect();
    let job = Job { compiler, request, options: &options };
    match precompiled::find(compiler, &options) {
        Prepared::Ready(folder) => match job.build(Some(&folder), None) {
            // The source's fault, or that of a file which a machine that lost power has left behind.
            Err(Failure::Source(_)) => {
                let plain = job.build(None, None);
                if plain.is_ok() {
                    precompiled::remove(&folder);
                }
                plain
            }
            other => other,
        },
        // For the next one; meanwhile this one reads the headers.
        Prepared::Absent(folder) => job.build(None, precompiled::begin(compiler, &options, folder)),
        Prepared::Useless => job.build(None, None),
    }
}

/// A source, its compiler, and those of its options that are not written into the source.
struct Job<'a> {
    compiler: &'a CxxCompiler,
    request: &'a Build<'a>,
    options: &'a [String],
}

/// Goes before an error of the system.
pub fn machine(what: &str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Machine(format!("{what}: {error}"))
}

impl Job<'_> {
    /// With what was prepared in a folder, or while it is prepared.
    fn build(&self, ready: Option<&Path>, making: Option<Making>) -> Result<Made, Failure> {
        let folder = tempfile::Builder::new().prefix("pygpu-").tempdir_in(&self.compiler.host.temporary);
        let folder = folder.map_err(machine("no temporary folder"))?;
        let place = folder.path();
        let headers = match ready {
            Some(ready) => precompiled::link(ready, place),
            None => headers::write(&place.join("include")),
        };
        headers.map_err(machine("the headers cannot be written"))?;
        self.write(place).map_err(machine("the source cannot be written"))?;
        let run = Run { compiler: self.compiler, place, options: self.options };
        // Neither depends on the source: they are asked meanwhile, the first time.
        let scheduler = match (ready, &making) {
            (None, None) => Some(compiler_probe::ask(Question::Scheduler, &run)?),
            _ => None,
        };
        let folders = compiler_probe::ask(Question::Folders, &run)?;
        let compiled = run.compile(self.request);
        let made = making.map(Making::end);
        let scheduler = scheduler.map(|asked| asked.answer(&run)).transpose()?;
        let folders = folders.answer(&run)?;
        let mut log = compiled?;
        let object = match (ready.or(made.as_ref().and_then(Option::as_deref)), scheduler) {
            (Some(folder), _) => folder.join(SCHEDULER),
            (None, scheduler) => {
                let scheduler =
                    scheduler.map_or_else(|| compiler_probe::ask(Question::Scheduler, &run)?.answer(&run), Ok)?;
                let object = scheduler
                    .map_err(|told| Failure::Source(format!("{log}PyGPU's own scheduler does not compile:\n{told}")))?;
                fs::write(place.join(SCHEDULER), object).map_err(machine("the scheduler cannot be written"))?;
                place.join(SCHEDULER)
            }
        };
        log.push_str(
            &run.link(&object, ready.map(precompiled::library).as_deref())?
                .map_err(|told| Failure::Source(format!("{log}{told}")))?,
        );
        let list = fs::read(place.join(LIST)).ok();
        let places: Vec<&Path> = [Some(place), ready].into_iter().flatten().collect();
        let folders = folders.map_or_else(|told| told, |told| String::from_utf8_lossy(&told).into_owned());
        let included = Included::of(list.as_deref(), &precompiled::named_folders(self.options), &folders, &places);
        let image = fs::read(place.join("kernel.so")).map_err(machine("the compiled library cannot be read"))?;
        if wants_source(self.request.options) {
            let _ = fs::remove_file(place.join("kernel.so"));
            let _kept = folder.keep();
        }
        Ok(Made { image, log, included })
    }

    fn write(&self, place: &Path) -> std::io::Result<()> {
        fs::write(place.join("unit.cpp"), unit(self.request))?;
        if !self.request.name.contains('/') && !matches!(self.request.name, "" | "unit.cpp" | "include") {
            // For the lines that the compiler shows below its messages, and for a debugger.
            fs::write(place.join(self.request.name), as_written(self.request))?;
        }
        Ok(())
    }
}

/// The line of a source that says what an option defines. On the command line it would reach into the headers, in which
/// `-DN=7` breaks every template of an `N`; what speaks to the headers themselves stays there.
fn definition(option: &str) -> Option<String> {
    let for_headers = |name: &str| name.starts_with("PYGPU_CPU_") || name == "NDEBUG" || name.starts_with("NDEBUG=");
    if let Some(name) = option.strip_prefix("-U").filter(|name| !name.is_empty() && !for_headers(name)) {
        return Some(format!("#undef {name}\n"));
    }
    let text = option.strip_prefix("-D").filter(|text| !text.is_empty() && !for_headers(text))?;
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    Some(format!("#define {name} {value}\n"))
}

/// Whether a source may use textures or surfaces; the header of them is long.
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

/// The source behind the header, with the user's line numbers.
fn unit(request: &Build<'_>) -> String {
    let definitions: String = request.options.iter().filter_map(|option| definition(option)).collect();
    let name = request.name.replace('\\', "\\\\").replace('"', "\\\"");
    let includes: String = request.force_include.iter().map(|file| format!("#include \"{file}\"\n")).collect();
    let textures = if speaks_of_textures(request) { "#include <pygpu_cpu/textures.h>\n" } else { "" };
    format!("#include <pygpu_cpu.h>\n{textures}{definitions}{includes}#line 1 \"{name}\"\n{}\n", request.source)
}

/// The source without what was put before its first line.
fn as_written<'a>(request: &Build<'a>) -> &'a str {
    let marker = format!("#line 1 \"{}\"\n", request.name);
    request.source.rsplit_once(&marker).map_or(request.source, |(_, rest)| rest)
}
