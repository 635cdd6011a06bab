"""Define how each library runs an expression: as separate operations, or compiled by the library."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from expressions import Names
from timing import Library

Function = Callable[..., Any]


class ExpressionRunner:
    """Evaluate expressions with one library; fusion.py prints a column for each subclass."""

    name = ""

    def __init__(self, library: str, erf: Callable[[Any], Any] | None = None) -> None:
        self.library = Library(library)
        self.names = Names(self.library.module, erf or self.library.module.erf)

    def array(self, host: Any) -> Any:
        """Return a device array with the values of an ndarray."""
        return self.library.array(host)

    def wait(self) -> None:
        """Wait for the device."""
        self.library.synchronize()

    def compiled(self, function: Function) -> Function:
        """Return the function to time. It evaluates an expression, and starts the computation before it returns."""
        return function

    def fetch(self, array: Any) -> Any:
        """Copy a device array to the host, and return the copy as an ndarray."""
        return array.get()

    def flush(self) -> None:
        """Launch pending operations, if the library defers them."""


class OfPyGPU(ExpressionRunner):
    """Evaluate expressions with PyGPU, which defers and fuses their operations."""

    def __init__(self) -> None:
        super().__init__("PyGPU")
        self.flush = self.library.module.flush

    def compiled(self, function: Function) -> Function:
        """Return a function that evaluates the expression and flushes, so that PyGPU never fuses two calls."""
        flush = self.flush

        def call(*arrays: Any) -> Any:
            results = function(*arrays)
            flush()
            return results

        return call


class Torch(ExpressionRunner):
    """Evaluate expressions with PyTorch, which launches each operation separately."""

    def __init__(self) -> None:
        super().__init__("torch")
        if not self.library.module.cuda.is_available():
            raise ImportError("torch finds no GPU")

    def fetch(self, array: Any) -> Any:
        """Copy a tensor to the host, and return the copy as an ndarray."""
        return array.cpu().numpy()


class TorchCompile(Torch):
    """Evaluate expressions with PyTorch by functions that `torch.compile` compiles."""

    def compiled(self, function: Function) -> Function:
        """Return the function, which Inductor compiles anew for each shape.

        By default, calls with other shapes would make Inductor compile a more general and slower function.
        """
        self.library.module._dynamo.reset()
        return self.library.module.compile(function, dynamic=False)


class Cupy(ExpressionRunner):
    """Evaluate expressions with CuPy, which launches each operation separately."""

    def __init__(self) -> None:
        from cupyx.scipy.special import erf

        super().__init__("cupy", erf)


class CupyFuse(Cupy):
    """Evaluate expressions with CuPy by functions that `cupy.fuse` compiles."""

    def compiled(self, function: Function) -> Function:
        """Return the function decorated by `cupy.fuse`."""
        return self.library.module.fuse()(function)


class Jax(ExpressionRunner):
    """Evaluate expressions with JAX, which launches each operation separately."""

    def __init__(self) -> None:
        import jax
        from jax.scipy.special import erf

        if jax.default_backend() != "gpu":
            raise ImportError(f"this JAX has no GPU, only {jax.default_backend()!r}")
        super().__init__("jax.numpy", erf)
        self.jit = jax.jit

    def wait(self) -> None:
        """Wait for the device by waiting for the last result that this runner computed."""
        (self.library.module.zeros(()) + 1).block_until_ready()

    def fetch(self, array: Any) -> Any:
        """Copy an array of JAX to the host, and return the copy as an ndarray."""
        import numpy

        return numpy.asarray(array)


class JaxJit(Jax):
    """Evaluate expressions with JAX by functions that `jax.jit` compiles."""

    def compiled(self, function: Function) -> Function:
        """Return the function compiled by XLA."""
        return self.jit(function)


WAYS: dict[str, Callable[[], ExpressionRunner]] = {
    "PyGPU": OfPyGPU,
    "torch": Torch,
    "torch.compile": TorchCompile,
    "CuPy": Cupy,
    "cupy.fuse": CupyFuse,
    "JAX": Jax,
    "JAX jit": JaxJit,
}


def found(name: str) -> ExpressionRunner | None:
    """Return the runner with the given name, or None if its library is not installed."""
    with contextlib.suppress(ImportError):
        return WAYS[name]()
    return None
