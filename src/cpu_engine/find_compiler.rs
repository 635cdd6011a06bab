//! Finds the machine's C++ compiler.

use std::env;
use std::path::{Path, PathBuf};

use crate::build::headers;
use crate::host_environment::Host;

const USUAL: [&str; 3] = ["c++", "g++", "clang++"];

/// A C++ compiler that answers.
#[derive(Clone, Debug)]
pub struct CxxCompiler {
    /// The machine that it runs on.
    pub host: Host,
    /// The program.
    pub path: PathBuf,
    /// The first line of what it says of its version, and the version of the headers.
    pub version: String,
}

/// The variable that means this compiler and no other; `CXX` says what builds of all kinds had better use.
const BINDING: &str = "PYGPU_CXX";

/// The compiler that a variable names, else the first usual one on the search path; else the text of an error
/// that says what was looked for.
pub fn find(host: &Host) -> Result<CxxCompiler, String> {
    let named = host.named.iter().map(|(variable, program)| (format!("{variable}={program}"), program.clone()));
    let usual = USUAL.iter().map(|&name| (name.to_owned(), name.to_owned()));
    let mut tried = Vec::new();
    for (label, program) in named.chain(usual) {
        match ask(&program, host) {
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

fn ask(program: &str, host: &Host) -> Result<CxxCompiler, String> {
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

/// A program by its path or its name.
fn on_path(program: &str, host: &Host) -> Option<PathBuf> {
    if program.contains('/') {
        return Path::new(program).canonicalize().ok();
    }
    env::split_paths(&host.path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
