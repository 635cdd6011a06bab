//! The source of a reduction's kernels.

use super::plan::{Block, EACH, INPUT, MASK, OUT, Plan};
use super::table::{Neutral, Output, Row};
use crate::dtype::{DType, Kind};
use crate::kernel::Source;
use crate::ops::elementwise;
use crate::ops::generate;
use crate::ops::ufunc::kernel::{converted, is_complex, stored, type_of};

/// The types of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Types {
    /// Of the elements.
    pub input: Kind,
    /// In which is computed.
    pub computed: Kind,
    /// Of the array that takes the results.
    pub out: Kind,
}

/// The kernels: the names and texts are put in.
const TEXT: &str = include_str!("reduce.cu");

/// The real type of one in which is computed.
fn real_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Complex64 => "float",
        _ => "double",
    }
}

/// The greatest value of a type, or the least.
fn bound(kind: Kind, is_greatest: bool) -> String {
    let bits = 8 * DType::new(kind).itemsize() as u32;
    match kind {
        Kind::Bool => u8::from(is_greatest).to_string(),
        Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64 => {
            if is_greatest {
                format!("{}ULL", u64::MAX >> (64 - bits))
            } else {
                "0".to_owned()
            }
        }
        Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64 => {
            let greatest = i64::MAX >> (64 - bits);
            if is_greatest { format!("{greatest}LL") } else { format!("-{greatest}LL - 1") }
        }
        _ => if is_greatest { "1.0 / 0.0" } else { "-1.0 / 0.0" }.to_owned(),
    }
}

/// What the device code calls its types, and how it squares the distance of two means.
fn spelled(text: &str, kind: Kind) -> String {
    let square = match is_complex(kind) {
        true => "(apart.real() * apart.real() + apart.imag() * apart.imag())",
        false => "(apart * apart)",
    };
    text.replace("{T}", "pygpu_type").replace("{R}", "pygpu_real").replace("{square}", square)
}

/// The type of what the text of the result gives.
fn finished(row: &Row, computed: Kind) -> Kind {
    match (row.output, computed) {
        (Output::Fixed(kind), _) => kind,
        _ => row.output(computed),
    }
}

fn definitions(row: &Row, types: Types) -> String {
    let Types { input, computed, out } = types;
    let neutral = match row.neutral.0 {
        Neutral::Text(text) => text.to_owned(),
        Neutral::Greatest => bound(computed, true),
        Neutral::Least => bound(computed, false),
    };
    let first = spelled(row.first, computed);
    let map = spelled(row.map, computed).replace("{x}", "x").replace("{at}", "at");
    let (element, result) = (DType::new(input).c_name(), DType::new(out).c_name());
    format!(
        "typedef {of} pygpu_type;\ntypedef {real} pygpu_real;\n\
         typedef {element} pygpu_element;\ntypedef {result} pygpu_result;\n\
         struct pygpu_state {{ {first} first; {others} }};\n\
         #define PYGPU_NEUTRAL (pygpu_none())\n\
         static __device__ inline pygpu_state pygpu_none() {{ pygpu_state none = {{({first})({neutral}){more}}}; return none; }}\n\
         static __device__ inline pygpu_state pygpu_map(const pygpu_element &element, size_t at) {{\n\
         \x20   const pygpu_type x = {converted};\n    pygpu_state one = {{{map}}};\n    return one;\n}}\n\
         static __device__ inline void pygpu_join(pygpu_state &a, const pygpu_state &b) {{ {join} }}\n\
         static __device__ inline pygpu_result pygpu_finish(const pygpu_state &a, double less) {{ return {finish}; }}\n",
        of = type_of(computed),
        real = real_of(computed),
        others = spelled(row.others, computed),
        more = row.neutral.1,
        converted = converted("element", input, computed),
        join = spelled(row.join, computed),
        finish = stored(&spelled(row.finish, computed), finished(row, computed), out),
    )
}

