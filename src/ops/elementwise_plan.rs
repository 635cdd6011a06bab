//! Plans a kernel call: the loop nest over its arrays, and how the kernel addresses each array.
//!
//! Arrays that the kernel's expression uses at element `i` are broadcast to one shape and traversed together. Arrays
//! that it uses only at other indices (`table[x[i]]`) keep their own shape and are indexed linearly in C order.

mod fast_path;
mod vectorize;

use smallvec::SmallVec;

use super::kernel_argument::Argument;
use super::user_source_analysis::{Analysis, Usage, WrittenNames};
use pygpu_array::Array;
use pygpu_base::error::{Error, Result};
use pygpu_codegen::array_access::{IndexWidth, ParameterBlock};
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_kernel::Arguments;
use pygpu_layout::tuple_text;
use pygpu_layout::{self as layout, Dims, Layout, LoopNest, LoopNestRules, broadcast_shapes};

pub use vectorize::{MOST_THREADS, PackLayout, UNROLLED};

/// How a kernel addresses the elements of one of its arrays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AccessPattern {
    /// The array is contiguous in the order of the loop nest, so the array's pointer and the index `i` suffice to
    /// address element `i`.
    Contiguous,
    /// The array has a single element, which is used for all indices.
    Broadcast,
    /// The kernel addresses the array by strides along the axes of the loop nest that the call's arrays share.
    Strided,
    /// The array is not contiguous as a whole, but along its last axis, whose length is a multiple of the number of
    /// elements in one vector load.
    InnerContiguous,
    /// The array is not contiguous. Along its last axis the stride is 0, so all indices have the same element.
    InnerBroadcast,
    /// The array is not contiguous, and the expression uses it only at other indices than `i`, so the kernel addresses
    /// it by strides along the array's own axes. The field is the number of these axes.
    OwnAxes(u8),
    /// The array was already passed for an earlier argument. The field is the index of that argument, through which the
    /// kernel addresses the array.
    SameAs(u8),
    /// The array is transposed relative to the arrays of results. It is read in tiles, which the kernel transposes in
    /// shared memory.
    Transposed,
    /// The array is contiguous, but its alignment differs from that of the arrays of results. It is read as aligned
    /// 32-bit words, from which shifts extract the elements.
    Misaligned,
}

/// One array of a kernel call, with its address and the way in which the kernel addresses its elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementOperand {
    /// The address of the element that the loop nest visits first. For an axis that the nest traverses backwards, this
    /// is the last element along the axis.
    pub address: usize,
    /// How the kernel addresses the array.
    pub form: AccessPattern,
    /// The array's index in the common loop nest. For [`AccessPattern::OwnAxes`], the index in `apart` of the array's
    /// own loop nest.
    side: u16,
}

/// How a kernel call traverses its arrays: loop nests, access patterns, and the elements that a thread processes
/// together.
#[derive(Clone, Debug)]
pub struct ElementPlan {
    /// The loop nest over the arrays that the expression uses at element `i`.
    walk: LoopNest,
    /// One loop nest for each non-contiguous array that is used only at other indices than `i`. Few calls have such
    /// arrays.
    apart: Vec<LoopNest>,
    /// One [`ElementOperand`] for each array argument, in the order of the arguments.
    pub operands: SmallVec<[ElementOperand; 4]>,
    /// Number of elements in a pack, i.e. in one vector load; 1 if elements are processed individually.
    pub pack: u8,
    /// Number of packs (vector loads) that a thread makes before it processes the elements: 1 or 2.
    pub packs: u8,
    /// Whether a thread may process further packs in a loop. Without a loop, the grid has enough threads for all packs.
    pub is_looped: bool,
    /// How the elements that a thread loads together are arranged in memory.
    pub way: PackLayout,
    /// Width of the kernel's element indices (32 or 64 bits) that the non-contiguous arrays require.
    span: IndexWidth,
}

/// The arrays of a call, each with its use in the kernel's source.
type Used<'a> = SmallVec<[(&'a Array, &'a Usage); 6]>;

