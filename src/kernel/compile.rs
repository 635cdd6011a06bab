//! Compiles a source to an image: chooses the compiler, looks the image up in the cache, and compiles the source if the
//! image is not cached.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::cache::{self, Cache, ImageKey};
use super::compiler_process::CompilerProcess;
use super::hoist_includes::hoisted;
use super::options::{self, CompileOptions};
use pygpu_backend::libraries::profiler_ranges::range;
use pygpu_backend::{BackendKind, CompileRequest, Compiled, Compiler, may_include};
use pygpu_base::error::{Error, Result};
use pygpu_base::log_queue::{self, LogLevel};
use pygpu_base::settings;
use pygpu_device::Device;

/// Describes a source to compile, with its options.
#[derive(Clone, Debug, Default)]
pub struct KernelSource {
    /// The source text.
    pub text: String,
    /// The source's name in messages: a file name, or a placeholder.
    pub name: String,
    /// Compiler options as the user wrote them.
    pub options: Vec<String>,
    /// Template instances (`scale<float>`) to compile. Non-template kernels are always part of the image.
    pub instances: Vec<String>,
    /// Whether the whole source is wrapped in `extern "C"`, as PyCUDA does by default.
    pub extern_c: bool,
    /// The compiler program to use: `nvcc`, `hipcc`, or the path of such a program; `None` for the backend's default
    /// compiler.
    pub compiler: Option<String>,
    /// The folder, if any, in which the image may be cached.
    pub cache: Cache,
}

/// The result of compiling a source.
pub struct CompiledSource {
    /// The image, and the mangled names that the requested instances have in the image.
    pub compiled: Arc<Compiled>,
    /// The parsed options, which affect how declarations are read from the source.
    pub options: CompileOptions,
    /// The cache key of the image, if the image was taken from the cache.
    pub(super) kept: Option<ImageKey>,
}

/// Compiles a source for a device, or returns the cached image. `hints` are candidate paths of the compiler's library.
///
/// # Errors
/// `Error::Compile` if the source does not compile; `ValueError` for rejected options; `Unavailable` without a
/// compiler.
pub fn build(device: Device, source: &KernelSource, hints: &[PathBuf]) -> Result<CompiledSource> {
    let made = build_if(device, source, hints, true)?;
    made.ok_or_else(|| Error::Unavailable("nothing was compiled".to_owned()))
}

/// Returns whether the compiled image of a source is cached.
pub fn is_kept(device: Device, source: &KernelSource, hints: &[PathBuf]) -> bool {
    build_if(device, source, hints, false).is_ok_and(|built| built.is_some())
}

/// Compiles a source like [`build`], but returns `None` if the image is not cached and `may_compile` is false.
fn build_if(
    device: Device,
    source: &KernelSource,
    hints: &[PathBuf],
    may_compile: bool,
) -> Result<Option<CompiledSource>> {
    let options = options::parse(&source.options, source.compiler.is_none())?;
    let architecture = match &options.architecture {
        Some(architecture) => architecture.clone(),
        None => device.properties()?.architecture,
    };
    let text = wrapped(source);
    let name = if source.name.is_empty() { "kernel.cu" } else { &source.name };
    let request = CompileRequest {
        source: &text,
        name,
        architecture: &architecture,
        options: &options.list,
        expressions: &source.instances,
    };
    let external = source.compiler.as_deref().map(|name| CompilerProcess::find(device.kind(), name)).transpose()?;
    let device_code = device.backend().device_code()?;
    let open = || match &external {
        Some(external) => Ok(external as &dyn Compiler),
        None => device_code.compiler(hints),
    };
    let cheap = if external.is_none() { device_code.compiler_identity(hints) } else { None };
    let mut identity = match cheap {
        Some(identity) => identity,
        None if !may_compile => return Ok(None),
        None => open().map(|compiler| format!("{} {}", compiler.name(), compiler.version()))?,
    };
    if external.is_some() || device.kind() != BackendKind::Cuda {
        identity += &settings::get().of_compilers();
    }
    let key = key(&identity, &request);
    if let Some(compiled) = cache::find(&source.cache, &key) {
        log_queue::log(LogLevel::Debug, || format!("{name} for {architecture}: taken from the cache of kernels"));
        return Ok(Some(CompiledSource { compiled, options, kept: Some(key) }));
    }
    if !may_compile {
        return Ok(None);
    }
    let compiled = cache::keep(&source.cache, &key, timed(device, open()?, &request)?);
    Ok(Some(CompiledSource { compiled, options, kept: None }))
}

