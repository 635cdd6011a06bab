//! Finds the header files that a source may include, without a preprocessor. A file counts as included if its name is
//! at a position where an `#include` is possible. Conditions such as `#if` are not evaluated.
//!
//! This module serves compilers that do not report the files that they read. The result may contain too many names, but
//! never too few. If completeness cannot be guaranteed (`#include MACRO`), the result is `None`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::file_fingerprint::FileFingerprint;

/// Maximum number of files that are searched for includes. With more files, the search takes longer than the
/// compilation that a cached image saves.
const MOST: usize = 20_000;

/// A file name in an `#include` or a `__has_include`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Name {
    /// The file name as written in the source, without its quotation marks or brackets.
    pub text: String,
    /// Whether the name is in quotation marks, so that the folder of the including file is searched first.
    pub quoted: bool,
    /// Whether this is an `#include_next`, which continues the search after the first match.
    pub next: bool,
}

/// Directives and operators after which a file name may follow.
const WORDS: [&[u8]; 6] = [b"include", b"include_next", b"import", b"embed", b"__has_include", b"__has_include_next"];

/// Returns the names of files that a source may include, or `None` if they cannot be determined.
pub fn names(text: &[u8]) -> Option<BTreeSet<Name>> {
    let mut found = BTreeSet::new();
    // If the source contains a trigraph, which may represent `#` or a backslash, the names cannot be determined.
    if text.windows(3).any(|three| three == b"??=" || three == b"??/") {
        return None;
    }
    if !contains_word(text) && !text.contains(&b'\\') {
        return Some(found);
    }
    let text = joined(text);
    let mut at = 0;
    while let Some(start) = next_word(&text, at) {
        let end = start + text[start..].iter().take_while(|byte| is_word(**byte)).count();
        at = end;
        let word = &text[start..end];
        if !WORDS.contains(&word) {
            continue;
        }
        let asks = word.starts_with(b"__");
        let mut from = behind_blanks(&text, end);
        if asks && text.get(from) == Some(&b'(') {
            from = behind_blanks(&text, from + 1);
        }
        match name(&text, from) {
            Some((name, quoted)) => {
                found.insert(Name { text: name, quoted, next: word.ends_with(b"_next") });
            }
            None if asks && is_defined(&text[..start]) => {}
            None if asks || may_be_directive(&text[..start]) => return None,
            None => {}
        }
    }
    Some(found)
}

/// Returns the names in angle brackets that a source may include; empty if they cannot be determined.
pub fn included_names(source: &str) -> Vec<String> {
    let names = names(source.as_bytes()).unwrap_or_default();
    names.into_iter().filter(|name| !name.quoted).map(|name| name.text).collect()
}

fn contains_word(text: &[u8]) -> bool {
    [&b"include"[..], b"import", b"embed"].iter().any(|word| text.windows(word.len()).any(|window| window == *word))
}

/// Joins lines that a backslash continues. Some compilers also accept blanks after the backslash.
fn joined(text: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' {
            let blanks =
                text[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 11 | 12)).count();
            if text.get(at + 1 + blanks) == Some(&b'\n') {
                at += blanks + 2;
                continue;
            }
        }
        joined.push(text[at]);
        at += 1;
    }
    joined
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn next_word(text: &[u8], mut at: usize) -> Option<usize> {
    while at < text.len() {
        if is_word(text[at]) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns the position after the blanks and comments that begin at `at`. Line breaks outside of comments are not
/// skipped.
fn behind_blanks(text: &[u8], mut at: usize) -> usize {
    loop {
        match text.get(at) {
            Some(b' ' | b'\t' | b'\r' | 11 | 12) => at += 1,
            Some(b'/') if text.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].windows(2).position(|two| two == b"*/");
                match end {
                    Some(length) => at += length + 4,
                    None => return text.len(),
                }
            }
            _ => return at,
        }
    }
}

fn name(text: &[u8], at: usize) -> Option<(String, bool)> {
    let close = match text.get(at)? {
        b'"' => b'"',
        b'<' => b'>',
        _ => return None,
    };
    let rest = &text[at + 1..];
    let length = rest.iter().position(|byte| *byte == close || *byte == b'\n')?;
    (rest[length] == close).then(|| (String::from_utf8_lossy(&rest[..length]).into_owned(), close == b'"'))
}

