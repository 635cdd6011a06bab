//! Sorts rows that fit into one block of threads.

use super::COMPILED;
use super::sort_input::SortInput;
use crate::{elementwise_kernel, kernel_source};
use pygpu_backend::LaunchShape;
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, KernelSource, launch};
use pygpu_memory::{Access, BlockUse};

const TEXT: &str = include_str!("block_sort.cu");
const NAME: &str = "pygpu_sort_rows";

/// Maximum number of elements that one thread block sorts: `FEW` for short rows, so that many blocks run concurrently,
/// and `MANY` for longer rows. Keys of 16 bytes, sorted together with their positions, need 40 KiB of shared memory.
const FEW: i64 = 512;
const MANY: i64 = 2048;

/// Whether one block of threads can sort a row of `count` elements.
pub fn has_room(count: i64) -> bool {
    count <= MANY
}

/// Launches the sort of several rows.
///
/// # Errors
/// Compiler errors; driver errors.
pub fn run(rows: &SortInput<'_>, stream: &Stream) -> Result<()> {
    let log = (rows.count as u64).next_power_of_two().ilog2();
    let capacity = if rows.count <= FEW { FEW } else { MANY };
    let threads = (capacity / 2) as u32;
    let with_places = rows.places.is_some();
    let mut key = VariantKey::from_slice(&[b'r', with_places.into(), capacity.ilog2() as u8]);
    key.extend(rows.keys.identity());
    let source = || source(rows, capacity, threads);
    let function = COMPILED.function(stream.device(), &key, NAME, source)?;
    let blocks = (rows.rows as u64).div_ceil(capacity as u64 >> log);
    let shape = LaunchShape {
        // The number of thread blocks always fits into 32 bits, because 2^32 blocks would sort more elements than a
        // device's memory can contain.
        grid: [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1],
        block: [threads, 1, 1],
        shared: 0,
        cooperative: false,
    };
    let outputs = [rows.values, rows.places];
    let mut values = Arguments::new();
    values.push_word(rows.input.address() as u64);
    outputs.iter().for_each(|output| values.push_word(output.map_or(0, |output| output.address() as u64)));
    values.push_word(rows.rows as u64);
    values.push_word(rows.count as u64);
    values.push_word(log.into());
    let mut uses: Vec<BlockUse<'_>> = vec![(rows.input.allocation(), Access::Read)];
    uses.extend(outputs.into_iter().flatten().map(|output| (output.allocation(), Access::Write)));
    // SAFETY: the kernel was compiled for sort keys of this type; the arrays have the numbers of elements that are
    // passed to the kernel.
    unsafe { launch::launch(&function, &shape, stream, &mut values, &uses) }
}

fn source(rows: &SortInput<'_>, capacity: i64, threads: u32) -> KernelSource {
    let keys = rows.keys.text();
    let head = kernel_source::head(&[&keys], "");
    let with_places = u8::from(rows.places.is_some());
    let text = format!(
        "{head}{keys}#define PYGPU_CAPACITY {capacity}\n#define PYGPU_THREADS {threads}\n#define PYGPU_PLACES {with_places}\n{TEXT}"
    );
    elementwise_kernel::source(NAME, text, &[])
}