/// The bytes from an array's first element to one, along the axes of a walk that there may not be.
fn offset(walk: &Option<String>, name: &str, at: &str, side: usize) -> String {
    if walk.is_some() { format!("{name}.offset({at}, {side})") } else { "0".to_owned() }
}

/// How the threads of a block are shared out.
fn threads(block: Block) -> String {
    let Block { places, lanes, along } = block;
    let (lane, place, apart) = match along {
        true => (format!("(tid) % {lanes}u"), format!("(tid) / {lanes}u"), 1),
        false => (format!("(tid) / {places}u"), format!("(tid) % {places}u"), places),
    };
    format!(
        "#define PYGPU_PLACES {places}\n#define PYGPU_LANES {lanes}\n#define PYGPU_APART {apart}\n#define PYGPU_EACH {EACH}\n\
         #define PYGPU_LANE(tid) ({lane})\n#define PYGPU_PLACE(tid) ({place})\n"
    )
}

fn assembled(row: &Row, types: Types, block: Block, parts: [&str; 4]) -> Source {
    let name = name_of(row);
    let [parameters, base, state, store] = parts;
    let body = TEXT
        .replace("PYGPU_NAME", &name)
        .replace("PYGPU_PARAMETERS", parameters)
        .replace("PYGPU_BASE", base)
        .replace("PYGPU_STORE", store);
    let definitions = definitions(row, types);
    let head = generate::head(&[&definitions], "");
    let text = format!("{head}{definitions}{}#define PYGPU_STATE(i) ({state})\n{body}", threads(block));
    elementwise::source(&name, text, &["--fmad=false".to_owned()])
}

/// The name of a reduction's kernels.
pub fn name_of(row: &Row) -> String {
    format!("pygpu_{}", row.name)
}

/// The kernel that goes through the elements.
pub fn first(row: &Row, types: Types, plan: &Plan, is_masked: bool) -> Source {
    let (kept, reduced) = (plan.kept_type(), plan.reduced_type());
    let mut parameters =
        "const char *first, char *out, const char *mask, pygpu_state *parts, size_t places, size_t count, \
                          double less"
            .to_owned();
    for (walk, name) in [(&kept, "kept"), (&reduced, "reduced")] {
        if let Some(walk) = walk {
            parameters.push_str(&format!(", {walk} {name}"));
        }
    }
    let mut base = format!("const char *base = first + {};", offset(&kept, "kept", "at", INPUT));
    let element = offset(&reduced, "reduced", "(i)", INPUT);
    let mut state = format!("pygpu_map(*(const pygpu_element *)(base + {element}), (i))");
    if is_masked {
        base.push_str(&format!(" const char *counts = mask + {};", offset(&kept, "kept", "at", MASK)));
        let counts = offset(&reduced, "reduced", "(i)", MASK);
        state = format!("*(const unsigned char *)(counts + {counts}) ? {state} : PYGPU_NEUTRAL");
    }
    let result = offset(&kept, "kept", "at", OUT);
    let store = format!(
        "if (parts) parts[blockIdx.y * places + at] = a; else *(pygpu_result *)(out + {result}) = pygpu_finish(a, less);"
    );
    assembled(row, types, plan.block, [&parameters, &base, &state, &store])
}

/// The kernel that joins what the rows of blocks have.
pub fn second(row: &Row, types: Types, plan: &Plan, block: Block) -> Source {
    let kept = plan.kept_type();
    let mut parameters = "const pygpu_state *parts, char *out, size_t places, size_t count, double less".to_owned();
    if let Some(walk) = &kept {
        parameters.push_str(&format!(", {walk} kept"));
    }
    let store = format!("*(pygpu_result *)(out + {}) = pygpu_finish(a, less);", offset(&kept, "kept", "at", OUT));
    assembled(row, types, block, [&parameters, "", "parts[(i) * places + at]", &store])
}
