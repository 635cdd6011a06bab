// Reduces segments of an axis: PYGPU_LANES threads reduce one segment at one position of the other axes. A segment ends
// before the start of the next segment. A segment whose start is not less than the start of the next segment has only
// its first element. The state is initialized with the first element, and the result of a segment with one element is
// this element.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) PYGPU_NAME(const pygpu_element *array, const long long *starts,
                                                                       pygpu_result *out, unsigned long long results,
                                                                       unsigned long long segments, unsigned long long length,
                                                                       unsigned long long inner) {
    const unsigned lane = threadIdx.x % PYGPU_LANES;
    const unsigned long long abreast = PYGPU_THREADS / PYGPU_LANES;
    // All threads of a block run this loop equally often, because the loop contains barriers, which all threads of the
    // block must reach.
    for (unsigned long long first = blockIdx.x * abreast; first < results; first += gridDim.x * abreast) {
        const unsigned long long at = first + threadIdx.x / PYGPU_LANES;
        unsigned long long valid = 0;
        pygpu_state sum = pygpu_none(0);
        if (at < results) {
            const unsigned long long column = at % inner, row = at / inner;
            const unsigned long long segment = row % segments, outer = row / segments;
            const unsigned long long start = (unsigned long long)starts[segment];
            const unsigned long long end = segment + 1 < segments ? (unsigned long long)starts[segment + 1] : length;
            valid = end > start ? end - start : 1;
            const pygpu_element *elements = array + (outer * length + start) * inner + column;
            if (lane < valid) sum = pygpu_one(pygpu_convert(elements[lane * inner]));
            for (unsigned long long i = lane + PYGPU_LANES; i < valid; i += PYGPU_LANES)
                pygpu_take(sum, pygpu_convert(elements[i * inner]), 0);
        }
#if PYGPU_LANES > 1
        __shared__ pygpu::bytes raw[(PYGPU_THREADS * sizeof(pygpu_state) + 15) / 16];
        pygpu_state *shared = (pygpu_state *)raw;
        shared[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned half = PYGPU_LANES / 2; half; half /= 2) {
            if (lane < half && lane + half < valid) pygpu_join(shared[threadIdx.x], shared[threadIdx.x + half]);
            __syncthreads();
        }
        sum = shared[threadIdx.x];
        __syncthreads();
#endif
        if (lane == 0 && at < results) out[at] = pygpu_finish(sum, 0);
    }
}
