//! The stack on which a thread's handlers run when its own, or a kernel's, is full.

use std::cell::Cell;
use std::ptr;

const BYTES: usize = 64 << 10;

thread_local! {
    static KNOWN: Cell<bool> = const { Cell::new(false) };
    static OWN: Own = const { Own(Cell::new(ptr::null_mut())) };
}

/// Ours, given back when the thread ends.
struct Own(Cell<*mut libc::c_void>);

impl Drop for Own {
    fn drop(&mut self) {
        let memory = self.0.get();
        if memory.is_null() {
            return;
        }
        let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: BYTES };
        // SAFETY: no handler runs on it, since this thread is here; ours, and used by nobody else.
        unsafe {
            libc::sigaltstack(&none, ptr::null_mut());
            libc::munmap(memory, BYTES);
        }
    }
}

/// Makes sure that this thread has one: what somebody gave it already is kept.
#[inline]
pub fn have_one() {
    if !KNOWN.replace(true) {
        make();
    }
}

#[cold]
fn make() {
    let mut old = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: only reads what is set.
    if unsafe { libc::sigaltstack(ptr::null(), &mut old) } != 0 || old.ss_flags & libc::SS_DISABLE == 0 {
        return;
    }
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: fresh memory.
    let memory = unsafe { libc::mmap(ptr::null_mut(), BYTES, access, libc::MAP_PRIVATE | libc::MAP_ANON, -1, 0) };
    if memory == libc::MAP_FAILED {
        return;
    }
    let new = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: BYTES };
    // SAFETY: ours until the thread ends, and taken away before it is given back.
    unsafe { libc::sigaltstack(&new, ptr::null_mut()) };
    let _ = OWN.try_with(|own| own.0.set(memory));
}