/// Returns whether the word after the text `before` may be the name of a preprocessor directive. This is possible if
/// `before` ends with `#` or `%:`, or with a comment, because `#` may precede the comment.
fn may_be_directive(before: &[u8]) -> bool {
    let end = before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | 11 | 12));
    let before = end.map_or(&before[..0], |end| &before[..=end]);
    [&b"#"[..], b"%:", b"*/"].iter().any(|last| before.ends_with(last))
}

/// Returns whether the word after the text `before` is only tested for being defined as a macro: `before` ends with
/// `#ifdef`, `#ifndef` or `defined(`.
fn is_defined(before: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&before[before.len().saturating_sub(64)..]).into_owned();
    let text = text.trim_end_matches([' ', '\t']).trim_end_matches('(').trim_end_matches([' ', '\t']);
    ["ifdef", "ifndef", "defined"].iter().any(|word| text.ends_with(word))
}

/// The folders in which a compiler searches for header files, and the files that the compiler includes before the
/// source.
pub struct IncludeSearch<'a> {
    /// Folders that are searched for quoted names in the source itself.
    pub own: Vec<PathBuf>,
    /// Folders that are searched both for quoted names and for names in angle brackets.
    pub folders: Vec<PathBuf>,
    /// Files that the compiler includes before the source.
    pub before: Vec<&'a str>,
}

impl IncludeSearch<'_> {
    /// Returns fingerprints of every file that the source may include, and of every path at which a file that it may
    /// include could be created later. Returns `None` if these files cannot be determined.
    pub fn fingerprints(&self, source: &str, begun: SystemTime) -> Option<Vec<FileFingerprint>> {
        let mut texts = names(source.as_bytes())?;
        texts.extend(self.before.iter().map(|file| Name { text: (*file).to_owned(), quoted: true, next: false }));
        let (mut places, mut files) = (BTreeSet::new(), BTreeMap::new());
        let mut open: Vec<PathBuf> = Vec::new();
        self.look(&texts, &self.own, &mut places, &mut open);
        // Folders that are searched for quoted names: the folders of all files that contain an `#include`.
        let mut beside: BTreeSet<PathBuf> = self.own.iter().cloned().collect();
        while !open.is_empty() {
            let mut is_new = false;
            for path in std::mem::take(&mut open) {
                let found = names(&std::fs::read(&path).ok()?)?;
                is_new |= path.parent().is_some_and(|folder| beside.insert(folder.to_owned()));
                files.insert(path, found);
            }
            if places.len() > MOST {
                return None;
            }
            let folders: Vec<PathBuf> = beside.iter().cloned().collect();
            for found in files.values() {
                self.look(found, &folders, &mut places, &mut open);
            }
            if is_new {
                self.look(&texts, &folders, &mut places, &mut open);
            }
        }
        let fingerprint = |path: PathBuf| match files.contains_key(&path) {
            true => FileFingerprint::read(path, begun),
            false => Some(FileFingerprint::looked(path)),
        };
        places.into_iter().map(fingerprint).collect()
    }

    /// Adds a fingerprint for each path at which a file with one of the names may be, and queues those of these files
    /// that were not read yet.
    fn look(
        &self,
        names: &BTreeSet<Name>,
        beside: &[PathBuf],
        places: &mut BTreeSet<PathBuf>,
        open: &mut Vec<PathBuf>,
    ) {
        for name in names {
            let first = if name.quoted { beside } else { &[] };
            for folder in first.iter().chain(&self.folders) {
                let path = folder.join(&name.text);
                if !places.contains(&path) {
                    if path.is_file() {
                        open.push(path.clone());
                    }
                    places.insert(path);
                }
            }
        }
    }
}

