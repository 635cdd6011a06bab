//! Models deferred operations: deferring an operation (push), making an address visible outside PyGPU (publish; the
//! address has then escaped), the flush, and the drop of a result. An operation has landed when it was launched and the
//! address of its result was assigned. There is one queue per thread, one lock for all queues, and marks that are read
//! without the lock.
//!
//! The marks are compiled from the library's file. The functions below repeat the steps of `src/ops/fusion` for a push,
//! a publication, a flush and a drop, with equal locking. `mutations.py` removes each step of this file, and weakens
//! each memory ordering in the marks.

use std::sync::Arc;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use loom::thread;

use crate::pending_marks::{Escape, Landing, NodeId, Pending, PendingMark, QUEUES, Usage};

/// Stands for the address that the launch of an operation stores in the result.
const ADDRESS: usize = 4096;

struct Block {
    address: AtomicUsize,
    written_by: PendingMark,
    read_by: PendingMark,
    published: Escape,
    /// Number of launched operations that have read the block. Before a write, the tests check that all earlier readers
    /// are in this number.
    reads: AtomicUsize,
}

impl Block {
    fn new(address: usize) -> Self {
        let mark = || PendingMark(AtomicU64::new(0));
        let (published, reads) = (Escape::new(), AtomicUsize::new(0));
        Self { address: AtomicUsize::new(address), written_by: mark(), read_by: mark(), published, reads }
    }
}

struct Node {
    operand: Arc<Block>,
    result: Arc<Block>,
}

#[derive(Default)]
struct Queue {
    first: u64,
    /// Highest number of an operation so far; operations are numbered in the order in which they are deferred.
    highest: u64,
    nodes: Vec<Option<Node>>,
    is_in_flight: bool,
}

impl Queue {
    /// If no operation is queued or being launched, records all operations of this queue as landed. Operations that
    /// were discarded after the last batch belong to no batch, and otherwise only the end of a batch records operations
    /// as landed.
    fn land_discarded(&mut self, landing: &Landing, number: usize) {
        if self.nodes.is_empty() && !self.is_in_flight && self.first <= self.highest {
            self.first = self.highest + 1;
            landing.land(number, self.highest);
        }
    }
}

struct Library {
    landing: Landing,
    usage: Usage,
    queues: Mutex<(Vec<Queue>, usize)>,
}

impl Library {
    fn new() -> Arc<Self> {
        let landed = std::array::from_fn(|_| AtomicU64::new(0));
        let landing = Landing { count: AtomicUsize::new(0), landed };
        let queue = || Queue { first: 1, ..Queue::default() };
        const { assert!(QUEUES > 2) };
        Arc::new(Self { landing, usage: Usage(AtomicUsize::new(0)), queues: Mutex::new((vec![queue(), queue()], 0)) })
    }

    /// Defers an operation. Returns `false` if the operand's address has escaped; PyGPU then launches the operation
    /// eagerly.
    fn push(&self, own: usize, operand: &Arc<Block>, result: &Arc<Block>) -> bool {
        self.usage.begin();
        let mut queues = self.queues.lock().unwrap();
        if operand.published.is_begun() {
            return false;
        }
        let queue = &mut queues.0[own];
        let id = NodeId::new(own, queue.first + queue.nodes.len() as u64);
        queue.highest = queue.highest.max(id.number());
        self.landing.add(&operand.read_by, id);
        result.written_by.set(id);
        queue.nodes.push(Some(Node { operand: Arc::clone(operand), result: Arc::clone(result) }));
        queues.1 += 1;
        self.landing.set_count(queues.1);
        true
    }

    fn flush(&self, number: usize) {
        let taken = {
            let mut queues = self.queues.lock().unwrap();
            while queues.0[number].is_in_flight {
                drop(queues);
                thread::yield_now();
                queues = self.queues.lock().unwrap();
            }
            let queue = &mut queues.0[number];
            if queue.nodes.is_empty() {
                return;
            }
            queue.is_in_flight = true;
            let (first, nodes) = (queue.first, std::mem::take(&mut queue.nodes));
            queue.first += nodes.len() as u64;
            (first, nodes)
        };
        let (first, nodes) = taken;
        let live = nodes.iter().flatten().count();
        for node in nodes.iter().flatten() {
            launch(node);
        }
        let mut queues = self.queues.lock().unwrap();
        self.landing.land(number, first + nodes.len() as u64 - 1);
        queues.0[number].is_in_flight = false;
        queues.0[number].land_discarded(&self.landing, number);
        queues.1 -= live;
        self.landing.set_count(queues.1);
    }

