//! Tracks hazards: the uses of a memory block, and the waits that they require.
//!
//! The rules, verified by the model checker in `tests/hazard_model` and explained in `docs/design/hazards.md`:
//!
//! 1. A use has three steps: `begin` waits for all conflicting uses, the work is enqueued, `end` records the use. No
//!    use is recorded before its work is enqueued. Once work may have been enqueued, the use is recorded even if a
//!    later step fails.
//! 2. A use is removed from the list only if waiting for a newer use suffices. The newer use is a write that waited for
//!    the older use in `begin`, or later work on the same stream whose event is recorded lazily. The end of a write
//!    never removes uses that were recorded after the begin of this write.
//! 3. A waiter announces itself before it requests an event from the driver. An operation that began uncontended checks
//!    in `end` whether a waiter has announced itself, and records its use if so. If none has, the operation's work was
//!    enqueued before any later waiter requests an event. The event therefore covers this work.
//! 4. An event on a persistent stream is recorded when the first waiter needs it, and covers all work enqueued by that
//!    time. An event on a borrowed stream is recorded together with the use, because such a stream may be destroyed, or
//!    its handle may denote another stream in another thread.
//! 5. The lock of the recorded uses is never held during a driver call or a drop.

use std::sync::Arc;

use smallvec::SmallVec;

use pygpu_base::locks_and_atomics::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The way in which an operation accesses a memory block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Access {
    /// Read only.
    Read,
    /// Write, or both read and write.
    Write,
}

/// A stream, as the hazard tracker uses it: its work runs in order, and other streams and the host can wait for its
/// events. The model checker implements this trait too.
pub trait Queue: Clone {
    /// Identity of a stream. Two handles have equal identities if and only if all their work is executed in one order.
    type Identity: Copy + PartialEq;
    /// An event that was recorded on a stream.
    type Mark;
    /// Type of the errors that the driver's calls return.
    type Error;

    /// Returns the stream's identity for the calling thread. Some stream handles denote a different stream in each
    /// thread.
    fn identity(&self) -> Self::Identity;
    /// Returns whether the stream is persistent, i.e. any thread may record an event on it at any later time.
    fn lasts(&self) -> bool;
    /// Records an event on the stream, after all work enqueued so far.
    fn mark(&self) -> Result<Self::Mark, Self::Error>;
    /// Makes later work on this stream wait for an event of another stream.
    fn wait(&self, mark: &Self::Mark) -> Result<(), Self::Error>;
    /// Blocks the host until all work on the stream is complete.
    fn synchronize(&self) -> Result<(), Self::Error>;
    /// Blocks the host until all work on the device is complete.
    fn synchronize_device(&self) -> Result<(), Self::Error>;
    /// Returns whether all work that precedes an event on its stream is complete; `false` if the driver's query fails.
    fn is_passed(mark: &Self::Mark) -> bool;
    /// Blocks the host until all work that precedes an event on its stream is complete.
    fn synchronize_mark(mark: &Self::Mark) -> Result<(), Self::Error>;
}

/// Point of a stream after which a recorded use has ended.
enum UseEnd<Mark> {
    /// The end of the stream at the time when the first waiter needs an event. No event is recorded yet.
    Lazy,
    Event(Arc<Mark>),
    /// The end is unknown, because the driver failed to record an event. Waiters wait for the whole device.
    Unknown,
}

/// A point in the work of a stream, such as a recorded event, that other streams and the host can wait for.
struct SyncPoint<Q: Queue> {
    queue: Q,
    until: UseEnd<Q::Mark>,
}

impl<Q: Queue> Clone for SyncPoint<Q> {
    fn clone(&self) -> Self {
        let until = match &self.until {
            UseEnd::Lazy => UseEnd::Lazy,
            UseEnd::Event(mark) => UseEnd::Event(Arc::clone(mark)),
            UseEnd::Unknown => UseEnd::Unknown,
        };
        Self { queue: self.queue.clone(), until }
    }
}

impl<Q: Queue> SyncPoint<Q> {
    /// Returns the point that later waiters must wait for: the current end of the stream. The second value is the
    /// driver's error if the driver could not record an event there. After such an error:
    ///
    /// - This function blocks the host until the stream is complete. If that succeeds, nothing is left to wait for, and
    ///   the point is `None`.
    /// - If that fails, too, the point is [`UseEnd::Unknown`], and waiters wait for the whole device.
    fn of(queue: &Q) -> (Option<Self>, Result<(), Q::Error>) {
        let point = |until| Some(Self { queue: queue.clone(), until });
        if queue.lasts() {
            return (point(UseEnd::Lazy), Ok(()));
        }
        match queue.mark() {
            Ok(mark) => (point(UseEnd::Event(Arc::new(mark))), Ok(())),
            Err(error) if queue.synchronize().is_ok() => (None, Err(error)),
            Err(error) => (point(UseEnd::Unknown), Err(error)),
        }
    }

