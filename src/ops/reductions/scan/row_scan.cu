// Scans rows whose elements are close to each other in memory. A thread block scans PYGPU_ROWS rows with PYGPU_LANES
// threads each, and a thread scans PYGPU_EACH consecutive elements. Adjacent threads read adjacent elements, and pass
// them through shared memory to the threads that scan them. Each thread then joins its own elements in registers, and
// threads exchange only their totals. A block moves along its rows and carries the state, i.e. the joined value, of the
// elements before its position. With PYGPU_IS_CHAINED, a block scans one tile of one row, and receives the state of the
// elements before the tile from other blocks.
#define PYGPU_THREADS (PYGPU_ROWS * PYGPU_LANES)
#define PYGPU_IN_ROW (PYGPU_LANES * PYGPU_EACH)
#if PYGPU_ROWS > 1
#define PYGPU_ROW_OF(at) ((at) / PYGPU_IN_ROW)
#else
#define PYGPU_ROW_OF(at) 0
#endif

// Layout of a tile's elements in shared memory, grouped by thread. 16 bytes of padding after each thread's elements
// avoid bank conflicts.
template <class T> struct pygpu_shelf {
    enum {
        OWN = PYGPU_EACH * sizeof(T),
        PITCH = OWN < 32 ? OWN : OWN + 16,
        BYTES = PYGPU_THREADS * PITCH,
        CHUNK = OWN < 16 ? PYGPU_EACH : 16 / sizeof(T)
    };
    typedef pygpu::pack<T, CHUNK> chunk;

    static __device__ char *place(char *shelf, unsigned at) {
        return shelf + at / PYGPU_EACH * PITCH + at % PYGPU_EACH * sizeof(T);
    }
};
typedef pygpu_shelf<pygpu_element> pygpu_elements;
typedef pygpu_shelf<pygpu_result> pygpu_results;

// Reads one chunk, i.e. at most 16 bytes, of the elements that a thread scans. The chunk begins with the element that
// has index `at` among the thread's elements.
static __device__ inline pygpu_elements::chunk pygpu_chunk(char *shelf, unsigned tid, unsigned at) {
    return *(const pygpu_elements::chunk *)pygpu_elements::place(shelf, tid * PYGPU_EACH + at);
}

// Joins an element to the state of the elements before it, if there are such elements. The result is the state up to
// and including the element.
static __device__ inline void pygpu_take_next(pygpu_state &up_to, const pygpu_state *before, const pygpu_element &element) {
    const pygpu_state own = pygpu_only(pygpu_convert(element));
    if (before) {
        up_to = *before;
        pygpu_join(up_to, own);
    } else {
        up_to = own;
    }
}

#if PYGPU_IS_AS_LARGE
// Joins all elements that a thread scans, in their order, into the state `all`.
static __device__ inline void pygpu_join_chunks(pygpu_state &all, char *shelf, unsigned tid) {
#pragma unroll
    for (int at = 0; at < PYGPU_EACH; at += pygpu_elements::CHUNK) {
        const pygpu_elements::chunk chunk = pygpu_chunk(shelf, tid, at);
#pragma unroll
        for (int v = 0; v < pygpu_elements::CHUNK; v++) {
            const pygpu_state before = all;
            pygpu_take_next(all, at + v ? &before : 0, chunk.item[v]);
        }
    }
}
#endif

// Scans the states of the threads that share a row, for each row of the block. When a thread calls this function, no
// other thread may still read `sums`.
static __device__ inline const pygpu_state *pygpu_scan_lanes(pygpu_state *sums, const pygpu_state &own, unsigned tid) {
    const unsigned lane = tid % PYGPU_LANES;
    unsigned now = 0;
    sums[tid] = own;
    __syncthreads();
#pragma unroll
    for (unsigned reach = 1; reach < PYGPU_LANES; reach *= 2) {
        pygpu_state sum = sums[now + tid];
        if (lane >= reach) {
            pygpu_state before = sums[now + tid - reach];
            pygpu_join(before, sum);
            sum = before;
        }
        now = PYGPU_THREADS - now;
        sums[now + tid] = sum;
        __syncthreads();
    }
    return sums + now;
}

#if PYGPU_IS_CHAINED
// Thread blocks exchange states as words of 32 bits. Each word is the lower half of 64 bits, and the upper half is 1
// once the word is written. A single access reads or writes both halves, so the order in which the words become visible
// does not matter.
#define PYGPU_WORDS ((sizeof(pygpu_state) + 3) / 4)
typedef unsigned long long pygpu_word;

