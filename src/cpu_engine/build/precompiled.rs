//! What is made once for a compiler and its options, and kept in a folder for all processes: the headers, the first of them also as
//! the compiler itself keeps what it has read (a precompiled header of GCC), and the scheduler.
//!
//! Most of what a kernel's compilation takes is reading headers; so it takes half. Nothing here is an error to anybody: where there is
//! no folder, or one that others may write to, headers are read each time. Whether a precompiled header is one of its own GCC
//! says itself, and else reads the header that lies beside it; that no header of the system has changed is looked at here.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::compiler_process::{OF_SCHEDULER, Run, SCHEDULER};
use super::dependencies::dependencies;
use super::headers;
use crate::find_compiler::CxxCompiler;

/// Beside other things that can be made again.
const FOLDER: &str = "headers";
/// As the compiler looks for it before it reads `pygpu_cpu.h`.
const PRECOMPILED: &str = "include/pygpu_cpu.h.gch";
/// In place of the C++ library, whose thousands of names are half of a linker's work: those that each kernel needs.
const SHORT: &str = "short";
const LIBRARY: &str = "short/libstdc++.so";
const NAMES: &str = "names.c";
const OF_LIBRARY: &str = "\
    void *_ZTISt9exception[4];\n\
    void __gxx_personality_v0(void) {}\nvoid __cxa_begin_catch(void) {}\nvoid __cxa_end_catch(void) {}\n\
    void _Znwm(void) {}\nvoid _ZdlPv(void) {}\nvoid _ZdlPvm(void) {}\nvoid __cxa_throw_bad_array_new_length(void) {}\n";
/// What a folder has when it is whole, beside the headers.
const MADE: [&str; 3] = [PRECOMPILED, SCHEDULER, LIBRARY];
/// What the files were that it was made of.
const MARKS: &str = "marks";
const LIST: &str = "header.d";
/// What a file of GCC's begins with: other compilers have other ways.
const OF_GCC: &[u8] = b"gpch";
/// How many are kept; each is of some megabytes.
const MOST: usize = 6;
/// How often one process tries to make them in vain.
const MOST_FAILURES: usize = 2;
static FAILURES: AtomicUsize = AtomicUsize::new(0);
/// What a process that died has left behind.
const OLD: Duration = Duration::from_secs(3600);

/// The folder that an option names in one word.
fn named_folder(option: &str) -> Option<&Path> {
    option.strip_prefix("-I").map(Path::new).filter(|folder| folder.is_absolute())
}

/// Whether options lead the compiler to no other files than those in the folders that they name in one word.
pub fn are_plain(options: &[String]) -> bool {
    const PLAIN: [&str; 8] = ["-std=", "-O", "-w", "-W", "-f", "-m", "-D", "-U"];
    const OTHER: [&str; 3] = ["-fsanitize", "-fplugin", "-fprofile"];
    let begins = |option: &str, with: &[&str]| with.iter().any(|start| option.starts_with(start));
    let is_flag = |option: &str| begins(option, &PLAIN) && !begins(option, &OTHER) && !option.contains(',');
    options.iter().all(|option| named_folder(option).is_some() || is_flag(option))
}

/// The folders that plain options name.
pub fn named_folders(options: &[String]) -> Vec<&Path> {
    let named = options.iter().filter_map(|option| named_folder(option));
    if are_plain(options) { named.collect() } else { Vec::new() }
}

/// Plain options without the folders that they name.
pub fn without_named_folders(options: &[String]) -> Vec<String> {
    let is_named = |option: &&String| are_plain(options) && named_folder(option).is_some();
    options.iter().filter(|option| !is_named(option)).cloned().collect()
}

