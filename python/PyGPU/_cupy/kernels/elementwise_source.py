"""Translate the C++ texts of CuPy's elementwise kernels to sources of PyGPU's kernels.

A kernel has one of two forms. `loop_kernel` returns an `ElementwiseKernel` of PyGPU, whose generated loop traverses
arrays of any layout in packs. `plain_source` returns the source of a kernel that contains its own loop. The second form
is used if all arrays are raw, or if the texts depend on the number of threads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.kernels.arguments import ArrayForm, extent_dtype
from PyGPU._cupy.kernels.c_text import (
    has_word,
    headers_for,
    is_array_index,
    is_local_output,
    own_integers,
    renamed,
)
from PyGPU._cupy.kernels.parameters import Parameter, TypeMap, c_name
from PyGPU._paths.library_files import HEADERS

__all__ = [
    "TAKEN",
    "Declared",
    "KernelText",
    "compile_plain",
    "indexer",
    "is_shaped",
    "loop_kernel",
    "plain_source",
    "symbol_of",
]

# Names that PyGPU's generated kernels use; variables with these names in the user's text are renamed.
TAKEN = {name: f"user_{name}" for name in ("n", "tid", "total_threads", "cta_start")}


# C++ type of CuPy's variable `_ind` in a kernel that uses only its method `size`.
_INDEX_COUNT = "struct { ptrdiff_t count; __device__ ptrdiff_t size() const { return count; } }"


def symbol_of(name: str) -> str:
    """Return a name for a kernel that differs from the names of functions in device code, such as ``norm``."""
    return name if name.endswith("kernel") else f"{name}_kernel"


@dataclass(frozen=True)
class KernelText:
    """C++ texts of an elementwise kernel, as the user passed them."""

    name: str
    operation: str
    preamble: str
    loop_prep: str
    after_loop: str
    options: tuple[str, ...]

    @property
    def symbol(self) -> str:
        """The kernel's name in the source."""
        return symbol_of(self.name)

    @property
    def body(self) -> tuple[str, str, str]:
        """The C++ texts that become part of the kernel's function."""
        return self.operation, self.loop_prep, self.after_loop


@dataclass(frozen=True)
class Declared:
    """Declaration of an argument of PyGPU's `ElementwiseKernel` or `ReductionKernel`."""

    dtype: np.dtype[Any]
    name: str
    c_type: str
    is_vector: bool
    constant: bool


def is_shaped(parameter: Parameter, form: ArrayForm, text: KernelText, parameters: Sequence[Parameter]) -> bool:
    """Return whether a kernel needs the shape of a raw array; a launch then passes the shape with the array."""
    if not form.is_contiguous:
        return True
    numbers = frozenset({"i", *(one.name for one in parameters if not one.raw)})
    return is_array_index(parameter.name, text.body, numbers)


def indexer(text: KernelText, ndim: int) -> str | None:
    """Return how a kernel uses CuPy's variable `_ind`: ``'index'``, ``'size'`` for its method `size` only, or None."""
    if not has_word("_ind", *text.body):
        return None
    return "index" if any(f"_ind.{name}" in body for body in text.body for name in ("get", "set", "shape")) else "size"


def head(text: KernelText, types: TypeMap) -> str:
    """Return the beginning of a kernel's source: headers, types of placeholders and the user's preamble."""
    names = [c_name(dtype) for dtype in (*types.inputs, *types.outputs)]
    headers = headers_for("pygpu_cupy", *names, *text.body, text.preamble)
    return f"{headers}{types.typedefs()}{user_preamble(text.preamble)}"


def user_preamble(preamble: str) -> str:
    """Return the user's preamble with a `#line` directive and with renamed types of <stdint.h>."""
    names = "".join(f"#define {name} {other}\n" for name, other in own_integers(preamble).items())
    return f'{names}#line 1 "preamble"\n{preamble}\n'


def _type_of(parameter: Parameter, dtype: np.dtype[Any]) -> str:
    return parameter.placeholder or c_name(dtype)


