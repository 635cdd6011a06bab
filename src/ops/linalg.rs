//! Calls the vendors' libraries for matrix factorizations: allocates workspaces, and enqueues the library calls in the
//! order of a stream.

mod lower_triangle;
mod small_matrices;
mod small_refinement;

pub use lower_triangle::copy_lower_triangle;
pub use small_matrices::{SmallRequest, SmallTask, fits, run as run_small};
pub use small_refinement::{RefinementRequest, fits_refinement, run as run_refinement};

use crate::idle_handles;
use crate::product::{with_blas, workspace_of};
use pygpu_array::Array;
use pygpu_backend::libraries::{
    ArrayRole, BlasWorkspace, Element, Factorization, FactorizationKind, IDLE_HANDLES, Solver, open_solver,
};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::MemoryOrder;
use pygpu_memory::{Access, BlockUse, ordered, stream_captures};

/// A request to factorize a batch of matrices, each in column-major order, stored consecutively.
pub struct FactorizeRequest<'a> {
    /// The factorization to compute.
    pub what: FactorizationKind,
    /// Number of matrices.
    pub batch: usize,
    /// Number of rows, number of columns, and number of right-hand sides (of a system) or of reflectors (of a QR
    /// factorization).
    pub sizes: [usize; 3],
    /// The arrays for input and results, in the order of [`Factorization`]'s fields.
    pub arrays: &'a [&'a Array],
}

fn element(kind: ScalarType) -> Option<Element> {
    Some(match kind {
        ScalarType::Float32 => Element::Float32,
        ScalarType::Float64 => Element::Float64,
        ScalarType::Complex64 => Element::Complex64,
        ScalarType::Complex128 => Element::Complex128,
        _ => return None,
    })
}

fn bytes(role: ArrayRole, element: Element) -> usize {
    match role {
        ArrayRole::Elements => element.bytes(),
        ArrayRole::Reals => element.real_bytes(),
        ArrayRole::Complexes => element.complex().bytes(),
        ArrayRole::Integers => size_of::<i32>(),
        ArrayRole::Addresses => size_of::<u64>(),
    }
}

/// Converts a request to a task for the library, which includes checks of the request's arrays.
fn task(request: &FactorizeRequest<'_>) -> Result<Factorization> {
    let unfit = |why: &str| {
        Error::value(format!("{:?} of {} matrices, {:?}: {why}", request.what, request.batch, request.sizes))
    };
    let first = request.arrays.first().ok_or_else(|| unfit("there is no array"))?;
    let kind = first.dtype().kind();
    let element =
        element(kind).ok_or_else(|| Error::type_error(format!("no factorisation of {}", first.dtype().name())))?;
    let [m, n, k] = request.sizes;
    let mut task = Factorization {
        what: request.what,
        element,
        batch: request.batch,
        m,
        n,
        k,
        addresses: [0; Factorization::PARTS],
    };
    if !task.is_sound() {
        return Err(unfit("the library takes no such sizes; it counts rows, columns and matrices in 32 bits"));
    }
    let parts = task.parts();
    if parts.len() != request.arrays.len() {
        return Err(unfit("there are more or fewer arrays"));
    }
    for (place, (array, (role, count, is_read))) in request.arrays.iter().zip(parts).enumerate() {
        let size = count.checked_mul(task.batch).and_then(|size| i64::try_from(size).ok());
        let is_right = array.layout().is_c_contiguous()
            && Some(array.layout().size()) == size
            && array.dtype().itemsize() == bytes(role, element)
            && array.device() == first.device()
            && (role != ArrayRole::Elements || array.dtype().kind() == kind)
            && (role != ArrayRole::Complexes || array.dtype().kind().is_complex());
        if !is_right {
            return Err(unfit(&format!("array {place} is of another size, type or device")));
        }
        if !is_read {
            array.check_writable("a factorisation")?;
        }
        task.addresses[place] = array.address();
    }
    Ok(task)
}

