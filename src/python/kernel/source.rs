//! Reads the arguments `source`, `options` and `headers` of the classes `Kernel` and `Module`. The source is source
//! code, an image, or a file with source code or an image.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyString, PyTuple};

use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::compiler::with_compiler;
use crate::runtime::device as device_argument;
use pygpu_backend::LoadOptions;
use pygpu_device::Device;
use pygpu_kernel::{self as kernel, Cache, Declarations, KernelSource, Module};

/// File name extensions of source code.
const SOURCE_EXTENSIONS: [&str; 7] = ["cu", "cuh", "hip", "cpp", "cc", "c", "txt"];

/// Source code, with the file name for compiler messages; or an image.
pub(crate) enum SourceOrImage {
    Text(String, String),
    Image(Vec<u8>),
}

/// Reads the argument `source` of `Kernel` and `Module`.
pub(crate) fn read_argument(source: &Bound<'_, PyAny>) -> PyResult<SourceOrImage> {
    if let Ok(text) = source.cast::<PyString>() {
        let text = text.to_str()?;
        if is_path(text) {
            return read(source.py(), &PathBuf::from(text));
        }
        if is_ptx(text) {
            return Ok(SourceOrImage::Image(text.as_bytes().to_vec()));
        }
        return Ok(SourceOrImage::Text(text.to_owned(), "kernel.cu".to_owned()));
    }
    if let Ok(bytes) = source.cast::<PyBytes>() {
        return Ok(SourceOrImage::Image(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = source.cast::<PyByteArray>() {
        return Ok(SourceOrImage::Image(bytes.to_vec()));
    }
    if !source.hasattr(intern!(source.py(), "__fspath__"))? {
        let class = source.get_type().fully_qualified_name()?;
        return Err(PyTypeError::new_err(format!(
            "a kernel's source is a text (str), an image (bytes: cubin, PTX, fatbin), or the path of a file with either, not \
             {class}"
        )));
    }
    read(source.py(), &source.extract::<PathBuf>()?)
}

/// Reads the argument `source` and concatenates the items of a list. Replaces each `#include` of a header in `headers`
/// by the header's contents.
fn read_sources(source: &Bound<'_, PyAny>, headers: Option<&Bound<'_, PyAny>>) -> PyResult<SourceOrImage> {
    let is_list = source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>();
    let parsed = if is_list { concatenate_sources(source)? } else { read_argument(source)? };
    match (parsed, headers.filter(|headers| !headers.is_none())) {
        (SourceOrImage::Text(text, name), Some(headers)) => {
            let helper = source.py().import("PyGPU._kernels.headers")?;
            let text = helper.getattr("inlined")?.call1((text, &name, headers))?.extract()?;
            Ok(SourceOrImage::Text(text, name))
        }
        (SourceOrImage::Image(_), Some(_)) => {
            Err(PyValueError::new_err("an image is compiled already: headers= has no effect"))
        }
        (parsed, None) => Ok(parsed),
    }
}

/// Concatenates several sources. A `#line` directive before each source makes the compiler report the name and the line
/// numbers of that source.
fn concatenate_sources(sources: &Bound<'_, PyAny>) -> PyResult<SourceOrImage> {
    let mut combined = String::new();
    for (position, source) in sources.try_iter()?.enumerate() {
        let source = source?;
        let SourceOrImage::Text(text, name) = read_argument(&source)? else {
            return Err(PyTypeError::new_err(format!(
                "source {} of several is an image: several are compiled together, and images are linked by PyGPU.driver.Linker",
                position + 1
            )));
        };
        let is_file = source.cast::<PyString>().map_or(true, |text| text.to_str().is_ok_and(is_path));
        let name = if is_file { name } else { format!("kernel{}.cu", position + 1) };
        let name = name.replace('\\', "\\\\").replace('"', "\\\"");
        combined.push_str(&format!("#line 1 \"{name}\"\n{text}\n"));
    }
    match combined.is_empty() {
        true => Err(PyValueError::new_err("the list of sources is empty")),
        false => Ok(SourceOrImage::Text(combined, "kernel.cu".to_owned())),
    }
}

/// Returns whether a string is a path. A path contains no source code, and has a known file name extension.
fn is_path(text: &str) -> bool {
    let suffix = text.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    !text.contains(['\n', '{', '(', ';', '#', '"'])
        && (SOURCE_EXTENSIONS.contains(&suffix) || ["cubin", "ptx", "fatbin", "hsaco", "so"].contains(&suffix))
}

/// Returns whether a string is PTX code, such as the text that `module.ptx` returns.
fn is_ptx(text: &str) -> bool {
    let is_ptx = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    text.contains(".address_size") && is_ptx(".version") && is_ptx(".target")
}

pub(crate) fn read(py: Python<'_>, path: &Path) -> PyResult<SourceOrImage> {
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let bytes = py.without_gil(|| std::fs::read(path));
    let bytes = bytes
        .map_err(|error| PyErr::from(std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))))?;
    if !SOURCE_EXTENSIONS.contains(&suffix.as_str()) {
        return Ok(SourceOrImage::Image(bytes));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| PyValueError::new_err(format!("{} is no UTF-8 text", path.display())))?;
    Ok(SourceOrImage::Text(text, path.display().to_string()))
}

/// Parses compiler options: a list of strings, or one string that is split like a command line of a shell.
pub(crate) fn options(options: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(options) = options.filter(|options| !options.is_none()) else { return Ok(Vec::new()) };
    if options.cast::<PyString>().is_ok() {
        return options.py().import("shlex")?.getattr("split")?.call1((options,))?.extract();
    }
    let texts = options.try_iter()?.map(|option| {
        let option = option?;
        option.extract::<String>().map_err(|_| {
            PyTypeError::new_err(format!("options are texts such as '-std=c++17', and {option:?} is none"))
        })
    });
    texts.collect()
}

/// The arguments that the constructors of `Kernel` and `Module` share.
pub(crate) struct SourceArgs<'a, 'py> {
    pub(crate) source: &'a Bound<'py, PyAny>,
    pub(crate) instances: Vec<String>,
    pub(crate) options: Option<&'a Bound<'py, PyAny>>,
    pub(crate) compiler: Option<String>,
    pub(crate) extern_c: bool,
    pub(crate) cache: bool,
    pub(crate) device: Option<&'a Bound<'py, PyAny>>,
    pub(crate) lineinfo: bool,
    pub(crate) headers: Option<&'a Bound<'py, PyAny>>,
}

/// A source or image to load, the device on which it is loaded, and the names of the kernels that the source declares.
pub(crate) struct LoadRequest {
    device: Device,
    source: LoadedSource,
    names: Vec<String>,
}

enum LoadedSource {
    Source(Box<KernelSource>),
    Image(Vec<u8>, Vec<String>),
}

impl SourceArgs<'_, '_> {
    /// Reads and checks the arguments, without compiling the source.
    pub(crate) fn read(self, py: Python<'_>) -> PyResult<LoadRequest> {
        let device = device_argument::from_argument(py, self.device)?;
        let mut options = options(self.options)?;
        if self.lineinfo {
            options.push("-lineinfo".to_owned());
        }
        match read_sources(self.source, self.headers)? {
            SourceOrImage::Image(image) => {
                Ok(LoadRequest { device, source: LoadedSource::Image(image, options), names: Vec::new() })
            }
            SourceOrImage::Text(text, name) => {
                let names = Declarations::read(&text, &[]).described();
                let source = KernelSource {
                    text,
                    name,
                    options,
                    instances: self.instances,
                    extern_c: self.extern_c,
                    compiler: self.compiler,
                    cache: if self.cache { Cache::Usual } else { Cache::Off },
                };
                Ok(LoadRequest { device, source: LoadedSource::Source(Box::new(source)), names })
            }
        }
    }
}

impl LoadRequest {
    /// Loads the module. Returns the module and the names of the kernels that the source declares.
    pub(crate) fn load(self, py: Python<'_>) -> PyResult<(Module, Vec<String>)> {
        let module = match self.source {
            LoadedSource::Image(image, options) => load_image(py, self.device, image, &options)?,
            LoadedSource::Source(source) => load_source(py, self.device, *source)?,
        };
        Ok((module, self.names))
    }

    /// Returns the name of the requested kernel if this kernel is a template and no template arguments were passed;
    /// otherwise `None`. If `name` is `None`, the requested kernel is the only kernel of the source.
    pub(crate) fn template(&self, name: Option<&str>) -> Option<String> {
        let templates = self.names.iter().filter_map(|declared| declared.strip_suffix("<...>"));
        match (name, self.names.as_slice()) {
            (Some(name), _) => {
                let last = name.rsplit("::").next().unwrap_or(name).trim();
                let is_declared = self.names.iter().any(|declared| declared == last);
                templates.filter(|declared| *declared == last && !is_declared).map(|_| name.to_owned()).next()
            }
            (None, [only]) => only.strip_suffix("<...>").map(str::to_owned),
            _ => None,
        }
    }

    /// Creates a module from which only template instances are used. The source is compiled when the first instance is
    /// requested.
    pub(crate) fn templates(self) -> PyResult<Module> {
        match self.source {
            LoadedSource::Source(source) => Ok(Module::of_templates(self.device, *source)?),
            LoadedSource::Image(..) => Err(PyValueError::new_err("an image has no templates")),
        }
    }
}

pub(crate) fn load_image(py: Python<'_>, device: Device, image: Vec<u8>, options: &[String]) -> PyResult<Module> {
    if !options.is_empty() {
        return Err(PyValueError::new_err(format!(
            "an image is compiled already: {} has no effect",
            options.join(" ")
        )));
    }
    Ok(py.without_gil(|| Module::of_image(device, image, &LoadOptions::default()))?)
}

/// Compiles and loads a source. The compilers' warnings are stored in the module's log, and no Python warning is
/// issued.
pub(crate) fn load_quietly(py: Python<'_>, device: Device, source: KernelSource) -> PyResult<Module> {
    with_compiler(py, device, &source, |hints| kernel::load(device, &source, hints))
}

fn load_source(py: Python<'_>, device: Device, source: KernelSource) -> PyResult<Module> {
    let module = load_quietly(py, device, source)?;
    if module.log().contains("warning") {
        let text = std::ffi::CString::new(module.log().replace('\0', " "))?;
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(module)
}
