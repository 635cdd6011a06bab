//! Defines threads that use one block on queues of each kind, and checks the guarantees that hold for every
//! interleaving.

use std::collections::BTreeSet;
use std::sync::Arc;

use loom::sync::Mutex;

use crate::driver::{Driver, Kind, Model, Operation};
use crate::hazards::{Access, HazardTracker, Queue, UseToken};

/// One action of a thread. Queue 0 is the block's allocation stream.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Reads or writes the block, like a transaction.
    Use(Access, usize),
    /// As `Use`, on a borrowed queue that is kept alive.
    Kept(Access, usize),
    /// As `Use`, on a queue given by a bare number that is invalid afterwards.
    Bare(Access, usize),
    /// Exports the block to a consumer that works on a queue and then returns it.
    Lent(Access, usize),
    /// Begins a use and fails before work is enqueued.
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
    /// Operations that have returned. A thread that reads this set observes them, as it would through the GIL; a
    /// thread that does not read it observes only its own.
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
        // The same steps as in a transaction.
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
            // The hand-over is a use without work; the consumer works later, and reports it when it returns the
            // block.
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

    /// Checks that every operation waited for the operations its thread had observed, and that the free waits for
    /// all.
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

/// Runs the threads in every interleaving, then `after`, and checks the guarantees.
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

/// Returns the preemption bound of the smallest cases: four, or none in `make test-all`, which then takes two
/// minutes.
fn most() -> Option<usize> {
    if std::env::var_os("TEST_ALL").is_some() { None } else { Some(4) }
}

#[test]
fn two_threads_with_one_operation_each_on_any_queues() {
    for (first, second) in BOTH.into_iter().flat_map(|first| BOTH.map(|second| (first, second))) {
        for queues in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)] {
            let threads: [&[Act]; 2] = [&[Use(first, queues.0)], &[Use(second, queues.1)]];
            hold(most(), false, &threads, &[Use(Read, 3), Use(Write, 4)]);
        }
    }
}

#[test]
fn end_of_write_keeps_reads_recorded_since_its_begin() {
    // Defect of version 0.1.0: after begin(Write, 0), begin(Read, 1), end(Read, 1), end(Write, 0) the free waited for
    // nothing.
    for writer in [0, 2] {
        hold(most(), true, &[&[Use(Write, writer)], &[Use(Read, 1)]], &[Use(Write, 3)]);
        hold(Some(3), true, &[&[Use(Write, writer)], &[Use(Read, 1), Use(Read, 1)]], &[Use(Write, 3)]);
    }
}

#[test]
fn two_threads_that_observe_completed_operations() {
    for last in BOTH {
        hold(Some(3), true, &[&[Use(Write, 1), Use(last, 2)], &[Use(Read, 2), Use(Write, 0)]], &[]);
        hold(Some(3), true, &[&[Use(Read, 0), Use(last, 0)], &[Use(Write, 1), Use(Read, 1)]], &[Use(Read, 2)]);
        hold(Some(3), true, &[&[Use(Write, 1), Use(last, 1)], &[Use(last, 1), Use(Write, 2)]], &[Use(Write, 0)]);
    }
}

#[test]
fn three_threads_with_one_operation_each() {
    for accesses in [[Write, Read, Read], [Write, Write, Read], [Read, Read, Read], [Write, Write, Write]] {
        for queues in [[0, 1, 2], [0, 0, 1], [1, 1, 2]] {
            let uses = [0, 1, 2].map(|at| [Use(accesses[at], queues[at])]);
            hold(Some(2), false, &[&uses[0], &uses[1], &uses[2]], &[Use(Read, 3)]);
        }
    }
    hold(Some(2), true, &[&[Use(Write, 0)], &[Use(Read, 1)], &[Use(Read, 2)]], &[Use(Write, 3)]);
}

#[test]
fn foreign_queues_are_marked_while_alive() {
    for access in BOTH {
        hold(Some(3), false, &[&[Bare(access, 1)], &[Use(Write, 0)]], &[Use(Write, 2)]);
        hold(Some(3), false, &[&[Bare(access, 1)], &[Bare(Read, 2)]], &[Bare(Write, 3)]);
        hold(Some(3), false, &[&[Kept(access, 1)], &[Use(access, 0)]], &[Kept(Write, 1), Use(Read, 2)]);
        hold(Some(3), true, &[&[Kept(access, 1), Kept(Read, 1)], &[Use(Write, 2)]], &[Use(Write, 0)]);
        hold(Some(3), false, &[&[Kept(access, 1)], &[Kept(access, 1)]], &[Use(Write, 0)]);
    }
}

#[test]
fn returned_loan_is_waited_for() {
    for access in BOTH {
        hold(Some(3), true, &[&[Lent(access, 1)], &[Use(Write, 0)]], &[Use(Write, 2)]);
        hold(Some(3), true, &[&[Lent(access, 1)], &[Lent(access, 2)]], &[Use(Read, 0)]);
        hold(Some(2), false, &[&[Lent(access, 0)], &[Use(Write, 1)], &[Use(Read, 2)]], &[]);
    }
}

#[test]
fn operation_failed_before_its_work_leaves_no_use() {
    for access in BOTH {
        hold(Some(3), true, &[&[Failed(access, 1)], &[Use(Write, 0)]], &[Use(Write, 2)]);
        hold(Some(3), true, &[&[Failed(access, 1), Use(Read, 1)], &[Use(Write, 2)]], &[Use(Write, 0)]);
    }
    // After all other uses are complete and were waited for, the block has a single queue again.
    let block_is_alone = || {
        let block = Block::new();
        let mut own = BTreeSet::new();
        [Failed(Write, 1), Use(Read, 1), Use(Write, 0)].iter().for_each(|act| block.act(*act, &mut own, false));
        assert!(block.order.needs_no_wait_on(block.order.alloc_stream()));
        assert!(block.order.alloc_stream().lasts());
    };
    loom::model(block_is_alone);
}
