// Scans adjacent columns. A thread block scans PYGPU_COLUMNS columns with PYGPU_DOWN threads each, and a thread scans
// PYGPU_EACH consecutive elements of its column. The block moves down the columns and carries the state, i.e. the
// joined value, of all elements above its position. If several blocks share a column, an earlier launch with
// PYGPU_IS_SUM stores the state of each block's part. Each block then joins the states of the parts above its own part
// in their order.
#define PYGPU_THREADS (PYGPU_COLUMNS * PYGPU_DOWN)
#define PYGPU_TILE (PYGPU_DOWN * PYGPU_EACH)

static __device__ inline void pygpu_read(pygpu_element *next, const char *from, long long step, size_t row, size_t end) {
#pragma unroll
    for (int at = 0; at < PYGPU_EACH; at++)
        if (row + at < end) next[at] = *(const pygpu_element *)(from + (long long)(row + at) * step);
}

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) PYGPU_NAME(PYGPU_PARAMETERS) {
    __shared__ pygpu::bytes pygpu_raw[(2 * PYGPU_THREADS * sizeof(pygpu_state) + 15) / 16];
    pygpu_state *sums = (pygpu_state *)pygpu_raw;
    const unsigned tid = threadIdx.x, column = tid % PYGPU_COLUMNS, down = tid / PYGPU_COLUMNS;
    const size_t place = (size_t)blockIdx.x * PYGPU_COLUMNS + column, start = (size_t)blockIdx.y * part;
    const bool is_place = place < places;
    const size_t end = !is_place ? 0 : start + part < len ? start + part : len;
    // Threads that have no column to scan run the loop too, because the other threads of the block wait for them at
    // barriers.
    const size_t row_of = is_place ? place : 0, own = start + down * PYGPU_EACH;
    const char *from = PYGPU_FROM(row_of);
    pygpu_state carry;
    bool has_before = false;
#if PYGPU_IS_SHARED && !PYGPU_IS_SUM
    if (blockIdx.y > 0) {
        // Many parts of a column may lie above the part of this thread block. First, each thread of the column joins
        // the states of some of these parts; then the states of these threads are joined.
        const unsigned some = (blockIdx.y + PYGPU_DOWN - 1) / PYGPU_DOWN, first = down * some;
        const unsigned past = first + some < blockIdx.y ? first + some : blockIdx.y;
        if (is_place && first < past) {
            pygpu_state sum = parts[first * places + place];
#pragma unroll 4
            for (unsigned above = first + 1; above < past; above++) pygpu_join(sum, parts[above * places + place]);
            sums[tid] = sum;
        }
        __syncthreads();
        carry = sums[column];
        for (unsigned above = 1; above * some < blockIdx.y; above++) pygpu_join(carry, sums[above * PYGPU_COLUMNS + column]);
        has_before = true;
        __syncthreads();
    }
#endif
    pygpu_element next[PYGPU_EACH];
    pygpu_read(next, from, in_step, own, end);
    unsigned turn = 0;
    const size_t last = start + part < len ? start + part : len;
    for (size_t first = start; first < last; first += PYGPU_TILE) {
        const size_t row = first + down * PYGPU_EACH;
        pygpu_state x[PYGPU_EACH];
#pragma unroll
        for (int at = 0; at < PYGPU_EACH; at++) x[at] = pygpu_only(pygpu_convert(next[at]));
        pygpu_read(next, from, in_step, row + PYGPU_TILE, end);
#pragma unroll
        for (int at = 1; at < PYGPU_EACH; at++) {
            pygpu_state sum = x[at - 1];
            pygpu_join(sum, x[at]);
            x[at] = sum;
        }
        pygpu_state before;
        bool joins = has_before;
        if (has_before) before = carry;
#if PYGPU_DOWN > 1
        // Successive iterations use alternate halves of `sums`. Therefore no thread overwrites a state that another
        // thread still reads.
        pygpu_state *now = sums + turn;
        turn = PYGPU_THREADS - turn;
        now[tid] = x[PYGPU_EACH - 1];
        __syncthreads();
#pragma unroll 8
        for (unsigned above = 0; above < PYGPU_DOWN; above++) {
            if (above == down && above > 0) before = carry, joins = true;
            const pygpu_state sum = now[above * PYGPU_COLUMNS + column];
            if (above > 0 || has_before) pygpu_join(carry, sum);
            else carry = sum;
        }
#else
        if (has_before) pygpu_join(carry, x[PYGPU_EACH - 1]);
        else carry = x[PYGPU_EACH - 1];
#endif
        has_before = true;
#if !PYGPU_IS_SUM
        char *to = PYGPU_TO(row_of);
#pragma unroll
        for (int at = 0; at < PYGPU_EACH; at++) {
            pygpu_state sum = x[at];
            if (joins) {
                sum = before;
                pygpu_join(sum, x[at]);
            }
            if (row + at < end) *(pygpu_result *)(to + (long long)(row + at) * out_step) = pygpu_finish(sum, 0);
        }
#endif
    }
#if PYGPU_IS_SUM
    if (is_place && down == 0) parts[blockIdx.y * places + place] = carry;
#endif
}
