// Sorts long rows by the bytes of their keys, the lowest first, with one pass over the keys for each byte (Adinets and
// Merrill, "Onesweep", 2022). A thread block has a tile of PYGPU_TILE keys. It counts the tile's digits, and publishes
// these counts before it orders its keys. The sum of the counts of all earlier tiles is the offset of the tile. Counts
// are integers, so the result does not depend on the order in which the blocks run.
#define PYGPU_THREADS 256
#define PYGPU_WARPS (PYGPU_THREADS / PYGPU_WARP)
#define PYGPU_TILE (PYGPU_THREADS * PYGPU_EACH)

#if PYGPU_IS_COUNT
// For each pass and each value of a digit, counts the keys of a row with this digit. Rows are on the grid's x axis,
// which permits the most thread blocks.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_sort_count(const pygpu_element *from, pygpu_number *counts,
                                                                             pygpu_number count) {
    __shared__ unsigned own[PYGPU_PASSES * 256];
    const unsigned tid = threadIdx.x;
    for (unsigned i = tid; i < PYGPU_PASSES * 256; i += PYGPU_THREADS) own[i] = 0;
    __syncthreads();
    const pygpu_element *row = from + (size_t)blockIdx.x * count;
    const pygpu_number step = (pygpu_number)gridDim.y * PYGPU_THREADS * PYGPU_EACH;
    for (pygpu_number at = (pygpu_number)blockIdx.y * PYGPU_THREADS * PYGPU_EACH + tid; at < count; at += step) {
        pygpu_element next[PYGPU_EACH];
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++)
            if (at + turn * PYGPU_THREADS < count) next[turn] = row[at + turn * PYGPU_THREADS];
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++) {
            if (at + turn * PYGPU_THREADS < count) {
                const pygpu_key key = pygpu_encode(next[turn]);
#pragma unroll
                for (int pass = 0; pass < PYGPU_PASSES; pass++) atomicAdd(&own[pass * 256 + pygpu_digit(key, pass)], 1u);
            }
        }
    }
    __syncthreads();
    pygpu_number *all = counts + (size_t)blockIdx.x * PYGPU_PASSES * 256;
    for (unsigned i = tid; i < PYGPU_PASSES * 256; i += PYGPU_THREADS)
        if (own[i]) atomicAdd(&all[i], (pygpu_number)own[i]);
}
#else
// Returns the sum of the numbers that the threads with lower indices in the block pass to this function.
static __device__ inline pygpu_number pygpu_sum_before(pygpu_number own, pygpu_number *shared) {
    const unsigned tid = threadIdx.x, lane = tid % PYGPU_WARP, warp = tid / PYGPU_WARP;
    pygpu_number sum = own;
#pragma unroll
    for (int by = 1; by < PYGPU_WARP; by *= 2) {
        const pygpu_number lower = PYGPU_SHUFFLE_UP(sum, by);
        if (lane >= by) sum += lower;
    }
    if (lane == PYGPU_WARP - 1) shared[warp] = sum;
    __syncthreads();
#pragma unroll
    for (int other = 0; other < PYGPU_WARPS; other++)
        if (other < warp) sum += shared[other];
    __syncthreads();
    return sum - own;
}

// Returns the lanes of the warp that have the same digit as this lane. A ballot finds the lanes whose digit is that of
// the first lane. Every other lane sets its own bit in the word of its digit by an atomic operation; all these words
// are 0 before. Atomic operations on one word are slow if many lanes have the same digit, but the first lane then
// mostly has this digit too.
static __device__ inline pygpu_lanes pygpu_peers(unsigned digit, pygpu_lanes *written, unsigned lane) {
    const bool is_first = digit == PYGPU_SHUFFLE(digit, 0);
    const pygpu_lanes with_first = PYGPU_BALLOT(is_first);
    if (!is_first) atomicOr(&written[digit], (pygpu_lanes)1 << lane);
    PYGPU_SYNC_WARP();
    return is_first ? with_first : *(volatile pygpu_lanes *)&written[digit];
}