/// Returns fingerprints of the files that a compiler reported, and of every path at which a new file of the same name
/// would take precedence. `own` contains the texts of PyGPU's own headers. The result also covers the files that these
/// headers include.
pub fn fingerprints_of(
    source: &str,
    read: &[PathBuf],
    folders: &[PathBuf],
    own: &[&[u8]],
    begun: SystemTime,
) -> Option<Vec<FileFingerprint>> {
    let mut found: BTreeMap<PathBuf, FileFingerprint> = BTreeMap::new();
    let mut includes: BTreeMap<(Option<PathBuf>, Name), ()> = BTreeMap::new();
    let mut add_includes = |beside: Option<&Path>, names: BTreeSet<Name>| {
        for name in names {
            let beside = beside.filter(|_| name.quoted).map(Path::to_path_buf);
            includes.insert((beside, name), ());
        }
    };
    add_includes(None, names(source.as_bytes())?);
    for text in own {
        add_includes(None, names(text)?);
    }
    for path in read {
        found.insert(path.clone(), FileFingerprint::read(path.clone(), begun)?);
        // In a header that belongs to the compiler, an `#include` of a macro is accepted, because the macro names
        // another header of the compiler.
        let is_listed = folders.iter().any(|folder| path.starts_with(folder));
        match names(&std::fs::read(path).ok()?) {
            Some(names) => add_includes(path.parent(), names),
            None if is_listed => {}
            None => return None,
        }
    }
    for (beside, name) in includes.into_keys() {
        for folder in beside.iter().chain(folders) {
            let path = folder.join(&name.text);
            let fingerprint = found.entry(path.clone()).or_insert_with(|| FileFingerprint::looked(path));
            if !name.next && !matches!(fingerprint.state, super::file_fingerprint::FileState::Absent) {
                break;
            }
        }
    }
    (found.len() <= MOST).then(|| found.into_values().collect())
}

/// Returns the fingerprints, in the form of `fingerprints_of`, of the files named in a dependency rule that the compiler
/// wrote in the syntax of `make`. Files in the compiler's temporary folder are omitted.
pub fn included_by_list(
    source: &str,
    list: &[u8],
    temporary: &Path,
    folders: &[PathBuf],
    begun: SystemTime,
) -> Option<Vec<FileFingerprint>> {
    let mut read = pygpu_cpu_engine::dependencies(list);
    if read.is_empty() {
        // An empty list is unusable, because a complete list contains at least the source itself.
        return None;
    }
    read.retain(|path| !path.starts_with(temporary));
    fingerprints_of(source, &read, folders, &[], begun)
}

