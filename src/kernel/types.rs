//! C types of kernel parameters, and the array dtypes that match them.

use std::collections::HashMap;
use std::fmt;

use pygpu_base::dtype::{DType, Kind};

/// The type that a pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// A scalar type of the table.
    Named(Kind),
    /// A vector type such as `float4`. Arrays of its components, or of items of its size, match.
    Vector(Kind, u8),
    /// Unknown: every dtype matches.
    Any,
}

/// The kind of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// A pointer.
    Pointer {
        /// Its element type.
        element: Element,
        /// Whether the kernel only reads through it.
        constant: bool,
    },
    /// A scalar of the table.
    Scalar(Kind),
    /// A value of this size in bytes, of any type.
    Bytes(usize),
    /// An unknown type.
    Unknown,
}

/// One parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name, or empty.
    pub name: String,
    /// Its type as written in the source.
    pub spelled: String,
    /// Its kind.
    pub kind: ParameterKind,
}

impl Parameter {
    /// A parameter known from a signature only, without a name.
    pub fn unnamed(spelled: impl Into<String>, kind: ParameterKind) -> Self {
        Self { name: String::new(), spelled: spelled.into(), kind }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.spelled.is_empty(), self.name.is_empty()) {
            (_, true) => f.write_str(&self.spelled),
            (true, false) => f.write_str(&self.name),
            (false, false) => write!(f, "{} {}", self.spelled, self.name),
        }
    }
}

/// Names that stand for other tokens: typedefs, simple macros, template parameters. `None` for an ambiguous name.
pub type Aliases = HashMap<String, Option<String>>;

const LONG: Kind = if cfg!(windows) { Kind::Int32 } else { Kind::Int64 };
const UNSIGNED_LONG: Kind = if cfg!(windows) { Kind::UInt32 } else { Kind::UInt64 };

/// Single-word type names.
const WORDS: &[(&str, Kind)] = &[
    ("bool", Kind::Bool),
    ("size_t", Kind::UInt64),
    ("ptrdiff_t", Kind::Int64),
    ("ssize_t", Kind::Int64),
    ("intptr_t", Kind::Int64),
    ("uintptr_t", Kind::UInt64),
    ("int8_t", Kind::Int8),
    ("int16_t", Kind::Int16),
    ("int32_t", Kind::Int32),
    ("int64_t", Kind::Int64),
    ("uint8_t", Kind::UInt8),
    ("uint16_t", Kind::UInt16),
    ("uint32_t", Kind::UInt32),
    ("uint64_t", Kind::UInt64),
    ("uchar", Kind::UInt8),
    ("ushort", Kind::UInt16),
    ("uint", Kind::UInt32),
    ("ulong", UNSIGNED_LONG),
    ("float", Kind::Float32),
    ("double", Kind::Float64),
    ("half", Kind::Float16),
    ("__half", Kind::Float16),
    ("_Float16", Kind::Float16),
    ("__nv_bfloat16", Kind::BFloat16),
    ("nv_bfloat16", Kind::BFloat16),
    ("__hip_bfloat16", Kind::BFloat16),
    ("hip_bfloat16", Kind::BFloat16),
    ("cuComplex", Kind::Complex64),
    ("cuFloatComplex", Kind::Complex64),
    ("cuDoubleComplex", Kind::Complex128),
    ("hipFloatComplex", Kind::Complex64),
    ("hipDoubleComplex", Kind::Complex128),
    ("cudaGraphConditionalHandle", Kind::UInt64),
    ("cudaTextureObject_t", Kind::UInt64),
    ("cudaSurfaceObject_t", Kind::UInt64),
    ("hipTextureObject_t", Kind::UInt64),
    ("hipSurfaceObject_t", Kind::UInt64),
];

