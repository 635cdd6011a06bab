//! Defines radix-sort keys, which represent elements as unsigned integers with the same order.
//!
//! To convert a signed integer or a float to a key, its sign bit is flipped; all other bits of a negative float are
//! flipped too (Knuth, *The Art of Computer Programming* 3, 5.2.5, exercise 8). NaN is the largest key in both sort
//! directions. The key of a complex number consists of the keys of its real and its imaginary part. A complex number
//! with a NaN part follows all numbers without NaN, as in NumPy; its other part then determines the order among such
//! numbers.

use pygpu_base::dtype::{DType, ScalarType};

/// The type and the order of a sort, which determine how elements are converted to keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keys {
    /// The type of the elements.
    pub kind: ScalarType,
    /// Whether the order is descending.
    pub descending: bool,
    /// Whether 0 and -0 have the same key. Sorts that order equal elements by their positions require this.
    pub as_equal: bool,
}

/// Returns the unsigned C integer type that has the given number of bytes.
fn unsigned(bytes: usize) -> &'static str {
    match bytes {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned",
        _ => "unsigned long long",
    }
}

/// Constants of a floating-point type, for the conversion between its elements and sort keys.
struct Float {
    bytes: usize,
    /// The bit pattern of positive infinity.
    infinity: u64,
}

impl Float {
    fn of(kind: ScalarType) -> Option<Self> {
        let (bytes, infinity) = match kind {
            ScalarType::Float16 => (2, 0x7c00),
            ScalarType::BFloat16 => (2, 0x7f80),
            ScalarType::Float32 | ScalarType::Complex64 => (4, 0x7f80_0000),
            ScalarType::Float64 | ScalarType::Complex128 => (8, 0x7ff0_0000_0000_0000),
            _ => return None,
        };
        Some(Self { bytes, infinity })
    }
}

impl Keys {
    /// Returns the size of a sort key in bytes.
    pub fn bytes(&self) -> usize {
        DType::new(self.kind).itemsize()
    }

    /// Returns the number of radix passes, one for each byte of a key. The key of a bool has one byte, although only
    /// one bit of it is used.
    pub fn passes(&self) -> u32 {
        self.bytes() as u32
    }

    /// Returns the part of a kernel's cache key that describes its sort keys.
    pub fn identity(&self) -> [u8; 3] {
        [self.kind as u8, self.descending.into(), self.as_equal.into()]
    }

    /// Returns device code with the types and functions `pygpu_element`, `pygpu_key`, `pygpu_encode`, `pygpu_decode`,
    /// `pygpu_less`, `pygpu_differ`, `pygpu_has_nan`, `pygpu_digit` and `pygpu_greatest`.
    pub fn text(&self) -> String {
        let bytes = self.bytes();
        let mut text = match bytes {
            16 => "struct pygpu_key { unsigned long long low, high; };\n\
                   static __device__ inline bool pygpu_less(const pygpu_key &a, const pygpu_key &b) {\n\
                   \x20   return a.high < b.high || (a.high == b.high && a.low < b.low);\n}\n\
                   static __device__ inline bool pygpu_differ(const pygpu_key &a, const pygpu_key &b) {\n\
                   \x20   return a.high != b.high || a.low != b.low;\n}\n\
                   static __device__ inline unsigned pygpu_digit(const pygpu_key &key, int pass) {\n\
                   \x20   return (unsigned)((pass < 8 ? key.low : key.high) >> (8 * (pass & 7))) & 255;\n}\n\
                   static __device__ inline pygpu_key pygpu_greatest() { pygpu_key key = {~0ULL, ~0ULL}; return key; }\n"
                .to_owned(),
            _ => format!(
                "typedef {} pygpu_key;\n\
                 static __device__ inline bool pygpu_less(pygpu_key a, pygpu_key b) {{ return a < b; }}\n\
                 static __device__ inline bool pygpu_differ(pygpu_key a, pygpu_key b) {{ return a != b; }}\n\
                 static __device__ inline unsigned pygpu_digit(pygpu_key key, int pass) {{\n\
                 \x20   return (unsigned)(key >> (8 * pass)) & 255;\n}}\n\
                 static __device__ inline pygpu_key pygpu_greatest() {{ return (pygpu_key)~0ULL; }}\n",
                unsigned(bytes)
            ),
        };
        text.push_str(&match Float::of(self.kind) {
            Some(float) => self.of_float(&float),
            None => self.of_whole(),
        });
        text
    }

    fn of_whole(&self) -> String {
        let turned = if self.descending { "~" } else { "" };
        let sign = match self.kind {
            ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64 => {
                1_u64 << (8 * self.bytes() - 1)
            }
            _ => 0,
        };
        // The memory of a bool may contain any byte; every byte other than 0 counts as true.
        let bits = if self.kind == ScalarType::Bool { "(pygpu_key)(element != 0)" } else { "element" };
        // For descending order the key of a bool is inverted. The inversion also sets the bits above the lowest one, so
        // these bits are cleared.
        let back = if self.kind == ScalarType::Bool { " & 1" } else { "" };
        format!(
            "typedef pygpu_key pygpu_element;\n\
             static __device__ inline bool pygpu_has_nan(pygpu_element) {{ return false; }}\n\
             static __device__ inline pygpu_key pygpu_encode(pygpu_element element) {{\n\
             \x20   return (pygpu_key)({turned}({bits} ^ {sign}ULL));\n}}\n\
             static __device__ inline pygpu_element pygpu_decode(pygpu_key key) {{\n\
             \x20   return (pygpu_element)((({turned}key) ^ {sign}ULL){back});\n}}\n"
        )
    }

