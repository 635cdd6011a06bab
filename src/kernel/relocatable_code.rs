//! Links the relocatable device code of a source (`-rdc=true`) before the code is loaded. If kernels in the source
//! launch other kernels, CUDA's device runtime is linked too.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::compile::KernelSource;
use super::options::is_relocatable;
use pygpu_backend::{BackendKind, CompileOption, Compiled, LinkInput, LinkKind, LoadOptions};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings::{self, Settings, Variable};
use pygpu_device::Device;

const RUNTIME: &str = "libcudadevrt.a";

/// Returns the loadable image of a compiled source: the linked image if the code is relocatable, otherwise the compiled
/// image.
///
/// # Errors
/// Linker errors; `Unavailable` if the code launches kernels and the device runtime is not found.
pub fn linked<'a>(
    device: Device,
    source: &KernelSource,
    compiled: &'a Compiled,
    (list, options): (&[CompileOption], &LoadOptions),
    hints: &[PathBuf],
) -> Result<Cow<'a, Compiled>> {
    if device.kind() != BackendKind::Cuda || !is_relocatable(list) {
        return Ok(Cow::Borrowed(compiled));
    }
    let launches = source.text.contains("<<<");
    let runtime = if launches { Some(runtime(hints, settings::get())?) } else { None };
    let kind = if compiled.image.starts_with(b"\x7fELF") { LinkKind::Cubin } else { LinkKind::Ptx };
    let mut inputs = vec![LinkInput { kind, data: &compiled.image, name: c"kernel" }];
    inputs.extend(runtime.iter().map(|data| LinkInput { kind: LinkKind::Library, data, name: c"cudadevrt" }));
    let linked = device.backend().device_code()?.link(device.index(), &inputs, options)?;
    let log = [compiled.log.as_str(), linked.log.as_str()].join("\n").trim().to_owned();
    Ok(Cow::Owned(Compiled { image: linked.image, log, lowered: compiled.lowered.clone(), read: None }))
}

/// Returns the paths at which the device runtime may be: in wheels next to the compiler's library, and in the toolkit.
fn places(hints: &[PathBuf], settings: &Settings) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in hints.iter().filter_map(|hint| hint.parent()) {
        folders.push(folder.to_path_buf());
        folders.extend(folder.parent().and_then(Path::parent).map(|root| root.join("cuda_runtime/lib")));
    }
    let homes = settings.folders(&[Variable::CUDA_HOME, Variable::CUDA_PATH]).map(|root| root.to_path_buf());
    for root in homes.chain([PathBuf::from("/usr/local/cuda")]) {
        folders
            .extend(["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|one| root.join(one)));
    }
    folders.into_iter().map(|folder| folder.join(RUNTIME)).collect()
}

fn runtime(hints: &[PathBuf], settings: &Settings) -> Result<Vec<u8>> {
    let places = places(hints, settings);
    places.iter().find_map(|place| std::fs::read(place).ok()).ok_or_else(|| {
        let searched: String = places.iter().map(|place| format!("\n  {}", place.display())).collect();
        Error::Unavailable(format!(
            "a kernel that launches kernels needs {RUNTIME}, which is part of the CUDA toolkit and of the wheel \
             nvidia-cuda-runtime: install one, or set CUDA_HOME; searched:{searched}"
        ))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn device_runtime_is_found_in_wheel_beside_compiler_library() {
        let root = tempfile::tempdir().unwrap();
        let hint = root.path().join("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        let folder = root.path().join("nvidia/cuda_runtime/lib");
        assert!(places(std::slice::from_ref(&hint), &Settings::default()).contains(&folder.join(RUNTIME)));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(RUNTIME), "archive").unwrap();
        assert_eq!(runtime(&[hint], &Settings::default()).unwrap(), b"archive");
    }
}