impl ElementPlan {
    /// Plans the call of a kernel. `arrays` are the arrays passed for the array arguments.
    ///
    /// # Errors
    /// `ValueError` for shapes that do not broadcast, and for an array whose layout or alignment the kernel does not
    /// support.
    pub fn of(name: &str, arguments: &[Argument], analysis: &Analysis, arrays: &[&Array]) -> Result<Self> {
        match fast_path::plan(analysis, arrays) {
            Some(plan) => Ok(plan),
            None => Self::of_any(name, arguments, analysis, arrays),
        }
    }

    /// Plans a kernel call of any kind, without trying the fast path for dense arrays first.
    fn of_any(name: &str, arguments: &[Argument], analysis: &Analysis, arrays: &[&Array]) -> Result<Self> {
        let mut used = Used::new();
        for (array, usage) in arrays.iter().zip(analysis.usages.iter().flatten()) {
            used.push((array, usage)); // `push` is inlined, unlike `collect`
        }
        let mut common = used.iter().filter(|(_, usage)| usage.at_index).map(|(array, _)| array.layout());
        let Some(first) = common.clone().next().or_else(|| arrays.first().map(|array| array.layout())) else {
            return Err(Error::value(format!("{name}: a kernel needs at least one array")));
        };
        let is_flat = common.clone().all(Layout::is_c_contiguous)
            || (analysis.any_order && common.clone().all(Layout::is_f_contiguous));
        let mut plan = if is_flat && common.all(|layout| layout.shape().eq(first.shape())) {
            Self::flat(first.size(), &used)
        } else {
            Self::walked(name, arguments, analysis, &used)?
        };
        plan.add_apart(name, arguments, &used)?;
        plan.check_alignment(name, arguments, arrays)?;
        plan.span = plan.span();
        if analysis.in_packs {
            // On the CPU, transposed arrays are not read in tiles. The CPU backend runs the threads of a block one
            // after another, so a barrier costs more there than strided memory access.
            let may_turn = analysis.any_order && !analysis.counts_threads && !arrays[0].device().is_cpu();
            plan.choose_pack(&used, may_turn);
            plan.choose_packs(analysis, arrays[0].device());
        }
        plan.share_steps();
        Ok(plan)
    }

    fn over(walk: LoopNest) -> Self {
        Self {
            walk,
            apart: Vec::new(),
            operands: SmallVec::new(),
            pack: 1,
            packs: 1,
            is_looped: true,
            way: PackLayout::Contiguous,
            span: IndexWidth::Short,
        }
    }

    fn flat(size: i64, used: &Used<'_>) -> Self {
        let mut plan = Self::over(LoopNest::flat(size));
        for (array, _) in used {
            plan.operands.push(ElementOperand { address: array.address(), form: AccessPattern::Contiguous, side: 0 });
        }
        plan
    }

    /// Plans kernel calls in which at least one array is not contiguous or the shapes differ.
    fn walked(name: &str, arguments: &[Argument], analysis: &Analysis, used: &Used<'_>) -> Result<Self> {
        let walked = || used.iter().filter(|(_, usage)| usage.at_index);
        let mut sides: SmallVec<[&Layout; 6]> = SmallVec::new();
        walked().for_each(|(array, _)| sides.push(array.layout()));
        let lead = walked().position(|(_, usage)| usage.written > WrittenNames::No).unwrap_or(0);
        let rules = LoopNestRules { lead: analysis.any_order.then_some(lead), reduced: 0 };
        let walk = LoopNest::plan(&sides, rules).map_err(|error| Error::value(format!("{name}: {error}")))?;
        check_written(name, arguments, &sides, walk.size(), used)?;
        let mut plan = Self::over(walk);
        let mut side = 0;
        for (array, usage) in used {
            if !usage.at_index {
                plan.operands.push(ElementOperand {
                    address: array.address(),
                    form: AccessPattern::Contiguous,
                    side: 0,
                });
                continue;
            }
            let form = match plan.walk.form(side, array.layout().itemsize()) {
                layout::StridePattern::Contiguous => AccessPattern::Contiguous,
                layout::StridePattern::Broadcast => AccessPattern::Broadcast,
                layout::StridePattern::Strided => AccessPattern::Strided,
            };
            let address = array.allocation().address().wrapping_add_signed(plan.walk.offset(side) as isize);
            plan.operands.push(ElementOperand { address, form, side: side as u16 });
            side += 1;
        }
        Ok(plan)
    }

