//! Factorizes stacks of small matrices by PyGPU's kernels, one thread block for each matrix. One launch replaces the
//! copies and several launches of the vendor's batched functions.

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

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::SmallMatrices);

const TEXT: &str = include_str!("small_matrices.cu");
/// Maximum number of rows of a matrix.
const SIDE: usize = 64;
/// Maximum size in bytes of a matrix and its right sides in shared memory. Every device permits blocks with 48 KiB without
/// an opt-in, of which the kernels also need up to 224 bytes for the search for pivots.
const ROOM: usize = 47 << 10;
/// Maximum number of thread blocks; a block computes several matrices of a larger stack.
const BLOCKS: usize = 1 << 20;

/// A computation on small matrices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SmallTask {
    /// Triangular factors of positive definite matrices; `upper` selects the triangle that is read and computed.
    Cholesky {
        /// Whether the upper triangle is computed instead of the lower.
        upper: bool,
    },
    /// Solutions of linear systems. The result initially contains the right sides.
    Solve,
    /// Inverses.
    Inverse,
}

/// A request to compute a stack of small matrices.
pub struct SmallRequest<'a> {
    /// The computation.
    pub task: SmallTask,
    /// Number of matrices.
    pub batch: usize,
    /// Number of rows of a matrix, and of columns of its result.
    pub sizes: [usize; 2],
    /// Whether the memory of `input` contains the transposed matrices.
    pub is_transposed: bool,
    /// The matrices, contiguous.
    pub input: &'a Array,
    /// The results, contiguous, in C order.
    pub result: &'a Array,
    /// The status of each matrix: 0, or the number of the failed column, counted from 1.
    pub info: &'a Array,
}

impl SmallTask {
    /// Returns the task with a name that Python uses.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "cholesky" => Self::Cholesky { upper: false },
            "cholesky_upper" => Self::Cholesky { upper: true },
            "solve" => Self::Solve,
            "inverse" => Self::Inverse,
            _ => return None,
        })
    }

    fn kernel_name(self) -> &'static str {
        if matches!(self, Self::Cholesky { .. }) { "pygpu_small_cholesky" } else { "pygpu_small_solve" }
    }

    /// Returns the number of elements in a row of the shared memory.
    fn width(self, sizes: [usize; 2]) -> usize {
        let [rows, columns] = sizes;
        if matches!(self, Self::Cholesky { .. }) { rows | 1 } else { (rows + columns) | 1 }
    }
}

/// Returns whether the kernels can compute matrices with these numbers of rows and of columns of the result.
pub fn fits(task: SmallTask, kind: ScalarType, sizes: [usize; 2]) -> bool {
    let [rows, columns] = sizes;
    let itemsize = DType::new(kind).itemsize();
    (1..=SIDE).contains(&rows) && (1..=ROOM).contains(&columns) && rows * task.width(sizes) * itemsize <= ROOM
}

/// Returns the number of threads of a block, in whole warps: one for each 16 elements of a system, because a thread reads 4
/// elements at a time. Only half of the elements of a Cholesky factor are used.
fn threads(task: SmallTask, sizes: [usize; 2]) -> u32 {
    let [rows, columns] = sizes;
    let elements = rows * if matches!(task, SmallTask::Cholesky { .. }) { rows } else { rows + columns };
    (elements / 16).next_power_of_two().clamp(32, 256) as u32
}