/// Returns whether the options, which PyGPU does not interpret, certainly name no file that the compiler reads.
pub fn name_no_file<'a>(options: impl IntoIterator<Item = &'a str>) -> bool {
    const HARMLESS: [&str; 22] = [
        "-O",
        "-W",
        "-w",
        "-g",
        "-m",
        "-D",
        "-U",
        "-I",
        "-std",
        "--std",
        "-f",
        "--ptxas-options",
        "--extended-lambda",
        "--expt-",
        "-default-device",
        "--device-as-default",
        "--diag",
        "--fmad",
        "--ftz",
        "--prec",
        "--extra-device",
        "-R",
    ];
    options.into_iter().all(|option| {
        let value_is_path = option.split_once('=').is_some_and(|(_, value)| value.contains(['/', '.', '\\', '@']));
        HARMLESS.iter().any(|prefix| option.starts_with(prefix))
            && (!value_is_path || option.starts_with("-D"))
            && !option.starts_with("-Wl,")
            && !option.starts_with("-Wp,")
            && !option.starts_with("-Wa,")
            && !option.starts_with("-fmodule")
            && !option.starts_with("-fplugin")
            && !option.starts_with("-fprofile")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use std::time::Duration;

    fn found(text: &str) -> Vec<String> {
        names(text.as_bytes()).unwrap().into_iter().map(|name| name.text).collect()
    }

    #[test]
    fn every_spelling_of_include_is_found() {
        for text in [
            "#include \"v.h\"",
            "  #  include <v.h>",
            "%:include \"v.h\"",
            "#inc\\\nlude \"v.h\"",
            "#inc\\ \t\nlude \"v.h\"",
            "#/* \n */include/* */\"v.h\"",
            "#if 0\n#include \"v.h\"\n#endif",
            "#include_next <v.h>",
            "#if __has_include(\"v.h\")",
            "#if __has_include( <v.h> )",
            "#import \"v.h\"",
            "int x; // include\n#include \"v.h\"",
            "#include \\\n\"v.h\"",
        ] {
            assert_eq!(found(text), ["v.h"], "{text}");
        }
        for text in
            ["int include = 1;", "// to include it", "#ifdef __has_include\n#endif", "# if defined ( __has_include )"]
        {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn include_of_macro_makes_file_names_unknown() {
        for text in [
            "#define H \"v.h\"\n#include H",
            "#define H \"v.h\"\n%: include H",
            "#/**/include H",
            "??=include \"v.h\"",
            "#define I __has_include\n#if I(\"v.h\")",
            "#if __has_include(H)",
            "#inc\\\nlude H",
        ] {
            assert_eq!(names(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_candidate_path_of_every_included_name_is_watched() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for made in ["first", "second/deep"] {
            std::fs::create_dir_all(at(made)).unwrap();
        }
        std::fs::write(at("second/a.h"), "#include \"deep/b.h\"\n").unwrap();
        std::fs::write(at("second/deep/b.h"), "#include \"c.h\"\n").unwrap();
        std::fs::write(at("second/c.h"), "").unwrap();
        let search = IncludeSearch { own: vec![at("first")], folders: vec![at("second")], before: Vec::new() };
        let begun = SystemTime::now() + Duration::from_secs(9);
        let fingerprints = search.fingerprints("#include \"a.h\"", begun).unwrap();
        assert!(fingerprints.iter().all(FileFingerprint::holds));
        for (name, text) in
            [("first/a.h", ""), ("second/deep/c.h", ""), ("second/c.h", "int c;"), ("second/deep/b.h", "")]
        {
            let before = std::fs::read(at(name)).ok();
            std::fs::write(at(name), text).unwrap();
            assert!(!fingerprints.iter().all(FileFingerprint::holds), "{name}");
            match before {
                Some(bytes) => std::fs::write(at(name), bytes).unwrap(),
                None => std::fs::remove_file(at(name)).unwrap(),
            }
            // At this point the file's modification time has changed, but its bytes have not.
            assert!(fingerprints.iter().all(FileFingerprint::holds), "{name}");
        }
        assert_eq!(search.fingerprints("#include H", begun), None);
        assert_eq!(search.fingerprints("int a;", begun), Some(Vec::new()));
    }

    #[test]
    fn shadowing_file_is_watched_if_compiler_lists_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for made in ["first", "second", "third"] {
            std::fs::create_dir(at(made)).unwrap();
        }
        std::fs::write(at("second/a.h"), "#include <b.h>").unwrap();
        std::fs::write(at("third/b.h"), "").unwrap();
        let folders = [at("first"), at("second"), at("third")];
        let begun = SystemTime::now() + Duration::from_secs(9);
        let read = [at("second/a.h"), at("third/b.h")];
        let fingerprints = fingerprints_of("#include \"a.h\"", &read, &folders, &[], begun).unwrap();
        assert!(fingerprints.iter().all(FileFingerprint::holds));
        for name in ["first/a.h", "first/b.h", "second/b.h"] {
            std::fs::write(at(name), "").unwrap();
            assert!(!fingerprints.iter().all(FileFingerprint::holds), "{name}");
            std::fs::remove_file(at(name)).unwrap();
        }
        std::fs::write(at("third/a.h"), "").unwrap();
        assert!(fingerprints.iter().all(FileFingerprint::holds), "behind the one that was taken");
    }

    #[test]
    fn options_that_may_name_a_file_are_recognized() {
        assert!(name_no_file(["-O3", "-fno-strict-aliasing", "-Wall", "-DX=a.b", "-ffp-contract=off"]));
        for option in
            ["@options", "x.o", "-fplugin=x.so", "-imacros", "--use-pch", "-Wl,-T,x", "-specs=x", "-fprofile-use=d"]
        {
            assert!(!name_no_file([option]), "{option}");
        }
    }
}
