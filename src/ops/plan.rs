//! How the arrays of one call are walked: their common shape, the fewest axes that serve all of them, and for each array
//! what stands behind its name in the kernel.
//!
//! Arrays that are used at `i` are broadcast to one shape, as in NumPy. Arrays that are only used elsewhere (`table[x[i]]`)
//! keep their own shape, and their index counts their own elements in C order.

use smallvec::SmallVec;

use super::argument::Argument;
use super::text::{Analysis, Usage, Written};
use crate::array::Array;
use crate::dtype::Kind;
use crate::error::{Error, Result};
use crate::kernel::Arguments;
use crate::layout::{Axis, Dims, Layout, broadcast_shapes};

/// Arrays of more elements need 64 bits for an index.
const NARROW: i64 = 1 << 31;

/// What an array is in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// A pointer: the elements lie side by side in the order of the walk.
    Flat,
    /// One element for all indices.
    Repeated,
    /// Strided along the common axes.
    Strided,
    /// Strided along so many axes of its own.
    Apart(u8),
    /// Flat, and at the same place as an earlier argument.
    Same(u8),
}

/// One array of a call.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Where its first element in the order of the walk is.
    pub address: usize,
    /// What it is in the kernel.
    pub form: Form,
    /// Bytes between neighbours along the axes of the walk.
    strides: Dims,
    /// The axes of an array with axes of its own.
    own: Dims,
}

/// How the arrays of one call are walked.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Number of elements.
    pub size: i64,
    /// Lengths of the common axes, outermost first; used if any array is strided.
    axes: Dims,
    /// One for each array argument, in order.
    pub operands: SmallVec<[Operand; 6]>,
    /// Elements that are read and written at once; 1 for one after the other.
    pub pack: u8,
    /// Whether these are a block's width apart, and not neighbours.
    pub spread: bool,
    /// Whether an index needs 64 bits.
    pub wide: bool,
}

/// What decides which source is generated.
pub type Key = SmallVec<[u8; 24]>;

impl Plan {
    /// Plans a walk over the arrays of the vector arguments.
    ///
    /// # Errors
    /// `ValueError` for shapes that do not broadcast, and for an array that the kernel needs in another layout.
    pub fn of(name: &str, arguments: &[Argument], analysis: &Analysis, arrays: &[&Array]) -> Result<Self> {
        let usages = analysis.usages.iter().flatten();
        let pairs = || arrays.iter().zip(usages.clone());
        let common = pairs().filter(|(_, usage)| usage.at_index).map(|(array, _)| array.layout());
        let mut plan = Self { pack: 1, ..Self::default() };
        let Some(first) = common.clone().next().or_else(|| arrays.first().map(|array| array.layout())) else {
            return Err(Error::value(format!("{name}: a kernel needs at least one array")));
        };
        let is_same = common.clone().all(|layout| layout.shape().eq(first.shape()));
        let is_flat = common.clone().all(Layout::is_c_contiguous)
            || (analysis.any_order && common.clone().all(Layout::is_f_contiguous));
        if is_same && is_flat {
            plan.size = first.size();
            plan.axes.push(plan.size);
            plan.add_flat(pairs(), |usage| usage.at_index);
        } else {
            plan.walk(name, arguments, analysis, arrays)?;
        }
        plan.add_apart(name, arguments, &analysis.usages, arrays)?;
        plan.check_alignment(name, arguments, arrays)?;
        plan.wide = plan.size >= NARROW || plan.operands.iter().any(|one| one.own.iter().product::<i64>() >= NARROW);
        if analysis.in_packs {
            plan.choose_pack(analysis, arrays);
        }
        Ok(plan)
    }

    fn add_flat<'a>(
        &mut self,
        pairs: impl Iterator<Item = (&'a &'a Array, &'a Usage)>,
        takes_part: impl Fn(&Usage) -> bool,
    ) {
        for (array, usage) in pairs {
            let strides = if takes_part(usage) { Dims::from_slice(&[array.layout().itemsize()]) } else { Dims::new() };
            self.operands.push(Operand { address: array.address(), form: Form::Flat, strides, own: Dims::new() });
        }
    }

