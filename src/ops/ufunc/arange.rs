//! Computes evenly spaced values with NumPy's rounding. Each value is computed from its index.

use super::kernel::{stored, type_of};
use super::kernel_cache;
use crate::kernel_argument::{Argument, ArgumentRole};
use crate::{Elementwise, Texts};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_device::stream::Stream;
use pygpu_kernel::Arguments;

/// Parameters of `linspace`. `start`, `stop` and `step` are the bytes of numbers of the type in which the values are
/// computed ([`computed_in`]).
#[derive(Clone, Copy)]
pub struct Spacing<'a> {
    /// The first value.
    pub start: &'a [u8],
    /// The value that the last element gets if `ends` is set; otherwise not used.
    pub stop: &'a [u8],
    /// The step between values if `parts` is 0; otherwise the difference between the ends, which the kernel divides by
    /// `parts`.
    pub step: &'a [u8],
    /// Number of steps by which the kernel divides `step`, if the step between two values would underflow; otherwise 0.
    pub parts: i64,
    /// Whether `stop` is written to the last element instead of a computed value.
    pub ends: bool,
}

/// Returns the type in which a sequence with elements of type `kind` is computed. The kernel's parameters have this
/// type too.
pub fn computed_in(kind: ScalarType) -> ScalarType {
    match kind {
        ScalarType::Float16 | ScalarType::BFloat16 => ScalarType::Float32,
        kind => kind,
    }
}

/// Writes an arithmetic sequence that begins with `first` and `second`.
///
/// # Errors
/// Compiler errors; driver errors.
pub fn arange(target: &Array, first: &[u8], second: &[u8], stream: &Stream) -> Result<()> {
    let kind = target.dtype().kind();
    let kernel = known(ArangeSequence::Arange, kind, kind)?;
    let mut values = Arguments::new();
    values.push(first);
    values.push(second);
    run(kernel, target, values, stream)
}

/// Writes evenly spaced values, computed in the non-integer type `kind` and rounded down for an integer target.
///
/// # Errors
/// Compiler errors; driver errors.
pub fn linspace(target: &Array, kind: ScalarType, spacing: &Spacing<'_>, stream: &Stream) -> Result<()> {
    let kernel = known(ArangeSequence::Linspace, kind, target.dtype().kind())?;
    let mut values = Arguments::new();
    [spacing.start, spacing.stop, spacing.step].into_iter().for_each(|value| values.push(value));
    values.push_word(spacing.parts as u64);
    let last = if spacing.ends { target.layout().size() - 1 } else { -1 };
    values.push_word(last as u64);
    run(kernel, target, values, stream)
}

const fn is_float(kind: ScalarType) -> bool {
    matches!(kind, ScalarType::Float16 | ScalarType::BFloat16 | ScalarType::Float32 | ScalarType::Float64)
}

#[derive(Clone, Copy)]
enum ArangeSequence {
    Arange,
    Linspace,
}

fn run(kernel: &Elementwise, target: &Array, mut values: Arguments, stream: &Stream) -> Result<()> {
    let plan = kernel.plan(&[target], false)?;
    // SAFETY: `known` created the kernel for an array of this type, and the plan was made for this array; the callers
    // pass the values in the kernel's declared types.
    unsafe { kernel.run(&plan, &[target], &mut values, None, stream) }
}

fn known(sequence: ArangeSequence, kind: ScalarType, output: ScalarType) -> Result<&'static Elementwise> {
    // Keys of other kernels begin with the address of a table entry. The key of this kernel begins with the number of
    // an `ArangeSequence`, which is too small to be an address.
    let key = (sequence as usize, (kind as u64) << 8 | output as u64);
    if let Some(known) = kernel_cache::find(key) {
        return Ok(known);
    }
    let made = match sequence {
        ArangeSequence::Arange => write("pygpu_arange", kind, &["a", "b"], &[], arange_text(kind), kind)?,
        ArangeSequence::Linspace => {
            let text = linspace_text(kind, output);
            write("pygpu_linspace", kind, &["a", "b", "s"], &["parts", "last"], text, output)?
        }
    };
    Ok(kernel_cache::keep(key, made))
}

/// Returns the source that computes an element. Integers wrap around, as in NumPy. Floats are rounded after the product
/// of step and index, and again after the sum with the start.
fn arange_text(kind: ScalarType) -> String {
    let class = type_of(kind);
    let far = match kind {
        _ if kind.is_complex() => "CLASS(a.real() + i * (b.real() - a.real()), a.imag() + i * (b.imag() - a.imag()))",
        _ if is_float(kind) => "a + (CLASS)i * (b - a)",
        _ => "(CLASS)((size_t)a + i * (size_t)(CLASS)((size_t)b - (size_t)a))",
    };
    format!("z[i] = {};", stored(&format!("i < 2 ? i ? b : a : {}", far.replace("CLASS", class)), kind, kind))
}

fn linspace_text(kind: ScalarType, output: ScalarType) -> String {
    let class = type_of(kind);
    // For 16-bit floats, the result of each operation is rounded to 16 bits, as in NumPy.
    let rounded = |text: &str| match kind {
        ScalarType::Float16 | ScalarType::BFloat16 => format!("(float){}({text})", DType::new(kind).c_name()),
        _ => format!("({text})"),
    };
    let number = if kind.is_complex() { "pygpu_real" } else { class };
    let index = rounded(&format!("({number})i"));
    let (far, part) = (rounded("pygpu_i * s"), rounded(&format!("pygpu_i / ({number})parts")));
    let (part, sum) = (rounded(&format!("{part} * s")), rounded("pygpu_far + a"));
    let real = if kind == ScalarType::Complex64 { "float" } else { "double" };
    let is_whole = !is_float(output) && !output.is_complex() && output != ScalarType::Bool;
    let value = if is_whole { "floor(pygpu_sum)" } else { "pygpu_sum" };
    format!(
        "typedef {real} pygpu_real;\nconst {number} pygpu_i = {index};\nconst {class} pygpu_far = parts ? {part} : {far};\n\
         const {class} pygpu_sum = (long long)i == last ? b : {class}({sum});\nz[i] = {};",
        stored(value, kind, output)
    )
}

/// Creates a kernel with three groups of arguments: scalars of the type in which the values are computed, integers, and
/// the target array.
fn write(
    name: &str,
    kind: ScalarType,
    numbers: &[&str],
    counts: &[&str],
    operation: String,
    output: ScalarType,
) -> Result<Elementwise> {
    let argument = |name: &str, kind: ScalarType, role| {
        let dtype = DType::new(kind);
        Argument { name: name.to_owned(), c_type: dtype.c_name().to_owned(), dtype, role }
    };
    let mut arguments: Vec<Argument> = Vec::new();
    arguments.extend(numbers.iter().map(|name| argument(name, computed_in(kind), ArgumentRole::Scalar)));
    arguments.extend(counts.iter().map(|name| argument(name, ScalarType::Int64, ArgumentRole::Scalar)));
    arguments.push(argument("z", output, ArgumentRole::Vector { constant: false }));
    let texts = Texts { operation, ..Texts::default() };
    Elementwise::new(name.to_owned(), arguments, texts, vec!["--fmad=false".to_owned()])
}
