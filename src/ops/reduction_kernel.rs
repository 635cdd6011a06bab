//! Implements `ReductionKernel`, which reduces all elements of arrays of any layout to one value, with a user's
//! expressions.
//!
//! Each thread reduces every n-th element, a thread block combines its threads' values as a tree, and a second launch
//! with one block combines the blocks' values. The order in which values are combined depends only on the number of
//! elements and on the device. Results are therefore reproducible. This order differs from the order of the elements.
//! Therefore the operation must be commutative, as PyCUDA requires too.

use super::elementwise_kernel::{at_once, owner_name, source, uses};
use super::elementwise_plan::ElementPlan;
use super::kernel_argument::{self, Argument, ArgumentRole};
use super::kernel_source;
use super::user_source_analysis::{Analysis, Texts};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_codegen::variant_cache::KernelFamily;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::launch;
use pygpu_kernel::{Arguments, Function, KernelSource, check_ends};
use pygpu_layout::MemoryOrder;
use pygpu_memory::Access;

/// Maximum number of elements that one thread block reduces alone. For so few elements, the second launch that several
/// blocks require would take longer than these blocks save.
const ALONE: i64 = 1 << 14;
/// Maximum size in bytes of a thread block's shared memory.
const SHARED: usize = 32 << 10;
/// Number of elements that a thread loads before it combines them, so that the memory accesses overlap.
const AT_ONCE: u32 = 8;

/// A user's definition of a reduction.
#[derive(Clone, Debug)]
pub struct ReductionSpec {
    /// The kernel's name.
    pub name: String,
    /// The result's dtype.
    pub dtype: DType,
    /// The C type of the result.
    pub c_type: String,
    /// The neutral element of the operation, as a C expression.
    pub neutral: String,
    /// C expression that combines the values `a` and `b`.
    pub reduce: String,
    /// C expression for the value that element `i` contributes to the reduction.
    pub map: String,
    /// Code that is inserted before the kernel.
    pub preamble: String,
    /// Compiler options.
    pub options: Vec<String>,
}

/// A reduction kernel and its compiled variants.
pub struct Reduce {
    of: ReductionSpec,
    arguments: Vec<Argument>,
    analysis: Analysis,
    variants: KernelFamily,
}

/// The plan of a reduction, and the compiled kernels that execute the plan.
pub struct Ready {
    plan: ElementPlan,
    blocks: u32,
    first: Function,
    second: Option<Function>,
}

impl Ready {
    /// Returns the number of intermediate values that the first launch writes and the second one combines; 0 if one
    /// launch suffices.
    pub fn parts(&self) -> i64 {
        if self.second.is_some() { i64::from(self.blocks) } else { 0 }
    }
}

/// Variant key of the second launch, which reduces the thread blocks' results.
const SECOND: &[u8] = b"second";

impl Reduce {
    /// Creates a kernel; variants are compiled when they are needed.
    ///
    /// # Errors
    /// `ValueError` for invalid names.
    pub fn new(of: ReductionSpec, arguments: Vec<Argument>) -> Result<Self> {
        kernel_argument::check_name(&of.name)?;
        kernel_argument::check(&arguments)?;
        let texts = Texts { operation: of.map.clone(), preamble: of.preamble.clone(), ..Texts::default() };
        let mut analysis = Analysis::of(&arguments, &texts);
        analysis.in_packs = false;
        Ok(Self { of, arguments, analysis, variants: KernelFamily::new() })
    }

