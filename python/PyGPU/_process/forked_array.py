"""Placeholder for a GPU array in a forked child process; any use of the placeholder raises an error.

A forked process cannot use the device. If unpickling an array raised an error in a forked worker of a process pool, the
worker would end without reporting the error. The pool would then wait for the worker's result indefinitely.
"""

from __future__ import annotations

from typing import Any, NoReturn

# Special methods that raise the error. Python looks them up on the class, without a call of `__getattribute__`.
_SPECIAL = (
    "abs", "add", "aenter", "aexit", "aiter", "and", "array", "array_function", "array_ufunc", "await", "bool",
    "bytes", "call", "ceil", "complex", "contains", "delitem", "divmod", "enter", "eq", "exit", "float", "floor",
    "floordiv", "format", "ge", "getitem", "gt", "hash", "iadd", "iand", "ifloordiv", "ilshift", "imatmul",
    "imod", "imul", "index", "int", "invert", "ior", "ipow", "irshift", "isub", "iter", "itruediv", "ixor", "le",
    "len", "lshift", "lt", "matmul", "mod", "mul", "ne", "neg", "next", "or", "pos", "pow", "radd", "rand",
    "rdivmod", "reversed", "rfloordiv", "rlshift", "rmatmul", "rmod", "rmul", "ror", "round", "rpow", "rrshift",
    "rshift", "rsub", "rtruediv", "rxor", "setitem", "sub", "truediv", "trunc", "xor",
)  # fmt: skip


class ForkedArray:
    """Placeholder of an unpickled array in a process that cannot use the device. It can be pickled again."""

    __slots__ = ("_error", "_of", "_state")

    def __init__(self, class_: type, values: Any, device: Any, error: Exception) -> None:
        object.__setattr__(self, "_of", (class_, values, device))
        object.__setattr__(self, "_error", str(error))
        object.__setattr__(self, "_state", None)

    def __getattribute__(self, name: str) -> Any:
        if name in {"__class__", "__reduce__", "__reduce_ex__", "__setstate__"}:
            return object.__getattribute__(self, name)
        _raise_fork_error(self)

    def __setattr__(self, name: str, value: Any) -> None:
        _raise_fork_error(self)

    def __delattr__(self, name: str) -> None:
        _raise_fork_error(self)

    def __setstate__(self, state: Any) -> None:
        object.__setattr__(self, "_state", state)

    def __reduce__(self) -> tuple[Any, ...]:
        from PyGPU import _core

        return _core._restore, object.__getattribute__(self, "_of"), object.__getattribute__(self, "_state")

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return ForkedArray.__reduce__(self)

    def __repr__(self) -> str:
        class_, values, _ = object.__getattribute__(self, "_of")
        description = f"shape {values.shape} and dtype {values.dtype}"
        return f"<{class_.__name__} of {description}, without a device in a forked process>"

    __str__ = __repr__


def _raise_fork_error(array: ForkedArray, *_: Any, **__: Any) -> NoReturn:
    from PyGPU import _core

    raise _core.ForkError(object.__getattribute__(array, "_error"))


for _name in _SPECIAL:
    setattr(ForkedArray, f"__{_name}__", _raise_fork_error)
