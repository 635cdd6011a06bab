"""Parse the declared parameters of elementwise and reduction kernels, and determine their dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from PyGPU._arguments.c_types import dtype_to_ctype, name_of as registered_name, parse_type
from PyGPU._cupy.kernels.struct_source import record_definition, record_name

__all__ = ["TEXTURE", "Parameter", "TypeMap", "c_name", "check_kernel_name", "parse_parameters", "resolve"]

DType = np.dtype[Any]

TEXTURE = np.dtype([("cudaTextureObject_t", np.uint64)])
"""Type of a parameter for a texture."""

_C_NAMES = {
    "b1": "bool",
    "i1": "signed char",
    "i2": "short",
    "i4": "int",
    "i8": "long long",
    "u1": "unsigned char",
    "u2": "unsigned short",
    "u4": "unsigned int",
    "u8": "unsigned long long",
    "f2": "float16",
    "f4": "float",
    "f8": "double",
    "c8": "complex<float>",
    "c16": "complex<double>",
}


def c_name(dtype: DType) -> str:
    """Return the C++ name of a dtype in CuPy's kernels.

    Parameters
    ----------
    dtype : numpy.dtype
        A dtype of NumPy, bfloat16, or a dtype registered with `PyGPU.tools.get_or_register_dtype`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the dtype has no C name.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.parameters import c_name
    >>> c_name(np.dtype('int64')), c_name(np.dtype('complex64'))
    ('long long', 'complex<float>')
    """
    name = _C_NAMES.get(f"{dtype.kind}{dtype.itemsize}")
    if name is not None:
        return name
    if dtype == TEXTURE:
        return "cudaTextureObject_t"
    if dtype.name == "bfloat16":
        return "bfloat16"
    return record_name(dtype) if _is_record(dtype) else dtype_to_ctype(dtype)


def _is_record(dtype: DType) -> bool:
    """Return whether a dtype is structured and has no registered C name."""
    return dtype.names is not None and registered_name(dtype) is None


def check_kernel_name(name: str) -> None:
    """Raise a ValueError unless `name` is a valid identifier in C."""
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f'Invalid kernel name: "{name}". A name has letters, digits and _, and begins with no digit')


@dataclass(frozen=True)
class Parameter:
    """Declared parameter of a kernel: its name, and either a dtype or a placeholder such as ``T``."""

    name: str
    dtype: DType | None
    placeholder: str
    raw: bool
    is_const: bool

    @property
    def ctype(self) -> str:
        """The placeholder, or the C++ name of the dtype."""
        return c_name(self.dtype) if self.dtype is not None else self.placeholder

    def declaration(self) -> str:
        """Return the declaration of the parameter, such as ``'raw float32 y'``."""
        return f"{'raw ' if self.raw else ''}{self.placeholder or self.dtype} {self.name}"


def parse_parameters(text: str, is_const: bool) -> tuple[Parameter, ...]:
    """Parse a list of declarations such as ``'T x, raw float32 y'``.

    Parameters
    ----------
    text : str
        Declarations, separated by commas. Each consists of an optional ``raw`` (the operation indexes the array), a
        dtype or a letter as a placeholder, and a name.
    is_const : bool
        Whether the parameters are inputs.

    Returns
    -------
    tuple of Parameter

    Raises
    ------
    ValueError
        If a declaration is invalid.
    TypeError
        If a dtype is unknown.

    Examples
    --------
    >>> from PyGPU._cupy.kernels.parameters import parse_parameters
    >>> [parameter.name for parameter in parse_parameters('T x, raw float32 y', True)]
    ['x', 'y']
    """
    if not text.strip():
        return ()
    parameters = tuple(_parse(declaration, is_const) for declaration in text.split(","))
    return parameters


def _parse(declaration: str, is_const: bool) -> Parameter:
    words = declaration.split()
    if len(words) < 2 or not words[-1].isidentifier():
        raise ValueError(f"Syntax error: {declaration!r} is no parameter such as 'T x', 'float32 x' or 'raw T x'")
    *modifiers, type_name, name = words
    unknown = [word for word in modifiers if word not in ("raw", "_non_const")]
    if unknown:
        raise ValueError(f'Unknown keyword "{unknown[0]}" in {declaration!r}: write raw, or nothing, before the type')
    is_placeholder = len(type_name) == 1
    dtype = None if is_placeholder else _dtype_of_name(type_name)
    is_const = is_const and "_non_const" not in modifiers
    return Parameter(name, dtype, type_name if is_placeholder else "", "raw" in modifiers, is_const)


def _dtype_of_name(name: str) -> DType:
    if name == "cudaTextureObject_t":
        return TEXTURE
    if name == "bfloat16":
        import ml_dtypes

        brain: DType = np.dtype(ml_dtypes.bfloat16)
        return brain
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        return parse_type(name)
    except ValueError:
        raise TypeError(
            f"{name!r} is no dtype of NumPy, such as float32, no registered type, and no letter for a placeholder"
        ) from None


@dataclass(frozen=True)
class TypeMap:
    """Dtypes of the parameters and of the placeholders in one call of a kernel."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    placeholders: tuple[tuple[str, DType], ...]

    def typedefs(self) -> str:
        """Return C++ text that defines a structure for each structured dtype, and a typedef for each placeholder."""
        dtypes = dict.fromkeys((*self.inputs, *self.outputs))
        records = [record_definition(one, c_name) for one in dtypes if one != TEXTURE and _is_record(one)]
        return "".join(records) + "".join(f"typedef {c_name(dtype)} {name};\n" for name, dtype in self.placeholders)


