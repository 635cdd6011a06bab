//! Copies and fills arrays of any layout within a device, by kernels.
//!
//! [`kernel_choice`] chooses the kernel, [`parameters`] builds its parameters, [`compile`] compiles it. The device code
//! is in the folder `device`, with one source for all vendors. Kernels are optional: without a compiler these functions
//! return `false` and the caller copies by other means.

mod compile;
mod fill;
mod gather;
mod kernel_choice;
mod parameters;

use compile::{CopyKernelId, CopyVariant};
use kernel_choice::{CopyKernel, ForcedKernel, Units};
use parameters::{CopyParameters, Tuning};

pub(super) use fill::{LONGEST, fill};
pub use gather::{Bounds, Indexed, Selection, check_capture, gather, gather_into, scatter};

use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_base::settings::{self, Variable};
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, launch};
use pygpu_layout::{ContiguousRuns, CopyBlocks};
use pygpu_memory::{Access, BlockUse};

/// Minimum width in bytes of rows that the driver copies as fast as a kernel.
const WIDE_ROWS: i64 = 1 << 20;

/// Maximum total size in bytes of rows that the driver copies in no more time than a kernel launch takes, whatever the
/// width of the rows.
const LITTLE: i64 = 16 << 10;

/// Maximum number of contiguous blocks that the driver copies in less time than the preparation of a kernel launch
/// takes.
const FEW: i64 = 2;

/// Settings from the environment variable `PYGPU_STRIDED_COPY`, for benchmarks and tests: `tiles`, `flat`, `driver`;
/// `group=8` for the rows of a strip of tiles, `lanes=8` for the threads that read adjacent vectors, `turns=2` for the
/// squares of a thread.
struct CopyOverrides {
    wish: ForcedKernel,
    tuning: Tuning,
    driver: bool,
}

fn overrides() -> &'static CopyOverrides {
    static OVERRIDES: ForkSafeOnce<CopyOverrides> = ForkSafeOnce::new();
    if let Some(copy_overrides) = OVERRIDES.get() {
        return copy_overrides;
    }
    let settings = settings::get();
    OVERRIDES.get_or_init(|| {
        let text = settings.text(Variable::STRIDED_COPY).unwrap_or_default();
        let mut copy_overrides = CopyOverrides { wish: ForcedKernel::None, tuning: Tuning::BEST, driver: false };
        for word in text.split(',') {
            match word {
                "tiles" => copy_overrides.wish = ForcedKernel::Tiles,
                "flat" => copy_overrides.wish = ForcedKernel::Flat,
                "driver" => copy_overrides.driver = true,
                _ => match word.split_once('=').map(|(name, number)| (name, number.parse::<i64>())) {
                    Some(("group", Ok(group @ 1..=4096))) => copy_overrides.tuning.group = group,
                    Some(("lanes", Ok(lanes @ (1 | 2 | 4 | 8 | 16)))) => copy_overrides.tuning.lanes = lanes,
                    Some(("turns", Ok(turns @ (1 | 2 | 4)))) => copy_overrides.tuning.turns = turns,
                    _ if word.is_empty() => {}
                    _ => settings::warn_ignored(
                        Variable::STRIDED_COPY,
                        &text,
                        "'tiles', 'flat', 'driver', 'group=8', 'lanes=8' and 'turns=2', with commas between them",
                    ),
                },
            }
        }
        copy_overrides
    })
}

/// Returns whether a kernel copies the given contiguous blocks faster than the driver.
pub(super) fn suit(blocks: &CopyBlocks) -> bool {
    match blocks {
        _ if overrides().driver => false,
        CopyBlocks::One { .. } => false,
        CopyBlocks::Uniform(rows) => {
            // If the source is broadcast along its rows or planes, the driver would read the same data from memory once
            // for each repetition.
            let is_read_again = (rows.height > 1 && rows.src_pitch == 0) || (rows.depth > 1 && rows.src_slice == 0);
            (rows.width < WIDE_ROWS || is_read_again)
                && rows.width.saturating_mul(rows.height).saturating_mul(rows.depth) > LITTLE
        }
        CopyBlocks::Many(many) => many.count() > FEW,
    }
}

