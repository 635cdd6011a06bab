//! Defines loaded modules with their kernels and global variables. A module is unloaded after its last user was dropped
//! and the device was idle once since then.

mod embedded_device_code;
mod image_symbols;
mod template_instances;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use super::cache;
use super::compile::{CompiledSource, KernelSource, build};
use super::declaration::Declarations;
use super::lexer::words;
use super::relocatable_code::linked;
use super::symbols;
use super::types::Parameter;
use pygpu_backend::{
    Address, CompileOption, Compiled, DeviceCode, FunctionHandle, LoadOptions, Loaded, ModuleHandle, NOT_FOUND,
};
use pygpu_base::error::{Error, Result};
use pygpu_base::locks_and_atomics::{Mutex, PoisonError};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_memory::retired_objects;

/// Placeholder for the handle of a module that has a source but no loaded code.
const NOT_LOADED: ModuleHandle = ModuleHandle(0);

/// A loaded image, or a source that contains only templates. Clones refer to the same module.
#[derive(Clone)]
pub struct Module(Arc<ModuleInner>);

struct ModuleInner {
    device: Device,
    epoch: u32,
    device_code: &'static dyn DeviceCode,
    handle: ModuleHandle,
    /// Handles of the second and later parts, if the image is a host library with several parts.
    others: Vec<ModuleHandle>,
    image: Arc<Compiled>,
    /// The source with its options; empty for an image that was loaded without source.
    source: KernelSource,
    options: Vec<CompileOption>,
    made: Instances,
    log: String,
}

/// Separate modules for the template instances that were compiled after this module was loaded, by instance name.
#[derive(Default)]
pub(super) struct Instances(Mutex<HashMap<String, Module>>);

impl Instances {
    pub(super) fn find(&self, name: &str) -> Option<Module> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Caches the module of a template instance. If another thread has cached a module for `name` first, returns that
    /// module.
    pub(super) fn keep(&self, name: &str, made: Module) -> Module {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If `made` is not cached, it is dropped only after the lock is released, because its drop may call the driver.
        known.entry(name.to_owned()).or_insert_with(|| made.clone()).clone()
    }
}

/// Unloads a compiled module from the driver when dropped.
struct Unload {
    device: Device,
    epoch: u32,
    device_code: &'static dyn DeviceCode,
    handle: ModuleHandle,
}

impl Drop for Unload {
    fn drop(&mut self) {
        if !shutdown::exiting() && self.epoch == self.device.epoch() {
            // SAFETY: the last user of the module was dropped, and the device was idle once since then, so no kernel of
            // the module is running.
            shutdown::defer(unsafe { self.device_code.unload(self.device.index(), self.handle) });
        }
    }
}

impl Drop for ModuleInner {
    fn drop(&mut self) {
        if shutdown::exiting() || self.epoch != self.device.epoch() {
            return;
        }
        let Self { device, epoch, device_code, handle, .. } = *self;
        // A kernel of the module may still be running on any stream, so the module is unloaded only once the device is
        // idle.
        for handle in std::iter::once(handle).chain(self.others.drain(..)).filter(|handle| *handle != NOT_LOADED) {
            shutdown::defer(retired_objects::keep_until_idle(
                device,
                Box::new(Unload { device, epoch, device_code, handle }),
            ));
        }
    }
}

impl Module {
    /// Loads a compiled source as a module.
    ///
    /// # Errors
    /// Driver errors.
    fn of_source(device: Device, source: KernelSource, built: CompiledSource, hints: &[PathBuf]) -> Result<Self> {
        let list = &built.options.list;
        let options = LoadOptions {
            max_registers: None,
            debug: list.contains(&CompileOption::Debug),
            line_info: list.contains(&CompileOption::LineInfo),
        };
        let compiled = match linked(device, &source, &built.compiled, (list, &options), hints)? {
            Cow::Borrowed(_) => Arc::clone(&built.compiled),
            Cow::Owned(linked) => Arc::new(linked),
        };
        let mut inner = Self::load(device, compiled, &options)?;
        inner.log = [built.options.notes.join("\n").as_str(), &inner.log].join("\n").trim().to_owned();
        (inner.source, inner.options) = (source, built.options.list);
        Ok(Self(Arc::new(inner)))
    }

    /// Creates a module for a source that only contains templates. Nothing is compiled before an instance is requested.
    ///
    /// # Errors
    /// `NotSupported` if the backend has no kernels.
    pub fn of_templates(device: Device, source: KernelSource) -> Result<Self> {
        let device_code = device.backend().device_code()?;
        let loaded = Loaded { module: NOT_LOADED, log: String::new() };
        let mut inner = Self::inner(device, device_code, Arc::default(), loaded);
        inner.source = source;
        Ok(Self(Arc::new(inner)))
    }