    fn flush_pending(&self, pending: Option<Pending>) {
        match pending {
            None => {}
            Some(Pending::One(id)) => self.flush(id.queue()),
            Some(Pending::Many) => (0..2).for_each(|number| self.flush(number)),
        }
    }

    /// Makes the address of a block visible outside PyGPU. Afterwards any code may write to the block.
    fn publish(&self, block: &Block) {
        block.published.escape(|| {
            if !self.usage.is_begun() {
                return true;
            }
            drop(self.queues.lock().unwrap());
            self.before_write(block);
            true
        });
    }

    /// Flushes the pending operations that read or write a block, before eager work writes the block.
    fn before_write(&self, block: &Block) {
        if self.landing.is_any() {
            let written = self.landing.pending(&block.written_by);
            self.flush_pending(written.or_else(|| self.landing.pending(&block.read_by)));
        }
    }

    /// Flushes the operation that computes a result, and returns the address of the result, for work that reads it.
    fn address(&self, block: &Block) -> usize {
        if self.landing.is_any() {
            self.flush_pending(self.landing.pending(&block.written_by));
        }
        block.address.load(Ordering::Relaxed)
    }

    /// Drops the last reference to a result, which discards its operation if the operation is still queued.
    fn drop_result(&self, block: &Block) {
        let Some(id) = block.written_by.latest().filter(|id| self.landing.is_pending(*id)) else { return };
        let mut queues = self.queues.lock().unwrap();
        let queue = &mut queues.0[id.queue()];
        let place = id.number().checked_sub(queue.first).map(|place| place as usize);
        let Some(node) = place.and_then(|place| queue.nodes.get_mut(place)?.take()) else { return };
        while let Some(None) = queue.nodes.last() {
            queue.nodes.pop();
        }
        queue.land_discarded(&self.landing, id.queue());
        queues.1 -= 1;
        self.landing.set_count(queues.1);
        drop(queues);
        drop(node);
    }
}

fn launch(node: &Node) {
    node.operand.reads.fetch_add(1, Ordering::Relaxed);
    node.result.address.store(ADDRESS, Ordering::Relaxed);
}

fn model(scenario: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(scenario);
}

#[test]
fn address_of_result_is_assigned_before_other_thread_reads_result() {
    model(|| {
        let library = Library::new();
        let (operand, result) = (Arc::new(Block::new(1)), Arc::new(Block::new(0)));
        assert!(library.push(0, &operand, &result));
        let flushing = {
            let library = Arc::clone(&library);
            thread::spawn(move || library.flush(0))
        };
        assert_eq!(library.address(&result), ADDRESS);
        flushing.join().unwrap();
        assert!(!library.landing.is_any());
    });
}