def _raw_names(
    pairs: Sequence[tuple[Parameter, np.dtype[Any]]], forms: Sequence[ArrayForm | None], shaped: Sequence[bool]
) -> str:
    """Return C++ definitions of the variables by which the user's text accesses raw arrays."""
    lines = []
    for (parameter, dtype), form, is_shaped in zip(pairs, forms, shaped, strict=True):
        if not parameter.raw or form is None:
            continue
        name, element = parameter.name, _type_of(parameter, dtype)
        const = "const " if parameter.is_const else ""
        if is_shaped:
            lines.append(f"{const}{form.type_of(element)} {name}(_raw_{name}, _extent_{name});")
        else:
            lines.append(f"{const}{element} *const {name} = _raw_{name};")
    return "\n".join(lines)


def _operation(text: KernelText, before: str, after: str) -> str:
    """Return the user's operation between the texts `before` and `after`; its index ``i`` is signed, as in CuPy."""
    operation = f'#line 1 "operation"\n{text.operation}\n;'
    if has_word("i", text.operation):
        if "define" in text.preamble or "#" in text.operation:
            # A macro may contain the name `i`, so `i` is not renamed. PyGPU then processes elements one by one.
            operation = f"const ptrdiff_t pygpu_i = i;\n{{ const ptrdiff_t i = pygpu_i;\n{operation} }}"
        else:
            operation = f"const ptrdiff_t pygpu_i = i;\n{renamed(operation, {'i': 'pygpu_i'})}"
    return f"{before}\n{{\n{operation}\n}}\n{after}"


def loop_kernel(
    text: KernelText,
    parameters: Sequence[Parameter],
    nin: int,
    types: TypeMap,
    forms: Sequence[ArrayForm | None],
    shaped: Sequence[bool],
    ndim: int,
    is_fresh: bool,
) -> tuple[Any, str]:
    """Create PyGPU's `ElementwiseKernel` for a call, and return the kernel and its source text without the loop.

    Parameters
    ----------
    text : KernelText
        The C++ texts that the user passed.
    parameters : sequence of Parameter
        All parameters; the first `nin` are inputs.
    nin : int
        Number of inputs.
    types : TypeMap
        Dtypes of the parameters.
    forms : sequence of ArrayForm or None
        Forms of the arguments; None for scalars.
    shaped : sequence of bool
        For each argument, whether it is a raw array that is passed with its shape.
    ndim : int
        Number of axes of the loop.
    is_fresh : bool
        Whether the outputs are newly allocated.

    Returns
    -------
    kernel : ElementwiseKernel
        Kernel whose arguments are the arrays and scalars, then the extents of shaped arrays and of `_ind`.
    source : str
        Source text of the operation, for `cached_code`.
    """
    pairs = list(zip(parameters, (*types.inputs, *types.outputs), strict=True))
    loop_names = {**TAKEN, "i": "user_i"}
    text = KernelText(
        text.name,
        renamed(text.operation, TAKEN),
        text.preamble,
        renamed(text.loop_prep, loop_names),
        renamed(text.after_loop, loop_names),
        text.options,
    )
    pairs = [(_renamed(parameter), dtype) for parameter, dtype in pairs]
    declared, extents, before, after = [], [], [], []
    for position, ((parameter, dtype), form) in enumerate(zip(pairs, forms, strict=True)):
        name, element = parameter.name, _type_of(parameter, dtype)
        if form is None:
            declared.append(Declared(dtype, name, c_name(dtype), False, True))
            continue
        declared.append(Declared(dtype, f"_raw_{name}", c_name(dtype), True, parameter.is_const))
        if shaped[position]:
            c_type = f"pygpu_cupy::extent<{form.ndim}>"
            extents.append(Declared(extent_dtype(form.ndim), f"_extent_{name}", c_type, False, True))
        if parameter.raw:
            continue
        if parameter.is_const:
            before.append(f"const {element} &{name} = _raw_{name}[i];")
        elif is_local_output(name, text.operation, text.preamble, is_fresh and position >= nin):
            before.append(f"{element} {name};")
            after.append(f"_raw_{name}[i] = {name};")
        else:
            before.append(f"{element} &{name} = _raw_{name}[i];")
    compact = re.sub(r"[\s(]", "", text.operation)
    if any(f"&{name}" in compact for name in _references(before)):
        # The user's operation takes the address of an array element, which has no address if elements are loaded in
        # packs. A text that contains `tid` makes PyGPU generate a kernel without packs.
        before.append("(void)tid;")
    loop_prep = text.loop_prep
    kind = indexer(text, ndim)
    if kind == "index":
        extents.append(Declared(extent_dtype(ndim), "_extent_ind", f"pygpu_cupy::extent<{ndim}>", False, True))
        loop_prep = f"CIndexer<{ndim}> _ind(_extent_ind);\n{loop_prep}"
        before.insert(0, "_ind.set(i);")
    elif kind == "size":
        loop_prep = f"{_INDEX_COUNT} _ind = {{(ptrdiff_t)n}};\n{loop_prep}"
    raw_names = _raw_names(pairs, forms, shaped)
    if text.loop_prep.strip() or text.after_loop.strip():
        loop_prep = f"{raw_names}\n{loop_prep}"
    else:
        before.insert(0, raw_names)
    operation = _operation(text, "\n".join(before), "\n".join(after))
    preamble = head(text, types)
    if "float16" in preamble:
        preamble = f"// has pygpu::float16\n{preamble}"
    options = [*text.options, f"-I{HEADERS}"]
    kernel = _core.ElementwiseKernel(
        [*declared, *extents],
        operation,
        text.symbol,
        options=options,
        preamble=preamble,
        loop_prep=loop_prep,
        after_loop=text.after_loop,
    )
    return kernel, f"{preamble}\n{loop_prep}\n{operation}\n{text.after_loop}"


