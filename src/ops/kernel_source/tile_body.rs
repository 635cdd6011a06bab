//! Generates the kernel body that processes its arrays in tiles, one tile per block. All loads precede the barrier, so
//! that their latencies overlap.

use super::super::elementwise_plan::AccessPattern;
use super::super::tile_plan::Tiles;
use super::{Argument, ElementPlan, Texts, Usage, binding, element_type, held, pack_body, source_locations};

/// Launch bounds of the kernel. Without them the compiler would limit the registers per thread so that blocks of 1024
/// threads are possible.
pub(super) const BOUNDS: &str = "__launch_bounds__(256) ";

/// The device code of tiles requires blocks with the number of threads that `BOUNDS` contains.
const _: () = assert!(
    super::super::tile_plan::THREADS == 256,
    "BOUNDS and transposed_operands.h say how many threads a block has"
);

/// Generates a kernel that processes tiles, from its parameters to the last store.
pub(super) fn body(
    tiles: Tiles,
    plan: &ElementPlan,
    arguments: &[Argument],
    usages: &[Option<Usage>],
    texts: &Texts,
) -> String {
    let each = tiles.each();
    // If the expression is not unrolled, the loaded elements are rotated after each iteration, so that the element to
    // process is always the first of them.
    let (place, unrolled) = match pack_body::at_once(each.into(), texts.weight) {
        Some(_) => ("0", "unroll 1"),
        None => ("pygpu_turn", "unroll"),
    };
    let (mut load, mut turn, mut names, mut store) = (String::new(), String::new(), String::new(), String::new());
    let (mut fetch, mut rotate) = (String::new(), String::new());
    for one in held(plan, arguments, usages) {
        let (name, c_type, first) = (&one.argument.name, &one.argument.c_type, one.first);
        let (element, slot) = (element_type(one.argument, one.usage), plan.slot(one.operand));
        if one.operand.form == AccessPattern::Broadcast {
            names.push_str(&(binding(plan, one.argument, one.operand, &element, name) + "\n"));
            continue;
        }
        let array = format!("({c_type} *)pygpu_array_{name}");
        let pack = format!("    pygpu::pack<{c_type}, {each}> pygpu_pack_{name};\n");
        if one.operand.form == AccessPattern::Transposed {
            let bytes = tiles.room(one.argument.dtype.itemsize()) * one.argument.dtype.itemsize();
            load.push_str(&format!(
                "    __shared__ pygpu::bytes pygpu_shared_{name}[{}];\n{pack}    \
                 pygpu_tile.read_across<{slot}>({array}, pygpu_pack_{name});\n",
                bytes.div_ceil(16)
            ));
            let shared = format!("({c_type} *)pygpu_shared_{name}");
            turn.push_str(&format!("    pygpu_tile.turn(pygpu_pack_{name}, {shared});\n"));
            if tiles.has_groups() {
                fetch.push_str(&format!("    pygpu_tile.fetch({shared}, pygpu_pack_{name});\n"));
                names.push_str(&element_of_pack(name, &element, name, place));
                rotate.push_str(&rotation(name, place));
                continue;
            }
            names.push_str(&format!(
                "    pygpu::element<{element}> {name} = {{pygpu_tile.turned({shared}, pygpu_turn)}};\n"
            ));
            continue;
        }
        names.push_str(&element_of_pack(name, &element, first, place));
        if first != name {
            continue;
        }
        load.push_str(&pack);
        rotate.push_str(&rotation(name, place));
        if one.is_read {
            load.push_str(&format!("    pygpu_tile.read<{slot}>({array}, pygpu_pack_{name});\n"));
        }
        if one.is_written {
            store.push_str(&format!("    pygpu_tile.write<{slot}>({array}, pygpu_pack_{name});\n"));
        }
    }
    let walk = plan.walk_type().unwrap_or_default();
    format!(
        "    const pygpu::tile<{walk}> pygpu_tile(pygpu_walk, blockIdx.x);\n{load}{turn}    __syncthreads();\n{fetch}\
         #pragma {unrolled}\n    for (int pygpu_turn = 0; pygpu_turn < {each}; pygpu_turn++) {{\n    \
         if (pygpu_tile.has(pygpu_turn)) {{\n    const size_t i = 0;\n{names}{operation}    }}\n{rotate}    }}\n{store}",
        operation = source_locations("operation", &texts.operation)
    )
}

/// Generates the declaration of an argument's name, which refers to an element of a pack.
fn element_of_pack(name: &str, element: &str, pack: &str, place: &str) -> String {
    format!("    pygpu::element<{element}> {name} = {{&pygpu_pack_{pack}.item[{place}]}};\n")
}

/// Generates the rotation of a pack whose first element is always the element to process.
fn rotation(name: &str, place: &str) -> String {
    match place {
        "0" => format!("    pygpu::rotate<1>(pygpu_pack_{name});\n"),
        _ => String::new(),
    }
}
