//! cuSOLVER and hipSOLVER, as far as PyGPU calls them.

mod calls;
mod complex;
pub(crate) mod dense;
mod names;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::queue::Vendor;
use complex::C;
use dense::Matrix;

/// Both vendors' codes.
const SUCCESS: u32 = 0;
const INVALID_VALUE: u32 = 3;
const EXECUTION_FAILED: u32 = 6;

/// Elements of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    is_double: bool,
    is_complex: bool,
}

impl Type {
    pub(crate) const fn named(letter: u8) -> Self {
        Self { is_double: matches!(letter, b'D' | b'Z'), is_complex: matches!(letter, b'C' | b'Z') }
    }

    const fn parts(self) -> Self {
        Self { is_complex: false, ..self }
    }

    const fn bytes(self) -> u64 {
        (if self.is_double { 8 } else { 4 }) * (if self.is_complex { 2 } else { 1 })
    }

    /// # Safety
    /// The address is of an element.
    unsafe fn load(self, address: u64) -> C {
        // SAFETY: the caller's.
        let part = |number: u64| unsafe {
            match self.is_double {
                true => std::ptr::with_exposed_provenance::<f64>((address + 8 * number) as usize).read_unaligned(),
                false => f64::from(
                    std::ptr::with_exposed_provenance::<f32>((address + 4 * number) as usize).read_unaligned(),
                ),
            }
        };
        C(part(0), if self.is_complex { part(1) } else { 0.0 })
    }

    /// # Safety
    /// The address is of an element.
    unsafe fn store(self, address: u64, value: C) {
        // SAFETY: the caller's.
        let part = |number: u64, value: f64| unsafe {
            match self.is_double {
                true => {
                    std::ptr::with_exposed_provenance_mut::<f64>((address + 8 * number) as usize).write_unaligned(value)
                }
                false => std::ptr::with_exposed_provenance_mut::<f32>((address + 4 * number) as usize)
                    .write_unaligned(value as f32),
            }
        };
        part(0, value.0);
        if self.is_complex {
            part(1, value.1);
        }
    }

    /// # Safety
    /// There is such a matrix at the address.
    pub(crate) unsafe fn matrix(self, address: u64, rows: i64, columns: i64, lead: i64) -> Matrix {
        let mut made = Matrix::zeros(rows as usize, columns as usize);
        for column in 0..columns {
            for row in 0..rows {
                let place = address + (column * lead + row) as u64 * self.bytes();
                // SAFETY: the caller's.
                *made.at(row as usize, column as usize) = unsafe { self.load(place) };
            }
        }
        made
    }

    /// Writes a matrix, or its first columns.
    ///
    /// # Safety
    /// There is room for such a matrix at the address.
    pub(crate) unsafe fn put(self, address: u64, matrix: &Matrix, columns: i64, lead: i64) {
        for column in 0..columns {
            for row in 0..matrix.rows as i64 {
                let place = address + (column * lead + row) as u64 * self.bytes();
                // SAFETY: the caller's.
                unsafe { self.store(place, matrix.get(row as usize, column as usize)) };
            }
        }
    }

    /// # Safety
    /// There is room for so many.
    unsafe fn put_all(self, address: u64, values: impl IntoIterator<Item = C>) {
        for (number, value) in values.into_iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { self.store(address + number as u64 * self.bytes(), value) };
        }
    }
}

/// # Safety
/// There is room for so many.
pub(crate) unsafe fn put_integers(address: u64, values: &[i32]) {
    for (number, value) in values.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { std::ptr::with_exposed_provenance_mut::<i32>(address as usize + 4 * number).write_unaligned(*value) };
    }
}

/// # Safety
/// There are so many.
pub(crate) unsafe fn integers(address: u64, count: i64) -> Vec<i32> {
    // SAFETY: the caller's.
    let read =
        |number| unsafe { std::ptr::with_exposed_provenance::<i32>(address as usize + 4 * number).read_unaligned() };
    (0..count as usize).map(read).collect()
}

/// Streams of the handles there are.
fn handles() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    static HANDLES: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn make(target: *mut u64) -> u32 {
    let mut handles = handles();
    let new = handles.last_key_value().map_or(0x5000, |(last, _)| last + 1);
    handles.insert(new, 0);
    // SAFETY: the caller's target.
    unsafe { target.write(new) };
    SUCCESS
}

fn end(handle: u64) -> u32 {
    handles().remove(&handle).map_or(1, |_| SUCCESS)
}

fn set_stream(handle: u64, stream: u64) -> u32 {
    handles().get_mut(&handle).map_or(1, |known| {
        *known = stream;
        SUCCESS
    })
}

/// What a test asked for: a code that a function returns, or that it does not converge, for which the greatest number stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Code(u32),
    Info,
}

fn fault(function: &str) -> Fault {
    match crate::faults::begin(function) {
        None => Fault::None,
        Some(u32::MAX) => Fault::Info,
        Some(code) => Fault::Code(code),
    }
}

/// Checks what every call has, and puts its work on the handle's stream; the work returns what the library says of it.
fn call(
    vendor: Vendor,
    handle: u64,
    name: &str,
    is_right: bool,
    info: u64,
    work: impl Fn() -> i32 + Send + Sync + 'static,
) -> u32 {
    let Some(stream) = handles().get(&handle).copied() else { return 1 };
    let fault = fault(name);
    if let Fault::Code(code) = fault {
        return code;
    }
    if !is_right || info == 0 {
        return INVALID_VALUE;
    }
    let put = move || {
        let said = work();
        let said = if fault == Fault::Info { 1 } else { said };
        // SAFETY: the caller's target.
        unsafe { put_integers(info, &[said]) };
    };
    match crate::queue::put(vendor, stream, put) {
        Some(0) => SUCCESS,
        _ => EXECUTION_FAILED,
    }
}
