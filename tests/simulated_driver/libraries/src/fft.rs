//! Implements cuFFT and hipFFT. Transforms are computed by their definition. Invalid arguments are errors, as the
//! manuals require. Transforms of more than 8 points require a work area.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::ffi::{c_int, c_longlong};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::faults;
use crate::stream_work::{Vendor, put};

const INVALID_PLAN: u32 = 1;
const INVALID_TYPE: u32 = 3;
const INVALID_VALUE: u32 = 4;
const EXEC_FAILED: u32 = 6;
const INVALID_SIZE: u32 = 8;
const UNALIGNED_DATA: u32 = 9;
const NO_WORKSPACE: u32 = 13;
const NOT_IMPLEMENTED: u32 = 14;

type Complex = (f64, f64);

/// Numbers of the transform types R2C, C2C and C2R; the numbers for double precision are greater by 64.
const FROM_REAL: c_int = 0x2a;
const PLAIN: c_int = 0x29;
const TO_REAL: c_int = 0x2c;
const DOUBLE: c_int = 0x40;

#[derive(Clone, Default)]
struct Side {
    embed: Vec<i64>,
    stride: i64,
    distance: i64,
}

#[derive(Clone, Default)]
struct Plan {
    is_automatic: bool,
    is_made: bool,
    points: Vec<i64>,
    input: Side,
    output: Side,
    kind: c_int,
    batch: i64,
    stream: u64,
    work: u64,
    area: usize,
}

#[derive(Default)]
struct Table {
    plans: BTreeMap<u64, Plan>,
    made: u64,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut Table) -> T) -> T {
    let mut table: MutexGuard<'_, Option<Table>> = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    work(table.get_or_insert_default())
}

/// Returns the number of plans that exist.
pub fn live() -> usize {
    with(|table| table.plans.len())
}

fn change(plan: u64, work: impl FnOnce(&mut Plan) -> u32) -> u32 {
    with(|table| table.plans.get_mut(&plan).map_or(INVALID_PLAN, work))
}

/// Returns the number of plans that exist.
#[unsafe(no_mangle)]
pub extern "C" fn simulated_fft_plans() -> u64 {
    with(|table| table.plans.len() as u64)
}

unsafe fn create(target: *mut u64, is_short: bool) -> u32 {
    let number = with(|table| {
        table.made += 1;
        table.plans.insert(table.made, Plan { is_automatic: true, ..Plan::default() });
        table.made
    });
    // SAFETY: the caller of the C function guarantees that `target` has as many bytes as the vendor's handle.
    unsafe { if is_short { target.cast::<u32>().write(number as u32) } else { target.write(number) } };
    0
}

impl Side {
    /// Reads the layout of the input or output. If `embed` is null, the other arguments are ignored and the layout is
    /// dense.
    unsafe fn read(rank: usize, embed: *const c_longlong, stride: i64, distance: i64) -> Self {
        if embed.is_null() {
            return Self::default();
        }
        // SAFETY: the caller of this function guarantees that a non-null `embed` has `rank` elements.
        let embed = unsafe { std::slice::from_raw_parts(embed, rank) };
        Self { embed: embed.to_vec(), stride, distance }
    }

    fn settle(&mut self, lens: Vec<i64>) {
        if self.embed.is_empty() {
            *self = Self { stride: 1, distance: lens.iter().product(), embed: lens };
        }
    }

    fn fits(&self, lens: &[i64], batch: i64) -> bool {
        let inner = self.embed.iter().zip(lens).skip(1).all(|(embed, len)| embed >= len);
        inner && self.stride > 0 && (batch == 1 || self.distance > 0)
    }

    fn place(&self, mut number: i64, lens: &[i64], batch: i64) -> i64 {
        let (mut place, mut step) = (batch * self.distance, self.stride);
        for (axis, len) in lens.iter().enumerate().rev() {
            place += number % len * step;
            number /= len;
            step *= self.embed[axis];
        }
        place
    }
}

impl Plan {
    fn way(&self) -> c_int {
        self.kind & !DOUBLE
    }

    fn is_double(&self) -> bool {
        self.kind & DOUBLE != 0
    }

    /// Returns the lengths of the axes: of the output if `is_output` is true, else of the input.
    fn lens(&self, is_output: bool) -> Vec<i64> {
        let mut lens = self.points.clone();
        let is_half = (self.way() == FROM_REAL && is_output) || (self.way() == TO_REAL && !is_output);
        if let (true, Some(last)) = (is_half, lens.last_mut()) {
            *last = *last / 2 + 1;
        }
        lens
    }

    fn make(&mut self) -> u32 {
        if self.is_made || self.is_automatic {
            return INVALID_PLAN;
        }
        if ![FROM_REAL, PLAIN, TO_REAL].contains(&self.way()) {
            return INVALID_TYPE;
        }
        if self.way() == TO_REAL && self.points.len() > 1 {
            return NOT_IMPLEMENTED;
        }
        let (read, written) = (self.lens(false), self.lens(true));
        self.input.settle(read);
        self.output.settle(written);
        let are_sizes = self.points.iter().all(|points| *points > 0) && self.batch > 0;
        let fits = self.input.fits(&self.lens(false), self.batch) && self.output.fits(&self.lens(true), self.batch);
        if !are_sizes || !fits {
            return INVALID_SIZE;
        }
        let points: i64 = self.points.iter().product();
        // As in the real libraries, small transforms need no work area.
        self.area = if points <= 8 { 0 } else { (points * self.batch * 16) as usize };
        self.is_made = true;
        0
    }

