//! Generates the source of fused kernels.
//!
//! Each intermediate result is rounded to its dtype as if it were stored in memory, so that fusion does not change any
//! bit of a result.

use super::group::{FusionGroup, Nodes};
use super::kernel_spec::{FusedKernelSpec, OperandSource};
use super::node::DeferredNode;
use crate::kernel_argument::{Argument, ArgumentRole};
use crate::reductions::InputExpression;
use crate::ufunc::as_it_is;
use crate::ufunc::kernel::{self, converted, stored, stored_as, type_of, unsigned_of};
use crate::{Elementwise, Texts};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};

const PLACES: [&str; 4] = ["a", "b", "c", "d"];
/// Upper bound for the compile-time weight of a fused kernel's expression; a larger sum of weights is reduced to this
/// bound. At this weight the expression is still unrolled for two of the elements that a thread loads together; without
/// unrolling, a thread would wait for each element. The longer compile time is acceptable, because the kernel is
/// compiled once for all its operations.
const HEAVIEST: u8 = 12;
/// Minimum compile-time weight of a fused expression whose computation takes as long as reading its operands.
const LONG: u8 = 5;
/// A kernel's name is extended by the name of a further operation only if it has fewer characters than this number.
const LETTERS: usize = 60;

/// Writes the source of the kernel for a group of elementwise operations.
///
/// # Errors
/// `TypeError` if an operation has no implementation for its operands' dtype.
pub(super) fn write(draft: &FusedKernelSpec<'_>, nodes: &Nodes, group: &FusionGroup) -> Result<Elementwise> {
    let mut text = FusedSource::default();
    let mut arguments = Vec::new();
    for (place, leaf) in draft.leaves.iter().enumerate() {
        let kind = leaf.dtype().kind();
        arguments.push(argument(format!("p{place}"), kind, ArgumentRole::Vector { constant: true }));
        text.lines.push_str(&format!("const {} x{place} = p{place}[i];\n", stored_as(kind)));
    }
    let mut outputs = Vec::new();
    let mut name = "pygpu".to_owned();
    for (operation, node) in members(nodes, group).enumerate() {
        text.add(draft, nodes, group, operation, node)?;
        if name.len() < LETTERS {
            name.push_str(&format!("_{}", node.function()));
        }
        if group.outputs.contains(&group.places[operation]) {
            let output = outputs.len();
            text.lines.push_str(&format!("z{output}[i] = v{operation};\n"));
            outputs.push(argument(format!("z{output}"), node.dtype.kind(), ArgumentRole::Vector { constant: false }));
        }
    }
    arguments.append(&mut text.scalars);
    arguments.append(&mut outputs);
    let preamble = text.preambles.concat();
    let weight = text.weight.min(HEAVIEST);
    let texts =
        Texts { operation: text.lines, preamble, weight, is_long: text.is_long || weight >= LONG, ..Texts::default() };
    Elementwise::new(name, arguments, texts, vec![kernel::ROUNDED.to_owned()])
}

/// Writes the expression that computes the input of a reduction. The reduction is the last operation of `draft`.
///
/// # Errors
/// `TypeError` if an operation has no implementation for its operands' dtype.
pub(super) fn map(
    draft: &FusedKernelSpec<'_>,
    nodes: &Nodes,
    group: &FusionGroup,
    number: u64,
) -> Result<InputExpression> {
    let mut text = FusedSource::default();
    let (mut parameters, mut names, mut packs) = (Vec::new(), Vec::new(), String::new());
    for (place, leaf) in draft.leaves.iter().enumerate() {
        let c_type = stored_as(leaf.dtype().kind());
        parameters.push(format!("const {c_type} *__restrict__ p{place}"));
        names.push(format!("p{place}"));
        if leaf.layout().size() == 1 {
            packs.push_str(&format!("    const {c_type} x{place} = *p{place};\n"));
        } else {
            let pack = format!("pygpu::pack<{c_type}, PYGPU_VECTOR>");
            packs.push_str(&format!("    const {pack} l{place} = *(const {pack} *)(p{place} + at);\n"));
            text.lines.push_str(&format!("const {c_type} x{place} = l{place}.item[v];\n"));
        }
    }
    let last = group.places.len() - 1;
    for (operation, node) in members(nodes, group).take(last).enumerate() {
        text.add(draft, nodes, group, operation, node)?;
    }
    if let Some(OperandSource::Operation(made)) = draft.operands(last).first() {
        text.lines.push_str(&format!("made.item[v] = v{made};\n"));
    }
    for scalar in &text.scalars {
        parameters.push(format!("const {} {}", scalar.c_type, scalar.name));
        names.push(scalar.name.clone());
    }
    let (parameters, names) = (parameters.join(", "), names.join(", "));
    Ok(InputExpression { number, preamble: text.preambles.concat(), parameters, names, packs, element: text.lines })
}

