//! Computes large products of floats by the vendor's BLAS library, which uses tensor cores. This file contains the
//! conditions under which the library is used, and the library calls.

use super::gemm_layout::GemmLayout;
use super::operands::{Product, ProductProblem};
use crate::{idle_handles, ufunc};
use pygpu_array::Array;
use pygpu_backend::BackendKind;
use pygpu_backend::libraries::{self, Blas, BlasHandle, BlasWorkspace, Gemm, GemmType, HandleKey, Matrix, ObjectPool};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::{ForkSafeMutex, ForkSafeOnce};
use pygpu_base::settings::{self, Variable};
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_device::{Device, PerDevice, per_device};
use pygpu_layout::{Dims, MemoryOrder};
use pygpu_memory::{self as memory, Access, BlockUse, stream_captures};

/// Minimum number of multiply-adds of a product for which BLAS is used. A product of two matrices of 256 by 256 needs
/// this number. On a large device, PyGPU's kernel takes longer for such a product than the launch itself takes. Opening
/// the library, once per process, takes as long as a thousand such products.
const LARGE: i64 = 1 << 24;
/// Minimum number of multiply-adds per matrix of a batch for which BLAS is faster. Below this number PyGPU's kernels
/// are as fast as BLAS, and unlike BLAS they accept any layout of the batch.
const LARGE_EACH: i64 = 1 << 15;
/// An operand is copied into a suitable layout if the other operand has at least this number of rows or columns. The
/// copy is then cheap relative to the product.
const WORTH_A_COPY: i64 = 64;
/// Maximum number of library calls per product; each call computes a batch of matrices that have a constant distance.
const CALLS: i64 = 16;

/// Returns the minimum numbers of multiply-adds, in total and per matrix, for which BLAS is used. The environment
/// variable `PYGPU_BLAS` may set them. Returns `None` if BLAS is never used.
fn threshold() -> Option<(i64, i64)> {
    static KNOWN: ForkSafeOnce<Option<(i64, i64)>> = ForkSafeOnce::new();
    *KNOWN.get_or_init(|| match settings::get().text(Variable::BLAS).as_deref() {
        Some("own") => None,
        Some(text) => match text.parse::<u32>() {
            Ok(least) => Some((least.into(), 0)),
            Err(_) => {
                settings::warn_ignored(Variable::BLAS, text, "'own' and a number of multiply-adds");
                Some((LARGE, LARGE_EACH))
            }
        },
        None => Some((LARGE, LARGE_EACH)),
    })
}

fn is_tf32() -> bool {
    static KNOWN: ForkSafeOnce<bool> = ForkSafeOnce::new();
    *KNOWN.get_or_init(|| settings::get().is_on(Variable::TF32, false))
}

/// Returns the library's type for a scalar type; `None` if BLAS does not support it.
fn number_of(kind: ScalarType) -> Option<GemmType> {
    Some(match kind {
        ScalarType::Float16 => GemmType::Float16,
        ScalarType::BFloat16 => GemmType::BFloat16,
        ScalarType::Float32 => GemmType::Float32,
        ScalarType::Float64 => GemmType::Float64,
        ScalarType::Complex64 => GemmType::Complex64,
        ScalarType::Complex128 => GemmType::Complex128,
        _ => return None,
    })
}

/// Whether the vendor's BLAS is expected to be faster than PyGPU's kernels.
#[inline]
pub(super) fn is_faster(task: &ProductProblem, device: Device) -> bool {
    let each = task.a.rows.saturating_mul(task.b.rows).saturating_mul(task.depth);
    let all = each.saturating_mul(task.batches);
    // For a single matrix-vector product, PyGPU's kernel reaches the memory bandwidth, unless the matrix is read across
    // the inner axis: many blocks then share this axis and store their sums. A batch of products may be equivalent to a
    // matrix product.
    let are_matrices = (task.a.rows > 1 && task.b.rows > 1) || task.batches > 1 || task.is_vector_across_matrix();
    are_matrices
        && !device.is_cpu()
        && threshold().is_some_and(|(least, _)| all >= least)
        && number_of(task.computed).is_some()
}

/// The reason why the vendor's BLAS did not compute the last product for which it was called; for reports.
static REFUSED: ForkSafeMutex<Option<String>> = ForkSafeMutex::new(None);

