"""Test JAX: JAX arrays over PyGPU's memory, PyGPU arrays over JAX's memory, and the order of work.

JAX imports only arrays without gaps, and uses unversioned DLPack.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels
from gpu.support import COUNT, SECONDS, SHAPES, Interface, same, values

support.require_peers()
jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
try:
    DEVICE = jax.devices("cuda")[0]
except RuntimeError as error:
    pytest.skip(f"JAX finds no CUDA: {error}", allow_module_level=True)
jnp = jax.numpy

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def on_device(host: Any) -> Any:
    return jax.device_put(host, DEVICE).block_until_ready()


@pytest.mark.parametrize("dtype", DTYPES)
def test_jax_array_of_pygpu_array_shares_memory_for_every_dtype(dtype: str) -> None:
    host = values(dtype=dtype)
    array = PyGPU.to_gpu(host)
    shared = jnp.from_dlpack(array)
    assert shared.unsafe_buffer_pointer() == array.ptr
    assert shared.dtype == array.dtype
    assert shared.devices() == {DEVICE}
    same(numpy.asarray(shared), host)


def test_jax_imports_pygpu_array_by_interface_dictionary() -> None:
    host = values()
    array = PyGPU.to_gpu(host)
    PyGPU.synchronize()
    same(numpy.asarray(jnp.asarray(Interface(array))), host)
    same(numpy.asarray(jnp.asarray(array)), host)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_arrays_of_every_shape_are_exchanged_between_jax_and_pygpu(shape: tuple[int, ...]) -> None:
    host = values(shape)
    same(numpy.asarray(jnp.from_dlpack(PyGPU.to_gpu(host))), host)
    same(PyGPU.from_dlpack(on_device(host)).get(), host)


def test_jax_imports_transposed_array() -> None:
    host = values()
    array = PyGPU.to_gpu(host)
    same(numpy.asarray(jnp.from_dlpack(array.T)), host.T)


@pytest.mark.parametrize("take", [lambda a: a[:, ::2], lambda a: a[::-1]], ids=["every second", "backwards"])
def test_jax_import_of_strided_array_raises_or_has_correct_values(take: Any) -> None:
    host = values()
    view = take(PyGPU.to_gpu(host))
    same(numpy.asarray(jnp.from_dlpack(view.copy())), take(host))
    try:
        shared = jnp.from_dlpack(view)
    except (RuntimeError, ValueError, BufferError, NotImplementedError):
        pass  # JAX may raise an error. If JAX returns a result instead, the result must be correct.
    else:
        same(numpy.asarray(shared), take(host))


def test_jax_import_of_readonly_array_raises_buffer_error() -> None:
    array = PyGPU.zeros(3, "float32")
    readonly = PyGPU.asarray(Interface(array, data=(array.ptr, True)))
    with pytest.raises(BufferError):
        jnp.from_dlpack(readonly)


def test_bfloat16_arrays_are_exchanged_between_jax_and_pygpu() -> None:
    host = numpy.arange(8).astype(jnp.bfloat16)
    array = PyGPU.to_gpu(host)
    shared = jnp.from_dlpack(array)
    assert shared.unsafe_buffer_pointer() == array.ptr
    same(numpy.asarray(shared), host)
    same(PyGPU.from_dlpack(shared).get(), host)


@pytest.mark.parametrize("take", [PyGPU.asarray, PyGPU.from_dlpack], ids=["asarray", "from_dlpack"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pygpu_array_of_jax_array_shares_memory_for_every_dtype(take: Any, dtype: str) -> None:
    host = values(dtype=dtype)
    theirs = on_device(host)
    array = take(theirs)
    assert array.ptr == theirs.unsafe_buffer_pointer()
    assert array.dtype == host.dtype
    same(array.get(), host)


def test_jax_computation_waits_for_unfinished_write_of_pygpu(
    kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    with slow:
        kernels.spin(SECONDS, slow.handle)
        block.fill(2)
    shared = jnp.from_dlpack(block)
    assert (numpy.asarray(shared * 2) == 4).all()


def test_pygpu_read_waits_for_unfinished_computation_of_jax() -> None:
    @jax.jit
    def work(x: Any) -> Any:
        return jax.lax.fori_loop(0, 200, lambda _, y: (y @ x) / 2048, x)

    x = on_device(numpy.ones((2048, 2048), numpy.float32))
    work(x).block_until_ready()
    array = PyGPU.from_dlpack(work(x))
    assert (array.get() == 1).all()


def test_shared_memory_stays_allocated_while_jax_or_pygpu_uses_memory() -> None:
    array = PyGPU.full(COUNT, 6, "float32")
    shared = jnp.from_dlpack(array)
    del array
    theirs = on_device(numpy.full(COUNT, 7, numpy.float32))
    taken = PyGPU.from_dlpack(theirs)
    del theirs
    gc.collect()
    overwriting = [PyGPU.full(COUNT, -1, "float32") for _ in range(4)]
    assert (numpy.asarray(shared) == 6).all()
    assert (taken.get() == 7).all()
    del overwriting
