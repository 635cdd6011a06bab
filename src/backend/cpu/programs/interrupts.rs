//! Ctrl-C during a kernel: the engine checks for it, and the exception raised for it becomes the launch's error.

use std::cell::RefCell;
use std::error::Error as StdError;
use std::sync::Arc;

use pygpu_base::error::Error;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_cpu_engine::fault_handlers as faults;

/// The caller's error type.
pub type Raised = Arc<dyn StdError + Send + Sync>;

/// Interrupt check: returns the exception if the thread should stop waiting because of Ctrl-C.
pub type InterruptCheck = fn() -> Option<Raised>;

static QUESTION: ForkSafeOnce<InterruptCheck> = ForkSafeOnce::new();

thread_local! {
    /// Exception between the interrupt check and the end of the launch, both on the same thread.
    static RAISED: RefCell<Option<Raised>> = const { RefCell::new(None) };
}

/// Registers the interrupt check.
pub fn set_check(question: InterruptCheck) {
    QUESTION.set(question);
    faults::set_interrupt_check(is_interrupted);
}

fn is_interrupted() -> bool {
    let raised = QUESTION.get().and_then(|question| question());
    let is_any = raised.is_some();
    RAISED.with(|slot| *slot.borrow_mut() = raised);
    is_any
}

/// Takes the exception of the launch that has just ended on this thread.
pub fn raised() -> Option<Error> {
    RAISED.with(|slot| slot.borrow_mut().take()).map(Error::Callback)
}
