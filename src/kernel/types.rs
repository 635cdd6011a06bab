//! Defines C types of kernel parameters, and the dtypes of arrays that match them.

use std::collections::HashMap;
use std::fmt;

use pygpu_base::dtype::{DType, ScalarType};

/// The type of the elements to which a pointer parameter points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// A scalar type that corresponds to a dtype.
    Named(ScalarType),
    /// A vector type such as `float4`: the type and the number of its components. Arrays of the component type match,
    /// as do arrays whose items have the vector's size.
    Vector(ScalarType, u8),
    /// An unknown type: arrays of every dtype match.
    Any,
}

/// The properties of a kernel parameter's type, as far as they are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// A pointer.
    Pointer {
        /// The type of the elements to which the pointer points.
        element: Element,
        /// Whether the pointer points to `const`, so that the kernel only reads through the pointer.
        constant: bool,
    },
    /// A scalar that corresponds to a dtype.
    Scalar(ScalarType),
    /// A value of any type with this size in bytes.
    Bytes(usize),
    /// An unknown type.
    Unknown,
}

/// One parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// The parameter's name; empty if unknown.
    pub name: String,
    /// The parameter's type as written in the source.
    pub spelled: String,
    /// The known properties of the parameter's type.
    pub kind: ParameterKind,
}

impl Parameter {
    /// Creates a parameter without a name, as a signature of type codes defines it.
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

/// Replacements of names by other tokens: typedefs, simple macros, and template parameters. The value is `None` for a
/// name with several definitions.
pub type Aliases = HashMap<String, Option<String>>;

const LONG: ScalarType = if cfg!(windows) { ScalarType::Int32 } else { ScalarType::Int64 };
const UNSIGNED_LONG: ScalarType = if cfg!(windows) { ScalarType::UInt32 } else { ScalarType::UInt64 };

/// C type names that consist of one word, and their scalar types.
const WORDS: &[(&str, ScalarType)] = &[
    ("bool", ScalarType::Bool),
    ("size_t", ScalarType::UInt64),
    ("ptrdiff_t", ScalarType::Int64),
    ("ssize_t", ScalarType::Int64),
    ("intptr_t", ScalarType::Int64),
    ("uintptr_t", ScalarType::UInt64),
    ("int8_t", ScalarType::Int8),
    ("int16_t", ScalarType::Int16),
    ("int32_t", ScalarType::Int32),
    ("int64_t", ScalarType::Int64),
    ("uint8_t", ScalarType::UInt8),
    ("uint16_t", ScalarType::UInt16),
    ("uint32_t", ScalarType::UInt32),
    ("uint64_t", ScalarType::UInt64),
    ("uchar", ScalarType::UInt8),
    ("ushort", ScalarType::UInt16),
    ("uint", ScalarType::UInt32),
    ("ulong", UNSIGNED_LONG),
    ("float", ScalarType::Float32),
    ("double", ScalarType::Float64),
    ("half", ScalarType::Float16),
    ("__half", ScalarType::Float16),
    ("_Float16", ScalarType::Float16),
    ("__nv_bfloat16", ScalarType::BFloat16),
    ("nv_bfloat16", ScalarType::BFloat16),
    ("__hip_bfloat16", ScalarType::BFloat16),
    ("hip_bfloat16", ScalarType::BFloat16),
    ("cuComplex", ScalarType::Complex64),
    ("cuFloatComplex", ScalarType::Complex64),
    ("cuDoubleComplex", ScalarType::Complex128),
    ("hipFloatComplex", ScalarType::Complex64),
    ("hipDoubleComplex", ScalarType::Complex128),
    ("cudaGraphConditionalHandle", ScalarType::UInt64),
    ("cudaTextureObject_t", ScalarType::UInt64),
    ("cudaSurfaceObject_t", ScalarType::UInt64),
    ("hipTextureObject_t", ScalarType::UInt64),
    ("hipSurfaceObject_t", ScalarType::UInt64),
];

/// Names of the vector types of CUDA and HIP, without the number of components.
const VECTORS: &[(&str, ScalarType)] = &[
    ("char", ScalarType::Int8),
    ("uchar", ScalarType::UInt8),
    ("short", ScalarType::Int16),
    ("ushort", ScalarType::UInt16),
    ("int", ScalarType::Int32),
    ("uint", ScalarType::UInt32),
    ("longlong", ScalarType::Int64),
    ("ulonglong", ScalarType::UInt64),
    ("long", LONG),
    ("ulong", UNSIGNED_LONG),
    ("float", ScalarType::Float32),
    ("double", ScalarType::Float64),
];

/// The words that form the names of C's basic types.
pub const BASIC: [&str; 9] = ["unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool"];

/// Returns the element type of a C type name, which consists of one or more words.
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

/// Joins tokens of a type to a text, with single spaces between words. Omits qualifiers that do not change a type's
/// size.
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
            Some("float") => Some(Element::Named(ScalarType::Complex64)),
            Some("double") => Some(Element::Named(ScalarType::Complex128)),
            _ => None,
        };
    }
    let lanes = text.bytes().last().filter(|last| (b'1'..=b'4').contains(last))? - b'0';
    let (_, kind) = VECTORS.iter().find(|(name, _)| *name == &text[..text.len() - 1])?;
    Some(Element::Vector(*kind, lanes))
}

