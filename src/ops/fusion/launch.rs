//! Launches the operations of a batch, fused or individually.

use smallvec::{SmallVec, smallvec};

use super::group::{self, Dependencies, FusionGroup, Nodes};
use super::kernel_cache::{self, CompileDecision, FusedCode};
use super::kernel_spec::FusedKernelSpec;
use super::node::{DeferredNode, DeferredOp, DeferredReduction};
use super::operands::DeferredOperand;
use super::queue::TakenNodes;
use super::report::Counts;
use crate::Elementwise;
use crate::reductions::{self, AxisReduction, ComputedElements, Elements, InputExpression};
use crate::ufunc::{self, LoopOperand, UfuncEntry, as_it_is, kernel_of};
use pygpu_array::Array;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::FlushToken;
use pygpu_codegen::variant_cache;
use pygpu_device::stream::Stream;
use pygpu_kernel::Arguments;

/// Settings of one attempt of a flush. They differ between a flush by a thread of the program and a flush by the helper
/// thread, and between the first and later attempts.
#[derive(Clone, Copy)]
pub(super) struct Policy {
    /// Whether this flush counts uses of kernel structures, for the compile threshold.
    pub(super) counts: bool,
    /// Whether this is the first attempt of a flush to launch the batch.
    pub(super) is_first: bool,
    /// Whether fused operations stay pending until their kernel is compiled. If not, the operations are launched
    /// individually.
    pub(super) waits_for_compiler: bool,
}

impl Policy {
    /// Returns the settings of a flush by one of the program's threads, as opposed to the helper thread.
    pub(super) const fn of_owner() -> Self {
        Self { counts: true, is_first: true, waits_for_compiler: true }
    }

    /// Returns the settings of a flush by the helper thread, which bounds the age of operations.
    pub(super) const fn of_helper() -> Self {
        Self { counts: false, is_first: true, waits_for_compiler: false }
    }
}

/// Outcome of the launch of a batch.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) counts: Counts,
    /// The first error, whose message contains the number of failed operations.
    pub(super) error: Option<Error>,
    /// Number of memory blocks for which an error was recorded.
    pub(super) faults: usize,
}

/// A batch that is being launched.
struct LaunchBatch<'a> {
    taken: &'a mut TakenNodes,
    policy: Policy,
    token: &'a FlushToken,
    outcome: Outcome,
    first_failed: Option<(String, Error)>,
    failed: usize,
}

/// Launches all operations of a batch in order, and releases their operands. After an error the remaining operations
/// are still launched. Operations that are still in the batch afterwards need a kernel that must be compiled first.
pub(super) fn all(taken: &mut TakenNodes, policy: Policy, token: &FlushToken) -> Outcome {
    if taken.live == 1 {
        return alone(taken, policy, token);
    }
    let nodes = &taken.nodes;
    let needs = Dependencies::of(taken.id(0), nodes);
    let groups = match group::whole(nodes, &needs) {
        Some(all) => {
            debug_assert_eq!(group::groups(nodes, &needs).as_slice(), std::slice::from_ref(&all));
            smallvec![all]
        }
        None => group::groups(nodes, &needs),
    };
    let mut batch = LaunchBatch::new(taken, policy, token);
    for group in &groups {
        batch.launch(group);
        if variant_cache::has_postponed() {
            break; // a kernel of this group must be compiled first, and later groups may need the group's results
        }
    }
    batch.into_outcome()
}

/// Launches a batch that has a single operation, for which no groups are formed.
fn alone(taken: &mut TakenNodes, policy: Policy, token: &FlushToken) -> Outcome {
    let nodes = taken.nodes.iter().enumerate();
    let node = nodes.filter_map(|(place, node)| Some((place, node.as_deref()?))).next();
    let node = node.map(|(place, node)| (place, node.result.strong_count() > 0));
    let mut batch = LaunchBatch::new(taken, policy, token);
    match node {
        Some((place, true)) => batch.launch_one(place, 1),
        Some((place, false)) => batch.taken.nodes[place] = None,
        None => {}
    }
    batch.into_outcome()
}

impl<'a> LaunchBatch<'a> {
    fn new(taken: &'a mut TakenNodes, policy: Policy, token: &'a FlushToken) -> Self {
        Self { taken, policy, token, outcome: Outcome::default(), first_failed: None, failed: 0 }
    }

    fn launch(&mut self, group: &FusionGroup) {
        if !group.outputs.is_empty() && group.places.len() > 1 {
            match self.together(group) {
                Some(Ok(())) => return self.remove(group),
                _ if variant_cache::has_postponed() && self.policy.waits_for_compiler => return,
                // If the fused kernel fails, the operations are launched individually. This may succeed, because
                // individual launches use other kernels and need less memory: operands are freed after their last use.
                Some(Err(_)) => {}
                None => self.outcome.counts.first_meetings += u64::from(self.policy.counts),
            }
            drop(variant_cache::take_postponed());
        }
        if group.outputs.is_empty() {
            return self.remove(group);
        }
        for place in &group.places {
            self.launch_one(usize::from(*place), group.places.len());
            if variant_cache::has_postponed() {
                return;
            }
        }
    }

