"""Change the fields of messages from other processes, which PyGPU may accept or refuse with documented errors only.

    python tests/fuzz/fuzz_interprocess_messages.py SEED < handles

The program runs in a separate process, so that a crash is visible to the test that starts it. Its input is a pickle of
handles of arrays that the starting process shares. It changes each field of

- handles of shared arrays (`PyGPU.open_shared`),
- messages of Dask, if Dask is installed,
- pickles of arrays and kernels,
- handles of the driver for memory and events.

If PyGPU accepts a changed message, its array must be within the shared block, and other memory of the process must not
change.
"""

from __future__ import annotations

import dataclasses
import pickle
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "helpers")]

import PyGPU  # noqa: E402
import simulated_driver  # noqa: E402
from PyGPU._shared_arrays.handle import checked_bytes, driver_bytes  # noqa: E402
from PyGPU._shared_arrays.memory import holding  # noqa: E402

ALLOWED = (TypeError, ValueError, RuntimeError)
READABLE = 1 << 12
"""Largest number of elements that the test reads and writes in an accepted array."""
ALIENS: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 7, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 1.5, float("nan")),
    *("", "x", "../../1", "\0", b"", bytes(64), b"\xff" * 64, (), (1,), [2], {}, np.int64(3), np.float32(1), object),
)
DTYPES = ("O", "u1", "f8", "V0", "V5000", "S3", "U2", "M8[s]", ">f4", "i4,f8", "c16", [("a", "f4", (3,)), ("b", "O")])


def mutants(value: Any) -> Iterator[Any]:
    """Yield values with which the test replaces a field: values of other types, and similar values of its type."""
    yield from ALIENS
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 2 * value, -value, value ^ 1 << 40, value + 4096)
    elif isinstance(value, str):
        yield from (value + "x", value[:-1], value.swapcase(), f"{value}/../{value}", "cpu:0", "cpu:7", "cuda", "hip")
    elif isinstance(value, (bytes, bytearray)):
        for byte in range(0, len(value), 3):
            yield value[:byte] + bytes([value[byte] ^ 1 << byte % 8]) + value[byte + 1 :]
        yield from (value[:-1], value + b"\0", bytes(reversed(value)))
        if len(value) == len(checked_bytes(bytes(64))):
            yield from (checked_bytes(forged) for forged in driver_mutants(value[:64]) if isinstance(forged, bytes))
    elif isinstance(value, (tuple, list)):
        kind = type(value)
        for index, part in enumerate(value):
            for other in mutants(part):
                yield kind((*value[:index], other, *value[index + 1 :]))
        yield from (kind(value[:-1]), kind((*value, 1)), kind(reversed(value)), list(value), tuple(value))
        yield kind((1,) * 65)
    elif isinstance(value, np.dtype):
        yield from (np.dtype(name) for name in DTYPES)
        yield from DTYPES


def attempt(what: object, call: Callable[[], Any], allowed: tuple[type[Exception], ...] = ALLOWED) -> Any:
    """Return the result of a call, or None if it is refused by a documented error with a text."""
    try:
        return call()
    except allowed as error:
        assert str(error), f"{what}: an error without a text"  # noqa: PT017
        return None
    except BaseException:
        print("while", what, file=sys.stderr)
        raise


def record(template: Any, fields: dict[str, Any]) -> Any:
    """Create a record with the given fields without a call of `__init__`, as unpickling does."""
    made = object.__new__(type(template))
    made.__dict__.update(fields)
    return made


def changed(template: Any) -> Iterator[tuple[str, Any]]:
    """Yield copies of a record in each of which one field is absent or changed, with the name of that field."""
    fields = {field.name: getattr(template, field.name) for field in dataclasses.fields(template)}
    for name, value in fields.items():
        yield name, record(template, {key: kept for key, kept in fields.items() if key != name})
        for other in mutants(value):
            yield name, record(template, fields | {name: other})


def forged_handles(handle: Any, generator: random.Random) -> Iterator[tuple[str, Any]]:
    """Yield changed handles, each with the name of the changed field; then yield handles with several changed
    fields."""
    fields = dict(handle.__dict__)
    blocks = list(changed(handle.block))
    parts = list(changed(handle))
    yield from parts
    yield from ((f"block.{name}", record(handle, fields | {"block": block})) for name, block in blocks)
    for _ in range(300):
        mixed = dict(fields)
        for name in generator.sample(sorted(fields), 3):
            choices = [
                part.__dict__[name] for changed_name, part in parts if changed_name == name and name in part.__dict__
            ]
            mixed[name] = generator.choice(choices)
        yield "several", record(handle, mixed)


def byte_range(array: PyGPU.GPUArray) -> tuple[int, int]:
    """Return the addresses of an array's first byte and of the first byte after its end."""
    reaches = [(length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True)]
    low = array.ptr + sum(reach for reach in reaches if reach < 0)
    return low, array.ptr + sum(reach for reach in reaches if reach > 0) + array.itemsize


def use(array: PyGPU.GPUArray, what: object, nbytes: int) -> None:
    """Check that an array is within its block of `nbytes` bytes, and that its elements can be read and written."""
    assert isinstance(array, PyGPU.GPUArray)
    if not array.size:
        return
    block = holding(array)
    assert block is not None, f"{what}: the array is in no shared block"
    low, high = byte_range(array)
    assert block.address <= low, f"{what}: the array begins {block.address - low} bytes before the block"
    assert high <= block.address + nbytes, (
        f"{what}: the array ends {high - block.address - nbytes} bytes behind the block"
    )
    if array.size <= READABLE:
        host = array.get()
        if array.flags.writeable and array.flags.c_contiguous:
            array.set(host)