/// Returns the basic type that has a name such as `unsigned long int`. The words may be in any order.
fn basic(text: &str) -> Option<ScalarType> {
    let words: Vec<&str> = text.split(' ').collect();
    if !words.iter().all(|word| BASIC.contains(word)) {
        return None;
    }
    let count = |word| words.iter().filter(|other| **other == word).count();
    let unsigned = count("unsigned") > 0;
    Some(match () {
        () if count("double") > 0 && count("long") == 0 => ScalarType::Float64,
        () if count("float") > 0 => ScalarType::Float32,
        () if count("double") > 0 => return None,
        () if count("bool") > 0 => ScalarType::Bool,
        () if count("char") > 0 => pick(unsigned, ScalarType::UInt8, ScalarType::Int8),
        () if count("short") > 0 => pick(unsigned, ScalarType::UInt16, ScalarType::Int16),
        () if count("long") > 1 => pick(unsigned, ScalarType::UInt64, ScalarType::Int64),
        () if count("long") == 1 => pick(unsigned, UNSIGNED_LONG, LONG),
        () => pick(unsigned, ScalarType::UInt32, ScalarType::Int32),
    })
}

fn pick(first: bool, one: ScalarType, other: ScalarType) -> ScalarType {
    if first { one } else { other }
}

/// Families of element types. A value of one family is never read as a type of another family.
#[derive(PartialEq, Eq)]
enum TypeFamily {
    Integer,
    Float,
    BFloat,
    Complex,
    Other(ScalarType),
}

fn family(kind: ScalarType) -> TypeFamily {
    use ScalarType::*;
    match kind {
        Bool | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => TypeFamily::Integer,
        Float16 | Float32 | Float64 => TypeFamily::Float,
        BFloat16 => TypeFamily::BFloat,
        Complex64 | Complex128 => TypeFamily::Complex,
        other => TypeFamily::Other(other),
    }
}

/// Returns whether a value of `dtype` can be read as the type `declared` without conversion. Integers of equal
/// size may differ in signedness, as is common in C programs.
pub fn fits(declared: ScalarType, dtype: DType) -> bool {
    let (one, other) = (family(declared), family(dtype.kind()));
    // C programs commonly use an 8-bit integer type for 8-bit types that have no arithmetic in C, such as 8-bit floats.
    let is_byte = one == TypeFamily::Integer
        && dtype.itemsize() == 1
        && matches!(other, TypeFamily::Other(kind) if kind != ScalarType::Opaque);
    (one == other || is_byte) && DType::new(declared).itemsize() == dtype.itemsize()
}

impl Element {
    /// Returns whether an array of `dtype` may be passed for a pointer parameter with this element type.
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            Self::Any => true,
            Self::Named(kind) => fits(kind, dtype),
            Self::Vector(kind, lanes) => {
                let bytes = DType::new(kind).itemsize() * usize::from(lanes);
                let is_complex =
                    matches!(dtype.kind(), ScalarType::Complex64 | ScalarType::Complex128) && dtype.itemsize() == bytes;
                fits(kind, dtype) || is_complex || dtype.kind() == ScalarType::Opaque
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
    fn basic_types_are_parsed_in_any_word_order() {
        for (text, kind) in [
            ("unsigned", ScalarType::UInt32),
            ("unsigned int", ScalarType::UInt32),
            ("int unsigned", ScalarType::UInt32),
            ("long long unsigned int", ScalarType::UInt64),
            ("const signed char", ScalarType::Int8),
            ("short int", ScalarType::Int16),
            ("double const", ScalarType::Float64),
            ("size_t", ScalarType::UInt64),
            ("std :: int32_t", ScalarType::Int32),
            ("__half", ScalarType::Float16),
            ("pycuda :: complex < float >", ScalarType::Complex64),
            ("cuda :: std :: complex < double >", ScalarType::Complex128),
            ("cuDoubleComplex", ScalarType::Complex128),
        ] {
            assert_eq!(of(text), Element::Named(kind), "{text}");
        }
        assert_eq!(of("float4"), Element::Vector(ScalarType::Float32, 4));
        assert_eq!(of("ulonglong2"), Element::Vector(ScalarType::UInt64, 2));
        for text in ["long double", "struct Particle", "T", "float5", "thrust :: complex < T >"] {
            assert_eq!(of(text), Element::Any, "{text}");
        }
    }

    #[test]
    fn type_alias_is_resolved_unless_ambiguous() {
        let alias = |name: &str, meaning: Option<&str>| (name.to_owned(), meaning.map(str::to_owned));
        let aliases: Aliases =
            [alias("real", Some("value_t")), alias("value_t", Some("double")), alias("T", None), alias("A", Some("A"))]
                .into();
        assert_eq!(element(&["real"], &aliases), Element::Named(ScalarType::Float64));
        assert_eq!(element(&["T"], &aliases), Element::Any);
        assert_eq!(element(&["A"], &aliases), Element::Any);
    }

    #[test]
    fn size_and_kind_decide_whether_dtype_matches() {
        let takes = |text: &str, kind: ScalarType| of(text).takes(DType::new(kind));
        assert!(
            takes("float", ScalarType::Float32)
                && !takes("double", ScalarType::Float32)
                && !takes("int", ScalarType::Float32)
        );
        assert!(
            takes("unsigned", ScalarType::Int32)
                && !takes("int", ScalarType::Int64)
                && takes("unsigned char", ScalarType::Bool)
        );
        assert!(
            takes("float4", ScalarType::Float32)
                && takes("float2", ScalarType::Complex64)
                && !takes("float2", ScalarType::Float64)
        );
        assert!(
            takes("Particle", ScalarType::Int64)
                && !takes("half", ScalarType::BFloat16)
                && !takes("short", ScalarType::Float16)
        );
        assert!(takes("unsigned char", ScalarType::Float8E5M2));
        assert!(of("float4").takes(DType::opaque(16, 1)) && !of("float").takes(DType::opaque(4, 1)));
    }
}
