// Products of matrices and vectors: rows of `a` times `b`, which has one column. A thread block has PYGPU_PLACES groups
// of PYGPU_ROWS rows. PYGPU_LANES threads share a group, and add up their sums pairwise, as a binary tree. If the grid
// has several blocks along y, these share the inner axis. Contiguous elements are read as packs: PYGPU_PACK elements
// along the inner axis, or PYGPU_ROWS rows.
#define PYGPU_THREADS (PYGPU_PLACES * PYGPU_LANES)
#define PYGPU_EACH 4
#define PYGPU_ROWS (PYGPU_ALONG_A ? 1 : PYGPU_VECTOR_A)
#define PYGPU_PACK (PYGPU_ALONG_A ? PYGPU_VECTOR_A : 1)

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_product_with_vector(PYGPU_PARAMETERS) {
    const unsigned tid = threadIdx.x;
    const unsigned lane = PYGPU_ALONG_A ? tid % PYGPU_LANES : tid / PYGPU_PLACES;
    const unsigned place = PYGPU_ALONG_A ? tid / PYGPU_LANES : tid % PYGPU_PLACES;
    const long long rows = PYGPU_PLACES * PYGPU_ROWS, high = (m + rows - 1) / rows;
    const long long batch = blockIdx.x / high, row = (blockIdx.x - batch * high) * rows + place * PYGPU_ROWS;
    pygpu_type sum[PYGPU_ROWS];
#pragma unroll
    for (int r = 0; r < PYGPU_ROWS; r++) sum[r] = pygpu_type(0);
    // The number of rows of the matrix is a multiple of the number of a thread's rows, so either all or none of these
    // rows are inside the matrix.
    if (row < m) {
        const char *of_a = a + PYGPU_BATCH(0) + row * a_row, *of_b = b + PYGPU_BATCH(1);
        const long long end = k / PYGPU_PACK, step = (long long)PYGPU_LANES * gridDim.y;
        const long long pack_a = PYGPU_PACK * a_step, pack_b = PYGPU_PACK * b_step;
        long long at = (long long)PYGPU_LANES * blockIdx.y + lane;
        for (; at < end; at += PYGPU_EACH * step) {
            pygpu_pack_a next[PYGPU_EACH];
            pygpu_pack_b with[PYGPU_EACH];
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) {
                const long long now = at + turn * step;
                if (now < end) {
                    next[turn] = *(const pygpu_pack_a *)(of_a + now * pack_a);
#if PYGPU_VECTOR_B > 1 || PYGPU_PACK == 1
                    with[turn] = *(const pygpu_pack_b *)(of_b + now * pack_b);
#else
#pragma unroll
                    for (int v = 0; v < PYGPU_PACK; v++)
                        with[turn].item[v] = *(const pygpu_b *)(of_b + now * pack_b + v * b_step);
#endif
                }
            }
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) {
                if (at + turn * step < end) {
#pragma unroll
                    for (int v = 0; v < PYGPU_VECTOR_A; v++)
                        pygpu_add_product(sum[PYGPU_ALONG_A ? 0 : v], pygpu_of_a(next[turn].item[v]),
                                          pygpu_of_b(with[turn].item[PYGPU_ALONG_A ? v : 0]));
                }
            }
        }
#if PYGPU_PACK > 1
        // Adds the last elements along the inner axis, which are too few for another vector load.
        if (blockIdx.y == 0)
            for (long long l = end * PYGPU_PACK + lane; l < k; l += PYGPU_LANES)
                pygpu_add_product(sum[0], pygpu_of_a(*(const pygpu_a *)(of_a + l * a_step)),
                                  pygpu_of_b(*(const pygpu_b *)(of_b + l * b_step)));
#endif
    }
#if PYGPU_LANES > 1
    __shared__ pygpu::bytes raw[(PYGPU_ROWS * PYGPU_THREADS * sizeof(pygpu_type) + 15) / 16];
    pygpu_type *shared = (pygpu_type *)raw;
#pragma unroll
    for (int r = 0; r < PYGPU_ROWS; r++) shared[r * PYGPU_THREADS + tid] = sum[r];
    __syncthreads();
#pragma unroll
    for (unsigned half = PYGPU_LANES / 2; half; half /= 2) {
        if (lane < half)
#pragma unroll
            for (int r = 0; r < PYGPU_ROWS; r++)
                pygpu_add(shared[r * PYGPU_THREADS + tid], shared[r * PYGPU_THREADS + tid + half * (PYGPU_ALONG_A ? 1 : PYGPU_PLACES)]);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < PYGPU_ROWS; r++) sum[r] = shared[r * PYGPU_THREADS + tid];
#endif
    if (lane == 0 && row < m) {
#pragma unroll
        for (int r = 0; r < PYGPU_ROWS; r++) {
            if (parts) parts[(blockIdx.y * batches + batch) * m + row + r] = sum[r];
            else *(pygpu_result *)(out + PYGPU_BATCH(2) + (row + r) * out_row) = pygpu_finish(sum[r]);
        }
    }
}
