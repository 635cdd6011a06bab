//! Enqueues work on a stream of the process's simulated driver.

use std::ffi::CStr;

/// Vendor under whose name the program called a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vendor {
    Nvidia,
    Amd,
}

type Errand = unsafe extern "C" fn(unsafe extern "C" fn(u64) -> u32, unsafe extern "C" fn(u64), u64, u64) -> u32;

fn driver(vendor: Vendor) -> Option<Errand> {
    const NAMES: [&[&CStr]; 2] = [&[c"libcuda.so.1"], &[c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so"]];
    let find = |name: &&CStr| {
        // SAFETY: with `RTLD_NOLOAD` the call loads nothing, and the name is a C string.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NOW) };
        if library.is_null() {
            return None;
        }
        // SAFETY: `library` is an open library, and the name is a C string.
        let function = unsafe { libc::dlsym(library, c"guest_run".as_ptr()) };
        // SAFETY: the simulated driver's function has this signature, and no other driver exports the name.
        (!function.is_null()).then(|| unsafe { std::mem::transmute::<*mut libc::c_void, Errand>(function) })
    };
    NAMES[vendor as usize].iter().find_map(find)
}

type Work = Box<dyn Fn() + Send + Sync>;

unsafe extern "C" fn run(data: u64) -> u32 {
    let address = std::ptr::with_exposed_provenance::<Work>(data as usize);
    // SAFETY: `put` created the closure at this address, which is alive until the driver calls `end`.
    unsafe { (*address)() };
    0
}

unsafe extern "C" fn end(data: u64) {
    let address = std::ptr::with_exposed_provenance_mut::<Work>(data as usize);
    // SAFETY: `put` created the box at this address, and the driver calls `end` once.
    drop(unsafe { Box::from_raw(address) });
}

/// Enqueues work that, like a kernel, accesses device memory at the addresses that programs use; a stream capture
/// records the work. Returns the driver's error code, or `None` if no simulated driver is loaded.
pub fn put(vendor: Vendor, stream: u64, work: impl Fn() + Send + Sync + 'static) -> Option<u32> {
    let errand = driver(vendor)?;
    let data = Box::into_raw(Box::new(Box::new(work) as Work)).expose_provenance() as u64;
    // SAFETY: any thread may call both functions with this argument.
    Some(unsafe { errand(run, end, data, stream) })
}