    /// Adds to the plan the arrays that are used only at other indices than `i`. A contiguous array is addressed by its
    /// pointer alone; any other array gets a separate loop nest.
    fn add_apart(&mut self, name: &str, arguments: &[Argument], used: &Used<'_>) -> Result<()> {
        for (position, (array, usage)) in used.iter().enumerate() {
            let (layout, operand) = (array.layout(), &mut self.operands[position]);
            if usage.bare {
                let is_dense = layout.is_c_contiguous() || (!usage.at_index && layout.is_f_contiguous());
                if !is_dense || operand.form != AccessPattern::Contiguous {
                    return Err(not_a_pointer(name, vector(arguments, position), layout));
                }
            } else if !usage.at_index && !layout.is_c_contiguous() {
                let own = LoopNest::c_order(layout);
                if own.rank() > 0 {
                    operand.form = AccessPattern::OwnAxes(own.rank() as u8);
                    operand.side = self.apart.len() as u16;
                    self.apart.push(own);
                }
            }
        }
        Ok(())
    }

    fn check_alignment(&self, name: &str, arguments: &[Argument], arrays: &[&Array]) -> Result<()> {
        let vectors = arguments.iter().filter(|one| one.is_vector());
        for ((argument, operand), array) in vectors.zip(&self.operands).zip(arrays) {
            let alignment = alignment_of(argument);
            let bits = match operand.form {
                AccessPattern::Strided => joined(&self.walk, operand.side.into()),
                AccessPattern::OwnAxes(_) => joined(&self.apart[usize::from(operand.side)], 0),
                _ => 0,
            };
            // The alignment is a power of two, so one check of the bitwise OR covers the array's address and all its
            // strides.
            if !(bits as usize | operand.address).is_multiple_of(alignment) && array.layout().size() > 0 {
                return Err(unaligned(name, argument, alignment, operand.address, array.layout()));
            }
        }
        Ok(())
    }

    /// Returns the loop-nest indices of the arrays that are addressed by strides. Each index occurs once.
    fn strided(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let mut sides: SmallVec<[usize; 8]> = SmallVec::new();
        for one in &self.operands {
            let side = usize::from(one.side);
            if is_strided(one.form) && !sides.contains(&side) {
                sides.push(side);
            }
        }
        sides.into_iter()
    }

    /// Assigns one loop-nest index to all arrays that have equal strides, so that the kernel computes a single offset
    /// for them.
    fn share_steps(&mut self) {
        if matches!(self.way, PackLayout::Tiles(_)) {
            return;
        }
        for position in 1..self.operands.len() {
            let (before, from) = self.operands.split_at_mut(position);
            let own = &mut from[0];
            let steps = |side: u16| self.walk.strides(side.into());
            let is_alike = |other: &&ElementOperand| is_strided(other.form) && steps(other.side).eq(steps(own.side));
            if is_strided(own.form)
                && let Some(other) = before.iter().find(is_alike)
            {
                own.side = other.side;
            }
        }
    }

    fn span(&self) -> IndexWidth {
        let mut spans = self.apart.iter().map(|own| IndexWidth::of(own, 0..1));
        let is_wide = spans.any(|span| span == IndexWidth::Wide)
            || (self.has_strided() && IndexWidth::of(&self.walk, self.strided()) == IndexWidth::Wide);
        if is_wide { IndexWidth::Wide } else { IndexWidth::Short }
    }

    /// Returns the number of elements that the call processes.
    #[inline]
    pub fn size(&self) -> i64 {
        self.walk.size()
    }

    fn has_strided(&self) -> bool {
        self.strided().next().is_some()
    }

    /// If the kernel processes one tile per thread block, returns the number of thread blocks of the launch.
    pub fn tiles(&self) -> Option<i64> {
        match self.way {
            PackLayout::Tiles(tiles) => tiles.blocks(&self.walk),
            _ => None,
        }
    }

