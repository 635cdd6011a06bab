// Finds the runs of equal elements in sorted elements: the value and the index of each run's first element, and for
// each element the index of its run. Outputs that are not requested are null. The number of runs before a tile is the
// sum of the counts that earlier tiles publish, as in a radix pass.
#define PYGPU_THREADS 256
#define PYGPU_WARPS (PYGPU_THREADS / PYGPU_WARP)
#define PYGPU_TILE (PYGPU_THREADS * PYGPU_EACH)
#define PYGPU_ROUNDS (PYGPU_EACH / PYGPU_PACK)

// The elements that a thread reads by one load.
struct alignas(sizeof(pygpu_element) * PYGPU_PACK) pygpu_pack {
    pygpu_element item[PYGPU_PACK];
};

// Returns the number of runs that begin before the tile. A warp reads the published words of as many tiles at once as
// it has lanes.
static __device__ inline pygpu_number pygpu_look_back(const pygpu_number *said, unsigned tile) {
    const int lane = threadIdx.x;
    pygpu_number before = 0;
    for (long long other = (long long)tile - 1 - lane;; other -= PYGPU_WARP) {
        pygpu_number word = PYGPU_UP_TO_TILE;
        while (other >= 0 && (word = PYGPU_PEEK(&said[other])) == 0) PYGPU_YIELD();
        const pygpu_lanes whole = PYGPU_BALLOT(word >= PYGPU_UP_TO_TILE);
        // The counts of earlier tiles are added up, from the nearest tile backwards to the first tile whose count
        // already includes all tiles before it.
        const bool counts = whole == 0 || lane <= PYGPU_FIRST_LANE(whole);
        pygpu_number sum = counts ? PYGPU_NUMBER_OF(word) : 0;
#pragma unroll
        for (int by = PYGPU_WARP / 2; by; by /= 2) sum += PYGPU_SHUFFLE_XOR(sum, by);
        before += sum;
        if (whole) return before;
    }
}

// Returns how many runs begin before the elements that a lane has loaded, in one round of a warp. Also adds to `all`
// the number of runs that begin in the whole round.
static __device__ inline unsigned pygpu_before_pack(unsigned begins, int round, unsigned lane, unsigned &all) {
    const pygpu_lanes below = ((pygpu_lanes)1 << lane) - 1;
    unsigned before = 0;
#pragma unroll
    for (int item = 0; item < PYGPU_PACK; item++) {
        const pygpu_lanes lanes = PYGPU_BALLOT(begins >> (round * PYGPU_PACK + item) & 1);
        before += PYGPU_COUNT_LANES(lanes & below);
        all += PYGPU_COUNT_LANES(lanes);
    }
    return before;
}

