//! Ctrl-C during a kernel: the engine asks whether it is to end, and what was raised for it becomes the launch's own error.

use std::cell::RefCell;
use std::error::Error as StdError;
use std::sync::Arc;

use pygpu_base::error::Error;
use pygpu_base::fork_safe::Once;
use pygpu_cpu_engine::fault_handlers as faults;

/// What the caller's own error is.
pub type Raised = Arc<dyn StdError + Send + Sync>;

/// Asks whether the thread is to stop what it waits for, since somebody pressed Ctrl-C; gives what is then raised.
pub type Question = fn() -> Option<Raised>;

static QUESTION: Once<Question> = Once::new();

thread_local! {
    /// Between the answer and the end of the launch, which the same thread waits for.
    static RAISED: RefCell<Option<Raised>> = const { RefCell::new(None) };
}

/// Says who is asked.
pub fn ask_with(question: Question) {
    QUESTION.set(question);
    faults::ask_with(ask);
}

fn ask() -> bool {
    let raised = QUESTION.get().and_then(|question| question());
    let is_any = raised.is_some();
    RAISED.with(|slot| *slot.borrow_mut() = raised);
    is_any
}

/// What was raised for the launch that has just ended on this thread.
pub fn raised() -> Option<Error> {
    RAISED.with(|slot| slot.borrow_mut().take()).map(Error::Callback)
}
