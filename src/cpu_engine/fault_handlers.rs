//! The process's part in what goes wrong inside a kernel: its handlers of signals, and which threads run kernels.
//!
//! A library that was compiled has no handlers of its own: they belong to the process and stay, and a library goes. A thread is
//! known here from the beginning of its work on a launch to the end (`enter`, `leave`: one place of the thread and one count), and
//! a handler that finds one asks the library (`pygpu_cpu/faults.h`), which leaves the kernel or lets the signal be. What is no
//! kernel's goes to whoever had the signal before: Python's `faulthandler`, a sanitizer, or the system, which ends the process.
//!
//! Handlers are set when an image is loaded, and again when a later one is and somebody else has taken their place; Ctrl-C's,
//! which programs set themselves, also when the main thread launches.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_ulonglong, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::fiber_stacks::{self, Stacks};
use crate::lock_free_functions;
use crate::signal_stack;
use pygpu_base::ffi_guard::caught;

/// A thread at work on a launch (`pygpu_cpu_guarded`).
#[repr(C)]
pub struct Guarded {
    signalled: unsafe extern "C" fn(*mut Guarded, c_int, *const c_void, *const c_void),
    outer: *mut Guarded,
}

/// What compiled code asks of the process (`pygpu_cpu_host`).
#[repr(C)]
pub struct RawHost {
    enter: unsafe extern "C" fn(*mut Guarded),
    leave: unsafe extern "C" fn(*mut Guarded),
    is_plain: extern "C" fn(c_ulonglong) -> c_int,
    interrupted: extern "C" fn() -> c_int,
    nudge: c_int,
    take_stacks: extern "C" fn(c_ulonglong) -> *mut Stacks,
    give_stacks: unsafe extern "C" fn(*mut Stacks),
}

/// Makes a thread look at its launch. Nobody minds it otherwise: the system ignores it.
const NUDGE: c_int = libc::SIGURG;

const SIGNALS: [c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGINT, NUDGE];

/// The one that there is.
pub static HOST: RawHost = RawHost {
    enter,
    leave,
    is_plain: lock_free_functions::is_plain,
    interrupted,
    nudge: NUDGE,
    take_stacks: fiber_stacks::take,
    give_stacks: fiber_stacks::give,
};

/// Threads that run kernels.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The innermost launch that this thread works on. Touched by `enter` before a handler of this thread needs it.
    static CURRENT: Cell<*mut Guarded> = const { Cell::new(ptr::null_mut()) };
}

unsafe extern "C" fn enter(guarded: *mut Guarded) {
    caught((), || {
        signal_stack::have_one();
        if is_main_thread() {
            keep_ctrl_c();
        }
        // SAFETY: the caller's own, alive until `leave`.
        unsafe { (*guarded).outer = CURRENT.replace(guarded) };
        INSIDE.fetch_add(1, Ordering::Relaxed);
    });
}

/// Only there Python hears of Ctrl-C.
#[inline]
fn is_main_thread() -> bool {
    thread_local! {
        static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    }
    IS_MAIN.get().unwrap_or_else(|| {
        #[cfg(target_os = "linux")]
        // SAFETY: both only ask for a number.
        let is_main = unsafe { libc::gettid() == libc::getpid() };
        #[cfg(not(target_os = "linux"))]
        // SAFETY: only asks.
        let is_main = unsafe { libc::pthread_main_np() == 1 };
        IS_MAIN.set(Some(is_main));
        is_main
    })
}

/// Who sets a handler of Ctrl-C (`signal.signal` does) takes the place of ours, so it is looked at whenever a kernel begins: the
/// one call of the system that a launch costs.
fn keep_ctrl_c() {
    static SETTING: AtomicBool = AtomicBool::new(false);
    if let Some(place) = SIGNALS.iter().position(|&number| number == libc::SIGINT)
        && !SETTING.swap(true, Ordering::Acquire)
    {
        set(libc::SIGINT, &BEFORE[place]);
        SETTING.store(false, Ordering::Release);
    }
}

unsafe extern "C" fn leave(guarded: *mut Guarded) {
    caught((), || {
        INSIDE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: as in `enter`.
        CURRENT.set(unsafe { (*guarded).outer });
    });
}

/// Whether Ctrl-C is to end what a thread of the program waits for; asked on that thread.
pub type Question = fn() -> bool;

static QUESTION: AtomicUsize = AtomicUsize::new(0);

/// Says whom to ask. Without anybody a kernel goes on.
#[allow(dead_code, reason = "the simulated drivers have nobody to ask")]
pub fn ask_with(question: Question) {
    QUESTION.store(question as usize, Ordering::Release);
}

extern "C" fn interrupted() -> c_int {
    caught(0, || match QUESTION.load(Ordering::Acquire) {
        0 => 0,
        // SAFETY: only `ask_with` stores there.
        question => c_int::from(unsafe { std::mem::transmute::<usize, Question>(question) }()),
    })
}

/// Who had a signal before: the first time, and the last time that somebody had it in between.
struct Before {
    first: UnsafeCell<MaybeUninit<libc::sigaction>>,
    last: UnsafeCell<MaybeUninit<libc::sigaction>>,
    is_set: AtomicBool,
}

// SAFETY: written by `install` only, of which one runs at a time, before the handler that reads it is there.
unsafe impl Sync for Before {}

