//! Lets several threads use one memory block on queues of each `Kind`, and checks for every interleaving that
//! conflicting uses wait for each other.

use std::collections::BTreeSet;
use std::sync::Arc;

use loom::sync::Mutex;

use crate::driver::{Driver, Kind, Model, Operation};
use crate::hazards::{Access, HazardTracker, Queue, UseToken};

/// One action of a thread. Queue 0 is the block's allocation stream.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Reads or writes the block on a queue, as a submission does.
    Use(Access, usize),
    /// Reads or writes the block on a borrowed queue that its owner keeps alive.
    Kept(Access, usize),
    /// Reads or writes the block on a borrowed queue without an owner. The number of the queue is invalid afterwards.
    Bare(Access, usize),
    /// Exports the block to a consumer, which works on a queue and then returns the block.
    Lent(Access, usize),
    /// Begins a use, and fails before it enqueues work.
    Failed(Access, usize),
}

use Access::{Read, Write};
use Act::{Bare, Failed, Kept, Lent, Use};

const HOME: usize = 0;
const QUEUES: usize = 5;

struct Block {
    driver: Arc<Driver>,
    order: HazardTracker<Model>,
    operations: Mutex<Vec<Operation>>,
    /// Numbers of the operations that have returned. A thread that reads this set has observed these operations, as a
    /// thread that takes the GIL has. A thread that does not read the set has observed only its own operations.
    returned: Mutex<BTreeSet<usize>>,
}

impl Block {
    fn new() -> Self {
        let driver = Driver::new(QUEUES);
        let home = Model { driver: Arc::clone(&driver), number: HOME, kind: Kind::Lasting };
        Self { driver, order: HazardTracker::new(home), operations: Mutex::default(), returned: Mutex::default() }
    }

    fn queue(&self, number: usize, kind: Kind) -> Model {
        Model { driver: Arc::clone(&self.driver), number, kind }
    }

    fn act(&self, act: Act, own: &mut BTreeSet<usize>, looks: bool) {
        let (access, number, kind) = match act {
            Use(access, number) | Lent(access, number) | Failed(access, number) => (access, number, Kind::Lasting),
            Kept(access, number) => (access, number, Kind::Kept),
            Bare(access, number) => (access, number, Kind::Bare(own.len())),
        };
        let mut known = own.clone();
        if looks {
            known.extend(self.returned.lock().unwrap().iter());
        }
        let queue = self.queue(number, kind);
        // The following steps repeat the steps of a submission (`memory::ordered`).
        let is_at_home = self.order.is_only_used_on(queue.identity());
        let ticket = match is_at_home.then_some(UseToken::AT_HOME).or_else(|| self.order.begin_uncontended(&queue)) {
            Some(ticket) => ticket,
            None => self.order.begin(access, &queue).unwrap(),
        };
        let end = |ticket| {
            if !is_at_home || !self.order.has_no_other_stream() {
                self.order.end(ticket, access, &queue).unwrap();
            }
        };
        if matches!(act, Failed(..)) {
            self.order.cancel(ticket);
            return;
        }
        let work = {
            let mut operations = self.operations.lock().unwrap();
            operations.push(Operation { access, known });
            operations.len() - 1
        };
        if matches!(act, Lent(..)) {
            // The export is recorded as a use without work, because the consumer enqueues its work later. That work is
            // recorded when the consumer returns the block.
            end(ticket);
            self.driver.put(number, work);
            self.order.record(access, &queue).unwrap();
        } else {
            self.driver.put(number, work);
            end(ticket);
        }
        if matches!(act, Bare(..)) {
            self.driver.end(number);
        }
        own.insert(work);
        if looks {
            self.returned.lock().unwrap().insert(work);
        }
    }

    fn run(&self, acts: &[Act], looks: bool) -> BTreeSet<usize> {
        let mut own = BTreeSet::new();
        acts.iter().for_each(|act| self.act(*act, &mut own, looks));
        own
    }

    /// Checks that every operation waits for the conflicting operations that its thread had observed, and that the free
    /// of the block waits for all operations.
    fn check(mut self, case: &str) {
        self.order.wait_before_free().unwrap();
        let operations = self.operations.lock().unwrap().clone();
        let end = self.driver.before_end(HOME);
        for (work, operation) in operations.iter().enumerate() {
            assert!(end.contains(&work), "{case}: the end does not wait for {work}");
            let before = self.driver.before(work);
            for &earlier in &operation.known {
                let conflict = operation.access == Write || operations[earlier].access == Write;
                assert!(!conflict || before.contains(&earlier), "{case}: {work} does not wait for {earlier}");
            }
        }
    }
}

/// Runs the threads in every interleaving, runs `after` when they have ended, and checks the waits by `Block::check`.
fn hold(preemptions: Option<usize>, looks: bool, threads: &[&[Act]], after: &[Act]) {
    let case = format!("{threads:?} then {after:?}");
    let (threads, after): (Vec<Vec<Act>>, Vec<Act>) =
        (threads.iter().map(|acts| acts.to_vec()).collect(), after.to_vec());
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let block = loom::sync::Arc::new(Block::new());
        let mut joined = BTreeSet::new();
        let (own, others) = threads.split_first().expect("there is a thread");
        let started: Vec<_> = others
            .iter()
            .map(|acts| {
                let (block, acts) = (loom::sync::Arc::clone(&block), acts.clone());
                loom::thread::spawn(move || block.run(&acts, looks))
            })
            .collect();
        joined.extend(block.run(own, looks));
        for thread in started {
            joined.extend(thread.join().unwrap());
        }
        after.iter().for_each(|act| block.act(*act, &mut joined, false));
        let Ok(block) = loom::sync::Arc::try_unwrap(block) else { panic!("the threads have ended") };
        block.check(&case);
    });
}

