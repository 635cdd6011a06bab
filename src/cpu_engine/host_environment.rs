//! Defines the environment of the engine: variables, folders and options, which the caller provides. The engine does
//! not read environment variables itself, because it also runs on threads on which reading them is unsafe.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The order in which blocks start, and in which the threads of a block start.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum StartOrder {
    /// Blocks and threads start in order, from the first to the last.
    #[default]
    Plain,
    /// Blocks and threads start in reverse order, from the last to the first.
    Reversed,
    /// Blocks and threads start in a random order, which this seed determines.
    Shuffled(u64),
}

impl StartOrder {
    /// Parses `reversed`, `shuffled` or `shuffled:7`. An empty text means the order from first to last. Returns `None`
    /// for any other text.
    pub fn named(text: &str) -> Option<Self> {
        match text.split_once(':').unwrap_or((text, "1")) {
            ("", "1") => Some(Self::Plain),
            ("reversed", "1") => Some(Self::Reversed),
            ("shuffled", seed) => seed.parse().ok().map(Self::Shuffled),
            _ => None,
        }
    }
}

/// Environment variables, folders and options that the caller provides for the engine.
#[derive(Clone, Default, Debug)]
pub struct HostEnvironment {
    /// Environment variables of the compiler processes.
    pub environment: Vec<(OsString, OsString)>,
    /// Compilers that environment variables name, each with the variable's name.
    pub named: Vec<(&'static str, String)>,
    /// Folders that are searched for programs, in the format of `PATH`.
    pub path: OsString,
    /// Folder for temporary files.
    pub temporary: PathBuf,
    /// Cache folder, if the engine may cache files. The engine creates the folder on first use.
    pub kept: Option<PathBuf>,
    /// Order in which the blocks of a kernel, and the threads of a block, start.
    pub order: StartOrder,
    /// Compiler options that are added for every kernel.
    pub options: Vec<String>,
    /// Whether an attached debugger stops the process when a kernel fails.
    pub breaks: bool,
}

impl HostEnvironment {
    /// Returns the command of a program. The program receives the variables in `environment` instead of those of the
    /// process.
    pub fn command(&self, program: &std::path::Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}
