"""Serialization of device arrays for messages between workers of `distributed` and for files that workers write."""

from __future__ import annotations

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
    """Return a message's header, which describes an array, and the array's elements as a contiguous array."""
    # An axis with stride 0 repeats one element, which is sent once.
    once = x[tuple(slice(None) if stride else slice(0, 1) for stride in x.strides)] if x.size and x.ndim else x
    order = "F" if once.flags.f_contiguous and not once.flags.c_contiguous else "C"
    dense = once if once.flags.c_contiguous or once.flags.f_contiguous else once.copy("C")
    header = {
        "shape": list(x.shape),
        "sent": list(once.shape),
        "dtype": pickle.dumps(x.dtype),  # names do not identify structured dtypes and types of ml_dtypes
        "order": order,
        "device": [_PROCESS, x.device.index],
    }
    return header, dense


def _from_header(header: _Header, flat: _core.GPUArray) -> _core.GPUArray:
    """Return a view of received bytes as the array that the header describes."""
    sent = flat.view(pickle.loads(header["dtype"])).reshape(header["sent"], order=header["order"])
    shape = tuple(header["shape"])
    return sent if sent.shape == shape else _core.broadcast_to(sent, shape)


def _device(header: _Header) -> int | None:
    """Return the original device of the array, or None (the current device) if another process deserializes it.

    An array that a worker spilled returns to its original device. An array from another worker goes to the current
    device of this worker, regardless of the sender's device number.
    """
    process, index = header["device"]
    is_own = process == _PROCESS and index < _core.device_count()
    return index if is_own else None


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

    UCX reads the frame on another stream, so the host first waits for the array's uses.
    """
    header, dense = _dense(x)
    flat = _bytes(dense)
    flat.synchronize()
    return header, [flat]


def from_device_frames(header: _Header, frames: list[Any]) -> _core.GPUArray:
    """Return the array from its header and from the frame that UCX received in device memory."""
    return _from_header(header, _core.asarray(frames[0]))


def register() -> None:
    """Register the functions of this module with `distributed`."""
    dask_serialize.register(_core.GPUArray, to_frames)
    dask_deserialize.register(_core.GPUArray, from_frames)
    cuda_serialize.register(_core.GPUArray, to_device_frames)
    cuda_deserialize.register(_core.GPUArray, from_device_frames)
