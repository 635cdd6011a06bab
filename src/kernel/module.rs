//! A loaded image: its kernels and globals, until the last of their users is gone and the device has passed them.

use std::ffi::CString;
use std::sync::Arc;

use super::compile::{Built, Source};
use super::declaration::Declarations;
use super::function::Function;
use super::symbols;
use super::types::Parameter;
use crate::backend::{Address, CompileOption, Compiled, FunctionHandle, LoadOptions, ModuleHandle, Programs};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::lifetime;
use crate::memory::pending;

/// The driver's code for a name that an image does not have.
const NOT_FOUND: u32 = 500;

/// A loaded image. Clones are the same.
#[derive(Clone)]
pub struct Module(Arc<Inner>);

struct Inner {
    device: Device,
    epoch: u32,
    programs: &'static dyn Programs,
    handle: ModuleHandle,
    image: Arc<Compiled>,
    /// The source and the options that say something about its text; empty for an image that came without.
    source: String,
    options: Vec<CompileOption>,
    instances: Vec<String>,
    log: String,
}

/// Ends a module when it is dropped.
struct Unload {
    device: Device,
    epoch: u32,
    programs: &'static dyn Programs,
    handle: ModuleHandle,
}

impl Drop for Unload {
    fn drop(&mut self) {
        if !lifetime::exiting() && self.epoch == self.device.epoch() {
            // SAFETY: the last user is gone, and the device was idle since.
            lifetime::defer(unsafe { self.programs.unload(self.device.index(), self.handle) });
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if lifetime::exiting() || self.epoch != self.device.epoch() {
            return;
        }
        let Self { device, epoch, programs, handle, .. } = *self;
        // A kernel of it may be running on any stream, and the driver unloads nothing before the device is idle.
        lifetime::defer(pending::keep_until_idle(device, Box::new(Unload { device, epoch, programs, handle })));
    }
}

impl Module {
    /// Loads what was built from a source.
    ///
    /// # Errors
    /// The driver's.
    pub fn of_source(device: Device, source: Source, built: Built) -> Result<Self> {
        let list = &built.options.list;
        let options = LoadOptions {
            max_registers: None,
            debug: list.contains(&CompileOption::Debug),
            line_info: list.contains(&CompileOption::LineInfo),
        };
        let mut inner = Self::load(device, built.compiled, &options)?;
        (inner.source, inner.options) = (source.text, built.options.list);
        inner.instances = source.instances;
        Ok(Self(Arc::new(inner)))
    }

    /// Loads an image: a cubin, PTX, a fatbin, a code object.
    ///
    /// # Errors
    /// The driver's; `ValueError` for what is no image.
    pub fn of_image(device: Device, image: Vec<u8>, options: &LoadOptions) -> Result<Self> {
        let compiled = Compiled { image, ..Compiled::default() };
        Ok(Self(Arc::new(Self::load(device, Arc::new(compiled), options)?)))
    }

    fn load(device: Device, compiled: Arc<Compiled>, options: &LoadOptions) -> Result<Inner> {
        let epoch = device.epoch();
        let programs = device.backend().programs()?;
        let loaded = programs.load(device.index(), &compiled.image, options)?;
        let log = [compiled.log.as_str(), loaded.log.as_str()].join("\n").trim().to_owned();
        Ok(Inner {
            device,
            epoch,
            programs,
            handle: loaded.module,
            image: compiled,
            source: String::new(),
            options: Vec::new(),
            instances: Vec::new(),
            log,
        })
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// What loads and launches it.
    pub(super) fn programs(&self) -> &'static dyn Programs {
        self.0.programs
    }

    /// What the compilers said.
    pub fn log(&self) -> &str {
        &self.0.log
    }

    /// The bytes that were loaded.
    pub fn image(&self) -> &[u8] {
        &self.0.image.image
    }

    /// Refuses a module that a reset of the device has destroyed.
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

    /// A kernel by its name in the source, or in the image.
    ///
    /// # Errors
    /// `ValueError` that names the kernels there are; the driver's.
    pub fn function(&self, name: &str) -> Result<Function> {
        self.check_alive()?;
        let handle = self.handle_of(name)?;
        Function::new(self.clone(), handle, name.to_owned(), self.declared(name))
    }

    fn declared(&self, name: &str) -> Option<Vec<Parameter>> {
        Declarations::read(&self.0.source, &self.0.options).parameters(name)
    }

    /// The mangled name first where looking costs nothing: a driver that is asked for a name it has not reports an error to
    /// whoever watches it.
    fn handle_of(&self, name: &str) -> Result<FunctionHandle> {
        /// Larger images are whole libraries.
        const QUICKLY_SEARCHED: usize = 1 << 22;
        let instance = self.0.instances.iter().position(|instance| instance == name);
        if let Some(lowered) = instance.and_then(|position| self.0.image.lowered.get(position)) {
            return self.named(lowered);
        }
        let is_small = self.image().len() <= QUICKLY_SEARCHED;
        if let Some(mangled) = is_small.then(|| symbols::find_mangled(self.image(), name)).flatten() {
            return self.named(&mangled);
        }
        match self.named(name) {
            Err(error) if error.code() == Some(NOT_FOUND) => {}
            found => return found,
        }
        match if is_small { None } else { symbols::find_mangled(self.image(), name) } {
            Some(mangled) => self.named(&mangled),
            None => Err(self.unknown(name)),
        }
    }

    fn named(&self, name: &str) -> Result<FunctionHandle> {
        let name = CString::new(name).map_err(|_| Error::value("the kernel's name has a zero byte in it"))?;
        // SAFETY: the module is alive as long as this.
        unsafe { self.0.programs.function(self.0.device.index(), self.0.handle, &name) }
    }

    #[cold]
    fn unknown(&self, name: &str) -> Error {
        let known = Declarations::read(&self.0.source, &self.0.options).described();
        let known = match known.as_slice() {
            [] => String::new(),
            known => format!("; the source declares {}", known.join(", ")),
        };
        Error::value(format!(
            "there is no kernel '{name}' in the module{known} (an instance of a template is named with its arguments \
             when the source is compiled, as 'scale<float>')"
        ))
    }

    /// The address and the size of a global variable.
    ///
    /// # Errors
    /// `ValueError` for a name that is not there; the driver's.
    pub fn global(&self, name: &str) -> Result<(Address, usize)> {
        self.check_alive()?;
        let ask = |name: &str| {
            let name = CString::new(name).map_err(|_| Error::value("the variable's name has a zero byte in it"))?;
            // SAFETY: the module is alive as long as this.
            unsafe { self.0.programs.global(self.0.device.index(), self.0.handle, &name) }
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