/// Text of the header that defines the types of textures and surfaces declared at file scope. It is added to sources
/// with such declarations.
const REFERENCES: &str = include_str!("include/texture_references.h");

/// Returns whether a source declares textures or surfaces at file scope.
fn has_references(text: &str) -> bool {
    ["texture", "surface"].iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let is_word =
                !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':');
            is_word && text[at + word.len()..].trim_start().starts_with('<')
        })
    })
}

/// Typedefs of unsigned types, such as `ushort`, that the host's C headers define. nvcc includes these headers before
/// each source, but run-time compilers do not. C++ allows repeated equal typedefs.
const OF_THE_HOST: &str = "typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;\n";

/// Declaration of the device function that sets the condition of a conditional graph node. No header of NVRTC declares
/// the function.
const CONDITIONS: &str = "extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long, unsigned int);\n";

/// Returns the text for the compiler: the user's source with the required additions. The user's lines keep their line
/// numbers.
fn wrapped(source: &KernelSource) -> Cow<'_, str> {
    let references = if has_references(&source.text) { REFERENCES } else { "" };
    let conditions = if source.text.contains("cudaGraphSetConditional") { CONDITIONS } else { "" };
    if !source.extern_c && references.is_empty() && conditions.is_empty() {
        return Cow::Borrowed(&source.text);
    }
    let name = if source.name.is_empty() { "kernel.cu" } else { &source.name };
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    let (hoisted, begin, end) = match source.extern_c {
        true => (hoisted(&source.text) + OF_THE_HOST, "extern \"C\" {\n", "}\n"),
        false => (String::new(), "", ""),
    };
    Cow::Owned(format!("{references}{conditions}{hoisted}{begin}#line 1 \"{name}\"\n{}\n{end}", source.text))
}

/// Returns the cache key: a hash of everything that determines the image.
fn key(compiler: &str, request: &CompileRequest<'_>) -> ImageKey {
    let options = format!("{:?}", request.options);
    let mut parts: Vec<&[u8]> = vec![
        env!("CARGO_PKG_VERSION").as_bytes(),
        compiler.as_bytes(),
        request.architecture.as_bytes(),
        request.name.as_bytes(),
        request.source.as_bytes(),
        options.as_bytes(),
        b"instances",
    ];
    parts.extend(request.expressions.iter().map(|name| name.as_bytes()));
    // Paths in `#include` lines and options may be relative to the current directory, so the key then contains that
    // directory.
    let here = if may_include(request) { std::env::current_dir().unwrap_or_default() } else { PathBuf::new() };
    parts.push(here.as_os_str().as_encoded_bytes());
    ImageKey::of(parts)
}

/// Compiles a source. If the library compiler does not find a header, retries with the toolkit's compiler program, if
/// available.
fn compile(device: Device, compiler: &dyn Compiler, request: &CompileRequest<'_>) -> Result<Compiled> {
    let mut refused = match compiler.compile(request) {
        Err(Error::Compile(refused)) if lacks_header(&refused.log) => refused,
        other => return other,
    };
    match CompilerProcess::usual(device.kind()) {
        Some(program) if program.name() != compiler.name() => program.compile(request),
        _ => {
            refused.log.push_str(&format!(
                "\n({} has no headers of the host, and those of a toolkit only where one is installed: name folders with -I; \
                 a toolkit's own compiler is used by itself where it is found)",
                compiler.name()
            ));
            Err(Error::Compile(refused))
        }
    }
}

