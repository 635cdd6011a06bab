//! Implements `ElementwiseKernel`, which evaluates one expression for each element, for arrays of any layout.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use super::elementwise_plan::{ElementPlan, MOST_THREADS};
use super::kernel_argument::{self, Argument, ArgumentRole};
use super::kernel_source;
use super::tile_plan;
use super::user_source_analysis::{Analysis, Texts};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_codegen::variant_cache::KernelFamily;
use pygpu_device::stream::Stream;
use pygpu_device::{Device, PerDevice, per_device};
use pygpu_kernel::{self as kernel, launch};
use pygpu_kernel::{Arguments, Function, KernelSource, check_ends};
use pygpu_memory::{Allocation, BlockUse};

/// A range of element indices: `count` indices from `start` on with a constant step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexRange {
    /// The first index.
    pub start: i64,
    /// Distance between consecutive indices.
    pub step: i64,
    /// Number of indices.
    pub count: i64,
}

/// An elementwise kernel and its compiled variants.
pub struct Elementwise {
    name: String,
    arguments: Vec<Argument>,
    texts: Texts,
    options: Vec<String>,
    analysis: Analysis,
    /// The analysis of the source for calls that process only a range of indices. Their results may depend on the
    /// element indices, so the elements must be traversed in C order.
    in_order: Analysis,
    variants: KernelFamily,
}

static WAS_RUN: AtomicBool = AtomicBool::new(false);

/// Threads per block on GPUs. The CPU backend, which runs the threads of a block one after another, uses
/// `THREADS_ON_CPU`.
const THREADS: u32 = 256;
/// Number of threads per block if each thread makes two vector loads (packs).
const THREADS_OF_TWO_PACKS: u32 = 128;
const THREADS_ON_CPU: u32 = 64;
/// Number of blocks per multiprocessor for a kernel with a long-running expression. A multiprocessor runs 8 of these
/// blocks concurrently.
const BLOCKS_OF_LONG: u64 = 128;

impl Elementwise {
    /// Creates a kernel; variants are compiled when they are needed.
    ///
    /// # Errors
    /// `ValueError` for invalid names.
    pub fn new(name: String, arguments: Vec<Argument>, texts: Texts, options: Vec<String>) -> Result<Self> {
        kernel_argument::check_name(&name)?;
        kernel_argument::check(&arguments)?;
        let analysis = Analysis::of(&arguments, &texts);
        let in_order = Analysis { any_order: false, in_packs: false, is_plain: false, ..analysis.clone() };
        Ok(Self { name, arguments, texts, options, analysis, in_order, variants: KernelFamily::new() })
    }

    /// Whether any elementwise kernel was launched on a GPU in this process, which proves that a compiler is available.
    pub fn was_run() -> bool {
        WAS_RUN.load(Ordering::Relaxed)
    }

    /// Returns the kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kernel's declared arguments.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Returns the analysis of how the source uses the arguments.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// Returns the compiled variants of this kernel.
    pub fn variants(&self) -> &KernelFamily {
        &self.variants
    }

    /// Plans the loop nest over the arrays of a call.
    ///
    /// # Errors
    /// The errors of [`ElementPlan::of`].
    pub fn plan(&self, arrays: &[&Array], ranged: bool) -> Result<ElementPlan> {
        let analysis = if ranged { &self.in_order } else { &self.analysis };
        ElementPlan::of(&self.name, &self.arguments, analysis, arrays)
    }

    /// Whether the variant for a call is already compiled in this process.
    pub fn is_compiled(&self, device: Device, plan: &ElementPlan, ranged: bool) -> bool {
        self.variants.find(device, &plan.key(ranged)).is_some()
    }

    /// Whether the variant for a call is available without compilation: it was compiled in this process, or its image
    /// is stored in the kernel cache.
    pub fn is_at_hand(&self, device: Device, plan: &ElementPlan) -> bool {
        self.is_compiled(device, plan, false) || kernel::is_kept(device, &self.source(plan, false))
    }

    /// Generates the source of the variant for a call.
    pub fn source(&self, plan: &ElementPlan, ranged: bool) -> KernelSource {
        let text =
            kernel_source::elementwise(&self.name, &self.arguments, &self.analysis.usages, &self.texts, plan, ranged);
        source(&self.name, text, &self.options)
    }

    /// Launches the kernel, and compiles its variant first if necessary. `values` contains the values of the scalar
    /// arguments in order; this function appends the parameters for the arrays.
    ///
    /// # Errors
    /// Compiler errors; driver errors.
    ///
    /// # Safety
    /// `plan` must have been created for `arrays`, which must have the declared types. The values must have the
    /// declared sizes, and the index range must lie inside the range of element indices that the plan covers.
    pub unsafe fn run(
        &self,
        plan: &ElementPlan,
        arrays: &[&Array],
        values: &mut Arguments,
        range: Option<IndexRange>,
        stream: &Stream,
    ) -> Result<()> {
        let is_ranged = range.is_some();
        let source = || self.source(plan, is_ranged);
        let function = self.variants.function(stream.device(), &plan.key(is_ranged), &self.name, source)?;
        // SAFETY: the function was compiled for this plan; the caller of `run` guarantees the arrays' types, the
        // values' sizes, and that the index range is inside the plan's elements.
        unsafe { self.launch(&function, plan, arrays, values, range, stream) }
    }

