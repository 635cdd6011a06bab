//! Defines the table of reductions, with one entry for each of NumPy's reduction functions.
//!
//! A reduction is defined by its state, the intermediate value to which elements are added. In the code of an entry,
//! `{x}` is an element in the type of the computation, `{T}` is the type of the computation, and `{R}` is the real type
//! that corresponds to `{T}`. `a` and `b` are states, `at` is the element's index among the reduced elements, and
//! `less` is the number (`ddof` of `var`) that is subtracted from the count of these elements. `PYGPU_LESS` and
//! `PYGPU_LESS_EQUAL` compare elements. A thread adds its elements in ascending order of their indices. States are
//! joined in any order; therefore the order of joins must not change the result, except for rounding. Element indices
//! have the type `pygpu_number`: 32 or 64 bits, as the array's size requires.

use pygpu_base::dtype::{DType, ScalarType};

/// The type in which a reduction is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Computed {
    /// The type of the elements.
    Own,
    /// The element type of the input; for integers, a type of at least 64 bits.
    Wide,
    /// The element type of the input; for integers, float64.
    Real,
}

/// The type of a reduction's results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// The type of the computation.
    Computed,
    /// The real type that corresponds to the type of the computation.
    Real,
    /// A fixed type.
    Fixed(ScalarType),
}

/// The initial value of the state's first member, before any element is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Neutral {
    /// The neutral element of the operation, as C source.
    Text(&'static str),
    /// The maximum of the element type. The value only initializes the state; the reduction of an empty array has no
    /// result.
    Greatest,
    /// The minimum of the element type. The value only initializes the state; the reduction of an empty array has no
    /// result.
    Least,
}

