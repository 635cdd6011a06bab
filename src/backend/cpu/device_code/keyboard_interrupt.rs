//! Handles Ctrl-C during a kernel: the engine checks whether Ctrl-C was pressed, and the Python exception that this
//! check raises becomes the launch's error.

use std::cell::RefCell;
use std::error::Error as StdError;
use std::sync::Arc;

use pygpu_base::error::Error;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_cpu_engine::fault_handlers as faults;

/// An exception that the Python layer has raised, as an opaque error.
pub type Raised = Arc<dyn StdError + Send + Sync>;

/// Function that checks for Ctrl-C. It returns Python's exception if the thread should stop waiting for the kernel.
pub type InterruptCheck = fn() -> Option<Raised>;

static QUESTION: ForkSafeOnce<InterruptCheck> = ForkSafeOnce::new();

thread_local! {
    /// The exception that the interrupt check returned. It is stored until the launch on the same thread ends.
    static RAISED: RefCell<Option<Raised>> = const { RefCell::new(None) };
}

/// Registers the function that checks for Ctrl-C.
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

/// Takes the exception that interrupted the last launch on this thread; `None` if no exception did.
pub fn raised() -> Option<Error> {
    RAISED.with(|slot| slot.borrow_mut().take()).map(Error::Callback)
}
