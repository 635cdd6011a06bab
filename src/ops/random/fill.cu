// Uniform, normal, exponential and bounded numbers: element i of a call is computed from number i of the random stream,
// or, if half a number suffices, from half i of the stream.

// Parameters of the distribution. A kernel computes elements from them and from random numbers.
struct pygpu_task {
    pygpu_keys keys;
    pygpu_u64 range, threshold, base;
    double a, b;
    float a32, b32;
};

struct __align__(16) pygpu_vector {
    unsigned part[4];
};

#if PYGPU_ROWS
// The table by which random words are converted to quantiles (inversion.rs): the row for the word 0, followed by one
// row for each interval.
static __device__ const pygpu_vector pygpu_rows[1 + PYGPU_ROWS] = {PYGPU_TEXT_OF_ROWS};

static __device__ __forceinline__ pygpu_vector pygpu_scaled(pygpu_vector row, float scale) {
    for (int i = 0; i < 4; i++) row.part[i] = __float_as_int(__int_as_float(row.part[i]) * scale);
    return row;
}
#endif

// Index after the last interval of the quantile table.
#define PYGPU_LAST_ROW (159 * 8)

// State from which a thread computes a block of four random numbers: the stream position at which the launch begins,
// the index of the block counted from this position, and the rows of the quantile table (inversion.rs).
struct pygpu_block {
    const pygpu_place &place;
    pygpu_u64 number;
    const pygpu_vector *rows;
};

static __device__ __forceinline__ double pygpu_unit(pygpu_u64 x) { return (double)(x >> 11) * (1.0 / 9007199254740992.0); }

#if PYGPU_HALVES
typedef unsigned pygpu_unit_type;
#else
typedef pygpu_u64 pygpu_unit_type;
#endif

#if PYGPU_KIND == PYGPU_BOUNDED
// Lemire's method for bounded integers: the result is the upper half of the product of a random number and the bound.
// Random numbers that would make some results more likely than others are rejected.
#if PYGPU_HALVES
static __device__ __forceinline__ unsigned pygpu_bounded(pygpu_u64 x, pygpu_u64 range, unsigned &low) {
    const pygpu_u64 product = x * range;
    low = (unsigned)product;
    return (unsigned)(product >> 32);
}
#else
static __device__ __forceinline__ pygpu_u64 pygpu_bounded(pygpu_u64 x, pygpu_u64 range, pygpu_u64 &low) {
    pygpu_u64 high;
    low = pygpu_product(x, range, high);
    return high;
}
#endif

// Returns the first bounded integer that is not rejected, computed from number `x` or from further numbers of the
// element.
static __device__ __forceinline__ pygpu_out pygpu_accepted(pygpu_unit_type x, const pygpu_block &block, int lane,
                                                           const pygpu_task &task) {
    pygpu_unit_type low;
    pygpu_u64 found = pygpu_bounded(x, task.range, low);
#pragma unroll 1
    for (pygpu_u64 attempt = 0; low < (pygpu_unit_type)task.threshold; attempt++) {
        pygpu_words words(block.place, block.number, attempt * 16 + lane, task.keys);
        found = pygpu_bounded(words.next() >> (PYGPU_HALVES ? 32 : 0), task.range, low);
    }
    return (pygpu_out)(task.base + found);
}
#endif

#if PYGPU_ROWS
// Computes an element from half of a number, by a table of the distribution's quantiles. The index of a table row is
// the upper half of the bits of the first number of the row's interval, which takes one instruction to compute.
static __device__ __forceinline__ float pygpu_inverted(unsigned x, const pygpu_vector *rows, const pygpu_task &task) {
    using namespace pygpu_random;
    const float number = (float)(int)x;
    const int interval = interval_of(number);
#if PYGPU_KIND == PYGPU_EXPONENTIAL
    const int place = (interval >> 16) + ((int)x >> 31) * (16 * 256);
#else
    const int place = interval >> 16;
#endif
    const pygpu_vector row = *(const pygpu_vector *)((const char *)rows + place);
    const float size = polynomial(number, interval, __int_as_float(row.part[0]), __int_as_float(row.part[1]),
                                  __int_as_float(row.part[2]), __int_as_float(row.part[3]));
#if PYGPU_KIND == PYGPU_EXPONENTIAL
    return size;
#elif PYGPU_IS_CENTERED
    return negated_if(size, number);
#else
    return negated_if(size, number) + task.a32;
#endif
}
#endif

