//! The kernel of one loop: which types the operands have, and what is computed with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::table::Row;
use crate::dtype::{DType, Kind};
use crate::error::{Error, Result};
use crate::global::Global;
use crate::ops::argument::{Argument, Role};
use crate::ops::{Elementwise, Texts};

/// What an operand is in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// An array of that kind.
    Array(Kind),
    /// One value, of the loop's kind.
    Value,
}

/// What tells the kernels of all functions apart: the place of the row, which is static, and the types as digits.
type Key = (usize, u64);

fn key(row: &'static Row, kind: Kind, inputs: &[Given], output: Kind, masked: bool) -> Key {
    const KINDS: u64 = 32; // and one more digit for a number
    let digit = |given: &Given| match given {
        Given::Array(kind) => *kind as u64,
        Given::Value => KINDS - 1,
    };
    let types = inputs.iter().fold(1, |types, given| types * KINDS + digit(given));
    let types = (types * KINDS + kind as u64) * KINDS + output as u64;
    (std::ptr::from_ref(row).addr(), types * 2 + u64::from(masked))
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// The kernel of a loop. Those that were made are kept: there are as many as rows and pairs of kinds that a program has met.
///
/// # Errors
/// `TypeError` for a kind that has no loop.
pub fn kernel(row: &'static Row, kind: Kind, inputs: &[Given], output: Kind, masked: bool) -> Result<Arc<Elementwise>> {
    static KNOWN: Global<BTreeMap<Key, Arc<Elementwise>>> = Global::new(BTreeMap::new());
    let key = key(row, kind, inputs, output, masked);
    if let Some(known) = KNOWN.lock().get(&key) {
        return Ok(Arc::clone(known));
    }
    let made = Arc::new(write(row, kind, inputs, output, masked)?);
    Ok(Arc::clone(KNOWN.lock().entry(key).or_insert(made)))
}

/// The type in which a loop computes.
fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Float16 | Kind::BFloat16 => "float",
        kind => DType::new(kind).c_name(),
    }
}

/// The type in which whole numbers wrap around: wide enough that C does not promote it to one that may overflow.
fn unsigned_of(kind: Kind) -> &'static str {
    if DType::new(kind).itemsize() > 4 { "unsigned long long" } else { "unsigned" }
}

fn is_complex(kind: Kind) -> bool {
    matches!(kind, Kind::Complex64 | Kind::Complex128)
}

/// An element as the loop's type.
fn converted(text: &str, from: Kind, to: Kind) -> String {
    let text = match from {
        Kind::Float16 | Kind::BFloat16 => format!("(float){text}"),
        Kind::Bool if to == Kind::Bool => return format!("({text} != 0)"),
        _ => text.to_owned(),
    };
    match (is_complex(from), is_complex(to)) {
        _ if from == to && is_complex(from) => format!("{}({text})", type_of(to)),
        (false, true) => {
            let part = if to == Kind::Complex64 { "float" } else { "double" };
            format!("{}(({part})({text}))", type_of(to))
        }
        (true, true) => format!("{}({text})", type_of(to)),
        _ => format!("({})({text})", type_of(to)),
    }
}

/// A result as an element of the output.
fn stored(text: &str, from: Kind, to: Kind) -> String {
    match to {
        Kind::Bool if from == Kind::Bool => format!("({text}) ? 1 : 0"),
        Kind::Bool => format!("({text}) != 0"),
        Kind::Float16 | Kind::BFloat16 => format!("{}((float)({text}))", DType::new(to).c_name()),
        _ if is_complex(to) && !is_complex(from) => {
            let part = if to == Kind::Complex64 { "float" } else { "double" };
            format!("{}(({part})({text}))", DType::new(to).c_name())
        }
        _ if is_complex(to) => format!("{}({text})", DType::new(to).c_name()),
        _ => format!("({})({text})", DType::new(to).c_name()),
    }
}

fn write(row: &Row, kind: Kind, inputs: &[Given], output: Kind, masked: bool) -> Result<Elementwise> {
    let Some(group) = row.group(kind) else {
        return Err(Error::type_error(format!("{} has no loop for {}", row.name, DType::new(kind).name())));
    };
    let mut arguments = Vec::new();
    let mut lines = String::new();
    for (given, name) in inputs.iter().zip(NAMES) {
        let (from, role, text) = match given {
            Given::Array(from) => (*from, Role::Vector { constant: true }, format!("{name}[i]")),
            Given::Value => (kind, Role::Scalar, name.to_owned()),
        };
        let c_type = DType::new(from).c_name().to_owned();
        arguments.push(Argument { name: name.to_owned(), c_type, dtype: DType::new(from), role });
        lines.push_str(&format!("const {} pygpu_{name} = {};\n", type_of(kind), converted(&text, from, kind)));
    }
    if masked {
        let dtype = DType::new(Kind::Bool);
        let role = Role::Vector { constant: true };
        arguments.push(Argument { name: "m".to_owned(), c_type: "bool".to_owned(), dtype, role });
    }
    let role = Role::Vector { constant: false };
    arguments.push(Argument {
        name: "z".to_owned(),
        c_type: DType::new(output).c_name().to_owned(),
        dtype: DType::new(output),
        role,
    });
    let result = group
        .text
        .replace("{a}", "pygpu_a")
        .replace("{b}", "pygpu_b")
        .replace("{T}", type_of(kind))
        .replace("{U}", unsigned_of(kind));
    let result = stored(&result, group.result(kind), output);
    let store = if masked { format!("if (m[i]) z[i] = {result};") } else { format!("z[i] = {result};") };
    let texts = Texts { operation: lines + &store, preamble: row.preamble.to_owned(), ..Texts::default() };
    // A product and a sum are rounded each, so that results do not depend on what is computed together.
    let options = vec!["--fmad=false".to_owned()];
    Elementwise::new(format!("pygpu_{}", row.name), arguments, texts, options)
}
