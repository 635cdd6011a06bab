//! Generates the source of kernels: headers, parameters, and the definitions that make the arguments' names refer to
//! array elements.

mod pack_body;
mod tile_body;

use std::fmt::Write;

use super::elementwise_plan::{AccessPattern, ElementOperand, ElementPlan, PackLayout};
use super::kernel_argument::{Argument, ArgumentRole};
use super::user_source_analysis::{Texts, Usage, WrittenNames};
use pygpu_codegen::array_access;

const FLOAT16: &str = include_str!("include/float16.h");
const COMPLEX: &str = include_str!("../../python/PyGPU/include/user/pycuda-complex.hpp");

const STANDARD: &str = include_str!("include/c_standard_library.h");

/// Substrings of names from C's standard headers. A source that contains one of them requires these headers.
const STANDARD_NAMES: [&str; 12] =
    ["INFINITY", "NAN", "M_", "FLT_", "DBL_", "INT_M", "LONG_M", "int8_t", "int16_t", "int32_t", "int64_t", "INT64_"];

/// Returns the headers that the types and sources require, followed by the user's preamble.
pub fn head(texts: &[&str], preamble: &str) -> String {
    let names = |word: &str| preamble.contains(word) || texts.iter().any(|text| text.contains(word));
    let mut head = array_access::HEADER.to_owned();
    if STANDARD_NAMES.iter().any(|name| names(name)) {
        head.push_str(STANDARD);
    }
    if names("pygpu::") {
        head.push_str(FLOAT16);
    }
    if names("pycuda::") || names("pycuda-") {
        head.push_str(COMPLEX);
    }
    head.push_str(&match preamble.trim().is_empty() {
        true => "\n".to_owned(),
        false => format!("\n#line 1 \"preamble\"\n{preamble}\n#line 1 \"kernel\"\n"),
    });
    head
}

/// Returns the C type of an array's elements, with `const` if the kernel only reads the array.
fn element_type(argument: &Argument, usage: &Usage) -> String {
    let is_constant = usage.written == WrittenNames::No || argument.role == ArgumentRole::Vector { constant: true };
    if is_constant { format!("const {}", argument.c_type) } else { argument.c_type.clone() }
}

/// Returns the array arguments, each with its use in the kernel.
fn vectors<'a>(
    arguments: &'a [Argument],
    usages: &'a [Option<Usage>],
) -> impl Iterator<Item = (&'a Argument, &'a Usage)> {
    arguments.iter().zip(usages).filter_map(|(one, usage)| usage.as_ref().map(|usage| (one, usage)))
}

/// Returns the declarations of the scalar parameters, in the order of the arguments.
pub fn scalar_parameters(arguments: &[Argument]) -> Vec<String> {
    let scalars = arguments.iter().filter(|one| !one.is_vector());
    scalars.map(|one| format!("{} {}", one.c_type, one.name)).collect()
}

/// Returns the declarations of the array parameters. They match the values that `ElementPlan::push` appends.
pub fn vector_parameters(plan: &ElementPlan, arguments: &[Argument], usages: &[Option<Usage>]) -> Vec<String> {
    let mut list: Vec<String> = plan.walk_type().map(|walk| format!("{walk} pygpu_walk")).into_iter().collect();
    if let PackLayout::Peeled(_) = plan.way {
        list.push("size_t pygpu_head".to_owned());
    }
    for ((argument, usage), operand) in vectors(arguments, usages).zip(&plan.operands) {
        let name = &argument.name;
        list.push(format!("{} *pygpu_array_{name}", element_type(argument, usage)));
        if let AccessPattern::OwnAxes(rank) = operand.form {
            list.push(format!("{} pygpu_walk_{name}", plan.apart_type(rank)));
        }
    }
    list
}

/// Returns the definitions of the arrays' names for a loop that loads elements individually instead of several at once.
pub fn bindings(plan: &ElementPlan, arguments: &[Argument], usages: &[Option<Usage>]) -> String {
    let mut text = String::new();
    for ((argument, usage), operand) in vectors(arguments, usages).zip(&plan.operands) {
        let _ = writeln!(text, "{}", binding(plan, argument, operand, &element_type(argument, usage), &argument.name));
    }
    text
}

/// Returns the C++ definition that makes the name of one array argument refer to an array element.
fn binding(plan: &ElementPlan, argument: &Argument, operand: &ElementOperand, element: &str, name: &str) -> String {
    let own = &argument.name;
    let array = format!("({element} *)pygpu_array_{own}");
    match plan.own_form(operand) {
        AccessPattern::Contiguous | AccessPattern::Misaligned | AccessPattern::SameAs(_) => {
            format!("    {element} *{name} = {array};")
        }
        AccessPattern::Broadcast => format!("    pygpu::repeated<{element}> {name} = {{{array}}};"),
        AccessPattern::Strided
        | AccessPattern::InnerContiguous
        | AccessPattern::InnerBroadcast
        | AccessPattern::Transposed => {
            let (walk, slot) = (plan.walk_type().unwrap_or_default(), plan.slot(operand));
            format!("    pygpu::strided<{element}, {walk}, {slot}> {name} = {{{array}, pygpu_walk}};")
        }
        AccessPattern::OwnAxes(rank) => {
            let walk = plan.apart_type(rank);
            format!("    pygpu::strided<{element}, {walk}, 0> {name} = {{{array}, pygpu_walk_{own}}};")
        }
    }
}

