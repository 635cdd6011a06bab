//! Caches the kernels of fused operations, by the structure of the operations.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::deferral_mode;
use super::group::{FusionGroup, Nodes};
use super::kernel_spec::FusedKernelSpec;
use super::limits::limit;
use super::source;
use crate::Elementwise;
use crate::reductions::InputExpression;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_codegen::variant_cache::Mixer;

/// The generated code for one structure of fused operations, and the number of times this structure was used.
struct FusedKernelEntry {
    form: FusedCode,
    /// Number of flushed groups that had this structure, for comparison with the compile threshold.
    times: u64,
}

/// The generated code for a structure of fused operations.
#[derive(Clone)]
pub(super) enum FusedCode {
    /// A kernel for elementwise operations.
    Kernel(Arc<Elementwise>),
    /// The code of a reduction: the expression that computes the reduction's input.
    Map(Arc<InputExpression>),
}

type FusedKernelTable = HashMap<Box<[u64]>, FusedKernelEntry, BuildHasherDefault<Mixer>>;

static TABLE: ForkSafeMutex<Option<FusedKernelTable>> = ForkSafeMutex::new(None);

/// Maximum number of entries of the kernel cache, which is cleared when it is full.
const MOST: usize = 1024;

/// Determines whether a structure of fused operations may be compiled in this flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CompileDecision {
    /// The number of uses is below the compile threshold: the kernel is used only if it is available without
    /// compilation.
    IfCached,
    /// The number of uses has reached the compile threshold: the kernel is compiled if necessary.
    Compile,
}

/// Looks up or generates the code for a kernel spec, and counts a use of the structure. Returns `None` if this is not
/// the first use and the number of uses is below the compile threshold; the operations are then launched individually.
///
/// If `counts` is false, the number of uses stays unchanged. `counts` is false for a second attempt of the same flush,
/// and on the helper thread.
///
/// # Errors
/// `TypeError` if a function has no implementation for its operands' dtype; such operations are never deferred.
pub(super) fn lookup_or_compile(
    draft: &FusedKernelSpec<'_>,
    nodes: &Nodes,
    group: &FusionGroup,
    counts: bool,
) -> Result<Option<(FusedCode, CompileDecision)>> {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    let compile_threshold = match limit().compile_threshold.load(Ordering::Relaxed) {
        0 => deferral_mode::compile_threshold(),
        threshold => threshold,
    };
    if let Some((form, times)) = lookup(draft, counts) {
        return Ok(match times {
            times if times >= compile_threshold => Some((form, CompileDecision::Compile)),
            _ if !counts => Some((form, CompileDecision::IfCached)),
            _ => None,
        });
    }
    if !counts {
        return Ok(None);
    }
    let form = match draft.is_reduction(nodes, group) {
        true => FusedCode::Map(Arc::new(source::map(draft, nodes, group, LATEST.fetch_add(1, Ordering::Relaxed))?)),
        false => FusedCode::Kernel(Arc::new(source::write(draft, nodes, group)?)),
    };
    let (form, times) = remember(draft, form);
    Ok(match times {
        times if times >= compile_threshold => Some((form, CompileDecision::Compile)),
        1 => Some((form, CompileDecision::IfCached)),
        _ => None,
    })
}

/// Looks up the generated code for a structure of fused operations. Returns the code with the number of uses, which
/// includes the present use if `counts` is true.
fn lookup(draft: &FusedKernelSpec<'_>, counts: bool) -> Option<(FusedCode, u64)> {
    let mut table = TABLE.lock();
    let known = table.as_mut()?.get_mut(draft.key.as_slice())?;
    known.times += u64::from(counts);
    Some((known.form.clone(), known.times))
}

/// Adds generated code to the cache, unless another thread has meanwhile added code for this structure. Thus no kernel
/// is compiled twice. Returns the code in the cache, and the number of uses including the present one.
fn remember(draft: &FusedKernelSpec<'_>, form: FusedCode) -> (FusedCode, u64) {
    let mut table = TABLE.lock();
    let known = table.get_or_insert_default();
    if let Some(known) = known.get_mut(draft.key.as_slice()) {
        known.times += 1;
        return (known.form.clone(), known.times); // the parameter `form` is dropped after the lock on the cache is released
    }
    let forgotten = (known.len() >= MOST).then(|| std::mem::take(known));
    known.insert(draft.key.as_slice().into(), FusedKernelEntry { form: form.clone(), times: 1 });
    drop(table);
    drop(forgotten); // dropped after the lock is released, because the drop of a kernel may unload its module
    (form, 1)
}
