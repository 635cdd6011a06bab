//! Generates random numbers: by the generator Philox4x64-10, from any position of its stream, with several
//! distributions. A stream in this module is a sequence of random numbers.
//!
//! Element `i` is computed from the number at stream position `start + i`, so that results depend neither on the launch
//! shape nor on the device. The caller passes `start` as a value ([`PositionSource::Here`]), or an array in device
//! memory that contains it ([`PositionSource::There`]). A captured launch reads this array each time it runs.
//!
//! On the CPU backend the module [`host_sampling`] computes the same elements, except in captures.

mod host_sampling;
mod sample;
mod samplers;
mod stream_position;

use crate::elementwise_kernel::{self, at_once};
use crate::ufunc::kernel::stored_as;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, KernelSource, launch};
use pygpu_layout::{Dims, MemoryOrder};
use pygpu_memory::{Access, BlockUse, stream_captures};

pub use sample::{SampleFill, sample};
pub use samplers::Sampler;
pub use stream_position::{Amount, NUMBERS, StreamPosition, block};

const PHILOX: &str = include_str!("philox.cu");
const FILL: &str = include_str!("fill.cu");
const ADVANCE_TEXT: &str = include_str!("advance.cu");
const ADVANCE: &str = "pygpu_random_advance";

/// The compiled kernels of this module.
static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Random);

const THREADS: u32 = 256;
const THREADS_ON_CPU: u32 = 16;
/// Number of blocks per multiprocessor. It is several times the four to six blocks that run concurrently, so that an
/// incomplete last wave costs little. It is small enough that the setup of a block takes little time relative to the
/// block's work.
const BLOCKS: u64 = 24;

const FLOATS: [ScalarType; 2] = [ScalarType::Float32, ScalarType::Float64];
const WHOLE: [ScalarType; 8] = [
    ScalarType::Int8,
    ScalarType::Int16,
    ScalarType::Int32,
    ScalarType::Int64,
    ScalarType::UInt8,
    ScalarType::UInt16,
    ScalarType::UInt32,
    ScalarType::UInt64,
];

/// Distributions of the generated elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// The 64-bit numbers of the generator, without any conversion.
    Raw,
    /// Integers from 0 up to, but excluding, a bound. The smallest value is added to them.
    Bounded,
    /// Uniform distribution on [0, 1).
    Uniform,
    /// Normal distribution with mean 0 and standard deviation 1.
    Normal,
    /// Exponential distribution with mean 1.
    Exponential,
}

impl Distribution {
    /// Returns the distribution that has the given name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "raw" => Self::Raw,
            "bounded" => Self::Bounded,
            "uniform" => Self::Uniform,
            "normal" => Self::Normal,
            "exponential" => Self::Exponential,
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Raw => "pygpu_random_raw",
            Self::Bounded => "pygpu_random_bounded",
            Self::Uniform => "pygpu_random_uniform",
            Self::Normal => "pygpu_random_normal",
            Self::Exponential => "pygpu_random_exponential",
        }
    }

    /// Checks that the distribution can be generated for an element type.
    ///
    /// # Errors
    /// `TypeError` with the supported types.
    pub fn check(self, dtype: DType) -> Result<()> {
        let (is_float, is_whole) = (FLOATS.contains(&dtype.kind()), WHOLE.contains(&dtype.kind()));
        let (is_made, of) = match self {
            Self::Raw => (matches!(dtype.kind(), ScalarType::UInt64 | ScalarType::Int64), "int64 and uint64"),
            Self::Bounded => (is_whole || dtype.kind() == ScalarType::Bool, "integers and bool"),
            Self::Uniform | Self::Normal | Self::Exponential => (is_float, "float32 and float64"),
        };
        if is_made {
            return Ok(());
        }
        Err(unsupported(dtype, &format!("{self:?}"), of))
    }
}

fn unsupported(dtype: DType, of: &str, supported: &str) -> Error {
    Error::type_error(format!("Unsupported dtype {} for {of} random numbers, which are {supported}", dtype.name()))
}

/// Source of the stream position at which a launch begins.
#[derive(Clone, Copy)]
pub enum PositionSource<'a> {
    /// The position itself, which the host passes to the kernel.
    Here(StreamPosition),
    /// An array in device memory, which contains the position when the launch runs.
    There(&'a Array),
}

