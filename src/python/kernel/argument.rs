//! Defines the class `KernelArgument`, which contains the bytes of a kernel parameter and the owners of the memory at
//! the addresses in these bytes.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use smallvec::{Array, SmallVec};

use crate::array::class::GpuArray;
use crate::exported_names::names;
use crate::py_once::intern;
use crate::runtime::device_memory::DeviceAllocation;
use crate::texture::object;
use pygpu_memory::{Access, Allocation};

/// The owners of the memory at the addresses in an argument's bytes, each with the kind of access (read or write) that
/// a kernel has to this memory.
type Owners = Box<[(Py<PyAny>, Access)]>;

/// Bytes of a kernel parameter with the owners of the addresses in them; base class of `Struct` and `TensorMap`.
///
/// Parameters
/// ----------
/// data : bytes
///     The parameter's bytes.
/// lenders : sequence of tuple of object and bool
///     The owners of the addresses: arrays, `DeviceAllocation`, `Texture`, `Surface` and other `KernelArgument`
///     objects. The bool of each owner is True if a kernel may write to the owner's memory.
///
/// Raises
/// ------
/// TypeError
///     If a launch cannot track the memory of an owner.
#[pyclass(frozen, subclass, weakref, name = "KernelArgument", module = "PyGPU._core")]
pub(crate) struct KernelArgument {
    bytes: Vec<u8>,
    // The list of owners; `None` if the argument has none. The garbage collector may visit an object before its fields
    // are set. All bytes of the field are then zero, which represents `None`, but would be no valid `Vec`.
    owners: Option<Owners>,
}

impl KernelArgument {
    /// Creates an argument whose bytes contain no addresses.
    pub(crate) fn plain(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), owners: None }
    }

    /// Creates an argument whose bytes contain the address of one array.
    pub(crate) fn over(bytes: &[u8], array: &Bound<'_, GpuArray>, access: Access) -> Self {
        Self { bytes: bytes.to_vec(), owners: Some(Box::new([(array.as_any().clone().unbind(), access)])) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn owners(&self) -> &[(Py<PyAny>, Access)] {
        self.owners.as_deref().unwrap_or_default()
    }
}

#[pymethods]
impl KernelArgument {
    #[new]
    #[pyo3(signature = (data: "bytes", lenders: "Sequence[tuple[object, bool]]") -> "Self")]
    fn py_new(data: Vec<u8>, lenders: Vec<(Bound<'_, PyAny>, bool)>) -> PyResult<Self> {
        let access = |writes| if writes { Access::Write } else { Access::Read };
        if let Some((invalid, _)) = lenders.iter().find(|(owner, _)| !owns_address(owner)) {
            let class = invalid.get_type().fully_qualified_name()?;
            return Err(PyTypeError::new_err(format!(
                "{class} lends no address of which a launch knows the memory: give an array (PyGPU.from_dlpack(x) of another \
                 library's), or its address as an int, whose memory is then your affair"
            )));
        }
        let lenders = lenders.into_iter().map(|(owner, writes)| (owner.unbind(), access(writes))).collect();
        Ok(Self { bytes: data, owners: Some(lenders) })
    }

    /// Return the parameter's bytes, for a ``__constant__`` variable of the same type.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     The parameter's bytes. If a kernel reads them from a ``__constant__`` variable, the launch does not track
    ///     the memory at the addresses in these bytes.
    #[pyo3(signature = () -> "bytes")]
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.owners().iter().try_for_each(|(owner, _)| visit.call(owner))
    }
}

fn owns_address(value: &Bound<'_, PyAny>) -> bool {
    let (is_array, is_memory) = (value.is_instance_of::<GpuArray>(), value.is_instance_of::<DeviceAllocation>());
    is_array || is_memory || value.is_instance_of::<KernelArgument>() || object::from_python(value).is_some()
}

/// Appends the memory blocks whose addresses an argument contains to `blocks`. The argument is a `KernelArgument`, or
/// an array of addresses with a `KernelArgument` as its attribute `_owners`.
///
/// # Errors
/// The driver error `INVALID_VALUE` if the memory at an address was freed.
pub(crate) fn collect<A>(value: &Bound<'_, PyAny>, blocks: &mut SmallVec<A>) -> PyResult<()>
where
    A: Array<Item = (Arc<Allocation>, Access)>,
{
    let py = value.py();
    if let Ok(argument) = value.cast::<KernelArgument>() {
        let owners = argument.get().owners().iter();
        return owners.map(|(owner, access)| (owner.bind(py), *access)).try_for_each(|(owner, access)| {
            if let Ok(array) = owner.cast::<GpuArray>() {
                blocks.push((Arc::clone(array.get().array(py)?.allocation()), access));
            } else if let Ok(memory) = owner.cast::<DeviceAllocation>() {
                blocks.push((memory.get().block()?, access));
            } else if let Some((object, _)) = object::from_python(owner) {
                blocks.extend(object.uses().map(|(block, access)| (Arc::clone(block), access)));
            }
            collect(owner, blocks)
        });
    }
    match value.is_exact_instance_of::<GpuArray>() || !value.is_instance_of::<GpuArray>() {
        true => Ok(()),
        false => match value.getattr_opt(intern!(py, "_owners"))? {
            Some(inner) if inner.is_instance_of::<KernelArgument>() => collect(&inner, blocks),
            _ => Ok(()),
        },
    }
}

names! {
    internal_classes: KernelArgument;
}