fn source(task: SmallTask, kind: ScalarType, threads: u32) -> KernelSource {
    let own = type_of(kind);
    let (real, conjugate, part, size) = match kind {
        ScalarType::Complex64 => ("float", "pycuda::conj(x)", "(x).real()", "(fabsf((x).real()) + fabsf((x).imag()))"),
        ScalarType::Complex128 => ("double", "pycuda::conj(x)", "(x).real()", "(fabs((x).real()) + fabs((x).imag()))"),
        ScalarType::Float32 => ("float", "(x)", "(x)", "fabsf(x)"),
        _ => ("double", "(x)", "(x)", "fabs(x)"),
    };
    let is = |condition: bool| u8::from(condition);
    let definitions = format!(
        "typedef {own} pygpu_type;\ntypedef {real} pygpu_real;\n#define PYGPU_CONJ(x) {conjugate}\n#define PYGPU_REAL(x) {part}\n\
         #define PYGPU_SIZE(x) {size}\n#define PYGPU_THREADS {threads}\n#define PYGPU_CHOLESKY {}\n\
         #define PYGPU_UPPER {}\n#define PYGPU_INVERSE {}\n",
        is(matches!(task, SmallTask::Cholesky { .. })),
        is(task == SmallTask::Cholesky { upper: true }),
        is(task == SmallTask::Inverse),
    );
    let head = kernel_source::head(&[&definitions], "");
    elementwise_kernel::source(task.kernel_name(), format!("{head}{definitions}{TEXT}"), &[])
}

fn check(request: &SmallRequest<'_>) -> Result<()> {
    let SmallRequest { task, batch, sizes, input, result, info, .. } = request;
    let [rows, columns] = *sizes;
    let kind = input.dtype().kind();
    let is_type =
        matches!(kind, ScalarType::Float32 | ScalarType::Float64 | ScalarType::Complex64 | ScalarType::Complex128);
    let has = |array: &Array, kind: ScalarType, each: usize| {
        array.layout().is_c_contiguous()
            && array.dtype().kind() == kind
            && array.device() == input.device()
            && Some(array.layout().size()) == each.checked_mul(*batch).and_then(|size| i64::try_from(size).ok())
    };
    let is_right = is_type
        && fits(*task, kind, *sizes)
        && has(input, kind, rows * rows)
        && has(result, kind, rows * columns)
        && has(info, ScalarType::Int32, 1);
    if !is_right {
        let name = task.kernel_name();
        return Err(Error::value(format!("{name} of {batch} matrices, {sizes:?}: an array has another size or type")));
    }
    result.check_writable("a factorisation")?;
    info.check_writable("a factorisation")
}

/// Enqueues the computation of a stack of small matrices.
///
/// # Errors
/// `ValueError` for arrays of other sizes or types, and for matrices that are too large; compiler errors; driver errors.
pub fn run(request: &SmallRequest<'_>, stream: &Stream) -> Result<()> {
    check(request)?;
    let SmallRequest { task, batch, sizes, is_transposed, input, result, info } = request;
    if *batch == 0 {
        return Ok(());
    }
    let kind = input.dtype().kind();
    let threads = threads(*task, *sizes);
    let mode = match task {
        SmallTask::Cholesky { upper } => u8::from(*upper),
        SmallTask::Solve => 2,
        SmallTask::Inverse => 3,
    };
    let key = [mode, kind as u8, threads.ilog2() as u8];
    let function = COMPILED.function(stream.device(), &key, task.kernel_name(), || source(*task, kind, threads))?;
    let [rows, columns] = *sizes;
    let mut arguments = Arguments::new();
    [input, result, info].into_iter().for_each(|array| arguments.push_word(array.address() as u64));
    arguments.push_word(*batch as u64);
    arguments.push(&(rows as i32).to_le_bytes());
    if !matches!(task, SmallTask::Cholesky { .. }) {
        arguments.push(&(columns as i32).to_le_bytes());
    }
    arguments.push(&i32::from(*is_transposed).to_le_bytes());
    let room = rows * task.width(*sizes) * input.dtype().itemsize();
    let blocks = (*batch).min(BLOCKS) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: room as u32, cooperative: false };
    let uses: [BlockUse<'_>; 3] =
        [(input.allocation(), Access::Read), (result.allocation(), Access::Write), (info.allocation(), Access::Write)];
    // SAFETY: the arguments match the kernel's parameters. `check` has verified that all arrays have the elements that the
    // kernel accesses, and that a matrix fits into the shared memory of the launch.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}
