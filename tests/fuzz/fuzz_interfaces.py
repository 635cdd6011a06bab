"""Pass forged exports, unusual keys and unusual shapes to the extension, which may raise documented errors only.


    PYGPU_BACKEND=cpu python tests/fuzz/fuzz_interfaces.py tests/fuzz/corpus -max_total_time=60

The fuzzer atheris (from PyPI) stores inputs that reach new lines of these Python files. The extension itself is not
instrumented.
`tests/interop/test_fuzz_interfaces.py` runs the same function on the corpus and on random bytes, without atheris.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "helpers")]

from forged_objects import (  # noqa: E402
    HALF,
    Bytes,
    Claims,
    Described,
    Producer,
    cuda_interface,
    host_interface,
    key,
    plain,
    thing,
)

import PyGPU  # noqa: E402
from dlpack_forge import capsule_name  # noqa: E402

ALLOWED = (
    TypeError,
    ValueError,
    IndexError,
    BufferError,
    OverflowError,
    MemoryError,
    PyGPU.CudaError,
    PyGPU.NotSupportedError,
    PyGPU.BackendUnavailableError,
)
# The tests read the values of arrays with at most this number of elements.
READABLE = 1 << 12
REFUSED = object()


def attempt(call: Callable[[], Any], allowed: tuple[type[BaseException], ...] = ALLOWED) -> Any:
    """Return the result of a call of PyGPU, or `REFUSED` after a documented exception. Other exceptions propagate."""
    try:
        return call()
    except allowed as error:
        assert str(error) or isinstance(error, MemoryError), "an error without a text"  # noqa: PT017
        return REFUSED


def numpys(call: Callable[[], Any]) -> Any:
    """Return the result of a call of NumPy, or `REFUSED` after any exception."""
    try:
        return call()
    except Exception:
        return REFUSED


def assert_equal(got: PyGPU.GPUArray, expected: np.ndarray, what: object) -> None:
    assert got.shape == expected.shape, f"{what!r}: shape {got.shape}, and NumPy has {expected.shape}"
    assert got.get().tobytes() == expected.tobytes(), f"{what!r}: other values than NumPy's"


def cuda_arrays(source: Bytes) -> None:
    """Import an object with `__cuda_array_interface__`; without a GPU, PyGPU may accept only an empty array."""
    said = cuda_interface(source)
    made = attempt(lambda: PyGPU.asarray(Described("__cuda_array_interface__", said)))
    assert made is REFUSED or made.size == 0, f"{said} became an array"


def host_arrays(source: Bytes) -> None:
    memory = np.arange(2 * HALF, dtype=np.uint8)
    said = host_interface(source, memory)
    expected = numpys(lambda: np.asarray(Described("__array_interface__", said)))
    made = attempt(lambda: PyGPU.asarray(Described("__array_interface__", said), device="cpu"))
    assert expected is not REFUSED or made is REFUSED, f"NumPy refuses {said}"
    if made is not REFUSED:
        assert_equal(made, expected, said)


def tensors(source: Bytes) -> None:
    claims = Claims(source)
    producer = Producer(source, claims)
    capsule, deleted = producer.capsule, claims.forged.deleted
    call = source.choose(
        (
            lambda: PyGPU.from_dlpack(producer),
            lambda: PyGPU.from_dlpack(producer, copy=True),
            lambda: PyGPU.from_dlpack(producer, device="cpu", copy=False),
            lambda: PyGPU.asarray(producer),
            lambda: PyGPU.from_dlpack(capsule),
        )
    )
    # Like NumPy, PyGPU raises AttributeError for an object without the attributes of DLPack.
    made = attempt(call, (*ALLOWED, AttributeError))
    if made is not REFUSED:
        expected = claims.elements()
        if expected is not None and made.dtype.kind != "O" and producer.answer is capsule:
            assert made.shape == expected.shape
            assert made.get().tobytes() == expected.tobytes(), "other values than those in the memory"
    del made
    taken = capsule_name(capsule).startswith(b"used_") and producer.answer is not None
    has_deleter = bool(claims.forged.managed.deleter)
    assert len(deleted) <= int(has_deleter), "deleted more than once"
    if taken and has_deleter and not producer.was_named_used:
        assert len(deleted) == 1, "taken and not deleted"


def indices(source: Bytes) -> None:
    host = np.arange(2 * 3 * 4, dtype="int32").reshape(2, 3, 4)[:, :: source.choose((1, -1, 2))].copy()
    host = (host, host.T, host[0], host[0, 0], host[0, 0, :1].reshape(()))[source.below(5)]
    device = PyGPU.to_gpu(host)
    is_basic = source.chance(2)
    item = key(source) if is_basic else thing(source)
    expected, got = numpys(lambda: host[item]), attempt(lambda: device[item])
    if got is not REFUSED:
        assert expected is not REFUSED, f"NumPy refuses the key {item!r}"
        assert_equal(got, np.asarray(expected), item)
    assert not is_basic or expected is REFUSED or got is not REFUSED, f"NumPy takes the key {item!r}"
    value = source.small() if source.chance(2) else thing(source)
    before = device.get()
    changed = host.copy("K")
    taken = numpys(lambda: changed.__setitem__(item, value))
    if attempt(lambda: device.__setitem__(item, value)) is REFUSED:
        assert device.get().tobytes() == before.tobytes(), f"refused, and changed: [{item!r}] = {value!r}"
    elif taken is not REFUSED:
        assert_equal(device, changed, (item, value))


def near(argument: Any) -> Any:
    """Limit the 64-bit integers in an argument to -99 to 99, because NumPy truncates larger integers to 32 bits.

    Axes and offsets beyond these limits are out of range for all arrays of the test, so the result does not change.
    """
    if isinstance(argument, tuple):
        return tuple(map(near, argument))
    return max(-99, min(99, argument)) if type(argument) is int and -(2**63) <= argument < 2**63 else argument


VIEWS: tuple[tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]], ...] = (
    (lambda a, x: a.reshape(x), lambda a, x: a.reshape(x)),
    (lambda a, x: a.reshape(x, order="F"), lambda a, x: a.reshape(x, order="F")),
    (lambda a, x: a.transpose(x), lambda a, x: a.transpose(near(x))),
    # NumPy accepts axis 0 or -1 for a 0-d array, but not the tuples (0,) and (-1,); PyGPU accepts both.
    (lambda a, x: a.squeeze(x), lambda a, x: a.squeeze(x) if a.ndim else a.squeeze(x[0] if x in ((0,), (-1,)) else x)),
    (PyGPU.broadcast_to, np.broadcast_to),
    (PyGPU.expand_dims, np.expand_dims),
    (PyGPU.flip, np.flip),
    (lambda a, x: PyGPU.moveaxis(a, x, 0), lambda a, x: np.moveaxis(a, x, 0)),
    (lambda a, x: a.diagonal(x), lambda a, x: a.diagonal(near(x))),
    (lambda a, x: a.swapaxes(x, 0), lambda a, x: a.swapaxes(x, 0)),
)


def views(source: Bytes) -> None:
    shape = tuple(source.below(4) for _ in range(source.below(4)))
    host = np.arange(int(np.prod(shape)), dtype="int16").reshape(shape)
    device = PyGPU.to_gpu(host)
    ours, theirs = source.choose(VIEWS)
    is_plain = source.chance(2)
    argument = plain(source) if is_plain else thing(source)
    expected, got = numpys(lambda: theirs(host, argument)), attempt(lambda: ours(device, argument))
    if got is not REFUSED and expected is not REFUSED and expected.size <= READABLE:
        assert_equal(got, expected, argument)
    # NumPy accepts a broadcast whose size in bytes exceeds 64 bits; PyGPU does not.
    if is_plain and (expected is REFUSED or expected.size * expected.itemsize < 2**63):
        is_refused = expected is REFUSED
        assert (got is REFUSED) == is_refused, (
            f"{argument!r} on shape {shape}: {'only PyGPU' if is_refused else 'only NumPy'} takes it"
        )


def new_arrays(source: Bytes) -> None:
    shape = plain(source) if source.chance(2) else thing(source)
    dtype = source.choose(("int8", "float64", "V3", None)) if source.chance(2) else thing(source)
    order = source.choose((None, "C", "F")) if source.chance(2) else thing(source)
    allocator = {"allocator": thing(source)} if source.chance(8) else {}
    made = attempt(lambda: PyGPU.empty(shape, dtype, order, **allocator))
    if made is not REFUSED and made.size <= READABLE:
        made.get()
        expected = numpys(lambda: np.empty(shape, np.float64 if dtype is None else dtype, order or "C"))
        assert expected is REFUSED or made.shape == expected.shape, f"{shape!r} became {made.shape}"
    attempt(lambda: PyGPU.GPUArray(shape, dtype, gpudata=thing(source), strides=thing(source)))


TARGETS = (cuda_arrays, host_arrays, tensors, indices, views, new_arrays)


def run(data: bytes) -> None:
    """Test one input of the fuzzer. Panics and undocumented errors propagate."""
    source = Bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source.choose(TARGETS)(source)


def main() -> None:
    import atheris

    # Import the tested Python modules again, because atheris's line counters were not yet installed at their first
    # import.
    for name in ("dlpack_forge", "forged_objects"):
        del sys.modules[name]
    with atheris.instrument_imports(
        include=["dlpack_forge", "forged_objects", "fuzz_interfaces"], enable_loader_override=False
    ):
        import fuzz_interfaces
    atheris.Setup(sys.argv, fuzz_interfaces.run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
