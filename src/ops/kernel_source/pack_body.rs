//! Generates the kernel body that processes packs: a thread loads several elements, applies the expression to each, and
//! stores them.
//!
//! The compiler unrolls the expression for each element of a pack, and again for the last elements of the arrays, which
//! are fewer than a pack. Full unrolling is fastest for short expressions. Expressions with a long compile time are
//! unrolled less: each round of a loop processes the first elements of the pack and then rotates the pack, so that the
//! next elements become the first. In this case the last elements of the arrays are processed as a pack too.

use super::super::elementwise_plan::{AccessPattern, ElementOperand, ElementPlan, PackLayout, UNROLLED};
use super::{Argument, Texts, Usage, binding, bindings, element_type, held, source_locations};

/// Maximum compile time in milliseconds of an expression that is not fully unrolled, summed over its copies.
const MOST: usize = 24;

/// Returns for how many elements of a pack the expression is unrolled. Returns `None` if the expression is unrolled for
/// the whole pack, and again for the arrays' last elements, which are fewer than a pack.
pub(super) fn at_once(pack: usize, weight: u8) -> Option<usize> {
    let weight = usize::from(weight);
    if weight * pack <= UNROLLED {
        return None;
    }
    let most = (MOST / weight).clamp(1, pack);
    Some(1 << most.ilog2())
}

/// Generates the body of a kernel that processes packs, from the first declaration to the last store.
pub(super) fn body(
    pack: usize,
    plan: &ElementPlan,
    arguments: &[Argument],
    usages: &[Option<Usage>],
    texts: &Texts,
) -> String {
    let parts = PackLoop::of(pack, plan, arguments, usages);
    let width = width(plan.way);
    let is_whole = match plan.way {
        // The loop excludes the first pack and the last two packs of the array, because a load of aligned words extends
        // beyond the pack but must stay inside the array.
        PackLayout::Peeled(_) => format!("pygpu_at > 0 && pygpu_at + {} <= (long long)n", 2 * pack),
        PackLayout::InnerContiguous => "true".to_owned(),
        _ if plan.packs > 1 => format!("pygpu_at + pygpu_apart + {} < (long long)n", pack - 1),
        _ => format!("pygpu_at + {} * {width} < n", pack - 1),
    };
    let operation = source_locations("operation", &texts.operation);
    let turns = match at_once(pack, texts.weight) {
        Some(at_once) => parts.in_rounds(pack, at_once, width, &is_whole, &operation),
        None => {
            let PackLoop { declared, load, names, store, .. } = &parts;
            let (elements, at) = (pack * usize::from(plan.packs), element(pack, plan));
            let each = format!(
                "#pragma unroll\n    for (int pygpu_turn = 0; pygpu_turn < {elements}; pygpu_turn++) {{\n    size_t i = \
                 {at};\n{names}{operation}    }}\n"
            );
            // A second copy of the expression for each element would double the compile time.
            let unrolling = if plan.packs > 1 { "#pragma unroll 1\n" } else { "" };
            let rest = match plan.way {
                PackLayout::InnerContiguous => String::new(), // each row consists of whole packs, so no elements are left
                _ => format!(
                    "else {{\n{}{unrolling}    for (int pygpu_turn = 0; pygpu_turn < {elements}; pygpu_turn++) {{\n    size_t i = \
                     {at};\n    if (i >= n) continue;\n{operation}    }}\n    }}\n",
                    bindings(plan, arguments, usages)
                ),
            };
            format!("    if ({is_whole}) {{\n{declared}{load}{each}{store}    }} {rest}\n")
        }
    };
    format!("{}{}{turns}    }}\n", parts.arrays, walk(pack, plan, plan.is_looped || texts.is_long))
}

/// Returns the C expression for the array index of the element that a thread processes in iteration `pygpu_turn`.
fn element(pack: usize, plan: &ElementPlan) -> String {
    match plan.packs {
        1 => format!("pygpu_at + pygpu_turn * {}", width(plan.way)),
        _ => format!("pygpu_at + pygpu_turn / {pack} * pygpu_apart + pygpu_turn % {pack}"),
    }
}

/// Returns the C expression for the element that a thread processes in iteration `pygpu_turn`, among the elements that
/// it loaded from an array.
fn item(name: &str, pack: usize, plan: &ElementPlan) -> String {
    match plan.packs {
        1 => format!("pygpu_pack_{name}.item[pygpu_turn]"),
        _ => format!("pygpu_pack_{name}[pygpu_turn / {pack}].item[pygpu_turn % {pack}]"),
    }
}

