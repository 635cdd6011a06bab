//! Defines `extern "C"` functions in Rust whose arguments `as_argtype` has checked in Python. GPU memory is passed on
//! to the C library here; `docs/bindings/rust.md` shows how cudarc uses it.

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

/// Multiplies a view with any stride, given in elements.
///
/// # Safety
/// The view must have `count` elements on the device that the library was built for. The same holds for all functions
/// below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scale_view(values: *mut f32, count: i64, stride: i64, factor: f32, stream: Stream) -> c_int {
    // SAFETY: the caller of this function guarantees that the view is valid.
    unsafe { heat_scale(values, count, stride, factor, stream) }
}

/// Computes one step from one view to another.
///
/// # Safety
/// The strides and the shape must be those of both views.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn step_view(
    from: *const f32,
    from_strides: &[i64; 2],
    to: *mut f32,
    to_strides: &[i64; 2],
    shape: &[i64; 2],
    stream: Stream,
) -> c_int {
    // SAFETY: the caller of this function guarantees that both views are valid.
    unsafe { heat_step(from, from_strides.as_ptr(), to, to_strides.as_ptr(), shape.as_ptr(), stream) }
}

/// Computes the sum of a view.
///
/// # Safety
/// The strides and the shape must be those of the view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn total_view(
    values: *const f32,
    strides: &[i64; 2],
    shape: &[i64; 2],
    total: &mut f64,
    stream: Stream,
) -> c_int {
    // SAFETY: the caller of this function guarantees that the view is valid.
    unsafe { heat_total(values, strides.as_ptr(), shape.as_ptr(), total, stream) }
}

/// Returns the address that Rust receives, for comparison with the array's address.
#[unsafe(no_mangle)]
pub extern "C" fn place(values: *const f32) -> usize {
    values.addr()
}

/// Allocates memory by the library.
#[unsafe(no_mangle)]
pub extern "C" fn create(count: i64) -> *mut f32 {
    // SAFETY: the function accepts any number.
    unsafe { heat_new(count) }
}

/// Frees memory of the library.
///
/// # Safety
/// The pointer must come from `create` and must be passed here at most once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give_back(values: *mut f32) {
    // SAFETY: the caller of this function guarantees that the pointer comes from `create`.
    unsafe { heat_free(values) }
}

/// Computes `pairs` times two steps, from `a` to `b` and back, so that the result is in `a`.
///
/// # Safety
/// Both arrays must be C-contiguous and have `rows * columns` elements on the device that the library was built for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn relax(a: *mut f32, b: *mut f32, rows: i64, columns: i64, pairs: i64, stream: Stream) -> c_int {
    let (strides, shape) = ([columns, 1], [rows, columns]);
    for _ in 0..pairs {
        for (from, to) in [(a, b), (b, a)] {
            // SAFETY: the caller of this function guarantees that both arrays are valid.
            let error = unsafe { heat_step(from, strides.as_ptr(), to, strides.as_ptr(), shape.as_ptr(), stream) };
            if error != 0 {
                return error;
            }
        }
    }
    0
}

/// Allocates memory by Rust; `free_ramp_of_4` frees it.
#[unsafe(no_mangle)]
pub extern "C" fn ramp(count: i64) -> *mut f32 {
    let values: Box<[f32]> = (0..count).map(|i| i as f32).collect();
    Box::leak(values).as_mut_ptr()
}

/// Frees memory that Rust allocated.
///
/// # Safety
/// The pointer must come from `ramp(4)` and must be passed here at most once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_ramp_of_4(values: *mut f32) {
    // SAFETY: the caller of this function guarantees that the pointer comes from `ramp(4)`.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(values, 4)) });
}
