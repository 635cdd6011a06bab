//! Cache of fused kernels by structural key.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::group::{FusionGroup, Nodes};
use super::kernel_spec::FusedKernelSpec;
use super::limits::limit;
use super::mode;
use super::source;
use crate::Elementwise;
use crate::reductions::InputExpression;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_codegen::variant_cache::Mixer;

/// A cache entry.
struct FusedKernelEntry {
    form: FusedCode,
    /// Number of uses.
    times: u64,
}

/// The code for a structure.
#[derive(Clone)]
pub(super) enum FusedCode {
    /// A kernel.
    Kernel(Arc<Elementwise>),
    /// The input expression of a reduction.
    Map(Arc<InputExpression>),
}

type FusedKernelTable = HashMap<Box<[u64]>, FusedKernelEntry, BuildHasherDefault<Mixer>>;

static TABLE: ForkSafeMutex<Option<FusedKernelTable>> = ForkSafeMutex::new(None);

/// Maximum number of entries; beyond it the cache is cleared.
const MOST: usize = 1024;

/// Whether a structure is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CompileDecision {
    /// Below the compile threshold: only used if an earlier process has compiled it.
    IfCached,
    /// Compiled on demand.
    Compile,
}

/// Looks up or generates the code for a kernel spec and counts a use; `None` if the structure has been rejected before
/// and is still below the compile threshold.
///
/// # Errors
/// `TypeError` for a type without a loop, which deferred operations never have.
///
/// If `counts` is false, as in a second attempt of the same flush, the number of uses stays unchanged.
pub(super) fn lookup_or_compile(
    draft: &FusedKernelSpec<'_>,
    nodes: &Nodes,
    group: &FusionGroup,
    counts: bool,
) -> Result<Option<(FusedCode, CompileDecision)>> {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    let meetings = match limit().meetings.load(Ordering::Relaxed) {
        0 => mode::compile_threshold(),
        asked => asked,
    };
    if let Some((form, times)) = lookup(draft, counts) {
        return Ok(match times {
            times if times >= meetings => Some((form, CompileDecision::Compile)),
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
        times if times >= meetings => Some((form, CompileDecision::Compile)),
        1 => Some((form, CompileDecision::IfCached)),
        _ => None,
    })
}

/// The code for a structure, and its number of uses including this one.
fn lookup(draft: &FusedKernelSpec<'_>, counts: bool) -> Option<(FusedCode, u64)> {
    let mut table = TABLE.lock();
    let known = table.as_mut()?.get_mut(draft.key.as_slice())?;
    known.times += u64::from(counts);
    Some((known.form.clone(), known.times))
}

/// Adds generated code, unless another thread has added some for this structure: a kernel is compiled once. Returns the
/// code in the cache, and its number of uses including this one.
fn remember(draft: &FusedKernelSpec<'_>, form: FusedCode) -> (FusedCode, u64) {
    let mut table = TABLE.lock();
    let known = table.get_or_insert_default();
    if let Some(known) = known.get_mut(draft.key.as_slice()) {
        known.times += 1;
        return (known.form.clone(), known.times); // `form` is dropped after the lock's guard
    }
    let forgotten = (known.len() >= MOST).then(|| std::mem::take(known));
    known.insert(draft.key.as_slice().into(), FusedKernelEntry { form: form.clone(), times: 1 });
    drop(table);
    drop(forgotten); // not under the lock: dropping may unload modules
    (form, 1)
}