    /// Computes the transforms.
    ///
    /// # Safety
    /// The function must run in stream order, with addresses that match the plan.
    unsafe fn run(&self, input: u64, output: u64, sign: f64) {
        // SAFETY: the caller of the library guarantees a work area of this many bytes.
        unsafe { std::ptr::write_bytes(self.work as *mut u8, 0xa5, self.area) };
        let (read, written) = (self.lens(false), self.lens(true));
        for batch in 0..self.batch {
            let count: i64 = read.iter().product();
            let places: Vec<i64> = (0..count).map(|number| self.input.place(number, &read, batch)).collect();
            // SAFETY: the caller of this function guarantees that the input matches the plan.
            let mut values: Vec<Complex> = places.iter().map(|place| unsafe { self.load(input, *place) }).collect();
            if self.way() == TO_REAL {
                if input != output {
                    // SAFETY: the caller of this function guarantees that the input matches the plan; the vendors'
                    // manuals allow overwriting the input.
                    places.iter().for_each(|place| unsafe { self.store(input, *place, (f64::NAN, f64::NAN), true) });
                }
                values = whole(&values, self.points[0] as usize);
            }
            let mut inner = 1;
            for points in self.points.iter().rev() {
                values = along(&values, *points as usize, inner, sign);
                inner *= *points as usize;
            }
            let count: i64 = written.iter().product();
            let (last, half) = (*self.points.last().unwrap_or(&1), *written.last().unwrap_or(&1));
            for number in 0..count {
                let value = values[(number / half * last + number % half) as usize];
                // SAFETY: the caller of this function guarantees that the output matches the plan.
                unsafe { self.store(output, self.output.place(number, &written, batch), value, self.way() != TO_REAL) };
            }
        }
    }

    unsafe fn load(&self, base: u64, place: i64) -> Complex {
        let is_real = self.way() == FROM_REAL;
        let parts = |at: i64| match self.is_double() {
            // SAFETY: the caller of this function guarantees that the element is readable.
            true => unsafe { (base as *const f64).offset(at as isize).read() },
            // SAFETY: the caller of this function guarantees that the element is readable.
            false => f64::from(unsafe { (base as *const f32).offset(at as isize).read() }),
        };
        if is_real { (parts(place), 0.0) } else { (parts(2 * place), parts(2 * place + 1)) }
    }

    unsafe fn store(&self, base: u64, place: i64, value: Complex, is_complex: bool) {
        let write = |at: i64, value: f64| match self.is_double() {
            // SAFETY: the caller of this function guarantees that the element is writable.
            true => unsafe { (base as *mut f64).offset(at as isize).write(value) },
            // SAFETY: the caller of this function guarantees that the element is writable.
            false => unsafe { (base as *mut f32).offset(at as isize).write(value as f32) },
        };
        if is_complex {
            write(2 * place, value.0);
            write(2 * place + 1, value.1);
        } else {
            write(place, value.0);
        }
    }
}

/// Completes half a spectrum to the full spectrum. If a value that must be real has an imaginary part, the result is
/// deliberately wrong, because the vendors' manuals leave the result undefined.
fn whole(half: &[Complex], points: usize) -> Vec<Complex> {
    let mut values: Vec<Complex> = (0..points)
        .map(|place| if place < half.len() { half[place] } else { (half[points - place].0, -half[points - place].1) })
        .collect();
    values[0].0 += values[0].1;
    if points.is_multiple_of(2) {
        values[points / 2].0 += values[points / 2].1;
    }
    values
}

fn along(values: &[Complex], points: usize, inner: usize, sign: f64) -> Vec<Complex> {
    let circle: Vec<Complex> = (0..points)
        .map(|step| (sign * TAU * step as f64 / points as f64).sin_cos())
        .map(|(sin, cos)| (cos, sin))
        .collect();
    let mut made = vec![(0.0, 0.0); values.len()];
    for (number, target) in made.iter_mut().enumerate() {
        let (before, place, behind) = (number / inner / points, number / inner % points, number % inner);
        for other in 0..points {
            let (re, im) = values[(before * points + other) * inner + behind];
            let (cos, sin) = circle[place * other % points];
            target.0 += re * cos - im * sin;
            target.1 += re * sin + im * cos;
        }
    }
    made
}

