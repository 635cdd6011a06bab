"""Kernel arguments that contain addresses of arrays: C structs and arrays of pointers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from PyGPU import _core
from PyGPU._names.public import public

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["Struct", "pointers"]

_ADDRESS_OWNERS = (_core.GPUArray, _core.DeviceAllocation, _core.Texture, _core.Surface)


@public("Kernels")
class Struct(_core.KernelArgument):
    """Kernel argument that is a C struct, whose fields may be pointers to arrays.

    Parameters
    ----------
    dtype : data-type
        Structured dtype with the C layout of the struct: ``numpy.dtype([...], align=True)``. For a list of fields this
        layout is computed. A pointer is a field of ``'uint64'`` (or ``'uintp'``), a nested struct is a field of a
        structured dtype, and a C array is a field with a shape.
    **fields
        Values of the fields; an omitted field is 0. A value is one of:

        - a number;
        - an array, `DeviceAllocation`, `Texture` or `Surface`, for a field of 64 bits;
        - None, for a null pointer;
        - a mapping, for a struct;
        - a sequence, for a C array.

    Raises
    ------
    TypeError
        For a dtype without fields, an unknown field name, or an array as the value of a field that is no pointer.
    ValueError
        For a dtype whose fields are not in the C layout, or a number that does not fit into its field.

    Notes
    -----
    The struct keeps its arrays alive. A launch with the struct waits for the arrays' uses. It counts as a write of each
    array, but as a read of a read-only array, such as ``PyGPU.broadcast_to(a, a.shape)``. The kernel receives the
    address of an array's first element: pass strides as separate fields. CUDA aligns some types more than NumPy does
    (``float4`` and ``double2`` to 16 bytes, ``float2`` to 8 bytes): specify ``offsets`` for fields of such types.

    Examples
    --------
    >>> import PyGPU
    >>> source = '''struct Line { float *y; float slope; int n; };
    ... __global__ void draw(Line line) {
    ...     for (int x = 0; x < line.n; x++) line.y[x] = line.slope * x;
    ... }'''
    >>> y = PyGPU.zeros(4, 'float32')
    >>> line = PyGPU.Struct([('y', 'uint64'), ('slope', 'float32'), ('n', 'int32')], y=y, slope=0.5, n=4)
    >>> PyGPU.Kernel(source)[1, 1](line)
    >>> y.tolist()
    [0.0, 0.5, 1.0, 1.5]
    """

    __module__ = "PyGPU"
    __slots__ = ("_value",)
    _value: numpy.void

    def __new__(cls, dtype: DTypeLike, /, **fields: Any) -> Struct:
        layout = dtype if isinstance(dtype, numpy.dtype) else numpy.dtype(dtype, align=True)
        _check_layout(layout)
        record: Any = numpy.zeros((), layout)
        owners: list[tuple[Any, bool]] = []
        _fill(record, fields, "", owners)
        result = super().__new__(cls, record.tobytes(), owners)
        result._value = record[()]
        return result

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Structured dtype."""
        return self._value.dtype

    @property
    def value(self) -> numpy.void:
        """Return a copy of the struct that the kernel receives, as a NumPy record; pointers are integers."""
        return self._value.copy()

    def __repr__(self) -> str:
        names = self.dtype.names or ()
        return f"PyGPU.Struct({', '.join(f'{name}={self._value[name]}' for name in names)})"


def _check_layout(dtype: numpy.dtype[Any]) -> None:
    """Raise an error if the fields of a dtype are not aligned as in a C struct."""
    if dtype.names is None or dtype.fields is None:
        raise TypeError(
            f"a struct has a dtype with fields, not {dtype}; a number is an argument as it is: numpy.{dtype}(x)"
        )
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        base = field.base
        if base.names is not None:
            _check_layout(base)
        alignment = _alignment(base)
        if offset % alignment or base.itemsize % alignment or dtype.itemsize % alignment:
            raise ValueError(
                f"the field {name!r} of {base} is at byte {offset} of {dtype.itemsize}, and C aligns it to {alignment}"
                ": make the dtype, and those in it, with align=True; a struct that is packed in C too is given as its "
                "numpy.void"
            )


