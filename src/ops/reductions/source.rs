//! Generates the source of the reduction kernels.

use std::fmt;

use super::input::InputExpression;
use super::plan::{BLOCKS_OF_PACKS, BlockShape, INPUT, MASK, OUT, ReductionPlan};
use super::reduction_table::{Neutral, ReductionEntry, ResultType};
use crate::elementwise_kernel;
use crate::kernel_source;
use crate::ufunc::kernel::{converted, stored, stored_as, type_of};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_kernel::KernelSource;

/// The element types of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReductionTypes {
    /// The type of the input elements.
    pub input: ScalarType,
    /// The type of the computation.
    pub computed: ScalarType,
    /// The type of the output array.
    pub out: ScalarType,
}

/// Template of the reduction kernels. Its placeholders are replaced by names and code.
const TEXT: &str = include_str!("reduce.cu");

/// Returns the C type in which the real parts of elements of this type are computed.
fn real_of(kind: ScalarType) -> &'static str {
    match kind {
        ScalarType::Float16 | ScalarType::BFloat16 | ScalarType::Float32 | ScalarType::Complex64 => "float",
        _ => "double",
    }
}

/// Returns the maximum or minimum of a type, as a C expression.
fn bound(kind: ScalarType, is_greatest: bool) -> String {
    let bits = 8 * DType::new(kind).itemsize() as u32;
    match kind {
        ScalarType::Bool => u8::from(is_greatest).to_string(),
        ScalarType::UInt8 | ScalarType::UInt16 | ScalarType::UInt32 | ScalarType::UInt64 => {
            if is_greatest {
                format!("{}ULL", u64::MAX >> (64 - bits))
            } else {
                "0".to_owned()
            }
        }
        ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64 => {
            let greatest = i64::MAX >> (64 - bits);
            if is_greatest { format!("{greatest}LL") } else { format!("-{greatest}LL - 1") }
        }
        ScalarType::Complex64 | ScalarType::Complex128 => {
            let sign = if is_greatest { "" } else { "-" };
            format!("pygpu_type((pygpu_real)({sign}1.0 / 0.0), (pygpu_real)({sign}1.0 / 0.0))")
        }
        _ => if is_greatest { "1.0 / 0.0" } else { "-1.0 / 0.0" }.to_owned(),
    }
}

/// Defines the comparison of real numbers.
const REAL_ORDER: &str = "#define PYGPU_LESS(a, b) ((a) < (b))\n#define PYGPU_LESS_EQUAL(a, b) ((a) <= (b))\n";
/// Defines the comparison of complex numbers, which is lexicographic, as in NumPy: the real parts are compared first,
/// and, if they are equal, the imaginary parts. A number with a NaN in either part is neither less than nor equal to
/// another number.
const COMPLEX_ORDER: &str = "\
    static __device__ inline bool PYGPU_LESS(const pygpu_type &a, const pygpu_type &b) {\n\
    \x20   return (a.real() < b.real() && a.imag() == a.imag() && b.imag() == b.imag())\n\
    \x20       || (a.real() == b.real() && a.imag() < b.imag());\n}\n\
    static __device__ inline bool PYGPU_LESS_EQUAL(const pygpu_type &a, const pygpu_type &b) {\n\
    \x20   return PYGPU_LESS(a, b) || a == b;\n}\n";

/// Replaces the placeholders `{T}` and `{R}` by types, and `{square}`, `{squared}` and `{size}` by expressions for real
/// or complex elements.
pub(super) fn spelled(text: &str, kind: ScalarType) -> String {
    let [square, squared, size] = match kind.is_complex() {
        true => [
            "(apart.real() * apart.real() + apart.imag() * apart.imag())",
            "x.real() * x.real() + x.imag() * x.imag()",
            "abs(x)",
        ],
        false => ["(apart * apart)", "x * x", "fabs(x)"],
    };
    let text = text.replace("{square}", square).replace("{squared}", squared).replace("{size}", size);
    text.replace("{T}", "pygpu_type").replace("{R}", "pygpu_real")
}