/// Compiles a source and logs the duration of the compilation.
fn timed(device: Device, compiler: &dyn Compiler, request: &CompileRequest<'_>) -> Result<Compiled> {
    let (name, architecture) = (request.name, request.architecture);
    log_queue::log(LogLevel::Debug, || format!("{name} for {architecture}: not in the cache of kernels"));
    let _range = range(|| format!("PyGPU compile {name}"));
    let begin = Instant::now();
    let compiled = compile(device, compiler, request);
    let end = if compiled.is_ok() { "compiled" } else { "refused" };
    log_queue::log(LogLevel::Info, || {
        let (by, version) = (compiler.name(), compiler.version());
        format!("{name} for {architecture}: {end} by {by} {version} in {:.3} s", begin.elapsed().as_secs_f64())
    });
    compiled
}

fn lacks_header(log: &str) -> bool {
    ["cannot open source file", "could not open source file", "file not found"].iter().any(|part| log.contains(part))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use pygpu_backend::CompileOption;

    #[test]
    fn extern_c_wrapper_keeps_line_numbers() {
        let mut source = KernelSource { text: "int a;".into(), name: "a\"b.cu".into(), ..KernelSource::default() };
        assert_eq!(wrapped(&source), "int a;");
        source.extern_c = true;
        let user = "extern \"C\" {\n#line 1 \"a\\\"b.cu\"\nint a;\n}\n";
        assert_eq!(wrapped(&source), format!("{OF_THE_HOST}{user}"));
    }

    #[test]
    fn texture_support_is_included_for_file_scope_references_only() {
        for text in ["texture<float, 2> t;", "static surface <void, 2> s;", "extern \"C\" {texture\n<int> t;}"] {
            assert!(has_references(text), "{text}");
        }
        for text in ["int texture;", "tex2D<float>(t, x, y)", "my_texture<int> t;", "ns::texture<int> t;", "a < b"] {
            assert!(!has_references(text), "{text}");
        }
        let text = "texture<float> t;".to_owned();
        let source = KernelSource { text, name: "a.cu".into(), ..KernelSource::default() };
        assert!(wrapped(&source).ends_with("#endif\n#line 1 \"a.cu\"\ntexture<float> t;\n"));
    }

    #[test]
    fn cache_key_depends_on_every_input() {
        let instances = ["k<int>".to_owned()];
        let options = [CompileOption::Define("N".into(), None)];
        let first = CompileRequest { source: "s", name: "n", architecture: "sm_90", options: &[], expressions: &[] };
        let keys = [
            key("nvrtc 12", &first),
            key("nvrtc 13", &first),
            key("nvrtc 12", &CompileRequest { source: "t", ..first }),
            key("nvrtc 12", &CompileRequest { name: "m", ..first }),
            key("nvrtc 12", &CompileRequest { architecture: "sm_80", ..first }),
            key("nvrtc 12", &CompileRequest { options: &options, ..first }),
            key("nvrtc 12", &CompileRequest { expressions: &instances, ..first }),
        ];
        assert_eq!(keys.iter().collect::<std::collections::HashSet<_>>().len(), keys.len());
        assert_eq!(key("nvrtc 12", &first), keys[0]);
    }

    #[test]
    fn missing_header_is_recognized_in_messages_of_each_compiler() {
        assert!(lacks_header(
            "kernel.cu(1): error: cannot open source file \"stdio.h\" (no directories in search list)"
        ));
        assert!(lacks_header("kernel.hip:1:10: fatal error: 'stdio.h' file not found"));
        assert!(!lacks_header("kernel.cu(1): error: identifier \"x\" is undefined"));
    }
}
