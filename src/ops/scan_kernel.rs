//! Implements `ScanKernel`, which scans one-dimensional arrays with a user's expression. Each element becomes the
//! combination of all elements before it, inclusive or exclusive.
//!
//! A scan takes three launches for any length. In the first, each thread block combines the elements of its part of the
//! array. In the second, one block scans the results of these blocks. In the third, each block scans its part,
//! beginning with the combined result of all preceding parts. Elements are combined in their order. Therefore the
//! operation must be associative, but need not be commutative.

use std::sync::Arc;

use super::elementwise_kernel::{at_once, source};
use super::kernel_argument;
use super::{kernel_source, user_macros};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_codegen::variant_cache::KernelFamily;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::launch;
use pygpu_kernel::{self as kernel, Arguments, Function, KernelSource, Module, check_ends};
use pygpu_layout::{MemoryOrder, overlap};
use pygpu_memory::{Access, BlockUse};

/// Size in bytes of a tile in shared memory.
const TILE_BYTES: usize = 16 << 10;
/// Maximum number of consecutive elements that a thread scans.
const MOST_OF_A_THREAD: usize = 8;

/// A user's definition of a scan.
#[derive(Clone, Debug)]
pub struct Scanning {
    /// The name that all kernels of the scan have.
    pub name: String,
    /// The elements' dtype.
    pub dtype: DType,
    /// The C type of the elements.
    pub c_type: String,
    /// C expression that combines `a` with the following element `b`.
    pub expression: String,
    /// C expression for the first result of an exclusive scan; `None` for an inclusive scan.
    pub neutral: Option<String>,
    /// Code that is inserted before the kernels.
    pub preamble: String,
    /// Compiler options.
    pub options: Vec<String>,
}

/// A scan kernel and its compiled variants.
pub struct Scan {
    of: Scanning,
    variants: KernelFamily,
}

/// The three compiled kernels of a scan, for one device.
struct ScanKernels {
    /// The first launch, which combines the elements of each part into one value.
    join: Function,
    /// The second launch, which scans the combined values of all parts.
    middle: Function,
    /// The third launch, which scans the elements of each part.
    scan: Function,
}

/// Division of an array into parts of equal length, one for each thread block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ScanPartition {
    threads: usize,
    each: usize,
}

impl ScanPartition {
    const fn tile(self) -> usize {
        self.threads * self.each
    }
}

impl Scan {
    /// Creates a scan; its kernels are compiled when they are needed.
    ///
    /// # Errors
    /// `ValueError` for an invalid name and for elements that exceed a thread block's shared memory.
    pub fn new(of: Scanning) -> Result<Self> {
        kernel_argument::check_name(&of.name)?;
        if of.dtype.itemsize() > TILE_BYTES / 2 {
            return Err(Error::value(format!(
                "{}: elements of {} bytes are more than the {} that a block keeps",
                of.name,
                of.dtype.itemsize(),
                TILE_BYTES / 2
            )));
        }
        Ok(Self { of, variants: KernelFamily::new() })
    }

    /// Returns the definition of the scan.
    pub fn scanning(&self) -> &Scanning {
        &self.of
    }

    /// Returns the compiled variants of this kernel.
    pub fn variants(&self) -> &KernelFamily {
        &self.variants
    }

    fn parts(&self, device: Device) -> ScanPartition {
        let mut parts = ScanPartition { threads: if device.is_cpu() { 8 } else { 256 }, each: MOST_OF_A_THREAD };
        while parts.each > 1 && parts.tile() * self.of.dtype.itemsize() > TILE_BYTES {
            parts.each /= 2;
        }
        while parts.threads > 1 && parts.tile() * self.of.dtype.itemsize() > TILE_BYTES {
            parts.threads /= 2;
        }
        parts
    }

    /// Returns the kernels for a device, which belong to one module. Compiles them if necessary.
    fn compiled(&self, device: Device) -> Result<ScanKernels> {
        let named = |part: &str| format!("{}_{part}", self.of.name);
        let found = |part: &str, module: &dyn Fn() -> Result<Module>| match self.variants.find(device, part.as_bytes())
        {
            Some(function) => Ok(function),
            None => self.variants.get_or_compile(device, part.as_bytes(), || module()?.function(&named(part))),
        };
        let join = found("join", &|| kernel::load_searching(device, &self.source(device)))?;
        let module = || Ok(join.module().clone());
        Ok(ScanKernels { middle: found("middle", &module)?, scan: found("final", &module)?, join })
    }

