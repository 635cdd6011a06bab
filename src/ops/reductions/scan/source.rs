//! Generates the source of the scan kernels.

use super::plan::{INPUT, OUT, ScanPlan, ScanStrategy};
use crate::elementwise_kernel;
use crate::kernel_source;
use crate::reductions::reduction_table::ReductionEntry;
use crate::reductions::source::{KernelName, ReductionTypes, definitions, offset, spelled};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_kernel::KernelSource;

/// Templates of the scan kernels. Their placeholders are replaced by names and code.
const ALONG: &str = include_str!("row_scan.cu");
const ACROSS: &str = include_str!("column_scan.cu");

/// Returns the size in bytes of a scan's state, the intermediate value to which elements are joined.
pub fn state_bytes(row: &ReductionEntry, computed: ScalarType) -> usize {
    match computed {
        _ if row.first == "bool" => 1,
        ScalarType::Float16 | ScalarType::BFloat16 => size_of::<f32>(),
        kind => DType::new(kind).itemsize(),
    }
}

/// Returns the name of the scan kernels of a reduction function.
pub fn name_of(row: &ReductionEntry) -> KernelName {
    KernelName("pygpu_scan_", row.name)
}

/// Generates the C++ type of a pack, the elements of one load. A pack of one element requires no alignment, because the
/// element itself may be unaligned.
fn pack(name: &str, element: &str, vector: u32) -> String {
    match vector {
        1 => format!("struct {name} {{ {element} item[1]; }};\n"),
        _ => format!("typedef pygpu::pack<{element}, {vector}> {name};\n"),
    }
}

/// Generates the source of a scan kernel. If several thread blocks share a column, a first kernel, for which `is_sum`
/// is set, computes only the state of each block's part.
pub fn source(row: &ReductionEntry, types: ReductionTypes, plan: &ScanPlan, is_sum: bool) -> KernelSource {
    let name = name_of(row).to_string();
    let (threads, text, memory) = match plan.way {
        ScanStrategy::Along { rows, lanes, each, vectors, is_chained } => (
            format!(
                "#define PYGPU_ROWS {rows}\n#define PYGPU_LANES {lanes}\n#define PYGPU_EACH {each}\n\
                 #define PYGPU_IN_VECTOR {}\n#define PYGPU_OUT_VECTOR {}\n#define PYGPU_IS_CHAINED {}\n\
                 #define PYGPU_IS_AS_LARGE {}\n{}{}",
                vectors[INPUT],
                vectors[OUT],
                u8::from(is_chained),
                u8::from(DType::new(types.input).itemsize() == DType::new(types.out).itemsize()),
                pack("pygpu_in", "pygpu_element", vectors[INPUT]),
                pack("pygpu_out", "pygpu_result", vectors[OUT]),
            ),
            ALONG,
            "size_t rows, size_t len, unsigned long long *board, size_t tiles",
        ),
        ScanStrategy::Across { columns, down, each } => (
            format!(
                "#define PYGPU_COLUMNS {columns}\n#define PYGPU_DOWN {down}\n#define PYGPU_EACH {each}\n\
                 #define PYGPU_IS_SHARED {}\n#define PYGPU_IS_SUM {}\n",
                u8::from(plan.splits > 1),
                u8::from(is_sum),
            ),
            ACROSS,
            "size_t places, size_t len, pygpu_state *parts, size_t part",
        ),
    };
    let bounds = match plan.way {
        // With this launch bound, the compiler limits the registers per thread such that a multiprocessor can run 5
        // thread blocks concurrently. More than 5 blocks would not fit into its shared memory.
        ScanStrategy::Along { is_chained: true, .. } => "__launch_bounds__(PYGPU_THREADS, 5)",
        _ => "__launch_bounds__(PYGPU_THREADS)",
    };
    let kept = plan.kept_type();
    let mut parameters = format!("const char *in, char *out, long long in_step, long long out_step, {memory}");
    if let Some(walk) = &kept {
        parameters.push_str(&format!(", {walk} kept"));
    }
    let number = if plan.is_short() { "unsigned" } else { "unsigned long long" };
    let unit = match state_bytes(row, types.computed) {
        1 => "unsigned char",
        2 => "unsigned short",
        _ => "unsigned",
    };
    let definitions = definitions(row, types, number);
    let map = spelled(row.map, types.computed).replace("{x}", "x");
    let place = |side| offset(&kept, "kept", "(pygpu_number)(row)", side);
    let text = format!(
        "{head}{definitions}{threads}typedef {unit} pygpu_unit;\n\
         static __device__ inline pygpu_state pygpu_only(const pygpu_type &x) {{\n    pygpu_state only = {{{map}}};\n    return only;\n}}\n\
         #define PYGPU_IS_ROW(row) ((row) < rows)\n#define PYGPU_FROM(row) (in + {from})\n#define PYGPU_TO(row) (out + {to})\n{body}",
        head = kernel_source::head(&[&definitions], ""),
        from = place(INPUT),
        to = place(OUT),
        body =
            text.replace("PYGPU_BOUNDS", bounds).replace("PYGPU_NAME", &name).replace("PYGPU_PARAMETERS", &parameters),
    );
    elementwise_kernel::source(&name, text, &["--fmad=false".to_owned()])
}
