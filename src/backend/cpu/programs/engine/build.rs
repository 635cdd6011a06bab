//! Compiles one source: preprocess, rewrite, compile beside the scheduler, link.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::find::CxxCompiler;
use super::headers;
use super::included::Included;
use super::rewrite::{Request, rewrite};
use super::scheduler;
use super::split::{Split, split};

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

/// What is always asked for. Products and sums stay apart, as NumPy has them; and since kernels are full of pointers to one
/// memory by several types, the compiler is to assume nothing of types.
const ALWAYS: [&str; 8] = [
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-Wno-attributes",
    "-Wno-psabi",
];

/// Without it a processor that guards return addresses would refuse the change of stacks.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
const OF_THE_PROCESSOR: [&str; 1] = ["-fcf-protection=none"];
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
const OF_THE_PROCESSOR: [&str; 0] = [];

/// Words of the device that say nothing to a C++ compiler.
const NOTHING: [&str; 7] =
    ["__global__", "__device__", "__host__", "__shared__", "__managed__", "__grid_constant__", "__noinline__"];

/// The scheduler's object file.
const SCHEDULER: &str = "runtime.o";

/// Where the compiler writes what it read.
const LIST: &str = "unit.d";

/// Options that need the source to be there when the kernel runs.
fn wants_source(options: &[String]) -> bool {
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
    let machine = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| Failure::Machine(format!("{what}: {error}"))
    };
    let folder = tempfile::Builder::new().prefix("pygpu-").tempdir_in(&compiler.host.temporary);
    let folder = folder.map_err(machine("no temporary folder"))?;
    let place = folder.path();
    headers::write(&place.join("include")).map_err(machine("the headers cannot be written"))?;
    fs::write(place.join("unit.cpp"), unit(request)).map_err(machine("the source cannot be written"))?;
    if !request.name.contains('/') && !matches!(request.name, "" | "unit.cpp" | "include") {
        // For the lines that the compiler shows below its messages, and for a debugger.
        fs::write(place.join(request.name), as_written(request)).map_err(machine("the source cannot be written"))?;
    }
    let options: Vec<String> = request.options.iter().filter(|option| definition(option).is_none()).cloned().collect();
    let run = Run { compiler, place, options: &options };
    let known = scheduler::find(compiler, &options);
    // The scheduler does not depend on the source: it is compiled meanwhile, the first time.
    let scheduler = match known {
        Some(object) => fs::write(place.join(SCHEDULER), object).map(|()| None),
        None => run.command(&["-O2", "-c", "include/pygpu_cpu/runtime.cpp", "-o", SCHEDULER]).spawn().map(Some),
    };
    // Nor do the folders in which it looks for headers.
    let folders = run.command(&["-E", "-v", "-x", "c++", "/dev/null"]).spawn();
    let image = run.compile(request);
    let end = |child: Child| child.wait_with_output().map_err(machine("the compiler cannot be run"));
    let scheduler = scheduler.map_err(machine("the scheduler cannot be compiled"))?.map(end).transpose()?;
    let folders = folders.map_err(machine("the compiler cannot be run")).and_then(end)?;
    let mut log = image?;
    if let Some(scheduler) = scheduler {
        if !scheduler.status.success() {
            let reason = format!("PyGPU's own scheduler does not compile:\n{}", text(&scheduler));
            return Err(if log.is_empty() { Failure::Source(reason) } else { Failure::Source(log + &reason) });
        }
        let object = fs::read(place.join(SCHEDULER)).map_err(machine("the scheduler cannot be read"))?;
        scheduler::keep(compiler, &options, object);
    }
    let output = run.run(&["-shared", "unit.o", SCHEDULER, "-o", "kernel.so"])?;
    log.push_str(&text(&output));
    if !output.status.success() {
        return Err(Failure::Source(log));
    }
    let list = fs::read(place.join(LIST)).ok();
    let included = Included::of(list.as_deref(), &text(&folders), place);
    let image = fs::read(place.join("kernel.so")).map_err(machine("the compiled library cannot be read"))?;
    if wants_source(request.options) {
        let _ = fs::remove_file(place.join("kernel.so"));
        let _kept = folder.keep();
    }
    Ok(Made { image, log, included })
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

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

struct Run<'a> {
    compiler: &'a CxxCompiler,
    place: &'a Path,
    options: &'a [String],
}

impl Run<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.compiler.host.command(&self.compiler.path);
        command.current_dir(self.place).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).args(["-std=c++17", "-O1"]).args(ALWAYS).args(OF_THE_PROCESSOR);
        if wants_source(self.options) {
            // In version 5 of the format the tools take the first function's file for the preprocessed text.
            command.arg("-gdwarf-4");
        }
        // The user's come last, so that they win.
        command.args(["-Iinclude", "-Iinclude/pygpu_cpu/forward"]).args(self.options).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, Failure> {
        let output = self.command(arguments).output();
        output.map_err(|error| Failure::Machine(format!("{} cannot be run: {error}", self.compiler.path.display())))
    }

    /// Makes `unit.o`; gives what the compiler said.
    fn compile(&self, request: &Build<'_>) -> Result<String, Failure> {
        let preprocessed = self.run(&["-E", "-MD", "-MF", LIST, "unit.cpp"])?;
        let mut log = text(&preprocessed);
        if !preprocessed.status.success() {
            return Err(Failure::Source(log));
        }
        let source = String::from_utf8_lossy(&preprocessed.stdout);
        if let Some(split) = self.split(&source)
            && let Ok(told) = self.compile_text(request, &split.source, &split.kernels)?
        {
            return Ok(log + &told);
        }
        match self.compile_text(request, &source, &[])? {
            Ok(told) => Ok(log + &told),
            Err(told) => {
                log.push_str(&self.told_of_the_source(&told)?);
                Err(Failure::Source(log))
            }
        }
    }

    /// What is wrong with a source, at its own columns: of the text before it was preprocessed and rewritten, in which the words
    /// of the device mean nothing. `told` where only the rewritten text is wrong.
    fn told_of_the_source(&self, told: &str) -> Result<String, Failure> {
        let mut arguments: Vec<String> =
            NOTHING.iter().map(|word| format!("-D{word}=")).chain(["-D__constant__=static".to_owned()]).collect();
        arguments.extend(["-D__launch_bounds__(...)=", "-fsyntax-only", "unit.cpp"].map(str::to_owned));
        let output = self.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(if output.status.success() { told.to_owned() } else { text(&output) })
    }

    /// The source with loops over the threads of a block. Who looks for a fault wants each thread to be by itself.
    fn split(&self, source: &str) -> Option<Split> {
        let looks = |option: &String| option.starts_with("-fsanitize") || option == "-O0";
        if self.options.iter().any(looks) || wants_source(self.options) { None } else { split(source) }
    }

    /// Makes `unit.o` of a preprocessed text, and gives what the compiler said of it.
    fn compile_text(
        &self,
        request: &Build<'_>,
        source: &str,
        whole: &[String],
    ) -> Result<Result<String, String>, Failure> {
        let rewritten = rewrite(&Request {
            source,
            expressions: request.expressions,
            shared_by_process: wants_address_sanitizer(self.options),
            whole,
        });
        fs::write(self.place.join("unit.ii"), rewritten)
            .map_err(|error| Failure::Machine(format!("the source cannot be written: {error}")))?;
        let compiled = self.run(&["-c", "unit.ii", "-o", "unit.o"])?;
        Ok(if compiled.status.success() { Ok(text(&compiled)) } else { Err(text(&compiled)) })
    }
}
