//! Launches what waited.

use smallvec::{SmallVec, smallvec};

use super::draft::Draft;
use super::forms::{self, Form, Met};
use super::group::{self, Group, Needs, Nodes};
use super::node::{Node, Reduction, Work};
use super::operands::Operand;
use super::{report, window};
use crate::Elementwise;
use crate::axes::{self, Call, Elements, Made, Map};
use crate::ufunc::{self, Given, Row, as_it_is, kernel_of};
use pygpu_array::Array;
use pygpu_base::dtype::Kind;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush;
use pygpu_device::stream::Stream;
use pygpu_kernel::Arguments;

/// Launches all operations of a flight, in order, and lets go of their operands. What fails does not keep the rest from being launched.
///
/// # Errors
/// The first failure, which says for how many operations it stands.
pub(super) fn all(first: u64, nodes: &mut Nodes) -> Result<()> {
    let needs = Needs::of(first, nodes);
    let groups = match group::whole(nodes, &needs) {
        Some(all) => {
            debug_assert_eq!(group::groups(nodes, &needs).as_slice(), std::slice::from_ref(&all));
            smallvec![all]
        }
        None => group::groups(nodes, &needs),
    };
    let mut failures = Failures::default();
    for group in &groups {
        if let Err(error) = launch(first, nodes, group, &mut failures) {
            group.places.iter().for_each(|place| failures.note(first, nodes, usize::from(*place), &error));
        }
        for place in &group.places {
            nodes[usize::from(*place)] = None;
        }
    }
    failures.told()
}

/// What could not be launched.
#[derive(Default)]
struct Failures {
    count: usize,
    first: Option<(String, Error)>,
}

impl Failures {
    fn note(&mut self, first: u64, nodes: &Nodes, place: usize, error: &Error) {
        let Some(node) = &nodes[place] else { return };
        self.count += 1;
        let (_, known) = self.first.get_or_insert_with(|| (node.name(), error.clone()));
        let error = known.clone();
        window::remember_failure(first + place as u64, node, named(error, 1, &node.name()));
    }

    fn told(self) -> Result<()> {
        let Some((name, error)) = self.first else { return Ok(()) };
        report::failed(self.count);
        Err(named(error, self.count, &name))
    }
}

/// An error with the operations for which it stands.
fn named(error: Error, count: usize, name: &str) -> Error {
    let whose = match count {
        1 => format!("the operation that was put off: {name}"),
        _ => format!("{count} operations that were put off, the first of them {name}"),
    };
    let add_to = |detail: &mut String| {
        let separator = if detail.is_empty() { "" } else { "; " };
        detail.push_str(&format!("{separator}{whose}"));
    };
    match error {
        Error::Driver(mut error) => {
            add_to(&mut error.detail);
            Error::Driver(error)
        }
        Error::OutOfMemory(mut error) => {
            add_to(&mut error.detail);
            Error::OutOfMemory(error)
        }
        Error::Value(text) => Error::Value(format!("{text} ({whose})")),
        Error::Unavailable(text) => Error::Unavailable(format!("{text} ({whose})")),
        Error::NotSupported(text) => Error::NotSupported(format!("{text} ({whose})")),
        other => other,
    }
}

fn launch(first: u64, nodes: &mut Nodes, group: &Group, failures: &mut Failures) -> Result<()> {
    if group.outputs.is_empty() {
        return Ok(());
    }
    if let [place] = group.places.as_slice() {
        return nodes[usize::from(*place)].as_deref().map_or(Ok(()), one);
    }
    match together(first, nodes, group) {
        Some(Err(Error::OutOfMemory(_))) => {} // one by one operands go as soon as they were read
        Some(other) => return other,
        None => report::met_first(),
    }
    for place in group.places.iter().map(|place| usize::from(*place)) {
        let outcome = nodes[place].as_deref().map_or(Ok(()), one);
        if let Err(error) = outcome {
            failures.note(first, nodes, place, &error);
        }
        nodes[place] = None;
    }
    Ok(())
}

/// Whether an operand was to be made by an operation that has failed.
fn check(arrays: &[&Array]) -> Result<()> {
    match arrays.iter().find_map(|array| array.allocation().failed()) {
        Some(number) => Err(flush::failure(number)),
        None => Ok(()),
    }
}

/// The array that a result goes into, with memory: one that nobody has if it is not wanted any more.
fn target(node: &Node) -> Result<Array> {
    let Some(array) = node.result()? else {
        return Array::on_new_memory(node.layout.clone(), node.dtype, node.stream.clone());
    };
    if array.allocation().deferred().is_some() {
        array.allocation().give_memory()?;
    }
    Ok(array)
}

