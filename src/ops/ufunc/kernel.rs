//! Generates the kernels of elementwise functions, specialized for the types of operands and results.

use super::kernel_cache::{self, LoopKey};
use super::ufunc_table::UfuncEntry;
use crate::kernel_argument::{Argument, ArgumentRole};
use crate::{Elementwise, Texts};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};

/// Whether an operand is an array or a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopOperand {
    /// An array with elements of this type.
    Array(ScalarType),
    /// A scalar of the type in which the function is computed.
    Value,
}

fn key(
    row: &'static UfuncEntry,
    kind: ScalarType,
    inputs: &[LoopOperand],
    outputs: &[ScalarType],
    masked: bool,
) -> LoopKey {
    const KINDS: u64 = 32; // a digit is the number of one of at most 31 types, or 31 for a scalar
    let digit = |operand: &LoopOperand| match operand {
        LoopOperand::Array(kind) => *kind as u64,
        LoopOperand::Value => KINDS - 1,
    };
    let types = inputs.iter().fold(1, |types, operand| types * KINDS + digit(operand));
    let types = outputs.iter().fold(types * KINDS + kind as u64, |types, output| types * KINDS + *output as u64);
    (std::ptr::from_ref(row).addr(), types * 2 + u64::from(masked))
}

/// Compiler option that disables fused multiply-add: products and sums are rounded individually, so that fusion does
/// not change results.
pub const ROUNDED: &str = "--fmad=false";

/// Compile-time weight from which the computation of an expression takes as long as reading its operands.
const LONG: u8 = 8;

const INPUTS: [&str; 4] = ["a", "b", "c", "d"];
const OUTPUTS: [&str; 2] = ["z", "w"];

/// Creates the kernel that computes a function with one result in a type.
///
/// # Errors
/// `TypeError` if the function has no implementation for the type.
pub fn kernel(
    row: &'static UfuncEntry,
    kind: ScalarType,
    inputs: &[LoopOperand],
    output: ScalarType,
    masked: bool,
) -> Result<&'static Elementwise> {
    kernel_of(row, kind, inputs, &[output], masked)
}

/// Returns the kernel that computes a function in a type. It is created on first use.
///
/// # Errors
/// `TypeError` if the function has no implementation for the type.
pub fn kernel_of(
    row: &'static UfuncEntry,
    kind: ScalarType,
    inputs: &[LoopOperand],
    outputs: &[ScalarType],
    masked: bool,
) -> Result<&'static Elementwise> {
    let key = key(row, kind, inputs, outputs, masked);
    match kernel_cache::find(key) {
        Some(known) => Ok(known),
        None => Ok(kernel_cache::keep(key, write(row, kind, inputs, outputs, masked)?)),
    }
}

/// Returns the C++ type in which elements of a type are computed.
pub fn type_of(kind: ScalarType) -> &'static str {
    match kind {
        ScalarType::Float16 | ScalarType::BFloat16 => "float",
        kind => DType::new(kind).c_name(),
    }
}

/// Returns the unsigned C type in which integers wrap around. It is wide enough that C does not promote it to a signed
/// type, whose overflow is undefined.
pub fn unsigned_of(kind: ScalarType) -> &'static str {
    if DType::new(kind).itemsize() > 4 { "unsigned long long" } else { "unsigned" }
}

/// Returns source that converts an element to the type of the computation.
pub fn converted(text: &str, from: ScalarType, to: ScalarType) -> String {
    let text = match from {
        ScalarType::Float16 | ScalarType::BFloat16 => format!("(float){text}"),
        // A bool array may be a view of memory that contains any bytes; every nonzero byte is true.
        ScalarType::Bool => format!("({text} != 0)"),
        _ => text.to_owned(),
    };
    if to == ScalarType::Bool {
        return format!("({text} != 0)");
    }
    match (from.is_complex(), to.is_complex()) {
        _ if from == to && from.is_complex() => format!("{}({text})", type_of(to)),
        (false, true) => {
            let part = if to == ScalarType::Complex64 { "float" } else { "double" };
            format!("{}(({part})({text}))", type_of(to))
        }
        (true, true) => format!("{}({text})", type_of(to)),
        (true, false) => format!("({})({text}).real()", type_of(to)),
        _ => format!("({})({text})", type_of(to)),
    }
}

