//! Generates the source of the product kernels.

use super::operands::{MatrixOperand, ProductProblem, is_whole, kind_of_parts};
use super::plan::{ProductPlan, ProductStrategy};
use crate::elementwise_kernel;
use crate::kernel_source;
use crate::ufunc::kernel::{converted, stored, stored_as, type_of, unsigned_of};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_kernel::KernelSource;

const TILE: &str = include_str!("tile.cu");
const SMALL: &str = include_str!("small_matrices.cu");
const VECTOR: &str = include_str!("vector.cu");

/// Returns the name of the kernel that implements an algorithm.
pub(super) fn name_of(way: ProductStrategy) -> &'static str {
    match way {
        ProductStrategy::Small => "pygpu_small_product",
        ProductStrategy::Rows { .. } => "pygpu_product_with_vector",
        ProductStrategy::Tiles(_) => "pygpu_product_of_tiles",
    }
}

/// Generates the C++ function that converts an operand's element to the type of the computation. Integers become
/// unsigned, so that they wrap around.
fn element(name: &str, side: &MatrixOperand, computed: ScalarType) -> String {
    let (memory, value) = (stored_as(side.kind), converted("element", side.kind, computed));
    let value = match side.is_conjugated {
        true => format!("const pygpu_type z = {value}; return pygpu_type(z.real(), -z.imag());"),
        false => format!("return (pygpu_type)({value});"),
    };
    format!(
        "typedef {memory} pygpu_{name};\n\
         static __device__ inline pygpu_type pygpu_of_{name}(const pygpu_{name} &element) {{ {value} }}\n"
    )
}

/// Generates the C++ types of operands and results, and the functions that multiply, add and convert their elements.
fn definitions(task: &ProductProblem) -> String {
    let computed = task.computed;
    let (own, sum) = match is_whole(computed) {
        true => (unsigned_of(computed), format!("(({})sum)", DType::new(computed).c_name())),
        false => (type_of(computed), "sum".to_owned()),
    };
    let (product, add) = match computed {
        ScalarType::Bool => ("sum |= a & b;", "a |= b;"),
        kind if kind.is_complex() => (
            "sum = pygpu_type(sum.real() + a.real() * b.real() - a.imag() * b.imag(), \
             sum.imag() + a.real() * b.imag() + a.imag() * b.real());",
            "a = pygpu_type(a.real() + b.real(), a.imag() + b.imag());",
        ),
        _ => ("sum += a * b;", "a += b;"),
    };
    format!(
        "typedef {own} pygpu_type;\ntypedef {result} pygpu_result;\n#define PYGPU_BYTES {bytes}\n{a}{b}\
         static __device__ inline void pygpu_add_product(pygpu_type &sum, const pygpu_type &a, const pygpu_type &b) {{ {product} }}\n\
         static __device__ inline void pygpu_add(pygpu_type &a, const pygpu_type &b) {{ {add} }}\n\
         static __device__ inline pygpu_result pygpu_finish(const pygpu_type &sum) {{ return {finish}; }}\n",
        result = stored_as(task.out.kind),
        bytes = DType::new(kind_of_parts(computed)).itemsize(),
        a = element("a", &task.a, computed),
        b = element("b", &task.b, computed),
        finish = stored(&sum, computed, task.out.kind),
    )
}

/// Generates the C++ type of a pack, the elements of one load. A pack of one element requires no more alignment than
/// the element.
fn pack(name: &str, vector: i64, elements: i64) -> String {
    match vector {
        1 => format!("struct pygpu_pack_{name} {{ pygpu_{name} item[{elements}]; }};\n"),
        _ => format!("typedef pygpu::pack<pygpu_{name}, {vector}> pygpu_pack_{name};\n"),
    }
}

/// Generates the code common to all algorithms: parameters, and the addresses of the matrices in a batch.
fn parameters(task: &ProductProblem, plan: &ProductPlan) -> String {
    let mut list = "const char *a, const char *b, char *out, pygpu_type *parts, long long batches, long long m, long long n, \
                    long long k, long long chunk, long long a_row, long long a_step, long long b_row, long long b_step, \
                    long long out_row, long long out_column"
        .to_owned();
    let mut offset = ["0"; 3].map(str::to_owned);
    if let Some(walk) = plan.walk_type() {
        list.push_str(&format!(", {walk} walk"));
        offset = [0, 1, 2].map(|side| format!("walk.offset((pygpu_number)batch, {})", task.side_in_walk(side)));
    }
    let [a, b, out] = offset;
    format!(
        "#define PYGPU_PARAMETERS {list}\n#define PYGPU_BATCH(side) ((side) == 0 ? {a} : (side) == 1 ? {b} : {out})\n"
    )
}

/// Generates the source of the kernel that computes a product according to a plan.
pub(super) fn source(task: &ProductProblem, plan: &ProductPlan) -> KernelSource {
    let definitions = definitions(task);
    let [first, second] = plan.vector;
    let (more, body) = match plan.way {
        ProductStrategy::Small => (format!("#define PYGPU_THREADS {}\n", plan.threads), SMALL),
        ProductStrategy::Rows { places, lanes } => (
            format!(
                "{}{}#define PYGPU_PLACES {places}\n#define PYGPU_LANES {lanes}\n",
                pack("a", first, first),
                pack("b", second, if plan.along[0] { first } else { 1 })
            ),
            VECTOR,
        ),
        ProductStrategy::Tiles(tile) => (
            format!(
                "{}{}#define PYGPU_BM {}\n#define PYGPU_BN {}\n#define PYGPU_BK {}\n#define PYGPU_TM {}\n#define PYGPU_TN {}\n\
                 #define PYGPU_OUT_PACKED {}\n",
                pack("a", first, first),
                pack("b", second, second),
                tile.rows,
                tile.columns,
                tile.depth,
                tile.own[0],
                tile.own[1],
                u8::from(plan.is_out_packed)
            ),
            TILE,
        ),
    };
    let [along_a, along_b] = plan.along.map(u8::from);
    let head = kernel_source::head(&[&definitions], "");
    let text = format!(
        "{head}{definitions}typedef {} pygpu_number;\n{}#define PYGPU_VECTOR_A {first}\n#define PYGPU_VECTOR_B {second}\n\
         #define PYGPU_ALONG_A {along_a}\n#define PYGPU_ALONG_B {along_b}\n{more}{body}",
        plan.number_type(),
        parameters(task, plan),
    );
    elementwise_kernel::source(name_of(plan.way), text, &[])
}
