//! What every call passes through: the count, the planted faults, and a net under it that no panic falls through.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use simulated_core::code::{INVALID_VALUE, NOT_INITIALIZED, SUCCESS, UNKNOWN};
use simulated_core::fault::Manner;
use simulated_core::worker::fail_next;
use simulated_core::{Driver, Outcome, exit};

use crate::context;

pub static INITIALIZED: AtomicBool = AtomicBool::new(false);

/// Calls that need no `cuInit`.
const ANYTIME: [&str; 4] = ["cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"];

/// A call under way.
pub struct Call {
    pub name: &'static str,
    pub driver: &'static Driver,
}

impl Call {
    /// The current device, whose context must be able to work.
    pub fn device(&self) -> Outcome<usize> {
        self.driver.usable(context::top()?)
    }
}

/// Runs the body of a call; its code.
pub fn call(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> u32 {
    let outcome = catch_unwind(AssertUnwindSafe(|| counted(name, body)));
    match outcome.unwrap_or(Err(UNKNOWN)) {
        Ok(()) => SUCCESS,
        Err(code) => code,
    }
}

fn counted(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> Outcome<()> {
    exit::refuse()?;
    let driver = Driver::of_process().ok_or(UNKNOWN)?;
    let fault = driver.faults.count(name);
    match fault {
        Some((code, Manner::Times(_))) => return Err(code),
        Some((code, Manner::Sticky)) => {
            let device = context::top().and_then(|context| driver.device_of_context(context)).unwrap_or(0);
            driver.break_device(device, code);
            return Err(code);
        }
        Some((code, Manner::Asynchronous)) => fail_next(Some(code)),
        None => {}
    }
    if !INITIALIZED.load(Ordering::Relaxed) && !ANYTIME.contains(&name) {
        return Err(NOT_INITIALIZED);
    }
    let outcome = body(&Call { name, driver });
    if fault.is_some() {
        fail_next(None);
    }
    outcome
}

/// Where the caller wants a result. Only C makes one: null, or writable as its manual says.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// The same place for a result of another type.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    pub fn put(self, value: T) -> Outcome<()> {
        self.check()?;
        // SAFETY: not null, and the caller of the C function promises that the rest is right.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// What is there already, where a call exchanges.
    ///
    /// # Safety
    /// The place is null or readable.
    pub unsafe fn read(self) -> Outcome<T> {
        self.check()?;
        // SAFETY: not null; the rest is the caller's promise.
        Ok(unsafe { self.0.read_unaligned() })
    }

    pub fn check(self) -> Outcome<()> {
        if self.0.is_null() { Err(INVALID_VALUE) } else { Ok(()) }
    }

    pub fn put_if_wanted(self, value: T) {
        // Null is a way to say that it is not wanted.
        let _ = self.put(value);
    }
}

/// What the caller gives by address. Only C makes one: null, or readable as its manual says.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// The same place read as another type.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    pub fn get(self) -> Outcome<T> {
        self.at(0)
    }

    pub fn at(self, position: usize) -> Outcome<T> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: not null, and the caller of the C function promises that the rest is right.
        Ok(unsafe { self.0.add(position).read_unaligned() })
    }
}

/// Defines the functions that the library exports. Each body gives an `Outcome<()>`; `on` is the [`Call`].
macro_rules! export {
    ($(fn $name:ident($on:ident $(, $arg:ident: $type:ty)* $(,)?) $body:block)*) => {
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> u32 {
                $crate::entry::call(stringify!($name), |$on| $body)
            }
        )*
    };
}
pub(crate) use export;
