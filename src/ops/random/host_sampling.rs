//! Computes random elements on the host, with the same values that the kernels compute on a GPU. The CPU backend uses
//! these functions, because a machine may have no compiler for the kernels. Each function can compute any range of a
//! call's elements, so that several system threads share a large call.

use std::thread;

use super::samplers::{self, Sampling, Table, Words};
use super::stream_position::{KEYS, StreamPosition, block_of, keys, later};
use super::{Distribution, RandomFill};
use pygpu_array::Array;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::Result;
use pygpu_copy::{self as copy, HostBuffer};
use pygpu_device::stream::Stream;
use pygpu_layout::{Dims, Layout, MemoryOrder};

/// Minimum number of elements per additional system thread. To compute fewer elements takes less time than to start a
/// thread, which takes about 50 microseconds.
const PART: usize = 1 << 14;
/// Number of elements that are computed at once. Their random words fit into the first-level cache.
const PIECE: usize = 1 << 10;
/// Lane from which an element draws further words if its first word is the half number that the previous call left
/// over. A lane is the index of a block among the blocks of one counter.
const LANE_OF_HALF: u64 = 15;

/// An element type of random numbers.
pub(super) trait RandomElement: Copy + Default + Send + 'static {
    /// Converts an integer to this element type, by the rules of C.
    fn of_integer(value: i64) -> Self;
    /// Converts a floating-point number to this element type, by the rules of C.
    fn of_number(value: f64) -> Self;
}

macro_rules! elements {
    ($($of:ty),*) => {
        $(impl RandomElement for $of {
            fn of_integer(value: i64) -> Self { value as $of }
            fn of_number(value: f64) -> Self { value as $of }
        })*
    };
}

elements!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

/// Fills an array with the elements of a request, which begin at a position of the random sequence.
pub(super) fn fill(target: &Array, task: &RandomFill<'_>, position: StreamPosition, stream: &Stream) -> Result<()> {
    let keys = keys(task.key);
    let [a, b] = task.scale;
    let source = Numbers::of(position, &keys);
    match (task.distribution, target.dtype().kind()) {
        (Distribution::Raw, _) => write(target, stream, 1, |first, to: &mut [u64]| {
            source.read(first, to);
            to.iter_mut().for_each(|word| *word = word.wrapping_add(task.bounds[2]));
        }),
        (Distribution::Uniform, ScalarType::Float32) => write(target, stream, 1, |first, to: &mut [f32]| {
            let (a, b) = (a as f32, b as f32 * (1.0 / 16_777_216.0));
            source.read_halves(first, to, |half, _| a + (half >> 8) as f32 * b);
        }),
        (Distribution::Uniform, _) => write(target, stream, 1, |first, to: &mut [f64]| {
            source.read_words(first, to, |word, _| a + b * ((word >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)));
        }),
        (Distribution::Normal, ScalarType::Float32) => {
            let table = Table::scaled(samplers::normal_rows(), b as f32);
            write(target, stream, 1, |first, to: &mut [f32]| {
                let mut halves = vec![0_u32; to.len()];
                source.whole().read_halves(first, &mut halves, |half, _| half);
                samplers::normals32(&halves, a as f32, &table, to);
            })
        }
        (Distribution::Normal, _) => write(target, stream, 2, |first, to: &mut [f64]| {
            let source = source.at_even();
            in_pairs(to, |offset, to| {
                let mut words = [0_u64; PIECE];
                let words = &mut words[..to.len()];
                source.read(first + offset, words);
                samplers::normals(words, [a, b], to);
            });
        }),
        (Distribution::Exponential, ScalarType::Float32) => {
            let table = Table::scaled(samplers::exponential_rows(), b as f32);
            write(target, stream, 1, |first, to: &mut [f32]| {
                let mut halves = vec![0_u32; to.len()];
                source.whole().read_halves(first, &mut halves, |half, _| half);
                samplers::exponentials32(&halves, &table, to);
            })
        }
        (Distribution::Exponential, _) => write(target, stream, 1, |first, to: &mut [f64]| {
            let mut words = vec![0_u64; to.len()];
            source.read(first, &mut words);
            samplers::exponentials(&words, b, to);
        }),
        (Distribution::Bounded, ScalarType::Bool | ScalarType::UInt8) => bounded::<u8>(target, task, &source, stream),
        (Distribution::Bounded, ScalarType::Int8) => bounded::<i8>(target, task, &source, stream),
        (Distribution::Bounded, ScalarType::Int16) => bounded::<i16>(target, task, &source, stream),
        (Distribution::Bounded, ScalarType::UInt16) => bounded::<u16>(target, task, &source, stream),
        (Distribution::Bounded, ScalarType::Int32) => bounded::<i32>(target, task, &source, stream),
        (Distribution::Bounded, ScalarType::UInt32) => bounded::<u32>(target, task, &source, stream),
        (Distribution::Bounded, _) => bounded::<u64>(target, task, &source, stream),
    }
}

