//! Implements the common functions of NVRTC and hiprtc with the machine's C++ compiler. The resulting image is a host
//! shared library, which the simulated drivers load.

pub mod images;
pub mod translation_units;

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::OnceLock;

use super::module::{DIGITS, PTX};
use crate::kernel::engine::{self, Build, CxxCompiler, Failure, build, find};
use crate::kernel::host;
pub use translation_units::{collect_sources, compile_together};

const SUCCESS: u32 = 0;
const INVALID_INPUT: u32 = 3;
const INVALID_PROGRAM: u32 = 4;
const INVALID_OPTION: u32 = 5;
const COMPILATION: u32 = 6;
const NOT_A_NAME: u32 = 10;
const INTERNAL: u32 = 11;

/// A program: its source, and the results of its compilation.
pub struct Program {
    source: String,
    name: String,
    expressions: Vec<CString>,
    image: Vec<u8>,
    /// PTX text of the compiled image, created when it is first requested.
    text: OnceLock<Vec<u8>>,
    log: CString,
}

/// Copies a C string; returns `None` for null.
///
/// # Safety
/// `pointer` must be null or refer to a C string.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    // SAFETY: the caller of this function guarantees that a non-null pointer refers to a C string.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// Runs `body` with a program.
///
/// # Safety
/// `program` must be null or refer to a program that was not destroyed.
unsafe fn with(program: *mut Program, body: impl FnOnce(&mut Program) -> u32) -> u32 {
    // SAFETY: the caller of this function guarantees that `program` is null or not yet destroyed. As in the vendors'
    // libraries, callers do not share a program between threads.
    let Some(program) = (unsafe { program.as_mut() }) else { return INVALID_PROGRAM };
    catch_unwind(AssertUnwindSafe(|| body(program))).unwrap_or(INTERNAL)
}

/// Creates a program.
///
/// # Safety
/// The arguments must satisfy the vendor's manual.
pub unsafe fn create(
    program: *mut *mut Program,
    source: *const c_char,
    name: *const c_char,
    count: c_int,
    _headers: *const *const c_char,
    _names: *const *const c_char,
) -> u32 {
    // SAFETY: the caller guarantees that `source` and `name` are null or C strings, as the vendor's manual requires.
    let (source, name) = unsafe { (text(source), text(name)) };
    let (Some(source), false, 0) = (source, program.is_null(), count) else { return INVALID_INPUT };
    let name = name.unwrap_or_else(|| "default_program".to_owned());
    let made = Program {
        source,
        name,
        expressions: Vec::new(),
        image: Vec::new(),
        text: OnceLock::new(),
        log: CString::default(),
    };
    // SAFETY: the pointer `program` is not null, and the caller guarantees that it is writable, as the vendor's manual
    // requires.
    unsafe { *program = Box::into_raw(Box::new(made)) };
    SUCCESS
}

/// Destroys a program.
///
/// # Safety
/// The arguments must satisfy the vendor's manual.
pub unsafe fn destroy(program: *mut *mut Program) -> u32 {
    // SAFETY: the caller guarantees that `program` is null or the address of a variable. The variable contains null or
    // a program that `create` returned and that was not yet destroyed, because the vendor's manual requires this.
    unsafe {
        if program.is_null() || (*program).is_null() {
            return INVALID_PROGRAM;
        }
        drop(Box::from_raw(*program));
        *program = ptr::null_mut();
    }
    SUCCESS
}

/// Adds a name expression, such as a template instance, to a program.
///
/// # Safety
/// The arguments must satisfy the vendor's manual.
pub unsafe fn add_name(program: *mut Program, expression: *const c_char) -> u32 {
    // SAFETY: the caller guarantees that `expression` is a C string and that `program` was not destroyed, as the
    // vendor's manual requires.
    unsafe {
        let Some(expression) = text(expression).and_then(|text| CString::new(text).ok()) else { return INVALID_INPUT };
        with(program, |program| {
            program.expressions.push(expression);
            SUCCESS
        })
    }
}

/// Returns the name that a name expression has in the compiled image.
///
/// # Safety
/// The arguments must satisfy the vendor's manual.
pub unsafe fn lowered(program: *mut Program, expression: *const c_char, name: *mut *const c_char) -> u32 {
    // SAFETY: the caller guarantees a C string, a live program and a writable result, as the vendor's manual requires.
    // Names in the image equal names in the source, so the result is the expression itself.
    unsafe {
        let name_text = text(expression).unwrap_or_default();
        with(program, |program| {
            match program.expressions.iter().find(|known| known.to_bytes() == name_text.as_bytes()) {
                Some(known) => {
                    *name = known.as_ptr();
                    SUCCESS
                }
                None => NOT_A_NAME,
            }
        })
    }
}

