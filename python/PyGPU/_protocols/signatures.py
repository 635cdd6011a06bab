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


def of_ufunc(operands: str, outputs: int) -> inspect.Signature:
    """Return the signature of a ufunc, with the defaults of its keywords.

    Parameters
    ----------
    operands : str
        Names of the operands, separated by commas.
    outputs : int
        Number of results.

    Returns
    -------
    inspect.Signature
    """
    positional = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in operands.split(", ")]
    out = inspect.Parameter(
        "out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None if outputs == 1 else (None,) * outputs
    )
    defaults = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value) for name, value in defaults.items()
    ]
    return inspect.Signature([*positional, out, *keywords])
