//! Provides the alternate stack on which a signal handler runs when the stack of the interrupted thread or kernel may
//! be full.

use std::cell::Cell;
use std::ptr;

const BYTES: usize = 64 << 10;

thread_local! {
    static KNOWN: Cell<bool> = const { Cell::new(false) };
    static OWN: SignalStack = const { SignalStack(Cell::new(ptr::null_mut())) };
}

/// A signal stack that this module has mapped. The stack is freed when the thread ends.
struct SignalStack(Cell<*mut libc::c_void>);

impl Drop for SignalStack {
    fn drop(&mut self) {
        let memory = self.0.get();
        if memory.is_null() {
            return;
        }
        let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: BYTES };
        // SAFETY: no handler is running on the stack, because its thread is executing this code. This module mapped the
        // memory, and no other code uses it.
        unsafe {
            libc::sigaltstack(&none, ptr::null_mut());
            libc::munmap(memory, BYTES);
        }
    }
}

/// Installs a signal stack for the calling thread, unless the thread already has one.
#[inline]
pub fn have_one() {
    if !KNOWN.replace(true) {
        make();
    }
}

#[cold]
fn make() {
    let mut old = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: the call only reads the current signal stack.
    if unsafe { libc::sigaltstack(ptr::null(), &mut old) } != 0 || old.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the call creates a new mapping.
    let memory = unsafe { libc::mmap(ptr::null_mut(), BYTES, access, libc::MAP_PRIVATE | libc::MAP_ANON, -1, 0) };
    if memory == libc::MAP_FAILED {
        return;
    }
    let new = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: BYTES };
    // SAFETY: the memory stays mapped until the thread ends, and `drop` unregisters the stack before it unmaps the
    // memory.
    unsafe { libc::sigaltstack(&new, ptr::null_mut()) };
    let _ = OWN.try_with(|own| own.0.set(memory));
}
