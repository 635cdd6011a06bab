//! Runs copies and other work on arrays of the CPU backend, which are in host memory, without a backend call. The work
//! runs immediately or, if the stream is capturing, at each launch of the captured graph.

use std::borrow::Borrow;

use super::with_access;
use pygpu_array::Array;
use pygpu_backend::{HostWork, NodeKind};
use pygpu_base::error::Result;
use pygpu_device::stream::Stream;
use pygpu_memory::{Access, stream_captures};

/// Runs `work` on two borrowed operands. During a capture `work` is recorded instead, with owned operands that `owned`
/// creates.
#[inline]
pub(super) fn on_cpu<A, B, OwnA, OwnB>(
    stream: &Stream,
    kind: NodeKind,
    uses: &[(&Array, Access)],
    borrowed: (&A, &B),
    owned: impl FnOnce() -> (OwnA, OwnB),
    work: impl Fn(&A, &B) -> Result<()> + Send + Sync + 'static,
) -> Result<()>
where
    A: ?Sized,
    B: ?Sized,
    OwnA: Borrow<A> + Send + Sync + 'static,
    OwnB: Borrow<B> + Send + Sync + 'static,
{
    if !stream_captures::is_any() {
        return work(borrowed.0, borrowed.1);
    }
    let (first, second) = owned();
    put(stream, kind, uses, Box::new(move || work(first.borrow(), second.borrow())))
}

#[cold]
fn put(stream: &Stream, kind: NodeKind, uses: &[(&Array, Access)], work: HostWork) -> Result<()> {
    let device = stream.device();
    match uses {
        // SAFETY: the borrow keeps the stream alive. The recorded work owns its arrays, and the capturing caller keeps
        // other memory alive.
        [] => unsafe { device.backend().graphs()?.put_work(device.index(), stream.handle(), kind, work) },
        [(array, access), others @ ..] => with_access(array, *access, stream, || put(stream, kind, others, work)),
    }
}