/// One reduction function, defined by its state.
#[derive(Debug)]
pub struct ReductionEntry {
    /// The function's name in NumPy.
    pub name: &'static str,
    /// The type in which the reduction is computed.
    pub computed: Computed,
    /// The type of the results.
    pub output: ResultType,
    /// The C type of the state's first member.
    pub first: &'static str,
    /// C declarations of the state's members after the first one.
    pub others: &'static str,
    /// Maximum total size in bytes of the state's members, apart from at most two members of the element type.
    pub bytes: usize,
    /// Initial state, before any element is added: the value of the first member, and C source for the values of the
    /// other members. In this source, `at` is the smallest index that an element of the state can have.
    pub neutral: (Neutral, &'static str),
    /// Code that computes the state of a single element.
    pub map: &'static str,
    /// Code that adds element `{x}` to state `a`, whose elements all precede `{x}`. The text is empty if it costs no
    /// more to compute the state of `{x}` by the code `map` and then to join it into `a` by the code `join`.
    pub take: &'static str,
    /// Code that adds the first `valid` of the `N` elements in the array `x` to state `a`. The text is empty if adding
    /// the elements one by one costs no more.
    pub batch: &'static str,
    /// Code that joins state `b` into state `a`.
    pub join: &'static str,
    /// Expression that computes the result from state `a`.
    pub finish: &'static str,
    /// Whether floats and complex numbers are supported.
    pub of_floats: bool,
    /// Whether the result depends on the elements' indices. The axes are then traversed in C order.
    pub is_numbered: bool,
}

const SIMPLE: ReductionEntry = ReductionEntry {
    name: "",
    computed: Computed::Own,
    output: ResultType::Computed,
    first: "{T}",
    others: "",
    bytes: 0,
    neutral: (Neutral::Text("0"), ""),
    map: "{x}",
    take: "",
    batch: "",
    join: "",
    finish: "a.first",
    of_floats: true,
    is_numbered: false,
};

const OF_BITS: ReductionEntry = ReductionEntry { of_floats: false, ..SIMPLE };
const OF_TRUTHS: ReductionEntry =
    ReductionEntry { output: ResultType::Fixed(ScalarType::Bool), first: "bool", map: "({x}) != {T}(0)", ..SIMPLE };

// If an element is NaN, the result is NaN: a state with a NaN is never replaced, and a NaN replaces every other state.
const LESS: &str = "if (!(PYGPU_LESS(a.first, b.first) || a.first != a.first)) a.first = b.first;";
const GREATER: &str = "if (!(PYGPU_LESS(b.first, a.first) || a.first != a.first)) a.first = b.first;";
// Among equal elements, the first is selected. A NaN takes precedence over all numbers.
const FIRST_LESS: &str = "bool later = b.at < a.at, nan = b.first != b.first;\n\
    if (a.first != a.first ? nan && later : nan || PYGPU_LESS(b.first, a.first) || (b.first == a.first && later)) a = b;";
const FIRST_GREATER: &str = "bool later = b.at < a.at, nan = b.first != b.first;\n\
    if (a.first != a.first ? nan && later : nan || PYGPU_LESS(a.first, b.first) || (b.first == a.first && later)) a = b;";
// Adds an element that follows all elements in the state, by the rules of `FIRST_LESS` and `FIRST_GREATER`: among equal
// elements, the one in the state stays selected.
const TAKE_LESS: &str = "if (!(PYGPU_LESS_EQUAL(a.first, {x})) && a.first == a.first) { a.first = {x}; a.at = at; }";
const TAKE_GREATER: &str = "if (!(PYGPU_LESS_EQUAL({x}, a.first)) && a.first == a.first) { a.first = {x}; a.at = at; }";
// The state of a mean contains one of the elements, `first`, and the difference of the mean from `first`. This
// difference is small and therefore precise even if all elements are far from zero.
const MOMENTS: &str = "if (b.n != 0) { if (a.n == 0) { a = b; } else {\n\
    const pygpu_number n = a.n + b.n; const {R} part = ({R})b.n / ({R})n;\n\
    const {T} apart = (b.first - a.first) + (b.mean - a.mean);\n\
    a.m += b.m + {square} * ({R})a.n * part; a.mean = a.mean + apart * part; a.n = n; } }";
const MOMENTS_OF_BATCH: &str = "if (a.n == 0) a.first = x[0];\n\
    {T} sum = {T}(0); {R} m = 0;\n\
    #pragma unroll\n\
    for (int j = 0; j < N; j++) if (j < valid) sum = sum + (x[j] - a.first);\n\
    const {T} mean = sum * (({R})1 / ({R})valid);\n\
    #pragma unroll\n\
    for (int j = 0; j < N; j++) if (j < valid) {\n\
    const {T} apart = (x[j] - a.first) - mean; m += {square}; }\n\
    const pygpu_state b = {a.first, mean, m, (pygpu_number)valid}; pygpu_join(a, b);";

const EXTREMES: &str = "if (!(PYGPU_LESS(a.first, b.first) || a.first != a.first)) a.first = b.first;\n\
    if (!(PYGPU_LESS(b.most, a.most) || a.most != a.most)) a.most = b.most;";
// NaNs are skipped. The state's member `seen` is true if at least one element was not NaN.
const NAN_LESS: &str = "if (b.seen) { if (!a.seen || PYGPU_LESS(b.first, a.first)) a.first = b.first; a.seen = true; }";
const NAN_GREATER: &str =
    "if (b.seen) { if (!a.seen || PYGPU_LESS(a.first, b.first)) a.first = b.first; a.seen = true; }";
const NAN_FIRST_LESS: &str =
    "if (b.seen && (!a.seen || PYGPU_LESS(b.first, a.first) || (b.first == a.first && b.at < a.at))) a = b;";
const NAN_FIRST_GREATER: &str =
    "if (b.seen && (!a.seen || PYGPU_LESS(a.first, b.first) || (b.first == a.first && b.at < a.at))) a = b;";
const NAN_TAKE_LESS: &str =
    "if ({x} == {x} && (!a.seen || PYGPU_LESS({x}, a.first))) { a.first = {x}; a.at = at; a.seen = true; }";
const NAN_TAKE_GREATER: &str =
    "if ({x} == {x} && (!a.seen || PYGPU_LESS(a.first, {x}))) { a.first = {x}; a.at = at; a.seen = true; }";
const NAN_MOMENTS_OF_BATCH: &str = "int n = 0; {T} sum = {T}(0); {R} m = 0;\n\
    #pragma unroll\n\
    for (int j = 0; j < N; j++) if (j < valid && x[j] == x[j]) {\n\
    if (a.n == 0 && n == 0) a.first = x[j];\n\
    sum = sum + (x[j] - a.first); n++; }\n\
    if (n > 0) { const {T} mean = sum * (({R})1 / ({R})n);\n\
    #pragma unroll\n\
    for (int j = 0; j < N; j++) if (j < valid && x[j] == x[j]) {\n\
    const {T} apart = (x[j] - a.first) - mean; m += {square}; }\n\
    const pygpu_state b = {a.first, mean, m, (pygpu_number)n}; pygpu_join(a, b); }";
const IF_NUMBER: &str = "({x}) == ({x}) ? ({x}) : {T}(0)";
const SEEN: &str = "a.seen ? a.first : a.first - a.first";

/// All reductions.
pub static TABLE: &[ReductionEntry] = &[
    ReductionEntry { name: "sum", computed: Computed::Wide, join: "a.first = a.first + b.first;", ..SIMPLE },
    ReductionEntry {
        name: "prod",
        computed: Computed::Wide,
        neutral: (Neutral::Text("1"), ""),
        join: "a.first = a.first * b.first;",
        ..SIMPLE
    },
    ReductionEntry { name: "min", neutral: (Neutral::Greatest, ""), join: LESS, ..SIMPLE },
    ReductionEntry { name: "max", neutral: (Neutral::Least, ""), join: GREATER, ..SIMPLE },
    ReductionEntry { name: "any", join: "a.first = a.first || b.first;", ..OF_TRUTHS },
    ReductionEntry {
        name: "all",
        neutral: (Neutral::Text("1"), ""),
        join: "a.first = a.first && b.first;",
        ..OF_TRUTHS
    },
    ReductionEntry { name: "logical_xor", join: "a.first = a.first != b.first;", ..OF_TRUTHS },
    ReductionEntry {
        name: "bitwise_and",
        neutral: (Neutral::Text("~0"), ""),
        join: "a.first = a.first & b.first;",
        ..OF_BITS
    },
    ReductionEntry { name: "bitwise_or", join: "a.first = a.first | b.first;", ..OF_BITS },
    ReductionEntry { name: "bitwise_xor", join: "a.first = a.first ^ b.first;", ..OF_BITS },
    ReductionEntry {
        name: "ptp",
        others: "{T} most;",
        neutral: (Neutral::Greatest, ", ({T})({least})"),
        map: "{x}, {x}",
        join: EXTREMES,
        finish: "a.most - a.first",
        ..SIMPLE
    },
    ReductionEntry {
        name: "norm_1",
        computed: Computed::Real,
        output: ResultType::Real,
        first: "{R}",
        map: "{size}",
        join: "a.first += b.first;",
        ..SIMPLE
    },
    ReductionEntry {
        name: "norm_2",
        computed: Computed::Real,
        output: ResultType::Real,
        first: "{R}",
        map: "{squared}",
        join: "a.first += b.first;",
        finish: "sqrt(a.first)",
        ..SIMPLE
    },
    ReductionEntry {
        name: "count_nonzero",
        output: ResultType::Fixed(ScalarType::Int64),
        first: "long long",
        map: "({x}) != {T}(0) ? 1 : 0",
        join: "a.first += b.first;",
        ..SIMPLE
    },
    ReductionEntry {
        name: "mean",
        computed: Computed::Real,
        others: "pygpu_number n;",
        bytes: 8,
        neutral: (Neutral::Text("0"), ", 0"),
        map: "{x}, 1",
        join: "a.first = a.first + b.first; a.n += b.n;",
        finish: "a.first / ({R})a.n",
        ..SIMPLE
    },
    ReductionEntry {
        name: "var",
        computed: Computed::Real,
        output: ResultType::Real,
        others: "{T} mean; {R} m; pygpu_number n;",
        bytes: 24,
        neutral: (Neutral::Text("0"), ", {T}(0), 0, 0"),
        map: "{x}, {T}(0), 0, 1",
        join: MOMENTS,
        batch: MOMENTS_OF_BATCH,
        finish: "a.m / ({R})(a.n - less > 0 ? a.n - less : 0)",
        ..SIMPLE
    },
    ReductionEntry {
        name: "argmin",
        output: ResultType::Fixed(ScalarType::Int64),
        others: "pygpu_number at;",
        bytes: 16,
        neutral: (Neutral::Greatest, ", at"),
        map: "{x}, at",
        take: TAKE_LESS,
        join: FIRST_LESS,
        finish: "a.at",
        is_numbered: true,
        ..SIMPLE
    },
    ReductionEntry {
        name: "argmax",
        output: ResultType::Fixed(ScalarType::Int64),
        others: "pygpu_number at;",
        bytes: 16,
        neutral: (Neutral::Least, ", at"),
        map: "{x}, at",
        take: TAKE_GREATER,
        join: FIRST_GREATER,
        finish: "a.at",
        is_numbered: true,
        ..SIMPLE
    },
    ReductionEntry {
        name: "nansum",
        computed: Computed::Wide,
        map: IF_NUMBER,
        join: "a.first = a.first + b.first;",
        ..SIMPLE
    },
    ReductionEntry {
        name: "nanprod",
        computed: Computed::Wide,
        neutral: (Neutral::Text("1"), ""),
        map: "({x}) == ({x}) ? ({x}) : {T}(1)",
        join: "a.first = a.first * b.first;",
        ..SIMPLE
    },
    ReductionEntry {
        name: "nanmin",
        others: "bool seen;",
        bytes: 8,
        neutral: (Neutral::Greatest, ", false"),
        map: "{x}, {x} == {x}",
        join: NAN_LESS,
        finish: SEEN,
        ..SIMPLE
    },
    ReductionEntry {
        name: "nanmax",
        others: "bool seen;",
        bytes: 8,
        neutral: (Neutral::Least, ", false"),
        map: "{x}, {x} == {x}",
        join: NAN_GREATER,
        finish: SEEN,
        ..SIMPLE
    },
    ReductionEntry {
        name: "nanmean",
        computed: Computed::Real,
        others: "pygpu_number n;",
        bytes: 8,
        neutral: (Neutral::Text("0"), ", 0"),
        map: "({x}) == ({x}) ? ({x}) : {T}(0), ({x}) == ({x}) ? 1u : 0u",
        join: "a.first = a.first + b.first; a.n += b.n;",
        finish: "a.first / ({R})a.n",
        ..SIMPLE
    },
    ReductionEntry {
        name: "nanvar",
        computed: Computed::Real,
        output: ResultType::Real,
        others: "{T} mean; {R} m; pygpu_number n;",
        bytes: 24,
        neutral: (Neutral::Text("0"), ", {T}(0), 0, 0"),
        map: "({x}) == ({x}) ? ({x}) : {T}(0), {T}(0), 0, ({x}) == ({x}) ? 1u : 0u",
        join: MOMENTS,
        batch: NAN_MOMENTS_OF_BATCH,
        finish: "a.n - less > 0 ? a.m / ({R})(a.n - less) : (a.m - a.m) / ({R})0",
        ..SIMPLE
    },
    ReductionEntry {
        name: "nanargmin",
        output: ResultType::Fixed(ScalarType::Int64),
        others: "pygpu_number at; bool seen;",
        bytes: 16,
        neutral: (Neutral::Greatest, ", at, false"),
        map: "{x}, at, {x} == {x}",
        take: NAN_TAKE_LESS,
        join: NAN_FIRST_LESS,
        finish: "a.seen ? (long long)a.at : -1LL",
        is_numbered: true,
        ..SIMPLE
    },
    ReductionEntry {
        name: "nanargmax",
        output: ResultType::Fixed(ScalarType::Int64),
        others: "pygpu_number at; bool seen;",
        bytes: 16,
        neutral: (Neutral::Least, ", at, false"),
        map: "{x}, at, {x} == {x}",
        take: NAN_TAKE_GREATER,
        join: NAN_FIRST_GREATER,
        finish: "a.seen ? (long long)a.at : -1LL",
        is_numbered: true,
        ..SIMPLE
    },
];

/// Returns the entry of the reduction function with the given name.
pub fn row(name: &str) -> Option<&'static ReductionEntry> {
    TABLE.iter().find(|row| row.name == name)
}

