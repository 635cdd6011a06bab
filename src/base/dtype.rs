//! Contains the table of element types. The table contains the name and the size of each type, and its codes in NumPy,
//! DLPack, the array interfaces and C.
//!
//! A `DType` is a plain value. Structured and void types are opaque items of a fixed size in bytes; the Python layer
//! finds the NumPy dtype of such a type by its `tag`. Only the native byte order is supported.

use crate::error::{Error, Result};

/// Element types that have a name, in the order of `TABLE`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum ScalarType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    Float8E3M4,
    Float8E4M3,
    Float8E4M3B11FNUZ,
    Float8E4M3FN,
    Float8E4M3FNUZ,
    Float8E5M2,
    Float8E5M2FNUZ,
    Float8E8M0FNU,
    /// Any structured or void type: PyGPU copies its items but never interprets them.
    Opaque,
}

impl ScalarType {
    /// Returns whether the elements have a real and an imaginary part.
    #[inline]
    pub fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }
}

/// The Python package that defines the NumPy dtype of an element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// NumPy itself.
    NumPy,
    /// The optional package `ml_dtypes`.
    MlDtypes,
}

/// DLPack's description of an element type. PyGPU supports only elements with one lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DlpackType {
    /// DLPack's type code (`DLDataTypeCode`).
    pub code: u8,
    /// Number of bits of an element; for a complex element, the sum of both parts.
    pub bits: u8,
}

/// An entry of [`TABLE`], with the name, the size and the codes of one element type.
#[derive(Debug)]
pub struct DTypeEntry {
    /// The element type.
    pub kind: ScalarType,
    /// The type's name in NumPy or `ml_dtypes`.
    pub name: &'static str,
    /// Size of an element in bytes.
    pub itemsize: u32,
    /// `typestr` of the array interfaces; `None` if libraries do not agree on one.
    pub typestr: Option<&'static str>,
    /// DLPack's type code and bits.
    pub dlpack: DlpackType,
    /// The type's name in device code: PyCUDA's name if it has one, otherwise that of the C or C++ type.
    pub c_name: &'static str,
    /// The Python package that defines the NumPy dtype.
    pub origin: Origin,
}

#[cfg(not(target_endian = "little"))]
compile_error!("PyGPU's dtype table is written for little-endian machines; every GPU driver runs on one");

const fn row(
    kind: ScalarType,
    name: &'static str,
    itemsize: u32,
    typestr: &'static str,
    code: u8,
    c_name: &'static str,
) -> DTypeEntry {
    let bits = (itemsize * 8) as u8;
    DTypeEntry {
        kind,
        name,
        itemsize,
        typestr: Some(typestr),
        dlpack: DlpackType { code, bits },
        c_name,
        origin: Origin::NumPy,
    }
}

/// Builds the table entry of an element type that `ml_dtypes` defines. Libraries disagree on the `typestr` of such a
/// type (PyTorch changed its own twice), so PyGPU exchanges arrays of the type through DLPack only.
const fn ml_row(kind: ScalarType, name: &'static str, itemsize: u32, code: u8, c_name: &'static str) -> DTypeEntry {
    let bits = (itemsize * 8) as u8;
    DTypeEntry {
        kind,
        name,
        itemsize,
        typestr: None,
        dlpack: DlpackType { code, bits },
        c_name,
        origin: Origin::MlDtypes,
    }
}

// Type codes of DLPack: `DLDataTypeCode` of dlpack.h 1.3.
const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const COMPLEX: u8 = 5;
const BOOL: u8 = 6;

// C names of 64-bit integers. As in NumPy and PyCUDA, they are `long` on platforms where `long` has 64 bits.
const LONG: &str = if cfg!(windows) { "long long" } else { "long" };
const UNSIGNED_LONG: &str = if cfg!(windows) { "unsigned long long" } else { "unsigned long" };

