"""Test the parser of C declarations of kernel arguments: dtypes, names, and kinds of arguments."""

from __future__ import annotations

import uuid

import numpy as np
import pytest

from PyGPU._arguments.c_arguments import parse_arguments
from PyGPU.tools import (
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)

pytestmark = pytest.mark.enough_on("cpu")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float a", ScalarArg(np.float32, "a")),
        ("unsigned char *mask", VectorArg(np.uint8, "mask")),
        ("const double* __restrict__ x", VectorArg(np.float64, "x", constant=True)),
        ("volatile int x[]", VectorArg(np.int32, "x")),
        ("long long unsigned n0", ScalarArg(np.uint64, "n0")),
        ("size_t count", ScalarArg(np.uint64, "count")),
        ("pycuda::complex<float> *z", VectorArg(np.complex64, "z")),
        ("half * const h", VectorArg(np.float16, "h")),
        ("uint16_t k", ScalarArg(np.uint16, "k")),
        ("bool *b", VectorArg(np.bool_, "b")),
        ("float2 *v", VectorArg(np.dtype([("x", "f4"), ("y", "f4")]), "v")),
    ],
)
def test_c_declaration_is_parsed_to_dtype_and_name(text: str, expected: ScalarArg | VectorArg) -> None:
    found = parse_c_arg(text)
    assert (type(found), found.name, found.dtype) == (type(expected), expected.name, expected.dtype)
    assert getattr(found, "constant", False) == getattr(expected, "constant", False)


@pytest.mark.parametrize("text", ["float", "quaternion *q", "float **x", "float5 *x", "", "float *x y", "*x"])
def test_parse_c_arg_rejects_text_that_is_no_c_declaration(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown type|no declaration|pointer to pointers|vector type"):
        parse_c_arg(text)


def test_argument_list_is_split_at_commas_between_arguments() -> None:
    found = parse_arguments("float a, pycuda::complex<double> *z , int n2")
    assert [one.declarator() for one in found] == ["float a", "pycuda::complex<double> *z", "int n2"]


def test_c_type_is_spelled_as_in_source_if_every_compiler_accepts_it() -> None:
    spelled = {
        "long long *x": "long long",
        "unsigned x": "unsigned",
        "uint8_t *x": "unsigned char",
        "half x": "pygpu::float16",
    }
    for text, c_type in spelled.items():
        assert parse_c_arg(text).c_type == c_type


@pytest.mark.parametrize("name", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float64", "complex128"])
def test_numpy_types_are_unchanged_by_conversion_to_c_and_back(name: str) -> None:
    assert parse_c_arg(f"{dtype_to_ctype(name)} *x").dtype == np.dtype(name)


def test_c_type_names_match_pycuda() -> None:
    names = {"int8": "signed char", "uint32": "unsigned int", "int64": "long", "complex64": "pycuda::complex<float>"}
    for dtype, name in names.items():
        assert dtype_to_ctype(dtype) == name
    assert dtype_to_ctype("float64", with_fp_tex_hack=True) == "fp_tex_double"
    assert [get_arg_type(text) for text in ("float *x", "int n2", "double d")] == ["P", "i", "d"]


def test_registered_dtype_is_converted_to_its_registered_c_name() -> None:
    name = f"pair_{uuid.uuid4().hex}"
    pair = np.dtype([(name, np.int32), ("high", np.float32)])
    with pytest.raises(ValueError, match="unable to map dtype"):
        dtype_to_ctype(pair)
    with pytest.warns(DeprecationWarning, match="get_or_register_dtype"):
        register_dtype(pair, [name, f"{name}_t"])
    assert dtype_to_ctype(pair) == name
    assert parse_c_arg(f"{name}_t *x").dtype == pair
    assert get_or_register_dtype(name) == pair
    assert get_or_register_dtype(name, pair) == pair
    with (
        pytest.warns(DeprecationWarning, match="get_or_register_dtype"),
        pytest.raises(RuntimeError, match="has the name"),
    ):
        register_dtype(pair, "another")
    with pytest.warns(DeprecationWarning, match="get_or_register_dtype"):
        register_dtype(pair, f"{name}_alias", alias_ok=True)
    with pytest.raises(RuntimeError, match="'float' means float32"):
        get_or_register_dtype("float", pair)
    with pytest.raises(RuntimeError, match="means"):
        get_or_register_dtype(name, np.float32)
