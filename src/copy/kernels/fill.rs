//! Fills arrays by kernels. The fill value is part of the kernel's parameters, so a fill reads no memory.
//!
//! A fill iterates over the target like a copy. The last axis, whose bytes are contiguous, is divided into units
//! (stores of up to 16 bytes). If the size of a unit is a multiple of the item's, each unit contains whole items.
//! Otherwise units divide items, and the contents of units repeat after a number of units, the period.

use smallvec::SmallVec;

use super::kernel_choice::{CopyKernel, DIVISIBLE, LARGEST, Units};
use super::{compile, numbered, overrides, run, variant};
use pygpu_array::Array;
use pygpu_backend::Address;
use pygpu_base::error::Result;
use pygpu_codegen::array_access::ParameterBlock;
use pygpu_device::stream::Stream;
use pygpu_layout::ContiguousRuns;
use pygpu_memory::Access;

/// Maximum size in bytes of an item and of a period (the units after which an item begins at the start of a unit
/// again). A period of this size and the maximum number of axes together fit into the 4096 bytes of parameters that
/// every device supports.
pub(crate) const LONGEST: i64 = 512;

/// Fills contiguous runs, which consist of whole items, with an item of at most [`LONGEST`] bytes, in one kernel
/// launch. Returns `false` if no kernel is available.
///
/// # Errors
/// Driver errors.
pub(crate) fn fill(target: &Array, pieces: &ContiguousRuns, item: &[u8], stream: &Stream) -> Result<bool> {
    if overrides().driver {
        return Ok(false);
    }
    let units = units(pieces, target.allocation().address(), item.len() as i64);
    let period = period(item.len() as i64, units.unit);
    let mut class = units.straight(overrides().wish);
    if period > 1 && units.axes.last().is_some_and(|axis| axis.len >= DIVISIBLE) {
        class = CopyKernel::Flat { wide: true };
    }
    let (class, mut parameters) = numbered(&units, class);
    let value = FillPattern { item, unit: units.unit, period };
    let variant = variant(class, &units).with("FILL", value.room());
    let Some(function) = compile::function(target.device(), variant) else { return Ok(false) };
    value.push(&mut parameters.record);
    // SAFETY: the parameter block matches the kernel's structure; the axes reach only bytes inside the layout, which is
    // inside the array's memory block.
    unsafe { run(&function, &parameters, stream, &[(target.allocation(), Access::Write)])? };
    Ok(true)
}

/// Divides a fill into units (stores of up to 16 bytes) that are as large as possible, provided that their period has
/// at most [`LONGEST`] bytes. For units of one byte the period is the item.
fn units(pieces: &ContiguousRuns, base: Address, itemsize: i64) -> Units {
    let mut most = LARGEST;
    loop {
        let units = Units::aligned(pieces, base, base, std::iter::once(most));
        if period(itemsize, units.unit) * units.unit <= LONGEST || units.unit == 1 {
            return units;
        }
        most = units.unit / 2;
    }
}

/// Returns the period: the number of units (stores of `unit` bytes) after which an item begins at the start of a unit
/// again.
fn period(itemsize: i64, unit: i64) -> i64 {
    // The size of a unit is a power of two. The greatest common divisor of the sizes of unit and item is therefore the
    // smaller of the unit's size and the largest power of two that divides the item's size.
    itemsize / unit.min(1 << itemsize.trailing_zeros())
}

/// The fill value as a kernel receives it: the bytes of one period, divided into units (stores of up to 16 bytes).
struct FillPattern<'a> {
    item: &'a [u8],
    unit: i64,
    period: i64,
}

impl FillPattern<'_> {
    /// Returns the size in bytes of the array in the kernel's parameters that holds the fill value. Only two sizes are
    /// used, so that few kernels are compiled.
    fn room(&self) -> i64 {
        if self.period == 1 { self.unit } else { LONGEST }
    }

    /// Appends the fill value to the parameter block with C layout: aligned to a unit and padded to the size of the
    /// kernel's array.
    fn push(&self, record: &mut ParameterBlock) {
        record.align(self.unit as usize);
        record.push_divisor(self.period);
        record.align(self.unit as usize);
        let filled = self.item.iter().copied().cycle().take((self.period * self.unit) as usize);
        let bytes: SmallVec<[u8; 16]> = filled.chain(std::iter::repeat(0)).take(self.room() as usize).collect();
        record.push_bytes(&bytes);
        record.align(self.unit as usize);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use pygpu_layout::{Layout, MemoryOrder};

    /// Returns the unit in bytes, and the period in units, for filling a dense array that begins at `base`.
    fn chosen(itemsize: i64, count: i64, base: Address) -> (i64, i64) {
        let layout = Layout::contiguous(&[count], itemsize, MemoryOrder::C).unwrap();
        let unit = units(&ContiguousRuns::of(&layout, &layout).unwrap(), base, itemsize).unit;
        (unit, period(itemsize, unit))
    }

    #[test]
    fn fill_units_hold_whole_items_or_part_of_a_short_period() {
        for (itemsize, expected) in
            [(1, (16, 1)), (8, (16, 1)), (16, (16, 1)), (3, (16, 3)), (12, (16, 3)), (40, (16, 5))]
        {
            assert_eq!(chosen(itemsize, 1024, 1 << 20), expected, "items of {itemsize} bytes");
        }
        assert_eq!(chosen(8, 1023, 1 << 20), (8, 1));
        assert_eq!(chosen(16, 1024, (1 << 20) + 8), (8, 2));
        assert_eq!(chosen(3, 1023, (1 << 20) + 1), (1, 3));
    }

    #[test]
    fn fill_period_fits_into_parameters() {
        for itemsize in 1..=LONGEST {
            let (unit, period) = chosen(itemsize, 1024, 1 << 20);
            assert!(unit * period <= LONGEST, "items of {itemsize} bytes: {period} units of {unit}");
            assert_eq!(unit * period % itemsize, 0);
        }
    }

    #[test]
    fn fill_period_is_aligned_and_repeats_item() {
        let item: Vec<u8> = (1..=12).collect();
        let mut record = ParameterBlock::new();
        [7, 7, 7].into_iter().for_each(|word| record.push_word(word));
        FillPattern { item: &item, unit: 16, period: 3 }.push(&mut record);
        let words = record.words();
        assert_eq!((words.len(), words[6], words[8], words[11]), (8 + 4 + 128, 0, 3, 0));
        let bytes: Vec<u8> = words[12..24].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes, [&item[..], &item, &item, &item].concat());
        let mut record = ParameterBlock::new();
        FillPattern { item: &[1, 2], unit: 4, period: 1 }.push(&mut record);
        assert_eq!(record.words()[3..], [0x0201_0201]);
    }
}
