//! The machine's C++ compiler behind the functions that NVRTC and hiprtc have in common. What it gives as an image is a shared
//! library of the host, which the simulated drivers load.

pub mod images;
pub mod together;

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::OnceLock;

use super::module::{DIGITS, PTX};
use crate::kernel::engine::{self, Build, CxxCompiler, Failure, build, find};
use crate::kernel::host;
pub use together::{collect_sources, compile_together};

const SUCCESS: u32 = 0;
const INVALID_INPUT: u32 = 3;
const INVALID_PROGRAM: u32 = 4;
const INVALID_OPTION: u32 = 5;
const COMPILATION: u32 = 6;
const NOT_A_NAME: u32 = 10;
const INTERNAL: u32 = 11;

/// A source on its way to an image.
pub struct Program {
    source: String,
    name: String,
    expressions: Vec<CString>,
    image: Vec<u8>,
    /// As PTX, where it was asked for.
    text: OnceLock<Vec<u8>>,
    log: CString,
}

/// # Safety
/// Null, or a C string.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    // SAFETY: the caller's promise.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// # Safety
/// Null, or a program that was not destroyed.
unsafe fn with(program: *mut Program, body: impl FnOnce(&mut Program) -> u32) -> u32 {
    // SAFETY: the caller's promise; programs are not shared between threads, as in the libraries.
    let Some(program) = (unsafe { program.as_mut() }) else { return INVALID_PROGRAM };
    catch_unwind(AssertUnwindSafe(|| body(program))).unwrap_or(INTERNAL)
}

/// # Safety
/// As the vendors' manuals say.
pub unsafe fn create(
    program: *mut *mut Program,
    source: *const c_char,
    name: *const c_char,
    count: c_int,
    _headers: *const *const c_char,
    _names: *const *const c_char,
) -> u32 {
    // SAFETY: the manual asks for C strings.
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
    // SAFETY: not null.
    unsafe { *program = Box::into_raw(Box::new(made)) };
    SUCCESS
}

/// # Safety
/// As the vendors' manuals say.
pub unsafe fn destroy(program: *mut *mut Program) -> u32 {
    // SAFETY: the manual asks for the address of a program that is alive.
    unsafe {
        if program.is_null() || (*program).is_null() {
            return INVALID_PROGRAM;
        }
        drop(Box::from_raw(*program));
        *program = ptr::null_mut();
    }
    SUCCESS
}

/// # Safety
/// As the vendors' manuals say.
pub unsafe fn add_name(program: *mut Program, expression: *const c_char) -> u32 {
    // SAFETY: the manual asks for a C string and a program that is alive.
    unsafe {
        let Some(expression) = text(expression).and_then(|text| CString::new(text).ok()) else { return INVALID_INPUT };
        with(program, |program| {
            program.expressions.push(expression);
            SUCCESS
        })
    }
}

/// # Safety
/// As the vendors' manuals say.
pub unsafe fn lowered(program: *mut Program, expression: *const c_char, name: *mut *const c_char) -> u32 {
    // SAFETY: as above; the target is writable. A name in the image is what the source calls it.
    unsafe {
        let wanted = text(expression).unwrap_or_default();
        with(program, |program| match program.expressions.iter().find(|known| known.to_bytes() == wanted.as_bytes()) {
            Some(known) => {
                *name = known.as_ptr();
                SUCCESS
            }
            None => NOT_A_NAME,
        })
    }
}

/// The libraries' options in the words of a C++ compiler; what is about GPUs only is left out.
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

/// How a library differs from others.
pub struct Library {
    /// Whether its compiler takes an option.
    pub takes: fn(&str) -> bool,
    /// Options that stand before all others: what the compiler says of itself, and the width of a warp.
    pub always: &'static [&'static str],
}

/// The machine's compiler, asked once; one that is not there is looked for again.
pub(super) fn compiler() -> Result<&'static CxxCompiler, String> {
    static FOUND: OnceLock<CxxCompiler> = OnceLock::new();
    match FOUND.get() {
        Some(found) => Ok(found),
        None => find(host()).map(|found| FOUND.get_or_init(|| found)),
    }
}

fn compile(program: &mut Program, options: &[String], library: &Library) -> u32 {
    let is_common = images::is_common(&program.name, &program.source);
    let always = if is_common { &[] } else { library.always };
    let mut own: Vec<String> = always.iter().map(|&option| option.to_owned()).collect();
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
    let compiled = compiler().map_err(Failure::Machine).and_then(|compiler| match is_common {
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

/// # Safety
/// As the vendors' manuals say.
pub unsafe fn compile_program(
    program: *mut Program,
    count: c_int,
    options: *const *const c_char,
    library: &Library,
) -> u32 {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the manual asks for as many C strings as it says, and for a program that is alive.
    unsafe {
        let options: Vec<String> = (0..count).filter_map(|position| text(*options.add(position))).collect();
        with(program, |program| compile(program, &options, library))
    }
}

/// # Safety
/// The program is alive, the target writable.
pub unsafe fn size(program: *mut Program, bytes: *mut usize, of: impl Fn(&Program) -> usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        with(program, |program| {
            *bytes = of(program);
            SUCCESS
        })
    }
}

/// # Safety
/// The program is alive, the target as long as the size that was asked for.
pub unsafe fn copy(program: *mut Program, target: *mut u8, of: impl Fn(&Program) -> &[u8]) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        with(program, |program| {
            let bytes = of(program);
            ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
            SUCCESS
        })
    }
}

/// What was compiled, as the text that stands for PTX, with its zero.
pub fn ptx(program: &Program) -> &[u8] {
    program.text.get_or_init(|| {
        let names = engine::Library::load(&program.image, host()).map(|library| library.names()).unwrap_or_default();
        let entries: String = names.iter().map(|name| format!(".visible .entry {name}(){{}}\n")).collect();
        let digits: String = program.image.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{PTX}{entries}{DIGITS}{digits}\n\0").into_bytes()
    })
}

/// What was compiled.
pub fn image(program: &Program) -> &[u8] {
    &program.image
}

/// What the compiler said.
pub fn log(program: &Program) -> &[u8] {
    program.log.as_bytes_with_nul()
}

/// Exports the functions under a library's names; after the log's, pairs for the image. `$library` says how it differs from
/// others.
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
            // SAFETY: the manual asks for the same.
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
            // SAFETY: the manual asks for the same.
            unsafe { rtc::$function($($argument),*) }
        })*
    };
    (@pair $size:ident $get:ident $of:path) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $size(program: *mut Program, bytes: *mut usize) -> u32 {
            // SAFETY: the manual asks for the same.
            unsafe { rtc::size(program, bytes, |program| $of(program).len()) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(program: *mut Program, target: *mut u8) -> u32 {
            // SAFETY: the manual asks for the same.
            unsafe { rtc::copy(program, target, $of) }
        }
    };
}
