//! Copies the lower triangles of column-major matrices to row-major matrices by one kernel.

use crate::elementwise_kernel;
use crate::kernel_source;
use crate::ufunc::kernel::type_of;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::{Error, Result};
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, KernelSource, launch};
use pygpu_memory::{Access, BlockUse};

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::LowerTriangles);

const NAME: &str = "pygpu_lower_triangle";
const TEXT: &str = include_str!("lower_triangle.cu");
/// Number of rows and columns of a tile.
const TILE: usize = 32;
/// Maximum number of thread blocks; a block copies several tiles of larger matrices.
const BLOCKS: usize = 1 << 20;

fn source(kind: ScalarType) -> KernelSource {
    let definitions = format!("typedef {} pygpu_type;\n", type_of(kind));
    let head = kernel_source::head(&[&definitions], "");
    elementwise_kernel::source(NAME, format!("{head}{definitions}{TEXT}"), &[])
}

/// Enqueues a copy of the lower triangles of the matrices of `columns`, which are stored by columns, to `result`.
///
/// # Errors
/// `ValueError` for arrays of other sizes or types; compiler errors; driver errors.
pub fn copy_lower_triangle(columns: &Array, result: &Array, stream: &Stream) -> Result<()> {
    let kind = columns.dtype().kind();
    let shape: Vec<_> = columns.layout().shape().collect();
    let is_float =
        matches!(kind, ScalarType::Float32 | ScalarType::Float64 | ScalarType::Complex64 | ScalarType::Complex128);
    let is_right = is_float
        && shape.len() >= 2
        && shape[shape.len() - 1] == shape[shape.len() - 2]
        && result.layout().shape().eq(shape.iter().copied())
        && [columns, result].iter().all(|array| array.layout().is_c_contiguous())
        && result.dtype().kind() == kind
        && result.device() == columns.device();
    if !is_right {
        return Err(Error::value(format!("{NAME} of {shape:?}: an array has another shape or type")));
    }
    result.check_writable("a factorisation")?;
    let size = columns.layout().size() as usize;
    let n = shape[shape.len() - 1] as usize;
    if size == 0 {
        return Ok(());
    }
    let batch = size / (n * n);
    let function = COMPILED.function(stream.device(), &[kind as u8], NAME, || source(kind))?;
    let mut arguments = Arguments::new();
    [columns, result].into_iter().for_each(|array| arguments.push_word(array.address() as u64));
    arguments.push_word(batch as u64);
    arguments.push(&(n as i32).to_le_bytes());
    let blocks = batch.saturating_mul(n.div_ceil(TILE).pow(2)).min(BLOCKS) as u32;
    let room = (TILE * (TILE + 1) * columns.dtype().itemsize()) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [256, 1, 1], shared: room, cooperative: false };
    let uses: [BlockUse<'_>; 2] = [(columns.allocation(), Access::Read), (result.allocation(), Access::Write)];
    // SAFETY: the arguments match the kernel's parameters. The checks above have verified that both arrays have the
    // elements that the kernel accesses, and the launch has the shared memory of a tile.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}