/// The table of dtypes: one entry for each element type that has a name, in the order of [`ScalarType`].
pub static TABLE: [DTypeEntry; 23] = [
    row(ScalarType::Bool, "bool", 1, "|b1", BOOL, "bool"),
    row(ScalarType::Int8, "int8", 1, "|i1", INT, "signed char"),
    row(ScalarType::Int16, "int16", 2, "<i2", INT, "short"),
    row(ScalarType::Int32, "int32", 4, "<i4", INT, "int"),
    row(ScalarType::Int64, "int64", 8, "<i8", INT, LONG),
    row(ScalarType::UInt8, "uint8", 1, "|u1", UINT, "unsigned char"),
    row(ScalarType::UInt16, "uint16", 2, "<u2", UINT, "unsigned short"),
    row(ScalarType::UInt32, "uint32", 4, "<u4", UINT, "unsigned int"),
    row(ScalarType::UInt64, "uint64", 8, "<u8", UINT, UNSIGNED_LONG),
    row(ScalarType::Float16, "float16", 2, "<f2", FLOAT, "pygpu::float16"),
    ml_row(ScalarType::BFloat16, "bfloat16", 2, BFLOAT, "pygpu::bfloat16"),
    row(ScalarType::Float32, "float32", 4, "<f4", FLOAT, "float"),
    row(ScalarType::Float64, "float64", 8, "<f8", FLOAT, "double"),
    row(ScalarType::Complex64, "complex64", 8, "<c8", COMPLEX, "pycuda::complex<float>"),
    row(ScalarType::Complex128, "complex128", 16, "<c16", COMPLEX, "pycuda::complex<double>"),
    ml_row(ScalarType::Float8E3M4, "float8_e3m4", 1, 7, "float8_e3m4"),
    ml_row(ScalarType::Float8E4M3, "float8_e4m3", 1, 8, "float8_e4m3"),
    ml_row(ScalarType::Float8E4M3B11FNUZ, "float8_e4m3b11fnuz", 1, 9, "float8_e4m3b11fnuz"),
    ml_row(ScalarType::Float8E4M3FN, "float8_e4m3fn", 1, 10, "float8_e4m3fn"),
    ml_row(ScalarType::Float8E4M3FNUZ, "float8_e4m3fnuz", 1, 11, "float8_e4m3fnuz"),
    ml_row(ScalarType::Float8E5M2, "float8_e5m2", 1, 12, "float8_e5m2"),
    ml_row(ScalarType::Float8E5M2FNUZ, "float8_e5m2fnuz", 1, 13, "float8_e5m2fnuz"),
    ml_row(ScalarType::Float8E8M0FNU, "float8_e8m0fnu", 1, 14, "float8_e8m0fnu"),
];

/// The type of an array's elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DType {
    kind: ScalarType,
    itemsize: u32,
    tag: u32,
}

impl DType {
    /// Returns the dtype of an element type that has a name. For opaque items the caller must use [`DType::opaque`],
    /// because this function would return items of zero bytes.
    pub const fn new(kind: ScalarType) -> Self {
        let itemsize = if (kind as usize) < TABLE.len() { TABLE[kind as usize].itemsize } else { 0 };
        Self { kind, itemsize, tag: 0 }
    }

    /// Returns the dtype of opaque items of `itemsize` bytes. `tag` is chosen by the caller and identifies the
    /// structured or void type.
    pub const fn opaque(itemsize: u32, tag: u32) -> Self {
        Self { kind: ScalarType::Opaque, itemsize, tag }
    }

