"""Use CuPy's memory classes: pools, allocators, pointers, unowned memory, pinned memory, hooks and graphs."""

import argparse

import cupy as cp
import cupyx
import numpy as np


class Recorder(cp.cuda.MemoryHook):
    """Define a memory hook that records the sizes of allocations and counts the freed blocks."""

    name = "Recorder"

    def __init__(self):
        self.sizes, self.freed = [], 0

    def malloc_postprocess(self, **kwargs):
        """Record the size that the program requested."""
        self.sizes.append(kwargs["size"])

    def free_postprocess(self, **kwargs):
        """Count a block that returned to its pool."""
        self.freed += 1


def pools(count):
    """Allocate from a private memory pool, and return how many bytes the pool holds."""
    pool = cp.cuda.MemoryPool()
    recorder = Recorder()
    with cp.cuda.using_allocator(pool.malloc), recorder:
        first = cp.arange(count, dtype=cp.float32)
        second = first * 2 + 1
        total = float(second.sum())
    used = pool.used_bytes()
    assert used >= first.nbytes + second.nbytes
    assert first.nbytes in recorder.sizes
    assert recorder.freed <= len(recorder.sizes)
    del first, second
    assert pool.used_bytes() == 0
    pool.free_all_blocks()
    pool.set_limit(size=64 << 20)
    print("pool", total, pool.get_limit(), pool.total_bytes())


def pointers(count):
    """Divide a memory block into arrays, by pointers with offsets into the block."""
    memory = cp.cuda.alloc(count * 8)
    whole = cp.ndarray((count,), cp.float64, memptr=memory)
    whole[...] = cp.arange(count)
    tail = cp.ndarray((count // 2,), cp.float64, memptr=memory + count // 2 * 8)
    tail *= 10
    middle = cp.cuda.UnownedMemory(whole.data.ptr + 8, (count - 2) * 8, owner=whole)
    inner = cp.ndarray((count - 2,), cp.float64, memptr=cp.cuda.MemoryPointer(middle, 0))
    strided = cp.ndarray((count // 4,), cp.float64, memptr=whole.data, strides=(32,))
    inner += 0.5
    host = np.empty(count)
    whole.data.copy_to_host(host.ctypes.data, host.nbytes)
    expected = np.arange(count, dtype=np.float64)
    expected[count // 2 :] *= 10
    expected[1:-1] += 0.5
    np.testing.assert_array_equal(host, expected)
    np.testing.assert_array_equal(strided.get(), expected[::4])
    copy = cp.empty_like(whole)
    copy.data.copy_from_device(whole.data, whole.nbytes)
    copy.data.memset(0, 16)
    print("pointers", whole.data.ptr % 8, int(copy[:3].sum()), float(whole.sum()))


def pinned(count):
    """Copy arrays through pinned memory on a stream."""
    memory = cp.cuda.alloc_pinned_memory(count * 4)
    source = np.frombuffer(memory, np.float32, count)
    source[...] = np.linspace(-1, 1, count)
    target = cupyx.empty_pinned((count,), np.float32)
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        device = cp.empty(count, cp.float32)
        device.set(source, stream=stream)
        cp.multiply(device, 3, out=device)
        device.get(stream=stream, out=target)
    stream.synchronize()
    np.testing.assert_allclose(target, 3 * source)
    print("pinned", f"{float(np.abs(target).sum()):.3f}", cp.cuda.PinnedMemoryPool().n_free_blocks())


def graphs(count, repeats):
    """Capture one step of an iteration as a graph, and launch the graph repeatedly."""
    step = cp.RawKernel(
        'extern "C" __global__ void relax(double *x, int n) {'
        " int i = blockDim.x * blockIdx.x + threadIdx.x; if (i < n) x[i] = 0.5 * (x[i] + 2 / x[i]); }",
        "relax",
    )
    values = cp.linspace(1, 9, count)
    blocks = (count + 127) // 128
    step((blocks,), (128,), (values, np.int32(count)))
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        for _ in range(2):
            step((blocks,), (128,), (values, np.int32(count)))
        graph = stream.end_capture()
        for _ in range(repeats):
            graph.launch()
    stream.synchronize()
    cp.testing.assert_allclose(values, 2**0.5, rtol=1e-12)
    print("graph", f"{float(values.max()):.10f}", repeats)


def main():
    """Run all parts of this program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=4096)
    options = parser.parse_args()
    pools(options.count)
    pointers(options.count)
    pinned(options.count)
    graphs(options.count, 4)
    free, total = cp.cuda.Device().mem_info
    assert 0 < free <= total


if __name__ == "__main__":
    main()
