//! Draws arguments from bytes. Numbers near the limits at which arithmetic overflows are as frequent as ordinary numbers.

use arbitrary::{Result, Unstructured};

/// Draws any number; small numbers, powers of two and the ends of the range are frequent.
pub fn number(bytes: &mut Unstructured<'_>) -> Result<i64> {
    Ok(match bytes.int_in_range(0..=9u8)? {
        0..=5 => bytes.int_in_range(-4..=12)?,
        6 => i64::from(bytes.arbitrary::<i16>()?),
        7 => {
            let power = 1_i64 << bytes.int_in_range(0..=62)?;
            let near = power.wrapping_add(bytes.int_in_range(-2..=2)?);
            if bytes.arbitrary()? { near } else { -near }
        }
        8 => *bytes.choose(&[i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1, i64::MAX / 2, i64::from(i32::MAX)])?,
        _ => bytes.arbitrary()?,
    })
}

/// Draws a list of numbers, usually at most four and sometimes more than the largest rank.
pub fn numbers(bytes: &mut Unstructured<'_>) -> Result<Vec<i64>> {
    let count = match bytes.int_in_range(0..=15u8)? {
        0 => bytes.int_in_range(0..=70)?,
        few => usize::from(few % 5),
    };
    (0..count).map(|_| number(bytes)).collect()
}

pub fn optional<T>(
    bytes: &mut Unstructured<'_>,
    make: impl FnOnce(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    if bytes.arbitrary()? { make(bytes).map(Some) } else { Ok(None) }
}

/// Returns the range `[low, high)` of byte offsets that the elements occupy if the first one is at `offset`; `None` if there
/// are no elements. The arithmetic does not overflow.
pub fn extent(axes: impl IntoIterator<Item = (i64, i64)>, offset: i64, itemsize: i64) -> Option<(i128, i128)> {
    let (mut low, mut high) = (i128::from(offset), i128::from(offset) + i128::from(itemsize));
    for (len, stride) in axes {
        if len <= 0 {
            return None;
        }
        let reach = (i128::from(len) - 1) * i128::from(stride);
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
    }
    Some((low, high))
}

/// Returns whether the product of `itemsize` and all nonzero lengths fits in an `i64`; false for a negative length.
pub fn size_fits(shape: &[i64], itemsize: i64) -> bool {
    let mut bytes = Some(itemsize);
    for &len in shape {
        if len < 0 {
            return false;
        }
        bytes = bytes.and_then(|bytes| bytes.checked_mul(len.max(1)));
    }
    bytes.is_some()
}
