//! Who used a block, and who must wait for that: a transaction with tickets.
//!
//! The rules, each held by the model checker in `tests/order_model` and told with their reasons in
//! `docs/design/order.md`:
//!
//! 1. An operation begins (it waits for every conflicting use that was noted), puts its work on a queue, and ends (its use
//!    is noted). No use is noted before its work is on the queue, and none is left out after it.
//! 2. A use leaves the list when another one stands for it: what a write waited for when it began, and earlier work of a
//!    queue whose end is asked for late. Nothing that was noted since a write began is removed by its end.
//! 3. Who waits says so before it asks the driver. An operation that began alone and finds somebody else there when it ends
//!    notes its use; one that finds nobody was on its queue before the other one asked.
//! 4. The end of a queue that lasts is marked when somebody waits for it, which covers all that is on it by then. A queue
//!    that may be gone, or mean another one in another thread, is marked when the use is noted.
//! 5. The driver is never called, and nothing is dropped, while the list is locked.

use std::sync::Arc;

use smallvec::SmallVec;

use pygpu_base::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What an operation does to a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Access {
    /// Only reads it.
    Read,
    /// Writes it.
    Write,
}

/// A queue of work on which others can wait: a stream.
pub trait Queue: Clone {
    /// What two queues share exactly if work on one is in the order of the other.
    type Identity: Copy + PartialEq;
    /// A point of a queue.
    type Mark;
    /// What the driver answers.
    type Error;

    /// Which queue it is, for the calling thread.
    fn identity(&self) -> Self::Identity;
    /// Whether its end may be asked for at any later time, from any thread.
    fn lasts(&self) -> bool;
    /// Marks its present end.
    fn mark(&self) -> Result<Self::Mark, Self::Error>;
    /// Lets later work on it wait for a point of another queue.
    fn wait(&self, mark: &Self::Mark) -> Result<(), Self::Error>;
    /// Stops the host until everything on it has ended.
    fn synchronize(&self) -> Result<(), Self::Error>;
    /// Stops the host until everything on its device has ended.
    fn synchronize_device(&self) -> Result<(), Self::Error>;
    /// Whether a point was passed; `false` where the driver cannot tell.
    fn is_passed(mark: &Self::Mark) -> bool;
    /// Stops the host until a point was passed.
    fn synchronize_mark(mark: &Self::Mark) -> Result<(), Self::Error>;
}

/// Until when a use lasts.
enum Until<Mark> {
    /// The end of the queue, whenever that is asked for.
    End,
    Mark(Arc<Mark>),
    /// Nobody knows: the driver refused to mark it.
    Unknown,
}

/// A point that others wait for.
struct Point<Q: Queue> {
    queue: Q,
    until: Until<Q::Mark>,
}

impl<Q: Queue> Clone for Point<Q> {
    fn clone(&self) -> Self {
        let until = match &self.until {
            Until::End => Until::End,
            Until::Mark(mark) => Until::Mark(Arc::clone(mark)),
            Until::Unknown => Until::Unknown,
        };
        Self { queue: self.queue.clone(), until }
    }
}

impl<Q: Queue> Point<Q> {
    /// The present end of a queue; `None` when it was waited for instead. Beside it, what the driver said to a mark.
    fn of(queue: &Q) -> (Option<Self>, Result<(), Q::Error>) {
        let point = |until| Some(Self { queue: queue.clone(), until });
        if queue.lasts() {
            return (point(Until::End), Ok(()));
        }
        match queue.mark() {
            Ok(mark) => (point(Until::Mark(Arc::new(mark))), Ok(())),
            Err(error) if queue.synchronize().is_ok() => (None, Err(error)),
            Err(error) => (point(Until::Unknown), Err(error)),
        }
    }

    fn let_wait(&self, waiter: &Q) -> Result<(), Q::Error> {
        match &self.until {
            Until::End => waiter.wait(&self.queue.mark()?),
            Until::Mark(mark) => waiter.wait(mark),
            Until::Unknown => self.queue.synchronize_device(),
        }
    }

    fn synchronize(&self) -> Result<(), Q::Error> {
        match &self.until {
            Until::End => self.queue.synchronize(),
            Until::Mark(mark) => Q::synchronize_mark(mark),
            Until::Unknown => self.queue.synchronize_device(),
        }
    }

    fn is_late(&self) -> bool {
        matches!(self.until, Until::End)
    }
}

/// One use of a block.
struct Use<Q: Queue> {
    point: Point<Q>,
    identity: Q::Identity,
    access: Access,
    /// Its place among the uses of the block.
    number: u64,
    /// Every write up to this number was waited for by its queue.
    behind: u64,
}

type Few<T> = SmallVec<[T; 2]>;

/// The uses that somebody may still have to wait for.
struct Uses<Q: Queue> {
    list: Few<Use<Q>>,
    /// The number of the latest use.
    latest: u64,
    /// Operations that have begun beside others, and not ended.
    under_way: u32,
}

