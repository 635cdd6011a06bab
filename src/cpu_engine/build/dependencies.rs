//! Determines the files from which a source was compiled, as the compiler reports them.

use std::path::{Path, PathBuf};

/// The files that the compiler read, and the folders that it searched.
#[derive(Clone, Default, Debug)]
pub struct IncludedFile {
    /// The absolute paths of files that the compiler read, without PyGPU's own headers, or `None` if the compiler
    /// reported no files.
    pub files: Option<Vec<PathBuf>>,
    /// The folders that the compiler searches for headers, in search order. Folders for quoted names come first.
    pub folders: Vec<PathBuf>,
}

impl IncludedFile {
    /// Parses the compiler's output about included files. `list` is the list of files that the option `-MD` writes, and
    /// `stderr` contains the search folders that `-v` prints. `named` are folders that options name; the compiler
    /// searches them first. Paths below `places` belong to PyGPU and are left out.
    pub fn of(list: Option<&[u8]>, named: &[&Path], stderr: &str, places: &[&Path]) -> Self {
        let is_foreign = |path: &PathBuf| path.is_absolute() && !places.iter().any(|place| path.starts_with(place));
        let files = list.map(|list| dependencies(list).into_iter().filter(is_foreign).collect());
        let behind: Vec<PathBuf> = folders(stderr).into_iter().filter(is_foreign).collect();
        // If an option names a system folder, the compiler ignores the option and keeps the folder's position in the
        // search order.
        let first = named.iter().map(|&folder| folder.to_owned()).filter(|folder| !behind.contains(folder));
        Self { files, folders: first.chain(behind.clone()).collect() }
    }
}

/// Parses a `make` rule and returns its prerequisites.
pub fn dependencies(rule: &[u8]) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(rule).replace("\\\r\n", " ").replace("\\\n", " ");
    let rest = text.split_once(": ").map_or("", |(_, rest)| rest);
    let (mut files, mut word) = (Vec::new(), String::new());
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(&next)) if next == ' ' || next == '#' || next == '\t' => {
                word.push(next);
                letters.next();
            }
            ('$', Some('$')) => {
                word.push('$');
                letters.next();
            }
            (blank, _) if blank.is_whitespace() => {
                if !word.is_empty() {
                    files.push(PathBuf::from(std::mem::take(&mut word)));
                }
                if blank == '\n' {
                    // The first rule ends here. The rules that the option -MP adds after it are not parsed.
                    break;
                }
            }
            (other, _) => word.push(other),
        }
    }
    if !word.is_empty() {
        files.push(PathBuf::from(word));
    }
    files
}

/// Parses the list of search folders that `-v` prints.
fn folders(stderr: &str) -> Vec<PathBuf> {
    let listed = stderr.lines().skip_while(|line| !line.contains("search starts here:"));
    let listed = listed.take_while(|line| !line.starts_with("End of search list"));
    listed
        .filter(|line| line.starts_with(' '))
        .map(|line| PathBuf::from(line.trim().trim_end_matches(" (framework directory)")))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn make_rule_is_parsed_with_escapes() {
        let rule = b"unit.o: unit.cpp /a/b.h \\\n /with\\ blank/c\\#.h /d$$/e.h\n\n/a/b.h:\n";
        let expected = ["unit.cpp", "/a/b.h", "/with blank/c#.h", "/d$/e.h"].map(PathBuf::from);
        assert_eq!(dependencies(rule), expected);
        let included = IncludedFile::of(Some(rule), &[], "", &[Path::new("/tmp/place")]);
        assert_eq!(included.files.unwrap(), expected[1..]);
    }

    #[test]
    fn search_folders_are_between_the_two_marker_lines() {
        let stderr = "ignored\n#include \"...\" search starts here:\n /q\n#include <...> search starts here:\n \
                      include\n /usr/include\nEnd of search list.\n /no\n";
        let folders = |named: &[&str]| {
            let named: Vec<&Path> = named.iter().map(Path::new).collect();
            IncludedFile::of(None, &named, stderr, &[Path::new("/place")]).folders
        };
        assert_eq!(folders(&[]), ["/q", "/usr/include"].map(PathBuf::from));
        assert_eq!(folders(&["/usr/include", "/own"]), ["/own", "/q", "/usr/include"].map(PathBuf::from));
    }
}