    fn let_wait(&self, waiter: &Q) -> Result<(), Q::Error> {
        match &self.until {
            UseEnd::Lazy => waiter.wait(&self.queue.mark()?),
            UseEnd::Event(mark) => waiter.wait(mark),
            UseEnd::Unknown => self.queue.synchronize_device(),
        }
    }

    fn synchronize(&self) -> Result<(), Q::Error> {
        match &self.until {
            UseEnd::Lazy => self.queue.synchronize(),
            UseEnd::Event(mark) => Q::synchronize_mark(mark),
            UseEnd::Unknown => self.queue.synchronize_device(),
        }
    }

    fn is_late(&self) -> bool {
        matches!(self.until, UseEnd::Lazy)
    }
}

/// One recorded use of the memory block by a stream.
struct RecordedUse<Q: Queue> {
    point: SyncPoint<Q>,
    identity: Q::Identity,
    access: Access,
    /// Sequence number of this use among the uses of the block.
    number: u64,
    /// Sequence number up to which the stream had waited for all conflicting uses of the block before this use.
    behind: u64,
}

type Few<T> = SmallVec<[T; 2]>;

/// The recorded uses of a memory block, for which later operations may have to wait.
struct UseList<Q: Queue> {
    list: Few<RecordedUse<Q>>,
    /// Sequence number of the latest use of the block.
    latest: u64,
    /// Number of announced operations that have begun and not yet ended.
    under_way: u32,
}

impl<Q: Queue> UseList<Q> {
    /// Returns whether all recorded uses are on the persistent stream `identity`. If so, new work on that stream need
    /// not wait and need not be recorded.
    fn are_all_of(&self, identity: Q::Identity) -> bool {
        self.under_way == 0
            && self.list.iter().all(|one| one.identity == identity && one.point.is_late())
            && self.list.iter().any(|one| one.access == Access::Write)
    }

    /// Returns the ends of the uses for which an operation with this access on the stream `identity` must wait.
    fn before(&self, access: Access, identity: Q::Identity) -> Few<SyncPoint<Q>> {
        let own = self.list.iter().filter(|one| one.identity == identity);
        let behind = own.map(|one| one.behind).max().unwrap_or(0);
        let is_before = |one: &&RecordedUse<Q>| match (access, one.access) {
            _ if one.identity == identity => false,
            (Access::Read, Access::Read) => false,
            (Access::Read, Access::Write) => one.number > behind,
            (Access::Write, _) => true,
        };
        self.list.iter().filter(is_before).map(|one| one.point.clone()).collect()
    }

    /// Adds a use whose stream has waited for all conflicting uses up to number `seen`. Removes and returns the older
    /// uses that the new use makes redundant.
    fn add(&mut self, identity: Q::Identity, access: Access, point: SyncPoint<Q>, seen: u64) -> Few<RecordedUse<Q>> {
        self.latest += 1;
        let new = RecordedUse { point, identity, access, number: self.latest, behind: seen };
        let is_covered = |old: &RecordedUse<Q>| {
            let is_own = old.identity == identity && old.access <= access;
            (old.number <= seen && (access == Access::Write || is_own))
                || (is_own && old.point.is_late() && new.point.is_late())
        };
        let mut covered = Few::new();
        let mut place = 0;
        while place < self.list.len() {
            if is_covered(&self.list[place]) {
                covered.push(self.list.swap_remove(place));
            } else {
                place += 1;
            }
        }
        self.list.push(new);
        covered
    }
}

/// Token of an operation that has begun. `begin` returns it, and `end` and `cancel` require it.
#[must_use]
#[derive(Clone, Copy)]
pub struct UseToken {
    /// Number of the latest use when the operation began. The operation's stream has waited for all conflicting uses up
    /// to this number.
    seen: u64,
    kind: UseTokenKind,
}

#[derive(Clone, Copy, PartialEq)]
enum UseTokenKind {
    /// The hazard tracker does not order the operation; other means do, e.g. a capture.
    OrderedElsewhere,
    /// The operation is not announced, because no other operation was active when it began.
    Uncontended,
    /// The operation is announced: other operations can detect that it is active.
    Announced,
}

impl UseToken {
    /// Token for operations that the hazard tracker does not order: operations on the host, and operations in captures,
    /// which track dependencies themselves.
    pub const NOTHING: Self = Self { seen: 0, kind: UseTokenKind::OrderedElsewhere };
    /// The token of an uncontended operation ([`HazardTracker::begin_uncontended`]) on a block that only the
    /// operation's stream has ever used.
    pub const AT_HOME: Self = Self { seen: MADE, kind: UseTokenKind::Uncontended };
}

