"""Use kernels, streams, events, graphs, devices and memory in a program that type checkers read."""

from typing import assert_type

import PyGPU
from PyGPU import GPUArray, Kernel, LaunchConfig, Stream
from PyGPU.typing import DeviceLike, StreamLike

SOURCE = """
extern "C" __global__ void scale(float *x, float factor, int n) {
    if (threadIdx.x < n) x[threadIdx.x] *= factor;
}
"""


def scaled(x: GPUArray, factor: float, stream: StreamLike = None) -> GPUArray:
    """Launch a kernel of a module in two ways."""
    module = PyGPU.Module(SOURCE, options=["--fmad=false"])
    kernel = module["scale"]
    assert_type(kernel, Kernel)
    assert_type(module.get_function("scale").name, str)
    assert_type(kernel.registers, int)
    kernel[1, 32, stream](x, PyGPU.float32(factor), PyGPU.int32(x.size))
    kernel[LaunchConfig(1, (32, 1, 1))](x, PyGPU.float32(1), PyGPU.int32(x.size))
    assert_type(LaunchConfig(4, 64).replace(shared=16).grid, tuple[int, int, int])
    return x


def ordered(x: GPUArray) -> float:
    """Use streams and events, and measure the time between events."""
    stream = PyGPU.Stream(non_blocking=True, priority=0)
    with stream as current:
        assert_type(current, Stream)
        begin = stream.record()
        x.fill(1, stream=stream)
    end = PyGPU.Event()
    end.record(stream)
    stream.wait_event(begin)
    end.synchronize()
    assert_type(stream.query(), bool)
    assert_type(PyGPU.current_stream().device, PyGPU.Device)
    return end.time_since(begin)


def described(device: DeviceLike = None) -> dict[str, int]:
    """Use devices and their memory."""
    one = PyGPU.Device(device)
    assert_type(one.index, int)
    assert_type(one.name, str)
    assert_type(PyGPU.device_count(), int)
    assert_type(one.memory_info(), tuple[int, int])
    one.synchronize()
    return PyGPU.memory_statistics(one)


def main() -> None:
    """Run those functions above that need no compiler for kernels."""
    ordered(PyGPU.zeros(32, "float32"))
    described()
