//! Computes complex transforms along an axis that is not the last in memory, by PyGPU's kernels. They read and write the
//! columns once, or twice for long transforms. The libraries read single elements or make further passes.

use std::f64::consts::TAU;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, Ordering};

use smallvec::SmallVec;

use super::embedding::{Batch, batches};
use crate::elementwise_kernel;
use crate::kernel_source;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_backend::libraries::fft::Direction;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, KernelSource, launch, limits_of};
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_memory::{Access, BlockUse};

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::FftColumns);
const NAME: &str = "pygpu_fft_columns";
const TEXT: &str = include_str!("columns.cu");

/// Minimum number of bytes of adjacent columns. A memory transaction reads 32 bytes and a DRAM access 64 bytes.
const ADJACENT: i64 = 64;
/// Binary logarithm of the maximum number of points of a transform in one pass, for which a block of columns of
/// `ADJACENT` bytes fits into 64 KiB of shared memory, the maximum of AMD's devices.
const ONE_PASS: u32 = 10;
/// Size of a block of columns for shorter transforms, of which several are resident on a multiprocessor.
const BLOCK: i64 = 32 << 10;
const THREADS: i64 = 256;
/// Number of columns to which pieces of long transforms are rounded, so that each row begins at a multiple of 128 bytes.
const ALIGNED: i64 = 16;
/// Number of roots of unity that the kernel of the first of two passes contains. Their products with as many powers of
/// the root of `MOST_ROOTS` points are all factors between the passes.
const ROOTS: i64 = 1 << 10;
const MOST_ROOTS: i64 = ROOTS * ROOTS;

/// Minimum number of elements for which PyGPU's kernels are used. On an H200, 2^16 elements along a middle axis took 16 us,
/// and 31 by copies and the library; 2^14 took 15 and 19.
const FEWEST: i64 = 1 << 16;
/// Number of points above which the library needs several passes, and the multiple of `FEWEST` from which copies are then
/// faster.
const LONG: i64 = 2048;
const LARGE: i64 = 64;
/// Size in bytes of a piece of a long transform. The second pass reads the results of the first pass, which the
/// second-level cache then contains (40 MiB of an A100, 50 MiB of an H100 and H200). A much smaller piece would not occupy
/// all multiprocessors. On an H200, 8192 x 8192 elements had 1632 GB/s with pieces of 16 MiB, 1725 with 32 and 1608 with
/// 48. One piece had 1841, but its temporary array has the size of the input.
const PIECE: i64 = 32 << 20;

static FEWEST_NOW: AtomicI64 = AtomicI64::new(FEWEST);
static PIECE_NOW: AtomicI64 = AtomicI64::new(PIECE);

/// Sets the minimum number of elements for which PyGPU's kernels are used, and the size in bytes of a piece of a long
/// transform. `None` restores the default.
pub fn limit(fewest: Option<i64>, piece: Option<i64>) {
    FEWEST_NOW.store(fewest.unwrap_or(FEWEST), Ordering::Relaxed);
    PIECE_NOW.store(piece.unwrap_or(PIECE), Ordering::Relaxed);
}

/// A complex transform along one axis.
pub(super) struct ColumnTransform<'a> {
    pub(super) source: &'a Array,
    pub(super) target: &'a Array,
    pub(super) axis: usize,
    pub(super) direction: Direction,
    /// Scale factor by which the result is multiplied.
    pub(super) factor: f64,
}

/// The axes that are not transformed: adjacent columns, and up to two axes along which these are repeated.
struct Columns {
    inner: i64,
    outer: SmallVec<[Batch; 4]>,
}

impl Columns {
    /// Describes arrays in which columns are adjacent. Returns `None` for other arrays.
    fn of(source: &Layout, target: &Layout, axis: usize) -> Option<Self> {
        let mut outer = batches(source, target, &[axis]);
        let itemsize = target.itemsize();
        let inner = outer.pop().filter(|last| last.input == itemsize && last.output == itemsize)?.len;
        (inner * itemsize >= ADJACENT && outer.len() <= 2).then_some(Self { inner, outer })
    }
}

/// Returns whether the library needs longer for the complex transform along an axis than copies and a transform of rows.
/// On an H200, it transformed 8192 x 8192 elements along the first axis with 892 GB/s. Copies and a transform of rows had
/// 1244 GB/s for 6561 x 8192 elements.
pub(super) fn is_slow_in_library(source: &Array, target: &Array, axis: usize) -> bool {
    let (source, target) = (source.layout(), target.layout());
    let is_large = target.size() / LARGE >= FEWEST_NOW.load(Ordering::Relaxed);
    is_large && target.axes()[axis].len > LONG && Columns::of(source, target, axis).is_some()
}

