//! Implements the device code of other libraries: kernels that the tests launch in addition to PyGPU's own kernels, as
//! a user's program would.
//!
//! A launch is an ordinary stream operation: it runs asynchronously, and the driver checks its accesses for races and
//! for the bounds of memory blocks.

use std::thread;
use std::time::Duration;

use crate::arena::pointer;
use crate::byte_region::{Extent, Region};
use crate::driver::Driver;
use crate::error_codes::{INVALID_VALUE, Outcome};
use crate::fill::Fill;
use crate::history::Touch;
use crate::state::State;
use crate::worker::{Then, Work, fail_next};

/// CUDA's error code for an access outside of any memory.
const ILLEGAL_ADDRESS: u32 = 700;

/// Size of an element in bytes; elements are `f32`.
const ITEM: u64 = 4;

/// Describes the strided elements that a launch accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Items {
    /// Address of element 0, which is not the lowest address if the stride is negative.
    pub address: u64,
    /// Stride in bytes.
    pub stride: i64,
    /// Number of elements.
    pub count: i64,
}

impl Items {
    /// Describes contiguous elements that begin at an address passed by the program.
    pub fn dense(address: u64, count: i64) -> Self {
        Self { address, stride: ITEM as i64, count }
    }

    fn region(self) -> Outcome<Region> {
        let last = (self.count - 1).checked_mul(self.stride).ok_or(INVALID_VALUE)?;
        let start = self.address.checked_add_signed(last.min(0)).ok_or(INVALID_VALUE)?;
        let height = if self.stride == 0 { 1 } else { self.count as u64 };
        let extent = Extent { width: ITEM, height, depth: 1 };
        Region::new(start, self.stride.unsigned_abs(), 0, extent).ok_or(INVALID_VALUE)
    }

    fn item(self, index: i64) -> *mut f32 {
        pointer(self.address.wrapping_add_signed(index * self.stride)).cast()
    }
}

impl Driver {
    /// Enqueues an operation that keeps a stream busy for `seconds`.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn spin(&self, call: &'static str, device: usize, seconds: f64, stream: u64) -> Outcome<()> {
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| INVALID_VALUE)?;
        self.launch_foreign(call, device, stream, |_, _, _| Ok(Box::new(move || thread::sleep(time))))
    }

    /// Enqueues a kernel that writes a value into all elements.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn fill_items(&self, call: &'static str, device: usize, out: Items, value: f32, stream: u64) -> Outcome<()> {
        let count = u64::try_from(out.count).map_err(|_| INVALID_VALUE)?;
        let fill = Fill { start: out.address, pitch: 0, size: ITEM, value: value.to_bits(), count, height: 1 };
        self.fill(call, device, fill, stream)
    }

    /// Enqueues a kernel that computes `y = y + a * x`.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn axpy(&self, call: &'static str, device: usize, (y, a, x): (Items, f32, Items), stream: u64) -> Outcome<()> {
        self.map(call, device, (y, x), stream, move |y, x| y + a * x)
    }

    /// Enqueues a kernel that copies elements.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn read_items(
        &self,
        call: &'static str,
        device: usize,
        (out, source): (Items, Items),
        stream: u64,
    ) -> Outcome<()> {
        self.map(call, device, (out, source), stream, |_, x| x)
    }

    /// Enqueues a kernel that writes to an invalid address. The launch succeeds, and the kernel makes the context
    /// unusable when it runs.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn write_nowhere(&self, call: &'static str, device: usize, stream: u64) -> Outcome<()> {
        fail_next(Some(ILLEGAL_ADDRESS));
        let launched = self.launch_foreign(call, device, stream, |_, _, _| Ok(Box::new(|| ())));
        fail_next(None);
        launched
    }

    fn map(
        &self,
        call: &'static str,
        device: usize,
        (out, source): (Items, Items),
        stream: u64,
        function: impl Fn(f32, f32) -> f32 + Send + 'static,
    ) -> Outcome<()> {
        if out.count < 0 {
            return Err(INVALID_VALUE);
        }
        if out.count == 0 {
            return Ok(());
        }
        self.launch_foreign(call, device, stream, |state, stream, number| {
            let (to, from) = (self.touched(state, call, out)?, self.touched(state, call, source)?);
            state.touch(from.1, Touch { region: source.region()?, write: false, stream, number, call });
            state.touch(to.1, Touch { region: out.region()?, write: true, stream, number, call });
            let (out, source) = (Items { address: to.0, ..out }, Items { address: from.0, ..source });
            Ok(Box::new(move || {
                for index in 0..out.count {
                    // SAFETY: the checks above guarantee that both operands are in live blocks. The accesses allow
                    // unaligned addresses.
                    unsafe {
                        let value = function(out.item(index).read_unaligned(), source.item(index).read_unaligned());
                        out.item(index).write_unaligned(value);
                    }
                }
            }))
        })
    }

    /// Checks the elements of an operand. Returns the block that contains the elements, and the address at which a
    /// worker thread accesses element 0.
    fn touched(&self, state: &mut State, call: &'static str, items: Items) -> Outcome<(u64, crate::memory::Block)> {
        let region = items.region()?;
        let block = self.locate_device(state, call, &region)?;
        let moved = self.reachable(state, block, region.start);
        Ok((moved.wrapping_add(items.address.wrapping_sub(region.start)), block))
    }

    /// Enqueues a kernel. `make` receives the stream and the number of the operation, and returns the work.
    fn launch_foreign(
        &self,
        call: &'static str,
        device: usize,
        stream: u64,
        make: impl FnOnce(&mut State, u64, u64) -> Outcome<Work>,
    ) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        let waits_for = state.order(stream);
        let number = state.streams.get(&stream).map_or(0, |stream| stream.submitted + 1);
        let work = make(&mut state, stream, number)?;
        state.push(stream, waits_for, Some(work), Then::Nothing).map(drop)
    }
}

