// Copies the lower triangles of a stack of column-major matrices to row-major matrices, whose other elements become 0. A
// thread block transposes a tile of 32 x 32 elements at a time. The preceding text defines the type `pygpu_type`.

extern __shared__ double pygpu_room[];

extern "C" __global__ void __launch_bounds__(256) pygpu_lower_triangle(
    const pygpu_type *__restrict__ from, pygpu_type *__restrict__ to, long long batch, int n) {
    pygpu_type *tile = (pygpu_type *)pygpu_room;
    const int thread = threadIdx.x, lane = thread % 32, group = thread / 32;
    const long long side = (n + 31) / 32, tiles = side * side;
    for (long long at = blockIdx.x; at < batch * tiles; at += gridDim.x) {
        const long long start = at / tiles * n * n;
        const int first_row = int(at % tiles / side) * 32, first_column = int(at % side) * 32;
        if (first_row >= first_column) {
#pragma unroll
            for (int step = 0; step < 32; step += 8) {
                const int row = first_row + lane, column = first_column + group + step;
                if (row < n && column < n) tile[lane * 33 + group + step] = from[start + (long long)column * n + row];
            }
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 32; step += 8) {
            const int row = first_row + group + step, column = first_column + lane;
            if (row < n && column < n)
                to[start + (long long)row * n + column] =
                    row >= column ? tile[(group + step) * 33 + lane] : pygpu_type(0);
        }
        __syncthreads();
    }
}
