//! Generates the source of the mask kernels.

use crate::elementwise_kernel;
use pygpu_base::error::Result;
use pygpu_codegen::array_access::{HEADER, IndexWidth};
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart, VariantKey};
use pygpu_device::Device;
use pygpu_kernel::{Function, KernelSource};

const TEXT: &str = include_str!("compact.cu");

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Selection);

/// The action that a mask kernel performs at each position at which the mask is true: copy, assign, or write indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MaskOperation {
    /// Copies the array element at the position to the output.
    Take,
    /// Assigns a value to the array element at the position.
    Put,
    /// Writes the indices of the position to the output.
    Find,
}

/// Specification of a kernel that copies, assigns or lists the elements at which a mask is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct MaskKernel {
    pub(super) task: MaskOperation,
    /// Size of an element in bytes.
    pub(super) unit: i64,
    /// Width of the element indices in the kernel: 32 or 64 bits.
    pub(super) span: IndexWidth,
    pub(super) rank: usize,
}

fn source(name: &str, step: u8, definitions: &str) -> KernelSource {
    let text = format!("{HEADER}\n#define PYGPU_STEP {step}\n{definitions}{TEXT}");
    elementwise_kernel::source(name, text, &[])
}

/// Returns the kernel that counts the true elements of each tile.
pub(super) fn count(device: Device) -> Result<Function> {
    const NAME: &str = "pygpu_count_true";
    COMPILED.function(device, &[1], NAME, || source(NAME, 1, ""))
}

/// Returns the kernel that scans the counts of the tiles.
pub(super) fn starts(device: Device) -> Result<Function> {
    const NAME: &str = "pygpu_start_tiles";
    COMPILED.function(device, &[2], NAME, || source(NAME, 2, ""))
}

/// Returns the kernel that copies, assigns or lists the elements at which a mask is true.
pub(super) fn moving(device: Device, of: MaskKernel) -> Result<Function> {
    const NAME: &str = "pygpu_move_true";
    let MaskKernel { task, unit, span, rank } = of;
    let key = VariantKey::from_slice(&[3, task as u8, unit as u8, span as u8, rank as u8]);
    COMPILED.function(device, &key, NAME, || {
        let walk = span.type_of(rank, 1);
        let definitions = format!(
            "#define PYGPU_TASK {}\n#define PYGPU_UNIT {unit}\n#define PYGPU_DIMS {rank}\ntypedef {walk} pygpu_walk;\n",
            task as u8
        );
        source(NAME, 3, &definitions)
    })
}