/// Vector types of CUDA and HIP, without their number of components.
const VECTORS: &[(&str, Kind)] = &[
    ("char", Kind::Int8),
    ("uchar", Kind::UInt8),
    ("short", Kind::Int16),
    ("ushort", Kind::UInt16),
    ("int", Kind::Int32),
    ("uint", Kind::UInt32),
    ("longlong", Kind::Int64),
    ("ulonglong", Kind::UInt64),
    ("long", LONG),
    ("ulong", UNSIGNED_LONG),
    ("float", Kind::Float32),
    ("double", Kind::Float64),
];

/// The words of C's basic types.
pub const BASIC: [&str; 9] = ["unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool"];

/// The element type for a type name of one or more words.
pub fn element(words: &[&str], aliases: &Aliases) -> Element {
    const DEEPEST: usize = 8;
    let mut text: String = joined(words);
    for _ in 0..DEEPEST {
        if let Some(found) = known(&text) {
            return found;
        }
        match aliases.get(&text) {
            Some(Some(meaning)) => text.clone_from(meaning),
            _ => return Element::Any,
        }
    }
    Element::Any
}

/// Joins tokens, with single spaces between words, and omits qualifiers that do not affect the size.
pub fn joined(words: &[&str]) -> String {
    const SILENT: [&str; 7] = ["const", "volatile", "struct", "typename", "class", "enum", "register"];
    let mut text = String::new();
    for word in words.iter().filter(|word| !SILENT.contains(word)) {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(is_name) && word.starts_with(is_name) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

fn known(text: &str) -> Option<Element> {
    let bare = text.strip_prefix("::").unwrap_or(text);
    let bare = bare.strip_prefix("std::").unwrap_or(bare);
    if let Some((_, kind)) = WORDS.iter().find(|(name, _)| *name == bare) {
        return Some(Element::Named(*kind));
    }
    if let Some(kind) = basic(text) {
        return Some(Element::Named(kind));
    }
    if let Some((_, inner)) = text.split_once("complex<") {
        return match inner.strip_suffix('>') {
            Some("float") => Some(Element::Named(Kind::Complex64)),
            Some("double") => Some(Element::Named(Kind::Complex128)),
            _ => None,
        };
    }
    let lanes = text.bytes().last().filter(|last| (b'1'..=b'4').contains(last))? - b'0';
    let (_, kind) = VECTORS.iter().find(|(name, _)| *name == &text[..text.len() - 1])?;
    Some(Element::Vector(*kind, lanes))
}

/// The basic types. Their words may be in any order.
fn basic(text: &str) -> Option<Kind> {
    let words: Vec<&str> = text.split(' ').collect();
    if !words.iter().all(|word| BASIC.contains(word)) {
        return None;
    }
    let count = |word| words.iter().filter(|other| **other == word).count();
    let unsigned = count("unsigned") > 0;
    Some(match () {
        () if count("double") > 0 && count("long") == 0 => Kind::Float64,
        () if count("float") > 0 => Kind::Float32,
        () if count("double") > 0 => return None,
        () if count("bool") > 0 => Kind::Bool,
        () if count("char") > 0 => pick(unsigned, Kind::UInt8, Kind::Int8),
        () if count("short") > 0 => pick(unsigned, Kind::UInt16, Kind::Int16),
        () if count("long") > 1 => pick(unsigned, Kind::UInt64, Kind::Int64),
        () if count("long") == 1 => pick(unsigned, UNSIGNED_LONG, LONG),
        () => pick(unsigned, Kind::UInt32, Kind::Int32),
    })
}

fn pick(first: bool, one: Kind, other: Kind) -> Kind {
    if first { one } else { other }
}

/// Classes of types that are not interchangeable: integers, floats, complex numbers.
#[derive(PartialEq, Eq)]
enum Family {
    Integer,
    Float,
    BFloat,
    Complex,
    Other(Kind),
}

fn family(kind: Kind) -> Family {
    use Kind::*;
    match kind {
        Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Family::Integer,
        Float16 | Float32 | Float64 => Family::Float,
        BFloat16 => Family::BFloat,
        Complex64 | Complex128 => Family::Complex,
        other => Family::Other(other),
    }
}

/// Whether values of one type can be read as the other without conversion. Integers of the same size may differ in
/// signedness, as is common in C programs.
pub fn fits(declared: Kind, given: DType) -> bool {
    let (one, other) = (family(declared), family(given.kind()));
    // 8-bit types without arithmetic are commonly declared as an 8-bit integer.
    let is_byte =
        one == Family::Integer && given.itemsize() == 1 && matches!(other, Family::Other(kind) if kind != Kind::Opaque);
    (one == other || is_byte) && DType::new(declared).itemsize() == given.itemsize()
}

impl Element {
    /// Whether an array of dtype `given` may be passed for this pointer.
    pub fn takes(self, given: DType) -> bool {
        match self {
            Self::Any => true,
            Self::Named(kind) => fits(kind, given),
            Self::Vector(kind, lanes) => {
                let bytes = DType::new(kind).itemsize() * usize::from(lanes);
                let is_complex =
                    matches!(given.kind(), Kind::Complex64 | Kind::Complex128) && given.itemsize() == bytes;
                fits(kind, given) || is_complex || given.kind() == Kind::Opaque
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    fn of(words: &str) -> Element {
        element(&words.split(' ').collect::<Vec<_>>(), &Aliases::new())
    }

    #[test]
    fn basic_types_may_be_spelled_in_any_order() {
        for (text, kind) in [
            ("unsigned", Kind::UInt32),
            ("unsigned int", Kind::UInt32),
            ("int unsigned", Kind::UInt32),
            ("long long unsigned int", Kind::UInt64),
            ("const signed char", Kind::Int8),
            ("short int", Kind::Int16),
            ("double const", Kind::Float64),
            ("size_t", Kind::UInt64),
            ("std :: int32_t", Kind::Int32),
            ("__half", Kind::Float16),
            ("pycuda :: complex < float >", Kind::Complex64),
            ("cuda :: std :: complex < double >", Kind::Complex128),
            ("cuDoubleComplex", Kind::Complex128),
        ] {
            assert_eq!(of(text), Element::Named(kind), "{text}");
        }
        assert_eq!(of("float4"), Element::Vector(Kind::Float32, 4));
        assert_eq!(of("ulonglong2"), Element::Vector(Kind::UInt64, 2));
        for text in ["long double", "struct Particle", "T", "float5", "thrust :: complex < T >"] {
            assert_eq!(of(text), Element::Any, "{text}");
        }
    }

    #[test]
    fn a_name_is_followed_to_what_it_stands_for_unless_it_means_two_things() {
        let alias = |name: &str, meaning: Option<&str>| (name.to_owned(), meaning.map(str::to_owned));
        let aliases: Aliases =
            [alias("real", Some("value_t")), alias("value_t", Some("double")), alias("T", None), alias("A", Some("A"))]
                .into();
        assert_eq!(element(&["real"], &aliases), Element::Named(Kind::Float64));
        assert_eq!(element(&["T"], &aliases), Element::Any);
        assert_eq!(element(&["A"], &aliases), Element::Any);
    }

    #[test]
    fn size_and_family_decide_what_fits() {
        let takes = |text: &str, kind: Kind| of(text).takes(DType::new(kind));
        assert!(takes("float", Kind::Float32) && !takes("double", Kind::Float32) && !takes("int", Kind::Float32));
        assert!(takes("unsigned", Kind::Int32) && !takes("int", Kind::Int64) && takes("unsigned char", Kind::Bool));
        assert!(takes("float4", Kind::Float32) && takes("float2", Kind::Complex64) && !takes("float2", Kind::Float64));
        assert!(takes("Particle", Kind::Int64) && !takes("half", Kind::BFloat16) && !takes("short", Kind::Float16));
        assert!(takes("unsigned char", Kind::Float8E5M2));
        assert!(of("float4").takes(DType::opaque(16, 1)) && !of("float").takes(DType::opaque(4, 1)));
    }
}
