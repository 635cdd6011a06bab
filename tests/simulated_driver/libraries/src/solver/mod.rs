//! Implements those functions of cuSOLVER and hipSOLVER that PyGPU calls.

mod calls;
mod complex;
pub(crate) mod dense;
mod names;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::stream_work::Vendor;
use complex::C;
use dense::Matrix;

/// Status codes that both vendors use.
const SUCCESS: u32 = 0;
const INVALID_VALUE: u32 = 3;
const EXECUTION_FAILED: u32 = 6;

/// Element type of a matrix.
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

    const fn complex(self) -> Self {
        Self { is_complex: true, ..self }
    }

    const fn bytes(self) -> u64 {
        (if self.is_double { 8 } else { 4 }) * (if self.is_complex { 2 } else { 1 })
    }

    /// Reads an element.
    ///
    /// # Safety
    /// `address` must be the address of an element of this type.
    unsafe fn load(self, address: u64) -> C {
        // SAFETY: the caller of this function guarantees that the element is readable.
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

    /// Writes an element.
    ///
    /// # Safety
    /// `address` must be the address of an element of this type.
    unsafe fn store(self, address: u64, value: C) {
        // SAFETY: the caller of this function guarantees that the element is writable.
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

    /// Reads a matrix.
    ///
    /// # Safety
    /// `address` must be the address of a matrix with these sizes.
    pub(crate) unsafe fn matrix(self, address: u64, rows: i64, columns: i64, lead: i64) -> Matrix {
        let mut made = Matrix::zeros(rows as usize, columns as usize);
        for column in 0..columns {
            for row in 0..rows {
                let place = address + (column * lead + row) as u64 * self.bytes();
                // SAFETY: the caller of this function guarantees that the matrix is readable.
                *made.at(row as usize, column as usize) = unsafe { self.load(place) };
            }
        }
        made
    }

    /// Writes a matrix, or its first columns.
    ///
    /// # Safety
    /// `address` must be the address of memory for the columns that are written.
    pub(crate) unsafe fn put(self, address: u64, matrix: &Matrix, columns: i64, lead: i64) {
        for column in 0..columns {
            for row in 0..matrix.rows as i64 {
                let place = address + (column * lead + row) as u64 * self.bytes();
                // SAFETY: the caller of this function guarantees that the memory is writable.
                unsafe { self.store(place, matrix.get(row as usize, column as usize)) };
            }
        }
    }

    /// Writes consecutive elements.
    ///
    /// # Safety
    /// `address` must be the address of memory for all values.
    unsafe fn put_all(self, address: u64, values: impl IntoIterator<Item = C>) {
        for (number, value) in values.into_iter().enumerate() {
            // SAFETY: the caller of this function guarantees that the memory is writable.
            unsafe { self.store(address + number as u64 * self.bytes(), value) };
        }
    }
}

/// Writes consecutive integers.
///
/// # Safety
/// `address` must be the address of memory for all values.
pub(crate) unsafe fn put_integers(address: u64, values: &[i32]) {
    for (number, value) in values.iter().enumerate() {
        // SAFETY: the caller of this function guarantees that the memory is writable.
        unsafe { std::ptr::with_exposed_provenance_mut::<i32>(address as usize + 4 * number).write_unaligned(*value) };
    }
}

/// Reads consecutive integers.
///
/// # Safety
/// `address` must be the address of `count` integers.
pub(crate) unsafe fn integers(address: u64, count: i64) -> Vec<i32> {
    // SAFETY: the caller of this function guarantees that the integers are readable.
    let read =
        |number| unsafe { std::ptr::with_exposed_provenance::<i32>(address as usize + 4 * number).read_unaligned() };
    (0..count as usize).map(read).collect()
}

/// Returns the map from each existing library handle to its stream.
fn handles() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    static HANDLES: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn make(target: *mut u64) -> u32 {
    let mut handles = handles();
    let new = handles.last_key_value().map_or(0x5000, |(last, _)| last + 1);
    handles.insert(new, 0);
    // SAFETY: the caller of the C function guarantees a writable out-parameter.
    unsafe { target.write(new) };
    SUCCESS
}

/// Returns the number of library objects that exist.
pub fn live() -> usize {
    handles().len()
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

/// Describes a fault that a test injected: an error code that the call returns, or an iteration that does not converge
/// (the test requests this by the greatest number instead of an error code).
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

/// Checks the common arguments of a call and enqueues its work on the handle's stream. The work returns the info value
/// that the library reports.
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
        // SAFETY: the caller of the library guarantees that `info` is writable.
        unsafe { put_integers(info, &[said]) };
    };
    match crate::stream_work::put(vendor, stream, put) {
        Some(0) => SUCCESS,
        _ => EXECUTION_FAILED,
    }
}