/// Where it is kept, if it may be: the settings name a folder, and neither the options nor the environment lead elsewhere.
fn place(compiler: &CxxCompiler, options: &[String]) -> Option<PathBuf> {
    const LEADING: [&str; 4] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX"];
    let is_led = compiler.host.environment.iter().any(|(name, _)| LEADING.iter().any(|leading| name == leading));
    if is_led || compiler.version.contains("clang") || !are_plain(options) {
        return None;
    }
    let options = without_named_folders(options);
    let name = format!("{:016x}", headers::hash_of(&(&compiler.path, &compiler.version, options)));
    Some(compiler.host.kept.as_ref()?.join(FOLDER).join(name))
}

/// Only what its owner alone could have written is given to a compiler.
fn is_own(folder: &Path, may_be_sticky: bool) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    // SAFETY: has no preconditions and cannot fail.
    let own = unsafe { libc::geteuid() };
    fs::symlink_metadata(folder).is_ok_and(|known| match may_be_sticky && known.mode() & STICKY != 0 {
        true => known.is_dir(),
        false => known.is_dir() && known.uid() == own && known.mode() & OTHERS_WRITE == 0,
    })
}

/// What there is for a compiler and its options.
pub enum Prepared {
    /// A folder with all of it, as it was made.
    Ready(PathBuf),
    /// It can be made.
    Absent(PathBuf),
    /// It does not serve here.
    Useless,
}

/// Looks for it.
pub fn find(compiler: &CxxCompiler, options: &[String]) -> Prepared {
    let Some(folder) = place(compiler, options) else { return Prepared::Useless };
    match read(&folder) {
        Some(read) if is_hidden(options, &read) => Prepared::Useless,
        Some(_) => Prepared::Ready(folder),
        None if FAILURES.load(Ordering::Relaxed) < MOST_FAILURES => Prepared::Absent(folder),
        None => Prepared::Useless,
    }
}

/// The files that a header was made of, if they and all that was made are what they were.
fn read(folder: &Path) -> Option<Vec<PathBuf>> {
    let (above, marks) = (folder.parent()?, folder.join(MARKS));
    if !is_own(above.parent()?, true) || !is_own(above, false) || !is_own(folder, false) {
        return None;
    }
    let told = fs::read_to_string(&marks).ok()?;
    let path = |line: &str| Some(line.splitn(3, ' ').nth(2)?.to_owned());
    let same = |line| path(line).filter(|path| mark(folder, path).as_deref() == Some(line));
    let read = told.lines().map(|line| same(line).map(PathBuf::from)).collect::<Option<_>>()?;
    if let Ok(file) = fs::File::options().append(true).open(marks) {
        let _ = file.set_modified(SystemTime::now()); // notes the use
    }
    Some(read)
}

/// Whether a folder that an option names has anything of a name that the header's own includes lead through: it would come first.
fn is_hidden(options: &[String], read: &[PathBuf]) -> bool {
    let mut names: Vec<_> = read.iter().flat_map(|path| path.iter().skip(1)).collect();
    names.sort_unstable();
    names.dedup();
    named_folders(options).iter().any(|folder| names.iter().any(|name| folder.join(name).exists()))
}

/// How large a file is and when it was written, before its path.
fn mark(folder: &Path, path: &str) -> Option<String> {
    let known = fs::metadata(folder.join(path)).ok()?;
    let written = known.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {path}", known.len(), written.as_nanos()))
}

/// What is being made.
pub struct Making {
    folder: tempfile::TempDir,
    wanted: PathBuf,
    children: [Child; 3],
    begun: SystemTime,
}

/// Begins to make it; `None` where it cannot be kept.
pub fn begin(compiler: &CxxCompiler, options: &[String], wanted: PathBuf) -> Option<Making> {
    let begun = start(compiler, options, wanted);
    if begun.is_none() {
        FAILURES.fetch_add(1, Ordering::Relaxed);
    }
    begun
}