/// Describes, for reports, how a backend computes large float products.
pub fn way(kind: BackendKind) -> String {
    if threshold().is_none() {
        return "own kernels: PYGPU_BLAS is \"own\"".to_owned();
    }
    match libraries::opened_blas(kind) {
        _ if kind == BackendKind::Cpu => "NumPy".to_owned(),
        None => "own kernels; the vendor's library is opened by the first large product of floats".to_owned(),
        Some(Err(error)) => {
            let text = error.to_string();
            format!("own kernels: {}", text.lines().next().unwrap_or_default())
        }
        Some(Ok(blas)) => {
            let refused = REFUSED.lock().clone();
            let but =
                refused.map(|why| format!("; own kernels where it refuses, the last time {why}")).unwrap_or_default();
            format!("{} for large ones of floats, {}{but}", blas.name(), blas.path())
        }
    }
}

/// Idle library handles, by device and reset epoch. The largest number of concurrent calls determines the number of
/// handles. The handles are leaked at process exit.
static HANDLES: ObjectPool<HandleKey, BlasHandle> = ObjectPool::new(usize::MAX);

/// Returns the library, and a library handle for the stream's device. During a capture only existing handles are used.
fn handle(stream: &Stream) -> Result<Option<(&'static Blas, BlasHandle)>> {
    let device = stream.device();
    let is_capturing = stream_captures::is_capturing(stream)?;
    let blas = match libraries::opened_blas(device.kind()) {
        None if is_capturing => return Ok(None),
        None => libraries::blas(device.kind(), device.backend().driver_version()),
        opened => opened,
    };
    let Some(Ok(blas)) = blas else { return Ok(None) };
    if let Some(handle) = HANDLES.take(&device.handle_key()) {
        return Ok(Some((blas, handle)));
    }
    if is_capturing {
        return Ok(None);
    }
    let mut made = Err(0);
    device.backend().device_code()?.within(device.index(), "a handle of the BLAS", &mut || made = blas.create())?;
    if let Err(code) = made {
        refused(format!("it made no handle: code {code}"));
    }
    Ok(made.ok().map(|handle| (blas, handle)))
}

/// Destroys the idle handles of a device. The call precedes a device reset, after which the handles could not be
/// destroyed.
///
/// # Errors
/// Driver errors; then the handles are leaked.
pub fn destroy_handles(device: Device) -> Result<()> {
    let Some(Ok(blas)) = libraries::opened_blas(device.kind()) else { return Ok(()) };
    let operation = "the destruction of handles of the BLAS";
    idle_handles::destroy(&HANDLES, device, operation, |handle| blas.destroy(*handle))
}

#[cold]
fn refused(why: String) {
    *REFUSED.lock() = Some(why);
}

/// Calls `work` with the library and a handle that no other thread uses; `None` if the library is unavailable or
/// disabled.
///
/// # Errors
/// Errors of `work`; driver errors.
pub fn with_blas<T>(stream: &Stream, work: impl FnOnce(&Blas, BlasHandle) -> Result<T>) -> Result<Option<T>> {
    if threshold().is_none() {
        return Ok(None);
    }
    let Some((blas, handle)) = handle(stream)? else { return Ok(None) };
    let done = work(blas, handle);
    let _ = HANDLES.put(stream.device().handle_key(), handle); // the pool of handles has no maximum size, so it never destroys a handle itself
    done.map(Some)
}

/// Returns the workspace size in bytes that the vendor recommends for a device.
pub fn workspace_of(device: Device) -> usize {
    static KNOWN: PerDevice<ForkSafeOnce<usize>> = per_device!(ForkSafeOnce::new());
    *KNOWN.of(device).get_or_init(|| {
        let is_large = device.kind() == BackendKind::Hip
            || device.properties().is_ok_and(|properties| properties.compute_capability.0 >= 9);
        (if is_large { 32 } else { 4 }) << 20
    })
}

/// Returns a dense copy of an operand in the type of the computation.
fn dense(array: &Array, computed: ScalarType, order: MemoryOrder, stream: &Stream) -> Result<Array> {
    if array.dtype().kind() == computed {
        return copy::duplicate(array, order, stream);
    }
    let shape: Dims = array.layout().shape().collect();
    let made = Array::empty(&shape, DType::new(computed), order, stream.clone())?;
    ufunc::cast(&made, ufunc::CastSource::Array(array), None, stream)?;
    Ok(made)
}