def resolve(
    inputs: Sequence[Parameter],
    outputs: Sequence[Parameter],
    input_dtypes: Sequence[DType | None],
    output_dtypes: Sequence[DType],
) -> TypeMap:
    """Determine the dtypes of all parameters of a call from the dtypes of its arrays.

    Parameters
    ----------
    inputs, outputs : sequence of Parameter
        Declared parameters.
    input_dtypes : sequence of numpy.dtype or None
        Dtypes of the inputs; None for a scalar, which is converted to the type of its parameter.
    output_dtypes : sequence of numpy.dtype
        Dtypes of the outputs that the call passes; empty if the kernel allocates the outputs.

    Returns
    -------
    TypeMap

    Raises
    ------
    TypeError
        If a dtype differs from the declared type, or if no array has the type of a placeholder.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.parameters import parse_parameters, resolve
    >>> types = resolve(parse_parameters('T x, T y', True), parse_parameters('T z', False), (np.dtype('f4'), None), ())
    >>> types.outputs
    (dtype('float32'),)
    """
    known: dict[str, DType] = {}
    pairs = [*zip(outputs, output_dtypes, strict=False), *zip(inputs, input_dtypes, strict=True)]
    for parameter, dtype in pairs:
        if dtype is None:
            continue
        declared = known.setdefault(parameter.placeholder, dtype) if parameter.placeholder else parameter.dtype
        if declared != dtype:
            raise TypeError(
                f"Type is mismatched. {parameter.name} {dtype} {declared}: the array {parameter.name} is {dtype}, and "
                f"{parameter.ctype} is {declared}; give an array of that type, or convert this one with astype()"
            )

    def decided(parameter: Parameter) -> DType:
        dtype = parameter.dtype if parameter.dtype is not None else known.get(parameter.placeholder)
        if dtype is None:
            raise TypeError(
                f"the type {parameter.placeholder} of {parameter.name} is undecided: no array has it, and a scalar "
                f"does not decide it; declare a dtype instead, such as 'float32 {parameter.name}'"
            )
        return dtype

    return TypeMap(
        tuple(decided(one) for one in inputs), tuple(decided(one) for one in outputs), tuple(sorted(known.items()))
    )
