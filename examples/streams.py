"""Several concurrent streams
==========================

Upload, computation and download of many pieces, timed by events.

Each piece is uploaded, computed and downloaded on one stream; different streams overlap. No explicit
synchronization is needed: PyGPU tracks the stream on which an array was last used.
"""

from itertools import pairwise

import numpy as np

import PyGPU as gpuarray

SOURCE = """
__global__ void collatz(const int *start, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = 0;
    for (long long x = start[i]; x > 1; count++) x = x % 2 ? 3 * x + 1 : x / 2;
    steps[i] = count;
}
"""


def collatz_on_streams(start: np.ndarray, pieces: int, streams: int) -> tuple[np.ndarray, float]:
    """Count the steps of each number down to 1.

    Returns
    -------
    steps : numpy.ndarray
    milliseconds : float
        From the first upload to the last download.
    """
    kernel = gpuarray.Kernel(SOURCE, "collatz")
    lanes = [gpuarray.Stream() for _ in range(streams)]
    # Copy engines access pinned memory while the host continues.
    steps = gpuarray.empty_pinned(start.shape, np.int32)
    begin, end = gpuarray.Event(), gpuarray.Event()
    begin.record()
    for lane in lanes:
        lane.wait_event(begin)
    edges = np.linspace(0, len(start), pieces + 1).astype(int)
    for piece, (first, last) in enumerate(pairwise(edges)):
        stream = lanes[piece % streams]
        on_device = gpuarray.to_gpu_async(start[first:last], stream=stream)
        with stream:
            counted = gpuarray.empty_like(on_device)
            kernel[-(-len(counted) // 256), 256](on_device, counted, len(counted))
        counted.get_async(stream, steps[first:last])
    for lane in lanes:
        gpuarray.default_stream().wait_stream(lane)
    end.record()
    end.synchronize()
    return np.array(steps), begin.elapsed_time(end)


def main(n: int = 200_000) -> None:
    """Run with one stream, then with four: the numbers are the same."""
    start = np.arange(1, n + 1, dtype=np.int32)
    one, in_turn = collatz_on_streams(start, 1, 1)
    four, at_once = collatz_on_streams(start, 16, 4)
    np.testing.assert_array_equal(one, four)
    assert one[:8].tolist() == [0, 1, 7, 2, 5, 8, 16, 3]
    print(f"{gpuarray.Device().name}: {in_turn:.2f} ms in one piece, {at_once:.2f} ms in 16 on four streams")


if __name__ == "__main__":
    main()