    /// Returns the definition of the reduction.
    pub fn reduction(&self) -> &ReductionSpec {
        &self.of
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
    pub fn plan(&self, arrays: &[&Array]) -> Result<ElementPlan> {
        ElementPlan::of(&self.of.name, &self.arguments, &self.analysis, arrays)
    }

    /// Whether the variant of the first launch is compiled already.
    pub fn is_compiled(&self, device: Device, plan: &ElementPlan) -> bool {
        self.variants.find(device, &plan.key(false)).is_some()
    }

    /// Compiles the kernels for a plan, if necessary.
    ///
    /// # Errors
    /// `ValueError` for a result type that exceeds a thread block's shared memory; compiler errors.
    pub fn ready(&self, plan: ElementPlan, device: Device) -> Result<Ready> {
        let blocks = self.blocks(device, plan.size())?;
        let name = &self.of.name;
        let first = self.variants.function(device, &plan.key(false), name, || self.source(&plan, device))?;
        let second = match blocks {
            1 => None,
            _ => Some(self.variants.function(device, SECOND, name, || self.second_source(device))?),
        };
        Ok(Ready { plan, blocks, first, second })
    }

    /// Checks that the result of the reduction can be written to an array.
    ///
    /// # Errors
    /// `ValueError`.
    pub fn check_out(&self, out: &Array, device: Device) -> Result<()> {
        let ReductionSpec { name, dtype, .. } = &self.of;
        if out.dtype() != *dtype {
            let (out_dtype, result_dtype) = (out.dtype().name(), dtype.name());
            return Err(Error::value(format!("{name}(): out is {out_dtype}, and the result {result_dtype}")));
        }
        if out.layout().is_empty() {
            return Err(Error::value(format!("{name}(): out has no elements")));
        }
        if out.device() != device {
            return Err(Error::value(format!("{name}(): out is on {}, and the arrays on {device}", out.device())));
        }
        out.check_writable(name)
    }

    /// Launches the kernels of a reduction, which write the result to the first element of `out`. `parts` must have
    /// [`Ready::parts`] elements.
    ///
    /// # Errors
    /// The errors of [`Self::check_out`]; driver errors.
    ///
    /// # Safety
    /// `ready` must have been created for a plan of `arrays`, which must have the declared types. The values must have
    /// the declared sizes.
    pub unsafe fn run(
        &self,
        ready: &Ready,
        arrays: &[&Array],
        values: Arguments,
        [out, parts]: [&Array; 2],
        stream: &Stream,
    ) -> Result<()> {
        self.check_out(out, stream.device())?;
        let Some(second) = &ready.second else {
            // SAFETY: the caller guarantees that the plan and arrays match; the launch writes one element, and
            // `check_out` has checked that `out` has one.
            return unsafe { self.launch(ready, arrays, values, out, stream) };
        };
        if parts.dtype() != self.of.dtype
            || parts.layout().size() < i64::from(ready.blocks)
            || !parts.layout().is_c_contiguous()
        {
            let (name, blocks) = (&self.of.name, ready.blocks);
            return Err(Error::value(format!("{name}(): there is no room for the {blocks} values of the blocks")));
        }
        // SAFETY: the caller guarantees that the plan and arrays match, and `check_out` has checked `out`; the plan
        // ensures that `parts` has an element for each thread block.
        unsafe {
            self.launch(ready, arrays, values.clone(), parts, stream)?;
            self.launch_second(second, parts, values, out, ready.blocks, stream)
        }
    }

    /// Reduces arrays to a new zero-dimensional array.
    ///
    /// # Errors
    /// The errors of [`ElementPlan::of`], [`Self::ready`] and [`Self::run`]; `OutOfMemory`.
    ///
    /// # Safety
    /// The arrays must have the declared types, and the values the declared sizes.
    pub unsafe fn reduced(&self, arrays: &[&Array], values: Arguments, stream: &Stream) -> Result<Array> {
        let ready = self.ready(self.plan(arrays)?, stream.device())?;
        let new = |shape: &[i64]| Array::empty(shape, self.of.dtype, MemoryOrder::C, stream.clone());
        let (out, parts) = (new(&[])?, new(&[ready.parts()])?);
        // SAFETY: `ready` was created above for a plan of these arrays; the caller guarantees the types of the arrays
        // and the sizes of the values.
        unsafe { self.run(&ready, arrays, values, [&out, &parts], stream)? };
        Ok(out)
    }

    /// Generates the source of the first launch.
    pub fn source(&self, plan: &ElementPlan, device: Device) -> KernelSource {
        let parameters = kernel_source::vector_parameters(plan, &self.arguments, &self.analysis.usages);
        let names = kernel_source::bindings(plan, &self.arguments, &self.analysis.usages);
        self.text(device, parameters, &names, &self.of.map)
    }

    /// Generates the source of the second launch.
    fn second_source(&self, device: Device) -> KernelSource {
        let parameters = vec!["const out_type *pygpu_parts".to_owned()];
        self.text(device, parameters, "", "pygpu_parts[i]")
    }

    fn text(&self, device: Device, arrays: Vec<String>, names: &str, map: &str) -> KernelSource {
        let ReductionSpec { name, c_type, neutral, reduce, preamble, .. } = &self.of;
        let mut spoken = vec![map, reduce, neutral, c_type];
        spoken.extend(self.arguments.iter().map(|one| one.c_type.as_str()));
        let head = kernel_source::head(&spoken, preamble);
        let mut parameters = kernel_source::scalar_parameters(&self.arguments);
        parameters.extend(["out_type *pygpu_out".to_owned(), "size_t n".to_owned()]);
        parameters.extend(arrays);
        let parameters = parameters.join(", ");
        let threads = self.threads(device);
        let join =
            |left: &str, right: &str| format!("{{ out_type a = {left}, b = {right}; {left} = out_type({reduce}\n); }}");
        let (join_all, join_one) = (join("pygpu_sum", "pygpu_next[pygpu_turn]"), join("pygpu_sum", "pygpu_one"));
        let join_tree = join("pygpu_shared[tid]", "pygpu_shared[tid + pygpu_half]");
        // A user-defined type may lack the default constructor that a C++ array of it requires.
        let at_once = if self.of.dtype.kind() == ScalarType::Opaque { 1 } else { AT_ONCE };
        let several = if at_once == 1 {
            String::new()
        } else {
            format!(
                "    for (; pygpu_at + {last} * pygpu_threads < n; pygpu_at += {at_once} * pygpu_threads) {{\n    out_type \
                 pygpu_next[{at_once}];\n#pragma unroll\n    for (int pygpu_turn = 0; pygpu_turn < {at_once}; pygpu_turn++) {{\n    \
                 size_t i = pygpu_at + pygpu_turn * pygpu_threads;\n    pygpu_next[pygpu_turn] = out_type({map}\n);\n    }}\n#pragma \
                 unroll\n    for (int pygpu_turn = 0; pygpu_turn < {at_once}; pygpu_turn++) {join_all}\n    }}\n",
                last = at_once - 1
            )
        };
        let text = format!(
            "{head}typedef {c_type} out_type;\n\
             extern \"C\" __global__ void {name}({parameters}) {{\n\
             \x20   __shared__ pygpu::bytes pygpu_bytes[({threads} * sizeof(out_type) + sizeof(pygpu::bytes) - 1) / sizeof(pygpu::bytes)];\n\
             \x20   out_type *pygpu_shared = (out_type *)pygpu_bytes;\n\
             \x20   unsigned tid = threadIdx.x;\n\
             {names}    size_t pygpu_threads = (size_t)gridDim.x * {threads}, pygpu_at = (size_t)blockIdx.x * {threads} + tid;\n\
             \x20   out_type pygpu_sum = out_type({neutral});\n\
             {several}    for (; pygpu_at < n; pygpu_at += pygpu_threads) {{\n    size_t i = pygpu_at;\n    out_type pygpu_one = \
             out_type({map}\n);\n    {join_one}\n    }}\n\
             \x20   pygpu_shared[tid] = pygpu_sum;\n    __syncthreads();\n\
             \x20   for (unsigned pygpu_half = {threads} / 2; pygpu_half; pygpu_half /= 2) {{\n\
             \x20   if (tid < pygpu_half) {join_tree}\n    __syncthreads();\n    }}\n\
             \x20   if (tid == 0) pygpu_out[blockIdx.x] = pygpu_shared[0];\n}}\n"
        );
        source(name, text, &self.of.options)
    }

    /// Returns the number of threads per block: a power of two, such that the values of all threads fit into shared
    /// memory.
    fn threads(&self, device: Device) -> u32 {
        let mut threads: u32 = if device.is_cpu() { 16 } else { 512 };
        while threads > 1 && threads as usize * self.of.dtype.itemsize() > SHARED {
            threads /= 2;
        }
        threads
    }

    /// Returns the number of thread blocks of the first launch; 1 if no second launch follows.
    fn blocks(&self, device: Device, size: i64) -> Result<u32> {
        if self.of.dtype.itemsize() > SHARED {
            return Err(Error::value(format!(
                "{}: a result of {} bytes is more than the {SHARED} that a block keeps",
                self.of.name,
                self.of.dtype.itemsize()
            )));
        }
        if size <= ALONE {
            return Ok(1);
        }
        let threads = self.threads(device);
        let most = if device.is_cpu() { at_once(device) } else { at_once(device) * (2048 / threads).min(16) };
        let blocks = (size as u64).div_ceil(u64::from(threads) * u64::from(AT_ONCE));
        Ok(blocks.clamp(1, u64::from(most.max(1))) as u32)
    }

    /// Launches the first kernel, which writes one value per block to the beginning of `out`.
    ///
    /// # Safety
    /// The conditions of `run` apply. In addition, `out` must have an element for each thread block.
    unsafe fn launch(
        &self,
        Ready { plan, blocks, first: function, .. }: &Ready,
        arrays: &[&Array],
        mut values: Arguments,
        out: &Array,
        stream: &Stream,
    ) -> Result<()> {
        values.push_word(out.address() as u64);
        values.push_word(plan.size() as u64);
        plan.push(&mut values);
        let mut uses = uses(&self.analysis, arrays);
        uses.push((out.allocation(), Access::Write));
        // SAFETY: the caller guarantees that the function, plan and arrays match; `ElementPlan::push` appends the
        // parameters that the generated source declares.
        unsafe { launch::launch(function, &self.shape(function, *blocks), stream, &mut values, &uses)? };
        check_ends(function, &uses, |block| owner_name(&self.arguments, arrays, block))
    }

    /// Launches the second kernel, which combines the intermediate values in `parts`.
    ///
    /// # Safety
    /// The conditions of `launch` apply. `function` must have been compiled from the source that
    /// [`Self::second_source`] generates.
    unsafe fn launch_second(
        &self,
        function: &Function,
        parts: &Array,
        mut values: Arguments,
        out: &Array,
        blocks: u32,
        stream: &Stream,
    ) -> Result<()> {
        for word in [out.address(), blocks as usize, parts.address()] {
            values.push_word(word as u64);
        }
        let uses = [(parts.allocation(), Access::Read), (out.allocation(), Access::Write)];
        // SAFETY: the caller guarantees that the function was compiled from the source of the second kernel, and that
        // `parts` and `out` have the required sizes.
        unsafe { launch::launch(function, &self.shape(function, 1), stream, &mut values, &uses) }
    }

    fn shape(&self, function: &Function, blocks: u32) -> LaunchShape {
        let threads = self.threads(function.device());
        LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false }
    }
}

/// Returns the argument of a reduction kernel for which the user declared no arguments. The argument's name is `in`, as
/// in PyCUDA.
pub fn default_argument(dtype: DType, c_type: &str) -> Argument {
    let role = ArgumentRole::Vector { constant: true };
    Argument { name: "in".to_owned(), c_type: c_type.to_owned(), dtype, role }
}
