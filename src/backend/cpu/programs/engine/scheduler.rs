//! The scheduler's object files. They do not depend on a source, so one is compiled for each compiler and its options, and kept.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::find::CxxCompiler;

/// An object file, and what it was compiled with.
struct Known {
    compiler: String,
    options: Vec<String>,
    object: Vec<u8>,
    next: *const Known,
}

/// The one that was kept last. None is ever freed: they are few, and no lock is needed then.
static LATEST: AtomicPtr<Known> = AtomicPtr::new(ptr::null_mut());

fn named(compiler: &CxxCompiler) -> String {
    format!("{} {}", compiler.path.display(), compiler.version)
}

/// The object file for a compiler and its options, if it was kept.
pub fn find(compiler: &CxxCompiler, options: &[String]) -> Option<&'static [u8]> {
    let name = named(compiler);
    let mut next = LATEST.load(Ordering::Acquire).cast_const();
    // SAFETY: what is in the list was whole before it was put there, and is never changed or freed.
    while let Some(known) = unsafe { next.as_ref() } {
        if known.compiler == name && known.options == options {
            return Some(&known.object);
        }
        next = known.next;
    }
    None
}

/// Keeps an object file.
pub fn keep(compiler: &CxxCompiler, options: &[String], object: Vec<u8>) {
    let known = Known { compiler: named(compiler), options: options.to_vec(), object, next: ptr::null() };
    let known = Box::leak(Box::new(known));
    let mut next = LATEST.load(Ordering::Acquire);
    loop {
        known.next = next;
        match LATEST.compare_exchange_weak(next, known, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(other) => next = other,
        }
    }
}