    /// The general case: broadcast, order, merge, and look what each array is then.
    fn walk(&mut self, name: &str, arguments: &[Argument], analysis: &Analysis, arrays: &[&Array]) -> Result<()> {
        let takes_part: SmallVec<[bool; 8]> = analysis.usages.iter().flatten().map(|usage| usage.at_index).collect();
        let shapes: SmallVec<[Dims; 6]> = arrays
            .iter()
            .zip(&takes_part)
            .filter(|(_, part)| **part)
            .map(|(one, _)| one.layout().shape().collect())
            .collect();
        let shape = broadcast_shapes(&shapes.iter().map(|shape| &shape[..]).collect::<SmallVec<[&[i64]; 6]>>())
            .map_err(|error| Error::value(format!("{name}: {error}")))?;
        check_written(name, arguments, analysis, arrays, &shape)?;
        let mut strides: SmallVec<[Dims; 6]> = SmallVec::new();
        for (array, part) in arrays.iter().zip(&takes_part) {
            let view = if *part { Some(array.layout().broadcast_to(&shape)?) } else { None };
            strides.push(view.map_or_else(Dims::new, |view| view.strides().collect()));
            self.operands.push(Operand {
                address: array.address(),
                form: Form::Flat,
                strides: Dims::new(),
                own: Dims::new(),
            });
        }
        self.size = if shape.contains(&0) { 0 } else { shape.iter().product() };
        let lead = analysis.usages.iter().flatten().position(|usage| usage.at_index && usage.written > Written::No);
        let lead = lead.or_else(|| takes_part.iter().position(|part| *part)).unwrap_or(0);
        let places: SmallVec<[usize; 8]> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
        let mut order = places;
        if analysis.any_order && self.size > 0 {
            self.turn(&order, &shape, &mut strides, lead);
            order.sort_by_key(|&axis| std::cmp::Reverse(weight(&strides, lead, axis)));
        }
        self.merge(&order, &shape, &strides);
        for (position, part) in takes_part.iter().enumerate() {
            if *part {
                let itemsize = arrays[position].layout().itemsize();
                self.operands[position].form = form_of(&self.axes, &self.operands[position].strides, itemsize);
            }
        }
        Ok(())
    }

    /// Walks axes from their other end along which the leading array runs down.
    fn turn(&mut self, axes: &[usize], shape: &[i64], strides: &mut [Dims], lead: usize) {
        for &axis in axes {
            let by_lead = strides[lead][axis];
            let other = || strides.iter().filter_map(|one| one.get(axis)).copied().find(|stride| *stride != 0);
            let stride = if by_lead != 0 { by_lead } else { other().unwrap_or(0) };
            if stride >= 0 {
                continue;
            }
            for (operand, strides) in self.operands.iter_mut().zip(strides.iter_mut()) {
                if let Some(stride) = strides.get_mut(axis) {
                    operand.address = operand.address.wrapping_add_signed(((shape[axis] - 1) * *stride) as isize);
                    *stride = -*stride;
                }
            }
        }
    }

    /// Joins neighbouring axes that are one even run in every array.
    fn merge(&mut self, order: &[usize], shape: &[i64], strides: &[Dims]) {
        for &axis in order {
            let even = |operand: &Operand, own: &Dims| match (operand.strides.last(), own.get(axis)) {
                (Some(outer), Some(inner)) => shape[axis].checked_mul(*inner) == Some(*outer),
                _ => own.is_empty(),
            };
            let joins = !self.axes.is_empty() && self.operands.iter().zip(strides).all(|(one, own)| even(one, own));
            if joins && let Some(outer) = self.axes.last_mut() {
                *outer *= shape[axis];
            } else {
                self.axes.push(shape[axis]);
            }
            for (operand, own) in self.operands.iter_mut().zip(strides) {
                let Some(&stride) = own.get(axis) else { continue };
                match operand.strides.last_mut() {
                    Some(last) if joins => *last = stride,
                    _ => operand.strides.push(stride),
                }
            }
        }
        if self.axes.is_empty() {
            self.axes.push(self.size);
        }
    }