/// Computes a product by the library. Returns `false` if PyGPU's kernels must compute it.
///
/// # Errors
/// `OutOfMemory`; driver errors.
pub(super) fn run(product: &Product<'_>, task: &ProductProblem, stream: &Stream) -> Result<bool> {
    let Some(number) = number_of(product.computed) else { return Ok(false) };
    let Some(matrices) = GemmLayout::of(task) else { return Ok(false) };
    let lies = matrices.fits_library();
    let is_worth = |side: usize| lies[side] || matrices.others(side) >= WORTH_A_COPY;
    let least = threshold().unwrap_or_default();
    let is_large =
        matrices.each() >= least.1 && (matrices.calls() <= CALLS || matrices.per_call() >= LARGE.max(least.0));
    if !is_large || !(0..3).all(is_worth) {
        return Ok(false);
    }
    let made = with_blas(stream, |blas, handle| with_handle(product, &lies, number, stream, (blas, handle)))?;
    Ok(made.unwrap_or(false))
}

fn with_handle(
    product: &Product<'_>,
    lies: &[bool; 3],
    number: GemmType,
    stream: &Stream,
    library: (&Blas, BlasHandle),
) -> Result<bool> {
    if lies.iter().all(|lies| *lies) {
        return call(product, number, stream, library);
    }
    let kind = product.computed;
    let side = |side: usize| {
        // The library conjugates only operands that it also transposes, so the copy of a conjugated operand must be in
        // F order.
        let order = if product.are_conjugated[side] && kind.is_complex() { MemoryOrder::F } else { MemoryOrder::C };
        (!lies[side]).then(|| dense(product.operands[side], kind, order, stream)).transpose()
    };
    let (a, b) = (side(0)?, side(1)?);
    let operands = [a.as_ref().unwrap_or(product.operands[0]), b.as_ref().unwrap_or(product.operands[1])];
    if lies[2] {
        return call(&Product { operands, ..*product }, number, stream, library);
    }
    let shape: Dims = product.out.layout().shape().collect();
    let made = Array::empty(&shape, DType::new(kind), MemoryOrder::C, stream.clone())?;
    if !call(&Product { operands, out: &made, ..*product }, number, stream, library)? {
        return Ok(false);
    }
    ufunc::cast(product.out, ufunc::CastSource::Array(&made), None, stream)?;
    Ok(true)
}

/// Calls the library for operands and results whose layouts it supports.
fn call(product: &Product<'_>, number: GemmType, stream: &Stream, library: (&Blas, BlasHandle)) -> Result<bool> {
    let task = product.task()?;
    let Some(matrices) = GemmLayout::of(&task) else { return Ok(false) };
    let Some((operations, leading)) = matrices.forms() else { return Ok(false) };
    let device = stream.device();
    let bytes = workspace_of(device);
    let workspace = Array::empty(&[bytes as i64], DType::new(ScalarType::UInt8), MemoryOrder::C, stream.clone())?;
    let desk = BlasWorkspace { stream: stream.handle(), workspace: workspace.address(), bytes };
    let uses: [BlockUse<'_>; 4] = [
        (product.operands[0].allocation(), Access::Read),
        (product.operands[1].allocation(), Access::Read),
        (product.out.allocation(), Access::Write),
        (workspace.allocation(), Access::Write),
    ];
    let (blas, handle) = library;
    let (lengths, count) = (matrices.lengths(), matrices.count());
    let one = |addresses: [u64; 3]| {
        let matrix = |side: usize| Matrix {
            address: addresses[side] as usize,
            leading: leading[side],
            apart: matrices.batch_stride(side),
        };
        Gemm {
            number,
            is_tf32: is_tf32(),
            operations,
            lengths,
            operands: [matrix(0), matrix(1)],
            out: matrix(2),
            count,
        }
    };
    let mut outcome = Ok(());
    memory::ordered(&uses, stream, || {
        device.backend().device_code()?.within(device.index(), "a product of the BLAS", &mut || {
            // SAFETY: the recorded uses keep the blocks alive until the stream has completed the work, and the layouts
            // ensure that the matrices are inside the blocks. The handle was checked out of the pool, so no other
            // thread uses it.
            outcome = matrices.each_call(|addresses| unsafe { blas.gemm(handle, &desk, &one(addresses)) });
        })
    })?;
    match outcome {
        Ok(()) => Ok(true),
        // After a failed library call, PyGPU's kernels compute the product. If the driver's error persists, the launch
        // of these kernels returns the error.
        Err(code) => {
            refused(format!("a product of {number:?} with code {code}"));
            Ok(false)
        }
    }
}
