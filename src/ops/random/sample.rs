//! Generates distributions whose elements are computed one by one. No two elements depend on the same random word.

use super::samplers::{ELEMENTARY, SAMPLERS, Sampler, Sampling};
use super::{Amount, BLOCKS, COMPILED, FLOATS, PositionSource, THREADS, THREADS_ON_CPU, WHOLE};
use super::{
    first_arguments, host_sampling, is_drawn_by_host, on_dense, push_structure, source, stream_position, unsupported,
};
use crate::elementwise_kernel::at_once;
use crate::ufunc::kernel::stored_as;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::{Error, Result};
use pygpu_copy::{self as copy, HostBuffer};
use pygpu_device::stream::Stream;
use pygpu_kernel::{Function, launch};
use pygpu_layout::{Dims, Layout, MemoryOrder};
use pygpu_memory::Access;

/// A request to fill an array with the elements of a sampler.
pub struct SampleFill<'a> {
    /// The distribution.
    pub sampler: Sampler,
    /// The key of the generator, which identifies the sequence.
    pub key: [u64; 2],
    /// The position in the sequence at which the elements begin.
    pub place: PositionSource<'a>,
    /// The parameters of the sampler that have one value for all elements.
    pub values: [f64; 3],
    /// Parameters for which an array supplies one float64 value per element, in C order.
    pub arrays: [Option<&'a Array>; 3],
}

impl SampleFill<'_> {
    /// Returns the part of the random sequence that `size` elements use. Each element uses one number, from which all
    /// words of the element are derived.
    pub const fn amount(size: u64) -> Amount {
        Amount { count: size, halves: false, even: false }
    }

    fn check(&self, target: &Array) -> Result<()> {
        let kind = target.dtype().kind();
        let (is_made, supported) = match self.sampler.is_whole() {
            true => (FLOATS.contains(&kind) || WHOLE.contains(&kind) || kind == ScalarType::Bool, "real numbers"),
            false => (FLOATS.contains(&kind), "float32 and float64"),
        };
        if !is_made {
            return Err(unsupported(target.dtype(), self.sampler.name(), supported));
        }
        let size = target.layout().size();
        for array in self.arrays.iter().flatten() {
            let fits = array.layout().is_c_contiguous() && array.device() == target.device();
            if !fits || array.layout().size() != size || array.dtype().kind() != ScalarType::Float64 {
                return Err(Error::value(format!(
                    "{}: a parameter has {} elements of {} on {}, and the result {size} on {}",
                    self.sampler.name(),
                    array.layout().size(),
                    array.dtype().name(),
                    array.device(),
                    target.device()
                )));
            }
        }
        Ok(())
    }
}

/// Fills an array with the elements of a sampler.
///
/// # Errors
/// `TypeError` for an unsupported type; `ValueError` for read-only memory, and for arrays of parameters whose shape,
/// dtype or device does not suit the target; `OutOfMemory`; compiler errors; driver errors.
pub fn sample(target: &Array, task: &SampleFill<'_>, stream: &Stream) -> Result<()> {
    target.check_writable("random numbers")?;
    task.check(target)?;
    if target.layout().size() == 0 {
        return Ok(());
    }
    if !is_drawn_by_host(stream)? {
        return on_dense(target, stream, |target| fill(target, task, stream));
    }
    let PositionSource::Here(position) = task.place else {
        return on_dense(target, stream, |target| fill(target, task, stream));
    };
    let parameters = task.arrays.map(|array| array.map(|array| on_host(array, stream)));
    let [a, b, c] = parameters.map(Option::transpose);
    let (a, b, c) = (a?, b?, c?);
    let (counter, number) = position.start();
    let keys = stream_position::keys(task.key);
    let arrays = [a.as_deref(), b.as_deref(), c.as_deref()];
    let sampling = Sampling { sampler: task.sampler, keys: &keys, counter, number, values: task.values, arrays };
    host_sampling::sample(target, &sampling, stream)
}

/// Copies the elements of a contiguous array to the host.
fn on_host(array: &Array, stream: &Stream) -> Result<Vec<f64>> {
    let mut elements = vec![0.0_f64; array.layout().size() as usize];
    let shape: Dims = array.layout().shape().collect();
    let layout = Layout::contiguous(&shape, size_of::<f64>() as i64, MemoryOrder::C)?;
    let buffer = HostBuffer { address: elements.as_mut_ptr() as usize, layout };
    // SAFETY: the vector has as many elements as the contiguous array, and the function waits for the copy before it
    // uses the vector.
    unsafe { copy::to_host_and_wait(&buffer, array, stream) }?;
    Ok(elements)
}

fn fill(target: &Array, task: &SampleFill<'_>, stream: &Stream) -> Result<()> {
    let device = stream.device();
    let threads = if device.is_cpu() { THREADS_ON_CPU } else { THREADS };
    let has_arrays = task.arrays.iter().any(Option::is_some);
    let function = compiled(task.sampler, target.dtype().kind(), has_arrays, threads, stream)?;
    let (mut arguments, mut uses) = first_arguments(target, &task.place);
    let mut numbers = [0; stream_position::KEYS + 6];
    numbers[..stream_position::KEYS].copy_from_slice(&stream_position::keys(task.key));
    for (index, (value, array)) in task.values.iter().zip(&task.arrays).enumerate() {
        numbers[stream_position::KEYS + index] = value.to_bits();
        if let Some(array) = array {
            numbers[stream_position::KEYS + 3 + index] = array.address() as u64;
            // Each memory block is recorded once, because arrays of parameters and the target may be in one block.
            if !uses.iter().any(|(used, _)| used.address() == array.allocation().address()) {
                uses.push((array.allocation(), Access::Read));
            }
        }
    }
    push_structure(&mut arguments, numbers);
    let count = target.layout().size() as u64;
    let blocks = count.div_ceil(threads.into()).clamp(1, u64::from(at_once(device)) * BLOCKS) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the arguments match the kernel's declared parameters; the kernel writes the contiguous elements of the
    // target, and reads one position, and one element of each array of parameters per element.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}

fn compiled(sampler: Sampler, kind: ScalarType, has_arrays: bool, threads: u32, stream: &Stream) -> Result<Function> {
    let name = format!("pygpu_random_{}", sampler.name());
    let key = [b's', sampler as u8, kind as u8, u8::from(has_arrays)];
    COMPILED.function(stream.device(), &key, &name, || {
        let definitions = format!(
            "{}#define PYGPU_THREADS {threads}\n#define PYGPU_NAME {name}\ntypedef {} pygpu_out;\n",
            sampler.definitions(has_arrays),
            stored_as(kind),
        );
        let texts = [ELEMENTARY.concat(), SAMPLERS.concat(), include_str!("sample.cu").to_owned()];
        source(&name, &definitions, &texts.each_ref().map(String::as_str))
    })
}
