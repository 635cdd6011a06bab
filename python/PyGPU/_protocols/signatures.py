"""Signatures of the native module's reductions, for `inspect.signature`."""

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
