//! Launches one kernel: converts the arguments to the driver's format, and orders the launch with the other uses of its
//! arrays.

use std::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;

use super::function::Function;
use super::launch_config::{Configuration, LaunchConfig};
use pygpu_backend::LaunchShape;
use pygpu_backend::libraries::profiler_ranges::range;
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_layout::tuple_text;
use pygpu_memory::{BlockUse, ordered, stream_captures};

/// Unit of the storage for argument values: 16 bytes, aligned to 16 bytes, which suffices for most parameter types.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct ArgumentCell([u8; 16]);

const CELL: usize = size_of::<ArgumentCell>();

/// Number of arguments that are stored without a heap allocation. Most kernels have fewer arguments.
const USUAL: usize = 16;

/// The location of an argument value whose type may need a larger alignment than the 16 bytes of the storage.
#[derive(Clone, Copy, Debug)]
pub struct WideValue {
    argument: usize,
    first: usize,
    cells: usize,
    alignment: usize,
}

/// Returns the largest alignment that a type of `bytes` bytes can have: the largest power of two that divides `bytes`,
/// but at most 128.
fn alignment_of(bytes: usize) -> usize {
    /// The alignment of `CUtensorMap` since CUDA 13.
    const MOST: usize = 128;
    match bytes {
        0 => 1,
        _ => (1 << bytes.trailing_zeros()).min(MOST),
    }
}

/// The argument values of a kernel launch, stored contiguously, and the position of each value.
#[derive(Clone, Default)]
pub struct Arguments {
    cells: SmallVec<[ArgumentCell; USUAL]>,
    starts: SmallVec<[u32; USUAL]>,
}

impl Arguments {
    /// Creates a list without arguments.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of arguments.
    #[inline]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the 16 bytes of storage that contain the first argument's value.
    pub fn first(&self) -> Option<&[u8]> {
        self.cells.first().map(|cell| cell.0.as_slice())
    }

    /// Appends all values of another argument list to this one.
    pub fn append(&mut self, others: &Self) {
        let before = self.cells.len() as u32;
        self.cells.extend_from_slice(&others.cells);
        others.starts.iter().for_each(|start| self.starts.push(before + start));
    }

    /// Appends the value of one argument with 8 bytes: an address or a number.
    #[inline]
    pub fn push_word(&mut self, value: u64) {
        self.starts.push(self.cells.len() as u32);
        let mut cell = ArgumentCell([0; CELL]);
        cell.0[..8].copy_from_slice(&value.to_le_bytes());
        self.cells.push(cell);
    }

    /// Appends the bytes of an argument's value to the list.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.starts.push(self.cells.len() as u32);
        for part in bytes.chunks(CELL) {
            let mut cell = ArgumentCell([0; CELL]);
            cell.0[..part.len()].copy_from_slice(part);
            self.cells.push(cell);
        }
    }

    /// Appends the value of an argument, given as 4-byte words, to the list.
    #[inline]
    pub fn push_words(&mut self, words: &[u32]) {
        self.starts.push(self.cells.len() as u32);
        for part in words.chunks(CELL / size_of::<u32>()) {
            let mut cell = ArgumentCell([0; CELL]);
            for (bytes, word) in cell.0.chunks_exact_mut(size_of::<u32>()).zip(part) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            self.cells.push(cell);
        }
    }

    /// Appends a value. If the alignment of its type may exceed the storage's alignment of 16 bytes, returns the
    /// value's location, which the caller must pass to [`Self::align`].
    pub fn push_wide(&mut self, bytes: &[u8]) -> Option<WideValue> {
        let (argument, first) = (self.starts.len(), self.cells.len());
        self.push(bytes);
        let (cells, alignment) = (self.cells.len() - first, alignment_of(bytes.len()));
        if alignment <= CELL {
            return None;
        }
        self.cells.resize(first + cells + alignment / CELL - 1, ArgumentCell([0; CELL]));
        Some(WideValue { argument, first, cells, alignment })
    }

    /// Moves a value to an address with the alignment that it needs. Must be called after the last append, because
    /// appending may move all values.
    pub fn align(&mut self, wide: WideValue) {
        let WideValue { argument, first, cells, alignment } = wide;
        let address = self.cells[first..].as_ptr().addr();
        let ahead = (address.next_multiple_of(alignment) - address) / CELL;
        self.cells.copy_within(first..first + cells, first + ahead);
        self.starts[argument] = (first + ahead) as u32;
    }

    /// Builds the array that the driver expects: for each argument, a pointer to its value.
    #[inline]
    fn pointers(&mut self, pointers: &mut SmallVec<[*mut c_void; USUAL]>) {
        let first = self.cells.as_mut_ptr();
        for &start in &self.starts {
            // SAFETY: each start is an index into `cells` or, for a value of zero bytes, the end of `cells`, so the
            // pointer stays inside the allocation of `cells`.
            pointers.push(unsafe { first.add(start as usize) }.cast());
        }
    }
}