/// Returns the type of a reduction's result as it is computed from the state, before the conversion to the output's
/// type.
fn finished(row: &ReductionEntry, computed: ScalarType) -> ScalarType {
    match (row.output, computed) {
        (ResultType::Fixed(kind), _) => kind,
        _ => row.output(computed),
    }
}

/// Generates C++ definitions of the types of elements, states and results, and of the functions on them. `number` is
/// the C++ type of element indices.
pub(super) fn definitions(row: &ReductionEntry, types: ReductionTypes, number: &str) -> String {
    let ReductionTypes { input, computed, out } = types;
    let neutral = match row.neutral.0 {
        Neutral::Text(text) => text.to_owned(),
        Neutral::Greatest => bound(computed, true),
        Neutral::Least => bound(computed, false),
    };
    let first = spelled(row.first, computed);
    let map = spelled(row.map, computed).replace("{x}", "x");
    let take = match row.take {
        "" => format!("const pygpu_state one = {{{map}}}; pygpu_join(a, one);"),
        take => take.replace("{x}", "x"),
    };
    let (element, result) = (stored_as(input), DType::new(out).c_name());
    let order = match (row.is_of_order(), computed.is_complex()) {
        (false, _) => "",
        (true, false) => REAL_ORDER,
        (true, true) => COMPLEX_ORDER,
    };
    format!(
        "typedef {of} pygpu_type;\ntypedef {real} pygpu_real;\ntypedef {number} pygpu_number;\n\
         typedef {element} pygpu_element;\ntypedef {result} pygpu_result;\n{order}\
         struct pygpu_state {{ {first} first; {others} }};\n\
         static __device__ inline pygpu_state pygpu_none(pygpu_number at) {{\n\
         \x20   pygpu_state none = {{({first})({neutral}){more}}};\n    return none;\n}}\n\
         static __device__ inline void pygpu_join(pygpu_state &a, const pygpu_state &b) {{ {join} }}\n\
         static __device__ inline pygpu_result pygpu_finish(const pygpu_state &a, double less) {{ return {finish}; }}\n\
         static __device__ inline pygpu_type pygpu_convert(const pygpu_element &element) {{ return {converted}; }}\n\
         static __device__ inline void pygpu_take(pygpu_state &a, const pygpu_type &x, pygpu_number at) {{ {take} }}\n\
         template <int N> static __device__ inline void pygpu_take_batch(pygpu_state &a, const pygpu_type *x, int valid) {{\n\
         \x20   {batch}\n}}\n",
        of = type_of(computed),
        real = real_of(computed),
        others = spelled(row.others, computed),
        more = spelled(row.neutral.1, computed).replace("{least}", &bound(computed, false)),
        converted = converted("element", input, computed),
        join = spelled(row.join, computed),
        finish = stored(&spelled(row.finish, computed), finished(row, computed), out),
        batch = spelled(row.batch, computed),
    )
}

/// Returns a C expression for the byte offset of element `at` of operand `side` in a loop nest; 0 if there is no loop
/// nest.
pub(super) fn offset(walk: &Option<String>, name: &str, at: &str, side: usize) -> String {
    if walk.is_some() { format!("{name}.offset({at}, {side})") } else { "0".to_owned() }
}

/// Generates C++ macros that assign the threads of a block to results and to the elements that they load.
fn threads(block: BlockShape) -> String {
    let BlockShape { places, lanes, along, vector, each, turns } = block;
    let (lane, place, apart) = match along {
        true => (format!("(tid) % {lanes}u"), format!("(tid) / {lanes}u"), 1),
        false => (format!("(tid) / {places}u"), format!("(tid) % {places}u"), places),
    };
    let abreast = if along { 1 } else { vector };
    format!(
        "#define PYGPU_PLACES {places}\n#define PYGPU_LANES {lanes}\n#define PYGPU_APART {apart}\n#define PYGPU_EACH {each}\n\
         #define PYGPU_VECTOR {vector}\n#define PYGPU_ABREAST {abreast}\n#define PYGPU_TURNS {turns}\n\
         #define PYGPU_LANE(tid) ({lane})\n#define PYGPU_PLACE(tid) ({place})\n"
    )
}