def _renamed(parameter: Parameter) -> Parameter:
    name = TAKEN.get(parameter.name)
    if name is None:
        return parameter
    return Parameter(name, parameter.dtype, parameter.placeholder, parameter.raw, parameter.is_const)


def _references(definitions: Sequence[str]) -> list[str]:
    """Return the names of the outputs that the definitions declare as references to array elements."""
    return [line.split("&", 1)[1].split(" ", 1)[0] for line in definitions if "&" in line and "const " not in line]


def plain_source(
    text: KernelText,
    parameters: Sequence[Parameter],
    types: TypeMap,
    forms: Sequence[ArrayForm | None],
    shaped: Sequence[bool],
    ndim: int,
) -> str:
    """Return the source of a kernel with its own loop.

    The kernel's arguments are the arrays and scalars, the extents of shaped arrays and of `_ind`, and the number of
    elements.

    Parameters
    ----------
    text, parameters, types, forms, shaped, ndim
        As for `loop_kernel`; an array that is not raw has the shape of the loop.

    Returns
    -------
    str
    """
    pairs = list(zip(parameters, (*types.inputs, *types.outputs), strict=True))
    declared, extents, names = [], [], []
    for (parameter, dtype), form, is_shaped in zip(pairs, forms, shaped, strict=True):
        name, element = parameter.name, _type_of(parameter, dtype)
        const = "const " if parameter.is_const else ""
        if form is None:
            declared.append(f"{const}{element} {name}")
            continue
        declared.append(f"{const}{element} *_raw_{name}")
        if is_shaped:
            extents.append(f"const pygpu_cupy::extent<{form.ndim}> _extent_{name}")
        if parameter.raw:
            continue
        array = f"_raw_{name}[i]"
        if is_shaped:
            array = f"{form.type_of(element)}(_raw_{name}, _extent_{name})[i]"
        names.append(f"{const}{element} &{name} = {array};")
    kind = indexer(text, ndim)
    loop_prep = _raw_names(pairs, forms, shaped)
    if kind == "size":
        loop_prep = f"const {_INDEX_COUNT} _ind = {{pygpu_size}};\n{loop_prep}"
    elif kind == "index":
        extents.append(f"const pygpu_cupy::extent<{ndim}> _extent_ind")
        loop_prep = f"CIndexer<{ndim}> _ind(_extent_ind);\n{loop_prep}"
        names.insert(0, "_ind.set(i);")
    listed = ", ".join([*declared, *extents, "const ptrdiff_t pygpu_size"])
    newline = "\n"
    return (
        f'{head(text, types)}\n#line 1 "kernel"\nextern "C" __global__ void {text.symbol}({listed}) {{\n{loop_prep}\n'
        f"{text.loop_prep}\n;\nCUPY_FOR(i, pygpu_size) {{\n{newline.join(names)}\n"
        f'#line 1 "operation"\n{text.operation}\n;\n}}\n{text.after_loop}\n;\n}}\n'
    )


def compile_plain(source: str, text: KernelText, device: int) -> _core.Kernel:
    """Compile the source that `plain_source` returns."""
    return _core.Kernel(source, text.symbol, [*text.options, f"-I{HEADERS}"], device=device)