/// Fills an array with elements that a sampler computes one by one.
pub(super) fn sample(target: &Array, task: &Sampling<'_>, stream: &Stream) -> Result<()> {
    match target.dtype().kind() {
        ScalarType::Int8 => converted::<i8>(target, task, stream),
        ScalarType::Int16 => converted::<i16>(target, task, stream),
        ScalarType::Int32 => converted::<i32>(target, task, stream),
        ScalarType::Int64 => converted::<i64>(target, task, stream),
        ScalarType::UInt8 | ScalarType::Bool => converted::<u8>(target, task, stream),
        ScalarType::UInt16 => converted::<u16>(target, task, stream),
        ScalarType::UInt32 => converted::<u32>(target, task, stream),
        ScalarType::UInt64 => converted::<u64>(target, task, stream),
        ScalarType::Float32 => converted::<f32>(target, task, stream),
        _ => converted::<f64>(target, task, stream),
    }
}

fn converted<T: RandomElement>(target: &Array, task: &Sampling<'_>, stream: &Stream) -> Result<()> {
    let is_whole = task.sampler.is_whole();
    write(target, stream, 1, |first, to: &mut [T]| {
        let mut bits = vec![0_u64; to.len()];
        samplers::sample(task, first, &mut bits);
        for (to, bits) in to.iter_mut().zip(bits) {
            *to = if is_whole { T::of_integer(bits as i64) } else { T::of_number(f64::from_bits(bits)) };
        }
    })
}

/// Computes bounded integers by Lemire's method, like the kernel's function `pygpu_accepted`.
fn bounded<T: RandomElement>(
    target: &Array,
    task: &RandomFill<'_>,
    source: &Numbers<'_>,
    stream: &Stream,
) -> Result<()> {
    let [range, threshold, base] = task.bounds;
    let result = |found: u64| T::of_integer(base.wrapping_add(found) as i64);
    if range <= 1 << 32 {
        return write(target, stream, 1, |first, to: &mut [T]| {
            source.read_halves(first, to, |half, element| {
                let mut product = u64::from(half) * range;
                if u64::from(product as u32) < threshold {
                    let mut words = source.aside(element);
                    while u64::from(product as u32) < threshold {
                        product = (words.next_block() >> 32) * range;
                    }
                }
                result(product >> 32)
            });
        });
    }
    write(target, stream, 1, |first, to: &mut [T]| {
        source.read_words(first, to, |word, element| {
            let mut product = u128::from(word) * u128::from(range);
            if (product as u64) < threshold {
                let mut words = source.aside(element);
                while (product as u64) < threshold {
                    product = u128::from(words.next_block()) * u128::from(range);
                }
            }
            result((product >> 64) as u64)
        });
    })
}

/// Calls a function for parts of an array, each with an even number of elements. If the array has an odd number of
/// elements, the last element is computed together with an unused one.
fn in_pairs<T: RandomElement>(to: &mut [T], compute: impl Fn(usize, &mut [T])) {
    for (piece, to) in to.chunks_mut(PIECE).enumerate() {
        let even = to.len() / 2 * 2;
        let (pairs, rest) = to.split_at_mut(even);
        compute(piece * PIECE, pairs);
        if let [last] = rest {
            let mut pair = [T::default(); 2];
            compute(piece * PIECE + even, &mut pair);
            *last = pair[0];
        }
    }
}

/// Block and lane from which an element draws further random words if its first words are rejected.
type Lane = (u64, u64);

/// Generates consecutive random numbers of a sequence, beginning at a position of the sequence.
struct Numbers<'a> {
    keys: &'a [u64; KEYS],
    counter: [u64; 4],
    number: u64,
    half: Option<u32>,
}

impl<'a> Numbers<'a> {
    fn of(position: StreamPosition, keys: &'a [u64; KEYS]) -> Self {
        let (counter, number) = position.start();
        Self { keys, counter, number, half: position.half() }
    }

