//! The source of generated kernels: what stands before a kernel, its parameters, and what each argument's name means in it.

use std::fmt::Write;

use super::argument::{Argument, Role};
use super::plan::{Form, Plan};
use super::text::{Texts, Usage, Written};

const ACCESS: &str = include_str!("../../python/PyGPU/include/pygpu_ops/access.h");
const FLOAT16: &str = include_str!("../../python/PyGPU/include/pygpu_ops/float16.h");
const COMPLEX: &str = include_str!("../../python/PyGPU/include/pycuda-complex.hpp");

/// The headers that types and texts name, and the user's own text.
pub fn head(texts: &[&str], preamble: &str) -> String {
    let names = |word: &str| preamble.contains(word) || texts.iter().any(|text| text.contains(word));
    let mut head = ACCESS.to_owned();
    if names("pygpu::") {
        head.push_str(FLOAT16);
    }
    if names("pycuda::") || names("pycuda-") {
        head.push_str(COMPLEX);
    }
    head.push('\n');
    head.push_str(preamble);
    head.push('\n');
    head
}

/// A type with `const` before it where the array is only read.
fn element_type(argument: &Argument, usage: &Usage) -> String {
    let is_constant = usage.written == Written::No || argument.role == Role::Vector { constant: true };
    if is_constant { format!("const {}", argument.c_type) } else { argument.c_type.clone() }
}

/// The vector arguments with their uses.
fn vectors<'a>(
    arguments: &'a [Argument],
    usages: &'a [Option<Usage>],
) -> impl Iterator<Item = (&'a Argument, &'a Usage)> {
    arguments.iter().zip(usages).filter_map(|(one, usage)| usage.as_ref().map(|usage| (one, usage)))
}

fn lengths(plan: &Plan, rank: usize) -> String {
    format!("pygpu::{}<{rank}>", if plan.wide { "long_lengths" } else { "lengths" })
}

/// The parameters of the values, in order.
pub fn scalar_parameters(arguments: &[Argument]) -> Vec<String> {
    let scalars = arguments.iter().filter(|one| !one.is_vector());
    scalars.map(|one| format!("{} {}", one.c_type, one.name)).collect()
}

/// The parameters of the arrays, as `Plan::push` gives their values.
pub fn vector_parameters(plan: &Plan, arguments: &[Argument], usages: &[Option<Usage>]) -> Vec<String> {
    let mut list = Vec::new();
    if plan.operands.iter().any(|one| one.form == Form::Strided) {
        list.push(format!("{} pygpu_lengths", lengths(plan, plan.rank())));
    }
    for ((argument, usage), operand) in vectors(arguments, usages).zip(&plan.operands) {
        let name = &argument.name;
        list.push(format!("{} *pygpu_array_{name}", element_type(argument, usage)));
        let rank = match operand.form {
            Form::Strided => plan.rank(),
            Form::Apart(rank) => {
                list.push(format!("{} pygpu_lengths_{name}", lengths(plan, rank.into())));
                rank.into()
            }
            _ => continue,
        };
        list.push(format!("pygpu::steps<{rank}> pygpu_steps_{name}"));
    }
    list
}

/// What the arrays' names mean where one element after the other is dealt with.
pub fn bindings(plan: &Plan, arguments: &[Argument], usages: &[Option<Usage>]) -> String {
    let mut text = String::new();
    for ((argument, usage), operand) in vectors(arguments, usages).zip(&plan.operands) {
        let (name, element) = (&argument.name, element_type(argument, usage));
        // Writing to a string cannot fail.
        let _ = match operand.form {
            Form::Flat | Form::Same(_) => writeln!(text, "    {element} *{name} = pygpu_array_{name};"),
            Form::Repeated => writeln!(text, "    pygpu::repeated<{element}> {name} = {{pygpu_array_{name}}};"),
            Form::Strided => writeln!(
                text,
                "    pygpu::strided<{element}, {}, {rank}> {name} = {{pygpu_array_{name}, pygpu_lengths, pygpu_steps_{name}}};",
                lengths(plan, plan.rank()),
                rank = plan.rank()
            ),
            Form::Apart(rank) => writeln!(
                text,
                "    pygpu::strided<{element}, {}, {rank}> {name} = {{pygpu_array_{name}, pygpu_lengths_{name}, \
                 pygpu_steps_{name}}};",
                lengths(plan, rank.into())
            ),
        };
    }
    text
}