// Computes an element from one number, or from half of a number.
static __device__ __forceinline__ pygpu_out pygpu_element(pygpu_unit_type x, const pygpu_block &block, int lane,
                                                          const pygpu_task &task) {
#if PYGPU_KIND == PYGPU_RAW
    return (pygpu_out)(task.base + x);
#elif PYGPU_KIND == PYGPU_UNIFORM
#if PYGPU_HALVES
    // The factor is a power of two, so the order of the multiplications does not change the result.
    return task.a32 + (float)(x >> 8) * (task.b32 * (1.0f / 16777216.0f));
#else
    return task.a + task.b * pygpu_unit(x);
#endif
#elif PYGPU_ROWS
    return pygpu_inverted(x, block.rows, task);
#elif PYGPU_KIND == PYGPU_EXPONENTIAL
    return task.b * pygpu_random::waiting_time(x);
#elif PYGPU_KIND == PYGPU_BOUNDED
    return pygpu_accepted(x, block, lane, task);
#else
    return (pygpu_out)0;
#endif
}

#if PYGPU_KIND == PYGPU_NORMAL && !PYGPU_ROWS
// Computes two elements from two numbers (Box and Muller).
static __device__ __forceinline__ void pygpu_pair(pygpu_u64 x, pygpu_u64 y, const pygpu_task &task, pygpu_out *to) {
    const double a = task.a, radius = task.b * pygpu_random::radius(x);
    const pygpu_random::Pair angle = pygpu_random::turn(y);
    to[0] = fma(radius, angle.cosine, a);
    to[1] = fma(radius, angle.sine, a);
}
#endif

#define PYGPU_EACH (PYGPU_HALVES ? 8 : 4)
// Number of 16-byte stores for the elements that a block of four random numbers yields.
#define PYGPU_VECTORS (PYGPU_EACH * PYGPU_BYTES / 16)
// Whether the kernel contains the fast loop, which computes whole blocks of numbers.
#define PYGPU_QUICK (PYGPU_VECTORS > 0)

union pygpu_block_of_elements {
    pygpu_out element[PYGPU_EACH];
    pygpu_vector vector[PYGPU_VECTORS ? PYGPU_VECTORS : 1];
};

#if defined(__PYGPU_CPU__)
#define PYGPU_TURNS 0
#else
#define PYGPU_TURNS (PYGPU_VECTORS > 1)
#if defined(__HIP__)
#define PYGPU_TURNED() __syncthreads()
#else
#define PYGPU_TURNED() __syncwarp()
#endif
#endif

// Returns number `i` of a block of four random numbers, or half `i` of these numbers.
static __device__ __forceinline__ pygpu_unit_type pygpu_unit_of(const pygpu_u64 *c, int i) {
#if PYGPU_HALVES
    return (unsigned)(c[i / 2] >> i % 2 * 32);
#else
    return c[i];
#endif
}

static __device__ __forceinline__ void pygpu_make(pygpu_block_of_elements &made, const pygpu_u64 *c, const pygpu_block &block,
                                                  const pygpu_task &task) {
#if PYGPU_KIND == PYGPU_NORMAL && !PYGPU_ROWS
#pragma unroll
    for (int i = 0; i < PYGPU_EACH; i += 2) pygpu_pair(pygpu_unit_of(c, i), pygpu_unit_of(c, i + 1), task, made.element + i);
#elif PYGPU_KIND == PYGPU_BOUNDED
    bool is_any_refused = false;
#pragma unroll
    for (int i = 0; i < PYGPU_EACH; i++) {
        pygpu_unit_type low;
        made.element[i] = (pygpu_out)(task.base + pygpu_bounded(pygpu_unit_of(c, i), task.range, low));
        is_any_refused |= low < (pygpu_unit_type)task.threshold;
    }
    if (!is_any_refused) return;
    // Rejections are rare, so one copy of the code for rejected numbers serves all elements.
#pragma unroll 1
    for (int i = 0; i < PYGPU_EACH; i++) {
        pygpu_unit_type x = 0;
#pragma unroll
        for (int j = 0; j < PYGPU_EACH; j++) x = j == i ? pygpu_unit_of(c, j) : x;
        const pygpu_out accepted = pygpu_accepted(x, block, i, task);
#pragma unroll
        for (int j = 0; j < PYGPU_EACH; j++) made.element[j] = j == i ? accepted : made.element[j];
    }
#else
#pragma unroll
    for (int i = 0; i < PYGPU_EACH; i++) made.element[i] = pygpu_element(pygpu_unit_of(c, i), block, i, task);
#endif
}