fn exec(name: &str, vendor: Vendor, plan: u64, kind: c_int, addresses: [u64; 2], direction: c_int) -> u32 {
    if let Some(code) = faults::begin(name) {
        return code;
    }
    let Some(found) = with(|table| table.plans.get(&plan).cloned()) else { return INVALID_PLAN };
    if !found.is_made {
        return INVALID_PLAN;
    }
    let alignment = if found.is_double() { 16 } else { 8 };
    let [input, output] = addresses;
    match () {
        () if found.kind != kind => INVALID_TYPE,
        () if addresses.contains(&0) || ![-1, 1].contains(&direction) => INVALID_VALUE,
        () if addresses.iter().any(|address| address % alignment != 0) => UNALIGNED_DATA,
        () if found.area > 0 && found.work == 0 => NO_WORKSPACE,
        () => {
            let sign = f64::from(direction);
            // SAFETY: the caller of the library guarantees that both addresses and the work area are valid until the
            // stream has completed the work.
            put(vendor, found.stream, move || unsafe { found.run(input, output, sign) })
                .map_or(EXEC_FAILED, |code| if code == 0 { 0 } else { EXEC_FAILED })
        }
    }
}

macro_rules! library {
    (
        $vendor:expr, $is_short:literal, $handle:ty, $version:ident $create:ident $destroy:ident $automatic:ident $make:ident
        $set_stream:ident $set_area:ident, complex { $($to:ident $to_kind:expr;)* } real { $($plain:ident $plain_kind:expr, $sign:expr;)* }
    ) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $version(target: *mut c_int) -> u32 {
            // SAFETY: the caller of the C function guarantees that `target` is writable.
            unsafe { target.write(11_000) };
            0
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $create(target: *mut u64) -> u32 {
            if let Some(code) = faults::begin(stringify!($create)) {
                return code;
            }
            // SAFETY: the caller of the C function guarantees that `target` is writable.
            unsafe { create(target, $is_short) }
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $destroy(plan: $handle) -> u32 {
            with(|table| table.plans.remove(&(plan as u64)).map_or(INVALID_PLAN, |_| 0))
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $automatic(plan: $handle, is_automatic: c_int) -> u32 {
            change(plan as u64, |plan| {
                plan.is_automatic = is_automatic != 0;
                0
            })
        }

        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)] // The parameters are those of the vendors' libraries.
        pub unsafe extern "C" fn $make(
            plan: $handle,
            rank: c_int,
            points: *const c_longlong,
            input: *const c_longlong,
            input_stride: c_longlong,
            input_distance: c_longlong,
            output: *const c_longlong,
            output_stride: c_longlong,
            output_distance: c_longlong,
            kind: c_int,
            batch: c_longlong,
            area: *mut usize,
        ) -> u32 {
            if let Some(code) = faults::begin(stringify!($make)) {
                return code;
            }
            if !(1..=3).contains(&rank) || points.is_null() || area.is_null() {
                return INVALID_VALUE;
            }
            let rank = rank as usize;
            // SAFETY: the caller of the C function guarantees that each list has as many numbers as there are axes.
            let (points, input, output) = unsafe {
                (
                    std::slice::from_raw_parts(points, rank).to_vec(),
                    Side::read(rank, input, input_stride, input_distance),
                    Side::read(rank, output, output_stride, output_distance),
                )
            };
            if input.embed.is_empty() != output.embed.is_empty() {
                return INVALID_VALUE;
            }
            change(plan as u64, |plan| {
                *plan = Plan { points, input, output, kind, batch, ..plan.clone() };
                let code = plan.make();
                // SAFETY: the caller of the C function guarantees that `area` is writable.
                unsafe { area.write(plan.area) };
                code
            })
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $set_stream(plan: $handle, stream: u64) -> u32 {
            change(plan as u64, |plan| {
                plan.stream = stream;
                0
            })
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $set_area(plan: $handle, area: u64) -> u32 {
            change(plan as u64, |plan| {
                plan.work = area;
                0
            })
        }

        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $to(plan: $handle, input: u64, output: u64, direction: c_int) -> u32 {
                exec(stringify!($to), $vendor, plan as u64, $to_kind, [input, output], direction)
            }
        )*

        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $plain(plan: $handle, input: u64, output: u64) -> u32 {
                exec(stringify!($plain), $vendor, plan as u64, $plain_kind, [input, output], $sign)
            }
        )*
    };
}

library! {
    Vendor::Nvidia, true, u32, cufftGetVersion cufftCreate cufftDestroy cufftSetAutoAllocation cufftMakePlanMany64
    cufftSetStream cufftSetWorkArea,
    complex { cufftExecC2C PLAIN; cufftExecZ2Z PLAIN | DOUBLE; }
    real {
        cufftExecR2C FROM_REAL, -1;
        cufftExecD2Z FROM_REAL | DOUBLE, -1;
        cufftExecC2R TO_REAL, 1;
        cufftExecZ2D TO_REAL | DOUBLE, 1;
    }
}

library! {
    Vendor::Amd, false, u64, hipfftGetVersion hipfftCreate hipfftDestroy hipfftSetAutoAllocation hipfftMakePlanMany64
    hipfftSetStream hipfftSetWorkArea,
    complex { hipfftExecC2C PLAIN; hipfftExecZ2Z PLAIN | DOUBLE; }
    real {
        hipfftExecR2C FROM_REAL, -1;
        hipfftExecD2Z FROM_REAL | DOUBLE, -1;
        hipfftExecC2R TO_REAL, 1;
        hipfftExecZ2D TO_REAL | DOUBLE, 1;
    }
}
