//! Random numbers: Philox4x64-10 from any place of its stream on, and what is made of its numbers.
//!
//! An element is made of the number of the stream that stands at its place, so results depend neither on the launch nor on the device.
//! Where the stream is, whoever calls knows ([`Place::Here`]), or the memory of the device does ([`Place::There`]), which a captured
//! launch reads whenever it runs.

use crate::array::Array;
use crate::backend::LaunchShape;
use crate::codegen::store::Family;
use crate::copy;
use crate::dtype::Kind;
use crate::error::{Error, Result};
use crate::kernel::{Arguments, Function, Source, launch};
use crate::layout::{Dims, Order};
use crate::memory::{Access, Use};
use crate::ops::elementwise::{self, at_once};
use crate::ops::ufunc::kernel::stored_as;
use crate::stream::Stream;

const TEXT: &str = include_str!("philox.cu");
const ADVANCE: &str = "pygpu_random_advance";

/// The kernels of this folder.
static COMPILED: Family = Family::of_library(FAMILY);
const FAMILY: u16 = 40;

const THREADS: u32 = 256;
const THREADS_ON_CPU: u32 = 16;
/// Blocks for each processor, so many that the last ones take little of the time.
const BLOCKS: u64 = 64;
/// Numbers of a place in memory.
pub const PLACE: usize = 8;

/// What is made of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// Numbers of 64 bits as they are.
    Raw,
    /// Whole numbers below a range.
    Bounded,
    /// From 0 on, below 1.
    Uniform,
    /// Of mean 0 and deviation 1.
    Normal,
    /// Of mean 1.
    Exponential,
    /// Counts of a mean.
    Poisson,
}

impl Distribution {
    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "raw" => Self::Raw,
            "bounded" => Self::Bounded,
            "uniform" => Self::Uniform,
            "normal" => Self::Normal,
            "exponential" => Self::Exponential,
            "poisson" => Self::Poisson,
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
            Self::Poisson => "pygpu_random_poisson",
        }
    }

    fn makes(self, kind: Kind) -> bool {
        let is_float = matches!(kind, Kind::Float32 | Kind::Float64);
        let is_whole = matches!(
            kind,
            Kind::Int8
                | Kind::Int16
                | Kind::Int32
                | Kind::Int64
                | Kind::UInt8
                | Kind::UInt16
                | Kind::UInt32
                | Kind::UInt64
        );
        match self {
            Self::Raw => matches!(kind, Kind::UInt64 | Kind::Int64),
            Self::Bounded => is_whole || kind == Kind::Bool,
            Self::Uniform | Self::Normal | Self::Exponential => is_float,
            Self::Poisson => is_float || is_whole,
        }
    }
}

/// Where a stream is: the counter, the number within its block, and the half of a number that is left.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// At these numbers.
    Here([u64; PLACE]),
    /// At those that an array holds when the launch runs.
    There(&'a Array),
}

/// What is asked for.
pub struct Task<'a> {
    /// What is made.
    pub distribution: Distribution,
    /// Whether an element is made of half a number.
    pub halves: bool,
    /// The stream.
    pub key: [u64; 2],
    /// Where it is.
    pub place: Place<'a>,
    /// Of bounded ones: how many there are, what of a product is drawn again, and the least one.
    pub bounds: [u64; 3],
    /// What is added and by what is multiplied; or the mean of counts.
    pub scale: [f64; 2],
    /// A mean for each element, in C order and of the target's type.
    pub means: Option<&'a Array>,
}

impl Task<'_> {
    /// Elements that a block of four numbers gives.
    const fn each(&self) -> u64 {
        if self.halves { 8 } else { 4 }
    }

    /// Whether halves that are left over are for the next one: NumPy's draws.
    const fn shares(&self) -> bool {
        self.halves && matches!(self.distribution, Distribution::Bounded | Distribution::Uniform)
    }
}