    /// Generates the source of all three kernels.
    fn source(&self, device: Device) -> KernelSource {
        let Scanning { name, c_type, expression, neutral, preamble, options, .. } = &self.of;
        let ScanPartition { threads, each } = self.parts(device);
        let spoken = [c_type.as_str(), expression, neutral.as_deref().unwrap_or("")];
        let head = kernel_source::head(&spoken, preamble);
        let exclusive = u8::from(neutral.is_some());
        let kernels = TEXT.replace("PYGPU_NAME", name);
        let neutral = neutral.as_ref().map(|text| {
            format!("static __device__ inline scan_type pygpu_neutral() {{ return scan_type({text}\n); }}\n")
        });
        let text = format!(
            "{head}typedef {c_type} scan_type;\n{}static __device__ inline scan_type pygpu_joined(const scan_type &pygpu_left, const \
             scan_type &pygpu_right) {{\n    scan_type a = pygpu_left, b = pygpu_right;\n    return scan_type({expression}\n);\n}}\n{}\
             #define PYGPU_THREADS {threads}\n#define PYGPU_EACH {each}\n#define PYGPU_EXCLUSIVE {exclusive}\n{kernels}",
            neutral.unwrap_or_default(),
            user_macros::undone(preamble), // a user's macro must not replace names in the template
        );
        source(name, text, options)
    }

    /// Returns the number of intermediate values for a scan of `size` elements; 0 if a single thread block scans all of
    /// them.
    pub fn blocks(&self, device: Device, size: i64) -> usize {
        let tiles = (size as usize).div_ceil(self.parts(device).tile());
        let most = at_once(device) as usize * if device.is_cpu() { 1 } else { 8 };
        if tiles <= 1 { 0 } else { tiles.min(most) }
    }

    /// Scans `input` into `output`, which may be the same array; compiles the kernels if necessary. `parts` must have
    /// [`Self::blocks`] elements.
    ///
    /// # Errors
    /// The errors of [`Self::check_input`] and [`Self::check_output`]; compiler errors; driver errors.
    pub fn run(&self, input: &Array, output: &Array, parts: &Array, stream: &Stream) -> Result<()> {
        self.check_input(input)?;
        self.check_output(input, output)?;
        let (device, size) = (stream.device(), input.layout().size());
        let blocks = self.blocks(device, size) as i64;
        if parts.dtype() != self.of.dtype || parts.layout().size() != blocks || !parts.layout().is_c_contiguous() {
            return Err(Error::value(format!("{}(): there is no room for the {blocks} joined parts", self.of.name)));
        }
        if size == 0 {
            return Ok(());
        }
        let compiled = self.compiled(device)?;
        // SAFETY: the kernels were compiled for this scan; the arrays were checked above.
        unsafe { self.launch(&compiled, input, output, parts, stream) }
    }

    /// Scans an array into a new array.
    ///
    /// # Errors
    /// The errors of [`Self::run`]; `OutOfMemory`.
    pub fn scanned(&self, input: &Array, stream: &Stream) -> Result<Array> {
        self.check_input(input)?;
        let new = |length: i64| Array::empty(&[length], self.of.dtype, MemoryOrder::C, stream.clone());
        let (output, parts) =
            (new(input.layout().size())?, new(self.blocks(stream.device(), input.layout().size()) as i64)?);
        self.run(input, &output, &parts, stream)?;
        Ok(output)
    }

    /// Checks that an array can be scanned.
    ///
    /// # Errors
    /// `ValueError` and `TypeError` with the reason.
    pub fn check_input(&self, input: &Array) -> Result<()> {
        self.check_array("input", input)
    }

