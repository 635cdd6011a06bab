// Products of small matrices: a thread computes one element of a result, and reads its operands from global memory.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_small_product(PYGPU_PARAMETERS) {
    const pygpu_number all = (pygpu_number)(batches * m * n), area = (pygpu_number)(m * n);
    const pygpu_number stride = (pygpu_number)gridDim.x * PYGPU_THREADS;
    for (pygpu_number at = (pygpu_number)blockIdx.x * PYGPU_THREADS + threadIdx.x; at < all; at += stride) {
        const pygpu_number batch = at / area, rest = at - batch * area, i = rest / (pygpu_number)n, j = rest - i * (pygpu_number)n;
        const char *next_a = a + PYGPU_BATCH(0) + (long long)i * a_row;
        const char *next_b = b + PYGPU_BATCH(1) + (long long)j * b_row;
        pygpu_type sum = pygpu_type(0);
        for (long long l = 0; l < k; l++, next_a += a_step, next_b += b_step)
            pygpu_add_product(sum, pygpu_of_a(*(const pygpu_a *)next_a), pygpu_of_b(*(const pygpu_b *)next_b));
        *(pygpu_result *)(out + PYGPU_BATCH(2) + (long long)i * out_row + (long long)j * out_column) = pygpu_finish(sum);
    }
}