/// Returns the memory blocks that a task uses, including the workspace `room`.
fn uses<'a>(request: &FactorizeRequest<'a>, task: &Factorization, room: &'a Array) -> Vec<BlockUse<'a>> {
    let access = |is_read| if is_read { Access::Read } else { Access::Write };
    let arrays = request.arrays.iter().zip(task.parts());
    let arrays = arrays.map(|(array, (_, _, is_read))| (array.allocation(), access(is_read)));
    std::iter::once((room.allocation(), Access::Write)).chain(arrays).collect()
}

fn room(bytes: usize, stream: &Stream) -> Result<Array> {
    Array::empty(&[bytes.max(1) as i64], DType::new(ScalarType::UInt8), MemoryOrder::C, stream.clone())
}

/// Factorizes a batch of matrices by the BLAS library, which is faster than the solver library for many small matrices.
/// Returns `false` if the BLAS library has no such function.
///
/// # Errors
/// The errors of [`run`].
pub fn run_by_blas(request: &FactorizeRequest<'_>, stream: &Stream) -> Result<bool> {
    let task = task(request)?;
    let device = stream.device();
    let done = with_blas(stream, |blas, handle| {
        if !blas.has_lu(task.element) {
            return Ok(false);
        }
        let bytes = workspace_of(device);
        let room = room(bytes, stream)?;
        let desk = BlasWorkspace { stream: stream.handle(), workspace: room.address(), bytes };
        ordered(&uses(request, &task, &room), stream, || {
            let mut said = Ok(());
            device.backend().device_code()?.within(device.index(), "linear algebra", &mut || {
                // SAFETY: `task` has checked every array, and, as in `run`, the uses of all memory blocks are recorded
                // in the order of this stream.
                said = unsafe { blas.lu(handle, &desk, &task) };
            })?;
            said
        })?;
        Ok(true)
    })?;
    Ok(done.unwrap_or(false))
}

/// Destroys the idle handles of a device. The call precedes a device reset, after which the handles could not be
/// destroyed.
///
/// # Errors
/// Driver errors; then the handles are leaked.
pub fn destroy_handles(device: Device) -> Result<()> {
    let Some(solver) = open_solver(device.kind())? else { return Ok(()) };
    let operation = "the destruction of handles of linear algebra";
    idle_handles::destroy(&IDLE_HANDLES, device, operation, |handle| solver.destroy(handle))
}

/// Enqueues a factorization on a stream. Returns `false` if the library has no function for it.
///
/// # Errors
/// `ValueError` and `TypeError` for unsuitable arrays; `OutOfMemory`; library errors; driver errors.
pub fn run(solver: &Solver, request: &FactorizeRequest<'_>, stream: &Stream) -> Result<bool> {
    let task = task(request)?;
    if !solver.has(&task) {
        return Ok(false);
    }
    if task.what.waits() {
        stream_captures::refuse(
            "a factorisation by iterations (svd, eigh, eig), for which the library waits,",
            stream,
        )?;
    }
    let device = stream.device();
    let backend = device.backend();
    let contexts = backend.device_code()?;
    let key = device.handle_key();
    // The library's result is stored in a variable, because the function `within` does not return the result of its
    // closure.
    let within = |work: &mut dyn FnMut() -> Result<()>| {
        let mut said = Ok(());
        contexts.within(device.index(), "linear algebra", &mut || said = work())?;
        said
    };
    let mut handle = IDLE_HANDLES.take(&key);
    if handle.is_none() {
        within(&mut || solver.handle().map(|made| handle = Some(made)))?;
    }
    let Some(handle) = handle else { return Err(Error::not_supported("the library made no handle")) };
    let done = (|| {
        let mut needed = Default::default();
        within(&mut || solver.room(&handle, &task).map(|room| needed = room))?;
        let room = room(needed.bytes, stream)?;
        let mut host = vec![0; needed.host];
        ordered(&uses(request, &task, &room), stream, || {
            within(&mut || {
                // SAFETY: `task` has checked every array; the workspace has the size that the library requires; all
                // arrays are used in the order of this stream. An array of addresses contains the addresses of the
                // first array's matrices, as the function that creates the array of addresses guarantees.
                unsafe { solver.run(&handle, &task, stream.handle(), (needed, room.address()), &mut host) }
            })
        })
    })();
    let _ = IDLE_HANDLES.put(key, handle); // the pool of handles has no maximum size, so it never destroys a handle itself
    done.map(|()| true)
}