    /// Arrays that are not walked: a pointer where they are contiguous, else axes of their own.
    fn add_apart(
        &mut self,
        name: &str,
        arguments: &[Argument],
        usages: &[Option<Usage>],
        arrays: &[&Array],
    ) -> Result<()> {
        let vectors = arguments.iter().zip(usages).filter_map(|(one, usage)| usage.as_ref().map(|usage| (one, usage)));
        for ((argument, usage), (array, operand)) in vectors.zip(arrays.iter().zip(&mut self.operands)) {
            let layout = array.layout();
            if usage.bare {
                let is_dense = layout.is_c_contiguous() || (!usage.at_index && layout.is_f_contiguous());
                if !is_dense || operand.form != Form::Flat {
                    return Err(Error::value(format!(
                        "{name}: the kernel's text uses {} as a pointer ({argument}), which needs a contiguous array of the \
                         common shape; the array has the shape {:?} and the strides {:?}: pass a copy()",
                        argument.name,
                        layout.shape().collect::<Vec<_>>(),
                        layout.strides().collect::<Vec<_>>()
                    )));
                }
            } else if !usage.at_index && !layout.is_c_contiguous() {
                let (own, strides) = merged(layout);
                operand.form = Form::Apart(own.len() as u8);
                (operand.own, operand.strides) = (own, strides);
            }
        }
        Ok(())
    }

    fn check_alignment(&self, name: &str, arguments: &[Argument], arrays: &[&Array]) -> Result<()> {
        let vectors = arguments.iter().filter(|one| one.is_vector());
        for ((argument, operand), array) in vectors.zip(&self.operands).zip(arrays) {
            let alignment = alignment_of(argument);
            let is_odd = |distance: i64| distance % alignment as i64 != 0;
            if array.layout().size() > 0
                && (!operand.address.is_multiple_of(alignment) || operand.strides.iter().any(|stride| is_odd(*stride)))
            {
                return Err(Error::value(format!(
                    "{name}: {argument}: the array's elements are not aligned to {alignment} bytes (address {:#x}, strides \
                     {:?}), and a device cannot read them; pass a copy()",
                    operand.address,
                    array.layout().strides().collect::<Vec<_>>()
                )));
            }
        }
        Ok(())
    }

    /// Several elements at once, if none that is written meets another array but element by element: neighbours that make 16
    /// bytes of the largest type where all arrays are flat and aligned, else some that are a block's width apart.
    fn choose_pack(&mut self, analysis: &Analysis, arrays: &[&Array]) {
        const BYTES: usize = 16;
        const APART: u8 = 4;
        if arrays.iter().any(|array| array.dtype().kind() == Kind::Opaque) {
            return; // a type of the user's may lack what a pack asks of it
        }
        let Some(same) = self.same(analysis, arrays) else { return };
        let usages = || analysis.usages.iter().flatten();
        let walked = || usages().zip(&self.operands).zip(arrays).filter(|((usage, _), _)| usage.at_index);
        let largest = walked().map(|(_, array)| array.dtype().itemsize()).max().unwrap_or(BYTES);
        let pack = BYTES / largest;
        let is_even = |address: usize, itemsize: usize| address.is_multiple_of((itemsize * pack).min(BYTES));
        let is_flat = walked().all(|((_, one), array)| match one.form {
            Form::Flat => is_even(one.address, array.dtype().itemsize()),
            form => form == Form::Repeated,
        });
        (self.pack, self.spread) = match is_flat && pack > 1 {
            true => (pack as u8, false),
            false => (APART, true),
        };
        if self.size < i64::from(self.pack) {
            (self.pack, self.spread) = (1, false);
            return;
        }
        for (first, second) in same {
            if !matches!(self.operands[second].form, Form::Same(_)) {
                self.operands[second].form = match self.operands[first].form {
                    Form::Same(earlier) => Form::Same(earlier),
                    _ => Form::Same(first as u8),
                };
            }
        }
    }

