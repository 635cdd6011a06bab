"""Serialize device arrays for messages between workers of `distributed`, and for files that workers write."""

from __future__ import annotations

import math
import pickle
import uuid
from typing import Any

import numpy as np
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from PyGPU import _core

__all__: list[str] = []

_Header = dict[str, Any]

_PROCESS = uuid.uuid4().hex
"""Identifier of the process that writes headers. Process numbers are not unique across machines."""


def _dense(x: _core.GPUArray) -> tuple[_Header, _core.GPUArray]:
    """Return the message header that describes an array, and a contiguous array of the elements to send."""
    # An axis with stride 0 repeats one element, which is sent once.
    once = x[tuple(slice(None) if stride else slice(0, 1) for stride in x.strides)] if x.size and x.ndim else x
    order = "F" if once.flags.f_contiguous and not once.flags.c_contiguous else "C"
    dense = once if once.flags.c_contiguous or once.flags.f_contiguous else once.copy("C")
    header = {
        "shape": list(x.shape),
        "sent": list(once.shape),
        "dtype": pickle.dumps(x.dtype),  # A name does not identify a structured dtype or a dtype of ml_dtypes.
        "order": order,
        "device": [_PROCESS, x.device.index],
    }
    return header, dense


def _field(header: Any, name: str, *types: type) -> Any:
    """Return a field of a received header.

    Raises
    ------
    ValueError
        If the header has no such field, or a field of another type.
    """
    value = header.get(name) if isinstance(header, dict) else None
    if type(value) not in types:
        expected = " or ".join(expected.__name__ for expected in types)
        raise ValueError(f"message of a GPUArray: {name} in the header is {expected}, not {value!r:.80}")
    return value


def _lengths(header: _Header, name: str) -> tuple[int, ...]:
    lengths = tuple(_field(header, name, list, tuple))
    if not all(type(length) is int and 0 <= length < 2**63 for length in lengths):
        raise ValueError(f"message of a GPUArray: {name} in the header contains lengths, not {lengths!r:.80}")
    return lengths


def _dtype(header: _Header) -> np.dtype[Any]:
    """Unpickle the dtype in a header; this adds no risk, because other parts of Dask's messages are pickles, too."""
    pickled = _field(header, "dtype", bytes)
    try:
        dtype = pickle.loads(pickled)
    except Exception as error:  # `pickle` raises various errors for bytes that are not a pickle
        raise ValueError(f"message of a GPUArray: dtype in the header is no pickle ({error})") from error
    if not isinstance(dtype, np.dtype):
        raise ValueError(f"message of a GPUArray: dtype in the header is a pickle of {dtype!r:.80}")
    return dtype


def _from_header(header: _Header, flat: _core.GPUArray) -> _core.GPUArray:
    """Return a view of received bytes as the array that the header describes.

    Raises
    ------
    ValueError
        If the header has wrong fields, or describes more or fewer bytes than were received.
    """
    shape, sent_shape, dtype = _lengths(header, "shape"), _lengths(header, "sent"), _dtype(header)
    order = _field(header, "order", str)
    nbytes = math.prod(sent_shape) * dtype.itemsize
    if nbytes != flat.nbytes:
        raise ValueError(
            f"message of a GPUArray: the header describes {nbytes} bytes ({dtype}, {sent_shape}), and the frame has "
            f"{flat.nbytes}"
        )
    sent = flat.view(dtype).reshape(sent_shape, order=order)
    return sent if sent.shape == shape else _core.broadcast_to(sent, shape)


def _device(header: _Header) -> int | None:
    """Return the device of the serialized array, or None (the current device) if another process serialized the array.

    An array that a worker spilled returns to its original device. An array from another worker goes to the current
    device of this worker, regardless of the sender's device number.
    """
    device = _field(header, "device", list, tuple)
    if len(device) != 2 or type(device[1]) is not int:
        raise ValueError(f"message of a GPUArray: device in the header is a process and a number, not {device!r:.80}")
    process, index = device
    is_own = process == _PROCESS and 0 <= index < _core.device_count()
    return index if is_own else None


def _frame(frames: list[Any]) -> Any:
    """Return the frame of a message; raise an error if the message does not have exactly one frame."""
    if len(frames) != 1:
        raise ValueError(f"message of a GPUArray on a device: one frame is expected, not {len(frames)}")
    return frames[0]


def _bytes(dense: _core.GPUArray) -> _core.GPUArray:
    return dense.reshape(-1, order="A").view(np.uint8)


def to_frames(x: _core.GPUArray) -> tuple[_Header, list[Any]]:
    """Return an array's header, and its elements copied to host memory as one frame."""
    header, dense = _dense(x)
    return header, [_bytes(dense).get().data]


def from_frames(header: _Header, frames: list[Any]) -> _core.GPUArray:
    """Create the array from its header and from the frame in host memory."""
    (frame,) = frames if len(frames) == 1 else (b"".join(frames),)
    return _from_header(header, _core.to_gpu(np.frombuffer(frame, np.uint8), device=_device(header)))


def to_device_frames(x: _core.GPUArray) -> tuple[_Header, list[_core.GPUArray]]:
    """Return an array's header and one frame in device memory.

    UCX reads the frame on UCX's own stream, so the host first waits for all uses of the array.
    """
    header, dense = _dense(x)
    flat = _bytes(dense)
    flat.synchronize()
    return header, [flat]


def from_device_frames(header: _Header, frames: list[Any]) -> _core.GPUArray:
    """Create the array from its header; its memory is the frame that UCX received on the device."""
    return _from_header(header, _core.asarray(_frame(frames)).reshape(-1).view(np.uint8))


def register() -> None:
    """Register the functions of this module with `distributed`."""
    dask_serialize.register(_core.GPUArray, to_frames)
    dask_deserialize.register(_core.GPUArray, from_frames)
    cuda_serialize.register(_core.GPUArray, to_device_frames)
    cuda_deserialize.register(_core.GPUArray, from_device_frames)