    /// Launches one operation of a group of `together` operations, unless the operation's kernel must be compiled
    /// first.
    fn launch_one(&mut self, place: usize, together: usize) {
        let Some(node) = self.taken.nodes[place].as_deref() else { return };
        let outcome = one(node, self.token);
        if variant_cache::has_postponed() {
            return;
        }
        match outcome {
            Ok(()) => self.outcome.counts.launched(1, 1),
            Err(error) => self.refuse(place, &error, together),
        }
        self.taken.nodes[place] = None;
    }

    fn remove(&mut self, group: &FusionGroup) {
        for place in &group.places {
            self.taken.nodes[usize::from(*place)] = None;
        }
    }

    /// Stores the error of a failed operation in the memory block of its result.
    fn refuse(&mut self, place: usize, error: &Error, together: usize) {
        let Some(node) = &self.taken.nodes[place] else { return };
        self.failed += 1;
        let batch = self.taken.id(0);
        let (_, first) = self.first_failed.get_or_insert_with(|| (node.name(), error.clone()));
        let error = named(first.clone(), &node.name(), together);
        let is_new = match (&node.target, node.result.upgrade()) {
            (Some(target), _) => target.allocation().refuse_write(error, batch, self.token),
            (None, Some(block)) => block.lose(error, batch, self.token),
            (None, None) => false,
        };
        self.outcome.faults += usize::from(is_new);
    }

    fn into_outcome(mut self) -> Outcome {
        self.outcome.counts.failures = self.failed as u64;
        self.outcome.error = self.first_failed.map(|(name, error)| named(error, &name, self.failed));
        self.outcome
    }