static BEFORE: [Before; SIGNALS.len()] = [const {
    Before {
        first: UnsafeCell::new(MaybeUninit::uninit()),
        last: UnsafeCell::new(MaybeUninit::uninit()),
        is_set: AtomicBool::new(false),
    }
}; SIGNALS.len()];

fn before(number: c_int) -> Option<&'static Before> {
    SIGNALS.iter().position(|&one| one == number).map(|place| &BEFORE[place])
}

/// Sets the handlers where they are not set. One thread at a time.
pub fn install() {
    lock_free_functions::learn();
    for (number, before) in SIGNALS.into_iter().zip(&BEFORE) {
        if number == libc::SIGINT {
            keep_ctrl_c();
        } else {
            set(number, before);
        }
    }
}

fn set(number: c_int, before: &Before) {
    // SAFETY: plain data, of which zeroes are a value.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: only reads what is set.
    if unsafe { libc::sigaction(number, ptr::null(), &mut old) } != 0 || old.sa_sigaction == address_of_handler() {
        return;
    }
    // SAFETY: see `Before`; a handler that reads `last` meanwhile is one of a process that is about to end.
    unsafe {
        (*before.last.get()).write(old);
        if !before.is_set.load(Ordering::Relaxed) {
            (*before.first.get()).write(old);
        }
    }
    before.is_set.store(true, Ordering::Release);
    // SAFETY: as above.
    let mut new: libc::sigaction = unsafe { std::mem::zeroed() };
    new.sa_sigaction = address_of_handler();
    // Never blocked: a kernel is left without a return from the handler. Ctrl-C comes on the kernel's own stack, since the kernel
    // may go on afterwards; a fault does not, since that stack may be full.
    let stack = if number == libc::SIGINT { 0 } else { libc::SA_ONSTACK };
    let restart = if number == libc::SIGINT { old.sa_flags & libc::SA_RESTART } else { libc::SA_RESTART };
    new.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | stack | restart;
    // SAFETY: the handler lives as long as the process, for which this library is never unloaded.
    unsafe { libc::sigaction(number, &new, ptr::null_mut()) };
}

fn address_of_handler() -> usize {
    handler as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize
}

/// Of every signal above. Allocates nothing and takes no lock; what it calls may leave it for another stack, so no frame of it has
/// anything to catch or to drop.
extern "C" fn handler(number: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    let errno = Errno::kept();
    if number == libc::SIGINT {
        // First Python is to know that it came: whoever is asked below asks Python.
        pass_on(number, information, context);
    }
    // Without a kernel anywhere the thread's own place is not touched: a thread may have none yet, and getting one allocates.
    if INSIDE.load(Ordering::Relaxed) != 0 {
        let current = CURRENT.get();
        if !current.is_null() {
            // SAFETY: alive, as it has not left; the function is that of its library, which runs it.
            unsafe { ((*current).signalled)(current, number, information.cast(), context) };
        }
    }
    if number != libc::SIGINT {
        pass_on(number, information, context);
    }
    errno.restore();
}

/// What would have happened without us.
fn pass_on(number: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    static PASSING: [AtomicUsize; SIGNALS.len()] = [const { AtomicUsize::new(0) }; SIGNALS.len()];
    let Some(before) = before(number).filter(|before| before.is_set.load(Ordering::Acquire)) else { return };
    let place = SIGNALS.iter().position(|&one| one == number).unwrap_or_default();
    // Who came after us may pass on to us again: then it is the turn of who was there before both.
    let is_again = PASSING[place].fetch_add(1, Ordering::Relaxed) != 0;
    // SAFETY: written before `is_set`.
    let old = unsafe { (*if is_again { before.first.get() } else { before.last.get() }).assume_init_ref() };
    match old.sa_sigaction {
        libc::SIG_IGN if number == libc::SIGINT || number == NUDGE => {}
        libc::SIG_DFL if number == NUDGE => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: as it was. What failed fails again when the handler returns, and now ends the process; what another process
            // sent is sent again.
            unsafe {
                libc::sigaction(number, old, ptr::null_mut());
                if matches!(number, libc::SIGINT | libc::SIGABRT) || (*information).si_code <= 0 {
                    libc::raise(number);
                }
            }
        }
        function if old.sa_flags & libc::SA_SIGINFO != 0 => {
            type Full = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: somebody registered it as such.
            let function = unsafe { std::mem::transmute::<usize, Full>(function) };
            function(number, information, context);
        }
        function => {
            // SAFETY: somebody registered it as such.
            let function = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(function) };
            function(number);
        }
    }
    PASSING[place].fetch_sub(1, Ordering::Relaxed);
}

/// Who was interrupted between a call and its look at `errno` finds what the call left.
struct Errno(c_int);

impl Errno {
    fn place() -> *mut c_int {
        #[cfg(target_os = "linux")]
        // SAFETY: this thread's own.
        return unsafe { libc::__errno_location() };
        #[cfg(not(target_os = "linux"))]
        // SAFETY: this thread's own.
        return unsafe { libc::__error() };
    }

    fn kept() -> Self {
        // SAFETY: always there.
        Self(unsafe { *Self::place() })
    }

    fn restore(self) {
        // SAFETY: always there.
        unsafe { *Self::place() = self.0 };
    }
}