/// The uses of one block by streams, and the stream in whose order the block is freed.
pub struct HazardTracker<Q: Queue> {
    /// The stream in whose order the memory block is allocated and freed.
    alloc_stream: Q,
    /// The recorded uses. The list is not created while only `alloc_stream` has used the block. Most blocks are freed
    /// before another stream uses them.
    uses: OnceLock<Box<Mutex<UseList<Q>>>>,
}

/// The sequence number of the block's allocation, which counts as the block's first use.
const MADE: u64 = 1;

/// Number of recorded uses above which the list is searched for completed uses, to remove them. Only reads on stream
/// handles of unknown identity can exceed this number.
const MANY: usize = 32;

impl<Q: Queue> HazardTracker<Q> {
    /// Creates the tracker of a block. Work enqueued on `alloc_stream` may use the block without further
    /// synchronization.
    #[inline(always)]
    pub fn new(alloc_stream: Q) -> Self {
        debug_assert!(alloc_stream.lasts(), "the allocation stream of a block lasts");
        Self { alloc_stream, uses: OnceLock::new() }
    }

    /// Returns the stream on which the block is allocated and freed.
    #[inline]
    pub fn alloc_stream(&self) -> &Q {
        &self.alloc_stream
    }

    /// Returns whether no stream other than `alloc_stream` has used the block.
    #[inline]
    pub fn has_no_other_stream(&self) -> bool {
        self.uses.get().is_none()
    }

    /// Returns whether only `alloc_stream` has used the block, and `alloc_stream` has this identity.
    #[inline]
    pub fn is_only_used_on(&self, identity: Q::Identity) -> bool {
        self.has_no_other_stream() && self.alloc_stream.identity() == identity
    }

    /// Returns whether every recorded use is ordered before new work on the stream `queue`. Such work need not wait and
    /// need not be recorded.
    #[inline]
    pub fn needs_no_wait_on(&self, queue: &Q) -> bool {
        self.seen_alone(queue).is_some()
    }

    /// Begins an operation without announcing it to other operations, if it has no conflicting use to wait for.
    #[inline]
    pub fn begin_uncontended(&self, queue: &Q) -> Option<UseToken> {
        self.seen_alone(queue).map(|seen| UseToken { seen, kind: UseTokenKind::Uncontended })
    }

    #[inline]
    fn seen_alone(&self, queue: &Q) -> Option<u64> {
        let identity = queue.identity();
        match self.uses.get() {
            None => (self.alloc_stream.identity() == identity).then_some(MADE),
            Some(uses) => {
                let uses = lock(uses);
                uses.are_all_of(identity).then_some(uses.latest)
            }
        }
    }

    /// Begins an operation: makes the stream `queue` wait for all conflicting uses.
    ///
    /// # Errors
    /// Driver errors. The operation then has not begun.
    pub fn begin(&self, access: Access, queue: &Q) -> Result<UseToken, Q::Error> {
        let identity = queue.identity();
        let (before, seen) = {
            let mut uses = lock(self.uses());
            uses.under_way += 1;
            (uses.before(access, identity), uses.latest)
        };
        let ticket = UseToken { seen, kind: UseTokenKind::Announced };
        for point in &before {
            if let Err(error) = point.let_wait(queue) {
                self.cancel(ticket);
                return Err(error);
            }
        }
        Ok(ticket)
    }

    /// Ends an operation on the block that enqueued no work.
    pub fn cancel(&self, ticket: UseToken) {
        if ticket.kind == UseTokenKind::Announced {
            lock(self.uses()).under_way -= 1;
        }
    }

    /// Ends an operation whose work was enqueued, and records its use.
    ///
    /// # Errors
    /// Driver errors while recording an event. Later uses wait for the operation nevertheless.
    #[inline]
    pub fn end(&self, ticket: UseToken, access: Access, queue: &Q) -> Result<(), Q::Error> {
        match ticket.kind {
            UseTokenKind::OrderedElsewhere => Ok(()),
            UseTokenKind::Uncontended if self.needs_no_wait_on(queue) => Ok(()),
            UseTokenKind::Uncontended => self.add(access, queue, ticket.seen, 0),
            UseTokenKind::Announced => self.add(access, queue, ticket.seen, 1),
        }
    }

    /// Records work on the stream `queue` that was enqueued without `begin`.
    ///
    /// # Errors
    /// Driver errors while recording an event. Later uses wait for the work nevertheless.
    pub fn record(&self, access: Access, queue: &Q) -> Result<(), Q::Error> {
        if self.needs_no_wait_on(queue) { Ok(()) } else { self.add(access, queue, 0, 0) }
    }

