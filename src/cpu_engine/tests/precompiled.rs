//! Tests the precompiled parts: they are used if possible, and kernels compile even if the parts are damaged or
//! outdated.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{Build, Failure, HostEnvironment, LoadedImage, build, find};

const SOURCE: &str = "extern \"C\" __global__ void k(int *a) { a[threadIdx.x] = warpSize; }";

fn host(kept: &Path) -> HostEnvironment {
    HostEnvironment {
        environment: std::env::vars_os().collect(),
        path: std::env::var_os("PATH").unwrap(),
        temporary: std::env::temp_dir(),
        kept: Some(kept.to_owned()),
        ..HostEnvironment::default()
    }
}

/// Compiles a source with the cache folder `kept` and returns the image. If the source is invalid, the error is the
/// compiler's output.
fn compile(kept: &Path, source: &str, options: &[String]) -> Result<Vec<u8>, String> {
    let task = Build { source, name: "kernel.cu", options, force_include: &[], expressions: &[] };
    match build(&find(&host(kept)).unwrap(), &task) {
        Ok(made) => Ok(made.image),
        Err(Failure::Source(message) | Failure::Machine(message)) => Err(message),
    }
}

/// Returns the cached folder of the precompiled parts; `None` if the compiler is not GCC.
fn folder(kept: &Path) -> Option<PathBuf> {
    let found: Vec<_> = fs::read_dir(kept.join("headers")).ok()?.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    Some(found[0].clone())
}

/// Returns a complete cache folder whose plain header is invalid. A compilation that succeeds with this folder has
/// therefore not read the plain header.
fn filled() -> Option<(tempfile::TempDir, PathBuf)> {
    let kept = tempfile::tempdir().unwrap();
    compile(kept.path(), SOURCE, &[]).unwrap();
    let own = folder(kept.path())?;
    fs::write(own.join("include/pygpu_cpu.h"), "#error \"read as a text\"\n").unwrap();
    Some((kept, own))
}

fn is_as_it_was(own: &Path) -> bool {
    fs::read_to_string(own.join("include/pygpu_cpu.h")).is_ok_and(|text| text.starts_with("#error"))
}

#[test]
fn headers_are_precompiled_once_and_kept_after_compile_errors() {
    let Some((kept, own)) = filled() else { return };
    compile(kept.path(), SOURCE, &[]).unwrap();
    let with_headers =
        format!("#include <vector>\n#include <cooperative_groups.h>\n{SOURCE}\n__device__ std::vector<int> v(3);");
    compile(kept.path(), &with_headers, &["-DN=3".into(), "-I/nowhere".into()]).unwrap();
    let message = compile(kept.path(), "extern \"C\" __global__ void k() { nothing(); }", &[]).unwrap_err();
    assert!(message.contains("kernel.cu:1:") && message.contains("nothing"), "{message}");
    assert!(is_as_it_was(&own), "it was not the headers' fault");
}

#[test]
fn damaged_outdated_or_writable_precompiled_parts_are_rebuilt() {
    let spoil: [fn(&Path); 4] = [
        |own| fs::File::options().write(true).open(own.join("include/pygpu_cpu.h.gch")).unwrap().set_len(5000).unwrap(),
        |own| fs::remove_file(own.join("runtime.o")).unwrap(),
        |own| fs::write(own.join("marks"), "1 1 /usr/include/math.h\n").unwrap(),
        |own| fs::set_permissions(own, fs::Permissions::from_mode(0o777)).unwrap(),
    ];
    for (number, spoil) in spoil.iter().enumerate() {
        let Some((kept, own)) = filled() else { return };
        spoil(&own);
        compile(kept.path(), SOURCE, &[]).unwrap();
        assert!(!is_as_it_was(&folder(kept.path()).unwrap()), "{number}");
    }
}

#[test]
fn corrupt_precompiled_header_is_removed() {
    let Some((kept, own)) = filled() else { return };
    let file = own.join("include/pygpu_cpu.h.gch");
    let known = fs::metadata(&file).unwrap();
    fs::write(&file, vec![0; known.len() as usize]).unwrap();
    fs::File::options().append(true).open(&file).unwrap().set_modified(known.modified().unwrap()).unwrap();
    compile(kept.path(), SOURCE, &[]).unwrap();
    assert!(!own.exists());
}

#[test]
fn user_folder_with_header_of_same_name_takes_precedence() {
    let Some((kept, own)) = filled() else { return };
    let user = tempfile::tempdir().unwrap();
    fs::write(user.path().join("math.h"), "#define SEEN 1\n#include_next <math.h>\n").unwrap();
    let source = format!("#if !SEEN\n#error \"the folder was passed over\"\n#endif\n{SOURCE}");
    compile(kept.path(), &source, &[format!("-I{}", user.path().display())]).unwrap();
    assert!(is_as_it_was(&own));
}

#[test]
fn kernels_are_linked_with_stub_libraries_unless_they_use_other_symbols() {
    let Some((kept, own)) = filled() else { return };
    if !own.join("stubs/arguments").exists() {
        // The test is skipped here: stub libraries require symbol versions, which this system's libraries lack.
        return;
    }
    // This symbol shows that the real libraries were linked: such a link also adds GCC's code for the start and the end
    // of a library, which defines the symbol.
    let has_start = |image: &[u8]| image.windows(4).any(|text| text == b"_ITM");
    let linked = |body: &str| {
        let source = format!("#include <cstdlib>\nextern \"C\" __global__ void k(double *a) {{ {body} }}");
        let image = compile(kept.path(), &source, &[]).unwrap();
        assert_eq!(LoadedImage::load(&image, &host(kept.path())).unwrap().names(), ["k"]);
        has_start(&image)
    };
    assert!(!linked("a[0] = sin(a[1]) + (double)powf((float)a[2], 3.5f);"));
    assert!(!linked("printf(\"%g\", *(double *)malloc(8));"));
    assert!(!linked("__uint128_t x = (__uint128_t)a[0]; a[1] = (double)(x / (__uint128_t)a[2]);"));
    assert!(linked("a[0] = getenv(\"HOME\") != nullptr;"));
    assert!(linked("struct Held { ~Held() { abort(); } }; static Held held; (void)&held; a[0] = 0;"));
}
