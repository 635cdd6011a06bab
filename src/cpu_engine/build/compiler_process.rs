//! The compiler at work in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{Build, Failure, wants_address_sanitizer, wants_source};
use crate::find_compiler::CxxCompiler;
use crate::source_rewriter::{Request, rewrite};
use crate::thread_loops::{Split, split};

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
pub const SCHEDULER: &str = "runtime.o";

/// Makes it of its source.
pub const OF_SCHEDULER: [&str; 5] = ["-O2", "-c", "include/pygpu_cpu/runtime.cpp", "-o", SCHEDULER];

/// Where the compiler writes what it read.
pub const LIST: &str = "unit.d";

/// With these GCC links code that, when the library is loaded, makes the loading thread take small numbers for 0 from then on: NumPy's too.
const SETS_THE_THREAD: [&str; 3] = ["-Ofast", "-ffast-math", "-funsafe-math-optimizations"];

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A compiler, the folder in which it works, and its options.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The compiler.
    pub compiler: &'a CxxCompiler,
    /// Where it works.
    pub place: &'a Path,
    /// Options beside those that are always there.
    pub options: &'a [String],
}

impl Run<'_> {
    /// The compiler with its options and some arguments, ready to be started.
    pub fn command(&self, arguments: &[&str]) -> Command {
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

    /// Makes `kernel.so`; gives what the linker said, or why there is none. First with the short library in a folder, where there is
    /// one: it has all names but those that a source takes from the C++ library itself.
    pub fn link(&self, scheduler: &Path, short: Option<&Path>) -> Result<Result<String, String>, Failure> {
        let object = scheduler.to_string_lossy();
        let usual = ["-shared", "unit.o", &object, "-o", "kernel.so"];
        let options: Vec<String> =
            self.options.iter().filter(|option| !SETS_THE_THREAD.contains(&&***option)).cloned().collect();
        let this = Run { compiler: self.compiler, place: self.place, options: &options };
        if let Some(short) = short {
            let folder = format!("-L{}", short.display());
            let output = this.run(&[&usual[..], &[&folder, "-Wl,-z,defs"]].concat())?;
            if output.status.success() {
                return Ok(Ok(text(&output)));
            }
        }
        let output = this.run(&usual)?;
        Ok(if output.status.success() { Ok(text(&output)) } else { Err(text(&output)) })
    }

    /// Makes `unit.o`; gives what the compiler said.
    pub fn compile(&self, request: &Build<'_>) -> Result<String, Failure> {
        // Where a precompiled header is taken, the text names it in the place of what it holds, and the list tells of what it was made.
        let preprocessed = self.run(&["-E", "-fpch-preprocess", "-fpch-deps", "-MD", "-MF", LIST, "unit.cpp"])?;
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