    /// Launches all operations of a group by one kernel. Returns `None` if this is not possible: the number of uses of
    /// the group's structure is below the compile threshold, or the operands are not aligned for the kernel's vector
    /// loads.
    fn together(&mut self, group: &FusionGroup) -> Option<Result<()>> {
        let nodes = &self.taken.nodes;
        let draft = FusedKernelSpec::of(self.taken.id(0), nodes, group);
        let outputs = match kernel_cache::lookup_or_compile(&draft, nodes, group, self.policy.counts) {
            Ok(Some((FusedCode::Kernel(kernel), met))) => fused(&draft, nodes, group, (&kernel, met), self.token),
            Ok(Some((FusedCode::Map(map), CompileDecision::Compile))) => mapped(&draft, nodes, group, &map, self.token),
            Ok(Some((FusedCode::Map(_), CompileDecision::IfCached)) | None) => Ok(None),
            Err(error) => Err(error),
        };
        match outputs.transpose()? {
            Ok(outputs) => {
                self.outcome.counts.launched(group.places.len(), outputs);
                Some(Ok(()))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

/// Adds to an error's message the number of operations that the error affects.
fn named(error: Error, name: &str, count: usize) -> Error {
    let whose = match count {
        1 => format!("deferred operation: {name}"),
        _ => format!("{count} deferred operations, among them {name}"),
    };
    let add_to = |detail: &mut String| {
        if !detail.contains("deferred operation") {
            let separator = if detail.is_empty() { "" } else { "; " };
            detail.push_str(&format!("{separator}{whose}"));
        }
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

/// Allocates the memory of an operation's result, and returns the result's array. If no array of the program refers to
/// the result any more, the returned array gets a new memory block.
fn target(node: &DeferredNode, token: &FlushToken) -> Result<Array> {
    let Some(array) = node.result()? else {
        return Array::on_new_memory(node.layout.clone(), node.dtype, node.stream.clone());
    };
    if !array.allocation().has_memory() {
        array.allocation().materialize(token)?;
    }
    Ok(array)
}

fn values(draft: &FusedKernelSpec<'_>) -> Arguments {
    let mut values = Arguments::new();
    draft.values.iter().for_each(|value| values.push(value.bytes()));
    values
}

/// Launches a fused kernel and returns the number of its results. Returns `None` if the number of uses of the kernel's
/// structure is below the compile threshold and the kernel is not available without compilation.
fn fused(
    draft: &FusedKernelSpec<'_>,
    nodes: &Nodes,
    group: &FusionGroup,
    (kernel, met): (&Elementwise, CompileDecision),
    token: &FlushToken,
) -> Result<Option<usize>> {
    let mut targets: SmallVec<[Array; 8]> = SmallVec::new();
    for node in group.outputs.iter().filter_map(|place| nodes[usize::from(*place)].as_ref()) {
        targets.push(target(node, token)?);
    }
    let mut arrays: SmallVec<[&Array; 16]> = SmallVec::new();
    for leaf in &draft.leaves {
        arrays.push(leaf.materialized()?);
    }
    targets.iter().for_each(|target| arrays.push(target));
    let Some(node) = group.places.first().and_then(|place| nodes[usize::from(*place)].as_ref()) else {
        return Ok(None);
    };
    let plan = kernel.plan(&arrays, false)?;
    if met == CompileDecision::IfCached && !kernel.is_at_hand(node.stream.device(), &plan) {
        return Ok(None);
    }
    // SAFETY: the kernel was generated from this specification, which also determines the types of the values; the plan
    // was made for these arrays.
    unsafe { kernel.run(&plan, &arrays, &mut values(draft), None, &node.stream)? };
    Ok(Some(targets.len()))
}

/// Launches a reduction by a kernel that also computes the reduction's input. Returns `None` if the operands' addresses
/// are not aligned for the kernel's vector loads.
fn mapped(
    draft: &FusedKernelSpec<'_>,
    nodes: &Nodes,
    group: &FusionGroup,
    map: &InputExpression,
    token: &FlushToken,
) -> Result<Option<usize>> {
    let mut leaves: SmallVec<[&Array; 16]> = SmallVec::new();
    for leaf in &draft.leaves {
        leaves.push(leaf.materialized()?);
        if !group::is_on_even_ground(leaf) {
            return Ok(None);
        }
    }
    let mut members = group.places.iter().rev().filter_map(|place| nodes[usize::from(*place)].as_deref());
    let (Some(node), Some(read)) = (members.next(), members.next()) else { return Ok(None) };
    let DeferredOp::Reduction(reduction) = &node.work else { return Ok(None) };
    let values = values(draft);
    let made = ComputedElements { layout: &read.layout, dtype: read.dtype, map, leaves: &leaves, values: &values };
    reduce(node, reduction, Elements::Made(&made), token)?;
    Ok(Some(1))
}

fn reduce(node: &DeferredNode, reduction: &DeferredReduction, input: Elements<'_>, token: &FlushToken) -> Result<()> {
    let DeferredReduction { row, computed, reduced, less, kept } = reduction;
    let target = target(node, token)?;
    let out = target.view(kept.clone())?;
    let call = AxisReduction { row, computed: *computed, input, mask: None, out: &out, reduced: *reduced, less: *less };
    reductions::run(&call, &node.stream)
}

/// Launches a single operation by the kernel that an eager operation would use.
fn one(node: &DeferredNode, token: &FlushToken) -> Result<()> {
    // An operand has no value if the operation that computes it failed. The operands are checked before the kernel
    // lookup, because the lookup may compile a kernel in vain.
    node.arrays().iter().try_for_each(|array| array.allocation().check_lost())?;
    match &node.work {
        DeferredOp::Loop(row, kind) => one_loop(node, row, *kind, token),
        DeferredOp::Reduction(reduction) => {
            let Some(input) = node.arrays().first() else { return Ok(()) };
            reduce(node, reduction, Elements::Array(input.materialized()?), token)
        }
    }
}

fn one_loop(node: &DeferredNode, row: &'static UfuncEntry, kind: ScalarType, token: &FlushToken) -> Result<()> {
    let mut inputs: SmallVec<[LoopOperand; 4]> = SmallVec::new();
    let mut operands: SmallVec<[&Array; 4]> = SmallVec::new();
    let mut values = Arguments::new();
    for operand in node.operands.iter() {
        inputs.push(operand.loop_operand());
        match operand {
            DeferredOperand::Array(array) => operands.push(array.materialized()?),
            DeferredOperand::Value(value) => values.push(value.bytes()),
        }
    }
    if let (true, [operand]) = (std::ptr::eq(row, as_it_is()), operands.as_slice()) {
        return ufunc::cast(&target(node, token)?, ufunc::CastSource::Array(operand), None, &node.stream);
    }
    let kernel = kernel_of(row, kind, &inputs, &[node.dtype.kind()], false)?;
    let target = target(node, token)?;
    let mut arrays: SmallVec<[&Array; 5]> = SmallVec::new();
    operands.iter().for_each(|operand| arrays.push(operand));
    arrays.push(&target);
    run(kernel, &arrays, values, &node.stream)
}

fn run(kernel: &Elementwise, arrays: &[&Array], mut values: Arguments, stream: &Stream) -> Result<()> {
    let plan = kernel.plan(arrays, false)?;
    // SAFETY: the callers look the kernel up by the types of these arrays and values, and the plan was made for these
    // arrays.
    unsafe { kernel.run(&plan, arrays, &mut values, None, stream) }
}