fn start(compiler: &CxxCompiler, options: &[String], wanted: PathBuf) -> Option<Making> {
    let above = wanted.parent()?;
    // A folder that is there, or cannot be made, is looked at behind this.
    let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(above);
    if !is_own(above.parent()?, true) || !is_own(above, false) {
        return None;
    }
    let begun = SystemTime::now();
    // Open to its owner only.
    let folder = tempfile::Builder::new().prefix(".new-").tempdir_in(above).ok()?;
    headers::write(&folder.path().join("include")).ok()?;
    let options = without_named_folders(options);
    let run = Run { compiler, place: folder.path(), options: &options };
    let start = |arguments: &[&str]| run.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok();
    let header = start(&["-x", "c++-header", "-MD", "-MF", LIST, "include/pygpu_cpu.h", "-o", PRECOMPILED])?;
    fs::create_dir(folder.path().join(SHORT)).ok()?;
    fs::write(folder.path().join(NAMES), OF_LIBRARY).ok()?;
    let own = ["-shared", "-nostdlib", "-w", "-fvisibility=default", "-Wl,-soname,libstdc++.so.6"];
    let library = [&own[..], &["-x", "c", NAMES, "-o", LIBRARY]].concat();
    let children = [header, start(&OF_SCHEDULER)?, start(&library)?];
    Some(Making { folder, wanted, children, begun })
}

impl Making {
    /// Waits for it and puts it where it is looked for; gives where it lies.
    pub fn end(self) -> Option<PathBuf> {
        let wanted = self.wanted.clone();
        let is_kept = self.keep().is_some() || read(&wanted).is_some();
        FAILURES.fetch_add(usize::from(!is_kept), Ordering::Relaxed);
        is_kept.then_some(wanted)
    }

    fn keep(self) -> Option<()> {
        // Both are waited for, whatever became of the first.
        let ended = self.children.map(|mut child| child.wait().is_ok_and(|status| status.success()));
        let place = self.folder.path();
        let list = fs::read(place.join(LIST)).ok()?;
        let mut head = [0; OF_GCC.len()];
        fs::File::open(place.join(PRECOMPILED)).ok()?.read_exact(&mut head).ok()?;
        if ended != [true; 3] || head != OF_GCC {
            return None;
        }
        let mut marks = String::new();
        let sources = dependencies(&list).into_iter().filter(|path| path.is_absolute());
        for path in MADE.map(PathBuf::from).into_iter().chain(sources) {
            // One that was written meanwhile may have been read before.
            let is_early = |known: fs::Metadata| known.modified().is_ok_and(|written| written < self.begun);
            if path.is_absolute() && !fs::metadata(&path).is_ok_and(is_early) {
                return None;
            }
            marks += &mark(place, path.to_str().filter(|path| !path.contains('\n'))?)?;
            marks.push('\n');
        }
        fs::write(place.join(MARKS), marks).ok()?;
        if read(&self.wanted).is_some() {
            return Some(()); // another process was quicker
        }
        let _ = fs::remove_dir_all(&self.wanted);
        fs::rename(place, &self.wanted).ok()?;
        let _moved = self.folder.keep();
        make_room(self.wanted.parent()?);
        Some(())
    }
}

/// Removes what was used least recently, and what was left behind.
fn make_room(above: &Path) {
    let age = |path: &Path| fs::metadata(path).and_then(|known| known.modified()).ok()?.elapsed().ok();
    let mut found: Vec<(Duration, PathBuf)> = Vec::new();
    for path in fs::read_dir(above).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match age(&path.join(MARKS)) {
            Some(used) => found.push((used, path)),
            None if age(&path).is_some_and(|made| made > OLD) => drop(fs::remove_dir_all(path)),
            None => {}
        }
    }
    found.sort();
    found.into_iter().skip(MOST).for_each(|(_, path)| drop(fs::remove_dir_all(path)));
}

/// Puts the headers where a source looks for them.
pub fn link(folder: &Path, place: &Path) -> io::Result<()> {
    symlink(folder.join("include"), place.join("include"))
}

/// The folder of the short library.
pub fn library(folder: &Path) -> PathBuf {
    folder.join(SHORT)
}

/// Takes away what did not serve.
pub fn remove(folder: &Path) {
    FAILURES.fetch_add(1, Ordering::Relaxed);
    let _ = fs::remove_dir_all(folder);
}
