//! Replaces the driver in the model. It executes no work; it records the operations of each queue and the waits between
//! queues.

use std::collections::BTreeSet;
use std::sync::Arc;

use loom::sync::Mutex;

use crate::hazards::{Access, Queue};

/// Entry of a queue: an operation, or a wait for another queue.
#[derive(Clone, Copy)]
enum Item {
    Work(usize),
    /// Waits for those entries of another queue that precede a position in that queue.
    Wait(Mark),
}

#[derive(Clone, Copy)]
pub struct Mark {
    queue: usize,
    place: usize,
}

#[derive(Default)]
struct Queues {
    items: Vec<Vec<Item>>,
    gone: Vec<bool>,
}

/// Describes one use of the block by a thread.
#[derive(Clone)]
pub struct Operation {
    pub access: Access,
    /// Operations whose calls returned before this operation began, if the thread of this operation had observed their
    /// return.
    pub known: BTreeSet<usize>,
}

pub struct Driver {
    queues: Mutex<Queues>,
}

impl Driver {
    pub fn new(count: usize) -> Arc<Self> {
        let queues = Queues { items: vec![Vec::new(); count], gone: vec![false; count] };
        Arc::new(Self { queues: Mutex::new(queues) })
    }

    pub fn put(&self, queue: usize, work: usize) {
        self.queues.lock().unwrap().items[queue].push(Item::Work(work));
    }

    /// Invalidates the handle of a queue.
    pub fn end(&self, queue: usize) {
        self.queues.lock().unwrap().gone[queue] = true;
    }

    /// Returns the operations, from any queue, that must complete before an operation appended now to `queue`.
    pub fn before_end(&self, queue: usize) -> BTreeSet<usize> {
        let queues = self.queues.lock().unwrap();
        queues.before(queue, queues.items[queue].len())
    }

    /// Returns the operations that must complete before operation `work`.
    pub fn before(&self, work: usize) -> BTreeSet<usize> {
        let queues = self.queues.lock().unwrap();
        let is_it = |item: &Item| matches!(item, Item::Work(other) if *other == work);
        let found =
            queues.items.iter().enumerate().find_map(|(queue, items)| Some((queue, items.iter().position(is_it)?)));
        let (queue, place) = found.expect("every operation has put its work");
        queues.before(queue, place)
    }
}

impl Queues {
    fn before(&self, queue: usize, place: usize) -> BTreeSet<usize> {
        let (mut works, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![(queue, place)]);
        while let Some((queue, place)) = open.pop() {
            for at in (0..place).rev() {
                if !seen.insert((queue, at)) {
                    break;
                }
                match self.items[queue][at] {
                    Item::Work(work) => drop(works.insert(work)),
                    Item::Wait(mark) => open.push((mark.queue, mark.place)),
                }
            }
        }
        works
    }
}

/// Kind of a queue. It determines whether the number of the queue identifies it.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Lasting,
    /// Borrowed queue that its owner keeps alive, so that equal numbers denote one queue.
    Kept,
    /// Borrowed queue without an owner. Its number may denote another queue at each use, so this field counts the uses.
    Bare(usize),
}

#[derive(Clone)]
pub struct Model {
    pub driver: Arc<Driver>,
    pub number: usize,
    pub kind: Kind,
}

impl Queue for Model {
    type Identity = (usize, usize);
    type Mark = Mark;
    type Error = &'static str;

    fn identity(&self) -> Self::Identity {
        match self.kind {
            Kind::Lasting | Kind::Kept => (self.number, 0),
            Kind::Bare(time) => (self.number, 1 + time),
        }
    }

    fn lasts(&self) -> bool {
        self.kind == Kind::Lasting
    }

    fn mark(&self) -> Result<Mark, Self::Error> {
        let queues = self.driver.queues.lock().unwrap();
        assert!(!queues.gone[self.number], "a queue that is gone is marked");
        Ok(Mark { queue: self.number, place: queues.items[self.number].len() })
    }

    fn wait(&self, mark: &Mark) -> Result<(), Self::Error> {
        self.driver.queues.lock().unwrap().items[self.number].push(Item::Wait(*mark));
        Ok(())
    }

    fn synchronize(&self) -> Result<(), Self::Error> {
        Err("the model's host waits for nothing")
    }

    fn synchronize_device(&self) -> Result<(), Self::Error> {
        Err("the model's host waits for nothing")
    }

    fn is_passed(_: &Mark) -> bool {
        false
    }

    fn synchronize_mark(_: &Mark) -> Result<(), Self::Error> {
        Err("the model's host waits for nothing")
    }
}
