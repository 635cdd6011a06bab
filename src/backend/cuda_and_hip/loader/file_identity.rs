//! Identifies a compiler's library file for the key of a cached image. The library is not opened for this, because
//! opening takes longer than loading the image from the cache.

use std::path::{Path, PathBuf};

use pygpu_base::settings::{Settings, Variable};

/// Returns the path, size and modification time of a file. They identify the contents of the file, which is not read.
fn identity_without_reading(path: &Path) -> Option<String> {
    let known = std::fs::metadata(path).ok()?;
    let changed = known.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}\n", path.display(), known.len(), changed.as_nanos()))
}

/// Returns a text that identifies the first candidate file that exists. A candidate without a folder, which only the
/// system's loader can find, is identified by the loader's search path and the files of this name in it.
pub fn identity_of_first(candidates: &[PathBuf], settings: &Settings) -> String {
    let mut text = String::new();
    for candidate in candidates {
        if candidate.is_absolute() {
            if let Some(file) = identity_without_reading(candidate) {
                text.push_str(&file);
                break;
            }
        } else {
            let folders = settings.get(Variable::LD_LIBRARY_PATH).unwrap_or_default();
            text.push_str(&format!("{} {}\n", candidate.display(), folders.to_string_lossy()));
            text.extend(identity_without_reading(Path::new("/etc/ld.so.cache")));
            let beside =
                std::env::split_paths(&folders).filter_map(|folder| identity_without_reading(&folder.join(candidate)));
            text.extend(beside);
        }
    }
    text
}