/// Distances in bytes between rows, between columns that are not adjacent, and between groups of such columns.
type Side = [i64; 3];

/// A launch of the kernel.
struct Pass<'a> {
    function: &'a Function,
    bits: u32,
    /// The first addresses of input and output, and the layout of each.
    sides: [(usize, Side); 2],
    uses: &'a [BlockUse<'a>],
    /// Number of columns: adjacent columns, their groups, and groups of these.
    columns: [i64; 3],
    /// Bit 0: the parts of the input's elements are exchanged; bit 1: those of the output's elements; bit 2: the output's
    /// elements must not displace others from the second-level cache.
    flags: u32,
    /// Number of points of the transform of which this pass is the first.
    points: i64,
    factor: f64,
}

/// Binary logarithm of the number of elements per thread, which is the largest radix of a transform of 2^bits points.
/// This choice minimizes the number of exchanges through shared memory.
fn each_bits(bits: u32) -> u32 {
    match bits {
        0..=4 => bits,
        5 | 6 | 9 => 3,
        _ => 4,
    }
}

/// Returns the number of columns that a thread block transforms, a power of two.
fn columns_of_block(bits: u32, itemsize: i64) -> i64 {
    let of_threads = (THREADS << each_bits(bits)) >> bits;
    ((BLOCK / itemsize) >> bits).min(of_threads).max(ADJACENT / itemsize)
}

fn threads(bits: u32, itemsize: i64) -> u32 {
    ((columns_of_block(bits, itemsize) << bits) >> each_bits(bits)) as u32
}

/// Returns the C text of the first `count` powers of the root of unity of `points` points.
fn roots(count: i64, points: i64, kind: ScalarType) -> String {
    let mut text = String::new();
    for power in 0..count {
        // Sine and cosine are the most accurate of angles of at most an eighth of a turn.
        let quarter = (4 * power + points / 2) / points;
        let (sine, cosine) = (TAU * (4 * power - quarter * points) as f64 / (4 * points) as f64).sin_cos();
        let [x, y] = match quarter % 4 {
            0 => [cosine, sine],
            1 => [-sine, cosine],
            2 => [-cosine, -sine],
            _ => [sine, -cosine],
        };
        let _ = match kind {
            ScalarType::Complex64 => write!(text, "{{{:?}f,{:?}f}},", x as f32, -y as f32),
            _ => write!(text, "{{{x:?},{:?}}},", -y),
        };
    }
    text
}

fn source(bits: u32, kind: ScalarType, is_first: bool) -> KernelSource {
    let points = 1 << bits;
    let itemsize = DType::new(kind).itemsize() as i64;
    let real = if kind == ScalarType::Complex64 { "float" } else { "double" };
    let (count, of) = if is_first { (ROOTS, ROOTS) } else { (points / 2, points) };
    let mut definitions = format!(
        "typedef {real} pygpu_real;\n#define PYGPU_BYTES {itemsize}\n#define PYGPU_BITS {bits}\n#define PYGPU_EACH_BITS {}\n#define PYGPU_COLUMN_BITS {}\n#define PYGPU_THREADS {}\n\
         #define PYGPU_ROOT_STEP {}\n#define PYGPU_ROOTS {}\n",
        each_bits(bits),
        columns_of_block(bits, itemsize).ilog2(),
        threads(bits, itemsize),
        of / points,
        roots(count, of, kind),
    );
    if is_first {
        let _ = writeln!(definitions, "#define PYGPU_FINE_ROOTS {}", roots(ROOTS, MOST_ROOTS, kind));
    }
    let head = kernel_source::head(&[], "");
    elementwise_kernel::source(NAME, format!("{head}{definitions}{TEXT}"), &[])
}

fn function(device: Device, bits: u32, kind: ScalarType, is_first: bool) -> Option<Function> {
    let key = [bits as u8, kind as u8, u8::from(is_first)];
    COMPILED.function_if_any(device, &key, NAME, || source(bits, kind, is_first))
}