/// Translates an option of NVRTC or hiprtc into an option of the C++ compiler. Returns `None` for an option that
/// concerns only GPUs.
fn spelled(option: &str) -> Option<String> {
    let starts = |prefix: &str| option.starts_with(prefix);
    if let Some(standard) = option.strip_prefix("--std=").or_else(|| option.strip_prefix("-std=")) {
        return (!matches!(standard, "c++03" | "c++11" | "c++14")).then(|| format!("-std={standard}"));
    }
    match option {
        "--device-debug" | "-G" | "-gline-tables-only" | "-g" | "--generate-line-info" | "-lineinfo" => {
            Some("-g".to_owned())
        }
        "--disable-warnings" | "-w" => Some("-w".to_owned()),
        _ if starts("-D") || starts("-U") || starts("-I") || starts("-f") || starts("-W") || starts("-O") => {
            Some(option.to_owned())
        }
        _ => None,
    }
}

/// Describes the properties in which NVRTC and hiprtc differ.
pub struct Library {
    /// Function that returns whether the library accepts an option.
    pub takes: fn(&str) -> bool,
    /// Compiler options that come before the caller's options. They define the library's predefined macros and the warp
    /// width.
    pub always: &'static [&'static str],
}

/// Returns the machine's C++ compiler. The search is repeated only if it failed before.
pub(super) fn compiler() -> Result<&'static CxxCompiler, String> {
    static FOUND: OnceLock<CxxCompiler> = OnceLock::new();
    match FOUND.get() {
        Some(found) => Ok(found),
        None => find(host()).map(|found| FOUND.get_or_init(|| found)),
    }
}

/// Options that disable passes of the optimizer. The tests compile thousands of kernels and run each of them a few
/// times, so a pass costs more time than it saves. Without these passes, compiling a kernel takes a fifth less time.
const WITHOUT_PASSES: [&str; 21] = [
    "-fno-code-hoisting",
    "-fno-compare-elim",
    "-fno-cprop-registers",
    "-fno-dse",
    "-fno-guess-branch-probability",
    "-fno-if-conversion",
    "-fno-if-conversion2",
    "-fno-ipa-modref",
    "-fno-ipa-profile",
    "-fno-ipa-pure-const",
    "-fno-ipa-reference",
    "-fno-ivopts",
    "-fno-move-loop-invariants",
    "-fno-reorder-blocks",
    "-fno-shrink-wrap",
    "-fno-tree-dominator-opts",
    "-fno-tree-dse",
    "-fno-tree-loop-optimize",
    "-fno-tree-pta",
    "-fno-tree-sink",
    "-fno-tree-ter",
];

fn compile(program: &mut Program, options: &[String], library: &Library) -> u32 {
    let is_common = images::is_common(&program.name, &program.source);
    let always = if is_common { &[] } else { library.always };
    let is_gcc = compiler().is_ok_and(|compiler| !compiler.version.contains("clang"));
    let without: &[&str] = if is_gcc { &WITHOUT_PASSES } else { &[] };
    let mut own: Vec<String> = always.iter().chain(without).map(|&option| option.to_owned()).collect();
    let mut force_include = Vec::new();
    if let Some(unknown) = options.iter().find(|option| !(library.takes)(option)) {
        program.log = CString::new(format!("unrecognized option {unknown}")).unwrap_or_default();
        return INVALID_OPTION;
    }
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if option == "-include" {
            force_include.extend(options.next().cloned());
        } else if let Some(file) = option.strip_prefix("--pre-include=") {
            force_include.push(file.to_owned());
        } else {
            own.extend(spelled(option).filter(|spelled| !is_common || !images::AS_EVER.contains(&spelled.as_str())));
        }
    }
    let expressions: Vec<String> = program.expressions.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let task = Build {
        source: &program.source,
        name: &program.name,
        options: &own,
        force_include: &force_include,
        expressions: &expressions,
    };
    let compiled = compiler().map_err(Failure::Machine).and_then(|compiler| match images::is_cached(&program.name) {
        true => images::kept(compiler, &task),
        false => build(compiler, &task).map(|made| (made.image, made.log)),
    });
    let (code, log) = match compiled {
        Ok((image, log)) => {
            program.image = image;
            (SUCCESS, log)
        }
        Err(Failure::Source(log)) => (COMPILATION, log),
        Err(Failure::Machine(log)) => (INTERNAL, log),
    };
    program.log = CString::new(log.replace('\0', " ")).unwrap_or_default();
    code
}