/// Returns the C expression for the distance between consecutive elements of a pack, as a number of elements in C
/// order.
fn width(way: PackLayout) -> &'static str {
    match way {
        PackLayout::BlockStrided => "blockDim.x",
        PackLayout::StackedRows => "pygpu_length",
        _ => "1",
    }
}

/// Generates the head of the loop in which a thread processes its packs, one or two per iteration. If `is_looped` is
/// false, generates the condition that a thread has packs. The second pack of a thread begins as many packs after the
/// first as the block has threads.
fn walk(pack: usize, plan: &ElementPlan, is_looped: bool) -> String {
    let packs = usize::from(plan.packs);
    let start = match plan.way {
        PackLayout::StackedRows => return rows(pack, plan.last()),
        _ if packs > 1 => format!("((size_t)cta_start * {packs} + tid) * {pack}"),
        PackLayout::BlockStrided => format!("(size_t)cta_start * {pack} + tid"),
        PackLayout::Peeled(_) => format!("((size_t)cta_start + tid) * {pack} - pygpu_head"),
        _ => format!("((size_t)cta_start + tid) * {pack}"),
    };
    let apart = match packs {
        1 => String::new(),
        _ => format!("    const long long pygpu_apart = (long long)blockDim.x * {pack};\n"),
    };
    let condition = "pygpu_at < (long long)n";
    let step = pack * packs;
    apart
        + &match is_looped {
            true => format!(
                "    for (long long pygpu_at = {start}; {condition}; pygpu_at += (size_t)total_threads * {step}) {{\n"
            ),
            false => format!("    const long long pygpu_at = {start};\n    if ({condition}) {{\n"),
        }
}

/// Generates the head of the loop in which a thread processes vertically adjacent elements. Threads are numbered along
/// a row; after the last thread of a row, numbering continues as many rows below as a pack has elements.
fn rows(pack: usize, last: usize) -> String {
    format!(
        "    const long long pygpu_length = pygpu_walk.length({last});\n    for (size_t pygpu_thread = (size_t)cta_start + tid;; \
         pygpu_thread += total_threads) {{\n    auto pygpu_row = (decltype(pygpu_walk.length({last})))pygpu_thread;\n    const long \
         long pygpu_column = pygpu_walk.index(pygpu_row, {last});\n    const long long pygpu_at = pygpu_row * {pack} * pygpu_length \
         + pygpu_column;\n    if (pygpu_at >= (long long)n) break;\n"
    )
}

/// Source fragments of the loop in which a thread processes packs of elements.
#[derive(Default)]
struct PackLoop {
    /// Declarations of the arrays before the loop, if a thread's elements are not adjacent in memory.
    arrays: String,
    declared: String,
    load: String,
    /// Loads the last elements of an array if they are fewer than a pack: positions of the pack beyond the array's end
    /// get copies of the last element.
    load_rest: String,
    names: String,
    rotate: String,
    store: String,
    store_rest: String,
}

impl PackLoop {
    fn of(pack: usize, plan: &ElementPlan, arguments: &[Argument], usages: &[Option<Usage>]) -> Self {
        let mut parts = Self::default();
        for one in &held(plan, arguments, usages) {
            let (name, element) = (&one.argument.name, element_type(one.argument, one.usage));
            let is_walked = one.usage.at_index && one.operand.form != AccessPattern::Broadcast;
            if !is_walked {
                parts.names.push_str(&(binding(plan, one.argument, one.operand, &element, name) + "\n"));
                continue;
            }
            let item = item(one.first, pack, plan);
            parts.names.push_str(&format!("    pygpu::element<{element}> {name} = {{&{item}}};\n"));
            if one.first == name {
                parts.add(plan, pack, one.argument, one.operand, one.is_read, one.is_written);
            }
        }
        parts
    }