    /// Returns the number of positions in the launch's index range that have no corresponding array element. Such
    /// positions precede the first element, or belong to an incomplete last group of rows.
    pub fn missing(&self) -> i64 {
        match self.way {
            PackLayout::Peeled(head) => head.into(),
            PackLayout::StackedRows => {
                let rows = self.walk.lens().last().unwrap_or(1) * i64::from(self.pack);
                (rows - self.size() % rows) % rows
            }
            _ => 0,
        }
    }

    /// Returns the access pattern of an array. For `SameAs`, returns the access pattern of the earlier argument.
    pub fn own_form(&self, operand: &ElementOperand) -> AccessPattern {
        match operand.form {
            AccessPattern::SameAs(first) => self.operands[usize::from(first)].form,
            form => form,
        }
    }

    /// Returns the index of the loop nest's last axis.
    pub fn last(&self) -> usize {
        self.walk.rank().saturating_sub(1)
    }

    /// Returns the C++ type of the loop nest over the strided arrays; `None` if no array is strided.
    pub fn walk_type(&self) -> Option<String> {
        let count = self.strided().count();
        let walk = (count > 0).then(|| self.span.type_of(self.walk.rank(), count))?;
        Some(match self.way {
            PackLayout::Tiles(tiles) => tiles.type_of(&walk, self.walk.rank()),
            _ => walk,
        })
    }

    /// Returns the C++ type of the separate loop nest of one array with `rank` axes.
    pub fn apart_type(&self, rank: u8) -> String {
        self.span.type_of(rank.into(), 1)
    }

    /// Returns the index of an operand's array among the strided arrays of the loop nest.
    pub fn slot(&self, operand: &ElementOperand) -> usize {
        let side = match operand.form {
            AccessPattern::SameAs(first) => self.operands[usize::from(first)].side,
            _ => operand.side,
        };
        self.strided().position(|strided| strided == usize::from(side)).unwrap_or(0)
    }

    /// Returns the key under which the compiled variant for this plan is cached.
    pub fn key(&self, ranged: bool) -> VariantKey {
        let rank = if self.has_strided() { self.walk.rank() as u8 } else { 0 };
        let way = match self.way {
            PackLayout::Contiguous => [0, 0, 0],
            PackLayout::BlockStrided => [1, 0, 0],
            PackLayout::Peeled(_) => [3, 0, 0],
            PackLayout::InnerContiguous => [4, 0, 0],
            PackLayout::StackedRows => [5, 0, 0],
            PackLayout::Tiles(tiles) => tiles.key(),
        };
        const START: usize = 7;
        let mut key = VariantKey::from_elem(0, START + 2 * self.operands.len());
        let (start, forms) = key.split_at_mut(START);
        start.copy_from_slice(&[
            rank,
            self.pack,
            self.span as u8,
            u8::from(ranged) + 2 * u8::from(self.is_looped),
            way[0],
            way[1],
            way[2],
        ]);
        for (digits, operand) in forms.as_chunks_mut().0.iter_mut().zip(&self.operands) {
            let slot = if is_strided(operand.form) { self.slot(operand) as u8 } else { 0 };
            *digits = match operand.form {
                AccessPattern::Contiguous => [0, 0],
                AccessPattern::Broadcast => [1, 0],
                AccessPattern::Strided => [2, slot],
                AccessPattern::OwnAxes(rank) => [3, rank],
                AccessPattern::SameAs(other) => [4, other],
                AccessPattern::Transposed => [5, slot],
                AccessPattern::Misaligned => [6, 0],
                AccessPattern::InnerContiguous => [7, slot],
                AccessPattern::InnerBroadcast => [8, slot],
            };
        }
        key
    }

