//! Finds the source line of an instruction with the system's tools, after a kernel has failed at that instruction.

use std::path::PathBuf;
use std::process::Stdio;

use crate::host_environment::HostEnvironment;

/// A library file that contains debug information about source lines.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    host: HostEnvironment,
}

impl Lines {
    /// Creates a `Lines` for a library file. The file must exist as long as the `Lines` is used.
    pub fn of(path: PathBuf, host: &HostEnvironment) -> Self {
        Self { path, host: host.clone() }
    }

    /// Returns the source line, such as `kernel.cu:12`, for an offset in the library. `None` if the system's tool is
    /// missing or finds no line.
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
