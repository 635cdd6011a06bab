//! Tests the compilation of several kernel sources as one translation unit ("unit"). If the compilation of a unit
//! fails, each of its sources is compiled separately, as usual.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use simulated_core::rtc::translation_units::chosen;
use simulated_core::rtc::{self, Library};

const SUCCESS: u32 = 0;
const COMPILATION: u32 = 6;
const LIBRARY: Library = Library { takes: |_| true, always: &[] };

/// Returns a lock, so that only one test runs at a time: all tests share the process-wide list of collected sources.
/// The folder of cached images is empty.
fn alone() -> MutexGuard<'static, ()> {
    static FOLDER: LazyLock<Mutex<()>> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("together");
        let _ = fs::remove_dir_all(&folder);
        // SAFETY: every test calls this function first and holds its lock, so only Rust's standard library may read the
        // environment at this time, under its own lock.
        unsafe { std::env::set_var("PYGPU_SIM_IMAGES", folder) };
        Mutex::new(())
    });
    FOLDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a source with one kernel, in the form of PyGPU's own kernel sources.
fn source(head: &str, name: &str, body: &str) -> String {
    format!("{head}\nextern \"C\" __global__ void {name}(int *out) {{ {body} }}\n")
}

/// Compiles a source; returns the error code, the image, and the compiler's messages.
fn compiled(name: &str, source: &str) -> (u32, Vec<u8>, String) {
    let [source, name] = [source, &format!("{name}.cu")].map(|text| CString::new(text).unwrap());
    let mut program = ptr::null_mut();
    // SAFETY: the texts are C strings, the target is writable, and there are no options. The test does not use the
    // program after it is destroyed.
    unsafe {
        assert_eq!(rtc::create(&mut program, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null()), SUCCESS);
        let code = rtc::compile_program(program, 0, ptr::null(), &LIBRARY);
        let log = String::from_utf8_lossy(rtc::log(&*program)).into_owned();
        let answer = (code, rtc::image(&*program).to_vec(), log);
        assert_eq!(rtc::destroy(&mut program), SUCCESS);
        answer
    }
}

/// Compiles sources while the compiler only collects them and reports errors. Then compiles the collected sources as
/// units, and returns the number of images.
fn together(sources: &[(&str, &str)]) -> usize {
    assert!(rtc::collect_sources());
    for (name, source) in sources {
        let (code, image, log) = compiled(name, source);
        assert_eq!((code, image.len()), (COMPILATION, 0), "{log}");
        assert!(log.contains("it is compiled later, with others"), "{log}");
    }
    rtc::compile_together()
}

/// Asserts that a source is compiled alone, and that its image contains no other source.
fn is_compiled_alone(name: &str, source: &str) -> String {
    let (code, image, log) = compiled(name, source);
    assert_eq!(code, SUCCESS, "{log}");
    assert!(!image.is_empty());
    assert_eq!(chosen(&image), None);
    log
}

#[test]
fn sources_with_same_head_become_one_unit_with_image_per_kernel() {
    let _alone = alone();
    let one = source("// a unit", "pygpu_one", "out[0] = 1;");
    let two = source("// a unit", "pygpu_two", "out[0] = 2;");
    assert_eq!(together(&[("pygpu_one", &one), ("pygpu_two", &two)]), 2);
    let [(0, first), (1, second)] = [("pygpu_one", &one), ("pygpu_two", &two)].map(|(name, source)| {
        let (code, image, log) = compiled(name, source);
        assert_eq!(code, SUCCESS, "{log}");
        chosen(&image).unwrap()
    }) else {
        panic!("the kernels have other numbers")
    };
    assert_eq!(first, second);
}

#[test]
fn sources_of_unit_are_compiled_individually_if_unit_does_not_compile() {
    let _alone = alone();
    let right = source("// a fault", "pygpu_right", "out[0] = 1;");
    let wrong = source("// a fault", "pygpu_wrong", "out[0] = nowhere;");
    assert_eq!(together(&[("pygpu_right", &right), ("pygpu_wrong", &wrong)]), 0);
    is_compiled_alone("pygpu_right", &right);
    let (code, image, log) = compiled("pygpu_wrong", &wrong);
    assert_eq!((code, image.len()), (COMPILATION, 0));
    assert!(log.contains("nowhere") && !log.contains("pygpu_unit"), "{log}");
}

#[test]
fn sources_of_unit_are_compiled_individually_if_compiler_warns() {
    let _alone = alone();
    let [left, right] = ["pygpu_left", "pygpu_right"].map(|name| source("#warning heard", name, "out[0] = 1;"));
    assert_eq!(together(&[("pygpu_left", &left), ("pygpu_right", &right)]), 0);
    for (name, source) in [("pygpu_left", &left), ("pygpu_right", &right)] {
        let log = is_compiled_alone(name, source);
        assert!(log.contains("heard"), "{log}");
    }
}

#[test]
fn sources_with_different_heads_share_unit_in_namespaces() {
    let _alone = alone();
    let heads = ["#define VALUE 1\nstruct pair { int a; };", "#include <float.h>\n#define VALUE 2\ntypedef int pair;"];
    let sources = [("pygpu_left_head", heads[0]), ("pygpu_right_head", heads[1])]
        .map(|(name, head)| (name, source(head, name, "out[0] = VALUE + sizeof(pair);")));
    assert_eq!(together(&sources.each_ref().map(|(name, source)| (*name, source.as_str()))), 2);
    for (number, (name, source)) in (0..).zip(&sources) {
        let (code, image, log) = compiled(name, source);
        assert_eq!((code, chosen(&image).unwrap().0), (SUCCESS, number), "{log}");
    }
}

#[test]
fn macro_of_header_is_restored_behind_head_that_replaces_it() {
    let _alone = alone();
    let heads = ["#undef INFINITY\n#define INFINITY 1\nstatic int own = INFINITY;", "static float own = INFINITY;"];
    let sources = [("pygpu_replaces", heads[0]), ("pygpu_uses", heads[1])]
        .map(|(name, head)| (name, source(head, name, "out[0] = own;")));
    assert_eq!(together(&sources.each_ref().map(|(name, source)| (*name, source.as_str()))), 2);
}

#[test]
fn each_head_becomes_unit_if_heads_conflict() {
    let _alone = alone();
    let heads = ["extern \"C\" int pygpu_same() { return 1; }", "extern \"C\" int pygpu_same() { return 2; }"];
    let sources = [("pygpu_same_one", heads[0]), ("pygpu_same_two", heads[0]), ("pygpu_same_three", heads[1])]
        .map(|(name, head)| (name, source(head, name, "out[0] = pygpu_same();")));
    assert_eq!(together(&sources.each_ref().map(|(name, source)| (*name, source.as_str()))), 2);
    is_compiled_alone(sources[2].0, &sources[2].1);
}

#[test]
fn single_source_is_compiled_individually() {
    let _alone = alone();
    let alone = source("// alone", "pygpu_alone", "out[0] = 1;");
    assert_eq!(together(&[("pygpu_alone", &alone)]), 0);
    is_compiled_alone("pygpu_alone", &alone);
}