    /// Loads an image as a module: a cubin, PTX, a fatbin, a code object, or a host library with device code.
    ///
    /// # Errors
    /// Driver errors; `ValueError` if the bytes are not an image.
    pub fn of_image(device: Device, image: Vec<u8>, options: &LoadOptions) -> Result<Self> {
        let compiled = Arc::new(Compiled { image, ..Compiled::default() });
        let parts = embedded_device_code::parts(&compiled.image, device.kind())?;
        let [first, rest @ ..] = parts.as_slice() else {
            return Ok(Self(Arc::new(Self::load(device, compiled, options)?)));
        };
        let device_code = device.backend().device_code()?;
        let first = device_code.load(device.index(), &compiled.image[first.clone()], options)?;
        // If a later part of the host library fails to load, the drop of `inner` unloads the parts that are already
        // loaded.
        let mut inner = Self::inner(device, device_code, Arc::clone(&compiled), first);
        for part in rest {
            inner.others.push(device_code.load(device.index(), &compiled.image[part.clone()], options)?.module);
        }
        Ok(Self(Arc::new(inner)))
    }

    fn load(device: Device, compiled: Arc<Compiled>, options: &LoadOptions) -> Result<ModuleInner> {
        let device_code = device.backend().device_code()?;
        let loaded = device_code.load(device.index(), &compiled.image, options)?;
        Ok(Self::inner(device, device_code, compiled, loaded))
    }

    fn inner(
        device: Device,
        device_code: &'static dyn DeviceCode,
        image: Arc<Compiled>,
        loaded: Loaded,
    ) -> ModuleInner {
        let log = [image.log.as_str(), loaded.log.as_str()].join("\n").trim().to_owned();
        ModuleInner {
            device,
            epoch: device.epoch(),
            device_code,
            handle: loaded.module,
            others: Vec::new(),
            image,
            source: KernelSource::default(),
            options: Vec::new(),
            made: Instances::default(),
            log,
        }
    }

    /// Returns whether the module has loaded code. A module whose source contains only templates has none.
    pub(super) fn is_loaded(&self) -> bool {
        self.0.handle != NOT_LOADED
    }

    /// Returns the source; `None` for an image that was loaded without source.
    pub fn source(&self) -> Option<&KernelSource> {
        (!self.0.source.text.is_empty()).then_some(&self.0.source)
    }

    /// Returns the separate modules of those template instances that were compiled after this module was loaded.
    pub(super) fn made(&self) -> &Instances {
        &self.0.made
    }

