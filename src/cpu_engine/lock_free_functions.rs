//! Recognizes system functions that take no lock. If a kernel faults inside such a function, the kernel may be left
//! without returning from the function.
//!
//! The recognized functions copy or compare bytes, or compute mathematical functions. Compilers replace loops by calls
//! of functions that copy or compare bytes. A function is recognized by the address of the instruction at which the
//! kernel faulted. The C library has one variant of each copy function per processor type. It places these variants
//! next to each other, and far from its heap and file functions. The mathematical functions are in a separate library.

use std::ffi::{CStr, c_int, c_ulonglong};
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

use pygpu_base::ffi_guard::catch_panic;

/// Distance in bytes from a copy function within which the function's variants for processor types are placed.
const AROUND: u64 = 4096;
const MOST: usize = 16;

/// Kinds of lock-free functions, with the values that `abi.h` defines.
const COPIES: c_int = 1;
const COMPUTES: c_int = 2;

struct CodeRange {
    begin: AtomicU64,
    end: AtomicU64,
    kind: AtomicI32,
}

static RANGES: [CodeRange; MOST] =
    [const { CodeRange { begin: AtomicU64::new(0), end: AtomicU64::new(0), kind: AtomicI32::new(0) } }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn add(kind: c_int, begin: u64, end: u64) {
    let place = COUNT.load(Ordering::Relaxed);
    if let Some(range) = RANGES.get(place) {
        range.begin.store(begin, Ordering::Relaxed);
        range.end.store(end, Ordering::Relaxed);
        range.kind.store(kind, Ordering::Relaxed);
        COUNT.store(place + 1, Ordering::Release);
    }
}

/// Determines the address ranges of the functions that take no lock. Must not be called concurrently.
pub fn learn() {
    if COUNT.load(Ordering::Acquire) != 0 {
        return;
    }
    for name in [c"memcpy", c"memmove", c"memset", c"memcmp", c"strlen", c"strcmp", c"strcpy"] {
        let address = function(name);
        if address != 0 {
            add(COPIES, address.saturating_sub(AROUND), address + AROUND);
        }
    }
    #[cfg(target_os = "linux")]
    // SAFETY: the callback keeps no pointer to its arguments.
    unsafe {
        libc::dl_iterate_phdr(Some(mathematics), std::ptr::null_mut());
    }
}

fn function(name: &CStr) -> u64 {
    // SAFETY: the call only looks up a symbol that exists in the process.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as u64 }
}

#[cfg(target_os = "linux")]
unsafe extern "C" fn mathematics(library: *mut libc::dl_phdr_info, _: libc::size_t, _: *mut libc::c_void) -> c_int {
    catch_panic((), || {
        // SAFETY: the pointer comes from the loader, and is valid during the call.
        unsafe { add_mathematics(&*library) };
    });
    0
}

/// Records the code range of a library if the library is the one with the mathematical functions.
///
/// # Safety
/// `library` comes from the loader and describes a loaded library.
#[cfg(target_os = "linux")]
unsafe fn add_mathematics(library: &libc::dl_phdr_info) {
    if library.dlpi_name.is_null() {
        return;
    }
    // SAFETY: the loader's names end with a zero byte.
    let name = unsafe { CStr::from_ptr(library.dlpi_name) }.to_bytes();
    let file = name.rsplit(|&letter| letter == b'/').next().unwrap_or_default();
    if file.starts_with(b"libm.so") || file.starts_with(b"libm-") {
        // SAFETY: the table has as many entries as the loader states.
        let headers = unsafe { std::slice::from_raw_parts(library.dlpi_phdr, usize::from(library.dlpi_phnum)) };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0)
        {
            let begin = library.dlpi_addr.wrapping_add(header.p_vaddr);
            add(COMPUTES, begin, begin + header.p_memsz);
        }
    }
}

/// Returns the kind of the function that contains the instruction at this address; 0 for functions that may take a
/// lock. Signal handlers call this function.
pub extern "C" fn is_plain(instruction: c_ulonglong) -> c_int {
    catch_panic(0, || {
        let known = &RANGES[..COUNT.load(Ordering::Acquire).min(MOST)];
        let holds = |range: &&CodeRange| {
            range.begin.load(Ordering::Relaxed) <= instruction && instruction < range.end.load(Ordering::Relaxed)
        };
        known.iter().find(holds).map_or(0, |range| range.kind.load(Ordering::Relaxed))
    })
}