    /// Returns a copy of this generator without the half number that it kept from the previous call, for distributions
    /// that use whole numbers only.
    fn whole(&self) -> Self {
        Self { half: None, ..*self }
    }

    fn at_even(&self) -> Self {
        Self { number: self.number.next_multiple_of(2), half: None, ..*self }
    }

    /// Returns further random words for an element whose first words were rejected.
    fn aside(&self, (block, lane): Lane) -> Words<'a> {
        Words::new(later(self.counter, block), lane, self.keys)
    }

    /// Reads consecutive random numbers, beginning `first` numbers after the generator's current position.
    fn read(&self, first: usize, to: &mut [u64]) {
        self.read_words(first, to, |word, _| word);
    }

    /// Computes elements from the numbers that begin `first` numbers after the generator's current position.
    fn read_words<T>(&self, first: usize, to: &mut [T], compute: impl Fn(u64, Lane) -> T) {
        self.read_blocks::<T, 4>(self.number + first as u64, to, |block, words, lane| {
            compute(words[lane], (block, lane as u64))
        });
    }

    /// Computes elements from blocks of numbers, `EACH` elements per block, beginning with element `at` of the first
    /// block.
    #[inline(always)]
    fn read_blocks<T, const EACH: usize>(&self, at: u64, to: &mut [T], element: impl Fn(u64, &[u64; 4], usize) -> T) {
        let (mut block, start) = (at / EACH as u64, (at % EACH as u64) as usize);
        let words_of = |block: u64| block_of(later(self.counter, block), self.keys);
        let (head, body) = to.split_at_mut(to.len().min((EACH - start) % EACH));
        if !head.is_empty() {
            let words = words_of(block);
            for (lane, to) in head.iter_mut().enumerate() {
                *to = element(block, &words, start + lane);
            }
            block += 1;
        }
        let mut blocks = body.chunks_exact_mut(EACH);
        for to in &mut blocks {
            let words = words_of(block);
            for (lane, to) in to.iter_mut().enumerate() {
                *to = element(block, &words, lane);
            }
            block += 1;
        }
        let words = words_of(block);
        for (lane, to) in blocks.into_remainder().iter_mut().enumerate() {
            *to = element(block, &words, lane);
        }
    }

    /// Computes elements from halves of numbers that begin `first` halves after the generator's current position. If a
    /// half was kept from the previous call, this kept half is the first of them.
    fn read_halves<T>(&self, first: usize, to: &mut [T], compute: impl Fn(u32, Lane) -> T) {
        let kept = self.half.filter(|_| first == 0 && !to.is_empty());
        let (own, to) = to.split_at_mut(usize::from(kept.is_some()));
        if let (Some(half), [own]) = (kept, own) {
            *own = compute(half, (0, LANE_OF_HALF));
        }
        let is_later = self.half.is_some() && first > 0;
        let at = self.number * 2 + first as u64 - u64::from(is_later);
        self.read_blocks::<T, 8>(at, to, |block, words, lane| {
            compute((words[lane / 2] >> (lane % 2 * 32)) as u32, (block, lane as u64))
        });
    }
}

/// Computes the elements of an array in parts, each of which has a multiple of `unit` elements, and copies the parts in
/// stream order.
fn write<T: RandomElement>(
    target: &Array,
    stream: &Stream,
    unit: usize,
    compute: impl Fn(usize, &mut [T]) + Sync,
) -> Result<()> {
    let count = target.layout().size() as usize;
    let mut elements = vec![T::default(); count];
    // The number of processors is not queried for a small call, because the system reads it from files, which takes
    // longer than the computation.
    let threads = match count / PART {
        0 | 1 => 1,
        parts => thread::available_parallelism().map_or(1, usize::from).min(parts),
    };
    let part = count.div_ceil(threads).next_multiple_of(unit).max(1);
    if threads == 1 {
        compute(0, &mut elements);
    } else {
        thread::scope(|scope| {
            for (index, elements) in elements.chunks_mut(part).enumerate() {
                let compute = &compute;
                scope.spawn(move || compute(index * part, elements));
            }
        });
    }
    let shape: Dims = target.layout().shape().collect();
    let layout = Layout::contiguous(&shape, size_of::<T>() as i64, MemoryOrder::C)?;
    // SAFETY: the vector has as many elements as the contiguous array, and the function waits for the copy before the
    // vector is dropped.
    unsafe { copy::to_device_and_wait(target, &HostBuffer { address: elements.as_ptr() as usize, layout }, stream) }
}