const BOTH: [Access; 2] = [Read, Write];

/// Returns the preemption bound of the smallest test cases: 4, or no bound under `make test-all`, where these cases
/// take two minutes.
fn most() -> Option<usize> {
    if std::env::var_os("TEST_ALL").is_some() { None } else { Some(4) }
}

#[test]
fn later_uses_wait_for_one_use_of_each_of_two_threads() {
    for (first, second) in BOTH.into_iter().flat_map(|first| BOTH.map(|second| (first, second))) {
        for queues in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)] {
            let threads: [&[Act]; 2] = [&[Use(first, queues.0)], &[Use(second, queues.1)]];
            hold(most(), false, &threads, &[Use(Read, 3), Use(Write, 4)]);
        }
    }
}

#[test]
fn end_of_write_keeps_reads_recorded_since_begin_of_write() {
    // Regression test of a defect in version 0.1.0: if a read on queue 1 began and ended between the begin and the end
    // of a write on queue 0, the free did not wait for the read.
    for writer in [0, 2] {
        hold(most(), true, &[&[Use(Write, writer)], &[Use(Read, 1)]], &[Use(Write, 3)]);
        hold(Some(3), true, &[&[Use(Write, writer)], &[Use(Read, 1), Use(Read, 1)]], &[Use(Write, 3)]);
    }
}

#[test]
fn use_waits_for_conflicting_uses_that_its_thread_observed() {
    for last in BOTH {
        hold(Some(3), true, &[&[Use(Write, 1), Use(last, 2)], &[Use(Read, 2), Use(Write, 0)]], &[]);
        hold(Some(3), true, &[&[Use(Read, 0), Use(last, 0)], &[Use(Write, 1), Use(Read, 1)]], &[Use(Read, 2)]);
        hold(Some(3), true, &[&[Use(Write, 1), Use(last, 1)], &[Use(last, 1), Use(Write, 2)]], &[Use(Write, 0)]);
    }
}

#[test]
fn free_waits_for_one_use_of_each_of_three_threads() {
    for accesses in [[Write, Read, Read], [Write, Write, Read], [Read, Read, Read], [Write, Write, Write]] {
        for queues in [[0, 1, 2], [0, 0, 1], [1, 1, 2]] {
            let uses = [0, 1, 2].map(|at| [Use(accesses[at], queues[at])]);
            hold(Some(2), false, &[&uses[0], &uses[1], &uses[2]], &[Use(Read, 3)]);
        }
    }
    hold(Some(2), true, &[&[Use(Write, 0)], &[Use(Read, 1)], &[Use(Read, 2)]], &[Use(Write, 3)]);
}

#[test]
fn event_of_borrowed_queue_is_recorded_while_queue_is_alive() {
    for access in BOTH {
        hold(Some(3), false, &[&[Bare(access, 1)], &[Use(Write, 0)]], &[Use(Write, 2)]);
        hold(Some(3), false, &[&[Bare(access, 1)], &[Bare(Read, 2)]], &[Bare(Write, 3)]);
        hold(Some(3), false, &[&[Kept(access, 1)], &[Use(access, 0)]], &[Kept(Write, 1), Use(Read, 2)]);
        hold(Some(3), true, &[&[Kept(access, 1), Kept(Read, 1)], &[Use(Write, 2)]], &[Use(Write, 0)]);
        hold(Some(3), false, &[&[Kept(access, 1)], &[Kept(access, 1)]], &[Use(Write, 0)]);
    }
}

#[test]
fn free_waits_for_consumer_of_returned_export() {
    for access in BOTH {
        hold(Some(3), true, &[&[Lent(access, 1)], &[Use(Write, 0)]], &[Use(Write, 2)]);
        hold(Some(3), true, &[&[Lent(access, 1)], &[Lent(access, 2)]], &[Use(Read, 0)]);
        hold(Some(2), false, &[&[Lent(access, 0)], &[Use(Write, 1)], &[Use(Read, 2)]], &[]);
    }
}

#[test]
fn use_that_fails_before_enqueuing_work_is_not_recorded() {
    for access in BOTH {
        hold(Some(3), true, &[&[Failed(access, 1)], &[Use(Write, 0)]], &[Use(Write, 2)]);
        hold(Some(3), true, &[&[Failed(access, 1), Use(Read, 1)], &[Use(Write, 2)]], &[Use(Write, 0)]);
    }
    // The write on the allocation stream waits for all other uses, so afterwards the block has a single queue.
    let block_is_alone = || {
        let block = Block::new();
        let mut own = BTreeSet::new();
        [Failed(Write, 1), Use(Read, 1), Use(Write, 0)].iter().for_each(|act| block.act(*act, &mut own, false));
        assert!(block.order.needs_no_wait_on(block.order.alloc_stream()));
        assert!(block.order.alloc_stream().lasts());
    };
    loom::model(block_is_alone);
}
