//! Installs process-wide signal handlers for faults inside kernels, and records the threads that run kernels.
//!
//! Compiled libraries install no handlers, because handlers belong to the process and stay installed after a library is
//! unloaded. A thread is recorded in a thread-local variable while it works on a launch (from `enter` to `leave`). If
//! the interrupted thread is recorded, the handler calls a function of the compiled library (`pygpu_cpu/faults.h`),
//! which abandons the kernel or ignores the signal. All other signals are passed to the previous handler: Python's
//! `faulthandler`, a sanitizer, or the default action, which ends the process.
//!
//! Handlers are installed when the first image is loaded. When a later image is loaded, they are installed again if
//! other code has replaced them. Programs often replace the SIGINT handler, so this handler is also checked when the
//! main thread launches a kernel.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_ulonglong, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::fiber_stacks::{self, Stacks};
use crate::lock_free_functions;
use crate::signal_stack;
use pygpu_base::ffi_guard::catch_panic;

/// Data of a thread that is working on a launch (`pygpu_cpu_guarded` in `abi.h`).
#[repr(C)]
pub struct Guarded {
    signalled: unsafe extern "C" fn(*mut Guarded, c_int, *const c_void, *const c_void),
    outer: *mut Guarded,
}

/// Functions of this process that compiled kernels call (`pygpu_cpu_host`).
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

/// Signal that is sent to a thread so that it checks whether its launch has been cancelled or has failed. A process
/// without a handler for this signal ignores it by default.
const NUDGE: c_int = libc::SIGURG;

const SIGNALS: [c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGINT, NUDGE];

/// The table of functions for compiled kernels. It is the only instance of `RawHost`, and each compiled library
/// receives its address.
pub static HOST: RawHost = RawHost {
    enter,
    leave,
    is_plain: lock_free_functions::is_plain,
    interrupted,
    nudge: NUDGE,
    take_stacks: fiber_stacks::take,
    give_stacks: fiber_stacks::give,
};

/// Number of threads that are working on launches.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The innermost launch on which this thread is working. `enter` accesses this thread-local variable first, so that
    /// the variable is initialized before a signal handler on this thread reads it.
    static CURRENT: Cell<*mut Guarded> = const { Cell::new(ptr::null_mut()) };
}

unsafe extern "C" fn enter(guarded: *mut Guarded) {
    catch_panic((), || {
        signal_stack::have_one();
        if is_main_thread() {
            keep_ctrl_c();
        }
        // SAFETY: the caller guarantees that the object lives until `leave` returns.
        unsafe { (*guarded).outer = CURRENT.replace(guarded) };
        INSIDE.fetch_add(1, Ordering::Relaxed);
    });
}

/// Returns whether the calling thread is the main thread, the only thread on which Python handles Ctrl-C.
#[inline]
fn is_main_thread() -> bool {
    thread_local! {
        static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    }
    IS_MAIN.get().unwrap_or_else(|| {
        #[cfg(target_os = "linux")]
        // SAFETY: neither call has preconditions; each only returns a number.
        let is_main = unsafe { libc::gettid() == libc::getpid() };
        #[cfg(not(target_os = "linux"))]
        // SAFETY: the call has no preconditions and only returns a number.
        let is_main = unsafe { libc::pthread_main_np() == 1 };
        IS_MAIN.set(Some(is_main));
        is_main
    })
}

/// Installs the SIGINT handler again if other code, such as `signal.signal`, has replaced it. This check at the start
/// of every launch is the only system call of a launch.
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
    catch_panic((), || {
        INSIDE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees that the object lives until `leave` returns.
        CURRENT.set(unsafe { (*guarded).outer });
    });
}

/// Function that returns whether the calling thread should stop waiting because the user pressed Ctrl-C.
pub type InterruptCheck = fn() -> bool;

static QUESTION: AtomicUsize = AtomicUsize::new(0);

/// Registers the function that checks for Ctrl-C. Without such a function, a kernel continues after Ctrl-C.
#[allow(dead_code, reason = "the simulated drivers have nobody to ask")]
pub fn set_interrupt_check(question: InterruptCheck) {
    QUESTION.store(question as usize, Ordering::Release);
}

extern "C" fn interrupted() -> c_int {
    catch_panic(0, || match QUESTION.load(Ordering::Acquire) {
        0 => 0,
        // SAFETY: only `set_interrupt_check` stores a value in this variable, and this value is an `InterruptCheck`.
        question => c_int::from(unsafe { std::mem::transmute::<usize, InterruptCheck>(question) }()),
    })
}

/// The handlers to which PyGPU's handler of a signal passes the signal: the handler that it first replaced, and the
/// latest handler that another library has installed since then.
struct PreviousHandler {
    first: UnsafeCell<MaybeUninit<libc::sigaction>>,
    last: UnsafeCell<MaybeUninit<libc::sigaction>>,
    is_set: AtomicBool,
}

// SAFETY: only `install` writes the value. It never runs concurrently, and it writes before it installs the handler
// that reads the value.
unsafe impl Sync for PreviousHandler {}

static BEFORE: [PreviousHandler; SIGNALS.len()] = [const {
    PreviousHandler {
        first: UnsafeCell::new(MaybeUninit::uninit()),
        last: UnsafeCell::new(MaybeUninit::uninit()),
        is_set: AtomicBool::new(false),
    }
}; SIGNALS.len()];

fn before(number: c_int) -> Option<&'static PreviousHandler> {
    SIGNALS.iter().position(|&one| one == number).map(|place| &BEFORE[place])
}

