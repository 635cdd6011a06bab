//! Builds stub libraries, which the linker reads in place of the system's libraries. A stub has the name and the symbol
//! versions of the real library, but only the symbols that kernels usually need.
//!
//! The linker otherwise spends most of its time on the thousands of symbols of the C and C++ libraries. A kernel that
//! needs another symbol is linked with the real libraries.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::process::{Child, Stdio};

use super::compiler_process::{CompilerRun, SCHEDULER, STUB_LIBRARIES, STUB_LIBRARY_ARGUMENTS};
use crate::elf_check::{half, number, word};

const PROBE: &str = "stubs/probe.c";
const PROBE_LIBRARY: &str = "stubs/probe.so";

/// Functions and data of the system's libraries that kernels need, apart from those that the scheduler also needs.
const OTHERS: &str = "memcpy memmove memset memcmp strlen strcmp malloc calloc realloc free abort printf fputs puts putchar \
    _Znwm _Znam _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm __cxa_throw_bad_array_new_length __cxa_pure_virtual __cxa_guard_acquire \
    __cxa_guard_release __cxa_guard_abort __cxa_begin_catch __cxa_end_catch __cxa_rethrow __gxx_personality_v0 \
    _ZSt9terminatev _ZTISt9exception _Unwind_Resume";
/// Mathematical functions, each for `double` and, with the suffix `f`, for `float`.
const MATHEMATICS: &str = "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 \
    expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 \
    logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round scalbln scalbn sin sincos sinh sqrt \
    tan tanh tgamma trunc y0 y1 yn";

/// The symbols of one library, grouped by symbol version: the name of each symbol, and whether the symbol is data.
type Versions = BTreeMap<String, Vec<(String, bool)>>;

/// Builds the stub libraries in the folder of `run`, which contains the scheduler's object file. Returns `None`
/// if one of them cannot be built, for example because the system's libraries have no symbol versions.
pub fn build(run: &CompilerRun<'_>) -> Option<()> {
    fs::write(run.place.join(PROBE), probe()).ok()?;
    let probe = start(run, &[SCHEDULER, "-x", "c", PROBE, "-o", PROBE_LIBRARY])?;
    let image = succeeds(probe).then(|| fs::read(run.place.join(PROBE_LIBRARY)).ok())??;
    let found = imports(&image)?;
    let children: Vec<_> = found.iter().map(|(library, versions)| start_library(run, library, versions)).collect();
    // All compiler processes are waited for, even if one of them failed, so that none outlives this function.
    let ended: Vec<bool> = children.into_iter().map(|child| child.is_some_and(succeeds)).collect();
    if ended.contains(&false) {
        return None;
    }
    let names: String = found.keys().map(|library| format!(" -l:{library}")).collect();
    // The compiler's own functions, for example the division of complex numbers, are in the static library `gcc`.
    fs::write(run.place.join(STUB_LIBRARY_ARGUMENTS), format!("-nostdlib -Wl,-z,defs -Wl,--as-needed{names} -lgcc\n"))
        .ok()
}

/// Starts the compiler to build a shared library from a C source.
fn start(run: &CompilerRun<'_>, arguments: &[&str]) -> Option<Child> {
    let mut command = run.command(&["-w", "-fno-builtin", "-fvisibility=default", "-shared"]);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
}

fn succeeds(mut child: Child) -> bool {
    child.wait().is_ok_and(|status| status.success())
}

/// Starts to build the stub library that replaces a system library at link time.
fn start_library(run: &CompilerRun<'_>, library: &str, versions: &Versions) -> Option<Child> {
    let path = format!("{STUB_LIBRARIES}/{library}");
    let (source, map) = (format!("{path}.c"), format!("{path}.map"));
    fs::write(run.place.join(&source), definitions(versions)).ok()?;
    fs::write(run.place.join(&map), version_script(versions)).ok()?;
    let (own_name, script) = (format!("-Wl,-soname,{library}"), format!("-Wl,--version-script={map}"));
    start(run, &["-nostdlib", &own_name, &script, "-x", "c", &source, "-o", &path])
}

/// Returns the C source of a library that imports all symbols in the lists.
fn probe() -> String {
    let mathematics = MATHEMATICS.split_whitespace().flat_map(|name| [name.to_owned(), format!("{name}f")]);
    let names: Vec<String> = OTHERS.split_whitespace().map(str::to_owned).chain(mathematics).collect();
    let declared: String = names.iter().map(|name| format!("extern char {name}[];\n")).collect();
    format!("{declared}char *pygpu_cpu_names[] = {{{}}};\n", names.join(", "))
}