/// Copies an array into a non-overlapping array. Both must be accessible from the stream's device. Returns `false` if
/// no kernel is available.
///
/// # Errors
/// Driver errors.
pub(super) fn copy(target: &Array, source: &Array, stream: &Stream) -> Result<bool> {
    let pieces = ContiguousRuns::of(target.layout(), source.layout())?;
    let units = Units::of(&pieces, target.allocation().address(), source.allocation().address());
    let (units, class) = units.choose(overrides().wish);
    let (class, parameters) = numbered(&units, class);
    let variant = variant(class, &units);
    let Some(function) = compile::function(stream.device(), variant) else { return Ok(false) };
    let uses = [(source.allocation(), Access::Read), (target.allocation(), Access::Write)];
    // SAFETY: the parameter block matches the kernel's structure; the axes reach only bytes inside the two layouts, and
    // each layout is inside its memory block.
    unsafe { run(&function, &parameters, stream, &uses)? };
    Ok(true)
}

/// Builds the parameters for a kernel. Uses the `Flat` kernel instead if the launch would need too many thread blocks.
fn numbered(units: &Units, class: CopyKernel) -> (CopyKernel, CopyParameters) {
    let parameters = parameters::parameters(units, class, overrides().tuning);
    if parameters.shares < kernel_choice::DIVISIBLE || matches!(class, CopyKernel::Flat { .. }) {
        return (class, parameters);
    }
    let class = CopyKernel::Flat { wide: true };
    (class, parameters::parameters(units, class, overrides().tuning))
}

/// Returns the variant that must be compiled for a kernel.
fn variant(class: CopyKernel, units: &Units) -> CopyVariant {
    let Tuning { group, lanes, turns } = overrides().tuning;
    let (unit, rank) = (units.unit, parameters::rank_for(parameters::outer_axes(units, class).len()));
    let common = [("UNIT", unit), ("DIMS", rank as i64)];
    match class {
        CopyKernel::Lines { again } => {
            CopyVariant::new(CopyKernelId::Lines, common.into_iter().chain([("AGAIN", i64::from(again))]))
        }
        CopyKernel::Flat { wide } => {
            CopyVariant::new(CopyKernelId::Flat, [("WIDE", i64::from(wide))].into_iter().chain(common))
        }
        CopyKernel::Squares { vector } => {
            let own = [
                ("VECTOR", vector),
                ("GROUP", group),
                ("LANES_Y", lanes),
                ("TURNS", parameters::squares_of(vector / unit, turns)),
            ];
            CopyVariant::new(CopyKernelId::Squares, own.into_iter().chain(common))
        }
        CopyKernel::Tiles { x, y } => {
            let own = [("TILE_X", x), ("TILE_Y", y), ("GROUP", group)];
            CopyVariant::new(CopyKernelId::Tiles, own.into_iter().chain(common))
        }
    }
}

/// Launches a kernel that has a structure as its only parameter.
///
/// # Safety
/// The parameter block must match the structure that the kernel declares, and refer only to memory of the blocks in
/// `uses`.
unsafe fn run(function: &Function, parameters: &CopyParameters, stream: &Stream, uses: &[BlockUse<'_>]) -> Result<()> {
    let mut arguments = Arguments::new();
    parameters.record.pass(&mut arguments);
    // SAFETY: the caller guarantees a matching parameter block; the recorded uses keep the blocks alive in the order of
    // the stream.
    unsafe { launch::launch(function, &shape(parameters.blocks()), stream, &mut arguments, uses) }
}

fn shape(blocks: u32) -> LaunchShape {
    LaunchShape { grid: [blocks, 1, 1], block: [parameters::THREADS, 1, 1], shared: 0, cooperative: false }
}