    /// The pairs of arguments that are the same elements, of which one is written; `None` if one that is written meets another
    /// in any other way.
    fn same(&self, analysis: &Analysis, arrays: &[&Array]) -> Option<SmallVec<[(usize, usize); 2]>> {
        let usages: SmallVec<[&Usage; 6]> = analysis.usages.iter().flatten().collect();
        let spans: SmallVec<[(usize, usize); 6]> =
            self.operands.iter().zip(arrays).map(|(one, array)| span(one, array, self.size)).collect();
        let mut same = SmallVec::new();
        for written in (0..usages.len()).filter(|at| usages[*at].written > Written::No) {
            for other in (0..usages.len()).filter(|other| *other != written) {
                if spans[written].0 >= spans[other].1 || spans[other].0 >= spans[written].1 {
                    continue;
                }
                let (one, two) = (&self.operands[written], &self.operands[other]);
                let is_same = usages[written].at_index
                    && usages[other].at_index
                    && arrays[written].dtype() == arrays[other].dtype()
                    && (one.address, one.form, &one.strides) == (two.address, two.form, &two.strides);
                if !is_same {
                    return None;
                }
                same.push((written.min(other), written.max(other)));
            }
        }
        same.sort_unstable(); // so that the first of several is found for each
        Some(same)
    }

    /// Number of the common axes.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    fn has_strided(&self) -> bool {
        self.operands.iter().any(|one| one.form == Form::Strided)
    }

    /// What decides which source is generated for this walk.
    pub fn key(&self, ranged: bool) -> Key {
        let rank = if self.has_strided() { self.axes.len() as u8 } else { 0 };
        let is_wide = self.wide && self.operands.iter().any(|one| matches!(one.form, Form::Strided | Form::Apart(_)));
        let mut key = Key::from_slice(&[rank, self.pack, u8::from(self.spread), u8::from(is_wide), u8::from(ranged)]);
        for operand in &self.operands {
            key.extend(match operand.form {
                Form::Flat => [0, 0],
                Form::Repeated => [1, 0],
                Form::Strided => [2, 0],
                Form::Apart(rank) => [3, rank],
                Form::Same(other) => [4, other],
            });
        }
        key
    }

    /// Adds the values of the parameters that `generate` declares for the arrays.
    pub fn push(&self, arguments: &mut Arguments) {
        let wide = self.wide && self.operands.iter().any(|one| matches!(one.form, Form::Strided | Form::Apart(_)));
        if self.has_strided() {
            push_lengths(arguments, &self.axes, wide);
        }
        for operand in &self.operands {
            arguments.push_word(operand.address as u64);
            if let Form::Apart(_) = operand.form {
                push_lengths(arguments, &operand.own, wide);
            }
            let form = match operand.form {
                Form::Same(first) => self.operands[usize::from(first)].form,
                form => form,
            };
            if matches!(form, Form::Strided | Form::Apart(_)) {
                let bytes: SmallVec<[u8; 64]> =
                    operand.strides.iter().flat_map(|stride| stride.to_le_bytes()).collect();
                arguments.push(&bytes);
            }
        }
    }
}

