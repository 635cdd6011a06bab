//! The headers that a source includes from folders which its options name: when one changes, what was compiled is stale.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::backend::CompileOption;

/// More than this is a library, whose version is that of the toolkit.
const MOST: usize = 1000;

/// The texts of all headers that can be found, by their path.
pub fn contents(source: &str, options: &[CompileOption]) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders: Vec<&Path> = options
        .iter()
        .filter_map(|option| match option {
            CompileOption::Include(folder) => Some(Path::new(folder)),
            _ => None,
        })
        .collect();
    let mut found = BTreeMap::new();
    for option in options {
        if let CompileOption::ForceInclude(file) = option {
            read(Path::new(""), file, &folders, &mut found);
        }
    }
    if source.contains("include") {
        follow(Path::new(""), source, &folders, &mut found);
    }
    found
}

fn follow(from: &Path, text: &str, folders: &[&Path], found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let name = rest.trim_start().split(['"', '<', '>']).nth(1);
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            read(from, name, folders, found);
        }
    }
}

fn read(from: &Path, name: &str, folders: &[&Path], found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let beside = (!from.as_os_str().is_empty()).then_some(from);
    for folder in beside.iter().chain(folders) {
        let path = folder.join(name);
        if found.contains_key(&path) || found.len() >= MOST {
            return;
        }
        if let Ok(bytes) = fs::read(&path) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            found.insert(path, bytes);
            follow(&folder, &text, folders, found);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn headers_are_followed_once_each_and_what_is_not_found_is_left_to_the_compiler() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(folder.path().join("a.h"), "#include \"deep/b.h\"\n").unwrap();
        fs::write(folder.path().join("deep/b.h"), " # include <a.h>\n#include \"c.h\"\n").unwrap();
        fs::write(folder.path().join("deep/c.h"), "").unwrap();
        fs::write(folder.path().join("d.h"), "").unwrap();
        let include = CompileOption::Include(folder.path().display().to_string());
        let found = contents("#include \"a.h\"\n#include <cuda_fp16.h>\n#include", std::slice::from_ref(&include));
        let names: Vec<_> = found.keys().map(|path| path.strip_prefix(folder.path()).unwrap().to_owned()).collect();
        assert_eq!(names, ["a.h", "deep/b.h", "deep/c.h"].map(PathBuf::from));
        assert_eq!(contents("int a;", &[include, CompileOption::ForceInclude("d.h".into())]).len(), 1);
    }
}
