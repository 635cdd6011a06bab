//! Images that were compiled before, by either of the two simulated compilers.
//!
//! What the library's own kernels say is the same for both, if it is nothing of a vendor's or of a warp's, and most of a suite's time on
//! a simulated GPU is that of its C++ compiler.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::together;
use crate::kernel::engine::{Build, CxxCompiler, Failure, build};

/// Where `PYGPU_SIM_IMAGES` wants them, read once as all that a driver is told.
pub fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || std::env::var_os("PYGPU_SIM_IMAGES").filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    FOLDER.get_or_init(read).as_ref()
}

/// Options that say what holds without them.
pub const AS_EVER: [&str; 2] = ["-std=c++17", "-ffp-contract=off"];

/// Whether a source is the same on every GPU, so that what a compiler says of itself need not be told to it: one of the library's own,
/// which include nothing, if it does not ask where it is.
pub fn is_common(name: &str, source: &str) -> bool {
    const TELLING: [&str; 5] = ["warp", "WARP", "HIP", "__shfl", "__ballot"];
    folder().is_some() && name.starts_with("pygpu_") && !TELLING.iter().any(|word| source.contains(word))
}

/// Compiles a source that is the same on every GPU, if that was not done before. A compiler's remarks are not kept, so those are
/// compiled again.
pub fn kept(compiler: &CxxCompiler, task: &Build<'_>) -> Result<(Vec<u8>, String), Failure> {
    let place = folder().filter(|_| task.force_include.is_empty()).map(|folder| folder.join(named(compiler, task)));
    if let Some(image) = place.as_ref().and_then(|place| fs::read(place).ok()) {
        return Ok((image, String::new()));
    }
    if let Some(place) = &place
        && together::collect(task, own_text(task), place)
    {
        return Err(Failure::Source("it is compiled later, with others".to_owned()));
    }
    let made = build(compiler, task)?;
    if let Some(place) = place.filter(|_| made.log.is_empty()) {
        // Whether it is kept or not, it is there.
        let _ = keep(&place, &made.image);
    }
    Ok((made.image, made.log))
}

/// The source without its name, which for hiprtc the library says in the source itself.
fn own_text<'a>(task: &Build<'a>) -> &'a str {
    let named = format!("#line 1 \"{}\"\n", task.name);
    task.source.strip_prefix(&named).unwrap_or(task.source)
}

fn named(compiler: &CxxCompiler, task: &Build<'_>) -> String {
    let source = own_text(task);
    let hash = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, &compiler.path, &compiler.version).hash(&mut hasher);
        (source, task.name, task.options, task.expressions).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", hash(0), hash(1))
}

/// Whole or not at all: another process may look for it now.
pub(super) fn keep(place: &PathBuf, image: &[u8]) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(place);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(image)?;
    file.persist(place)?;
    Ok(())
}