static __device__ inline pygpu_word pygpu_look(pygpu_word *place) {
#if defined(__PYGPU_CPU__)
    return atomicAdd(place, 0ull); // on the CPU backend, an atomic operation lets the backend's other threads run
#elif defined(__HIPCC_RTC__) || defined(__HIP__)
    return __hip_atomic_load(place, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    return *(volatile pygpu_word *)place;
#endif
}

static __device__ inline void pygpu_tell(pygpu_word *place, pygpu_word word) {
#if defined(__PYGPU_CPU__)
    atomicExch(place, word);
#elif defined(__HIPCC_RTC__) || defined(__HIP__)
    __hip_atomic_store(place, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
    *(volatile pygpu_word *)place = word;
#endif
}

struct pygpu_message {
    unsigned word[PYGPU_WORDS];
};

#define PYGPU_COPY(to, from)                                                                                   \
    _Pragma("unroll") for (int unit = 0; unit < (int)(sizeof(pygpu_state) / sizeof(pygpu_unit)); unit++)       \
        ((pygpu_unit *)&to)[unit] = ((const pygpu_unit *)&from)[unit];

static __device__ inline void pygpu_publish(pygpu_word *board, size_t number, const pygpu_state &state) {
    pygpu_message message = {};
    PYGPU_COPY(message, state)
#pragma unroll
    for (int at = 0; at < (int)PYGPU_WORDS; at++) pygpu_tell(board + number * PYGPU_WORDS + at, 1ull << 32 | message.word[at]);
}

// Waits until another thread block has published a state, and reads this state.
static __device__ inline void pygpu_await(pygpu_state &state, pygpu_word *board, size_t number) {
    pygpu_message message;
#pragma unroll
    for (int at = 0; at < (int)PYGPU_WORDS; at++) {
        pygpu_word word;
        do word = pygpu_look(board + number * PYGPU_WORDS + at);
        while (!(word >> 32));
        message.word[at] = (unsigned)word;
    }
    PYGPU_COPY(state, message)
}

// Joins the first `count` states in the first half of `sums`, and the first `count_of_other` states in the second half.
// The order of joins depends on these two numbers only.
static __device__ inline void pygpu_join_halves(pygpu_state *sums, unsigned count, unsigned count_of_other, unsigned tid) {
    __syncthreads();
#pragma unroll
    for (unsigned reach = PYGPU_THREADS / 2; reach; reach /= 2) {
        const bool is_other = tid >= reach;
        const unsigned at = is_other ? tid - reach : tid, all = is_other ? count_of_other : count;
        if (at < reach && at + reach < (all < 2 * reach ? all : 2 * reach)) {
            pygpu_state *own = sums + (is_other ? PYGPU_THREADS : 0);
            pygpu_join(own[at], own[at + reach]);
        }
        __syncthreads();
    }
}

// Joins the states of all tiles that precede a tile in its row. The order of the joins does not depend on the order in
// which thread blocks run. PYGPU_THREADS tiles form a group, and PYGPU_THREADS groups form a league. A block joins four
// parts: the leagues before the block's league; the earlier groups of that league, except the group directly before the
// block's group; the tiles of that excepted group; and the earlier tiles of the block's group. Only leagues wait for
// each other in sequence: the last block of a group publishes the group's state, which is first needed two groups
// later. A tile waits only for tiles that began before it, so at least one block can always continue.
static __device__ inline void pygpu_before(pygpu_state &before, pygpu_state *sums, pygpu_state *shared, pygpu_word *tiles,
                                           pygpu_word *groups, pygpu_word *leagues, size_t number, size_t group, size_t league,
                                           size_t tile, bool is_last, const pygpu_state &total, unsigned tid) {
    const unsigned place = tile % PYGPU_THREADS, groups_before = tile / PYGPU_THREADS % PYGPU_THREADS;
    const bool ends_group = place == PYGPU_THREADS - 1, ends_league = ends_group && groups_before == PYGPU_THREADS - 1;
    const bool has_league = tile / PYGPU_THREADS / PYGPU_THREADS > 0;
    if (!is_last && tid == 0) pygpu_publish(tiles, number, total);
    pygpu_state own;
    if (tid < place) pygpu_await(own, tiles, number - place + tid);
    if (ends_group && !is_last) {
        if (tid < place) sums[tid] = own;
        pygpu_join_halves(sums, place, 0, tid);
        if (tid == 0) {
            pygpu_state all = total;
            if (place) {
                all = sums[0];
                pygpu_join(all, total);
            }
            pygpu_publish(groups, group, all);
        }
        __syncthreads();
    }
    if (groups_before) {
        pygpu_state part;
        pygpu_await(part, tiles, number - place - PYGPU_THREADS + tid);
        if (tid < place) pygpu_join(part, own);
        own = part;
        if (tid < groups_before - 1) pygpu_await(sums[PYGPU_THREADS + tid], groups, group - groups_before + tid);
    }
    const unsigned parts = groups_before ? PYGPU_THREADS : place;
    if (tid < parts) sums[tid] = own;
    pygpu_join_halves(sums, parts, groups_before > 1 ? groups_before - 1 : 0, tid);
    if (tid == 0) {
        pygpu_state all;
        bool is_any = has_league;
        if (has_league) pygpu_await(all, leagues, league - 1);
        if (groups_before > 1) {
            if (is_any) pygpu_join(all, sums[PYGPU_THREADS]); else all = sums[PYGPU_THREADS];
            is_any = true;
        }
        if (parts) {
            if (is_any) pygpu_join(all, sums[0]); else all = sums[0];
            is_any = true;
        }
        *shared = all;
        if (ends_league && !is_last) {
            if (is_any) pygpu_join(all, total); else all = total;
            pygpu_publish(leagues, league, all);
        }
    }
    __syncthreads();
    before = *shared;
}
#endif

extern "C" __global__ void PYGPU_BOUNDS PYGPU_NAME(PYGPU_PARAMETERS) {
    enum { SHELF = (int)pygpu_elements::BYTES > (int)pygpu_results::BYTES ? (int)pygpu_elements::BYTES : (int)pygpu_results::BYTES };
    __shared__ pygpu::bytes pygpu_raw_shelf[(SHELF + 15) / 16];
    __shared__ pygpu::bytes pygpu_raw_sums[(2 * PYGPU_THREADS * sizeof(pygpu_state) + 15) / 16];
    char *shelf = (char *)pygpu_raw_shelf;
    pygpu_state *sums = (pygpu_state *)pygpu_raw_sums;
    const unsigned tid = threadIdx.x, lane = tid % PYGPU_LANES;
#if PYGPU_IS_CHAINED
    __shared__ unsigned pygpu_ticket;
    __shared__ pygpu::bytes pygpu_raw_before[(sizeof(pygpu_state) + 15) / 16];
    if (tid == 0) pygpu_ticket = atomicAdd((unsigned *)board, 1u);
    __syncthreads();
    const size_t number = pygpu_ticket, first_row = number / tiles, tile = number % tiles;
    const size_t start = tile * PYGPU_IN_ROW;
    {
#else
    const size_t first_row = (size_t)blockIdx.x * PYGPU_ROWS;
    pygpu_state carry;
    for (size_t start = 0; start < len; start += PYGPU_IN_ROW) {
#endif
        // If the tile lies completely inside the rows, its elements are read without a condition. The reads then
        // overlap, because none waits for a condition.
        const bool is_whole = start + PYGPU_IN_ROW <= len && PYGPU_IS_ROW(first_row + PYGPU_ROWS - 1);
        pygpu_in next[PYGPU_EACH / PYGPU_IN_VECTOR];
        if (is_whole) {
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH / PYGPU_IN_VECTOR; turn++) {
                const unsigned at = (turn * PYGPU_THREADS + tid) * PYGPU_IN_VECTOR;
                const size_t row = first_row + PYGPU_ROW_OF(at), column = start + at % PYGPU_IN_ROW;
                next[turn] = *(const pygpu_in *)(PYGPU_FROM(row) + (long long)column * in_step);
            }
        } else {
#pragma unroll
            for (int turn = 0; turn < PYGPU_EACH / PYGPU_IN_VECTOR; turn++) {
                const unsigned at = (turn * PYGPU_THREADS + tid) * PYGPU_IN_VECTOR;
                const size_t row = first_row + PYGPU_ROW_OF(at), column = start + at % PYGPU_IN_ROW;
                if (!PYGPU_IS_ROW(row) || column >= len) continue;
                const char *from = PYGPU_FROM(row) + (long long)column * in_step;
                if (column + PYGPU_IN_VECTOR <= len) {
                    next[turn] = *(const pygpu_in *)from;
                } else {
#pragma unroll
                    for (int v = 0; v < PYGPU_IN_VECTOR - 1; v++)
                        if (column + v < len) next[turn].item[v] = *(const pygpu_element *)(from + v * in_step);
                }
            }
        }
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH / PYGPU_IN_VECTOR; turn++)
            *(pygpu_in *)pygpu_elements::place(shelf, (turn * PYGPU_THREADS + tid) * PYGPU_IN_VECTOR) = next[turn];
        __syncthreads();
        // The tile's elements after the end of a row have undefined values, which do not affect the results before the
        // end. If results are as large as elements, they replace the elements in shared memory. In that case they
        // occupy no registers, and a multiprocessor can run more thread blocks.
#if PYGPU_IS_AS_LARGE
        pygpu_state of_thread;
        pygpu_join_chunks(of_thread, shelf, tid);
#else
        pygpu_state x[PYGPU_EACH];
#pragma unroll
        for (int at = 0; at < PYGPU_EACH; at += pygpu_elements::CHUNK) {
            const pygpu_elements::chunk chunk = pygpu_chunk(shelf, tid, at);
#pragma unroll
            for (int v = 0; v < pygpu_elements::CHUNK; v++) pygpu_take_next(x[at + v], at + v ? &x[at + v - 1] : 0, chunk.item[v]);
        }
        const pygpu_state &of_thread = x[PYGPU_EACH - 1];
#endif
        const pygpu_state *up_to = pygpu_scan_lanes(sums, of_thread, tid);
        pygpu_state before, own;
        if (lane > 0) own = up_to[tid - 1];
        const pygpu_state total = up_to[tid - lane + PYGPU_LANES - 1];
        const bool has_before = start > 0;
#if PYGPU_IS_CHAINED
        __syncthreads();
        if (tiles > 1) {
            const size_t in_league = PYGPU_THREADS * PYGPU_THREADS;
            const size_t groups_of_row = (tiles + PYGPU_THREADS - 1) / PYGPU_THREADS, leagues_of_row = (tiles + in_league - 1) / in_league;
            pygpu_word *of_tiles = board + 1, *of_groups = of_tiles + rows * tiles * PYGPU_WORDS;
            pygpu_before(before, sums, (pygpu_state *)pygpu_raw_before, of_tiles, of_groups, of_groups + rows * groups_of_row * PYGPU_WORDS,
                         number, first_row * groups_of_row + tile / PYGPU_THREADS, first_row * leagues_of_row + tile / in_league, tile,
                         tile + 1 == tiles, total, tid);
        }
#else
        if (has_before) before = carry;
        if (has_before) pygpu_join(carry, total); else carry = total;
#endif
        if (has_before) {
            if (lane > 0) pygpu_join(before, own);
        } else {
            before = own;
        }
        const bool joins = has_before || lane > 0;
#if PYGPU_IS_AS_LARGE
        pygpu_state up_to_here;
#endif
#pragma unroll
        for (int at = 0; at < PYGPU_EACH; at += pygpu_results::CHUNK) {
#if PYGPU_IS_AS_LARGE
            const pygpu_elements::chunk read = pygpu_chunk(shelf, tid, at);
#endif
            pygpu_results::chunk chunk;
#pragma unroll
            for (int v = 0; v < pygpu_results::CHUNK; v++) {
#if PYGPU_IS_AS_LARGE
                const pygpu_state before_it = up_to_here;
                pygpu_take_next(up_to_here, at + v ? &before_it : 0, read.item[v]);
#else
                const pygpu_state &up_to_here = x[at + v];
#endif
                pygpu_state sum = up_to_here;
                if (joins) {
                    sum = before;
                    pygpu_join(sum, up_to_here);
                }
                chunk.item[v] = pygpu_finish(sum, 0);
            }
            *(pygpu_results::chunk *)pygpu_results::place(shelf, tid * PYGPU_EACH + at) = chunk;
        }
        __syncthreads();
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH / PYGPU_OUT_VECTOR; turn++) {
            const unsigned at = (turn * PYGPU_THREADS + tid) * PYGPU_OUT_VECTOR;
            const size_t row = first_row + PYGPU_ROW_OF(at), column = start + at % PYGPU_IN_ROW;
            const pygpu_out made = *(const pygpu_out *)pygpu_results::place(shelf, at);
            if (!is_whole && (!PYGPU_IS_ROW(row) || column >= len)) continue;
            char *to = PYGPU_TO(row) + (long long)column * out_step;
            if (is_whole || column + PYGPU_OUT_VECTOR <= len) {
                *(pygpu_out *)to = made;
            } else {
#pragma unroll
                for (int v = 0; v < PYGPU_OUT_VECTOR - 1; v++)
                    if (column + v < len) *(pygpu_result *)(to + v * out_step) = made.item[v];
            }
        }
        __syncthreads();
    }
}
