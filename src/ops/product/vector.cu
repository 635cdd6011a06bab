// Products of matrices and vectors: rows of `a` with `b`, which has one column. A block has PYGPU_PLACES rows, and for each of them
// PYGPU_LANES threads, which join what they have as a tree; where there are several rows of blocks, these share the inner axis. What
// lies side by side along it is read as packs.
#define PYGPU_THREADS (PYGPU_PLACES * PYGPU_LANES)
#define PYGPU_EACH 4

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_product_with_vector(PYGPU_PARAMETERS) {
    const unsigned tid = threadIdx.x;
    const unsigned lane = PYGPU_ALONG_A ? tid % PYGPU_LANES : tid / PYGPU_PLACES;
    const unsigned place = PYGPU_ALONG_A ? tid / PYGPU_LANES : tid % PYGPU_PLACES;
    const long long high = (m + PYGPU_PLACES - 1) / PYGPU_PLACES;
    const long long batch = blockIdx.x / high, row = (blockIdx.x - batch * high) * PYGPU_PLACES + place;
    pygpu_type sum = pygpu_type(0);
    if (row < m) {
        const char *of_a = a + PYGPU_BATCH(0) + row * a_row, *of_b = b + PYGPU_BATCH(1);
        const long long end = k / PYGPU_VECTOR_A, step = (long long)PYGPU_LANES * gridDim.y;
        const long long pack_a = PYGPU_VECTOR_A * a_step, pack_b = PYGPU_VECTOR_A * b_step;
        long long at = (long long)PYGPU_LANES * blockIdx.y + lane;
        for (; at < end; at += PYGPU_EACH * step) {
            pygpu_pack_a next[PYGPU_EACH];
            pygpu_pack_b with[PYGPU_EACH];
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) {
                const long long now = at + turn * step;
                if (now < end) {
                    next[turn] = *(const pygpu_pack_a *)(of_a + now * pack_a);
#if PYGPU_VECTOR_B > 1 || PYGPU_VECTOR_A == 1
                    with[turn] = *(const pygpu_pack_b *)(of_b + now * pack_b);
#else
#pragma unroll
                    for (int v = 0; v < PYGPU_VECTOR_A; v++)
                        with[turn].item[v] = *(const pygpu_b *)(of_b + now * pack_b + v * b_step);
#endif
                }
            }
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) {
                if (at + turn * step < end) {
#pragma unroll
                    for (int v = 0; v < PYGPU_VECTOR_A; v++)
                        pygpu_add_product(sum, pygpu_of_a(next[turn].item[v]), pygpu_of_b(with[turn].item[v]));
                }
            }
        }
#if PYGPU_VECTOR_A > 1
        // What is left behind the last pack.
        if (blockIdx.y == 0)
            for (long long l = end * PYGPU_VECTOR_A + lane; l < k; l += PYGPU_LANES)
                pygpu_add_product(sum, pygpu_of_a(*(const pygpu_a *)(of_a + l * a_step)),
                                  pygpu_of_b(*(const pygpu_b *)(of_b + l * b_step)));
#endif
    }
#if PYGPU_LANES > 1
    __shared__ pygpu::bytes raw[(PYGPU_THREADS * sizeof(pygpu_type) + 15) / 16];
    pygpu_type *shared = (pygpu_type *)raw;
    shared[tid] = sum;
    __syncthreads();
#pragma unroll
    for (unsigned half = PYGPU_LANES / 2; half; half /= 2) {
        if (lane < half) pygpu_add(shared[tid], shared[tid + half * (PYGPU_ALONG_A ? 1 : PYGPU_PLACES)]);
        __syncthreads();
    }
    sum = shared[tid];
#endif
    if (lane == 0 && row < m) {
        if (parts) parts[(blockIdx.y * batches + batch) * m + row] = sum;
        else *(pygpu_result *)(out + PYGPU_BATCH(2) + row * out_row) = pygpu_finish(sum);
    }
}
