//! Runs the C++ compiler in a temporary folder, one for each compilation.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{Build, Failure, wants_address_sanitizer, wants_source};
use crate::find_compiler::CxxCompiler;
use crate::source_rewriter::{RewriteRequest, rewrite};
use crate::thread_loops::{Split, split};

/// Options of every compilation. Contraction of a product and a sum is disabled, so that results match NumPy's.
/// Type-based alias analysis is disabled, because kernels often access the same memory through pointers to several
/// types.
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

/// Disables control-flow protection in compiled kernels. A processor with this protection would reject the switch
/// between the stacks of the block's threads.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
const OF_THE_PROCESSOR: [&str; 1] = ["-fcf-protection=none"];
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
const OF_THE_PROCESSOR: [&str; 0] = [];

/// Keywords of device code that C++ lacks. When the original text of a source is compiled, they are defined as empty
/// macros.
const NOTHING: [&str; 7] =
    ["__global__", "__device__", "__host__", "__shared__", "__managed__", "__grid_constant__", "__noinline__"];

/// Name of the object file of the thread scheduler, which runs the threads of a block.
pub const SCHEDULER: &str = "runtime.o";

/// Compiler arguments for compiling the scheduler.
pub const OF_SCHEDULER: [&str; 5] = ["-O2", "-c", "include/pygpu_cpu/runtime.cpp", "-o", SCHEDULER];

/// Name of the folder of the stub libraries.
pub const STUB_LIBRARIES: &str = "stubs";
/// Path of the file that contains those arguments of the linker that name the stub libraries.
pub const STUB_LIBRARY_ARGUMENTS: &str = "stubs/arguments";

/// Name of the file to which the compiler writes the list of files that it read.
pub const LIST: &str = "unit.d";

/// Options that are not passed to the linker call. With one of these options, GCC adds code to the library that makes
/// the loading thread flush subnormal numbers to 0, even in NumPy's functions.
const SETS_THE_THREAD: [&str; 3] = ["-Ofast", "-ffast-math", "-funsafe-math-optimizations"];

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A compiler with its working folder and its options.
#[derive(Clone, Copy)]
pub struct CompilerRun<'a> {
    /// The compiler to run.
    pub compiler: &'a CxxCompiler,
    /// The folder in which the compiler runs.
    pub place: &'a Path,
    /// Options of this compilation, in addition to the options of every compilation.
    pub options: &'a [String],
}

impl CompilerRun<'_> {
    /// Creates the command that runs the compiler with its options and the given arguments. Does not start the command.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.compiler.host.command(&self.compiler.path);
        command.current_dir(self.place).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).args(["-std=c++17", "-O1"]).args(ALWAYS).args(OF_THE_PROCESSOR);
        if wants_source(self.options) {
            // The option selects DWARF version 4. With version 5, tools would report the preprocessed text, instead of
            // the user's source, as the file of the first function.
            command.arg("-gdwarf-4");
        }
        // The user's options come last, so that they take precedence.
        command.args(["-Iinclude", "-Iinclude/pygpu_cpu/forward"]).args(self.options).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, Failure> {
        let output = self.command(arguments).output();
        output.map_err(|error| Failure::Machine(format!("{} cannot be run: {error}", self.compiler.path.display())))
    }

    /// Links the object files to the library `kernel.so`. Returns the linker's output; the inner error is the output of
    /// a failed link. If the folder `ready` contains stub libraries, a faster link with them is tried first. That link
    /// fails if a source uses other symbols of the system's libraries.
    pub fn link(&self, scheduler: &Path, ready: Option<&Path>) -> Result<Result<String, String>, Failure> {
        let object = scheduler.to_string_lossy();
        let usual = ["-shared", "unit.o", &object, "-o", "kernel.so"];
        let options: Vec<String> =
            self.options.iter().filter(|option| !SETS_THE_THREAD.contains(&&***option)).cloned().collect();
        let this = CompilerRun { compiler: self.compiler, place: self.place, options: &options };
        if let Some(ready) = ready.filter(|ready| ready.join(STUB_LIBRARY_ARGUMENTS).exists()) {
            let folder = format!("-L{}", ready.join(STUB_LIBRARIES).display());
            let listed = format!("@{}", ready.join(STUB_LIBRARY_ARGUMENTS).display());
            let output = this.run(&[&usual[..], &[&folder, &listed]].concat())?;
            if output.status.success() {
                return Ok(Ok(text(&output)));
            }
        }
        let output = this.run(&usual)?;
        Ok(if output.status.success() { Ok(text(&output)) } else { Err(text(&output)) })
    }

    /// Runs the compiler's preprocessor. Returns the preprocessed source and the compiler's messages.
    pub fn preprocess(&self) -> Result<(String, String), Failure> {
        // If the compiler uses a precompiled header, the preprocessed text contains the header's name instead of its
        // content. The file `LIST` then contains the files from which the header was built.
        let preprocessed = self.run(&["-E", "-fpch-preprocess", "-fpch-deps", "-MD", "-MF", LIST, "unit.cpp"])?;
        let log = text(&preprocessed);
        match preprocessed.status.success() {
            true => Ok((String::from_utf8_lossy(&preprocessed.stdout).into_owned(), log)),
            false => Err(Failure::Source(log)),
        }
    }

    /// Compiles the source to `unit.o` and returns the compiler's output. `plain` is the preprocessed source, if the
    /// source is plain.
    pub fn compile(&self, request: &Build<'_>, plain: Option<String>) -> Result<String, Failure> {
        let (source, mut log) = plain.map_or_else(|| self.preprocess(), |plain| Ok((plain, String::new())))?;
        if let Some(split) = self.split(&source)
            && let Ok(stderr) = self.compile_text(request, &split.source, &split.kernels)?
        {
            return Ok(log + &stderr);
        }
        match self.compile_text(request, &source, &[])? {
            Ok(stderr) => Ok(log + &stderr),
            Err(stderr) => {
                log.push_str(&self.source_errors(&stderr)?);
                Err(Failure::Source(log))
            }
        }
    }

    /// Compiles the original text to obtain error messages with correct columns: this text is neither preprocessed nor
    /// rewritten, and device keywords are defined as empty. If the original text has no error, returns `stderr`, the
    /// compiler's output for the rewritten text.
    fn source_errors(&self, stderr: &str) -> Result<String, Failure> {
        let mut arguments: Vec<String> =
            NOTHING.iter().map(|word| format!("-D{word}=")).chain(["-D__constant__=static".to_owned()]).collect();
        arguments.extend(["-D__launch_bounds__(...)=", "-fsyntax-only", "unit.cpp"].map(str::to_owned));
        let output = self.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())?;
        Ok(if output.status.success() { stderr.to_owned() } else { text(&output) })
    }

    /// Returns the source with its kernels converted to loops over the threads of a block. Returns `None` if the
    /// options request debugging, because a debugger needs a separate stack for each thread.
    fn split(&self, source: &str) -> Option<Split> {
        let looks = |option: &String| option.starts_with("-fsanitize") || option == "-O0";
        if self.options.iter().any(looks) || wants_source(self.options) { None } else { split(source) }
    }

    /// Compiles preprocessed text to `unit.o` and returns the compiler's output.
    fn compile_text(
        &self,
        request: &Build<'_>,
        source: &str,
        whole: &[String],
    ) -> Result<Result<String, String>, Failure> {
        let rewritten = rewrite(&RewriteRequest {
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
