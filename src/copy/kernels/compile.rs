//! Compiles the copy kernels on first use. Without a compiler no copy kernel is available.

use smallvec::SmallVec;

use pygpu_codegen::array_access;
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart, VariantKey};
use pygpu_device::Device;
use pygpu_kernel::{Function, KernelSource};

/// A copy kernel, without the values of its compile-time definitions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum CopyKernelId {
    Lines,
    Flat,
    Squares,
    Tiles,
    Select,
    SelectDirectly,
    Places,
    Claim,
    Settle,
}

impl CopyKernelId {
    const fn name(self) -> &'static str {
        match self {
            Self::Lines => "move_lines",
            Self::Flat => "move_flat",
            Self::Squares => "move_squares",
            Self::Tiles => "move_tiles",
            Self::Select | Self::SelectDirectly => "move_select",
            Self::Places => "move_places",
            Self::Claim => "move_claim",
            Self::Settle => "move_settle",
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Lines => include_str!("device/long_row_copy.cu"),
            Self::Flat => include_str!("device/strided_copy.cu"),
            Self::Squares => include_str!("device/transpose_in_registers.cu"),
            Self::Tiles => include_str!("device/transpose_in_shared_memory.cu"),
            Self::Select => include_str!("device/indexed_copy.cu"),
            Self::SelectDirectly => {
                concat!(include_str!("device/index_conversion.cu"), include_str!("device/indexed_copy.cu"))
            }
            Self::Places | Self::Claim | Self::Settle => {
                concat!(include_str!("device/index_conversion.cu"), include_str!("device/index_offsets.cu"))
            }
        }
    }
}

/// A copy kernel with the values of its compile-time definitions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct CopyVariant {
    kernel: CopyKernelId,
    defined: SmallVec<[(&'static str, i64); 7]>,
}

static KERNELS: KernelFamily = KernelFamily::of_library(LibraryPart::Copies);

/// Returns the compiled kernel, or `None` if it cannot be compiled.
pub(super) fn function(device: Device, variant: CopyVariant) -> Option<Function> {
    KERNELS.function_if_any(device, &variant.key(), variant.kernel.name(), || variant.source())
}

impl CopyVariant {
    pub(super) fn new(kernel: CopyKernelId, defined: impl IntoIterator<Item = (&'static str, i64)>) -> Self {
        Self { kernel, defined: defined.into_iter().collect() }
    }

    /// Adds a compile-time definition, which is a macro in the kernel's source.
    pub(super) fn with(mut self, name: &'static str, value: i64) -> Self {
        self.defined.push((name, value));
        self
    }

    /// Returns the cache key: the kernel and the values of its definitions. The key need not contain the names of the
    /// definitions, because they follow from the kernel and the number of values.
    fn key(&self) -> VariantKey {
        let mut key = VariantKey::from_slice(&[self.kernel as u8]);
        // The key has 16 bits for the value of each definition, which suffice for every value.
        self.defined.iter().for_each(|(_, value)| key.extend((*value as u16).to_le_bytes()));
        key
    }

    fn source(&self) -> KernelSource {
        KernelSource {
            text: [array_access::HEADER, include_str!("device/common.cu"), self.kernel.text()].concat(),
            name: format!("{}.cu", self.kernel.name()),
            options: self.defined.iter().map(|(name, value)| format!("-D{name}={value}")).collect(),
            ..KernelSource::default()
        }
    }
}