#[test]
fn address_of_result_is_assigned_before_read_while_other_queue_is_pending() {
    model(|| {
        let library = Library::new();
        let (operand, result) = (Arc::new(Block::new(1)), Arc::new(Block::new(0)));
        let (other, kept) = (Arc::new(Block::new(1)), Arc::new(Block::new(0)));
        assert!(library.push(0, &operand, &result));
        assert!(library.push(1, &other, &kept)); // Keeps the number of pending operations above zero.
        let flushing = {
            let library = Arc::clone(&library);
            thread::spawn(move || library.flush(0))
        };
        assert_eq!(library.address(&result), ADDRESS);
        flushing.join().unwrap();
        assert_eq!(kept.address.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn deferred_operation_reads_operand_before_address_is_published() {
    model(|| {
        let library = Library::new();
        let (operand, result) = (Arc::new(Block::new(1)), Arc::new(Block::new(0)));
        let pushing = {
            let (library, operand, result) = (Arc::clone(&library), Arc::clone(&operand), Arc::clone(&result));
            thread::spawn(move || library.push(0, &operand, &result))
        };
        library.publish(&operand);
        let reads = operand.reads.load(Ordering::Relaxed);
        let is_deferred = pushing.join().unwrap();
        assert!(!is_deferred || reads == 1, "an operation reads what others may have written");
    });
}

#[test]
fn deferred_read_by_one_of_two_threads_precedes_publication() {
    model(|| {
        let library = Library::new();
        let (operand, other) = (Arc::new(Block::new(1)), Arc::new(Block::new(1)));
        let pushing = |own: usize, operand: &Arc<Block>| {
            let (library, operand) = (Arc::clone(&library), Arc::clone(operand));
            thread::spawn(move || library.push(own, &operand, &Arc::new(Block::new(0))))
        };
        let (first, second) = (pushing(0, &other), pushing(1, &operand));
        library.publish(&operand);
        let reads = operand.reads.load(Ordering::Relaxed);
        let is_deferred = second.join().unwrap();
        assert!(!is_deferred || reads == 1, "an operation reads what others may have written");
        first.join().unwrap();
    });
}

#[test]
fn deferred_operation_reads_operand_before_two_threads_publish_operand() {
    model(|| {
        let library = Library::new();
        let (operand, result) = (Arc::new(Block::new(1)), Arc::new(Block::new(0)));
        assert!(library.push(0, &operand, &result));
        let publish = move |library: &Library, operand: &Block| {
            library.publish(operand);
            assert_eq!(operand.reads.load(Ordering::Relaxed), 1, "an operation reads what others may have written");
        };
        let other = {
            let (library, operand) = (Arc::clone(&library), Arc::clone(&operand));
            thread::spawn(move || publish(&library, &operand))
        };
        publish(&library, &operand);
        other.join().unwrap();
    });
}

#[test]
fn operations_of_two_threads_read_operand_before_it_is_written() {
    model(|| {
        let library = Library::new();
        let operand = Arc::new(Block::new(1));
        let results = [Arc::new(Block::new(0)), Arc::new(Block::new(0))];
        assert!(library.push(0, &operand, &results[0]));
        let pushing = {
            let (library, operand, result) = (Arc::clone(&library), Arc::clone(&operand), Arc::clone(&results[1]));
            thread::spawn(move || library.push(1, &operand, &result))
        };
        assert!(pushing.join().unwrap());
        let flushing = {
            let library = Arc::clone(&library);
            thread::spawn(move || library.flush(1))
        };
        library.before_write(&operand);
        assert_eq!(operand.reads.load(Ordering::Relaxed), 2, "a write overtakes a read");
        flushing.join().unwrap();
    });
}

#[test]
fn operation_of_dropped_result_is_launched_once_or_never() {
    model(|| {
        let library = Library::new();
        let (operand, result) = (Arc::new(Block::new(1)), Arc::new(Block::new(0)));
        assert!(library.push(0, &operand, &result));
        let flushing = {
            let library = Arc::clone(&library);
            thread::spawn(move || library.flush(0))
        };
        library.drop_result(&result);
        flushing.join().unwrap();
        assert!(operand.reads.load(Ordering::Relaxed) <= 1);
        library.flush(0);
        assert!(!library.landing.is_any(), "an operation is counted that is not there");
        assert_eq!(library.landing.pending(&operand.read_by), None, "a write waits for an operation that is not there");
        assert!(Arc::strong_count(&operand) == 1 || library.queues.lock().unwrap().0[0].nodes.is_empty());
    });
}

#[test]
fn discarded_operation_finishes_with_preceding_batch() {
    model(|| {
        let library = Library::new();
        let operands = [Arc::new(Block::new(1)), Arc::new(Block::new(1))];
        let results = [Arc::new(Block::new(0)), Arc::new(Block::new(0))];
        assert!(library.push(0, &operands[0], &results[0]));
        assert!(library.push(0, &operands[1], &results[1]));
        let flushing = {
            let library = Arc::clone(&library);
            thread::spawn(move || library.flush(0))
        };
        library.drop_result(&results[1]);
        flushing.join().unwrap();
        library.flush(0);
        assert_eq!(
            library.landing.pending(&operands[1].read_by),
            None,
            "a write waits for an operation that is not there"
        );
    });
}

#[test]
fn operation_discarded_during_launch_of_batch_finishes_with_batch() {
    model(|| {
        let library = Library::new();
        let operands = [Arc::new(Block::new(1)), Arc::new(Block::new(1))];
        let results = [Arc::new(Block::new(0)), Arc::new(Block::new(0))];
        assert!(library.push(0, &operands[0], &results[0]));
        let flushing = {
            let library = Arc::clone(&library);
            thread::spawn(move || library.flush(0))
        };
        assert!(library.push(0, &operands[1], &results[1]));
        library.drop_result(&results[1]);
        flushing.join().unwrap();
        library.flush(0);
        assert_eq!(
            library.landing.pending(&operands[1].read_by),
            None,
            "a write waits for an operation that is not there"
        );
    });
}
