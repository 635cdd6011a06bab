//! Computes checksums of built files. If a compilation that uses such files fails, the checksums show whether a power
//! failure has damaged a file or the source has an error.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::headers;

/// Name of the file with the checksums. It has one line for each built file: the hash of the file's content, and the
/// file's path.
const CHECKSUMS: &str = "checksums";

fn line(folder: &Path, path: &str) -> Option<String> {
    let content = fs::read(folder.join(path)).ok()?;
    Some(format!("{:016x} {path}", headers::hash_of(&content)))
}

/// Writes the checksums of the given files, and of all files directly in the given subfolders, to the checksum file of
/// `folder`. Paths are relative to `folder`.
pub fn write(folder: &Path, files: &[&str], subfolders: &[&str]) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    for subfolder in subfolders {
        // A missing subfolder is no error.
        for entry in fs::read_dir(folder.join(subfolder)).into_iter().flatten() {
            paths.push(Path::new(subfolder).join(entry?.file_name()));
        }
    }
    let lines: Option<Vec<String>> = paths.iter().map(|path| line(folder, path.to_str()?)).collect();
    let lines = lines.ok_or_else(|| io::Error::other("a built file cannot be read"))?;
    fs::write(folder.join(CHECKSUMS), lines.join("\n"))
}

/// Returns whether every file still has the content that it had when [`write`] computed its checksum.
pub fn are_unchanged(folder: &Path) -> bool {
    fs::read_to_string(folder.join(CHECKSUMS)).is_ok_and(|lines| {
        lines.lines().all(|known| {
            known.split_once(' ').and_then(|(_, path)| line(folder, path)).is_some_and(|found| found == known)
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;

    #[test]
    fn checksums_find_changed_and_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path();
        assert!(!are_unchanged(own), "there are no checksums yet");
        fs::create_dir(own.join("inner")).unwrap();
        for path in ["a", "inner/b"] {
            fs::write(own.join(path), path).unwrap();
        }
        write(own, &["a"], &["inner", "absent"]).unwrap();
        assert!(are_unchanged(own));
        fs::write(own.join("inner/b"), "other").unwrap();
        assert!(!are_unchanged(own));
        fs::write(own.join("inner/b"), "inner/b").unwrap();
        fs::remove_file(own.join("a")).unwrap();
        assert!(!are_unchanged(own));
        assert!(write(own, &["a"], &[]).is_err());
    }
}