    /// Launches a compiled variant of the kernel.
    ///
    /// # Safety
    /// The conditions of `run` apply. `function` must have been compiled from the source for the plan.
    unsafe fn launch(
        &self,
        function: &Function,
        plan: &ElementPlan,
        arrays: &[&Array],
        values: &mut Arguments,
        range: Option<IndexRange>,
        stream: &Stream,
    ) -> Result<()> {
        let count = range.map_or(plan.size(), |range| range.count);
        if count <= 0 {
            return Ok(());
        }
        values.push_word(plan.size() as u64);
        if let Some(range) = range {
            values.push_word(range.start as u64);
            values.push_word(range.step as u64);
            values.push_word(range.count as u64);
        }
        plan.push(values);
        let shape = match plan.tiles() {
            Some(blocks) => LaunchShape {
                grid: [blocks as u32, 1, 1],
                block: [tile_plan::THREADS, 1, 1],
                shared: 0,
                cooperative: false,
            },
            None => self.shape(function.device(), plan, count),
        };
        let uses = uses(&self.analysis, arrays);
        // SAFETY: the caller guarantees that the function, plan and arrays match; `ElementPlan::push` appends the
        // parameters that the generated source declares.
        unsafe { launch::launch(function, &shape, stream, values, &uses)? };
        if !function.device().is_cpu() && !WAS_RUN.load(Ordering::Relaxed) {
            WAS_RUN.store(true, Ordering::Relaxed);
        }
        check_ends(function, &uses, |block| owner_name(&self.arguments, arrays, block))
    }

    /// Returns the launch shape. By default, each thread processes its elements in one iteration. If the expression is
    /// long-running, a thread makes several iterations. On the CPU, and if the source depends on the number of threads,
    /// the grid has only as many blocks as run concurrently.
    fn shape(&self, device: Device, plan: &ElementPlan, count: i64) -> LaunchShape {
        let turns = ((count + plan.missing()) as u64).div_ceil(u64::from(plan.pack) * u64::from(plan.packs));
        let threads = match plan.packs {
            _ if device.is_cpu() => THREADS_ON_CPU,
            1 => THREADS,
            _ => THREADS_OF_TWO_PACKS,
        };
        let most = match device.is_cpu() || self.analysis.counts_threads {
            true => u64::from(at_once(device)) * 8,
            false if self.texts.is_long => u64::from(at_once(device)) * BLOCKS_OF_LONG,
            false => MOST_THREADS / u64::from(threads),
        };
        let blocks = turns.div_ceil(u64::from(threads)).clamp(1, most);
        LaunchShape { grid: [blocks as u32, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false }
    }
}

/// Describes, for error messages, the argument to which a memory block belongs.
#[cold]
pub(super) fn owner_name(arguments: &[Argument], arrays: &[&Array], block: &Arc<Allocation>) -> String {
    let vectors = arguments.iter().filter(|argument| matches!(argument.role, ArgumentRole::Vector { .. }));
    let mut named = arrays.iter().zip(vectors).filter(|(array, _)| Arc::ptr_eq(array.allocation(), block));
    named.next().map_or_else(|| "of the result".to_owned(), |(_, argument)| format!("of the array {}", argument.name))
}

/// Returns the memory blocks that a launch uses, each with the kind of access (read or write).
pub(super) fn uses<'a>(analysis: &Analysis, arrays: &[&'a Array]) -> SmallVec<[BlockUse<'a>; 6]> {
    let mut uses = SmallVec::new();
    for (array, vector) in arrays.iter().zip(&analysis.vectors) {
        uses.push((array.allocation(), vector.access)); // `push` is inlined, unlike `collect`
    }
    uses
}

/// Returns the number of multiprocessors of a device. The device is queried once per process.
pub(super) fn at_once(device: Device) -> u32 {
    static KNOWN: PerDevice<ForkSafeOnce<u32>> = per_device!(ForkSafeOnce::new());
    *KNOWN.of(device).get_or_init(|| device.properties().map_or(1, |known| known.multiprocessor_count.max(1) as u32))
}

/// Prepares generated source for the compiler. Disables the compiler's warnings, because a kernel need not use every
/// name that the source declares.
pub(super) fn source(name: &str, text: String, options: &[String]) -> KernelSource {
    let mut options = options.to_vec();
    options.push("-w".to_owned());
    KernelSource { text, name: format!("{name}.cu"), options, ..KernelSource::default() }
}