/// Returns the operations that the kernel computes, in order.
fn members<'a>(nodes: &'a Nodes, group: &'a FusionGroup) -> impl Iterator<Item = &'a DeferredNode> {
    group.places.iter().filter_map(|place| nodes[usize::from(*place)].as_deref())
}

fn argument(name: String, kind: ScalarType, role: ArgumentRole) -> Argument {
    Argument { name, c_type: stored_as(kind).to_owned(), dtype: DType::new(kind), role }
}

#[derive(Default)]
struct FusedSource {
    lines: String,
    /// Definitions of C++ functions and types that the kernel's expressions use, and that must therefore precede the
    /// kernel. Each definition occurs once.
    preambles: Vec<&'static str>,
    weight: u8,
    is_long: bool,
    scalars: Vec<Argument>,
}

impl FusedSource {
    /// Appends the source of an operation. The source converts operands to the type of the computation, and the result
    /// to the type that the result would have in memory.
    fn add(
        &mut self,
        draft: &FusedKernelSpec<'_>,
        nodes: &Nodes,
        group: &FusionGroup,
        operation: usize,
        node: &DeferredNode,
    ) -> Result<()> {
        let Some((row, kind)) = node.any_loop() else { return Ok(()) };
        let Some(loops) = row.group(kind) else {
            return Err(Error::type_error(format!("{} has no loop for {}", row.name, DType::new(kind).name())));
        };
        let is_same = std::ptr::eq(row, as_it_is()) && node.dtype.kind() == kind;
        let mut text = loops.text.replace("{T}", type_of(kind)).replace("{U}", unsigned_of(kind));
        for (place, from) in draft.operands(operation).iter().enumerate() {
            let own = row.takes(place, kind);
            let (expression, stored) = match from {
                OperandSource::Operation(other) => {
                    let other_place = usize::from(group.places[usize::from(*other)]);
                    let made = nodes[other_place].as_ref().map_or(own, |other| other.dtype.kind());
                    (format!("v{other}"), made)
                }
                OperandSource::Leaf(leaf) => (format!("x{leaf}"), draft.leaves[usize::from(*leaf)].dtype().kind()),
                OperandSource::Value(value) => {
                    self.scalars.push(argument(format!("s{value}"), own, ArgumentRole::Scalar));
                    (format!("s{value}"), own)
                }
            };
            if is_same {
                // An operation that only copies values gets no conversion, because converting a NaN to another type and
                // back may change its bits.
                self.lines.push_str(&format!("const {} v{operation} = {expression};\n", stored_as(kind)));
                return Ok(());
            }
            let name = format!("v{operation}_{}", PLACES[place]);
            self.lines.push_str(&format!("const {} {name} = {};\n", type_of(own), converted(&expression, stored, own)));
            text = text.replace(&format!("{{{}}}", PLACES[place]), &name);
        }
        let result = stored(&text, loops.output.of(kind), node.dtype.kind());
        self.lines.push_str(&format!("const {} v{operation} = {result};\n", stored_as(node.dtype.kind())));
        row.add_definitions(&mut self.preambles);
        self.weight = self.weight.saturating_add(loops.weight);
        self.is_long |= loops.is_long;
        Ok(())
    }
}
