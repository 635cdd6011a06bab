// Sums each run of weights, which are read at the positions in `places`. A thread block sums one part of a run. The
// order of the additions depends only on the length of the run.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS)
    pygpu_sum_runs(const double *weights, const long long *places, const long long *starts, double *sums, long long runs) {
    __shared__ double held[PYGPU_THREADS];
    const unsigned tid = threadIdx.x;
    const long long parts = gridDim.y, part = blockIdx.y;
    for (long long run = blockIdx.x; run < runs; run += gridDim.x) {
        const long long first = starts[run], all = starts[run + 1] - first;
        const long long each = (all + parts - 1) / parts;
        const long long end = (part + 1) * each < all ? (part + 1) * each : all;
        double sum = 0;
        for (long long at = part * each + tid; at < end; at += PYGPU_THREADS) sum += weights[places[first + at]];
        held[tid] = sum;
        __syncthreads();
        for (unsigned half = PYGPU_THREADS / 2; half; half /= 2) {
            if (tid < half) held[tid] += held[tid + half];
            __syncthreads();
        }
        if (tid == 0) sums[run * parts + part] = held[0];
        __syncthreads();
    }
}