// Adds a step of 128 bits to a product of 128 bits.
static __device__ __forceinline__ void pygpu_add(pygpu_u64 &low, pygpu_u64 &high, pygpu_u64 more_low, pygpu_u64 more_high) {
#if defined(__CUDA_ARCH__)
    asm("add.cc.u64 %0, %0, %2;\n\taddc.u64 %1, %1, %3;" : "+&l"(low), "+l"(high) : "l"(more_low), "l"(more_high));
#else
    low += more_low;
    high += more_high + (low < more_low);
#endif
}

// The second argument of the launch bounds is the minimum number of thread blocks per multiprocessor. Each thread then
// has fewer registers, but the additional concurrent blocks save more time.
#if !defined(__CUDA_ARCH__)
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS)
#elif PYGPU_KIND == PYGPU_NORMAL && !PYGPU_HALVES
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS, 3)
#elif PYGPU_KIND == PYGPU_BOUNDED || (PYGPU_KIND == PYGPU_EXPONENTIAL && !PYGPU_HALVES)
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS, 4)
#else
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS, 6)
#endif

extern "C" __global__ void PYGPU_BOUNDS
    PYGPU_NAME(pygpu_out *out, pygpu_u64 count, const pygpu_place *kept, pygpu_place place, pygpu_task task) {
#if PYGPU_ROWS
    // Each row of the quantile table is stored in shared memory at its own index. The lowest index is far from 0, so
    // the unused memory before it holds the elements that the threads exchange.
    __shared__ pygpu_vector rows[PYGPU_LAST_ROW];
    pygpu_out *const turned = (pygpu_out *)(rows + 8);
    if (threadIdx.x == 0) rows[0] = pygpu_scaled(pygpu_rows[0], task.b32);
#pragma unroll
    for (int i = 0; i < PYGPU_ROWS; i += PYGPU_THREADS)
        rows[PYGPU_LAST_ROW - PYGPU_ROWS + i + threadIdx.x] = pygpu_scaled(pygpu_rows[1 + i + threadIdx.x], task.b32);
    __syncthreads();
#else
    __shared__ __align__(16) pygpu_out turned[PYGPU_THREADS * PYGPU_EACH];
    const pygpu_vector *const rows = 0;
#endif
    if (kept) place = *kept;
#if PYGPU_KIND == PYGPU_NORMAL && !PYGPU_HALVES
    place.number += place.number % 2;
#endif
    // Index of the first element of the call, counted from the beginning of the first block of numbers.
    long long first = (long long)place.number * (PYGPU_EACH / 4);
#if PYGPU_SHARES
    if (place.has_half) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            out[0] = pygpu_element((unsigned)place.half, pygpu_block{place, 0, rows}, 15, task);
        first -= 1;
    }
    const long long least = (long long)place.has_half;
#else
    const long long least = 0;
#endif
    const pygpu_u64 blocks = (count + first + PYGPU_EACH - 1) / PYGPU_EACH;
    const pygpu_u64 step = (pygpu_u64)gridDim.x * PYGPU_THREADS;
    pygpu_u64 start = (pygpu_u64)blockIdx.x * PYGPU_THREADS;
    pygpu_upper upper = pygpu_begin(place.counter, task.keys);
