// One value out of the elements along the reduced axes, for each place along the others. A block has PYGPU_PLACES places, and for
// each of them PYGPU_LANES threads, which join theirs as a tree; where there are several rows of blocks, a second launch joins
// what these have. The order depends on the shape and the device alone.
#define PYGPU_THREADS (PYGPU_PLACES * PYGPU_LANES)

static __device__ inline void pygpu_finish_block(pygpu_state *shared, unsigned tid, unsigned lane) {
    __syncthreads();
#pragma unroll
    for (unsigned half = PYGPU_LANES / 2; half; half /= 2) {
        if (lane < half) pygpu_join(shared[tid], shared[tid + half * PYGPU_APART]);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) PYGPU_NAME(PYGPU_PARAMETERS) {
    __shared__ pygpu::bytes raw[(PYGPU_THREADS * sizeof(pygpu_state) + 15) / 16];
    pygpu_state *shared = (pygpu_state *)raw;
    const unsigned tid = threadIdx.x;
    const unsigned lane = PYGPU_LANE(tid), place = PYGPU_PLACE(tid);
    const size_t at = (size_t)blockIdx.x * PYGPU_PLACES + place;
    pygpu_state sum = PYGPU_NEUTRAL;
    if (at < places) {
        PYGPU_BASE
        const size_t step = (size_t)PYGPU_LANES * gridDim.y;
        size_t i = (size_t)PYGPU_LANES * blockIdx.y + lane;
        for (; i + (PYGPU_EACH - 1) * step < count; i += PYGPU_EACH * step) {
            pygpu_state next[PYGPU_EACH];
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) next[turn] = PYGPU_STATE(i + turn * step);
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) pygpu_join(sum, next[turn]);
        }
        for (; i < count; i += step) {
            pygpu_state next = PYGPU_STATE(i);
            pygpu_join(sum, next);
        }
    }
    shared[tid] = sum;
    pygpu_finish_block(shared, tid, lane);
    if (lane == 0 && at < places) {
        const pygpu_state a = shared[tid];
        PYGPU_STORE
    }
}