/// The source of an elementwise kernel for one kind of walk.
pub fn elementwise(
    name: &str,
    arguments: &[Argument],
    usages: &[Option<Usage>],
    texts: &Texts,
    plan: &Plan,
    ranged: bool,
) -> String {
    let mut spoken = vec![texts.operation.as_str(), &texts.loop_prep, &texts.after_loop];
    spoken.extend(arguments.iter().map(|one| one.c_type.as_str()));
    let mut source = head(&spoken, &texts.preamble);
    let mut parameters = scalar_parameters(arguments);
    parameters.push("size_t n".to_owned());
    if ranged {
        parameters.extend(["long long pygpu_start", "long long pygpu_step", "size_t pygpu_count"].map(str::to_owned));
    }
    parameters.extend(vector_parameters(plan, arguments, usages));
    let loop_text = match (plan.pack, ranged) {
        (1, true) => ranged_loop(texts),
        (1, false) => plain_loop(texts),
        (pack, _) => packed_loop(usize::from(pack), plan, arguments, usages, texts),
    };
    // In a packed loop the names mean something else inside.
    let names = if plan.pack == 1 { bindings(plan, arguments, usages) } else { String::new() };
    let _ = write!(
        source,
        "extern \"C\" __global__ void {name}({}) {{\n\
         \x20   unsigned tid = threadIdx.x, total_threads = gridDim.x * blockDim.x, cta_start = blockDim.x * blockIdx.x;\n\
         {names}    {loop_prep}\n    ;\n{loop_text}    {after_loop}\n    ;\n}}\n",
        parameters.join(", "),
        loop_prep = texts.loop_prep,
        after_loop = texts.after_loop,
    );
    source
}

fn plain_loop(texts: &Texts) -> String {
    format!(
        "    size_t i;\n    for (i = cta_start + tid; i < n; i += total_threads) {{\n{}\n    ;\n    }}\n",
        texts.operation
    )
}

fn ranged_loop(texts: &Texts) -> String {
    format!(
        "    for (size_t pygpu_turn = cta_start + tid; pygpu_turn < pygpu_count; pygpu_turn += total_threads) {{\n    \
         long long i = pygpu_start + (long long)pygpu_turn * pygpu_step;\n{}\n    ;\n    }}\n",
        texts.operation
    )
}

/// Several neighbours at once: they are read and written in one access each, and the text sees them one by one.
fn packed_loop(pack: usize, plan: &Plan, arguments: &[Argument], usages: &[Option<Usage>], texts: &Texts) -> String {
    let all: Vec<(&Argument, &Usage, Form)> = vectors(arguments, usages)
        .zip(&plan.operands)
        .map(|((one, usage), operand)| (one, usage, operand.form))
        .collect();
    // Arguments that are one array share a pack.
    let written = |position: usize| {
        let shares = |other: usize| other == position || all[other].2 == Form::Same(position as u8);
        (0..all.len()).any(|other| shares(other) && all[other].1.written > Written::No)
    };
    let is_overwritten = |position: usize| {
        all[position].1.overwritten && all.iter().all(|(_, _, form)| *form != Form::Same(position as u8))
    };
    let (mut load, mut names, mut store) = (String::new(), String::new(), String::new());
    for (position, (argument, usage, form)) in all.iter().enumerate() {
        let (name, c_type) = (&argument.name, &argument.c_type);
        let element = element_type(argument, usage);
        let kind = format!("pygpu::pack<{c_type}, {pack}>");
        let place = format!("(pygpu_array_{name} + pygpu_at)");
        let _ = match form {
            Form::Flat if !usage.at_index => writeln!(names, "    {element} *{name} = pygpu_array_{name};"),
            Form::Flat if is_overwritten(position) => writeln!(load, "    {kind} pygpu_pack_{name};"),
            Form::Flat => writeln!(load, "    {kind} pygpu_pack_{name} = *(const {kind} *){place};"),
            _ => Ok(()),
        };
        let _ = match form {
            Form::Flat if !usage.at_index => Ok(()),
            Form::Flat => {
                writeln!(names, "    pygpu::element<{element}> {name} = {{&pygpu_pack_{name}.item[pygpu_turn]}};")
            }
            Form::Same(other) => {
                let other = &all[usize::from(*other)].0.name;
                writeln!(names, "    pygpu::element<{element}> {name} = {{&pygpu_pack_{other}.item[pygpu_turn]}};")
            }
            _ => Ok(()),
        };
        if *form == Form::Flat && usage.at_index && written(position) {
            // The parameter may be declared const, where another argument is the one that writes.
            let _ = writeln!(store, "    *({kind} *){place} = pygpu_pack_{name};");
        }
    }
    let outside: Vec<usize> = (0..all.len()).filter(|&at| !matches!(all[at].2, Form::Flat | Form::Same(_))).collect();
    let whole = bindings(plan, arguments, usages);
    let of_outside: String = whole
        .lines()
        .enumerate()
        .filter(|(position, _)| outside.contains(position))
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    format!(
        "    for (size_t pygpu_at = ((size_t)cta_start + tid) * {pack}; pygpu_at < n; pygpu_at += (size_t)total_threads * {pack}) \
         {{\n    if (pygpu_at + {pack} <= n) {{\n{load}{of_outside}#pragma unroll\n    for (int pygpu_turn = 0; pygpu_turn < {pack}; \
         pygpu_turn++) {{\n    size_t i = pygpu_at + pygpu_turn;\n{names}{operation}\n    ;\n    }}\n{store}    }} else {{\n{whole}    \
         for (size_t i = pygpu_at; i < n; i++) {{\n{operation}\n    ;\n    }}\n    }}\n    }}\n",
        operation = texts.operation
    )
}