/// Installs those of PyGPU's signal handlers that are not installed at present. Must not be called concurrently.
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

fn set(number: c_int, before: &PreviousHandler) {
    // SAFETY: the structure is plain data, for which all zeroes is a valid value.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call only reads the current handler.
    if unsafe { libc::sigaction(number, ptr::null(), &mut old) } != 0 || old.sa_sigaction == address_of_handler() {
        return;
    }
    // SAFETY: `install` never runs concurrently. A handler reads `last` at the same time only while it passes on a
    // fatal signal, i.e. while the process is ending.
    unsafe {
        (*before.last.get()).write(old);
        if !before.is_set.load(Ordering::Relaxed) {
            (*before.first.get()).write(old);
        }
    }
    before.is_set.store(true, Ordering::Release);
    // SAFETY: the structure is plain data, for which all zeroes is a valid value.
    let mut new: libc::sigaction = unsafe { std::mem::zeroed() };
    new.sa_sigaction = address_of_handler();
    // The signal is not blocked while its handler runs, because the handler may leave a kernel without returning.
    // SIGINT is handled on the kernel's own stack, because the kernel may continue afterwards. A fault is handled on
    // the signal stack, because the kernel's stack may be full.
    let stack = if number == libc::SIGINT { 0 } else { libc::SA_ONSTACK };
    let restart = if number == libc::SIGINT { old.sa_flags & libc::SA_RESTART } else { libc::SA_RESTART };
    new.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | stack | restart;
    // SAFETY: the handler exists as long as the process, because this library is never unloaded.
    unsafe { libc::sigaction(number, &new, ptr::null_mut()) };
}

fn address_of_handler() -> usize {
    handler as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize
}

/// The handler of all signals in `SIGNALS`. It allocates nothing and takes no lock. The functions that it calls may
/// switch to another stack and not return, so no stack frame may contain a value that must be dropped, or code that
/// catches a panic.
extern "C" fn handler(number: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    let errno = Errno::kept();
    if number == libc::SIGINT {
        // SIGINT is passed to Python's handler first, because the interrupt check below asks Python whether Ctrl-C was
        // pressed.
        pass_on(number, information, context);
    }
    // The thread-local variable is read only while a kernel runs on some thread, because the first access in a thread
    // allocates memory.
    if INSIDE.load(Ordering::Relaxed) != 0 {
        let current = CURRENT.get();
        if !current.is_null() {
            // SAFETY: the object is alive, because the thread has not called `leave`. The function belongs to the
            // compiled library whose kernel this thread is executing, so the library is loaded.
            unsafe { ((*current).signalled)(current, number, information.cast(), context) };
        }
    }
    if number != libc::SIGINT {
        pass_on(number, information, context);
    }
    errno.restore();
}

/// Passes a signal to the previous handler of the signal.
fn pass_on(number: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
    static PASSING: [AtomicUsize; SIGNALS.len()] = [const { AtomicUsize::new(0) }; SIGNALS.len()];
    let Some(before) = before(number).filter(|before| before.is_set.load(Ordering::Acquire)) else { return };
    let place = SIGNALS.iter().position(|&one| one == number).unwrap_or_default();
    // A handler that was installed after PyGPU's handler may pass the signal back to PyGPU's handler. In that case the
    // handler that PyGPU's handler first replaced is called.
    let is_again = PASSING[place].fetch_add(1, Ordering::Relaxed) != 0;
    // SAFETY: `first` and `last` are written before `is_set` becomes true.
    let old = unsafe { (*if is_again { before.first.get() } else { before.last.get() }).assume_init_ref() };
    match old.sa_sigaction {
        libc::SIG_IGN if number == libc::SIGINT || number == NUDGE => {}
        libc::SIG_DFL if number == NUDGE => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: the call restores the action that the signal had before. After the handler returns, a faulting
            // instruction fails again, which ends the process. A signal that a process has sent is raised again.
            unsafe {
                libc::sigaction(number, old, ptr::null_mut());
                if matches!(number, libc::SIGINT | libc::SIGABRT) || (*information).si_code <= 0 {
                    libc::raise(number);
                }
            }
        }
        function if old.sa_flags & libc::SA_SIGINFO != 0 => {
            type Full = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: `sigaction` returned this address together with the flag SA_SIGINFO, so the handler has this
            // signature.
            let function = unsafe { std::mem::transmute::<usize, Full>(function) };
            function(number, information, context);
        }
        function => {
            // SAFETY: `sigaction` returned this address without the flag SA_SIGINFO, so the handler has this signature.
            let function = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(function) };
            function(number);
        }
    }
    PASSING[place].fetch_sub(1, Ordering::Relaxed);
}

/// Restores `errno` when dropped, because a signal may interrupt code between a system call and the check of its
/// `errno`.
struct Errno(c_int);

impl Errno {
    fn place() -> *mut c_int {
        #[cfg(target_os = "linux")]
        // SAFETY: the call returns the address of the calling thread's `errno`, which always exists.
        return unsafe { libc::__errno_location() };
        #[cfg(not(target_os = "linux"))]
        // SAFETY: the call returns the address of the calling thread's `errno`, which always exists.
        return unsafe { libc::__error() };
    }

    fn kept() -> Self {
        // SAFETY: the pointer is valid in this thread at any time.
        Self(unsafe { *Self::place() })
    }

    fn restore(self) {
        // SAFETY: the pointer is valid in this thread at any time.
        unsafe { *Self::place() = self.0 };
    }
}
