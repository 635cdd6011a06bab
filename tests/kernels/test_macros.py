"""Test macros that a user defines by compiler options, under any name: they apply to the user's source only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU._arguments import c_arguments
from PyGPU.elementwise import ElementwiseKernel, VectorArg
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel
from support_kernels import needs_kernels

# Names of macros that a user's program may define. The names `i`, `n`, `tid`, `a` and `b` are not listed,
# because they have a meaning in the user's expressions.
NAMES = ["N", "T", "E", "S", "size", "count", "first", "part", "k", "tile"]

pytestmark = needs_kernels


def values() -> Any:
    return PyGPU.to_gpu(np.arange(6, dtype=np.float32))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("name", NAMES)
def test_user_macro_of_any_name_does_not_break_kernel(name: str) -> None:
    options = [f"-D{name}=3"]
    x, y = values(), PyGPU.zeros(6, np.float32)
    ElementwiseKernel("float *x, float *y", f"y[i] = x[i] * {name}", "times", options=options)(x, y)
    assert y.tolist() == [0, 3, 6, 9, 12, 15]
    halves = PyGPU.to_gpu(np.arange(6, dtype=np.float16))
    ElementwiseKernel([VectorArg(np.float16, "x")], f"x[i] = x[i] * {name}", "times_half", options=options)(halves)
    assert halves.tolist() == [0, 3, 6, 9, 12, 15]
    total = ReductionKernel(np.float32, "0", "a+b", f"x[i] * {name}", "float *x", "total", options=options)
    assert total(x).get() == 45
    assert total(values()[::2]).get() == 18
    inclusive = InclusiveScanKernel(np.float32, f"a + b * {name} / {name}", options=options)
    assert inclusive(values()).tolist() == [0, 1, 3, 6, 10, 15]
    exclusive = ExclusiveScanKernel(np.float32, f"a + b + {name} - {name}", f"{name} - {name}", options=options)
    assert exclusive(values()).tolist() == [0, 0, 1, 3, 6, 10]


def test_preamble_macro_of_any_name_does_not_break_kernel() -> None:
    scan = InclusiveScanKernel(np.float32, "a + b * tile", preamble="#define tile 1\n#define first 7")
    assert scan(values()).tolist() == [0, 1, 3, 6, 10, 15]


@pytest.mark.parametrize("options", [["-DT=int"], ["-D", "T=int"], ["--define-macro=T=int"]])
def test_kernel_source_may_use_macro_as_type(options: list[str]) -> None:
    x = values()
    ElementwiseKernel("float *x", "x[i] = (T)1.7f + T(1)", "typed", options=options)(x)
    assert x.tolist() == [2] * 6


def test_macro_of_kernel_option_may_write_array() -> None:
    x, y = values(), PyGPU.zeros(6, np.float32)
    ElementwiseKernel("float *x, float *y", "PUT(x[i])", "put", options=["-DPUT(v)=y[i] = v"])(x, y)
    assert y.tolist() == x.tolist()


def test_compile_error_has_line_number_within_preamble() -> None:
    text = "\n__device__ float wrong() { return no; }"
    kernel = ElementwiseKernel("float *x", "x[i] = wrong()", "k", options=["-DN=3"], preamble=text)
    with pytest.raises(PyGPU.CompileError, match=r"preamble[:(]2\b"):
        kernel(values())


def test_extract_macros_moves_define_options_to_preamble() -> None:
    all_options = ["-O3", "-DN=3", "-D", "T=float", "--define-macro=F(x)=x*x", "-DFLAG", "-DEMPTY=", "-UM"]
    options, preamble = c_arguments.extract_macros(all_options, "int n;")
    assert options == ["-O3", "-UM"]
    names = ("N 3", "T float", "F(x) x*x", "FLAG 1", "EMPTY ")
    assert preamble == "".join(f"#define {name}\n" for name in names) + '#line 1 "preamble"\nint n;'


def test_extract_macros_leaves_options_unchanged_if_header_is_included() -> None:
    options = ["-DN=3", "-include", "own.h"]
    assert c_arguments.extract_macros(options, "int n;") == (options, "int n;")