/// Compiles a program.
///
/// # Safety
/// The arguments must satisfy the vendor's manual.
pub unsafe fn compile_program(
    program: *mut Program,
    count: c_int,
    options: *const *const c_char,
    library: &Library,
) -> u32 {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller guarantees that `options` has `count` C strings and that `program` was not destroyed, as the
    // vendor's manual requires.
    unsafe {
        let options: Vec<String> = (0..count).filter_map(|position| text(*options.add(position))).collect();
        with(program, |program| compile(program, &options, library))
    }
}

/// Writes the size of a result to `bytes`. The function `of` selects the result.
///
/// # Safety
/// The program must be alive and `bytes` writable.
pub unsafe fn size(program: *mut Program, bytes: *mut usize, of: impl Fn(&Program) -> usize) -> u32 {
    // SAFETY: the caller of this function guarantees that the program is alive and `bytes` writable.
    unsafe {
        with(program, |program| {
            *bytes = of(program);
            SUCCESS
        })
    }
}

/// Copies a result to `target`. The function `of` selects the result.
///
/// # Safety
/// The program must be alive, and `target` must have the size that `size` returned.
pub unsafe fn copy(program: *mut Program, target: *mut u8, of: impl Fn(&Program) -> &[u8]) -> u32 {
    // SAFETY: the caller of this function guarantees that the program is alive and that `target` is large enough.
    unsafe {
        with(program, |program| {
            let bytes = of(program);
            ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
            SUCCESS
        })
    }
}

/// Returns the compiled image as text that replaces PTX, including its final zero byte.
pub fn ptx(program: &Program) -> &[u8] {
    program.text.get_or_init(|| {
        let names =
            engine::LoadedImage::load(&program.image, host()).map(|library| library.names()).unwrap_or_default();
        let entries: String = names.iter().map(|name| format!(".visible .entry {name}(){{}}\n")).collect();
        let digits: String = program.image.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{PTX}{entries}{DIGITS}{digits}\n\0").into_bytes()
    })
}

/// Returns the compiled image of a program.
pub fn image(program: &Program) -> &[u8] {
    &program.image
}

/// Returns the messages of the compiler for a program.
pub fn log(program: &Program) -> &[u8] {
    program.log.as_bytes_with_nul()
}

/// Exports the functions under the names of NVRTC or hiprtc. The arguments are the functions that return the log, then
/// the pairs of functions that return images. `$library` contains the properties in which the two libraries differ.
#[macro_export]
macro_rules! export_rtc {
    (
        $create:ident, $destroy:ident, $add:ident, $lowered:ident, $compile:ident by $library:path, $string:ident,
        $log_size:ident $log:ident, $($image_size:ident $image:ident by $form:path),*
    ) => {
        use std::ffi::{c_char, c_int};
        use $crate::rtc::{self, Program};

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $string(_code: u32) -> *const c_char {
            c"an error of the simulated compiler".as_ptr()
        }

        $crate::export_rtc! { @functions
            $create create(
                program: *mut *mut Program, source: *const c_char, name: *const c_char, count: c_int,
                headers: *const *const c_char, names: *const *const c_char
            );
            $destroy destroy(program: *mut *mut Program);
            $add add_name(program: *mut Program, expression: *const c_char);
            $lowered lowered(program: *mut Program, expression: *const c_char, name: *mut *const c_char);
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $compile(program: *mut Program, count: c_int, options: *const *const c_char) -> u32 {
            // SAFETY: the called function requires valid arguments as in the vendor's manual, which the caller of the C
            // function guarantees.
            unsafe { rtc::compile_program(program, count, options, &$library) }
        }
        #[unsafe(no_mangle)]
        pub extern "C" fn sim_collect_sources() -> bool {
            rtc::collect_sources()
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn sim_compile_together() -> usize {
            rtc::compile_together()
        }

        $crate::export_rtc! { @pair $log_size $log rtc::log }
        $($crate::export_rtc! { @pair $image_size $image $form })*
    };
    (@functions $($name:ident $function:ident($($argument:ident: $type:ty),*);)*) => {
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            // SAFETY: the called function requires valid arguments as in the vendor's manual, which the caller of the C
            // function guarantees.
            unsafe { rtc::$function($($argument),*) }
        })*
    };
    (@pair $size:ident $get:ident $of:path) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $size(program: *mut Program, bytes: *mut usize) -> u32 {
            // SAFETY: the caller of the C function guarantees a live program and a writable size, as the vendor's
            // manual requires.
            unsafe { rtc::size(program, bytes, |program| $of(program).len()) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(program: *mut Program, target: *mut u8) -> u32 {
            // SAFETY: the caller of the C function guarantees a live program and a sufficiently large target, as the
            // vendor's manual requires.
            unsafe { rtc::copy(program, target, $of) }
        }
    };
}