/// The kernel, shape and arguments of a captured launch. An update of a graph uses them to change the graph node of a
/// launch.
pub struct Launched {
    /// The kernel that was launched.
    pub function: Function,
    /// The shape of the launch.
    pub shape: LaunchShape,
    /// The values of the arguments.
    pub arguments: Arguments,
}

/// Launches a kernel on a stream, after all uses of the kernel's arrays that conflict with the launch. Later
/// conflicting uses wait for the launch.
///
/// # Errors
/// `ValueError` for a shape that the device or the kernel does not support; driver errors.
///
/// # Safety
/// `arguments` must have the number and sizes of the kernel's parameters. The memory to which pointer arguments point
/// must be as large as the kernel assumes.
#[inline]
pub unsafe fn launch<C: Configuration>(
    function: &Function,
    config: &C,
    stream: &Stream,
    arguments: &mut Arguments,
    uses: &[BlockUse<'_>],
) -> Result<()> {
    function.module().check_alive()?;
    if stream.device() != function.device() {
        return Err(wrong_stream(function, stream));
    }
    check(function, config)?;
    let _range = range(|| function.name());
    let mut pointers = SmallVec::new();
    arguments.pointers(&mut pointers);
    ordered(uses, stream, || {
        // SAFETY: `function` keeps its module alive, and its device is that of the stream, as checked above; the caller
        // guarantees that the arguments match the kernel's parameters.
        unsafe { config.launch(function, stream, pointers.as_mut_ptr()) }?;
        if let Some(capture) = stream_captures::of(stream)? {
            capture.made_of(Arc::new(Launched {
                function: function.clone(),
                shape: *config.shape(),
                arguments: arguments.clone(),
            }));
        }
        Ok(())
    })
}

/// Checks the launch against the limits of the device and the kernel.
///
/// # Errors
/// `ValueError` or `NotSupported` with the requested and the supported value.
#[inline]
fn check<C: Configuration>(function: &Function, config: &C) -> Result<()> {
    let shape = config.shape();
    let limits = function.limits();
    let within = |lengths: [u32; 3], most: [u32; 3]| {
        lengths.iter().zip(most).all(|(length, most)| *length > 0 && *length <= most)
    };
    let threads = shape.block.iter().fold(1u32, |product, &length| product.saturating_mul(length));
    let fits = within(shape.grid, limits.grid) && within(shape.block, limits.block);
    if !fits || threads > function.max_threads()? || (shape.cooperative && !limits.cooperative) {
        return Err(refused(function, shape, threads));
    }
    config.check(function)?;
    function.allow_shared(shape.shared)
}

/// Returns the maximum number of clusters of a launch that the device runs concurrently; for a launch without clusters,
/// of blocks.
///
/// # Errors
/// The errors of a launch; driver errors.
pub fn active_clusters(function: &Function, config: &LaunchConfig) -> Result<u32> {
    function.module().check_alive()?;
    check(function, config)?;
    let LaunchConfig { shape, attributes } = config;
    let device = function.device();
    if !function.limits().clusters {
        let threads = shape.block.iter().fold(1u32, |product, &length| product.saturating_mul(length));
        let multiprocessors = device.properties()?.multiprocessor_count.max(0).cast_unsigned();
        return Ok(function.active_blocks(threads, shape.shared)?.saturating_mul(multiprocessors));
    }
    // SAFETY: `function` keeps its module, and thus the function handle, alive.
    unsafe { function.device_code().active_clusters(device.index(), function.handle(), shape, attributes) }
}

#[cold]
fn refused(function: &Function, shape: &LaunchShape, threads: u32) -> Error {
    if function.is_template() {
        return function.is_no_instance();
    }
    let (limits, name, device) = (function.limits(), function.name(), function.device());
    for (what, lengths, most) in [("grid", shape.grid, limits.grid), ("block", shape.block, limits.block)] {
        for (axis, (length, most)) in ["x", "y", "z"].iter().zip(lengths.iter().zip(most)) {
            if *length == 0 || *length > most {
                return Error::value(format!(
                    "{name}: the {what} {} has {length} along {axis}; {device} takes 1 to {most}",
                    tuple_text(lengths)
                ));
            }
        }
    }
    let most = function.max_threads().unwrap_or(limits.threads_per_block);
    if threads <= most {
        return Error::not_supported(format!("{name}: {device} has no cooperative launches"));
    }
    let why = if most < limits.threads_per_block {
        "what its registers and its launch bounds allow"
    } else {
        "what the device allows"
    };
    Error::value(format!("{name}: the block {} has {threads} threads; {most} is {why}", tuple_text(shape.block)))
}

#[cold]
fn wrong_stream(function: &Function, stream: &Stream) -> Error {
    Error::value(format!(
        "{}: the kernel is of {} and the stream of {}; give a stream of its device",
        function.name(),
        function.device(),
        stream.device()
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn argument_pointers_point_to_their_values_for_any_count() {
        for count in [0, 1, USUAL, 3 * USUAL] {
            let mut arguments = Arguments::new();
            for number in 0..count {
                arguments.push_word(number as u64);
                arguments.push(&[number as u8; 40]);
                arguments.push(&[]);
            }
            arguments.push(&7.5f32.to_le_bytes());
            assert_eq!((arguments.len(), arguments.is_empty()), (3 * count + 1, false));
            let mut pointers = SmallVec::new();
            arguments.pointers(&mut pointers);
            for number in 0..count {
                // SAFETY: `pointers` has three entries for each `number`. They point to values in `arguments` that have
                // the types read here.
                unsafe {
                    assert_eq!(*pointers[3 * number].cast::<u64>(), number as u64);
                    assert_eq!(*pointers[3 * number + 1].cast::<[u8; 40]>(), [number as u8; 40]);
                    assert_eq!(pointers[3 * number + 1] as usize % 16, 0);
                }
            }
            // SAFETY: the last entry points to the float that was pushed last.
            assert_eq!(unsafe { *pointers[3 * count].cast::<f32>() }, 7.5);
        }
    }

    #[test]
    fn argument_values_have_alignment_of_widest_possible_type() {
        for before in 0..40 {
            let mut arguments = Arguments::new();
            for number in 0..before {
                arguments.push_word(number);
            }
            let sizes = [128, 32, 64, 24, 96, 256];
            let values = sizes.map(|size| (0..size).map(|at| (at * 7 + size) as u8).collect::<Vec<_>>());
            let wide: Vec<_> = values.iter().filter_map(|value| arguments.push_wide(value)).collect();
            arguments.push_word(5);
            wide.into_iter().for_each(|one| arguments.align(one));
            let mut pointers = SmallVec::new();
            arguments.pointers(&mut pointers);
            for (place, (value, alignment)) in values.iter().zip([128, 32, 64, 8, 32, 128]).enumerate() {
                let pointer = pointers[before as usize + place];
                assert_eq!(pointer.addr() % alignment, 0);
                // SAFETY: `pointer` points to the bytes of `value` that `arguments` stores.
                assert_eq!(unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), value.len()) }, value);
            }
            // SAFETY: the last entry points to the word that was pushed last.
            assert_eq!(unsafe { *pointers[before as usize + sizes.len()].cast::<u64>() }, 5);
        }
    }
}
