//! Rust behind ctypes: `extern "C"` functions that take what `as_argtype` has checked. A GPU's memory is handed on to
//! the library here, or to cudarc as `docs/bindings/rust.md` shows.

use std::ffi::{c_int, c_void};

type Stream = *mut c_void;

#[link(name = "heat")]
unsafe extern "C" {
    fn heat_new(count: i64) -> *mut f32;
    fn heat_free(values: *mut f32);
    fn heat_scale(values: *mut f32, count: i64, stride: i64, factor: f32, stream: Stream) -> c_int;
    fn heat_total(values: *const f32, strides: *const i64, shape: *const i64, total: *mut f64, stream: Stream)
    -> c_int;
    fn heat_step(
        from: *const f32,
        from_strides: *const i64,
        to: *mut f32,
        to_strides: *const i64,
        shape: *const i64,
        stream: Stream,
    ) -> c_int;
}

/// Multiplies a view, whatever its stride in elements.
///
/// # Safety
/// It has `count` elements, on the device that the library is for; so for all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scale_view(values: *mut f32, count: i64, stride: i64, factor: f32, stream: Stream) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { heat_scale(values, count, stride, factor, stream) }
}

/// One step between two views.
///
/// # Safety
/// Strides and shape are those of both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn step_view(
    from: *const f32,
    from_strides: &[i64; 2],
    to: *mut f32,
    to_strides: &[i64; 2],
    shape: &[i64; 2],
    stream: Stream,
) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { heat_step(from, from_strides.as_ptr(), to, to_strides.as_ptr(), shape.as_ptr(), stream) }
}

/// The sum of a view.
///
/// # Safety
/// Strides and shape are its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn total_view(
    values: *const f32,
    strides: &[i64; 2],
    shape: &[i64; 2],
    total: &mut f64,
    stream: Stream,
) -> c_int {
    // SAFETY: promised by the caller.
    unsafe { heat_total(values, strides.as_ptr(), shape.as_ptr(), total, stream) }
}

/// The address that Rust gets.
#[unsafe(no_mangle)]
pub extern "C" fn place(values: *const f32) -> usize {
    values.addr()
}

/// Memory of the library's.
#[unsafe(no_mangle)]
pub extern "C" fn create(count: i64) -> *mut f32 {
    // SAFETY: it takes any number.
    unsafe { heat_new(count) }
}

/// # Safety
/// Of `create`, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give_back(values: *mut f32) {
    // SAFETY: promised by the caller.
    unsafe { heat_free(values) }
}

/// Steps between two C-contiguous arrays; what is computed is in `a` again.
///
/// # Safety
/// Both have `rows * columns` elements, on the device that the library is for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn relax(a: *mut f32, b: *mut f32, rows: i64, columns: i64, pairs: i64, stream: Stream) -> c_int {
    let (strides, shape) = ([columns, 1], [rows, columns]);
    for _ in 0..pairs {
        for (from, to) in [(a, b), (b, a)] {
            // SAFETY: promised by the caller.
            let error = unsafe { heat_step(from, strides.as_ptr(), to, strides.as_ptr(), shape.as_ptr(), stream) };
            if error != 0 {
                return error;
            }
        }
    }
    0
}

/// Memory of Rust's, and how it goes back.
#[unsafe(no_mangle)]
pub extern "C" fn ramp(count: i64) -> *mut f32 {
    let values: Box<[f32]> = (0..count).map(|i| i as f32).collect();
    Box::leak(values).as_mut_ptr()
}

/// # Safety
/// Of `ramp(4)`, once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_ramp_of_4(values: *mut f32) {
    // SAFETY: promised by the caller.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(values, 4)) });
}
