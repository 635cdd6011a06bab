//! What the engine is told of the machine: it reads no environment itself, since it runs on threads that must not.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The machine, as whoever uses the engine knows it.
#[derive(Clone, Default, Debug)]
pub struct Host {
    /// The variables that compilers are started with.
    pub environment: Vec<(OsString, OsString)>,
    /// Compilers that variables name, each with the variable's name.
    pub named: Vec<(&'static str, String)>,
    /// Folders in which programs are looked for, as `PATH` has them.
    pub path: OsString,
    /// Where temporary files go.
    pub temporary: PathBuf,
    /// Blocks and threads start last first.
    pub reversed: bool,
    /// A failed kernel stops in a debugger.
    pub breaks: bool,
}

impl Host {
    /// A program to be started with the environment that is known here, not with that of the process.
    pub fn command(&self, program: &std::path::Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}