    #[cold]
    fn add(&self, access: Access, queue: &Q, seen: u64, ended: u32) -> Result<(), Q::Error> {
        let (point, marked) = SyncPoint::of(queue);
        let (covered, is_long) = {
            let mut uses = lock(self.uses());
            uses.under_way -= ended;
            let covered = match point {
                Some(point) => uses.add(queue.identity(), access, point, seen),
                None => Few::new(),
            };
            (covered, uses.list.len() > MANY)
        };
        // The uses are dropped after the lock is released, because a use may own a Python object (a borrowed stream).
        drop(covered);
        if is_long {
            self.forget_passed();
        }
        marked
    }

    /// Removes recorded uses whose events are complete.
    fn forget_passed(&self) {
        let mark_of = |one: &RecordedUse<Q>| match &one.point.until {
            UseEnd::Event(mark) => Some((one.number, Arc::clone(mark))),
            UseEnd::Lazy | UseEnd::Unknown => None,
        };
        let marks: Vec<_> = lock(self.uses()).list.iter().filter_map(mark_of).collect();
        let passed: Vec<u64> = marks.iter().filter(|(_, mark)| Q::is_passed(mark)).map(|(number, _)| *number).collect();
        let mut uses = lock(self.uses());
        let (gone, kept) = std::mem::take(&mut uses.list).into_iter().partition(|one| passed.contains(&one.number));
        uses.list = kept;
        drop(uses);
        drop::<Few<RecordedUse<Q>>>(gone);
    }

    /// Makes `alloc_stream` wait for every use of the block, before the block is freed.
    ///
    /// # Errors
    /// Driver errors.
    pub fn wait_before_free(&mut self) -> Result<(), Q::Error> {
        let Some(uses) = self.uses.get_mut() else { return Ok(()) };
        let uses = uses.get_mut().unwrap_or_else(PoisonError::into_inner);
        let before = uses.before(Access::Write, self.alloc_stream.identity());
        before.iter().try_for_each(|point| point.let_wait(&self.alloc_stream))
    }

    /// Moves all recorded uses into a new tracker, whose owner frees the block. `self` contains no uses afterwards.
    #[must_use]
    pub fn take(&mut self) -> Self {
        Self { alloc_stream: self.alloc_stream.clone(), uses: std::mem::take(&mut self.uses) }
    }

    /// Returns the stream of the memory block's latest write. Returns `None` if the stream is borrowed, because a
    /// borrowed stream may be destroyed at any time.
    pub fn latest_writer(&self) -> Option<Q> {
        let Some(uses) = self.uses.get() else { return Some(self.alloc_stream.clone()) };
        let uses = lock(uses);
        let writes = uses.list.iter().filter(|one| one.access == Access::Write);
        writes.max_by_key(|one| one.number).filter(|one| one.point.is_late()).map(|one| one.point.queue.clone())
    }

    /// Returns the persistent streams with recorded uses for which an operation with this access on the stream `queue`
    /// would wait.
    pub fn queues_before(&self, access: Access, queue: &Q) -> Vec<Q> {
        let identity = queue.identity();
        let Some(uses) = self.uses.get() else {
            let is_other = self.alloc_stream.identity() != identity;
            return is_other.then(|| self.alloc_stream.clone()).into_iter().collect();
        };
        let points = lock(uses).before(access, identity);
        points.into_iter().filter(SyncPoint::is_late).map(|point| point.queue).collect()
    }

    /// Blocks the host until every recorded use of the block is complete.
    ///
    /// # Errors
    /// Driver errors.
    pub fn synchronize(&self) -> Result<(), Q::Error> {
        self.synchronize_where(|_, _| true)
    }

    /// Blocks the host until all recorded uses for which `concerns` returns `true` are complete.
    ///
    /// # Errors
    /// Driver errors.
    pub fn synchronize_where(&self, concerns: impl Fn(&Q, Access) -> bool) -> Result<(), Q::Error> {
        let Some(uses) = self.uses.get() else {
            return if concerns(&self.alloc_stream, Access::Write) { self.alloc_stream.synchronize() } else { Ok(()) };
        };
        let points: Few<SyncPoint<Q>> = {
            let uses = lock(uses);
            uses.list.iter().filter(|one| concerns(&one.point.queue, one.access)).map(|one| one.point.clone()).collect()
        };
        points.iter().try_for_each(SyncPoint::synchronize)
    }

    fn uses(&self) -> &Mutex<UseList<Q>> {
        self.uses.get_or_init(|| {
            let alloc_stream = &self.alloc_stream;
            let point = SyncPoint { queue: alloc_stream.clone(), until: UseEnd::Lazy };
            let (identity, access) = (alloc_stream.identity(), Access::Write);
            let made = RecordedUse { point, identity, access, number: MADE, behind: 0 };
            Box::new(Mutex::new(UseList { list: SmallVec::from_iter([made]), latest: MADE, under_way: 0 }))
        })
    }
}

fn lock<Q: Queue>(uses: &Mutex<UseList<Q>>) -> MutexGuard<'_, UseList<Q>> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}
