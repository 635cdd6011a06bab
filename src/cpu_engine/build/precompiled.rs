//! Compiles in advance those parts that are equal in all kernels for one compiler and its options, and caches them on
//! disk for all processes: the headers, a GCC precompiled header of the main header, and the object file of the thread
//! scheduler.
//!
//! Reading headers takes most of a kernel's compilation time; a precompiled header halves that time. Failures of this
//! cache are never reported. If there is no cache folder, or other users can write to it, every compilation reads the
//! plain headers. GCC itself checks that a precompiled header suits the compilation, and otherwise reads the plain
//! header next to the precompiled one. GCC does not check system headers; this module detects their changes.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::compiler_process::{CompilerRun, OF_SCHEDULER, SCHEDULER, STUB_LIBRARIES};
use super::dependencies::dependencies;
use super::{builtin_preprocessor, checksums, headers, stub_libraries};
use crate::find_compiler::CxxCompiler;

/// Name of the folder for the precompiled parts inside the cache folder.
const FOLDER: &str = "headers";
/// Path at which GCC looks for a precompiled header before it reads `pygpu_cpu.h`.
const PRECOMPILED: &str = "include/pygpu_cpu.h.gch";
/// Version of the names and formats of the files in a folder of precompiled parts. The folder's name contains this
/// number, so that folders of other versions are not used.
const LAYOUT: u32 = 4;
/// Files that a complete folder of precompiled parts contains in addition to the headers.
const MADE: [&str; 2] = [PRECOMPILED, SCHEDULER];
/// Name of the file that records the size and the modification time of every file from which the header was built.
const MARKS: &str = "marks";
const LIST: &str = "header.d";
/// First bytes of a GCC precompiled header; other compilers use other formats.
const OF_GCC: &[u8] = b"gpch";
/// Maximum number of cached folders of precompiled parts. Each folder takes several megabytes.
const MOST: usize = 6;
/// Maximum number of failed attempts per process to build the precompiled parts.
const MOST_FAILURES: usize = 2;
static FAILURES: AtomicUsize = AtomicUsize::new(0);
/// Age after which a temporary folder is assumed to have been left by a process that has terminated.
const OLD: Duration = Duration::from_secs(3600);

/// Returns the folder that an option such as `-Ifolder` names in the same word, if the path is absolute.
fn named_folder(option: &str) -> Option<&Path> {
    option.strip_prefix("-I").map(Path::new).filter(|folder| folder.is_absolute())
}

/// Returns whether the options name no files, and name folders only in the form `-Ifolder`.
pub fn are_plain(options: &[String]) -> bool {
    const PLAIN: [&str; 8] = ["-std=", "-O", "-w", "-W", "-f", "-m", "-D", "-U"];
    const OTHER: [&str; 3] = ["-fsanitize", "-fplugin", "-fprofile"];
    let begins = |option: &str, with: &[&str]| with.iter().any(|start| option.starts_with(start));
    let is_flag = |option: &str| begins(option, &PLAIN) && !begins(option, &OTHER) && !option.contains(',');
    options.iter().all(|option| named_folder(option).is_some() || is_flag(option))
}

/// Returns the folders that the options name. The list is empty if `are_plain` is false for the options.
pub fn named_folders(options: &[String]) -> Vec<&Path> {
    let named = options.iter().filter_map(|option| named_folder(option));
    if are_plain(options) { named.collect() } else { Vec::new() }
}

/// Returns the options that name no folder. If `are_plain` is false for the options, returns all of them.
pub fn without_named_folders(options: &[String]) -> Vec<String> {
    let is_named = |option: &&String| are_plain(options) && named_folder(option).is_some();
    options.iter().filter(|option| !is_named(option)).cloned().collect()
}

/// Returns the folder of the precompiled parts for a compiler and options. `None` if no cache folder is configured, or
/// if options or environment variables may change which files the compiler reads.
fn place(compiler: &CxxCompiler, options: &[String]) -> Option<PathBuf> {
    const LEADING: [&str; 4] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX"];
    let is_led = compiler.host.environment.iter().any(|(name, _)| LEADING.iter().any(|leading| name == leading));
    if is_led || compiler.version.contains("clang") || !are_plain(options) {
        return None;
    }
    let options = without_named_folders(options);
    let name = format!("{:016x}", headers::hash_of(&(LAYOUT, &compiler.path, &compiler.version, options)));
    Some(compiler.host.kept.as_ref()?.join(FOLDER).join(name))
}

