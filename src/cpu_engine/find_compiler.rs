//! Searches for a C++ compiler on the machine.

use std::env;
use std::path::{Path, PathBuf};

use crate::build::headers;
use crate::host_environment::HostEnvironment;

const USUAL: [&str; 3] = ["c++", "g++", "clang++"];

/// A C++ compiler that has been run successfully once.
#[derive(Clone, Debug)]
pub struct CxxCompiler {
    /// The environment in which the compiler runs.
    pub host: HostEnvironment,
    /// Path of the compiler program.
    pub path: PathBuf,
    /// Text that identifies the compiler and the engine in cache keys: the first line of the compiler's version output,
    /// and a hash of the engine's headers.
    pub version: String,
}

/// Environment variable that names the only compiler to use. If that compiler cannot be run, no other compiler is
/// tried. `CXX`, which other build tools also read, names only the first compiler to try.
const BINDING: &str = "PYGPU_CXX";

/// Returns the compiler that an environment variable names, or otherwise the first of the common compilers on the
/// search path. The error text lists the compilers that were tried.
pub fn find(host: &HostEnvironment) -> Result<CxxCompiler, String> {
    let named = host.named.iter().map(|(variable, program)| (format!("{variable}={program}"), program.clone()));
    let usual = USUAL.iter().map(|&name| (name.to_owned(), name.to_owned()));
    let mut tried = Vec::new();
    for (label, program) in named.chain(usual) {
        match probe(&program, host) {
            Ok(compiler) => return Ok(compiler),
            Err(reason) if label.starts_with(BINDING) => {
                return Err(format!(
                    "{label} is to compile the kernels of the cpu backend, and cannot be used: {reason}"
                ));
            }
            Err(reason) => tried.push(format!("\n  {label}: {reason}")),
        }
    }
    Err(format!(
        "kernels on the cpu backend are compiled by the machine's C++ compiler, and none was found; install g++ or clang++, or name \
         one by PYGPU_CXX; looked for:{}",
        tried.concat()
    ))
}

fn probe(program: &str, host: &HostEnvironment) -> Result<CxxCompiler, String> {
    let absent = if program.contains('/') { "there is no such file" } else { "not on PATH" };
    let path = on_path(program, host).ok_or(absent)?;
    let output = host.command(&path).arg("--version").output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("--version ended with {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default().trim();
    let version = format!("{first}, headers {:016x}", headers::fingerprint());
    Ok(CxxCompiler { path, version, host: host.clone() })
}

/// Returns the path of a program. The caller passes either the program's path, or a name that is searched for in
/// `PATH`.
fn on_path(program: &str, host: &HostEnvironment) -> Option<PathBuf> {
    if program.contains('/') {
        return Path::new(program).canonicalize().ok();
    }
    env::split_paths(&host.path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
