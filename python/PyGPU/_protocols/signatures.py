"""Signatures of the native module's reductions and ufuncs, for `inspect.signature`."""

from __future__ import annotations

import inspect

from PyGPU import _core

__all__: list[str] = []


def of_reduction(name: str) -> inspect.Signature:
    """Return the signature of a reduction: the array, and the parameters of the array's method of the same name."""
    method_signature = inspect.signature(getattr(_core.GPUArray, name))
    array = inspect.Parameter("a", inspect.Parameter.POSITIONAL_ONLY)
    other_parameters = [parameter for parameter in method_signature.parameters.values() if parameter.name != "self"]
    return inspect.Signature([array, *other_parameters])


def of_ufunc(inputs: int, outputs: int) -> inspect.Signature:
    """Return the signature of a ufunc with a number of operands and results, with the defaults of its keywords."""
    names = ["x"] if inputs == 1 else [f"x{index + 1}" for index in range(inputs)]
    operands = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    out = inspect.Parameter(
        "out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None if outputs == 1 else (None,) * outputs
    )
    defaults = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in defaults.items()
    ]
    return inspect.Signature([*operands, out, *keywords])