def _alignment(dtype: numpy.dtype[Any]) -> int:
    """Return the alignment of a dtype in C, which NumPy reports only for dtypes with ``align=True``."""
    if dtype.fields is None:
        return dtype.alignment
    return max((_alignment(field[0].base) for field in dtype.fields.values()), default=1)


def _fill(record: Any, values: Mapping[str, Any], path: str, owners: list[tuple[Any, bool]]) -> None:
    """Write values into the fields of a record, and append to `owners` the objects whose addresses are written."""
    names = record.dtype.names
    for name, value in values.items():
        if name not in names:
            raise TypeError(
                f"the struct has no field {path + name!r}; it has {', '.join(path + known for known in names)}"
            )
        record[name] = _converted(record.dtype[name], value, path + name, owners)


def _converted(dtype: numpy.dtype[Any], value: Any, path: str, owners: list[tuple[Any, bool]]) -> Any:
    """Convert a field's value to a value that NumPy can assign to the field."""
    if dtype.subdtype is not None and isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        part = numpy.dtype((dtype.base, dtype.shape[1:])) if dtype.shape[1:] else dtype.base
        if len(value) != dtype.shape[0]:
            raise ValueError(f"the field {path!r} has {dtype.shape[0]} elements, and {len(value)} were given")
        filled = numpy.zeros(dtype.shape, dtype.base)
        for position, element in enumerate(value):
            filled[position] = _converted(part, element, f"{path}[{position}]", owners)
        return filled
    if isinstance(value, Mapping) and dtype.names is not None:
        inner = numpy.zeros((), dtype)
        _fill(inner, value, f"{path}.", owners)
        return inner[()]
    if isinstance(value, Struct) and value.dtype == dtype:
        owners.append((value, True))
        return value.value
    if value is None and dtype.kind in "ui":
        return 0
    if isinstance(value, _ADDRESS_OWNERS) or _is_foreign_array(value):
        if dtype.kind not in "ui" or dtype.itemsize != 8:
            raise TypeError(
                f"the field {path!r} is {dtype}, and a pointer is 'uint64': {type(value).__name__} was given"
            )
        return _address(value, owners)
    return value if dtype.names is not None else _number(dtype, value, path)


def _number(dtype: numpy.dtype[Any], value: Any, path: str) -> Any:
    """Convert one or more numbers to the dtype of a field; raise an error if a number does not fit."""
    try:
        original = numpy.asarray(value)
        converted = numpy.asarray(value, dtype=dtype.base)
    except (OverflowError, ValueError) as error:
        raise ValueError(f"the field {path!r} is {dtype}, which does not hold {value!r}: {error}") from None
    except TypeError as error:
        raise TypeError(f"the field {path!r} is {dtype}, and {type(value).__name__} was given: {error}") from None
    is_lossy = dtype.base.kind in "biu" and original.dtype.kind in "fc"
    if is_lossy or (dtype.base.kind in "iu" and original.dtype.kind in "iu" and (converted != original).any()):
        raise ValueError(f"the field {path!r} is {dtype}, which does not hold {value!r}")
    return converted


def _is_foreign_array(value: Any) -> bool:
    return hasattr(value, "__cuda_array_interface__") or (
        hasattr(value, "__dlpack__") and not isinstance(value, (numpy.ndarray, numpy.generic))
    )


def _address(value: Any, owners: list[tuple[Any, bool]], readonly: bool = False) -> int:
    """Return the device address of an object, and append the object to `owners`, which keeps it alive."""
    if isinstance(value, (_core.Texture, _core.Surface)):
        owners.append((value, True))
        return value.handle
    if isinstance(value, _core.DeviceAllocation):
        owners.append((value, not readonly))
        return int(value)
    array = value if isinstance(value, _core.GPUArray) else _core.from_dlpack(value)
    owners.append((array, array.flags.writeable and not readonly))
    return array.ptr


