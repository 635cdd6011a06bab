//! Converts a texture's options from Python objects: names of modes, dtypes of channels, and border colours.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use pygpu_backend::{AddressMode, Texel, TexelFormat};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};

/// Names of the address modes in Python.
const ADDRESS_MODES: [(&str, AddressMode); 4] = [
    ("wrap", AddressMode::Wrap),
    ("clamp", AddressMode::Clamp),
    ("mirror", AddressMode::Mirror),
    ("border", AddressMode::Border),
];

const KINDS: [(ScalarType, TexelFormat); 8] = [
    (ScalarType::UInt8, TexelFormat::UInt8),
    (ScalarType::UInt16, TexelFormat::UInt16),
    (ScalarType::UInt32, TexelFormat::UInt32),
    (ScalarType::Int8, TexelFormat::Int8),
    (ScalarType::Int16, TexelFormat::Int16),
    (ScalarType::Int32, TexelFormat::Int32),
    (ScalarType::Float16, TexelFormat::Float16),
    (ScalarType::Float32, TexelFormat::Float32),
];

/// Returns the texel, i.e. the format of a texture's element, for `channels` channels of a dtype.
pub(super) fn texel(dtype: DType, channels: u32) -> Result<Texel> {
    let Some((_, format)) = KINDS.iter().find(|(kind, _)| *kind == dtype.kind()) else {
        return Err(Error::value(format!(
            "textures have elements of 8, 16 or 32 bits: int8 to int32, uint8 to uint32, float16, float32; not {} (view \
             wider ones as int32 with more channels)",
            dtype.name()
        )));
    };
    if matches!(channels, 1 | 2 | 4) {
        return Ok(Texel { format: *format, channels });
    }
    Err(Error::value(format!("an element has 1, 2 or 4 channels, not {channels}")))
}

/// Returns the dtype of a channel of a texel format.
pub(super) fn dtype_of(format: TexelFormat) -> DType {
    let entry = KINDS.iter().find(|(_, candidate)| *candidate == format);
    DType::new(entry.map_or(ScalarType::Float32, |(kind, _)| *kind))
}

fn address_mode(word: &Bound<'_, PyAny>) -> PyResult<AddressMode> {
    let text: String =
        word.extract().map_err(|_| PyTypeError::new_err(format!("address_mode is a text, not {word:?}")))?;
    let entry = ADDRESS_MODES.iter().find(|(name, _)| *name == text);
    entry.map(|(_, mode)| *mode).ok_or_else(|| {
        PyValueError::new_err(format!("address_mode is 'wrap', 'clamp', 'mirror' or 'border', not {text:?}"))
    })
}

/// Parses `address_mode`: one name for all axes, or one name for each of x, y and z. An axis without a name gets the
/// mode `clamp`.
pub(super) fn address_modes(words: &Bound<'_, PyAny>) -> PyResult<[AddressMode; 3]> {
    if words.is_instance_of::<PyString>() {
        return Ok([address_mode(words)?; 3]);
    }
    let mut modes = [AddressMode::Clamp; 3];
    for (axis, word) in words.try_iter()?.enumerate() {
        let Some(mode) = modes.get_mut(axis) else {
            return Err(PyValueError::new_err("address_mode has at most three words, for x, y and z"));
        };
        *mode = address_mode(&word?)?;
    }
    Ok(modes)
}

/// Returns whether the value `word` of the option `name` is the second of the two permitted values. Raises `ValueError`
/// for any other value.
pub(super) fn is_second(word: &str, name: &str, words: [&str; 2]) -> PyResult<bool> {
    if word == words[0] {
        return Ok(false);
    }
    if word == words[1] {
        return Ok(true);
    }
    Err(PyValueError::new_err(format!("{name} is '{}' or '{}', not {word:?}", words[0], words[1])))
}

/// Parses `border_color`: one number for all channels, or up to four numbers, one per channel. Channels without a
/// number get 0.
pub(super) fn border(color: &Bound<'_, PyAny>) -> PyResult<[f32; 4]> {
    if let Ok(value) = color.extract::<f32>() {
        return Ok([value; 4]);
    }
    let values: Vec<f32> = color
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("border_color is a number or up to four of them, not {color:?}")))?;
    if values.len() > 4 {
        return Err(PyValueError::new_err(format!(
            "border_color has {} numbers; there are four channels",
            values.len()
        )));
    }
    let mut border = [0.0; 4];
    border[..values.len()].copy_from_slice(&values);
    Ok(border)
}