/// Returns source that converts a result to the output's element type. For a real output the imaginary part is dropped.
pub fn stored(text: &str, from: ScalarType, to: ScalarType) -> String {
    // The result of an expression is first rounded to the type of the computation, because C computes small integers in
    // a wider type.
    let rounded = match from == to || from.is_complex() {
        true => text.to_owned(),
        false => format!("({})({text})", DType::new(from).c_name()),
    };
    let text = rounded.as_str();
    match to {
        _ if from.is_complex() && !to.is_complex() && to != ScalarType::Bool => {
            let part = if from == ScalarType::Complex64 { ScalarType::Float32 } else { ScalarType::Float64 };
            stored(&format!("({text}).real()"), part, to)
        }
        ScalarType::Bool if from == ScalarType::Bool => format!("({text}) ? 1 : 0"),
        ScalarType::Bool => format!("({text}) != 0"),
        // A conversion of a double to a 16-bit type by way of float would round twice.
        ScalarType::Float16 if from == ScalarType::Float64 => format!("pygpu::float16({text})"),
        ScalarType::Float16 | ScalarType::BFloat16 => format!("{}((float)({text}))", DType::new(to).c_name()),
        _ if to.is_complex() && !from.is_complex() => {
            let part = if to == ScalarType::Complex64 { "float" } else { "double" };
            format!("{}(({part})({text}))", DType::new(to).c_name())
        }
        _ if to.is_complex() => format!("{}({text})", DType::new(to).c_name()),
        _ => format!("({})({text})", DType::new(to).c_name()),
    }
}

/// Returns the C++ type of an array's elements in memory. Bools are stored as bytes, because a compiler may assume that
/// a bool is 0 or 1.
pub fn stored_as(kind: ScalarType) -> &'static str {
    if kind == ScalarType::Bool { "unsigned char" } else { DType::new(kind).c_name() }
}

fn array(name: &str, kind: ScalarType, constant: bool) -> Argument {
    let (dtype, c_type) = (DType::new(kind), stored_as(kind).to_owned());
    Argument { name: name.to_owned(), c_type, dtype, role: ArgumentRole::Vector { constant } }
}

fn write(
    row: &UfuncEntry,
    kind: ScalarType,
    inputs: &[LoopOperand],
    outputs: &[ScalarType],
    masked: bool,
) -> Result<Elementwise> {
    let Some(group) = row.group(kind) else {
        return Err(Error::type_error(format!("{} has no loop for {}", row.name, DType::new(kind).name())));
    };
    let mut arguments = Vec::new();
    let mut lines = String::new();
    for (place, (operand, name)) in inputs.iter().zip(INPUTS).enumerate() {
        let own = row.takes(place, kind);
        let (from, text) = match operand {
            LoopOperand::Array(from) => (*from, format!("{name}[i]")),
            LoopOperand::Value => (own, name.to_owned()),
        };
        arguments.push(match operand {
            LoopOperand::Array(_) => array(name, from, true),
            LoopOperand::Value => Argument { role: ArgumentRole::Scalar, ..array(name, from, true) },
        });
        lines.push_str(&format!("const {} pygpu_{name} = {};\n", type_of(own), converted(&text, from, own)));
    }
    if masked {
        arguments.push(array("m", ScalarType::Bool, true));
    }
    let texts = [Some((group.output, group.text)), group.second];
    for ((name, output), (result, text)) in OUTPUTS.iter().zip(outputs).zip(texts.into_iter().flatten()) {
        arguments.push(array(name, *output, false));
        let mut text = text.replace("{T}", type_of(kind)).replace("{U}", unsigned_of(kind));
        for input in INPUTS {
            text = text.replace(&format!("{{{input}}}"), &format!("pygpu_{input}"));
        }
        let value = stored(&text, result.of(kind), *output);
        lines.push_str(&if masked {
            format!("if (m[i]) {name}[i] = {value};\n")
        } else {
            format!("{name}[i] = {value};\n")
        });
    }
    let mut definitions = Vec::new();
    row.add_definitions(&mut definitions);
    let (preamble, weight) = (definitions.concat(), group.weight);
    let texts =
        Texts { operation: lines, preamble, weight, is_long: group.is_long || weight >= LONG, ..Texts::default() };
    let options = vec![ROUNDED.to_owned()];
    Elementwise::new(format!("pygpu_{}", row.name), arguments, texts, options)
}