class PointerArray(_core.GPUArray):
    """Device array that contains the addresses of other arrays; it and its views keep these arrays alive."""

    _owners: _core.KernelArgument | None = None

    def __array_finalize__(self, like: Any) -> None:
        """Make a view of a pointer array keep alive the arrays whose addresses the view contains."""
        self._owners = getattr(like, "_owners", None)


@public("Kernels")
def pointers(
    arrays: Sequence[Any], *, readonly: bool = False, strided: bool = False, device: Any = None
) -> _core.GPUArray:
    """Create an array of the addresses of arrays, for a parameter of type ``float **`` or a field of a struct.

    Parameters
    ----------
    arrays : sequence of GPUArray, DeviceAllocation, int or None
        Arrays on one device; arrays of other libraries are imported by DLPack. None is a null pointer. An int is an
        address, whose memory the caller keeps alive.
    readonly : bool, optional
        Whether kernels only read the arrays. If False, a launch counts as a write of each array that is not read-only.
    strided : bool, optional
        Whether to accept arrays that are not contiguous. The kernel receives only the address of the first element.
    device : Device, str or int, optional
        Device of the result; defaults to the device of the arrays.

    Returns
    -------
    GPUArray
        Array of uint64 with the length of `arrays`. The array and its views keep `arrays` alive.

    Raises
    ------
    TypeError
        For an object without a device address.
    ValueError
        For arrays on different devices, and for arrays that are not contiguous unless `strided` is true.

    Examples
    --------
    >>> import PyGPU
    >>> source = '''__global__ void fill(float **rows, const int *lengths) {
    ...     for (int i = 0; i < lengths[blockIdx.x]; i++) rows[blockIdx.x][i] = blockIdx.x;
    ... }'''
    >>> rows = [PyGPU.zeros(2, 'float32'), PyGPU.zeros(3, 'float32')]
    >>> PyGPU.Kernel(source)[2, 1](PyGPU.pointers(rows), PyGPU.asarray([2, 3], dtype='int32'))
    >>> [row.tolist() for row in rows]
    [[0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    owners: list[tuple[Any, bool]] = []
    addresses = numpy.zeros(len(arrays), numpy.uint64)
    for position, value in enumerate(arrays):
        addresses[position] = _pointer(position, value, owners, readonly, strided)
    devices = [owner.device for owner, _ in owners if isinstance(owner, _core.GPUArray)]
    for position, device_of_array in enumerate(devices):
        if device_of_array != devices[0]:
            raise ValueError(
                f"pointers: an array is on {devices[0]} and another one on {device_of_array} (array {position})"
            )
    target_device = device if device is not None else devices[0] if devices else None
    uploaded = _core.to_gpu(addresses, device=target_device)
    result = PointerArray(uploaded.shape, uploaded.dtype, gpudata=uploaded, base=uploaded)
    result._owners = _core.KernelArgument(b"", owners)
    return result


def _pointer(position: int, value: Any, owners: list[tuple[Any, bool]], readonly: bool, strided: bool) -> int:
    if value is None:
        return 0
    if isinstance(value, (int, numpy.integer)):
        return int(value)
    if not isinstance(value, (_core.GPUArray, _core.DeviceAllocation)) and not _is_foreign_array(value):
        raise TypeError(
            f"pointers: array {position} is {type(value).__name__}, which has no address on a device; PyGPU.to_gpu(x)"
        )
    address = _address(value, owners, readonly)
    array = owners[-1][0]
    if isinstance(array, _core.GPUArray) and not strided and not array.flags.forc:
        raise ValueError(
            f"pointers: array {position} is not contiguous (shape {array.shape}, strides {array.strides}), and a "
            "kernel sees only the address; pass a copy(), or strided=True if the kernel knows the strides"
        )
    return address
