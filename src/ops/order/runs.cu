// Of elements in order the first of each run of equal ones: its value, where it stands, and for all elements the number of their
// run; what is not asked for has no address. What stands before a tile is known from what the tiles before it say, as in a sweep.
#define PYGPU_THREADS 256
#define PYGPU_WARPS (PYGPU_THREADS / PYGPU_WARP)
#define PYGPU_TILE (PYGPU_THREADS * PYGPU_EACH)

// How many runs begin before the tile; a warp looks at as many tiles as it has lanes.
static __device__ inline pygpu_number pygpu_look_back(const pygpu_number *said, unsigned tile) {
    const int lane = threadIdx.x;
    pygpu_number before = 0;
    for (long long other = (long long)tile - 1 - lane;; other -= PYGPU_WARP) {
        pygpu_number word = PYGPU_UP_TO_TILE;
        while (other >= 0 && (word = PYGPU_PEEK(&said[other])) == 0) PYGPU_YIELD();
        const pygpu_lanes whole = PYGPU_BALLOT(word >= PYGPU_UP_TO_TILE);
        // The nearest tile that knows what stands before it is the last one that counts.
        const bool counts = whole == 0 || lane <= PYGPU_FIRST_LANE(whole);
        pygpu_number sum = counts ? PYGPU_NUMBER_OF(word) : 0;
#pragma unroll
        for (int by = PYGPU_WARP / 2; by; by /= 2) sum += PYGPU_SHUFFLE_XOR(sum, by);
        before += sum;
        if (whole) return before;
    }
}

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS, 4)
    pygpu_sort_runs(const pygpu_element *sorted, const long long *places, pygpu_element *values, long long *starts,
                    long long *inverse, long long *total, pygpu_number count, pygpu_number *said, unsigned *ticket) {
    __shared__ unsigned sums[PYGPU_WARPS], drawn;
    __shared__ pygpu_number before_tile;
    const unsigned tid = threadIdx.x, lane = tid % PYGPU_WARP, warp = tid / PYGPU_WARP;
    if (tid == 0) drawn = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned tile = drawn;
    const pygpu_number start = (pygpu_number)tile * PYGPU_TILE;
    const unsigned valid = count - start < PYGPU_TILE ? (unsigned)(count - start) : PYGPU_TILE;
    const unsigned at = warp * (PYGPU_WARP * PYGPU_EACH) + lane;
    sorted += start;
    pygpu_element own[PYGPU_EACH];
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++)
        if (at + turn * PYGPU_WARP < valid) own[turn] = sorted[at + turn * PYGPU_WARP];
    // A bit for each turn. The element before was read by a neighbour, and is near; no load passes a ballot, so these come later.
    unsigned begins = 0;
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) {
        const unsigned i = at + turn * PYGPU_WARP;
        bool is_first = i < valid;
        if (is_first && start + i > 0) {
            const pygpu_element other = *(sorted + i - 1);
            // NaNs stand together at the end; those of complex numbers differ in their other parts.
            is_first = pygpu_has_nan(own[turn]) ? PYGPU_NAN_APART || !pygpu_has_nan(other)
                                                : pygpu_differ(pygpu_encode(other), pygpu_encode(own[turn]));
        }
        begins |= (unsigned)is_first << turn;
    }
    unsigned of_warp = 0;
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) of_warp += PYGPU_COUNT_LANES(PYGPU_BALLOT(begins >> turn & 1));
    if (lane == 0) sums[warp] = of_warp;
    __syncthreads();
    unsigned sum = 0, in_front = 0;
#pragma unroll
    for (int other = 0; other < PYGPU_WARPS; other++) {
        if (other < warp) in_front += sums[other];
        sum += sums[other];
    }
    if (warp == 0) {
        if (lane == 0 && tile) PYGPU_SAY(&said[tile], sum | PYGPU_OF_TILE);
        const pygpu_number before = tile ? pygpu_look_back(said, tile) : 0;
        if (lane == 0) {
            PYGPU_SAY(&said[tile], (before + sum) | PYGPU_UP_TO_TILE);
            before_tile = before;
            if (start + valid == count) {
                if (starts) starts[before + sum] = (long long)count;
                *total = (long long)(before + sum);
                __threadfence_system();
            }
        }
    }
    __syncthreads();
    size_t rank = before_tile + in_front;
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) {
        const unsigned i = at + turn * PYGPU_WARP;
        const pygpu_lanes of_turn = PYGPU_BALLOT(begins >> turn & 1);
        const size_t run = rank + PYGPU_COUNT_LANES(of_turn & (((pygpu_lanes)1 << lane) - 1));
        const bool is_first = begins >> turn & 1;
        if (is_first) {
            if (values) values[run] = own[turn];
            if (starts) starts[run] = (long long)(start + i);
        }
        if (inverse && i < valid) inverse[places[start + i]] = (long long)(is_first ? run : run - 1);
        rank += PYGPU_COUNT_LANES(of_turn);
    }
}
