//! Parses type codes of kernel parameters, as in PyCUDA's `prepare` and Python's `struct`.

use super::types::{Element, Parameter, ParameterKind};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};

/// Returns the parameter kind of a type code.
fn of_letter(letter: char) -> Option<ParameterKind> {
    use ScalarType::*;
    Some(ParameterKind::Scalar(match letter {
        'P' => return Some(ParameterKind::Pointer { element: Element::Any, constant: false }),
        '?' => Bool,
        'b' | 'c' => Int8,
        'B' => UInt8,
        'h' => Int16,
        'H' => UInt16,
        'i' => Int32,
        'I' => UInt32,
        'l' if cfg!(windows) => Int32,
        'L' if cfg!(windows) => UInt32,
        'l' | 'q' | 'n' => Int64,
        'L' | 'Q' | 'N' => UInt64,
        'e' => Float16,
        'f' => Float32,
        'd' => Float64,
        'F' => Complex64,
        'D' => Complex128,
        _ => return None,
    }))
}

/// Parses type codes such as `PPif`. A number before `s` is the size of a struct in bytes, as in `P16s`. A number
/// before another code repeats that code, as in Python's `struct`.
///
/// # Errors
/// `ValueError` with the unknown code.
pub fn of_letters(text: &str) -> Result<Vec<Parameter>> {
    const MOST: usize = 4096;
    let mut parameters = Vec::new();
    let mut count: Option<usize> = None;
    for letter in text.chars().filter(|letter| !letter.is_whitespace()) {
        if let Some(digit) = letter.to_digit(10) {
            count = Some(count.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize).min(MOST + 1));
            continue;
        }
        let times = count.take();
        if times.is_some_and(|times| times > MOST) {
            return Err(Error::value(format!("'{text}': a kernel has at most {MOST} bytes of parameters")));
        }
        if letter == 's' {
            let bytes = times.unwrap_or(1);
            parameters.push(Parameter::unnamed(format!("{bytes}s"), ParameterKind::Bytes(bytes)));
            continue;
        }
        let Some(kind) = of_letter(letter) else {
            return Err(Error::value(format!(
                "'{letter}' in '{text}' is no type: P is a pointer, and b B h H i I l L q Q n N e f d F D ? are as in \
                 struct and numpy"
            )));
        };
        let one = Parameter::unnamed(letter.to_string(), kind);
        parameters.extend(std::iter::repeat_n(one, times.unwrap_or(1)));
    }
    match count {
        Some(_) => Err(Error::value(format!("'{text}' ends with a number, and a letter is missing behind it"))),
        None => Ok(parameters),
    }
}

/// Returns the parameter kind of a dtype.
pub fn of_dtype(dtype: DType) -> Parameter {
    match dtype.row() {
        Some(row) => Parameter::unnamed(row.name, ParameterKind::Scalar(dtype.kind())),
        None => {
            let bytes = dtype.itemsize();
            Parameter::unnamed(format!("{bytes} bytes"), ParameterKind::Bytes(bytes))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn signature_letters_are_parsed_with_counts_and_sizes() {
        let kinds: Vec<_> = of_letters("P i2f16s").unwrap().into_iter().map(|one| one.kind).collect();
        let pointer = ParameterKind::Pointer { element: Element::Any, constant: false };
        let scalar = ParameterKind::Scalar;
        let expected = [
            pointer,
            scalar(ScalarType::Int32),
            scalar(ScalarType::Float32),
            scalar(ScalarType::Float32),
            ParameterKind::Bytes(16),
        ];
        assert_eq!(kinds, expected);
        assert!(of_letters("").unwrap().is_empty());
    }

    #[test]
    fn error_for_unknown_type_code_contains_the_code() {
        assert!(of_letters("Px").unwrap_err().to_string().contains("'x' in 'Px'"));
        assert!(of_letters("P3").unwrap_err().to_string().contains("ends with a number"));
        assert!(of_letters("99999999999999999999i").is_err());
    }
}
