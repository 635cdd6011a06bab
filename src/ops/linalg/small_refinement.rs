//! Refines the singular vectors of small matrices by one kernel, one thread block for each matrix. One launch replaces
//! five products and the operations between them.

use crate::elementwise_kernel;
use crate::kernel_source;
use crate::ufunc::kernel::type_of;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, KernelSource, launch};
use pygpu_memory::{Access, BlockUse};

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::SmallRefinement);

const NAME: &str = "pygpu_small_refinement";
const TEXT: &str = include_str!("small_refinement.cu");
/// Maximum number of rows and of columns of a matrix.
const SIDE: usize = 32;
/// Maximum size in bytes of shared memory, which every device permits without an opt-in.
const ROOM: usize = 48 << 10;
/// Maximum number of thread blocks; a block computes several matrices of a larger stack.
const BLOCKS: usize = 1 << 20;

/// A request to refine the singular vectors of a stack of small matrices.
pub struct RefinementRequest<'a> {
    /// Number of matrices.
    pub batch: usize,
    /// Number of rows and of columns of a matrix.
    pub sizes: [usize; 2],
    /// Number of left and of right vectors to refine.
    pub counts: [usize; 2],
    /// Whether the memory contains the transposed matrices.
    pub is_transposed: bool,
    /// Whether the vectors are conjugated.
    pub is_conjugated: bool,
    /// The matrices, the left vectors and the right vectors, contiguous. Each vector is a row.
    pub inputs: [&'a Array; 3],
    /// The left vectors as columns, the singular values, and the conjugated right vectors as rows, contiguous.
    pub results: [&'a Array; 3],
}

/// Returns the smallest number of lanes that suffices for a matrix.
fn lanes([rows, columns]: [usize; 2]) -> usize {
    rows.max(columns).next_power_of_two().max(8)
}

/// Returns the size in bytes of four matrices in shared memory.
fn room(kind: ScalarType, sizes: [usize; 2]) -> usize {
    4 * lanes(sizes) * (lanes(sizes) + 1) * DType::new(kind).itemsize()
}

/// Returns the type of the absolute values of elements; `None` for types that linear algebra does not support.
fn real_type(kind: ScalarType) -> Option<ScalarType> {
    Some(match kind {
        ScalarType::Float32 | ScalarType::Complex64 => ScalarType::Float32,
        ScalarType::Float64 | ScalarType::Complex128 => ScalarType::Float64,
        _ => return None,
    })
}

fn source(kind: ScalarType, lanes: usize, threads: usize) -> KernelSource {
    let own = type_of(kind);
    let (real, conjugate, magnitude) = match kind {
        ScalarType::Complex64 => ("float", "pycuda::conj(x)", "hypotf((x).real(), (x).imag())"),
        ScalarType::Complex128 => ("double", "pycuda::conj(x)", "hypot((x).real(), (x).imag())"),
        ScalarType::Float32 => ("float", "(x)", "fabsf(x)"),
        _ => ("double", "(x)", "fabs(x)"),
    };
    let definitions = format!(
        "typedef {own} pygpu_type;\ntypedef {real} pygpu_real;\n#define PYGPU_CONJ(x) {conjugate}\n\
         #define PYGPU_ABS(x) {magnitude}\n#define PYGPU_LANES {lanes}\n#define PYGPU_THREADS {threads}\n"
    );
    let head = kernel_source::head(&[&definitions], "");
    elementwise_kernel::source(NAME, format!("{head}{definitions}{TEXT}"), &[])
}

/// Returns the numbers of left and right vectors of each matrix in the inputs.
fn check(request: &RefinementRequest<'_>) -> Result<[usize; 2]> {
    let RefinementRequest { batch, sizes, counts, inputs: [a, left, right], results, .. } = request;
    let ([m, n], [left_count, right_count]) = (*sizes, *counts);
    let kind = a.dtype().kind();
    let has = |array: &Array, kind: ScalarType, each: usize| {
        array.layout().is_c_contiguous()
            && array.dtype().kind() == kind
            && array.device() == a.device()
            && Some(array.layout().size()) == each.checked_mul(*batch).and_then(|size| i64::try_from(size).ok())
    };
    let vectors_of = |array: &Array, length: usize| array.layout().size() as usize / (*batch * length).max(1);
    let given = [vectors_of(left, m), vectors_of(right, n)];
    let [new_left, values, new_right] = results;
    let is_right = fits_refinement(kind, *sizes)
        && has(a, kind, m * n)
        && has(left, kind, given[0] * m)
        && has(right, kind, given[1] * n)
        && has(new_left, kind, m * left_count)
        && real_type(kind).is_some_and(|real| has(values, real, m.min(n)))
        && has(new_right, kind, right_count * n)
        && (m.min(n)..=given[0].min(m)).contains(&left_count)
        && (m.min(n)..=given[1].min(n)).contains(&right_count);
    if !is_right {
        return Err(Error::value(format!("{NAME} of {batch} matrices, {sizes:?}: an array has another size or type")));
    }
    results.iter().try_for_each(|array| array.check_writable("a factorisation"))?;
    Ok(given)
}

/// Returns whether a thread block can refine the vectors of a matrix with these numbers of rows and columns.
pub fn fits_refinement(kind: ScalarType, sizes: [usize; 2]) -> bool {
    real_type(kind).is_some() && sizes.iter().all(|side| (1..=SIDE).contains(side)) && room(kind, sizes) <= ROOM
}

/// Enqueues the refinement of the singular vectors of small matrices.
///
/// # Errors
/// `ValueError` for arrays of other sizes or types; compiler errors; driver errors.
pub fn run(request: &RefinementRequest<'_>, stream: &Stream) -> Result<()> {
    let RefinementRequest { batch, sizes, counts, is_transposed, is_conjugated, inputs, results } = request;
    let kind = inputs[0].dtype().kind();
    if *batch == 0 {
        return Ok(());
    }
    let given = check(request)?;
    let room = room(kind, *sizes);
    let lanes = lanes(*sizes);
    let threads = (lanes * lanes / 4).max(32);
    let key = [kind as u8, lanes as u8];
    let function = COMPILED.function(stream.device(), &key, NAME, || source(kind, lanes, threads))?;
    let mut arguments = Arguments::new();
    inputs.iter().chain(results).for_each(|array| arguments.push_word(array.address() as u64));
    let steps = [*batch, given[0] * sizes[0], given[1] * sizes[1]];
    steps.iter().for_each(|step| arguments.push_word(*step as u64));
    let flags = [usize::from(*is_transposed), usize::from(*is_conjugated)];
    let numbers = sizes.iter().chain(counts).chain(&flags);
    numbers.for_each(|number| arguments.push(&(*number as i32).to_le_bytes()));
    let blocks = (*batch).min(BLOCKS) as u32;
    let shape =
        LaunchShape { grid: [blocks, 1, 1], block: [threads as u32, 1, 1], shared: room as u32, cooperative: false };
    let uses: [BlockUse<'_>; 6] = std::array::from_fn(|place| match place {
        0..3 => (inputs[place].allocation(), Access::Read),
        _ => (results[place - 3].allocation(), Access::Write),
    });
    // SAFETY: the arguments match the kernel's parameters. `check` has verified that all arrays have the elements that the
    // kernel accesses, and the launch has the shared memory of four matrices.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}