fn check_written(
    name: &str,
    arguments: &[Argument],
    analysis: &Analysis,
    arrays: &[&Array],
    shape: &[i64],
) -> Result<()> {
    let vectors = arguments.iter().zip(&analysis.usages).filter_map(|(one, usage)| usage.map(|usage| (one, usage)));
    for ((argument, usage), array) in vectors.zip(arrays) {
        let own: Dims = array.layout().shape().collect();
        if usage.at_index && usage.written > Written::No && own.as_slice() != shape {
            let hint = if usage.written == Written::Maybe { "; if it is only read, declare it const" } else { "" };
            return Err(Error::value(format!(
                "{name}: {argument} is written, and an output is not broadcast: its shape is {:?}, and that of the arrays \
                 together {shape:?}{hint}",
                own.as_slice()
            )));
        }
    }
    Ok(())
}

/// How far apart neighbours along an axis are, in the leading array first.
fn weight(strides: &[Dims], lead: usize, axis: usize) -> SmallVec<[u64; 6]> {
    let of = |one: &Dims| one.get(axis).map_or(0, |stride| stride.unsigned_abs());
    std::iter::once(of(&strides[lead])).chain(strides.iter().map(of)).collect()
}

fn form_of(axes: &[i64], strides: &[i64], itemsize: i64) -> Form {
    if axes.iter().product::<i64>() <= 1 {
        return Form::Flat;
    }
    if strides.iter().all(|stride| *stride == 0) {
        return Form::Repeated;
    }
    let mut expected = itemsize;
    for (length, stride) in axes.iter().zip(strides).rev() {
        if *stride != expected {
            return Form::Strided;
        }
        expected = expected.wrapping_mul(*length);
    }
    Form::Flat
}

/// The fewest axes of one layout in C order.
fn merged(layout: &Layout) -> (Dims, Dims) {
    let (mut lengths, mut strides) = (Dims::new(), Dims::new());
    for Axis { len, stride } in layout.axes().iter().copied().filter(|axis| axis.len != 1) {
        match (lengths.last_mut(), strides.last_mut()) {
            (Some(length), Some(outer)) if len.checked_mul(stride) == Some(*outer) => {
                (*length, *outer) = (*length * len, stride);
            }
            _ => {
                lengths.push(len);
                strides.push(stride);
            }
        }
    }
    if lengths.is_empty() {
        lengths.push(1);
        strides.push(0);
    }
    (lengths, strides)
}

/// Natural alignment of an element; structured ones are the user's affair.
fn alignment_of(argument: &Argument) -> usize {
    match argument.dtype.row() {
        Some(row) => row.itemsize as usize,
        None => 1,
    }
}

/// The addresses of an array, from the first byte to behind the last.
fn span(operand: &Operand, array: &Array, size: i64) -> (usize, usize) {
    match operand.form {
        Form::Flat if !operand.strides.is_empty() => {
            (operand.address, operand.address + size as usize * array.dtype().itemsize())
        }
        _ => match array.layout().extent() {
            Some((low, high)) => {
                let start = array.allocation().address();
                (start.wrapping_add_signed(low as isize), start.wrapping_add_signed(high as isize))
            }
            None => (0, 0),
        },
    }
}

/// Lengths as `pygpu::lengths` has them, or `pygpu::long_lengths`.
fn push_lengths(arguments: &mut Arguments, lengths: &[i64], wide: bool) {
    if wide {
        let bytes: SmallVec<[u8; 64]> = lengths.iter().flat_map(|length| length.to_le_bytes()).collect();
        return arguments.push(&bytes);
    }
    // Division by multiplication: q = (high(x * magic) + x) >> shift, right for x below 2^31.
    let shift = |length: u32| 32 - length.saturating_sub(1).leading_zeros();
    let magic = |length: u32| {
        let length = u64::from(length.max(1));
        ((1u64 << 32) * ((1u64 << shift(length as u32)) - length) / length + 1) as u32
    };
    let lengths = || lengths.iter().map(|length| *length as u32);
    let words = lengths().chain(lengths().map(magic)).chain(lengths().map(shift));
    let bytes: SmallVec<[u8; 64]> = words.flat_map(u32::to_le_bytes).collect();
    arguments.push(&bytes);
}