/// Transforms columns. Returns `false`, without any transform, if the library must transform the arrays, because columns
/// are not adjacent, because their number is small or their length no power of two, or because there is no compiler.
///
/// # Errors
/// `OutOfMemory`; driver errors.
pub(super) fn run(task: &ColumnTransform<'_>, stream: &Stream) -> Result<bool> {
    let (source, target) = (task.source.layout(), task.target.layout());
    let points = target.axes()[task.axis].len;
    let is_length = points > 1 && points <= MOST_ROOTS && points.count_ones() == 1;
    if !is_length || target.size() < FEWEST_NOW.load(Ordering::Relaxed) {
        return Ok(false);
    }
    let Some(columns) = Columns::of(source, target, task.axis) else { return Ok(false) };
    let bits = points.ilog2();
    let limits = limits_of(stream.device())?;
    let is_short = bits <= ONE_PASS;
    let has_room =
        shared(bits.min(ONE_PASS), target.itemsize()) <= limits.shared_per_block_optin.max(limits.shared_per_block);
    // The kernel counts columns in 32 bits. A pass of a long transform has fewer columns, because pieces are small.
    if !has_room || (is_short && target.size() / points > i64::from(i32::MAX)) || (!is_short && columns.outer.len() > 1)
    {
        return Ok(false);
    }
    if is_short { in_one_pass(task, &columns, bits, stream) } else { in_two_passes(task, &columns, bits, stream) }
}

/// Returns the size in bytes of the shared memory of a thread block.
fn shared(bits: u32, itemsize: i64) -> u32 {
    if each_bits(bits) == bits { 0 } else { ((columns_of_block(bits, itemsize) * itemsize) << bits) as u32 }
}

/// Divides and rounds up.
const fn quotient(count: i64, by: i64) -> i64 {
    (count + by - 1) / by
}

/// Returns the distances between rows of both arrays.
fn rows(task: &ColumnTransform<'_>) -> [i64; 2] {
    [task.source, task.target].map(|array| array.layout().axes()[task.axis].stride)
}