/// Writes random elements.
///
/// # Errors
/// `TypeError` for a type that is not made; `ValueError` for read-only memory; `OutOfMemory`; the compiler's; the driver's.
pub fn draw(target: &Array, task: &Task<'_>, stream: &Stream) -> Result<()> {
    target.check_writable("random numbers")?;
    if !task.distribution.makes(target.dtype().kind()) {
        let name = target.dtype().name();
        return Err(Error::type_error(format!("no random numbers of {:?} are made as {name}", task.distribution)));
    }
    if target.layout().size() == 0 {
        return Ok(());
    }
    let is_aligned = target.address().is_multiple_of(target.dtype().itemsize());
    if target.layout().is_c_contiguous() && is_aligned {
        return fill(target, task, stream);
    }
    let shape: Dims = target.layout().shape().collect();
    let dense = Array::empty(&shape, target.dtype(), Order::C, stream.clone())?;
    fill(&dense, task, stream)?;
    copy::between(target, &dense, stream)
}

fn fill(target: &Array, task: &Task<'_>, stream: &Stream) -> Result<()> {
    let device = stream.device();
    let threads = if device.is_cpu() { THREADS_ON_CPU } else { THREADS };
    let function = compiled(task, target.dtype().kind(), threads, stream)?;
    let count = target.layout().size() as u64;
    let mut uses: Vec<Use<'_>> = vec![(target.allocation(), Access::Write)];
    let (kept, here) = match task.place {
        Place::Here(numbers) => (0, numbers),
        Place::There(array) => {
            uses.push((array.allocation(), Access::Read));
            (array.address() as u64, [0; PLACE])
        }
    };
    // In place the means are the target itself.
    uses.extend(
        task.means.filter(|means| means.address() != target.address()).map(|means| (means.allocation(), Access::Read)),
    );
    let mut arguments = Arguments::new();
    arguments.push_word(target.address() as u64);
    arguments.push_word(count);
    arguments.push_word(kept);
    push_structure(&mut arguments, &here);
    let [key, other] = task.key;
    let [range, threshold, base] = task.bounds;
    push_structure(
        &mut arguments,
        &[key, other, range, threshold, base, task.scale[0].to_bits(), task.scale[1].to_bits()],
    );
    arguments.push_word(task.means.map_or(0, |means| means.address() as u64));
    let blocks = (count + task.each()).div_ceil(task.each() * u64::from(threads));
    let blocks = blocks.clamp(1, u64::from(at_once(device)) * BLOCKS) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the kernel's parameters; it writes as many elements as the target has side by side, and reads a place and the means.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}

fn push_structure(arguments: &mut Arguments, numbers: &[u64]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    arguments.push(&bytes);
}

fn compiled(task: &Task<'_>, kind: Kind, threads: u32, stream: &Stream) -> Result<Function> {
    let name = task.distribution.name();
    let key = [task.distribution as u8, u8::from(task.halves), kind as u8];
    COMPILED.function(stream.device(), &key, name, || {
        let Task { distribution, halves, .. } = task;
        let own = *distribution as u8;
        let definitions = format!(
            "#define PYGPU_RAW 0\n#define PYGPU_BOUNDED 1\n#define PYGPU_UNIFORM 2\n#define PYGPU_NORMAL 3\n\
             #define PYGPU_EXPONENTIAL 4\n#define PYGPU_POISSON 5\n#define PYGPU_KIND {own}\n#define PYGPU_HALVES {}\n\
             #define PYGPU_SHARES {}\n#define PYGPU_THREADS {threads}\n#define PYGPU_NAME {name}\ntypedef {} pygpu_out;\n",
            u8::from(*halves),
            u8::from(task.shares()),
            stored_as(kind),
        );
        source(name, &definitions)
    })
}

// A sum of a product is rounded twice, as NumPy's is.
fn source(name: &str, definitions: &str) -> Source {
    elementwise::source(name, format!("{definitions}{TEXT}"), &["--fmad=false".to_owned()])
}

/// Moves a place in memory on by so many numbers or halves; `even`: from an even number on.
///
/// # Errors
/// The compiler's; the driver's.
pub fn advance(place: &Array, key: [u64; 2], count: u64, halves: bool, even: bool, stream: &Stream) -> Result<()> {
    let function =
        COMPILED.function(stream.device(), b"+", ADVANCE, || source(ADVANCE, "#define PYGPU_ADVANCE 1\n"))?;
    let mut arguments = Arguments::new();
    let numbers = [place.address() as u64, key[0], key[1], count, u64::from(halves), u64::from(even)];
    numbers.into_iter().for_each(|number| arguments.push_word(number));
    let shape = LaunchShape { grid: [1, 1, 1], block: [1, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the kernel's parameters; it reads and writes the numbers of one place.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &[(place.allocation(), Access::Write)]) }
}