    /// Returns the module's device.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// Returns the backend interface by which the module was loaded and its kernels are launched.
    pub(super) fn device_code(&self) -> &'static dyn DeviceCode {
        self.0.device_code
    }

    /// Returns the messages of the compiler and the linker.
    pub fn log(&self) -> &str {
        &self.0.log
    }

    /// Returns the bytes of the loaded image.
    pub fn image(&self) -> &[u8] {
        &self.0.image.image
    }

    /// Returns the names of the module's kernels. Empty if neither the driver nor the image provides them.
    ///
    /// # Errors
    /// `ValueError` after a device reset; driver errors.
    pub fn names(&self) -> Result<Vec<String>> {
        self.check_alive()?;
        let mut all = Vec::new();
        for part in std::iter::once(&self.0.handle).chain(&self.0.others).filter(|part| **part != NOT_LOADED) {
            // SAFETY: `self` keeps the module loaded.
            match unsafe { self.0.device_code.names(self.0.device.index(), *part) }? {
                Some(names) => all.extend(names),
                None => return Ok(image_symbols::in_image(self.image())),
            }
        }
        Ok(all)
    }

    /// Returns an error if a device reset has destroyed the module.
    ///
    /// # Errors
    /// `ValueError`.
    pub fn check_alive(&self) -> Result<()> {
        if self.0.epoch == self.0.device.epoch() {
            return Ok(());
        }
        let device = self.0.device;
        Err(Error::value(format!("the kernel was destroyed when {device} was reset; make it again")))
    }

    /// Returns a kernel's parameters as declared in the source.
    pub(super) fn declared(&self, name: &str) -> Option<Vec<Parameter>> {
        Declarations::read(&self.0.source.text, &self.0.options).parameters(name)
    }

    /// Returns the driver's handle of a kernel. In a small image, the mangled name is searched and used first, because
    /// tools that monitor the driver report a failed lookup of the plain name as an error.
    pub(super) fn handle_of(&self, name: &str) -> Result<FunctionHandle> {
        /// Maximum size in bytes of the images that are searched for mangled names first. Larger images are whole
        /// libraries, in which the search is slow.
        const QUICKLY_SEARCHED: usize = 1 << 22;
        let instance = self.0.source.instances.iter().position(|instance| instance == name);
        if let Some(lowered) = instance.and_then(|position| self.0.image.lowered.get(position)) {
            return self.named(lowered);
        }
        match self.found(name, self.image().len() <= QUICKLY_SEARCHED) {
            Err(error) if error.code() == Some(NOT_FOUND) => Err(self.unknown(name)),
            found => found,
        }
    }

    fn found(&self, name: &str, is_small: bool) -> Result<FunctionHandle> {
        if name.starts_with("_Z") {
            return self.named(name); // `name` begins like a mangled name
        }
        if let Some(mangled) = is_small.then(|| symbols::find_mangled(self.image(), name)).flatten() {
            return self.named(&mangled);
        }
        match self.named(name) {
            Err(error) if error.code() == Some(NOT_FOUND) && !is_small => {
                symbols::find_mangled(self.image(), name).map_or(Err(error), |mangled| self.named(&mangled))
            }
            found => found,
        }
    }

    fn named(&self, name: &str) -> Result<FunctionHandle> {
        let name = CString::new(name).map_err(|_| Error::value("the kernel's name has a zero byte in it"))?;
        // SAFETY: `self` keeps the module loaded.
        self.in_parts(|part| unsafe { self.0.device_code.function(self.0.device.index(), part, &name) })
    }

    /// Calls `ask` with the handle of each part of the module until a result is not the error `NOT_FOUND`. Returns the
    /// last result.
    fn in_parts<T>(&self, ask: impl Fn(ModuleHandle) -> Result<T>) -> Result<T> {
        if !self.is_loaded() {
            return Err(Error::value("the source has templates only: name an instance, as 'scale<float>'"));
        }
        self.0.others.iter().fold(ask(self.0.handle), |found, other| match found {
            Err(error) if error.code() == Some(NOT_FOUND) => ask(*other),
            found => found,
        })
    }

    #[cold]
    fn unknown(&self, name: &str) -> Error {
        if words(&self.0.source.text).list.windows(2).any(|two| two == [name, "("]) {
            return Error::value(format!(
                "'{name}' is a function of the source, but no kernel: only what is declared __global__ can be launched"
            ));
        }
        let known = Declarations::read(&self.0.source.text, &self.0.options).described();
        let known = match known.as_slice() {
            [] => String::new(),
            known => format!("; the source declares {}", known.join(", ")),
        };
        Error::value(format!(
            "there is no kernel '{name}' in the module{known} (an instance of a template is named with its arguments \
             when the source is compiled, as 'scale<float>')"
        ))
    }

    /// Returns the address and the size of a global variable.
    ///
    /// # Errors
    /// `ValueError` for an unknown name; driver errors.
    pub fn global(&self, name: &str) -> Result<(Address, usize)> {
        self.check_alive()?;
        let ask = |name: &str| {
            let name = CString::new(name).map_err(|_| Error::value("the variable's name has a zero byte in it"))?;
            // SAFETY: `self` keeps the module loaded.
            self.in_parts(|part| unsafe { self.0.device_code.global(self.0.device.index(), part, &name) })
        };
        match ask(name) {
            Err(error) if error.code() == Some(NOT_FOUND) => Err(Error::value(format!(
                "there is no variable '{name}' in the module: it is declared __device__ or __constant__ outside of \
                 functions, and one in a namespace needs extern \"C\""
            ))),
            other => other,
        }
    }
}

/// Compiles a source for a device, or takes its cached image, and loads the image. A cached image that fails to load is
/// removed from the cache, and the source is compiled again, once. `hints` are candidate paths of the compiler's
/// library.
///
/// # Errors
/// The errors of [`build`]; driver errors.
pub fn load(device: Device, source: &KernelSource, hints: &[PathBuf]) -> Result<Module> {
    let built = build(device, source, hints)?;
    let kept = built.kept.clone();
    match (Module::of_source(device, source.clone(), built, hints), kept) {
        (Err(error), Some(key)) if may_be_the_images(&error) => {
            cache::forget(&source.cache, &key);
            Module::of_source(device, source.clone(), build(device, source, hints)?, hints)
        }
        (loaded, _) => loaded,
    }
}

/// Returns whether the image may be the cause of a failed load. Otherwise the state of the device is the cause.
fn may_be_the_images(error: &Error) -> bool {
    matches!(error, Error::Driver(_) | Error::Value(_))
}