/// A request to fill an array with random elements.
pub struct RandomFill<'a> {
    /// The distribution of the elements.
    pub distribution: Distribution,
    /// The key of the generator, which identifies the sequence.
    pub key: [u64; 2],
    /// The position in the sequence at which the elements begin.
    pub place: PositionSource<'a>,
    /// Parameters of bounded integers: the number of possible values, the threshold of Lemire's method below which a
    /// product is rejected, and the smallest value.
    pub bounds: [u64; 3],
    /// Offset and factor of a linear map: a number `x` of the distribution becomes the element `offset + factor * x`.
    pub scale: [f64; 2],
}

impl RandomFill<'_> {
    /// Whether an element of type `kind` is computed from only half of a 64-bit number.
    fn halves(&self, kind: ScalarType) -> bool {
        match self.distribution {
            Distribution::Bounded => self.bounds[0] <= 1 << 32,
            Distribution::Uniform | Distribution::Normal | Distribution::Exponential => kind == ScalarType::Float32,
            Distribution::Raw => false,
        }
    }

    /// Whether the unused half of a 64-bit number is kept for the next call, as in NumPy.
    fn shares(&self, kind: ScalarType) -> bool {
        self.halves(kind) && matches!(self.distribution, Distribution::Bounded | Distribution::Uniform)
    }

    /// Returns the part of the random sequence that `size` elements of this type use.
    pub fn amount(&self, kind: ScalarType, size: u64) -> Amount {
        let (halves, is_normal) = (self.halves(kind), self.distribution == Distribution::Normal);
        let count = match halves {
            true if self.shares(kind) => size,
            true => size.div_ceil(2),
            false if is_normal => size.next_multiple_of(2),
            false => size,
        };
        Amount { count, halves: self.shares(kind), even: is_normal && !halves }
    }
}

/// Fills an array with random elements.
///
/// # Errors
/// `TypeError` for an unsupported type; `ValueError` for read-only memory; `OutOfMemory`; compiler errors; driver
/// errors.
pub fn draw(target: &Array, task: &RandomFill<'_>, stream: &Stream) -> Result<()> {
    target.check_writable("random numbers")?;
    task.distribution.check(target.dtype())?;
    if target.layout().size() == 0 {
        return Ok(());
    }
    if let (PositionSource::Here(position), true) = (task.place, is_drawn_by_host(stream)?) {
        return host_sampling::fill(target, task, position, stream);
    }
    on_dense(target, stream, |target| fill(target, task, stream))
}

/// Whether the host, and not a kernel, computes the elements. This is the case on the CPU backend, except in a capture,
/// because each launch of a captured graph must draw new numbers.
fn is_drawn_by_host(stream: &Stream) -> Result<bool> {
    Ok(stream.device().is_cpu() && !stream_captures::is_capturing(stream)?)
}

/// Fills contiguous memory, which is then copied into the target if the target is not contiguous or not aligned.
fn on_dense(target: &Array, stream: &Stream, fill: impl FnOnce(&Array) -> Result<()>) -> Result<()> {
    let is_aligned = target.address().is_multiple_of(target.dtype().itemsize());
    if target.layout().is_c_contiguous() && is_aligned {
        return fill(target);
    }
    let shape: Dims = target.layout().shape().collect();
    let dense = Array::empty(&shape, target.dtype(), MemoryOrder::C, stream.clone())?;
    fill(&dense)?;
    copy::between(target, &dense, stream)
}

fn fill(target: &Array, task: &RandomFill<'_>, stream: &Stream) -> Result<()> {
    let device = stream.device();
    let threads = if device.is_cpu() { THREADS_ON_CPU } else { THREADS };
    let kind = target.dtype().kind();
    let function = compiled(task, kind, threads, stream)?;
    let count = target.layout().size() as u64;
    let each = if task.halves(kind) { 8 } else { 4 };
    let (mut arguments, uses) = first_arguments(target, &task.place);
    let mut numbers = [0; stream_position::KEYS + 6];
    let [a, b] = task.scale.map(f64::to_bits);
    let [a32, b32] = task.scale.map(|one| u64::from((one as f32).to_bits()));
    let [range, threshold, base] = task.bounds;
    numbers[..stream_position::KEYS].copy_from_slice(&stream_position::keys(task.key));
    numbers[stream_position::KEYS..].copy_from_slice(&[range, threshold, base, a, b, b32 << 32 | a32]);
    push_structure(&mut arguments, numbers);
    let blocks = (count + each).div_ceil(each * u64::from(threads));
    let blocks = blocks.clamp(1, u64::from(at_once(device)) * BLOCKS) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the arguments match the kernel's declared parameters; the kernel writes the contiguous elements of the
    // target, and reads one position.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}

/// Returns the arguments that the kernels have in common: the memory, the count of elements and the position.
fn first_arguments<'a>(target: &'a Array, place: &PositionSource<'a>) -> (Arguments, Vec<BlockUse<'a>>) {
    let mut uses: Vec<BlockUse<'a>> = vec![(target.allocation(), Access::Write)];
    let (kept, here) = match place {
        PositionSource::Here(position) => (0, position.numbers()),
        PositionSource::There(array) => {
            uses.push((array.allocation(), Access::Read));
            (array.address() as u64, [0; NUMBERS])
        }
    };
    let mut arguments = Arguments::new();
    arguments.push_word(target.address() as u64);
    arguments.push_word(target.layout().size() as u64);
    arguments.push_word(kept);
    push_structure(&mut arguments, here);
    (arguments, uses)
}

