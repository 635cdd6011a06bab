"""Test transposed operands, which a GPU reads in tiles through shared memory: results match NumPy."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from PyGPU.elementwise import ElementwiseKernel, VectorArg
from support_kernels import needs_kernels, random_seed, random_view

KINDS = ["bool", "int8", "uint16", "float16", "bfloat16", "float32", "int64", "complex64", "complex128"]
# A kernel reads a plane in tiles if the plane has at least 2^14 elements, and 16 or more along each of its two axes.
# The shapes below have whole tiles, partial tiles at the edges, and planes with one short side.
PLANES = [(128, 128), (127, 131), (16, 1100), (1033, 17), (192, 320)]


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def values(shape: tuple[int, ...], kind: str = "float32", start: int = 0) -> np.ndarray:
    """Return numbers that every dtype represents exactly, and that differ along all axes."""
    found = (np.arange(start, start + np.prod(shape)) * 7 % 61).reshape(shape)
    return found % 2 == 0 if kind == "bool" else found.astype(dtype_of(kind))


on_device = PyGPU.to_gpu


def assert_call_matches_numpy(call: Any, *hosts: np.ndarray) -> None:
    """Check that a call gives the same values, dtype and strides for device arrays as for NumPy arrays."""
    found, expected = call(*map(on_device, hosts)), call(*hosts)
    assert (found.dtype, found.strides) == (expected.dtype, expected.strides)
    np.testing.assert_array_equal(found.get(), expected)


@pytest.mark.parametrize("shape", PLANES)
def test_sum_of_transposed_and_plain_operand_matches_numpy(shape: tuple[int, int]) -> None:
    assert_call_matches_numpy(lambda x, y: x.T + y, values(shape[::-1]), values(shape, start=5))
    assert_call_matches_numpy(lambda x, y: x + y.T, values(shape), values(shape[::-1], start=5))


@pytest.mark.parametrize("kind", KINDS)
def test_product_with_transposed_operand_of_any_dtype_matches_numpy(kind: str) -> None:
    assert_call_matches_numpy(lambda x, y: x.T * y, values((130, 150), kind), values((150, 130), kind, 3))


@pytest.mark.parametrize(("first", "second"), [("int8", "float64"), ("complex128", "bool"), ("float32", "float16")])
def test_operations_match_numpy_for_transposed_operands_of_two_dtypes(first: str, second: str) -> None:
    assert_call_matches_numpy(lambda x, y: x.T + y, values((130, 150), first), values((150, 130), second, 3))
    assert_call_matches_numpy(lambda x, y: y < x.T, values((130, 150), "float32"), values((150, 130), "int16", 3))


def test_out_array_with_any_layout_receives_result_for_transposed_operand() -> None:
    x, y = values((140, 150)), values((140, 150), start=9)
    for order in ("C", "F"):
        out = PyGPU.empty((140, 150), "float32", order=order)
        assert PyGPU.subtract(on_device(x), on_device(y), out=out) is out
        np.testing.assert_array_equal(out.get(), x - y)
        np.testing.assert_array_equal(PyGPU.add(on_device(x), on_device(y.T.copy()).T, out=out).get(), x + y)
    wide = PyGPU.zeros((140, 300), "float32")
    PyGPU.add(on_device(x), on_device(y.T.copy()).T, out=wide[:, ::2])
    np.testing.assert_array_equal(wide.get(), np.dstack([x + y, 0 * x]).reshape(140, 300))


def test_in_place_update_by_transposed_operand_matches_numpy() -> None:
    host, other = values((150, 130)), values((130, 150), start=2)
    array = on_device(host)
    array += on_device(other).T
    array[1:, 1:] -= on_device(other).T[:-1, :-1]
    host += other.T
    host[1:, 1:] -= other.T[:-1, :-1]
    np.testing.assert_array_equal(array.get(), host)
    square = values((130, 130))
    array = on_device(square)
    array += array.T
    np.testing.assert_array_equal(array.get(), square + square.T)


def test_masked_add_of_transposed_operand_changes_only_selected_output() -> None:
    x, mask = values((150, 130)), values((130, 150), "bool")
    out = PyGPU.full((150, 130), -1, "float32")
    PyGPU.add(on_device(x), 1, out=out, where=on_device(mask).T)
    np.testing.assert_array_equal(out.get(), np.where(mask.T, x + 1, -1))


@pytest.mark.parametrize(
    "turn",
    [(0, 2, 1, 3), (0, 1, 3, 2), (3, 2, 1, 0), (1, 3, 0, 2), (2, 0, 3, 1)],
    ids=lambda one: "".join(map(str, one)),
)
def test_transposed_4d_operand_with_axes_outside_tiles_matches_numpy(turn: tuple[int, ...]) -> None:
    shape = (17, 3, 20, 30)
    x = values(shape)
    assert_call_matches_numpy(
        lambda x, y: x.transpose(turn) - y, x, values(tuple(shape[axis] for axis in turn), start=1)
    )


def test_transposed_operands_with_unusual_strides_match_numpy() -> None:
    x, y = values((301, 260)), values((260, 301), start=4)
    for key in (np.s_[::-1, ::-1], np.s_[::-1], np.s_[:, ::-1], np.s_[1:, 3:], np.s_[::2, 1:], np.s_[:, ::2]):
        assert_call_matches_numpy(lambda x, y, key=key: x.T[key] + y[key], x, y)
        assert_call_matches_numpy(lambda x, y, key=key: x.T[key] + y[key][:1], x, y)


@pytest.mark.parametrize("kind", ["int8", "float16"])
def test_groups_of_small_elements_are_transposed_for_every_alignment(kind: str) -> None:
    # The kernel loads and stores four bytes at once only if the row starts and the row lengths permit it.
    x, y = values((204, 264), kind), values((264, 204), kind, 4)
    for first, last in ((0, 192), (0, 200), (1, 193), (2, 204), (4, 201)):
        for key in (np.s_[:192, first:last], np.s_[first : first + 180, 4:196], np.s_[::-1, first:last]):
            out = PyGPU.zeros((264, 204), kind)
            PyGPU.add(on_device(x).T[key], on_device(y)[key], out=out[key])
            expected = np.zeros_like(y)
            expected[key] = x.T[key] + y[key]
            np.testing.assert_array_equal(out.get(), expected, err_msg=f"{key}")


@needs_kernels
def test_user_kernel_broadcasts_rows_to_transposed_operand() -> None:
    x, row, column = values((150, 140)), values((150,)), values((140, 1))
    body = "z[i] = x[i] + 2 * y[i] + 3 * row[i] + 4 * column[i] + one[i]"
    kernel = ElementwiseKernel("float *x, float *y, float *row, float *column, float *one, float *z", body)
    z, one = PyGPU.empty((140, 150), "float32"), PyGPU.full((1, 1), 5, "float32")
    kernel(on_device(x).T, on_device(x.T.copy()), on_device(row), on_device(column), one, z)
    np.testing.assert_array_equal(z.get(), 3 * x.T + 3 * row + 4 * column + 5)


@needs_kernels
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_user_kernel_with_one_to_four_transposed_arrays_matches_numpy(count: int) -> None:
    names = [f"x{number}" for number in range(count)]
    arguments = [VectorArg(np.float32, name) for name in [*names, "y", "z", "w"]]
    operation = f"float t = {' + '.join(f'{name}[i]' for name in names)}; z[i] = t - y[i]; if (t > 90) w[i] += t;"
    hosts = [values((150, 140), start=number) for number in range(count)]
    y, w = values((140, 150), start=8), values((140, 150), start=11)
    z, found = PyGPU.empty((140, 150), "float32"), on_device(w)
    ElementwiseKernel(arguments, operation)(*(on_device(host).T for host in hosts), on_device(y), z, found)
    total = functools.reduce(np.add, (host.T for host in hosts))
    np.testing.assert_array_equal(z.get(), total - y)
    np.testing.assert_array_equal(found.get(), np.where(total > 90, w + total, w))


@needs_kernels
def test_tiled_user_kernel_may_skip_elements_and_write_transposed_out() -> None:
    x, y = values((150, 140)), values((140, 150), start=8)
    z, w = PyGPU.zeros((140, 150), "float32"), PyGPU.zeros((150, 140), "float32").T
    skip = ElementwiseKernel("float *x, float *y, float *z", "if (y[i] < 30) continue; z[i] = x[i]")
    skip(on_device(x).T, on_device(y), z)
    np.testing.assert_array_equal(z.get(), np.where(y < 30, 0, x.T))
    both = ElementwiseKernel("float *x, float *y, float *z, float *w", "z[i] = x[i] + y[i]; w[i] = x[i] - y[i]")
    both(on_device(x).T, on_device(y), z, w)
    np.testing.assert_array_equal(z.get(), x.T + y)
    np.testing.assert_array_equal(w.get(), x.T - y)
    numbered = ElementwiseKernel("float *x, float *y, float *z", "z[i] = x[i] + y[i] + (i % 8)")
    numbered(on_device(x).T, on_device(y), z)
    np.testing.assert_array_equal(z.get(), x.T + y + np.arange(140 * 150).reshape(140, 150) % 8)
    same = on_device(y)
    ElementwiseKernel("float *x, const float *y, float *z", "z[i] = x[i] + y[i]")(on_device(x).T, same, same)
    np.testing.assert_array_equal(same.get(), x.T + y)


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="threads of the CPU take turns")
def test_kernel_reads_large_transposed_operand_in_tiles() -> None:
    # The generated source defines the name `pygpu_shared_x` only if the kernel reads `x` in tiles.
    # Without this definition, the test's kernel does not compile.
    kernel = ElementwiseKernel("float *x, float *y, float *z", "z[i] = x[i] + y[i] + 0 * sizeof(pygpu_shared_x)")
    x, y, z = PyGPU.ones((150, 140), "float32"), PyGPU.ones((140, 150), "float32"), PyGPU.zeros((140, 150), "float32")
    kernel(x.T, y, z)
    assert np.all(z.get() == 2)
    others = [
        (y, y, z),
        (x.T, x.T, PyGPU.zeros((150, 140), "float32").T),
        (x[:20, :20].T, y[:20, :20], z[:20, :20]),
        (z[:, :140].T, y[:, :140], z[:, :140]),  # The kernel reads `z` and writes its result into `z`.
    ]
    for arrays in others:
        with pytest.raises(PyGPU.CompileError):
            kernel(*arrays)


@pytest.mark.enough_on("cpu")
def test_result_layout_matches_numpy_for_mixed_operand_layouts() -> None:
    seed = random_seed()
    random = np.random.default_rng(seed)
    for turn in range(300):
        shape = tuple(int(length) for length in random.integers(1, 5, size=random.integers(1, 5)))
        (x, gx), (y, gy) = (random_view(random, shape, np.float32, broadcast=True) for _ in range(2))
        expected, found = np.asarray(x + y), gx + gy
        strides = [
            (of_found, of_expected)
            for of_found, of_expected, length in zip(found.strides, expected.strides, expected.shape, strict=True)
            if length > 1
        ]
        assert all(one == other for one, other in strides), (seed, turn, x.strides, y.strides)


@needs_kernels
def test_user_kernel_with_random_layouts_matches_numpy() -> None:
    seed = random_seed()
    random = np.random.default_rng(seed)
    kernel = ElementwiseKernel("const float *x, const float *y, float *z", "z[i] = x[i] - 2 * y[i]")
    for turn in range(10):
        rank = int(random.integers(2, 5))
        shape = [int(random.integers(16, 60)) for _ in range(min(rank, 3))] + [3] * (rank - 3)
        shape[0] *= 1 + 16_384 // int(np.prod(shape))
        axes = tuple(int(length) for length in random.permutation(shape))
        (x, gx), (y, gy) = (random_view(random, axes, np.float32, broadcast=turn % 3 == 2) for _ in range(2))
        z, gz = random_view(random, axes, np.float32)
        kernel(gx, gy, gz)
        expected = np.broadcast_to(x - 2 * y, z.shape)
        np.testing.assert_array_equal(gz.get(), expected, err_msg=f"seed {seed}, turn {turn}")
