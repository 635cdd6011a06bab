//! Compiles parts of a module's source after the module was loaded: a template instance when it is first used, and PTX
//! when it is requested.

use std::path::PathBuf;

use super::embedded_device_code;
use super::{Module, load};
use crate::compile::{KernelSource, build};
use crate::function::Function;
use crate::options;
use pygpu_backend::BackendKind;
use pygpu_base::error::{Error, Result};

/// Returns whether an image is probably PTX, which contains `.version` near its beginning.
pub fn is_ptx(image: &[u8]) -> bool {
    let is_other = image.starts_with(b"\x7fELF") || image.starts_with(&embedded_device_code::FATBIN);
    !is_other && image.windows(8).take(1 << 16).any(|window| window == b".version")
}

impl Module {
    /// Returns whether `name` is a template instance that is not in the image but can be compiled from the source.
    pub fn lacks_instance(&self, name: &str) -> bool {
        (name.contains('<') || !self.is_loaded())
            && self.source().is_some_and(|source| !source.instances.iter().any(|known| known == name))
    }

    /// Returns an instance of a template of the source. On first use, the instance is compiled and loaded as a separate
    /// module. `hints` are candidate paths of the compiler's library.
    ///
    /// # Errors
    /// The errors of [`load`]; `ValueError` for a module without source.
    pub fn instance(&self, name: &str, hints: &[PathBuf]) -> Result<Function> {
        let Some(source) = self.source() else {
            return Err(Error::value(format!(
                "{name}: an image has the instances that it was compiled with; others need the source"
            )));
        };
        let source = KernelSource { instances: vec![name.to_owned()], ..source.clone() };
        let made = match self.made().find(name) {
            Some(made) => made,
            None => self.made().keep(name, load(self.device(), &source, hints)?),
        };
        made.function(name)
    }

    /// Returns whether the image is a fatbin or a host library. Only the vendor's tools can read the code inside such a
    /// container.
    pub fn is_container(&self) -> bool {
        self.image().starts_with(&embedded_device_code::FATBIN)
            || embedded_device_code::parts(self.image(), self.device().kind()).is_ok_and(|parts| !parts.is_empty())
    }

    /// Returns the module's PTX: the image itself, or the source compiled to PTX for the same architecture.
    ///
    /// # Errors
    /// `NotSupported` on non-NVIDIA devices; `ValueError` for an image without PTX; errors of [`build`].
    pub fn ptx(&self, hints: &[PathBuf]) -> Result<Vec<u8>> {
        if self.device().kind() != BackendKind::Cuda {
            return Err(Error::not_supported(format!(
                "PTX is the language of NVIDIA's drivers, and {} knows none: module.assembly has its own",
                self.device()
            )));
        }
        if is_ptx(self.image()) {
            return Ok(self.image().to_vec());
        }
        let Some(source) = self.source() else {
            return Err(Error::value(
                "the module was loaded from machine code, in which there is no PTX that could be read: compile its source, or \
                 see module.sass",
            ));
        };
        let requested_architecture = options::parse(&source.options, source.compiler.is_none())?.architecture;
        let architecture = match requested_architecture {
            Some(architecture) => architecture,
            None => self.device().properties()?.architecture,
        };
        let virtual_architecture = architecture.replacen("sm_", "compute_", 1);
        let mut source = source.clone();
        source.options.push(format!("-code={virtual_architecture}"));
        Ok(build(self.device(), &source, hints)?.compiled.image.clone())
    }
}