    /// Appends to the launch arguments the values of the array parameters that `kernel_source` declares.
    pub fn push(&self, arguments: &mut Arguments) {
        if self.has_strided() {
            let mut record = ParameterBlock::new();
            match self.way {
                PackLayout::Tiles(tiles) => tiles.push(&mut record, self.span, &self.walk, self.strided()),
                _ => record.push_walk(self.span, self.walk.lens(), self.strided().map(|side| self.walk.strides(side))),
            }
            record.pass(arguments);
        }
        if let PackLayout::Peeled(head) = self.way {
            arguments.push_word(head.into());
        }
        for operand in &self.operands {
            arguments.push_word(operand.address as u64);
            if let AccessPattern::OwnAxes(_) = operand.form {
                let own = &self.apart[usize::from(operand.side)];
                let mut record = ParameterBlock::new();
                record.push_walk(self.span, own.lens(), std::iter::once(own.strides(0)));
                record.pass(arguments);
            }
        }
    }
}

/// Whether an access pattern uses the strides of the loop nest that the call's arrays share.
fn is_strided(form: AccessPattern) -> bool {
    matches!(
        form,
        AccessPattern::Strided
            | AccessPattern::InnerContiguous
            | AccessPattern::InnerBroadcast
            | AccessPattern::Transposed
    )
}

/// Returns the bitwise OR of all strides of an array, for alignment checks.
fn joined(walk: &LoopNest, side: usize) -> i64 {
    walk.strides(side).fold(0, |bits, stride| bits | stride)
}

/// Returns the declaration of the array argument at `position` among the array arguments.
fn vector(arguments: &[Argument], position: usize) -> Option<&Argument> {
    arguments.iter().filter(|one| one.is_vector()).nth(position)
}

/// Checks that no array that the kernel writes is broadcast.
fn check_written(name: &str, arguments: &[Argument], sides: &[&Layout], size: i64, used: &Used<'_>) -> Result<()> {
    let rank = sides.iter().map(|side| side.ndim()).max().unwrap_or(0);
    let written = used.iter().enumerate().filter(|(_, (_, usage))| usage.at_index && usage.written > WrittenNames::No);
    for (position, (array, usage)) in written {
        let layout = array.layout();
        if layout.ndim() == rank && layout.size() == size && size > 0 {
            continue; // an array with as many elements as the broadcast result has the result's shape
        }
        let shapes: SmallVec<[Dims; 6]> = sides.iter().map(|side| side.shape().collect()).collect();
        let shape = broadcast_shapes(&shapes.iter().map(|shape| &shape[..]).collect::<SmallVec<[&[i64]; 6]>>())?;
        let own: Dims = layout.shape().collect();
        if own != shape {
            return Err(repeated(name, vector(arguments, position), usage, &own, &shape));
        }
    }
    Ok(())
}

#[cold]
fn repeated(name: &str, argument: Option<&Argument>, usage: &Usage, own: &[i64], shape: &[i64]) -> Error {
    let hint = if usage.written == WrittenNames::Maybe { "; if it is only read, declare it const" } else { "" };
    let argument = argument.map(ToString::to_string).unwrap_or_default();
    Error::value(format!(
        "{name}: {argument} is written, and an output is not broadcast: its shape is {}, and that of the arrays together \
         {}{hint}",
        tuple_text(own),
        tuple_text(shape)
    ))
}

#[cold]
fn not_a_pointer(name: &str, argument: Option<&Argument>, layout: &Layout) -> Error {
    let (own, declared) = argument.map(|one| (one.name.clone(), one.to_string())).unwrap_or_default();
    Error::value(format!(
        "{name}: the kernel's text uses {own} as a pointer ({declared}), which needs a contiguous array of the common shape; the \
         array has the shape {} and the strides {}: pass a copy()",
        tuple_text(layout.shape()),
        tuple_text(layout.strides())
    ))
}

#[cold]
fn unaligned(name: &str, argument: &Argument, alignment: usize, address: usize, layout: &Layout) -> Error {
    Error::value(format!(
        "{name}: {argument}: the array's elements are not aligned to {alignment} bytes (address {address:#x}, strides {}), and \
         a device cannot read them; pass a copy()",
        tuple_text(layout.strides())
    ))
}

/// Returns the natural alignment of an element in bytes; 1 for structured types, whose alignment the user is
/// responsible for.
fn alignment_of(argument: &Argument) -> usize {
    match argument.dtype.row() {
        Some(row) => row.itemsize as usize,
        None => 1,
    }
}
