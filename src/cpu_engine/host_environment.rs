//! Environment of the engine as values. The engine does not read the environment itself, because it runs on threads
//! where that is unsafe.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Order in which blocks, and the threads of a block, start.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum StartOrder {
    /// First to last.
    #[default]
    Plain,
    /// Last to first.
    Reversed,
    /// Permuted by a seed.
    Shuffled(u64),
}

impl StartOrder {
    /// Parses `reversed`, `shuffled` or `shuffled:7`; empty text is the plain order. `None` for other text.
    pub fn named(text: &str) -> Option<Self> {
        match text.split_once(':').unwrap_or((text, "1")) {
            ("", "1") => Some(Self::Plain),
            ("reversed", "1") => Some(Self::Reversed),
            ("shuffled", seed) => seed.parse().ok().map(Self::Shuffled),
            _ => None,
        }
    }
}

/// Environment of the machine, provided by the user of the engine.
#[derive(Clone, Default, Debug)]
pub struct HostEnvironment {
    /// Environment variables for compilers.
    pub environment: Vec<(OsString, OsString)>,
    /// Compilers named by variables, each with the variable's name.
    pub named: Vec<(&'static str, String)>,
    /// Search path for programs, in the format of `PATH`.
    pub path: OsString,
    /// Folder for temporary files.
    pub temporary: PathBuf,
    /// Cache folder, if there is one; it is created on first use.
    pub kept: Option<PathBuf>,
    /// Order in which blocks and threads start.
    pub order: StartOrder,
    /// Options added to every kernel's compilation.
    pub options: Vec<String>,
    /// Whether a failing kernel stops in a debugger.
    pub breaks: bool,
}

impl HostEnvironment {
    /// Returns the command of a program, with this environment instead of that of the process.
    pub fn command(&self, program: &std::path::Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}