/// Returns a C source that defines the symbols of a library.
fn definitions(versions: &Versions) -> String {
    let symbols = versions.values().flatten();
    symbols
        .map(
            |(name, is_data)| {
                if *is_data { format!("void *{name}[4];\n") } else { format!("void {name}(void) {{}}\n") }
            },
        )
        .collect()
}

/// Returns a version script, by which the linker assigns versions to the symbols of a library.
fn version_script(versions: &Versions) -> String {
    let names = |symbols: &[(String, bool)]| symbols.iter().map(|(name, _)| format!("{name}; ")).collect::<String>();
    versions.iter().map(|(version, symbols)| format!("{version} {{ global: {}}};\n", names(symbols))).collect()
}

/// A section of an ELF file: the position and the length of its data, the index of the related section (`sh_link`), and
/// the number in its field `sh_info`.
struct Section {
    place: usize,
    length: usize,
    link: usize,
    info: usize,
}

/// Returns the section with index `index`, together with its type.
fn section(image: &[u8], index: usize) -> Option<(u32, Section)> {
    let row = number(image, 40)?.checked_add(index.checked_mul(usize::from(half(image, 58)?))?)?;
    let small = |at: usize| usize::try_from(word(image, row.checked_add(at)?)?).ok();
    let section = Section {
        place: number(image, row.checked_add(24)?)?,
        length: number(image, row.checked_add(32)?)?,
        link: small(40)?,
        info: small(44)?,
    };
    Some((word(image, row.checked_add(4)?)?, section))
}

/// Returns the symbols with a version that a shared library (a 64-bit ELF file) imports, grouped by the library that
/// defines them. `None` if it imports no such symbols.
fn imports(image: &[u8]) -> Option<BTreeMap<String, Versions>> {
    const SYMBOLS: u32 = 11;
    const NEEDED_VERSIONS: u32 = 0x6fff_fffe;
    const SYMBOL_VERSIONS: u32 = 0x6fff_ffff;
    const ENTRY: usize = 24;
    const DATA: u8 = 1;
    const CLASS_64: u8 = 2;
    if image.get(4) != Some(&CLASS_64) {
        return None;
    }
    let find = |kind: u32| {
        (0..usize::from(half(image, 60)?)).filter_map(|index| section(image, index)).find(|(found, _)| *found == kind)
    };
    let ((_, symbols), (_, numbers)) = (find(SYMBOLS)?, find(SYMBOL_VERSIONS)?);
    let names = section(image, symbols.link)?.1;
    let text = |at: u32| {
        let bytes = image.get(names.place.checked_add(usize::try_from(at).ok()?)?..)?;
        Some(CStr::from_bytes_until_nul(bytes).ok()?.to_str().ok()?.to_owned())
    };
    let known = versions(image, &find(NEEDED_VERSIONS)?.1, text)?;
    let mut found: BTreeMap<String, Versions> = BTreeMap::new();
    for index in 0..symbols.length / ENTRY {
        let row = symbols.place.checked_add(index * ENTRY)?;
        let (kind, place) = (*image.get(row.checked_add(4)?)? & 15, half(image, row.checked_add(6)?)?);
        let version = half(image, numbers.place.checked_add(index * 2)?)? & 0x7fff;
        if let (0, Some((library, version))) = (place, known.get(&version)) {
            let symbol = (text(word(image, row)?)?, kind == DATA);
            found.entry(library.clone()).or_default().entry(version.clone()).or_default().push(symbol);
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Returns the library and the name of each version that the section `needed` lists, by the version's number.
fn versions(
    image: &[u8],
    needed: &Section,
    text: impl Fn(u32) -> Option<String>,
) -> Option<BTreeMap<u16, (String, String)>> {
    let next = |at: usize, field: usize| at.checked_add(usize::try_from(word(image, at.checked_add(field)?)?).ok()?);
    let mut found = BTreeMap::new();
    let mut library = needed.place;
    for _ in 0..needed.info {
        let name = text(word(image, library.checked_add(4)?)?)?;
        let mut version = next(library, 8)?;
        for _ in 0..half(image, library.checked_add(2)?)? {
            let number = half(image, version.checked_add(6)?)?;
            found.insert(number, (name.clone(), text(word(image, version.checked_add(8)?)?)?));
            version = next(version, 12)?;
        }
        library = next(library, 12)?;
    }
    Some(found)
}