def open_handles(handles: list[Any], generator: random.Random) -> int:
    accepted = 0
    for is_open in (False, True):
        for handle in handles:
            opened = PyGPU.open_shared(handle) if is_open else None
            for name, forged in forged_handles(handle, generator):
                array = attempt((name, forged.__dict__), lambda forged=forged: PyGPU.open_shared(forged))
                if array is not None:
                    use(array, (name, forged.__dict__), handle.block.nbytes)
                    accepted += 1
                del array
            if opened is not None:
                assert opened.tobytes() == PyGPU.open_shared(handle).tobytes()
            assert PyGPU.open_shared(handle).size
    return accepted


def read_messages() -> int:
    try:
        import distributed.protocol  # noqa: F401

        from PyGPU._dask import serialization
    except ImportError:
        return 0
    accepted = 0
    x = PyGPU.broadcast_to(PyGPU.to_gpu(np.arange(6, dtype="f4").reshape(3, 2)).T[:, None], (2, 4, 3))
    for write, read in (
        (serialization.to_frames, serialization.from_frames),
        (serialization.to_device_frames, serialization.from_device_frames),
    ):
        header, (frame,) = write(x)
        assert (read(header, [frame]) == x).all()
        forged = [(name, {key: kept for key, kept in header.items() if key != name}, [frame]) for name in header]
        for name, value in header.items():
            others = map(pickle.dumps, mutants(x.dtype)) if name == "dtype" else mutants(value)
            forged += [(name, header | {name: other}, [frame]) for other in others]
        forged += [
            ("frames", header, frames) for frames in ([], [frame[:-1]], [frame[:0]], [frame, frame], [None], [7])
        ]
        forged += [("header", other, [frame]) for other in ALIENS]
        for name, head, frames in forged:
            array = attempt((name, head), lambda head=head, frames=frames, read=read: read(head, frames))
            if array is not None and array.size <= READABLE:
                array.get()
                accepted += 1
    return accepted


def restore_pickles() -> int:
    from PyGPU._cupy.kernels.raw_kernel import RawKernel
    from PyGPU.elementwise import ElementwiseKernel
    from PyGPU.reduction import ReductionKernel

    accepted = 0
    pickled: tuple[Any, ...] = (
        PyGPU.arange(6.0),
        PyGPU.random.default_rng(3),
        ElementwiseKernel("float *x, float a", "x[i] *= a", "scale"),
        ReductionKernel(np.float32, "0", "a + b", "x[i]", "const float *x"),
        RawKernel('extern "C" __global__ void nothing() {}', "nothing"),
    )
    for value in pickled:
        function, arguments, *rest = value.__reduce_ex__(4)
        if arguments and isinstance(arguments[0], bytes):  # The arguments create a kernel.
            base, parameters = pickle.loads(arguments[0])
            tries = [(pickle.dumps((base, other)),) for other in mutants(parameters)]
        else:
            tries = list(mutants(arguments))
        for forged in tries:
            restored = attempt(
                (type(value).__name__, forged), lambda forged=forged, function=function: function(*forged)
            )
            if isinstance(restored, PyGPU.GPUArray) and restored.size <= READABLE:
                restored.get()
            accepted += restored is not None
        for forged in mutants(rest[0]) if rest and rest[0] is not None else ():
            restored = function(*arguments)
            attempt((type(value).__name__, forged), lambda forged=forged, to=restored: to.__setstate__(forged))
    return accepted


def driver_mutants(genuine: bytes) -> Iterator[Any]:
    """Yield values with which the test replaces a driver's handle.

    A real driver crashes on some handles of the right length with changed bytes. For a real driver, yield only values
    that PyGPU rejects before the driver's call.
    """
    is_real = PyGPU.backend_name() != "cpu" and simulated_driver.driver() is None
    for forged in mutants(genuine):
        if not is_real or not isinstance(forged, bytes) or len(forged) != len(genuine):
            yield forged


def open_driver_handles(handles: list[Any]) -> int:
    from PyGPU.driver import IPCMemoryHandle

    accepted = 0
    memory = handles[0].block.memory
    genuine = driver_bytes(memory) if isinstance(memory, bytes) else bytes(64)
    refused = (*ALLOWED, PyGPU.NotSupportedError)
    for forged in driver_mutants(genuine):
        opened = attempt(("memory", forged), lambda forged=forged: IPCMemoryHandle(forged), refused)
        if opened is not None:
            accepted += 1
            opened.close()
        status = attempt(("memory", forged), lambda forged=forged: PyGPU.cudaIpcOpenMemHandle(forged), refused)
        if status is not None and not status[1]:
            assert not PyGPU.cudaIpcCloseMemHandle(status[0])
    event = driver_bytes(handles[0].event) if handles[0].event else bytes(64)
    for forged in driver_mutants(event):
        opened = attempt(("event", forged), lambda forged=forged: PyGPU.Event.from_ipc_handle(forged), refused)
        if opened is not None:
            accepted += 1
            opened.synchronize()
        attempt(("event", forged), lambda forged=forged: PyGPU.cudaIpcOpenEventHandle(forged), refused)
    return accepted


def main() -> None:

    generator = random.Random(int(sys.argv[1]))
    handles = pickle.load(sys.stdin.buffer)
    guards = [PyGPU.full(size, 0x33, "u1") for size in (64, 4096, 70_000)]
    accepted = {
        "handles": open_handles(handles, generator),
        "messages": read_messages(),
        "pickles": restore_pickles(),
        "driver": open_driver_handles(handles),
    }
    assert all((guard == 0x33).all() for guard in guards), "memory outside of the block was written"
    driver = simulated_driver.driver()
    assert driver is None or driver.reports() == [], driver.reports()
    print(accepted)


if __name__ == "__main__":
    main()