    fn of_float(&self, float: &Float) -> String {
        let Float { bytes, infinity } = *float;
        let (part, sign) = (unsigned(bytes), 1_u64 << (8 * bytes - 1));
        let (as_equal, turned) = (u8::from(self.as_equal), if self.descending { "~" } else { "" });
        // C source of the NaN test of an element, and of the conversions between element and key.
        let numbers = format!(
            "typedef {part} pygpu_part;\n\
             static __device__ inline bool pygpu_is_nan(pygpu_part bits) {{ return (bits & {below}ULL) > {infinity}ULL; }}\n\
             static __device__ inline pygpu_part pygpu_encode_part(pygpu_part bits) {{\n\
             \x20   if ({as_equal} && bits == {sign}ULL) bits = 0;\n\
             \x20   return (pygpu_part)({turned}(bits & {sign}ULL ? ~(unsigned long long)bits : bits | {sign}ULL));\n}}\n\
             static __device__ inline pygpu_part pygpu_decode_part(pygpu_part key) {{\n\
             \x20   const pygpu_part bits = (pygpu_part)({turned}(unsigned long long)key);\n\
             \x20   return (pygpu_part)(bits & {sign}ULL ? bits ^ {sign}ULL : ~(unsigned long long)bits);\n}}\n\
             #define PYGPU_NAN ((pygpu_part){nan}ULL)\n",
            below = sign - 1,
            nan = infinity | (infinity & infinity.wrapping_neg()) >> 1,
        );
        // The largest key of an element other than NaN is the key of infinity or, in descending order, of negative
        // infinity. Every larger key is a NaN.
        let last = infinity | sign;
        let complex = format!(
            "static __device__ inline bool pygpu_has_nan(pygpu_element element) {{\n\
             \x20   return pygpu_is_nan(PYGPU_REAL(element)) || pygpu_is_nan(PYGPU_IMAG(element));\n}}\n\
             static __device__ inline pygpu_key pygpu_encode(pygpu_element element) {{\n\
             \x20   const pygpu_part real = PYGPU_REAL(element), imag = PYGPU_IMAG(element);\n\
             \x20   const int nan = 2 * pygpu_is_nan(real) + pygpu_is_nan(imag);\n\
             \x20   if (nan == 0) return pygpu_pair(pygpu_encode_part(real), pygpu_encode_part(imag));\n\
             \x20   if (nan == 3) return pygpu_greatest();\n\
             \x20   return pygpu_pair((pygpu_part)({last}ULL + nan), pygpu_encode_part(nan == 1 ? real : imag));\n}}\n\
             static __device__ inline pygpu_element pygpu_decode(pygpu_key key) {{\n\
             \x20   const pygpu_part high = PYGPU_HIGH(key), low = PYGPU_LOW(key);\n\
             \x20   if (high <= {last}ULL) return pygpu_complex(pygpu_decode_part(high), pygpu_decode_part(low));\n\
             \x20   if (high == {last}ULL + 1) return pygpu_complex(pygpu_decode_part(low), PYGPU_NAN);\n\
             \x20   if (high == {last}ULL + 2) return pygpu_complex(PYGPU_NAN, pygpu_decode_part(low));\n\
             \x20   return pygpu_complex(PYGPU_NAN, PYGPU_NAN);\n}}\n"
        );
        match self.kind {
            ScalarType::Complex64 => format!(
                "typedef pygpu_key pygpu_element;\n{numbers}\
                 #define PYGPU_REAL(x) ((pygpu_part)(x))\n#define PYGPU_IMAG(x) ((pygpu_part)((x) >> 32))\n\
                 #define PYGPU_HIGH(x) ((pygpu_part)((x) >> 32))\n#define PYGPU_LOW(x) ((pygpu_part)(x))\n\
                 static __device__ inline pygpu_key pygpu_pair(pygpu_part high, pygpu_part low) {{\n\
                 \x20   return (pygpu_key)high << 32 | low;\n}}\n\
                 static __device__ inline pygpu_element pygpu_complex(pygpu_part real, pygpu_part imag) {{\n\
                 \x20   return (pygpu_element)imag << 32 | real;\n}}\n{complex}"
            ),
            ScalarType::Complex128 => format!(
                "typedef pygpu_key pygpu_element;\n{numbers}\
                 #define PYGPU_REAL(x) ((x).low)\n#define PYGPU_IMAG(x) ((x).high)\n\
                 #define PYGPU_HIGH(x) ((x).high)\n#define PYGPU_LOW(x) ((x).low)\n\
                 static __device__ inline pygpu_key pygpu_pair(pygpu_part high, pygpu_part low) {{\n\
                 \x20   const pygpu_key key = {{low, high}}; return key;\n}}\n\
                 static __device__ inline pygpu_element pygpu_complex(pygpu_part real, pygpu_part imag) {{\n\
                 \x20   const pygpu_element element = {{real, imag}}; return element;\n}}\n{complex}"
            ),
            _ => format!(
                "{numbers}typedef pygpu_part pygpu_element;\n\
                 static __device__ inline bool pygpu_has_nan(pygpu_element element) {{ return pygpu_is_nan(element); }}\n\
                 static __device__ inline pygpu_key pygpu_encode(pygpu_element element) {{\n\
                 \x20   return pygpu_is_nan(element) ? pygpu_greatest() : pygpu_encode_part(element);\n}}\n\
                 static __device__ inline pygpu_element pygpu_decode(pygpu_key key) {{\n\
                 \x20   return key > {last}ULL ? PYGPU_NAN : pygpu_decode_part(key);\n}}\n"
            ),
        }
    }
}

/// Whether the elements of a type have an order, so that arrays of this type can be sorted.
pub fn has_order(kind: ScalarType) -> bool {
    kind != ScalarType::Opaque
}