    /// Checks that the scan of `input` can be written to `output`. No launch may overwrite an input element before the
    /// element is read.
    ///
    /// # Errors
    /// `ValueError` and `TypeError` with the reason.
    pub fn check_output(&self, input: &Array, output: &Array) -> Result<()> {
        self.check_array("output_ary", output)?;
        let name = &self.of.name;
        output.check_writable(name)?;
        let (from, to) = (input.layout(), output.layout());
        if from.size() != to.size() {
            let (input_size, output_size) = (from.size(), to.size());
            return Err(Error::value(format!(
                "{name}(): the input has {input_size} elements, and output_ary {output_size}"
            )));
        }
        if input.device() != output.device() {
            let (input_device, output_device) = (input.device(), output.device());
            return Err(Error::value(format!(
                "{name}(): the input is on {input_device}, and output_ary on {output_device}"
            )));
        }
        let is_same = input.address() == output.address() && from.strides().eq(to.strides());
        let meets = Arc::ptr_eq(input.allocation(), output.allocation()) && overlap(from, to);
        if (meets && !is_same) || (to.size() > 1 && to.has_internal_overlap()) {
            return Err(Error::value(format!(
                "{name}(): output_ary shares memory with the input or itself, but not element by element; pass a copy()"
            )));
        }
        Ok(())
    }

    fn check_array(&self, what: &str, array: &Array) -> Result<()> {
        let Scanning { name, dtype, .. } = &self.of;
        if array.layout().ndim() != 1 {
            return Err(Error::value(format!(
                "{name}(): {what} has {} axes, and a scan goes along one: pass ravel()",
                array.layout().ndim()
            )));
        }
        if array.dtype() != *dtype {
            return Err(Error::type_error(format!(
                "{name}(): {what} is {}, and the scan is of {}",
                array.dtype().name(),
                dtype.name()
            )));
        }
        let alignment = dtype.row().map_or(1, |row| row.itemsize as usize);
        let stride = array.layout().strides().next().unwrap_or(0);
        if !array.address().is_multiple_of(alignment) || stride % alignment as i64 != 0 {
            return Err(Error::value(format!(
                "{name}(): the elements of {what} are not aligned to {alignment} bytes; pass a copy()"
            )));
        }
        Ok(())
    }

    /// Launches the kernels of a scan.
    ///
    /// # Safety
    /// The functions must belong to this scan. Both arrays must have one axis, equal lengths and the scan's dtype, and
    /// be either disjoint or identical. `parts` must have [`Self::blocks`] elements.
    unsafe fn launch(
        &self,
        compiled: &ScanKernels,
        input: &Array,
        output: &Array,
        parts: &Array,
        stream: &Stream,
    ) -> Result<()> {
        let device = compiled.scan.device();
        let size = input.layout().size() as usize;
        let tile = self.parts(device).tile();
        let blocks = parts.layout().size() as usize;
        let part = size.div_ceil(tile).div_ceil(blocks.max(1)) * tile;
        let stride = |array: &Array| array.layout().strides().next().unwrap_or(0) as u64;
        let run = |function: &Function, words: &[u64], blocks: usize, uses: &[BlockUse<'_>]| {
            let mut arguments = Arguments::new();
            words.iter().for_each(|word| arguments.push_word(*word));
            let threads = self.parts(device).threads as u32;
            let shape = LaunchShape {
                grid: [blocks.max(1) as u32, 1, 1],
                block: [threads, 1, 1],
                shared: 0,
                cooperative: false,
            };
            // SAFETY: the caller guarantees that the functions belong to this scan and that the arrays have its dtype.
            // The arguments match the kernels' parameters, all of which are 8-byte words.
            unsafe { launch::launch(function, &shape, stream, &mut arguments, uses)? };
            check_ends(function, uses, |_| "of an array of the scan".to_owned())
        };
        let (from, to, between) = (input.address() as u64, output.address() as u64, parts.address() as u64);
        let (read, join) = ((input.allocation(), Access::Read), (parts.allocation(), Access::Write));
        if blocks > 0 {
            run(&compiled.join, &[from, stride(input), size as u64, part as u64, between], blocks, &[read, join])?;
            run(&compiled.middle, &[between, blocks as u64], 1, &[join])?;
        }
        let words = [from, stride(input), to, stride(output), size as u64, part as u64, between];
        run(&compiled.scan, &words, blocks, &[read, (output.allocation(), Access::Write), join])
    }
}

/// Template of the kernels, into which names and the user's expressions are inserted. The inserted names differ from
/// all macros that a compiler defines. A thread scans consecutive elements, which are staged in shared memory so that
/// global memory is accessed contiguously.
const TEXT: &str = include_str!("scan_kernel.cu");