static __device__ inline bool pygpu_is_first(pygpu_element before, pygpu_element own) {
    // NaNs are at the end of the sorted elements. Complex numbers with a NaN are equal even if their other parts
    // differ. If PYGPU_NAN_APART is set, each NaN is a separate run.
    return pygpu_has_nan(own) ? PYGPU_NAN_APART || !pygpu_has_nan(before) : pygpu_differ(pygpu_encode(before), pygpu_encode(own));
}

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS, 4)
    pygpu_sort_runs(const pygpu_element *sorted, const long long *places, pygpu_element *values, long long *starts,
                    long long *inverse, long long *total, pygpu_number count, pygpu_number *said, unsigned *ticket) {
    __shared__ unsigned sums[PYGPU_WARPS], drawn;
    __shared__ pygpu_number before_tile;
    // The values of the tile's runs. In shared memory they are contiguous, so that adjacent threads write adjacent
    // elements to global memory.
    __shared__ pygpu_element firsts[PYGPU_TILE];
    const unsigned tid = threadIdx.x, lane = tid % PYGPU_WARP, warp = tid / PYGPU_WARP;
    if (tid == 0) drawn = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned tile = drawn;
    const pygpu_number start = (pygpu_number)tile * PYGPU_TILE;
    const unsigned valid = count - start < PYGPU_TILE ? (unsigned)(count - start) : PYGPU_TILE;
    // A warp processes consecutive elements. Each lane loads every PYGPU_WARP-th pack (vector load) of the warp's
    // elements.
    const unsigned at = warp * (PYGPU_WARP * PYGPU_EACH) + lane * PYGPU_PACK;
    sorted += start;
    pygpu_element own[PYGPU_EACH];
    if (valid == PYGPU_TILE && (size_t)sorted % sizeof(pygpu_pack) == 0) {
#pragma unroll
        for (int round = 0; round < PYGPU_ROUNDS; round++) {
            const pygpu_pack pack = *(const pygpu_pack *)(sorted + at + round * (PYGPU_WARP * PYGPU_PACK));
#pragma unroll
            for (int item = 0; item < PYGPU_PACK; item++) own[round * PYGPU_PACK + item] = pack.item[item];
        }
    } else {
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++) {
            const unsigned i = at + turn / PYGPU_PACK * (PYGPU_WARP * PYGPU_PACK) + turn % PYGPU_PACK;
            if (i < valid) own[turn] = sorted[i];
        }
    }
    // One bit for each element, which is set if a run begins at the element. To detect a run, a lane also reads the
    // element before its first one. An adjacent lane has loaded that element, so it is in the cache.
    unsigned begins = 0;
#pragma unroll
    for (int round = 0; round < PYGPU_ROUNDS; round++) {
        const unsigned i = at + round * (PYGPU_WARP * PYGPU_PACK);
        const int first = round * PYGPU_PACK;
        if (i < valid) {
            const bool is_first = start + i == 0 || pygpu_is_first(*(sorted + i - 1), own[first]);
            begins |= (unsigned)is_first << first;
        }
#pragma unroll
        for (int item = 1; item < PYGPU_PACK; item++)
            if (i + item < valid) begins |= (unsigned)pygpu_is_first(own[first + item - 1], own[first + item]) << (first + item);
    }
    unsigned of_warp = __popc(begins);
#pragma unroll
    for (int by = PYGPU_WARP / 2; by; by /= 2) of_warp += PYGPU_SHUFFLE_XOR(of_warp, by);
    if (lane == 0) sums[warp] = of_warp;
    __syncthreads();
    unsigned sum = 0, in_front = 0;
#pragma unroll
    for (int other = 0; other < PYGPU_WARPS; other++) {
        if (other < warp) in_front += sums[other];
        sum += sums[other];
    }
    if (tid == 0 && tile) PYGPU_SAY(&said[tile], sum | PYGPU_OF_TILE);
    unsigned rank = in_front;
#pragma unroll
    for (int round = 0; round < PYGPU_ROUNDS; round++) {
        unsigned all = 0, place = rank + pygpu_before_pack(begins, round, lane, all);
#pragma unroll
        for (int item = 0; item < PYGPU_PACK; item++)
            if (begins >> (round * PYGPU_PACK + item) & 1) firsts[place++] = own[round * PYGPU_PACK + item];
        rank += all;
    }
    if (warp == 0) {
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
    for (unsigned i = tid; i < sum; i += PYGPU_THREADS) values[before_tile + i] = firsts[i];
    if (!starts && !inverse) return;
    rank = in_front;
#pragma unroll
    for (int round = 0; round < PYGPU_ROUNDS; round++) {
        unsigned all = 0;
        size_t run = (size_t)before_tile + rank + pygpu_before_pack(begins, round, lane, all);
#pragma unroll
        for (int item = 0; item < PYGPU_PACK; item++) {
            const unsigned i = at + round * (PYGPU_WARP * PYGPU_PACK) + item;
            const bool is_first = begins >> (round * PYGPU_PACK + item) & 1;
            if (starts && is_first) starts[run] = (long long)(start + i);
            run += is_first;
            if (inverse && i < valid) inverse[places[start + i]] = (long long)run - 1;
        }
        rank += all;
    }
}
