// Reduces the elements along the reduced axes to one value, the result, for each position along the other axes. A
// thread block has PYGPU_PLACES columns of PYGPU_LANES threads. Each thread joins elements into a state, an
// intermediate value, and the threads of a column join their states as a tree. If the grid has several blocks along y,
// these blocks share the elements of a result, and a second launch joins the states of the blocks. A thread reads
// PYGPU_VECTOR contiguous elements at once. These elements belong to one result if PYGPU_ABREAST is 1, and otherwise to
// PYGPU_VECTOR adjacent results. The order of joins depends only on the shape and the device.
#define PYGPU_THREADS (PYGPU_PLACES * PYGPU_LANES)
#define PYGPU_IN_ROW (PYGPU_VECTOR / PYGPU_ABREAST)

static __device__ inline void pygpu_start(pygpu_state *sum, pygpu_number i) {
#pragma unroll
    for (int v = 0; v < PYGPU_VECTOR; v++) sum[v] = pygpu_none(i * PYGPU_IN_ROW + (PYGPU_ABREAST > 1 ? 0 : v));
}

// The array `next` contains E packs of elements, which were loaded from addresses that are `step` packs apart. Adds the
// elements of the first `valid` of these packs to the states of their results. A pack whose entry in `counts` is false
// is skipped, because the reduction's mask excludes it.
template <int E>
static __device__ inline void pygpu_take_packs(pygpu_state *sum, const pygpu_packed *next, const bool *counts, pygpu_number i,
                                               pygpu_number step, int valid) {
#if PYGPU_IS_BATCHED
#if PYGPU_ABREAST > 1
#pragma unroll
    for (int v = 0; v < PYGPU_VECTOR; v++) {
        pygpu_type x[E];
#pragma unroll
        for (int turn = 0; turn < E; turn++)
            if (turn < valid) x[turn] = pygpu_convert(next[turn].item[v]);
        pygpu_take_batch<E>(sum[v], x, valid);
    }
#else
    pygpu_type x[E * PYGPU_VECTOR];
#pragma unroll
    for (int turn = 0; turn < E; turn++)
#pragma unroll
        for (int v = 0; v < PYGPU_VECTOR; v++)
            if (turn < valid) x[turn * PYGPU_VECTOR + v] = pygpu_convert(next[turn].item[v]);
    pygpu_take_batch<E * PYGPU_VECTOR>(sum[0], x, valid * PYGPU_VECTOR);
#endif
#else
#pragma unroll
    for (int turn = 0; turn < E; turn++) {
        if (turn < valid && PYGPU_COUNTS(turn)) {
            const pygpu_number at = (i + turn * step) * PYGPU_IN_ROW;
#pragma unroll
            for (int v = 0; v < PYGPU_VECTOR; v++)
                pygpu_take(sum[v], pygpu_convert(next[turn].item[v]), at + (PYGPU_ABREAST > 1 ? 0 : v));
        }
    }
#endif
}

// Joins the PYGPU_VECTOR states that a thread has for one result into the first of these states.
static __device__ inline void pygpu_finish_row(pygpu_state *sum) {
#if PYGPU_ABREAST == 1
#pragma unroll
    for (int half = PYGPU_VECTOR / 2; half; half /= 2)
#pragma unroll
        for (int v = 0; v < half; v++) pygpu_join(sum[v], sum[v + half]);
#endif
}

#if PYGPU_LANES > 1
// Joins the states of all threads of a column into the state of the first thread of this column.
static __device__ inline void pygpu_finish_block(pygpu_state &sum, pygpu_state *shared, unsigned tid, unsigned lane) {
    shared[tid] = sum;
    __syncthreads();
#pragma unroll
    for (unsigned half = PYGPU_LANES / 2; half; half /= 2) {
        if (lane < half) pygpu_join(shared[tid], shared[tid + half * PYGPU_APART]);
        __syncthreads();
    }
    sum = shared[tid];
    __syncthreads();
}
#endif

extern "C" __global__ void PYGPU_BOUNDS PYGPU_NAME(PYGPU_PARAMETERS) {
    const unsigned tid = threadIdx.x;
    pygpu_state sum[PYGPU_VECTOR];
#if PYGPU_TURNS > 1
    // In this case, one vector load (pack) contains all elements of a result. A thread loads the elements of
    // PYGPU_TURNS results before it reduces them, so that the loads overlap.
    const size_t from = (size_t)blockIdx.x * (PYGPU_THREADS * PYGPU_TURNS) + tid;
    pygpu_packed next[PYGPU_TURNS];
#pragma unroll
    for (int turn = 0; turn < PYGPU_TURNS; turn++) {
        const size_t at = from + turn * PYGPU_THREADS;
        if (at < places) {
            PYGPU_BASE
            next[turn] = PYGPU_LOAD((pygpu_number)0);
        }
    }
#pragma unroll
    for (int turn = 0; turn < PYGPU_TURNS; turn++) {
        const size_t at = from + turn * PYGPU_THREADS;
        if (at < places) {
            pygpu_start(sum, 0);
            pygpu_take_packs<1>(sum, next + turn, 0, 0, 0, 1);
            pygpu_finish_row(sum);
            PYGPU_STORE
        }
    }
#else
    const unsigned lane = PYGPU_LANE(tid), place = PYGPU_PLACE(tid);
    const size_t at = ((size_t)blockIdx.x * PYGPU_PLACES + place) * PYGPU_ABREAST;
    const pygpu_number end = (pygpu_number)count / PYGPU_IN_ROW;
    const pygpu_number step = (pygpu_number)PYGPU_LANES * gridDim.y;
    pygpu_number i = (pygpu_number)PYGPU_LANES * blockIdx.y + lane;
    // A thread without elements has a state with the highest possible index. Therefore, if a real element is equal to
    // this state, functions like `argmin` select the element.
#pragma unroll
    for (int v = 0; v < PYGPU_VECTOR; v++) sum[v] = pygpu_none((pygpu_number)-1);
    if (at < places && i < end) {
        PYGPU_BASE
        pygpu_start(sum, i);
        for (; i + (PYGPU_EACH - 1) * step < end; i += PYGPU_EACH * step) {
            pygpu_packed next[PYGPU_EACH];
            bool counts[PYGPU_EACH];
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) {
                next[turn] = PYGPU_LOAD(i + turn * step);
                counts[turn] = PYGPU_MASK(i + turn * step);
            }
            pygpu_take_packs<PYGPU_EACH>(sum, next, counts, i, step, PYGPU_EACH);
        }
        if (i < end) {
            pygpu_packed next[PYGPU_EACH];
            bool counts[PYGPU_EACH];
            int valid = 0;
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH; turn++) {
                if (i + turn * step < end) {
                    next[turn] = PYGPU_LOAD(i + turn * step);
                    counts[turn] = PYGPU_MASK(i + turn * step);
                    valid = turn + 1;
                }
            }
            pygpu_take_packs<PYGPU_EACH>(sum, next, counts, i, step, valid);
        }
    }
    pygpu_finish_row(sum);
#if PYGPU_LANES > 1
    __shared__ pygpu::bytes raw[(PYGPU_THREADS * sizeof(pygpu_state) + 15) / 16];
#pragma unroll
    for (int v = 0; v < PYGPU_ABREAST; v++) pygpu_finish_block(sum[v], (pygpu_state *)raw, tid, lane);
#endif
    if (lane == 0 && at < places) { PYGPU_STORE }
#endif
}
