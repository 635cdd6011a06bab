//! Caches compiled images in a folder, so that later runs of the tests need not compile the same source again.
//!
//! PyGPU's own kernels compile to the same image for CUDA and HIP, unless they contain code for one vendor or one warp
//! width. Without the cache, the C++ compiler takes most of the time of a test run on a simulated GPU.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::translation_units;
use crate::kernel::engine::{Build, CxxCompiler, Failure, build};

/// Returns the folder that `PYGPU_SIM_IMAGES` names. The variable is read only once, as a driver reads its settings.
pub fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || std::env::var_os("PYGPU_SIM_IMAGES").filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    FOLDER.get_or_init(read).as_ref()
}

/// Compiler options that have no effect on the image, because they are the compiler's defaults.
pub const AS_EVER: [&str; 2] = ["-std=c++17", "-ffp-contract=off"];

/// Returns whether the image of a source is cached. Only images of PyGPU's own kernels are cached.
pub fn is_cached(name: &str) -> bool {
    folder().is_some() && (name.starts_with("pygpu_") || name.starts_with("move_"))
}

/// Returns whether a source compiles to the same image for every GPU. This is true for a kernel of PyGPU whose source
/// does not query the vendor or the warp width. The name `__HIPCC_RTC__` does not count as a query, because neither
/// simulated compiler defines it.
pub fn is_common(name: &str, source: &str) -> bool {
    const TELLING: [&str; 4] = ["warp", "WARP", "__shfl", "__ballot"];
    let asks_vendor = source.matches("HIP").count() > source.matches("__HIPCC_RTC__").count();
    is_cached(name) && !asks_vendor && !TELLING.iter().any(|word| source.contains(word))
}

/// Returns the image of a source from the cache, or compiles it. The compiler's messages are not
/// cached, so a source that causes warnings is compiled each time.
pub fn kept(compiler: &CxxCompiler, task: &Build<'_>) -> Result<(Vec<u8>, String), Failure> {
    let place = folder().filter(|_| task.force_include.is_empty()).map(|folder| folder.join(named(compiler, task)));
    if let Some(image) = place.as_ref().and_then(|place| fs::read(place).ok()) {
        return Ok((image, String::new()));
    }
    if let Some(place) = &place
        && translation_units::collect(task, own_text(task), place)
    {
        return Err(Failure::Source("it is compiled later, with others".to_owned()));
    }
    let made = build(compiler, task)?;
    if let Some(place) = place.filter(|_| made.log.is_empty()) {
        // Ignore an error of storing the image in the cache, because the image itself is available.
        let _ = keep(&place, &made.image);
    }
    Ok((made.image, made.log))
}

/// Returns the source without its program name, which hiprtc inserts.
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

/// Writes the file of an image atomically, because another process may open the file at the same time.
pub(super) fn keep(place: &PathBuf, image: &[u8]) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(place);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(image)?;
    file.persist(place)?;
    Ok(())
}
