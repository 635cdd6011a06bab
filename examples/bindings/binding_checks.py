"""Requirements of every binding of the library. ``python pybind11/use.py`` and the other bindings call this."""

from collections.abc import Callable
from typing import Any

import numpy as np

import PyGPU as gpuarray


def expect(refused: type[Exception] | tuple[type[Exception], ...], call: Callable[[], Any], *words: str) -> None:
    """Verify that a call is rejected, with these words in the message."""
    try:
        call()
    except refused as error:
        reason = str(error)
    else:
        raise AssertionError(f"not refused: {words}")
    missing = [word for word in words if word not in reason]
    assert not missing, f"{missing} not in: {reason}"


def one_step(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Compute with NumPy what heat_step computes."""
    y = x.copy()
    y[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return y


def check(heat: Any, tells_why: bool = True, refusals: tuple[type[Exception], ...] = (TypeError, ValueError)) -> None:
    """Compare a binding with NumPy.

    It has ``scale(x, factor)``, ``step(source, target)``, ``total(x)``, ``where(x)``, ``new(count)``.
    `tells_why` states whether its errors, of types `refusals`, have PyGPU's messages.
    """
    host = np.arange(30, dtype=np.float32).reshape(5, 6)
    a, b = gpuarray.to_gpu(host), gpuarray.zeros((5, 6), np.float32)

    # The memory itself, not a copy.
    assert heat.where(a) == a.ptr
    assert heat.where(a[1:, ::-2]) == a[1:, ::-2].ptr

    heat.step(a, b)
    np.testing.assert_allclose(b.get(), one_step(host))

    # Views with any strides, on both sides.
    view = a[::-1, ::2]
    assert heat.total(view) == host[::-1, ::2].sum()
    target = gpuarray.zeros((3, 5), np.float32).T
    heat.step(view, target)
    np.testing.assert_allclose(target.get(), one_step(host[::-1, ::2]))
    heat.scale(a[1:4:2, 3][::-1], 10.0)
    host[1:4:2, 3] *= 10.0
    np.testing.assert_array_equal(a.get(), host)

    # Inputs may be read-only, outputs may not.
    locked = gpuarray.from_pointer(a.ptr, a.shape, a.dtype, owner=a, readonly=True)
    assert heat.total(locked) == host.sum()
    why = lambda *words: words if tells_why else ()  # noqa: E731
    expect(refusals, lambda: heat.step(a, locked), *why("read-only"))
    expect(refusals, lambda: heat.total(gpuarray.zeros((2, 2))), *why("float32", "float64"))
    expect(refusals, lambda: heat.total(a[0]), *why("2 dimensions", "(6"))
    expect(refusals, lambda: heat.total(None), *why("NoneType"))
    expect(refusals, lambda: heat.scale(7, 1.0), *why("int"))
    np.testing.assert_array_equal(a.get(), host)

    # Memory of the library, which is returned to it.
    made = heat.new(4)
    assert type(made) is gpuarray.GPUArray
    heat.scale(made.fill(2.0)[::2], 3.0)
    assert made.tolist() == [6.0, 2.0, 6.0, 2.0]
    print("as it should be")