// Returns the number of keys in all earlier tiles whose digit is the one that this thread counts. Several tiles are
// read at once, because each read has a long latency. If positions are sorted too, only one tile is read at a time,
// because registers for several reads would cost more time than the overlap of the reads saves.
static __device__ inline pygpu_number pygpu_look_back(const pygpu_number *said, unsigned tile) {
    enum { at_once = PYGPU_PLACES ? 1 : 4 };
    pygpu_number before = 0;
    for (long long other = (long long)tile - 1; other >= 0;) {
        pygpu_number words[at_once];
#pragma unroll
        for (int i = 0; i < at_once; i++) words[i] = other >= i ? PYGPU_PEEK(&said[(other - i) * 256 + threadIdx.x]) : 0;
#pragma unroll
        for (int i = 0; i < at_once; i++) {
            if (words[i] == 0) break;
            before += PYGPU_NUMBER_OF(words[i]);
            if (words[i] >= PYGPU_UP_TO_TILE) return before;
            other--;
        }
    }
    return before;
}

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS, PYGPU_BLOCKS)
    pygpu_sort_sweep(const pygpu_element *elements, const pygpu_key *from, void *to, const pygpu_place *places_from, void *places_to,
                     pygpu_number count, unsigned tiles, int pass, const pygpu_number *counts, pygpu_number *said, pygpu_number *said_next,
                     unsigned *ticket) {
    __shared__ unsigned digits[PYGPU_WARPS * 256];
    __shared__ pygpu_lanes written[PYGPU_WARPS * 256];
    // Shared memory of a thread block, first for the keys of its tile and later for their positions.
    __shared__ unsigned long long shared[PYGPU_TILE_WORDS];
    pygpu_key *const keys = (pygpu_key *)shared;
    __shared__ pygpu_number base[256], sums[PYGPU_WARPS];
    __shared__ unsigned drawn;
    const unsigned tid = threadIdx.x, lane = tid % PYGPU_WARP, warp = tid / PYGPU_WARP;
    const bool is_first = pass == 0, is_last = pass == PYGPU_PASSES - 1;
    // Thread blocks take tiles in the order of the tiles' indices, so that a block waits only for blocks that are
    // running.
    if (tid == 0) drawn = atomicAdd(ticket, 1u);
    unsigned *own = digits + warp * 256;
    pygpu_lanes *own_written = written + warp * 256;
    for (unsigned i = lane; i < 256; i += PYGPU_WARP) {
        own[i] = 0;
        own_written[i] = 0;
    }
    __syncthreads();
    const unsigned row = drawn / tiles, tile = drawn % tiles;
    const pygpu_number start = (pygpu_number)tile * PYGPU_TILE;
    const unsigned valid = count - start < PYGPU_TILE ? (unsigned)(count - start) : PYGPU_TILE;
    const size_t offset = (size_t)row * count;
    elements += offset;
    // A warp processes consecutive keys. Each lane processes every PYGPU_WARP-th of the warp's keys.
    const unsigned at = warp * (PYGPU_WARP * PYGPU_EACH) + lane;
    pygpu_key key[PYGPU_EACH];
    if (is_first) {
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++)
            key[turn] = at + turn * PYGPU_WARP < valid ? pygpu_encode(elements[start + at + turn * PYGPU_WARP]) : pygpu_greatest();
    } else {
        from += offset + start;
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++)
            key[turn] = at + turn * PYGPU_WARP < valid ? from[at + turn * PYGPU_WARP] : pygpu_greatest();
    }
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) atomicAdd(&own[pygpu_digit(key[turn], pass)], 1u);
    __syncthreads();

    // From here on, each thread also processes the counts of one digit value, which equals the thread's index.
    unsigned sum = 0;
#pragma unroll
    for (int other = 0; other < PYGPU_WARPS; other++) {
        const unsigned of_warp = digits[other * 256 + tid];
        digits[other * 256 + tid] = sum;
        sum += of_warp;
    }
    pygpu_number *word = &said[((size_t)row * tiles + tile) * 256 + tid];
    if (tile) PYGPU_SAY(word, sum | PYGPU_OF_TILE);
    said_next[((size_t)row * tiles + tile) * 256 + tid] = 0;
    const unsigned begin = (unsigned)pygpu_sum_before(sum, sums);
#pragma unroll
    for (int other = 0; other < PYGPU_WARPS; other++) digits[other * 256 + tid] += begin;
    pygpu_number before = 0;
    if (tile == 0) before = pygpu_sum_before(counts[((size_t)row * PYGPU_PASSES + pass) * 256 + tid], sums);
    __syncthreads();

    // Computes the rank of each key in the tile. A key follows all keys with the same digit that earlier warps, earlier
    // turns of its warp, or earlier lanes process.
#if PYGPU_PLACES
    unsigned rank[PYGPU_EACH];
#endif
    const pygpu_lanes below = ((pygpu_lanes)1 << lane) - 1;
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) {
        const unsigned digit = pygpu_digit(key[turn], pass);
        const pygpu_lanes peers = pygpu_peers(digit, own_written, lane);
        const unsigned in_front = PYGPU_COUNT_LANES(peers & below), so_far = own[digit];
        PYGPU_SYNC_WARP();
        if (in_front == 0) {
            own[digit] = so_far + PYGPU_COUNT_LANES(peers);
            own_written[digit] = 0;
        }
        PYGPU_SYNC_WARP();
        keys[so_far + in_front] = key[turn];
#if PYGPU_PLACES
        rank[turn] = so_far + in_front;
#endif
    }
    if (tile) before = pygpu_look_back(&said[(size_t)row * tiles * 256], tile);
    PYGPU_SAY(word, (before + sum) | PYGPU_UP_TO_TILE);
    base[tid] = before - begin;
    __syncthreads();
#if PYGPU_PLACES
    // The positions are read from global memory before the keys are stored, so that these reads overlap with the stores
    // of the keys.
    pygpu_place own_place[PYGPU_EACH];
    pygpu_number target[PYGPU_EACH];
    if (!is_first) places_from += offset + start;
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) {
        const unsigned i = at + turn * PYGPU_WARP;
        own_place[turn] = is_first ? (pygpu_place)(start + i) : i < valid ? places_from[i] : 0;
    }
#endif
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) {
        const unsigned i = turn * PYGPU_THREADS + tid;
        if (i < valid) {
            const pygpu_key next = keys[i];
            const pygpu_number place = base[pygpu_digit(next, pass)] + i;
            if (!is_last) ((pygpu_key *)to)[offset + place] = next;
#if PYGPU_PLACES
            target[turn] = place;
#else
            else ((pygpu_element *)to)[offset + place] = pygpu_decode(next);
#endif
        }
    }
#if PYGPU_PLACES
    pygpu_place *const places = (pygpu_place *)shared;
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) places[rank[turn]] = own_place[turn];
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < PYGPU_EACH; turn++) {
        const unsigned i = turn * PYGPU_THREADS + tid;
        if (i < valid) {
            if (!is_last) {
                ((pygpu_place *)places_to)[offset + target[turn]] = places[i];
            } else {
                ((long long *)places_to)[offset + target[turn]] = (long long)places[i];
                // Because 0 and -0 have the same key, an element is not decoded from its key, but read from the input
                // again.
                if (to) ((pygpu_element *)to)[offset + target[turn]] = elements[places[i]];
            }
        }
    }
#endif
}
#endif
