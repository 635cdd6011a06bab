//! Copies one triangle of matrices by a kernel that does not read the elements of the other triangle.

use crate::elementwise_kernel;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, KernelSource, launch};
use pygpu_layout::{Axis, Dims, MemoryOrder};
use pygpu_memory::Access;

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Triangles);

const TEXT: &str = include_str!("triangle.cu");
const NAME: &str = "pygpu_triangle";
const THREADS: u32 = 256;
/// Maximum size in bytes of a unit, i.e. of the word that a thread loads at once.
const UNIT: u64 = 16;
/// Number of units per thread if a unit has fewer than [`UNIT`] bytes.
const EACH: u64 = 4;
/// Upper bound for the row length in bytes and for the number of rows, which the kernel computes with 32 bits.
const MOST: u64 = 1 << 31;
/// Maximum length of a grid along its second axis. A thread of the longest grid processes several rows.
const LONGEST: u64 = 65535;

/// The part of a matrix that is copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Triangle {
    /// The elements at and below a diagonal.
    Lower,
    /// The elements at and above a diagonal.
    Upper,
}

/// Memory layout of a stack of matrices whose rows are contiguous.
struct MatrixStack {
    /// Number of rows and number of columns of a matrix.
    rows: u64,
    columns: u64,
    /// Number of rows of all matrices.
    all_rows: u64,
    /// Distance in bytes between consecutive matrices.
    matrix_stride: i64,
    /// Distance in bytes between consecutive rows of a matrix.
    row_stride: i64,
}

impl MatrixStack {
    /// Returns `None` unless the elements of a row are contiguous, all matrices are equally far apart, and the axes are
    /// in C order in memory: as in NumPy, the result has the array's memory order.
    fn of(array: &Array) -> Option<Self> {
        let [outer @ .., row_axis, column_axis] = array.layout().axes() else { return None };
        if column_axis.len > 1 && column_axis.stride != array.layout().itemsize() {
            return None;
        }
        let mut stack = Axis { len: 1, stride: 0 };
        for axis in outer.iter().rev().filter(|axis| axis.len != 1) {
            stack = match stack.len {
                1 => *axis,
                len if axis.stride == stack.stride * len => Axis { len: len * axis.len, ..stack },
                _ => return None,
            };
        }
        if stack.len > 1 && row_axis.len > 1 && stack.stride.unsigned_abs() < row_axis.stride.unsigned_abs() {
            return None;
        }
        let (rows, columns) = (row_axis.len as u64, column_axis.len as u64);
        let all_rows = rows * stack.len as u64;
        Some(Self { rows, columns, all_rows, matrix_stride: stack.stride, row_stride: row_axis.stride })
    }
}

/// Copies one triangle of each matrix in the last two axes to a new array in C order, and sets the other elements to 0.
/// The diagonal with index `diagonal` belongs to the triangle. Returns `None` for arrays that the kernel does not
/// support, in host memory, and without a compiler.
///
/// # Errors
/// `OutOfMemory`; driver errors.
pub fn copy(array: &Array, triangle: Triangle, diagonal: i64, stream: &Stream) -> Result<Option<Array>> {
    let (layout, device) = (array.layout(), stream.device());
    let itemsize = layout.itemsize() as u64;
    let is_supported = !device.is_cpu()
        && !layout.is_empty()
        && array.dtype().kind() != ScalarType::Opaque
        && itemsize.is_power_of_two();
    let Some(stack) = MatrixStack::of(array).filter(|_| is_supported) else { return Ok(None) };
    let row_bytes = stack.columns * itemsize;
    if row_bytes >= MOST || stack.all_rows >= MOST {
        return Ok(None);
    }
    let shape: Dims = layout.shape().collect();
    let result = Array::empty(&shape, array.dtype(), MemoryOrder::C, stream.clone())?;
    // The unit is the largest power of two that divides the addresses of all rows.
    let strides = [stack.matrix_stride as u64, stack.row_stride as u64, row_bytes, result.address() as u64];
    let unit = 1 << strides.iter().fold(array.address() as u64 | UNIT, |all, one| all | one).trailing_zeros();
    let units = row_bytes / unit;
    let each = if unit == UNIT { 1 } else { EACH };
    let threads_per_row = units.div_ceil(each).next_power_of_two().min(u64::from(THREADS));
    let rows_per_block = u64::from(THREADS) / threads_per_row;
    let chunks = units.div_ceil(threads_per_row * each);
    let blocks = stack.all_rows.div_ceil(rows_per_block).min(LONGEST);
    let Some(function) = function(device, triangle, itemsize, unit, each) else { return Ok(None) };
    let edge = diagonal + i64::from(triangle == Triangle::Lower);
    let mut values = Arguments::new();
    values.push_word(array.address() as u64);
    values.push_word(result.address() as u64);
    values.push_word(stack.matrix_stride as u64);
    values.push_word(stack.row_stride as u64);
    for number in [stack.rows, stack.all_rows, stack.columns, units] {
        values.push(&(number as u32).to_le_bytes());
    }
    values.push_word(edge as u64);
    let uses = [(array.allocation(), Access::Read), (result.allocation(), Access::Write)];
    let shape = LaunchShape {
        grid: [chunks as u32, blocks as u32, 1],
        block: [threads_per_row as u32, rows_per_block as u32, 1],
        shared: 0,
        cooperative: false,
    };
    // SAFETY: the arguments match the kernel's declared parameters. The kernel reads the rows of `array` at its strides,
    // and writes the rows of `result`, which are contiguous; `unit` divides the addresses of all rows.
    unsafe { launch::launch(&function, &shape, stream, &mut values, &uses)? };
    Ok(Some(result))
}

fn function(device: Device, triangle: Triangle, itemsize: u64, unit: u64, each: u64) -> Option<Function> {
    // An item is an element, or the part of a larger element that is in a unit and has at most 8 bytes.
    let item = itemsize.min(unit).min(8);
    let key = [triangle as u8, itemsize as u8, unit as u8];
    COMPILED.function_if_any(device, &key, NAME, || -> KernelSource {
        let c_type = match item {
            1 => "unsigned char",
            2 => "unsigned short",
            4 => "unsigned",
            _ => "unsigned long long",
        };
        let text = format!(
            "typedef {c_type} pygpu_item;\n#define PYGPU_ITEMS {}\n#define PYGPU_SPLIT {}\n#define PYGPU_EACH {each}\n#define \
             PYGPU_UPPER {}\n#define PYGPU_THREADS {THREADS}\n{TEXT}",
            unit / item,
            itemsize / item,
            triangle as u8
        );
        elementwise_kernel::source(NAME, text, &[])
    })
}