/// Generates the source of an elementwise kernel for one plan.
pub fn elementwise(
    name: &str,
    arguments: &[Argument],
    usages: &[Option<Usage>],
    texts: &Texts,
    plan: &ElementPlan,
    ranged: bool,
) -> String {
    let mut spoken = vec![texts.operation.as_str(), &texts.loop_prep, &texts.after_loop];
    spoken.extend(arguments.iter().map(|one| one.c_type.as_str()));
    let mut source = String::new();
    if let PackLayout::Tiles(_) = plan.way {
        source.push_str(array_access::TILES); // This part precedes the user's macros, which would otherwise apply to it too.
    }
    source.push_str(&head(&spoken, &texts.preamble));
    let mut parameters = scalar_parameters(arguments);
    parameters.push("size_t n".to_owned());
    if ranged {
        parameters.extend(["long long pygpu_start", "long long pygpu_step", "size_t pygpu_count"].map(str::to_owned));
    }
    parameters.extend(vector_parameters(plan, arguments, usages));
    let loop_text = match (plan.way, plan.pack, ranged) {
        (PackLayout::Tiles(tiles), ..) => tile_body::body(tiles, plan, arguments, usages, texts),
        (_, 1, true) => ranged_loop(texts),
        (_, 1, false) => plain_loop(texts),
        (_, pack, _) => pack_body::body(usize::from(pack), plan, arguments, usages, texts),
    };
    // If the loop loads several elements at once, the variables with the arrays' names are defined inside the loop.
    let is_plain = plan.pack == 1 && plan.way == PackLayout::Contiguous;
    let names = if is_plain { bindings(plan, arguments, usages) } else { String::new() };
    let bounds = if plan.tiles().is_some() { tile_body::BOUNDS } else { "" };
    let _ = write!(
        source,
        "extern \"C\" __global__ void {bounds}{name}({}) {{\n\
         \x20   unsigned tid = threadIdx.x, total_threads = gridDim.x * blockDim.x, cta_start = blockDim.x * blockIdx.x;\n\
         {names}{loop_prep}{loop_text}{after_loop}}}\n",
        parameters.join(", "),
        loop_prep = source_locations("loop_prep", &texts.loop_prep),
        after_loop = source_locations("after_loop", &texts.after_loop),
    );
    source
}

fn plain_loop(texts: &Texts) -> String {
    format!(
        "    size_t i;\n    for (i = cta_start + tid; i < n; i += total_threads) {{{}    }}\n",
        source_locations("operation", &texts.operation)
    )
}

fn ranged_loop(texts: &Texts) -> String {
    format!(
        "    for (size_t pygpu_turn = cta_start + tid; pygpu_turn < pygpu_count; pygpu_turn += total_threads) {{\n    \
         long long i = pygpu_start + (long long)pygpu_turn * pygpu_step;{}    }}\n",
        source_locations("operation", &texts.operation)
    )
}

/// Returns a part of the user's source between `#line` directives. Because of the directives, compiler messages refer
/// to the user's source by a descriptive name, and to the generated source by its own name.
fn source_locations(what: &str, text: &str) -> String {
    if text.trim().is_empty() {
        String::new()
    } else {
        format!("\n#line 1 \"{what}\"\n{text}\n    ;\n#line 1 \"kernel\"\n")
    }
}

/// An array of which a thread loads a pack, i.e. several consecutive elements, into registers.
struct PackedOperand<'a> {
    argument: &'a Argument,
    usage: &'a Usage,
    operand: &'a ElementOperand,
    /// The name of the first argument for which this array was passed. If it was passed for further arguments, these
    /// use the elements that were loaded for the first argument.
    first: &'a str,
    /// Whether the kernel reads the array or possibly leaves some of its elements unchanged. If so, a thread loads the
    /// elements before it computes. `is_written` states whether the kernel writes the array.
    is_read: bool,
    is_written: bool,
}

fn held<'a>(plan: &'a ElementPlan, arguments: &'a [Argument], usages: &'a [Option<Usage>]) -> Vec<PackedOperand<'a>> {
    let all: Vec<_> = vectors(arguments, usages).zip(&plan.operands).collect();
    let shares =
        |other: usize, position: usize| other == position || all[other].1.form == AccessPattern::SameAs(position as u8);
    let sharers = |position: usize| (0..all.len()).filter(move |&other| shares(other, position));
    let hold =
        |(position, &((argument, usage), operand)): (usize, &((&'a Argument, &'a Usage), &'a ElementOperand))| {
            PackedOperand {
                argument,
                usage,
                operand,
                first: match operand.form {
                    AccessPattern::SameAs(first) => &all[usize::from(first)].0.0.name,
                    _ => &argument.name,
                },
                is_read: sharers(position).count() > 1 || !usage.overwritten,
                is_written: sharers(position).any(|other| all[other].0.1.written > WrittenNames::No),
            }
        };
    all.iter().enumerate().map(hold).collect()
}
