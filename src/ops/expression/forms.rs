//! The structures of several operations that were met, and their kernels.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::draft::Draft;
use super::group::{Group, Nodes};
use super::limits::limit;
use super::mode;
use super::source;
use crate::Elementwise;
use crate::axes::Map;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::Global;
use pygpu_codegen::store::Mixer;

/// What is known of a structure.
struct Known {
    form: Form,
    /// How often it was met.
    times: u64,
}

/// What a structure became.
#[derive(Clone)]
pub(super) enum Form {
    /// A kernel.
    Kernel(Arc<Elementwise>),
    /// What a reduction reads.
    Map(Arc<Map>),
}

type Table = HashMap<Box<[u64]>, Known, BuildHasherDefault<Mixer>>;

static TABLE: Global<Option<Table>> = Global::new(None);

/// Structures that are remembered; beyond that all are forgotten.
const MOST: usize = 1024;

/// How often a structure was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Met {
    /// Not often enough to be compiled; what was compiled by an earlier process may be taken.
    First,
    /// Often enough.
    Often,
}

/// What a draft becomes, which is met once more; `None` for one that was refused once as not to be compiled yet.
///
/// # Errors
/// `TypeError` for a kind that has no loop, which an operation that was put off has.
///
/// A second look at the same operations does not count: then a structure that was met once is still met for the first time.
pub(super) fn form(draft: &Draft<'_>, nodes: &Nodes, group: &Group, counts: bool) -> Result<Option<(Form, Met)>> {
    static LATEST: AtomicU64 = AtomicU64::new(0);
    let meetings = match limit().meetings.load(Ordering::Relaxed) {
        0 => mode::meetings(),
        asked => asked,
    };
    if let Some((form, times)) = look_up(draft, counts) {
        return Ok(match times {
            times if times >= meetings => Some((form, Met::Often)),
            _ if !counts => Some((form, Met::First)),
            _ => None,
        });
    }
    if !counts {
        return Ok(None);
    }
    let form = match draft.is_reduction(nodes, group) {
        true => Form::Map(Arc::new(source::map(draft, nodes, group, LATEST.fetch_add(1, Ordering::Relaxed))?)),
        false => Form::Kernel(Arc::new(source::write(draft, nodes, group)?)),
    };
    remember(draft, form.clone());
    Ok(Some((form, if meetings <= 1 { Met::Often } else { Met::First })))
}

/// What is known of a draft's structure, and how often it was met, this time among them.
fn look_up(draft: &Draft<'_>, counts: bool) -> Option<(Form, u64)> {
    let mut table = TABLE.lock();
    let known = table.as_mut()?.get_mut(draft.key.as_slice())?;
    known.times += u64::from(counts);
    Some((known.form.clone(), known.times))
}

fn remember(draft: &Draft<'_>, form: Form) {
    let mut table = TABLE.lock();
    let known = table.get_or_insert_default();
    let forgotten = (known.len() >= MOST).then(|| std::mem::take(known));
    known.insert(draft.key.as_slice().into(), Known { form, times: 1 });
    drop(table);
    drop(forgotten); // a driver may unload what is in there
}