impl<Q: Queue> Uses<Q> {
    /// Whether every use is in the order of one queue, so that work there has nothing to wait for, and none to note.
    fn are_all_of(&self, identity: Q::Identity) -> bool {
        self.under_way == 0
            && self.list.iter().all(|one| one.identity == identity && one.point.is_late())
            && self.list.iter().any(|one| one.access == Access::Write)
    }

    /// What an operation must wait for.
    fn before(&self, access: Access, identity: Q::Identity) -> Few<Point<Q>> {
        let own = self.list.iter().filter(|one| one.identity == identity);
        let behind = own.map(|one| one.behind).max().unwrap_or(0);
        let is_before = |one: &&Use<Q>| match (access, one.access) {
            _ if one.identity == identity => false,
            (Access::Read, Access::Read) => false,
            (Access::Read, Access::Write) => one.number > behind,
            (Access::Write, _) => true,
        };
        self.list.iter().filter(is_before).map(|one| one.point.clone()).collect()
    }

    /// Adds a use that has seen all up to `seen`, and gives out those that it stands for.
    fn add(&mut self, identity: Q::Identity, access: Access, point: Point<Q>, seen: u64) -> Few<Use<Q>> {
        self.latest += 1;
        let new = Use { point, identity, access, number: self.latest, behind: seen };
        let is_covered = |old: &Use<Q>| {
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

/// The right to end what has begun.
#[must_use]
#[derive(Clone, Copy)]
pub struct Ticket {
    /// The latest use when it began: all up to it were waited for, as far as they conflict.
    seen: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The order is kept elsewhere.
    Nothing,
    /// Nobody else was there.
    Alone,
    /// Others know that it is under way.
    Announced,
}

impl Ticket {
    /// For what needs no order here: on the host, and in captures, which keep their own.
    pub const NOTHING: Self = Self { seen: 0, kind: Kind::Nothing };
    /// What [`Order::begin_alone`] gives for a block that [`Order::is_at_home`].
    pub const AT_HOME: Self = Self { seen: MADE, kind: Kind::Alone };
}

/// The uses of one block.
pub struct Order<Q: Queue> {
    /// The queue in whose order the block was made, and ends.
    home: Q,
    /// Empty as long as only `home` has used the block, which is most blocks' whole life.
    uses: OnceLock<Box<Mutex<Uses<Q>>>>,
}

/// The number of a block's making, which is its first use.
const MADE: u64 = 1;

/// More uses than this are looked through for those that have ended: reads on handles of which no two are known to be one.
const MANY: usize = 32;

impl<Q: Queue> Order<Q> {
    /// A block that becomes usable in the order of `home`.
    #[inline(always)]
    pub fn new(home: Q) -> Self {
        debug_assert!(home.lasts(), "a block is at home on a queue that lasts");
        Self { home, uses: OnceLock::new() }
    }

    /// The queue in whose order the block was made, and ends.
    #[inline]
    pub fn home(&self) -> &Q {
        &self.home
    }

    /// Whether no other queue than `home` has ever used the block.
    #[inline]
    pub fn is_untouched(&self) -> bool {
        self.uses.get().is_none()
    }

    /// Whether no other queue than `home` has ever used the block, and that is the queue.
    #[inline]
    pub fn is_at_home(&self, identity: Q::Identity) -> bool {
        self.is_untouched() && self.home.identity() == identity
    }

    /// Whether every use is in the order of `queue`, so that work there has nothing to wait for, and none to note.
    #[inline]
    pub fn is_all_of(&self, queue: &Q) -> bool {
        self.seen_alone(queue).is_some()
    }

    /// Begins an operation that has nothing to wait for, if it has not.
    #[inline]
    pub fn begin_alone(&self, queue: &Q) -> Option<Ticket> {
        self.seen_alone(queue).map(|seen| Ticket { seen, kind: Kind::Alone })
    }

    #[inline]
    fn seen_alone(&self, queue: &Q) -> Option<u64> {
        let identity = queue.identity();
        match self.uses.get() {
            None => (self.home.identity() == identity).then_some(MADE),
            Some(uses) => {
                let uses = lock(uses);
                uses.are_all_of(identity).then_some(uses.latest)
            }
        }
    }

    /// Begins an operation: `queue` waits for whom it must.
    ///
    /// # Errors
    /// The driver's; then nothing has begun.
    pub fn begin(&self, access: Access, queue: &Q) -> Result<Ticket, Q::Error> {
        let identity = queue.identity();
        let (before, seen) = {
            let mut uses = lock(self.uses());
            uses.under_way += 1;
            (uses.before(access, identity), uses.latest)
        };
        let ticket = Ticket { seen, kind: Kind::Announced };
        for point in &before {
            if let Err(error) = point.let_wait(queue) {
                self.cancel(ticket);
                return Err(error);
            }
        }
        Ok(ticket)
    }

    /// Ends an operation that has put nothing on its queue.
    pub fn cancel(&self, ticket: Ticket) {
        if ticket.kind == Kind::Announced {
            lock(self.uses()).under_way -= 1;
        }
    }

    /// Ends an operation that has put its work on its queue.
    ///
    /// # Errors
    /// The driver's, for a mark; later uses wait for the operation all the same.
    #[inline]
    pub fn end(&self, ticket: Ticket, access: Access, queue: &Q) -> Result<(), Q::Error> {
        match ticket.kind {
            Kind::Nothing => Ok(()),
            Kind::Alone if self.is_all_of(queue) => Ok(()),
            Kind::Alone => self.add(access, queue, ticket.seen, 0),
            Kind::Announced => self.add(access, queue, ticket.seen, 1),
        }
    }

    /// Notes work on `queue` that nobody has made wait for anything.
    ///
    /// # Errors
    /// The driver's, for a mark; later uses wait for the work all the same.
    pub fn note(&self, access: Access, queue: &Q) -> Result<(), Q::Error> {
        if self.is_all_of(queue) { Ok(()) } else { self.add(access, queue, 0, 0) }
    }

    #[cold]
    fn add(&self, access: Access, queue: &Q, seen: u64, ended: u32) -> Result<(), Q::Error> {
        let (point, marked) = Point::of(queue);
        let (covered, is_long) = {
            let mut uses = lock(self.uses());
            uses.under_way -= ended;
            let covered = match point {
                Some(point) => uses.add(queue.identity(), access, point, seen),
                None => Few::new(),
            };
            (covered, uses.list.len() > MANY)
        };
        drop(covered); // streams of others, which may be kept by objects of Python: not under the lock
        if is_long {
            self.forget_passed();
        }
        marked
    }

    /// Removes uses that have ended, as far as the driver knows.
    fn forget_passed(&self) {
        let mark_of = |one: &Use<Q>| match &one.point.until {
            Until::Mark(mark) => Some((one.number, Arc::clone(mark))),
            Until::End | Until::Unknown => None,
        };
        let marks: Vec<_> = lock(self.uses()).list.iter().filter_map(mark_of).collect();
        let passed: Vec<u64> = marks.iter().filter(|(_, mark)| Q::is_passed(mark)).map(|(number, _)| *number).collect();
        let mut uses = lock(self.uses());
        let (gone, kept) = std::mem::take(&mut uses.list).into_iter().partition(|one| passed.contains(&one.number));
        uses.list = kept;
        drop(uses);
        drop::<Few<Use<Q>>>(gone);
    }

    /// Puts `home` behind every use, for the end of the block.
    ///
    /// # Errors
    /// The driver's.
    pub fn join_for_the_end(&mut self) -> Result<(), Q::Error> {
        let Some(uses) = self.uses.get_mut() else { return Ok(()) };
        let uses = uses.get_mut().unwrap_or_else(PoisonError::into_inner);
        let before = uses.before(Access::Write, self.home.identity());
        before.iter().try_for_each(|point| point.let_wait(&self.home))
    }

    /// All that is known, for who ends the block in this one's place; what stays behind knows of no use.
    #[must_use]
    pub fn take(&mut self) -> Self {
        Self { home: self.home.clone(), uses: std::mem::take(&mut self.uses) }
    }

    /// The queue of the latest write, if it lasts.
    pub fn latest_writer(&self) -> Option<Q> {
        let Some(uses) = self.uses.get() else { return Some(self.home.clone()) };
        let uses = lock(uses);
        let writes = uses.list.iter().filter(|one| one.access == Access::Write);
        writes.max_by_key(|one| one.number).filter(|one| one.point.is_late()).map(|one| one.point.queue.clone())
    }

    /// Stops the host until every use has ended.
    ///
    /// # Errors
    /// The driver's.
    pub fn synchronize(&self) -> Result<(), Q::Error> {
        self.synchronize_where(|_, _| true)
    }

    /// Stops the host until the uses that `concerns` says have ended.
    ///
    /// # Errors
    /// The driver's.
    pub fn synchronize_where(&self, concerns: impl Fn(&Q, Access) -> bool) -> Result<(), Q::Error> {
        let Some(uses) = self.uses.get() else {
            return if concerns(&self.home, Access::Write) { self.home.synchronize() } else { Ok(()) };
        };
        let points: Few<Point<Q>> = {
            let uses = lock(uses);
            uses.list.iter().filter(|one| concerns(&one.point.queue, one.access)).map(|one| one.point.clone()).collect()
        };
        points.iter().try_for_each(Point::synchronize)
    }

    fn uses(&self) -> &Mutex<Uses<Q>> {
        self.uses.get_or_init(|| {
            let home = &self.home;
            let point = Point { queue: home.clone(), until: Until::End };
            let (identity, access) = (home.identity(), Access::Write);
            let made = Use { point, identity, access, number: MADE, behind: 0 };
            Box::new(Mutex::new(Uses { list: SmallVec::from_iter([made]), latest: MADE, under_way: 0 }))
        })
    }
}

fn lock<Q: Queue>(uses: &Mutex<Uses<Q>>) -> MutexGuard<'_, Uses<Q>> {
    uses.lock().unwrap_or_else(PoisonError::into_inner)
}
