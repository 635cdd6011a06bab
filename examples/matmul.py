"""A product of matrices in tiles
==============================

Each block loads two tiles into shared memory and all its threads use them.

The sizes need not be multiples of the tile, and either factor may be a transposed view: the kernel receives strides.
"""

import numpy as np

import PyGPU as gpuarray

TILE = 16
SOURCE = """
__global__ void matmul(const float *a, const float *b, float *c, int rows, int inner, int columns,
                       int a_row, int a_column, int b_row, int b_column)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE + 1];  // one more: columns lie in different banks
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < inner; first += TILE) {
        int k = first + threadIdx.x, l = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < rows && k < inner ? a[row * a_row + k * a_column] : 0;
        right[threadIdx.y][threadIdx.x] = l < inner && column < columns ? b[l * b_row + column * b_column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();  // nobody loads the next tile while somebody still reads this one
    }
    if (row < rows && column < columns) c[row * columns + column] = sum;
}
"""


def matmul(a: gpuarray.GPUArray, b: gpuarray.GPUArray) -> gpuarray.GPUArray:
    """Multiply two matrices of float32, of any strides."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"matrices of shapes {a.shape} and {b.shape} have no product")
    (rows, inner), columns = a.shape, b.shape[1]
    c = gpuarray.empty((rows, columns), np.float32)
    # The kernel is compiled once, and then taken from the cache.
    kernel = gpuarray.Kernel(SOURCE, "matmul", [f"-DTILE={TILE}"])
    grid = -(-columns // TILE), -(-rows // TILE)
    strides = [stride // 4 for array in (a, b) for stride in array.strides]
    kernel[grid, (TILE, TILE)](a, b, c, rows, inner, columns, *strides, strided=True)
    return c


def main(rows: int = 70, inner: int = 130, columns: int = 50) -> None:
    """Compare with NumPy, also for a transposed factor."""
    random = np.random.default_rng(0)
    a, b = random.random((rows, inner), dtype=np.float32), random.random((columns, inner), dtype=np.float32)
    c = matmul(gpuarray.to_gpu(a), gpuarray.to_gpu(b).T)
    np.testing.assert_allclose(c.get(), a @ b.T, rtol=1e-5)
    print(f"{rows} x {inner} times {inner} x {columns} on {c.device}: as NumPy")


if __name__ == "__main__":
    main()