fn uses_of<'a>(source: &'a Array, target: &'a Array) -> SmallVec<[BlockUse<'a>; 2]> {
    let is_one = std::sync::Arc::ptr_eq(source.allocation(), target.allocation());
    let mut uses: SmallVec<[BlockUse<'_>; 2]> = SmallVec::from_iter([(target.allocation(), Access::Write)]);
    uses.extend((!is_one).then(|| (source.allocation(), Access::Read)));
    uses
}

fn in_one_pass(task: &ColumnTransform<'_>, columns: &Columns, bits: u32, stream: &Stream) -> Result<bool> {
    let Some(function) = function(stream.device(), bits, task.target.dtype().kind(), false) else { return Ok(false) };
    let [from, to] = rows(task);
    let none = Batch { len: 1, input: 0, output: 0 };
    let mut repeated = columns.outer.iter().rev().copied().chain([none; 2]);
    let (middle, outer) = (repeated.next().unwrap_or(none), repeated.next().unwrap_or(none));
    let pass = Pass {
        function: &function,
        bits,
        sides: [
            (task.source.address(), [from, middle.input, outer.input]),
            (task.target.address(), [to, middle.output, outer.output]),
        ],
        uses: &uses_of(task.source, task.target),
        columns: [columns.inner, middle.len, outer.len],
        flags: if task.direction == Direction::Inverse { 3 } else { 0 },
        points: MOST_ROOTS,
        factor: task.factor,
    };
    run_pass(&pass, task.target.dtype().kind(), stream)?;
    Ok(true)
}

/// Transforms n = n1 n2 points by transforms of n1 points at distance n2, multiplications by the powers of the root of n
/// points, and transforms of n2 adjacent points. The results of the first pass are in a temporary array. Arrays are
/// transformed in pieces of columns, so that this array is small enough for the second-level cache.
fn in_two_passes(task: &ColumnTransform<'_>, columns: &Columns, bits: u32, stream: &Stream) -> Result<bool> {
    let kind = task.target.dtype().kind();
    let halves = [bits / 2, bits - bits / 2];
    let [Some(first), Some(second)] =
        [(halves[0], true), (halves[1], false)].map(|(bits, is_first)| function(stream.device(), bits, kind, is_first))
    else {
        return Ok(false);
    };
    let (points, [n1, n2]) = (1 << bits, halves.map(|bits| 1i64 << bits));
    let [from, to] = rows(task);
    let itemsize = task.target.layout().itemsize();
    let outer = columns.outer.first().copied().unwrap_or(Batch { len: 1, input: 0, output: 0 });
    let piece = (PIECE_NOW.load(Ordering::Relaxed) / itemsize / points).max(ALIGNED);
    let width =
        (quotient(quotient(columns.inner, quotient(columns.inner, piece)), ALIGNED) * ALIGNED).min(columns.inner);
    let group = (piece / columns.inner).clamp(1, outer.len);
    let is_inverse = task.direction == Direction::Inverse;
    let between = Array::empty(&[points * width * group], task.target.dtype(), MemoryOrder::C, stream.clone())?;
    for start in (0..outer.len).step_by(group as usize) {
        for column in (0..columns.inner).step_by(width as usize) {
            let (width, group) = (width.min(columns.inner - column), group.min(outer.len - start));
            let at = |array: &Array, distance: i64| {
                array.address().wrapping_add_signed((start * distance + column * itemsize) as isize)
            };
            let row = width * itemsize;
            let pass = Pass {
                function: &first,
                bits: halves[0],
                sides: [
                    (at(task.source, outer.input), [n2 * from, from, outer.input]),
                    (between.address(), [n2 * row, row, points * row]),
                ],
                uses: &uses_of(task.source, &between),
                columns: [width, n2, group],
                flags: u32::from(is_inverse),
                points,
                factor: 1.0,
            };
            run_pass(&pass, kind, stream)?;
            let pass = Pass {
                function: &second,
                bits: halves[1],
                sides: [
                    (between.address(), [row, n2 * row, points * row]),
                    (at(task.target, outer.output), [n1 * to, to, outer.output]),
                ],
                uses: &uses_of(&between, task.target),
                columns: [width, n1, group],
                flags: 4 + 2 * u32::from(is_inverse),
                points: MOST_ROOTS,
                factor: task.factor,
            };
            run_pass(&pass, kind, stream)?;
        }
    }
    Ok(true)
}

fn run_pass(pass: &Pass<'_>, kind: ScalarType, stream: &Stream) -> Result<()> {
    let itemsize = DType::new(kind).itemsize() as i64;
    let mut arguments = Arguments::new();
    pass.sides.iter().for_each(|(address, _)| arguments.push_word(*address as u64));
    for (_, side) in pass.sides {
        arguments.push(side.map(|distance| (distance / itemsize).to_le_bytes()).as_flattened());
    }
    let [inner, middle, outer] = pass.columns;
    let columns = inner * middle * outer;
    let scale = MOST_ROOTS / pass.points;
    for number in [columns, inner, middle, i64::from(pass.flags), scale] {
        arguments.push(&(number as u32).to_le_bytes());
    }
    match kind {
        ScalarType::Complex64 => arguments.push(&(pass.factor as f32).to_le_bytes()),
        _ => arguments.push(&pass.factor.to_le_bytes()),
    }
    let of_block = columns_of_block(pass.bits, itemsize);
    let shape = LaunchShape {
        grid: [quotient(columns, of_block) as u32, 1, 1],
        block: [threads(pass.bits, itemsize), 1, 1],
        shared: shared(pass.bits, itemsize),
        cooperative: false,
    };
    // SAFETY: the arguments match the kernel's parameters, and the shape the definitions of the function's source. Rows
    // and columns come from the layouts of arrays, whose elements are inside their memory blocks, or are those of a
    // temporary array that has an element for each row and column.
    unsafe { launch::launch(pass.function, &shape, stream, &mut arguments, pass.uses) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn blocks_have_whole_warps_and_fit_into_shared_memory() {
        for (bits, itemsize) in (1..=ONE_PASS).flat_map(|bits| [(bits, 8), (bits, 16)]) {
            let (threads, columns) = (threads(bits, itemsize), columns_of_block(bits, itemsize));
            assert!(threads.is_multiple_of(32) && (128..=512).contains(&threads), "2^{bits} points: {threads} threads");
            assert!(columns.count_ones() == 1 && columns * itemsize >= ADJACENT, "2^{bits} points: {columns} columns");
            assert!(shared(bits, itemsize) <= 64 << 10, "2^{bits} points");
            // The kernel has three stages at most.
            assert!(bits <= 3 * each_bits(bits), "2^{bits} points");
        }
    }

    #[test]
    fn roots_are_powers_of_first_root() {
        let text = roots(8, 8, ScalarType::Complex64);
        let half = "0.70710677";
        assert!(text.starts_with(&format!(
            "{{1.0f,-0.0f}},{{{half}f,-{half}f}},{{-0.0f,-1.0f}},{{-{half}f,-{half}f}},{{-1.0f,"
        )));
        assert_eq!(text.matches('{').count(), 8);
    }
}