/// The source fragments that differ between the two kernels of a reduction. The first kernel reduces the elements; the
/// second one combines partial results.
struct ReductionFragments<'a> {
    parameters: String,
    /// Code that is executed before the first element of a result is loaded.
    base: String,
    /// Expression that loads pack `i`, i.e. several consecutive elements.
    load: String,
    /// Condition that is true if the mask selects element `i`; `None` if the reduction has no mask.
    mask: Option<String>,
    store: String,
    /// Definitions of helper functions and of the type of a pack. A pack consists of the elements that one instruction
    /// loads. A reduction's two kernels have different definitions.
    more: String,
    /// Definitions of functions that the other source fragments call.
    preamble: &'a str,
}

fn assembled(
    row: &ReductionEntry,
    types: ReductionTypes,
    plan: &ReductionPlan,
    block: BlockShape,
    parts: &ReductionFragments<'_>,
) -> KernelSource {
    let name = name_of(row).to_string();
    // With this launch bound, the compiler limits the registers per thread such that a multiprocessor can run
    // `BLOCKS_OF_PACKS` thread blocks concurrently.
    let at_once = if block.vector > 1 { format!(", {BLOCKS_OF_PACKS}") } else { String::new() };
    let body = TEXT
        .replace("PYGPU_BOUNDS", &format!("__launch_bounds__(PYGPU_THREADS{at_once})"))
        .replace("PYGPU_NAME", &name)
        .replace("PYGPU_PARAMETERS", &parts.parameters)
        .replace("PYGPU_BASE", &parts.base)
        .replace("PYGPU_STORE", &parts.store);
    let definitions = definitions(row, types, plan.number_type());
    let head = kernel_source::head(&[&definitions, &parts.more], parts.preamble);
    let (mask, counts) = match &parts.mask {
        Some(mask) => (mask.as_str(), "counts[turn]"),
        None => ("true", "true"),
    };
    let text = format!(
        "{head}{definitions}{}#define PYGPU_LOAD(i) ({})\n#define PYGPU_MASK(i) ({mask})\n#define PYGPU_COUNTS(turn) {counts}\n{}{body}",
        threads(block),
        parts.load,
        parts.more,
    );
    elementwise_kernel::source(&name, text, &["--fmad=false".to_owned()])
}

/// The name of the kernels of a reduction function: a prefix and the function's name. It is formatted only where a
/// kernel is compiled, because formatting takes as long as the plan of a reduction.
pub struct KernelName(pub &'static str, pub &'static str);

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        f.write_str(self.1)
    }
}

/// Returns the name of the kernels of a reduction function.
pub fn name_of(row: &ReductionEntry) -> KernelName {
    KernelName("pygpu_", row.name)
}