/// All operations of a kernel; `None` as long as that is not to be compiled.
fn together(first: u64, nodes: &Nodes, group: &Group) -> Option<Result<()>> {
    let draft = Draft::of(first, nodes, group);
    match forms::form(&draft, nodes, group) {
        Ok(Some((Form::Kernel(kernel), met))) => fused(&draft, nodes, group, (&kernel, met)).transpose(),
        Ok(Some((Form::Map(map), Met::Often))) => Some(mapped(&draft, nodes, group, &map)),
        Ok(Some((Form::Map(_), Met::First)) | None) => None,
        Err(error) => Some(Err(error)),
    }
}

fn values(draft: &Draft<'_>) -> Arguments {
    let mut values = Arguments::new();
    draft.values.iter().for_each(|value| values.push(value.bytes()));
    values
}

/// `None` where a structure that is met for the first time would have to be compiled.
fn fused(draft: &Draft<'_>, nodes: &Nodes, group: &Group, (kernel, met): (&Elementwise, Met)) -> Result<Option<()>> {
    check(&draft.leaves)?;
    let mut targets: SmallVec<[Array; 8]> = SmallVec::new();
    for node in group.outputs.iter().filter_map(|place| nodes[usize::from(*place)].as_ref()) {
        targets.push(target(node)?);
    }
    let mut arrays: SmallVec<[&Array; 16]> = SmallVec::new();
    draft.leaves.iter().for_each(|leaf| arrays.push(leaf));
    targets.iter().for_each(|target| arrays.push(target));
    let Some(node) = group.places.first().and_then(|place| nodes[usize::from(*place)].as_ref()) else {
        return Ok(None);
    };
    let plan = kernel.plan(&arrays, false)?;
    if met == Met::First && !kernel.is_at_hand(node.stream.device(), &plan) {
        return Ok(None);
    }
    // SAFETY: as in `run`.
    unsafe { kernel.run(&plan, &arrays, &mut values(draft), None, &node.stream)? };
    report::launched(group.places.len(), targets.len());
    Ok(Some(()))
}

/// A reduction whose elements are computed where it reads them.
fn mapped(draft: &Draft<'_>, nodes: &Nodes, group: &Group, map: &Map) -> Result<()> {
    check(&draft.leaves)?;
    let mut members = group.places.iter().rev().filter_map(|place| nodes[usize::from(*place)].as_deref());
    let (Some(node), Some(read)) = (members.next(), members.next()) else { return Ok(()) };
    let Work::Reduction(reduction) = &node.work else { return Ok(()) };
    let values = values(draft);
    let made = Made { layout: &read.layout, dtype: read.dtype, map, leaves: &draft.leaves, values: &values };
    reduce(node, reduction, Elements::Made(&made))?;
    report::launched(group.places.len(), 1);
    Ok(())
}

fn reduce(node: &Node, reduction: &Reduction, input: Elements<'_>) -> Result<()> {
    let Reduction { row, computed, reduced, less, kept } = reduction;
    let target = target(node)?;
    let out = target.view(kept.clone())?;
    let call = Call { row, computed: *computed, input, mask: None, out: &out, reduced: *reduced, less: *less };
    axes::run(&call, &node.stream)
}

/// One operation by the kernel that it has without being put off.
fn one(node: &Node) -> Result<()> {
    match &node.work {
        Work::Loop(row, kind) => one_loop(node, row, *kind)?,
        Work::Reduction(reduction) => {
            let Some(input) = node.arrays().first() else { return Ok(()) };
            check(&[input])?;
            reduce(node, reduction, Elements::Array(input))?;
        }
    }
    report::launched(1, 1);
    Ok(())
}

fn one_loop(node: &Node, row: &'static Row, kind: Kind) -> Result<()> {
    let mut given: SmallVec<[Given; 4]> = SmallVec::new();
    let mut operands: SmallVec<[&Array; 4]> = SmallVec::new();
    let mut values = Arguments::new();
    for operand in node.operands.iter() {
        given.push(operand.given());
        match operand {
            Operand::Array(array) => operands.push(array),
            Operand::Value(value) => values.push(value.bytes()),
        }
    }
    check(&operands)?;
    if let (true, [operand]) = (std::ptr::eq(row, as_it_is()), operands.as_slice()) {
        return ufunc::cast(&target(node)?, ufunc::Source::Array(operand), None, &node.stream);
    }
    let kernel = kernel_of(row, kind, &given, &[node.dtype.kind()], false)?;
    let target = target(node)?;
    let mut arrays: SmallVec<[&Array; 5]> = SmallVec::new();
    operands.iter().for_each(|operand| arrays.push(operand));
    arrays.push(&target);
    run(kernel, &arrays, values, &node.stream)
}

fn run(kernel: &Elementwise, arrays: &[&Array], mut values: Arguments, stream: &Stream) -> Result<()> {
    let plan = kernel.plan(arrays, false)?;
    // SAFETY: the kernel was made for arrays of these kinds, the plan is of them, and the values are of the declared types.
    unsafe { kernel.run(&plan, arrays, &mut values, None, stream) }
}