fn push_structure<const N: usize>(arguments: &mut Arguments, numbers: [u64; N]) {
    arguments.push(numbers.map(u64::to_le_bytes).as_flattened());
}

fn compiled(task: &RandomFill<'_>, kind: ScalarType, threads: u32, stream: &Stream) -> Result<Function> {
    let name = task.distribution.name();
    let halves = task.halves(kind);
    // The kernel omits the addition of a mean of 0, because an element needs only about thirty instructions without
    // that addition.
    let is_centered = halves && task.distribution == Distribution::Normal && task.scale[0] as f32 == 0.0;
    let key = [task.distribution as u8, u8::from(halves), kind as u8, u8::from(is_centered)];
    COMPILED.function(stream.device(), &key, name, || {
        let own = task.distribution as u8;
        let definitions = format!(
            "#define PYGPU_RAW 0\n#define PYGPU_BOUNDED 1\n#define PYGPU_UNIFORM 2\n#define PYGPU_NORMAL 3\n\
             #define PYGPU_EXPONENTIAL 4\n#define PYGPU_KIND {own}\n#define PYGPU_HALVES {}\n\
             #define PYGPU_SHARES {}\n#define PYGPU_THREADS {threads}\n#define PYGPU_NAME {name}\n#define PYGPU_BYTES {}\n\
             typedef {} pygpu_out;\n",
            u8::from(halves),
            u8::from(task.shares(kind)),
            DType::new(kind).itemsize(),
            stored_as(kind),
        );
        let table = if halves { table_of(task.distribution) } else { None };
        let definitions = definitions
            + &format!("#define PYGPU_IS_CENTERED {}\n", u8::from(is_centered))
            + &definitions_of_table(table.unwrap_or_default());
        source(name, &definitions, &[&samplers::ELEMENTARY.concat(), FILL])
    })
}

/// Returns the table from which kernels compute a distribution in single precision.
fn table_of(distribution: Distribution) -> Option<&'static [samplers::Row]> {
    match distribution {
        Distribution::Normal => Some(samplers::normal_rows()),
        Distribution::Exponential => Some(samplers::exponential_rows()),
        _ => None,
    }
}

/// Returns the number of intervals of a quantile table, and C source that contains the bits of all its rows.
fn definitions_of_table(rows: &[samplers::Row]) -> String {
    let bits: Vec<String> =
        rows.as_flattened().iter().map(|coefficient| format!("{:#x}", coefficient.to_bits())).collect();
    format!("#define PYGPU_ROWS {}\n#define PYGPU_TEXT_OF_ROWS {}\n", rows.len().saturating_sub(1), bits.join(","))
}

// Fused multiply-add is disabled, so that products and sums are rounded individually, as in NumPy.
fn source(name: &str, definitions: &str, texts: &[&str]) -> KernelSource {
    let text = format!("{definitions}{PHILOX}{}", texts.concat());
    elementwise_kernel::source(name, text, &["--fmad=false".to_owned()])
}

/// Advances a position in device memory by the amount of random numbers that a call uses.
///
/// # Errors
/// Compiler errors; driver errors.
pub fn advance(place: &Array, key: [u64; 2], amount: &Amount, stream: &Stream) -> Result<()> {
    let function = COMPILED.function(stream.device(), b"+", ADVANCE, || source(ADVANCE, "", &[ADVANCE_TEXT]))?;
    let mut arguments = Arguments::new();
    arguments.push_word(place.address() as u64);
    push_structure(&mut arguments, stream_position::keys(key));
    for number in [amount.count, amount.halves.into(), amount.even.into()] {
        arguments.push_word(number);
    }
    let shape = LaunchShape { grid: [1, 1, 1], block: [1, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the arguments match the kernel's declared parameters; the kernel reads and writes the words of one
    // position.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &[(place.allocation(), Access::Write)]) }
}