    fn add(
        &mut self,
        plan: &ElementPlan,
        pack: usize,
        argument: &Argument,
        operand: &ElementOperand,
        is_read: bool,
        is_written: bool,
    ) {
        let (name, c_type) = (&argument.name, &argument.c_type);
        let kind = format!("pygpu::pack<{c_type}, {pack}>");
        let each = |text: String| {
            format!("#pragma unroll\n    for (int pygpu_turn = 0; pygpu_turn < {pack}; pygpu_turn++) {text}\n")
        };
        let is_spread = matches!(plan.way, PackLayout::BlockStrided | PackLayout::StackedRows);
        let array = match plan.way {
            PackLayout::BlockStrided | PackLayout::StackedRows | PackLayout::InnerContiguous => {
                format!("pygpu_all_{name}")
            }
            // The cast removes `const`, because this argument may be `const` while the kernel writes the same array
            // through another argument.
            _ => format!("(({c_type} *)pygpu_array_{name})"),
        };
        let at = element(pack, plan);
        // The name of each pack of elements that a thread loads, and the C expression for these elements in memory.
        let memory = format!("*({kind} *)(pygpu_array_{name} + pygpu_at");
        let packs = match operand.form {
            AccessPattern::InnerContiguous => {
                vec![(format!("pygpu_pack_{name}"), format!("*({kind} *)&{array}[pygpu_at]"))]
            }
            _ if plan.packs == 1 => vec![(format!("pygpu_pack_{name}"), format!("{memory})"))],
            _ => vec![
                (format!("pygpu_pack_{name}[0]"), format!("{memory})")),
                (format!("pygpu_pack_{name}[1]"), format!("{memory} + pygpu_apart)")),
            ],
        };
        let item = item(name, pack, plan);
        let count = if plan.packs == 1 { String::new() } else { format!("[{}]", plan.packs) };
        self.declared.push_str(&format!("    {kind} pygpu_pack_{name}{count};\n"));
        self.rotate.push_str(&format!("    pygpu::rotate<pygpu_at_once>(pygpu_pack_{name});\n"));
        if is_spread || plan.way == PackLayout::InnerContiguous {
            self.arrays.push_str(&(binding(plan, argument, operand, c_type, &array) + "\n"));
        }
        if is_read {
            self.load.push_str(&match operand.form {
                _ if is_spread => each(format!("{item} = {array}[{at}];")),
                AccessPattern::InnerBroadcast => each(format!("{item} = {array}[pygpu_at];")),
                AccessPattern::Misaligned => {
                    format!("    pygpu_pack_{name} = pygpu::shifted<{kind}>(pygpu_array_{name} + pygpu_at);\n")
                }
                _ => packs.iter().map(|(pack, memory)| format!("    {pack} = {memory};\n")).collect(),
            });
            self.load_rest.push_str(&each(format!("{item} = {array}[pygpu::nearest({at}, n)];")));
        }
        if is_written {
            self.store.push_str(&match is_spread {
                true => each(format!("{array}[{at}] = {item};")),
                false => packs.iter().map(|(pack, memory)| format!("    {memory} = {pack};\n")).collect(),
            });
            self.store_rest.push_str(&each(format!("if ((size_t)({at}) < n) {array}[{at}] = {item};")));
        }
    }

    fn in_rounds(&self, pack: usize, at_once: usize, width: &str, is_whole: &str, operation: &str) -> String {
        let Self { declared, load, load_rest, names, store, store_rest, .. } = self;
        let rotate = if at_once < pack { self.rotate.as_str() } else { "" };
        format!(
            "    const bool pygpu_is_whole = {is_whole};\n    enum {{ pygpu_at_once = {at_once} }};\n{declared}    if (pygpu_is_whole) \
             {{\n{load}    }} else {{\n{load_rest}    }}\n#pragma unroll 1\n    for (int pygpu_round = 0; pygpu_round < {pack}; \
             pygpu_round += pygpu_at_once) {{\n#pragma unroll\n    for (int pygpu_turn = 0; pygpu_turn < pygpu_at_once; pygpu_turn++) \
             {{\n    size_t i = pygpu_at + (pygpu_round + pygpu_turn) * {width};\n{names}{operation}    }}\n{rotate}    }}\n    \
             if (pygpu_is_whole) {{\n{store}    }} else {{\n{store_rest}    }}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::at_once;

    #[test]
    fn expensive_expression_is_unrolled_for_fewer_pack_elements() {
        let of = |pack| [0, 4, 8, 12, 26].map(|weight| at_once(pack, weight));
        assert_eq!(of(2), [None, None, None, Some(2), Some(1)]);
        assert_eq!(of(4), [None, None, Some(2), Some(2), Some(1)]);
        assert_eq!(of(8), [None, Some(4), Some(2), Some(2), Some(1)]);
        assert_eq!(of(16), [None, Some(4), Some(2), Some(2), Some(1)]);
    }
}