/// Describes work that another library submits, and the function that frees the data of this work.
pub struct Errand {
    /// Executes the work. If it was captured, each launch of the graph calls this function.
    pub work: unsafe extern "C" fn(u64) -> u32,
    /// Frees the data after the last execution of the work.
    pub end: unsafe extern "C" fn(u64),
    /// Argument of both functions.
    pub data: u64,
}

impl Drop for Errand {
    fn drop(&mut self) {
        // SAFETY: the caller of `run_errand` guarantees that `end` may be called with this data; the call happens once.
        unsafe { (self.end)(self.data) };
    }
}

impl Driver {
    /// Enqueues work that accesses device memory like a kernel.
    ///
    /// # Safety
    /// The caller guarantees that any thread may call both functions of `errand` with its data, and `work` several
    /// times.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns; the data has then already been freed.
    pub unsafe fn run_errand(&self, call: &'static str, device: usize, errand: Errand, stream: u64) -> Outcome<()> {
        self.launch_work(call, device, stream, move || {
            let whole = &errand;
            // SAFETY: the caller of `run_errand` guarantees that the work may be called with this data.
            match unsafe { (whole.work)(whole.data) } {
                0 => Ok(()),
                code => Err(code),
            }
        })
    }
}

/// Calls the deleter of a `DLManagedTensor` on a thread that Python did not create, and waits for that thread.
///
/// # Safety
/// `tensor` must be the address of a consumed tensor whose deleter was not called yet.
pub unsafe fn delete_in_thread(tensor: u64) {
    /// Offset of the deleter: after the `DLTensor` of 48 bytes and the producer's context of 8 bytes.
    const DELETER: u64 = 48 + 8;
    // SAFETY: the caller of this function guarantees that `tensor` is the address of a `DLManagedTensor`.
    let deleter = unsafe { pointer(tensor + DELETER).cast::<Option<unsafe extern "C" fn(u64)>>().read() };
    if let Some(deleter) = deleter {
        // SAFETY: the caller of this function guarantees that the tensor is consumed and that no other code calls its
        // deleter.
        let thread = thread::spawn(move || unsafe { deleter(tensor) });
        // A panic of the deleter cannot be reported from here, so it is ignored.
        let _ = thread.join();
    }
}

/// Defines the launches in the CUDA or the HIP library, by that library's `export!` macro. `$device` returns the device
/// of a call.
#[macro_export]
macro_rules! export_foreign_kernels {
    ($export:ident, $device:path) => {
        $export! {
            fn guest_spin(on, seconds: f64, stream: u64) {
                on.driver.spin(on.name, $device(on)?, seconds, stream)
            }

            fn guest_fill(on, out: u64, value: f32, count: i64, stream: u64) {
                let target = $crate::foreign_kernels::Items::dense(out, count);
                on.driver.fill_items(on.name, $device(on)?, target, value, stream)
            }

            fn guest_axpy(on, y: u64, x: u64, a: f32, count: i64, stream: u64) {
                let [y, x] = [y, x].map(|address| $crate::foreign_kernels::Items::dense(address, count));
                on.driver.axpy(on.name, $device(on)?, (y, a, x), stream)
            }

            fn guest_read_strided(on, out: u64, address: u64, stride: i64, count: i64, stream: u64) {
                let source = $crate::foreign_kernels::Items { address, stride, count };
                let target = $crate::foreign_kernels::Items::dense(out, count);
                on.driver.read_items(on.name, $device(on)?, (target, source), stream)
            }

            fn guest_run(
                on,
                work: unsafe extern "C" fn(u64) -> u32,
                end: unsafe extern "C" fn(u64),
                data: u64,
                stream: u64
            ) {
                let errand = $crate::foreign_kernels::Errand { work, end, data };
                // SAFETY: the caller of the C function guarantees that the functions of `errand` may be called with its
                // data.
                unsafe { on.driver.run_errand(on.name, $device(on)?, errand, stream) }
            }

            fn guest_fault(on, stream: u64) {
                on.driver.write_nowhere(on.name, $device(on)?, stream)
            }

            fn guest_delete_in_thread(_on, tensor: u64) {
                // SAFETY: the caller of the C function guarantees that `tensor` is valid and not deleted elsewhere.
                unsafe { $crate::foreign_kernels::delete_in_thread(tensor) };
                Ok(())
            }
        }
    };
}
