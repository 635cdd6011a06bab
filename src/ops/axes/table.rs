//! The table of reductions: one row for each function of NumPy's that makes few elements of many.
//!
//! A reduction is told by its state. `{x}` is an element in the type in which is computed, `{T}` that type, `{R}` its real type,
//! `{at}` the element's number among those that are reduced; `a` and `b` are two states, `{n}` the number of elements less what
//! the caller takes from it. States may be joined in any order, so a join does not depend on it but for rounding.

use crate::dtype::{DType, Kind};

/// In which type is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Computed {
    /// The elements'.
    Own,
    /// The elements', but no whole number in fewer than 64 bits.
    Wide,
    /// The elements', but whole numbers in float64.
    Real,
}

/// Of which type the results are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// That in which is computed.
    Computed,
    /// The real one of that.
    Real,
    /// Always this one.
    Fixed(Kind),
}

/// What no element is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Neutral {
    /// A value that changes no other.
    Text(&'static str),
    /// The greatest value of the type, or the least. There is no result of no elements.
    Greatest,
    /// See there.
    Least,
}

/// One reduction.
#[derive(Debug)]
pub struct Row {
    /// Its name, which is NumPy's.
    pub name: &'static str,
    /// In which type is computed.
    pub computed: Computed,
    /// Of which type the results are.
    pub output: Output,
    /// The members of the state behind the first one, which is of the type `first`.
    pub first: &'static str,
    /// As C declares them.
    pub others: &'static str,
    /// The bytes that they take at most, beside twice those of an element.
    pub bytes: usize,
    /// The state of no elements: its first member, and the others.
    pub neutral: (Neutral, &'static str),
    /// That of one.
    pub map: &'static str,
    /// Changes state `a` into that of both `a` and `b`.
    pub join: &'static str,
    /// The result.
    pub finish: &'static str,
    /// Whether complex numbers have it.
    pub of_complex: bool,
    /// Whether the number of an element matters, so that the axes are gone along in C order.
    pub is_numbered: bool,
}

const SIMPLE: Row = Row {
    name: "",
    computed: Computed::Own,
    output: Output::Computed,
    first: "{T}",
    others: "",
    bytes: 0,
    neutral: (Neutral::Text("0"), ""),
    map: "{x}",
    join: "",
    finish: "a.first",
    of_complex: true,
    is_numbered: false,
};

// A NaN is passed on, and of a value and itself the first is as good.
const LESS: &str = "if (!(a.first < b.first || a.first != a.first)) a.first = b.first;";
const GREATER: &str = "if (!(a.first > b.first || a.first != a.first)) a.first = b.first;";
// Of equal ones the first; a NaN before all others.
const FIRST_LESS: &str = "bool later = b.at < a.at, nan = b.first != b.first;\n\
    if (a.first != a.first ? nan && later : nan || b.first < a.first || (b.first == a.first && later)) a = b;";
const FIRST_GREATER: &str = "bool later = b.at < a.at, nan = b.first != b.first;\n\
    if (a.first != a.first ? nan && later : nan || b.first > a.first || (b.first == a.first && later)) a = b;";
const MOMENTS: &str = "if (b.n != 0) {\n\
    double n = a.n + b.n; {R} part = ({R})(b.n / n); {T} apart = b.first - a.first;\n\
    a.m += b.m + {square} * ({R})a.n * part; a.first = a.first + apart * part; a.n = n; }";

/// All of them.
pub static TABLE: &[Row] = &[
    Row { name: "sum", computed: Computed::Wide, join: "a.first = a.first + b.first;", ..SIMPLE },
    Row {
        name: "prod",
        computed: Computed::Wide,
        neutral: (Neutral::Text("1"), ""),
        join: "a.first = a.first * b.first;",
        ..SIMPLE
    },
    Row { name: "min", neutral: (Neutral::Greatest, ""), join: LESS, of_complex: false, ..SIMPLE },
    Row { name: "max", neutral: (Neutral::Least, ""), join: GREATER, of_complex: false, ..SIMPLE },
    Row {
        name: "any",
        output: Output::Fixed(Kind::Bool),
        first: "bool",
        map: "({x}) != {T}(0)",
        join: "a.first = a.first || b.first;",
        ..SIMPLE
    },
    Row {
        name: "all",
        output: Output::Fixed(Kind::Bool),
        first: "bool",
        neutral: (Neutral::Text("1"), ""),
        map: "({x}) != {T}(0)",
        join: "a.first = a.first && b.first;",
        ..SIMPLE
    },
    Row {
        name: "count_nonzero",
        output: Output::Fixed(Kind::Int64),
        first: "long long",
        map: "({x}) != {T}(0) ? 1 : 0",
        join: "a.first += b.first;",
        ..SIMPLE
    },
    Row {
        name: "mean",
        computed: Computed::Real,
        others: "double n;",
        bytes: 8,
        neutral: (Neutral::Text("0"), ", 0"),
        map: "{x}, 1",
        join: "a.first = a.first + b.first; a.n += b.n;",
        finish: "a.first / ({R})a.n",
        ..SIMPLE
    },
    Row {
        name: "var",
        computed: Computed::Real,
        output: Output::Real,
        others: "{R} m; double n;",
        bytes: 24,
        neutral: (Neutral::Text("0"), ", 0, 0"),
        map: "{x}, 0, 1",
        join: MOMENTS,
        finish: "a.n - less > 0 ? a.m / ({R})(a.n - less) : ({R})0 / ({R})0 * a.m",
        ..SIMPLE
    },
    Row {
        name: "argmin",
        output: Output::Fixed(Kind::Int64),
        others: "long long at;",
        bytes: 16,
        neutral: (Neutral::Greatest, ", 0x7fffffffffffffffLL"),
        map: "{x}, (long long){at}",
        join: FIRST_LESS,
        finish: "a.at",
        of_complex: false,
        is_numbered: true,
        ..SIMPLE
    },
    Row {
        name: "argmax",
        output: Output::Fixed(Kind::Int64),
        others: "long long at;",
        bytes: 16,
        neutral: (Neutral::Least, ", 0x7fffffffffffffffLL"),
        map: "{x}, (long long){at}",
        join: FIRST_GREATER,
        finish: "a.at",
        of_complex: false,
        is_numbered: true,
        ..SIMPLE
    },
];

/// The row of a name.
pub fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

impl Row {
    /// The type in which elements of a kind are reduced, unless another is asked for.
    pub fn computed(&self, kind: Kind) -> Kind {
        use Kind::*;
        match (self.computed, kind) {
            (Computed::Wide, Bool | Int8 | Int16 | Int32) => Int64,
            (Computed::Wide, UInt8 | UInt16 | UInt32) => UInt64,
            (Computed::Real, Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64) => Float64,
            _ => kind,
        }
    }

    /// The type of the results of a reduction that computes in a kind.
    pub fn output(&self, computed: Kind) -> Kind {
        match (self.output, computed) {
            (Output::Fixed(kind), _) => kind,
            (Output::Real, Kind::Complex64) => Kind::Float32,
            (Output::Real, Kind::Complex128) => Kind::Float64,
            _ => computed,
        }
    }

    /// Whether there is a result of no elements.
    pub fn has_neutral(&self) -> bool {
        matches!(self.neutral.0, Neutral::Text(_))
    }

    /// Bytes of a state, at most.
    pub fn state_bytes(&self, computed: Kind) -> usize {
        (2 * DType::new(computed).itemsize().max(8) + self.bytes).next_multiple_of(16)
    }
}