#if PYGPU_QUICK
    // Number of blocks of random numbers that the fast loop computes. It is 0 unless the upper words of the counter are
    // equal for all blocks and the first block's elements begin at the start of the memory, which must be aligned.
    const bool is_straight = first == 0 && least == 0 && (size_t)out % 16 == 0 && place.counter[0] + blocks >= blocks;
    const pygpu_u64 straight = is_straight ? count / PYGPU_EACH : 0;
    if (start + PYGPU_THREADS <= straight) {
        pygpu_u64 high, step_high;
        // The first round multiplies the counter by a constant. Between two consecutive blocks of random numbers of a
        // thread, this product grows by a fixed step.
        const pygpu_u64 step_low = pygpu_product(PYGPU_FACTOR0, step, step_high);
        pygpu_u64 low = pygpu_product(PYGPU_FACTOR0, place.counter[0] + start + threadIdx.x, high);
        pygpu_vector *to = (pygpu_vector *)out + start * PYGPU_VECTORS;
        // Last address at which a thread block can begin its stores in the fast loop.
        const pygpu_vector *const end = (pygpu_vector *)out + (straight - PYGPU_THREADS) * PYGPU_VECTORS;
#if PYGPU_TURNS
        // Each store of 32 threads covers contiguous memory: the threads exchange their elements through shared memory,
        // in an order in which each quarter of the threads uses different banks.
        const unsigned lane = threadIdx.x % 32, group = (threadIdx.x - lane) * PYGPU_VECTORS;
        const unsigned from = lane * PYGPU_VECTORS, turn = from / 8 % PYGPU_VECTORS;
        pygpu_vector *const own_part = (pygpu_vector *)turned + group;
        const pygpu_vector *const row = own_part + (lane ^ lane / 8 % PYGPU_VECTORS);
        pygpu_vector *mine[PYGPU_VECTORS];
        for (int i = 0; i < PYGPU_VECTORS; i++) mine[i] = own_part + from + (i ^ turn);
        to += group + lane;
        const unsigned ahead = group + lane;
#else
        to += threadIdx.x * PYGPU_VECTORS;
        const unsigned ahead = threadIdx.x * PYGPU_VECTORS;
#endif
        const pygpu_vector *const last = end + ahead;
#pragma unroll 1
        do {
            pygpu_u64 c[4];
            pygpu_finish(c, upper, low, high, task.keys);
            pygpu_add(low, high, step_low, step_high);
            pygpu_block_of_elements made;
            pygpu_make(made, c, pygpu_block{place, start + threadIdx.x, rows}, task);
#if PYGPU_TURNS
#pragma unroll
            for (int i = 0; i < PYGPU_VECTORS; i++) *mine[i] = made.vector[i];
            PYGPU_TURNED();
#pragma unroll
            for (int i = 0; i < PYGPU_VECTORS; i++) to[i * 32] = row[i * 32];
            PYGPU_TURNED();
#else
#pragma unroll
            for (int i = 0; i < PYGPU_VECTORS; i++) to[i] = made.vector[i];
#endif
            to += step * PYGPU_VECTORS;
            start += step;
        } while (to <= last);
    }
#endif
    for (; start < blocks; start += step) {
        const pygpu_u64 own = start + threadIdx.x;
        pygpu_u64 c[4], counter[4], high;
        pygpu_later(counter, place.counter, own);
        if (counter[0] < own) upper = pygpu_begin(counter, task.keys);
        const pygpu_u64 low = pygpu_product(PYGPU_FACTOR0, counter[0], high);
        pygpu_finish(c, upper, low, high, task.keys);
        pygpu_block_of_elements made;
        pygpu_make(made, c, pygpu_block{place, own, rows}, task);
        // The threads move elements through shared memory to their positions in the result, because a call may begin
        // within a block of numbers.
#pragma unroll
        for (int i = 0; i < PYGPU_EACH; i++) turned[threadIdx.x * PYGPU_EACH + i] = made.element[i];
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < PYGPU_THREADS * PYGPU_EACH; i += PYGPU_THREADS) {
            const long long at = (long long)start * PYGPU_EACH + i - first;
            if (at >= least && at < (long long)count) out[at] = turned[i];
        }
        __syncthreads();
    }
}