/// Returns whether no other user can have written files into a folder. Only files in such a folder may be passed to a
/// compiler. If `may_be_sticky` is true, a folder with the sticky bit also qualifies.
fn is_own(folder: &Path, may_be_sticky: bool) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    // SAFETY: `geteuid` has no preconditions and cannot fail.
    let own = unsafe { libc::geteuid() };
    fs::symlink_metadata(folder).is_ok_and(|known| match may_be_sticky && known.mode() & STICKY != 0 {
        true => known.is_dir(),
        false => known.is_dir() && known.uid() == own && known.mode() & OTHERS_WRITE == 0,
    })
}

/// Whether the precompiled header and the compiled thread scheduler exist for one compiler and its options.
pub enum PreparedHeader {
    /// The folder contains all precompiled parts, and the files from which they were built are unchanged.
    Ready(PathBuf),
    /// The precompiled parts do not exist yet. They will be stored in this folder.
    Absent(PathBuf),
    /// The precompiled parts cannot be used with this compiler or these options.
    Useless,
}

/// Looks up the cached folder with the precompiled header and the compiled thread scheduler. Each combination of a
/// compiler and its options has its own folder, because both parts depend on the options.
pub fn find(compiler: &CxxCompiler, options: &[String]) -> PreparedHeader {
    let Some(folder) = place(compiler, options) else { return PreparedHeader::Useless };
    match read(&folder) {
        Some(read) if is_hidden(options, &read) => PreparedHeader::Useless,
        Some(_) => PreparedHeader::Ready(folder),
        None if FAILURES.load(Ordering::Relaxed) < MOST_FAILURES => PreparedHeader::Absent(folder),
        None => PreparedHeader::Useless,
    }
}

/// Returns the files from which a precompiled header was built. Returns `None` if one of these files, or one of the
/// precompiled parts, has changed.
fn read(folder: &Path) -> Option<Vec<PathBuf>> {
    let (above, marks) = (folder.parent()?, folder.join(MARKS));
    if !is_own(above.parent()?, true) || !is_own(above, false) || !is_own(folder, false) {
        return None;
    }
    let contents = fs::read_to_string(&marks).ok()?;
    let path = |line: &str| Some(line.splitn(3, ' ').nth(2)?.to_owned());
    let same = |line| path(line).filter(|path| mark(folder, path).as_deref() == Some(line));
    let read = contents.lines().map(|line| same(line).map(PathBuf::from)).collect::<Option<_>>()?;
    if let Ok(file) = fs::File::options().append(true).open(marks) {
        let _ = file.set_modified(SystemTime::now()); // records the time of last use
    }
    Some(read)
}

/// Returns whether a folder that an option names contains a file with the name of a header that the engine's headers
/// include. The compiler would read that file instead of the intended header.
fn is_hidden(options: &[String], read: &[PathBuf]) -> bool {
    let mut names: Vec<_> = read.iter().flat_map(|path| path.iter().skip(1)).collect();
    names.sort_unstable();
    names.dedup();
    named_folders(options).iter().any(|folder| names.iter().any(|name| folder.join(name).exists()))
}

/// Returns the line for a file in the list `MARKS`: the size, the modification time and the path of the file.
fn mark(folder: &Path, path: &str) -> Option<String> {
    let known = fs::metadata(folder.join(path)).ok()?;
    let written = known.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {path}", known.len(), written.as_nanos()))
}

/// A running build of the precompiled parts.
pub struct PreparedBuild<'a> {
    compiler: &'a CxxCompiler,
    options: Vec<String>,
    folder: tempfile::TempDir,
    final_folder: PathBuf,
    children: [Child; 2],
    begun: SystemTime,
}

/// Starts to build the precompiled parts; `None` if the result cannot be stored.
pub fn begin<'a>(compiler: &'a CxxCompiler, options: &[String], final_folder: PathBuf) -> Option<PreparedBuild<'a>> {
    let begun = start(compiler, options, final_folder);
    if begun.is_none() {
        FAILURES.fetch_add(1, Ordering::Relaxed);
    }
    begun
}

