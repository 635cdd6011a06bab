//! Which line of a source an instruction belongs to, asked of the system's tools once something failed.

use std::path::PathBuf;
use std::process::Stdio;

use crate::host_environment::Host;

/// A library's file that has its lines.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    host: Host,
}

impl Lines {
    /// Of a file that stays.
    pub fn of(path: PathBuf, host: &Host) -> Self {
        Self { path, host: host.clone() }
    }

    /// `kernel.cu:12` for a place of the library; `None` where there is no tool, or it does not know.
    pub fn find(&self, place: u64) -> Option<String> {
        let tool = std::env::split_paths(&self.host.path)
            .map(|folder| folder.join("addr2line"))
            .find(|tool| tool.is_file())?;
        let mut command = self.host.command(&tool);
        let output = command.arg("-e").arg(&self.path).arg(format!("{place:#x}")).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().next()?.split(" (").next()?;
        let (file, number) = line.rsplit_once(':')?;
        let name = file.rsplit('/').next()?;
        number.parse::<u32>().ok().filter(|&number| number != 0).map(|number| format!("{name}:{number}"))
    }
}