impl ReductionEntry {
    /// Returns the default type of the computation for elements of type `kind`.
    pub fn computed(&self, kind: ScalarType) -> ScalarType {
        use ScalarType::*;
        match (self.computed, kind) {
            (Computed::Wide, Bool | Int8 | Int16 | Int32) => Int64,
            (Computed::Wide, UInt8 | UInt16 | UInt32) => UInt64,
            (Computed::Real, Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64) => Float64,
            _ => kind,
        }
    }

    /// Returns the type of the results if the reduction is computed in type `computed`.
    pub fn output(&self, computed: ScalarType) -> ScalarType {
        match (self.output, computed) {
            (ResultType::Fixed(kind), _) => kind,
            (ResultType::Real, ScalarType::Complex64) => ScalarType::Float32,
            (ResultType::Real, ScalarType::Complex128) => ScalarType::Float64,
            _ => computed,
        }
    }

    /// Whether the result depends only on the elements' truth values, as for `all` and `any`.
    pub fn is_of_truths(&self) -> bool {
        self.output == ResultType::Fixed(ScalarType::Bool)
    }

    /// Whether the reduction has a result if there are no elements to reduce.
    pub fn has_neutral(&self) -> bool {
        matches!(self.neutral.0, Neutral::Text(_))
    }

    /// Whether the function compares elements by less and greater, as `min` and `argmax` do.
    pub fn is_of_order(&self) -> bool {
        !self.has_neutral()
    }

    /// Returns the maximum size of a state in bytes.
    pub fn state_bytes(&self, computed: ScalarType) -> usize {
        (2 * DType::new(computed).itemsize().max(8) + self.bytes).next_multiple_of(16)
    }
}