fn start<'a>(compiler: &'a CxxCompiler, options: &[String], final_folder: PathBuf) -> Option<PreparedBuild<'a>> {
    let above = final_folder.parent()?;
    // An error is ignored here, because the following checks reject a folder that could not be created.
    let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(above);
    if !is_own(above.parent()?, true) || !is_own(above, false) {
        return None;
    }
    let begun = SystemTime::now();
    // Only the owner can access the temporary folder.
    let folder = tempfile::Builder::new().prefix(".new-").tempdir_in(above).ok()?;
    headers::write(&folder.path().join("include")).ok()?;
    let options = without_named_folders(options);
    let run = CompilerRun { compiler, place: folder.path(), options: &options };
    let start = |arguments: &[&str]| run.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok();
    let header = start(&["-x", "c++-header", "-MD", "-MF", LIST, "include/pygpu_cpu.h", "-o", PRECOMPILED])?;
    let children = [header, start(&OF_SCHEDULER)?];
    fs::create_dir(folder.path().join(STUB_LIBRARIES)).ok()?;
    Some(PreparedBuild { compiler, options, folder, final_folder, children, begun })
}

impl PreparedBuild<'_> {
    /// Waits for the build, moves the result to its final folder, and returns the final folder.
    pub fn end(self) -> Option<PathBuf> {
        let final_folder = self.final_folder.clone();
        let is_kept = self.keep().is_some() || read(&final_folder).is_some();
        FAILURES.fetch_add(usize::from(!is_kept), Ordering::Relaxed);
        is_kept.then_some(final_folder)
    }

    fn keep(self) -> Option<()> {
        // Both compiler processes are waited for, even if the first one failed, so that none outlives this function.
        let ended = self.children.map(|mut child| child.wait().is_ok_and(|status| status.success()));
        let place = self.folder.path();
        let list = fs::read(place.join(LIST)).ok()?;
        let mut head = [0; OF_GCC.len()];
        fs::File::open(place.join(PRECOMPILED)).ok()?.read_exact(&mut head).ok()?;
        if ended != [true; 2] || head != OF_GCC {
            return None;
        }
        // The stub libraries and the files of `builtin_preprocessor` are optional. Without them, kernels are linked
        // with the system's libraries, and the compiler preprocesses all sources.
        let run = CompilerRun { compiler: self.compiler, place, options: &self.options };
        let _ = (stub_libraries::build(&run), builtin_preprocessor::prepare(&run));
        checksums::write(place, &MADE, &[STUB_LIBRARIES, builtin_preprocessor::FOLDER]).ok()?;
        let mut marks = String::new();
        let sources = dependencies(&list).into_iter().filter(|path| path.is_absolute());
        for path in MADE.map(PathBuf::from).into_iter().chain(sources) {
            // If a file was written after the build began, the compiler may have read the file's previous contents.
            let is_early = |known: fs::Metadata| known.modified().is_ok_and(|written| written < self.begun);
            if path.is_absolute() && !fs::metadata(&path).is_ok_and(is_early) {
                return None;
            }
            marks += &mark(place, path.to_str().filter(|path| !path.contains('\n'))?)?;
            marks.push('\n');
        }
        fs::write(place.join(MARKS), marks).ok()?;
        if read(&self.final_folder).is_some() {
            return Some(()); // another process has stored the parts first
        }
        let _ = fs::remove_dir_all(&self.final_folder);
        fs::rename(place, &self.final_folder).ok()?;
        let _moved = self.folder.keep();
        make_room(self.final_folder.parent()?);
        Some(())
    }
}

/// Removes the least recently used folders of precompiled parts, and the temporary folders of processes that have
/// terminated.
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

/// Creates, in the folder `place` in which a compilation searches for headers, a link to the precompiled headers.
pub fn link(folder: &Path, place: &Path) -> io::Result<()> {
    symlink(folder.join("include"), place.join("include"))
}

/// Removes a folder of precompiled parts that has turned out to be unusable.
pub fn remove(folder: &Path) {
    FAILURES.fetch_add(1, Ordering::Relaxed);
    let _ = fs::remove_dir_all(folder);
}