/// Generates the source of a reduction's first kernel, which reduces the input elements to results or partial results.
pub fn first(
    row: &ReductionEntry,
    types: ReductionTypes,
    plan: &ReductionPlan,
    is_masked: bool,
    map: Option<&InputExpression>,
) -> KernelSource {
    let (kept, reduced) = (plan.kept_type(), plan.reduced_type());
    let block = plan.block;
    let input = map.map_or("const char *first", |map| &map.parameters);
    let mut parameters =
        format!("{input}, char *out, const char *mask, pygpu_state *parts, size_t places, size_t count, double less");
    for (walk, name) in [(&kept, "kept"), (&reduced, "reduced")] {
        if let Some(walk) = walk {
            parameters.push_str(&format!(", {walk} {name}"));
        }
    }
    let from = if map.is_some() { "const long long base =" } else { "const char *base = first +" };
    let mut base = format!("{from} {};", offset(&kept, "kept", "at", INPUT));
    let number = if block.along { format!("(i) * {}", block.vector) } else { "(i)".to_owned() };
    let from = format!("base + {}", offset(&reduced, "reduced", &number, INPUT));
    let load = match map {
        Some(map) => format!("pygpu_mapped((size_t)({from}) / sizeof(pygpu_element), {})", map.names),
        None => format!("*(const pygpu_packed *)({from})"),
    };
    let mask = is_masked.then(|| {
        base.push_str(&format!(" const char *marks = mask + {};", offset(&kept, "kept", "at", MASK)));
        format!("*(const unsigned char *)(marks + {}) != 0", offset(&reduced, "reduced", &number, MASK))
    });
    let result = offset(&kept, "kept", "at", OUT);
    let (packed, store) = match (block.vector, block.along) {
        (1, _) | (_, true) => (
            "",
            format!(
                "if (parts) parts[blockIdx.y * places + at] = sum[0]; \
                 else *(pygpu_result *)(out + {result}) = pygpu_finish(sum[0], less);"
            ),
        ),
        (vector, false) => (
            "typedef pygpu::pack<pygpu_result, PYGPU_VECTOR> pygpu_results;\n",
            format!(
                "if (parts) {{ for (int v = 0; v < {vector}; v++) parts[blockIdx.y * places + at + v] = sum[v]; }} \
                 else {{ pygpu_results made; for (int v = 0; v < {vector}; v++) made.item[v] = pygpu_finish(sum[v], less); \
                 *(pygpu_results *)(out + {result}) = made; }}"
            ),
        ),
    };
    // A pack of one element requires no alignment, because the element itself may be unaligned.
    let pack = match block.vector {
        1 => "struct pygpu_packed { pygpu_element item[1]; };\n",
        _ => "typedef pygpu::pack<pygpu_element, PYGPU_VECTOR> pygpu_packed;\n",
    };
    let is_batched = u8::from(!row.batch.is_empty() && !is_masked);
    let mapped = map.map(mapped).unwrap_or_default();
    let more = format!("{pack}{packed}#define PYGPU_IS_BATCHED {is_batched}\n{mapped}");
    let preamble = map.map_or("", |map| &map.preamble);
    assembled(row, types, plan, block, &ReductionFragments { parameters, base, load, mask, store, more, preamble })
}

/// Generates the C++ function that computes several consecutive input elements (a pack) by an expression.
fn mapped(map: &InputExpression) -> String {
    format!(
        "static __device__ __forceinline__ pygpu_packed pygpu_mapped(size_t at, {}) {{\n    pygpu_packed made;\n{}\
         #pragma unroll\n    for (int v = 0; v < PYGPU_VECTOR; v++) {{\n{}    }}\n    return made;\n}}\n",
        map.parameters, map.packs, map.element
    )
}

/// Generates the source of a reduction's second kernel, which combines the partial results of the first kernel.
pub fn second(row: &ReductionEntry, types: ReductionTypes, plan: &ReductionPlan, block: BlockShape) -> KernelSource {
    let kept = plan.kept_type();
    let mut parameters = "const pygpu_state *parts, char *out, size_t places, size_t count, double less".to_owned();
    if let Some(walk) = &kept {
        parameters.push_str(&format!(", {walk} kept"));
    }
    let store = format!("*(pygpu_result *)(out + {}) = pygpu_finish(sum[0], less);", offset(&kept, "kept", "at", OUT));
    // The second kernel reads partial results where the first one reads elements. A partial result already is a state,
    // so the kernel joins it into the thread's state without a conversion.
    let more = "struct pygpu_packed { pygpu_state item[1]; };\n#define PYGPU_IS_BATCHED 0\n\
        static __device__ inline const pygpu_state &pygpu_convert(const pygpu_state &part) { return part; }\n\
        static __device__ inline void pygpu_take(pygpu_state &a, const pygpu_state &part, pygpu_number) { pygpu_join(a, part); }\n"
        .to_owned();
    let load = "*(const pygpu_packed *)(parts + ((size_t)(i) * places + at))".to_owned();
    assembled(
        row,
        types,
        plan,
        block,
        &ReductionFragments { parameters, base: String::new(), load, mask: None, store, more, preamble: "" },
    )
}