    /// Returns the dtype that has the given name in NumPy or `ml_dtypes`.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| Self::new(row.kind))
    }

    /// Returns the dtype of an array-interface `typestr`; `|V8` gives opaque items with tag 0.
    ///
    /// # Errors
    /// `TypeError` for the non-native byte order, for types that a device cannot store (objects, strings, dates), and
    /// for items of zero bytes.
    pub fn from_typestr(typestr: &str) -> Result<Self> {
        if typestr.starts_with('>') && !typestr.ends_with('1') {
            return Err(Error::type_error(format!(
                "dtype '{typestr}' is big-endian; a device reads little-endian only: convert with \
                 x.astype(x.dtype.newbyteorder('=')) first"
            )));
        }
        let element = typestr.strip_prefix(['<', '|', '=', '>']).unwrap_or_default();
        let same = |row: &&DTypeEntry| row.typestr.is_some_and(|own| own.get(1..) == Some(element));
        if let Some(row) = TABLE.iter().find(same) {
            return Ok(Self::new(row.kind));
        }
        // The item size in a `typestr` may consist of digits only, whereas `parse` would also accept a sign.
        let void = element.strip_prefix('V').filter(|size| size.bytes().all(|digit| digit.is_ascii_digit()));
        match void.and_then(|size| size.parse().ok()) {
            Some(itemsize) if itemsize > 0 => Ok(Self::opaque(itemsize, 0)),
            _ => Err(Error::type_error(format!("typestr '{typestr}' names no type that a device can hold"))),
        }
    }

    /// Returns the dtype of a DLPack type code, bits and lanes.
    ///
    /// # Errors
    /// `BufferError` if no supported dtype has this code, width and number of lanes.
    pub fn from_dlpack(code: u8, bits: u8, lanes: u16) -> Result<Self> {
        let same = |row: &&DTypeEntry| row.dlpack == DlpackType { code, bits };
        match TABLE.iter().find(same) {
            Some(row) if lanes == 1 => Ok(Self::new(row.kind)),
            _ => Err(Error::buffer(format!(
                "DLPack type (code {code}, bits {bits}, lanes {lanes}) has no dtype here: known are bool, integers of \
                 8 to 64 bits, float8 to float64, bfloat16, complex64 and complex128, all with one lane"
            ))),
        }
    }

    /// Returns the element type.
    pub const fn kind(self) -> ScalarType {
        self.kind
    }

    /// Returns the size of an element of this type in bytes.
    pub const fn itemsize(self) -> usize {
        self.itemsize as usize
    }

    /// Returns the tag of an opaque type; 0 for all others.
    pub const fn tag(self) -> u32 {
        self.tag
    }

    /// Returns the entry of the type in the table of dtypes; `None` for opaque items.
    pub fn row(self) -> Option<&'static DTypeEntry> {
        TABLE.get(self.kind as usize)
    }

    /// Returns the NumPy name; `void` for opaque items.
    pub fn name(self) -> &'static str {
        self.row().map_or("void", |row| row.name)
    }

    /// Returns the type's name in device code; empty for opaque items.
    pub fn c_name(self) -> &'static str {
        self.row().map_or("", |row| row.c_name)
    }

    /// Returns DLPack's description of the type.
    ///
    /// # Errors
    /// `BufferError` for structured and void types, which DLPack cannot express.
    pub fn dlpack(self) -> Result<DlpackType> {
        self.row().map(|row| row.dlpack).ok_or_else(|| {
            Error::buffer(format!(
                "DLPack cannot describe structured or void items (of {} bytes): view the array as uint8 first",
                self.itemsize
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn dtype_table_has_order_of_scalar_types() {
        for (position, row) in TABLE.iter().enumerate() {
            assert_eq!(row.kind as usize, position, "{}", row.name);
        }
        assert_eq!(ScalarType::Opaque as usize, TABLE.len());
    }

    #[test]
    fn every_dtype_roundtrips_through_names_and_codes() {
        for row in &TABLE {
            let dtype = DType::new(row.kind);
            assert_eq!(DType::from_name(row.name), Some(dtype));
            assert_eq!(DType::from_dlpack(row.dlpack.code, row.dlpack.bits, 1).unwrap(), dtype);
            if let Some(typestr) = row.typestr {
                assert_eq!(DType::from_typestr(typestr).unwrap(), dtype);
            }
        }
    }

    #[test]
    fn dtype_rejects_nonnative_byte_order_and_several_lanes() {
        assert!(matches!(DType::from_typestr(">f4"), Err(Error::Type(_))));
        assert!(matches!(DType::from_typestr("|O"), Err(Error::Type(_))));
        assert!(matches!(DType::from_typestr(""), Err(Error::Type(_))));
        assert!(matches!(DType::from_dlpack(2, 32, 4), Err(Error::Buffer(_))));
        assert!(matches!(DType::from_dlpack(3, 64, 1), Err(Error::Buffer(_))));
        assert_eq!(DType::from_typestr(">u1").unwrap(), DType::new(ScalarType::UInt8));
    }

    #[test]
    fn dtype_rejects_malformed_typestr() {
        for odd in ["|V0", "|V+8", "|V", "|V99999999999", "xf4", "f4", "\u{e9}f4", "<f4 "] {
            assert!(matches!(DType::from_typestr(odd), Err(Error::Type(_))), "{odd}");
        }
    }

    #[test]
    fn void_dtype_keeps_itemsize_and_has_no_dlpack_code() {
        let dtype = DType::from_typestr("|V12").unwrap();
        assert_eq!((dtype.kind(), dtype.itemsize()), (ScalarType::Opaque, 12));
        assert!(matches!(dtype.dlpack(), Err(Error::Buffer(_))));
    }
}
