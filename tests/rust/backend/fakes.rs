//! Builds fake drivers from C files. The separate processes of the tests find them through the loader's search path.
//! Without a C compiler the tests print a note and pass.

use std::path::PathBuf;
use std::process::Command;

/// Vendor's library that the tests replace by a fake.
#[derive(Clone, Copy)]
pub enum Fake {
    Cuda,
    Hip,
    Nvrtc,
}

impl Fake {
    pub const fn library(self) -> &'static str {
        match self {
            Self::Cuda => "libcuda.so.1",
            Self::Hip => "libamdhip64.so.6",
            Self::Nvrtc => "libnvrtc.so.12",
        }
    }

    const fn source(self) -> &'static str {
        match self {
            Self::Cuda => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust/backend/fake_cuda.c"),
            Self::Hip => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust/backend/fake_hip.c"),
            Self::Nvrtc => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust/backend/fake_nvrtc.c"),
        }
    }
}

/// Builds a fake driver in a new folder, and returns the folder. Returns `None` without a C compiler.
pub fn fake_driver(fake: Fake, name: &str, options: &[&str]) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fake-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let library = folder.join(fake.library());
    let built = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"])
        .arg(&library)
        .arg(fake.source())
        .args(options)
        .output();
    match built {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(folder)
        }
        Err(error) => {
            eprintln!("skipped: the C compiler '{compiler}' could not be run: {error}");
            None
        }
    }
}

/// Runs the test with the full name `test` in a separate process, and returns the output of that process.
pub fn run(test: &str, driver: Option<&PathBuf>, backend: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    for variable in ["PYGPU_BACKEND", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"] {
        command.env_remove(variable);
    }
    command.env("PYGPU_TEST_CHILD", "1");
    if let Some(folder) = driver {
        command.env("LD_LIBRARY_PATH", folder);
    }
    if let Some(name) = backend {
        command.env("PYGPU_BACKEND", name);
    }
    let output = command.output().unwrap();
    if let Some(folder) = driver {
        std::fs::remove_dir_all(folder).unwrap();
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
    text
}

/// Returns whether a test runner started this process instead of [`run`]. In this case the child tests do nothing.
pub fn is_alone() -> bool {
    std::env::var_os("PYGPU_TEST_CHILD").is_none()
}
