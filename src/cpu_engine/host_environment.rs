//! What the engine is told of the machine: it reads no environment itself, since it runs on threads that must not.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The order in which blocks, and the threads of a block, start.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Order {
    /// First to last.
    #[default]
    Plain,
    /// Last to first.
    Reversed,
    /// As a number chooses.
    Shuffled(u64),
}

impl Order {
    /// `reversed`, `shuffled` or `shuffled:7`, and the plain one for no text; `None` for others.
    pub fn named(text: &str) -> Option<Self> {
        match text.split_once(':').unwrap_or((text, "1")) {
            ("", "1") => Some(Self::Plain),
            ("reversed", "1") => Some(Self::Reversed),
            ("shuffled", seed) => seed.parse().ok().map(Self::Shuffled),
            _ => None,
        }
    }
}

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
    /// A folder for what can be made again, if there is one: it need not exist yet.
    pub kept: Option<PathBuf>,
    /// The order in which blocks and threads start.
    pub order: Order,
    /// Options of every kernel's compilation, beside its own.
    pub options: Vec<String>,
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
