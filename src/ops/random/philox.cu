// Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), as NumPy counts it: element i of a call is made of
// number i from a place of the stream on, whichever thread makes it. A thread makes all elements of one block of four numbers.
typedef unsigned long long pygpu_u64;

// Where a stream is, as a captured launch finds it in memory: the counter, the number within its block, and the half of a
// number that is left of the last one, if any.
struct pygpu_place {
    pygpu_u64 counter[4], number, has_half, half, unused;
};

static __device__ __forceinline__ pygpu_u64 pygpu_product(pygpu_u64 a, pygpu_u64 b, pygpu_u64 &high) {
    high = __umul64hi(a, b);
    return a * b;
}

#define PYGPU_FACTOR0 0xD2E7470EE14C6C93ull
#define PYGPU_FACTOR1 0xCA5A826395121157ull
#define PYGPU_KEY0 0x9E3779B97F4A7C15ull
#define PYGPU_KEY1 0xBB67AE8584CAA73Bull

static __device__ __forceinline__ void pygpu_rounds(pygpu_u64 *c, pygpu_u64 k0, pygpu_u64 k1, int first) {
#pragma unroll
    for (int round = first; round < 10; round++) {
        pygpu_u64 high0, high1;
        const pygpu_u64 low0 = pygpu_product(PYGPU_FACTOR0, c[0], high0);
        const pygpu_u64 low1 = pygpu_product(PYGPU_FACTOR1, c[2], high1);
        c[0] = high1 ^ c[1] ^ (k0 + round * PYGPU_KEY0);
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ (k1 + round * PYGPU_KEY1);
        c[3] = low0;
    }
}

static __device__ __forceinline__ void pygpu_philox(pygpu_u64 *c, pygpu_u64 k0, pygpu_u64 k1) { pygpu_rounds(c, k0, k1, 0); }

// What the first two rounds make of all of a counter but its lowest word, which is the same for nearly all blocks of a launch.
struct pygpu_upper {
    pygpu_u64 high, low, low1, mixed;
};

static __device__ __forceinline__ pygpu_upper pygpu_begin(const pygpu_u64 *c, pygpu_u64 k0, pygpu_u64 k1) {
    pygpu_upper upper;
    pygpu_u64 high1;
    upper.low1 = pygpu_product(PYGPU_FACTOR1, c[2], high1);
    upper.low = pygpu_product(PYGPU_FACTOR0, high1 ^ c[1] ^ k0, upper.high);
    upper.mixed = c[3] ^ k1;
    return upper;
}

// The numbers of a counter with this lowest word.
static __device__ __forceinline__ void pygpu_finish(pygpu_u64 *c, const pygpu_upper &upper, pygpu_u64 lowest, pygpu_u64 k0,
                                                    pygpu_u64 k1) {
    pygpu_u64 high0, high1;
    const pygpu_u64 low0 = pygpu_product(PYGPU_FACTOR0, lowest, high0);
    c[1] = pygpu_product(PYGPU_FACTOR1, high0 ^ upper.mixed, high1);
    c[0] = high1 ^ upper.low1 ^ (k0 + PYGPU_KEY0);
    c[2] = upper.high ^ low0 ^ (k1 + PYGPU_KEY1);
    c[3] = upper.low;
    pygpu_rounds(c, k0, k1, 2);
}

// The counter, so many blocks on.
static __device__ __forceinline__ void pygpu_later(pygpu_u64 *c, const pygpu_u64 *from, pygpu_u64 blocks) {
    c[0] = from[0] + blocks;
    const pygpu_u64 c1 = from[1] + (c[0] < blocks);
    const pygpu_u64 c2 = from[2] + (c1 < from[1]);
    c[1] = c1;
    c[2] = c2;
    c[3] = from[3] + (c2 < from[2]);
}

#if PYGPU_ADVANCE
// Moves a place on behind a launch that has read it: so many numbers, or of halves so many.
extern "C" __global__ void pygpu_random_advance(pygpu_place *place, pygpu_u64 k0, pygpu_u64 k1, pygpu_u64 count, pygpu_u64 is_halves,
                                                pygpu_u64 is_even) {
    if (threadIdx.x || blockIdx.x || !count) return;
    pygpu_place now = *place;
    pygpu_u64 numbers = count;
    if (is_halves) {
        const pygpu_u64 own = count - now.has_half;
        numbers = own / 2 + own % 2;
        now.has_half = own % 2;
        if (now.has_half) {
            pygpu_u64 last[4];
            const pygpu_u64 at = now.number + numbers - 1;
            pygpu_later(last, now.counter, at / 4);
            pygpu_philox(last, k0, k1);
            now.half = last[at % 4] >> 32;
        } else {
            now.half = 0;
        }
    }
    if (is_even) now.number += now.number % 2;
    now.number += numbers;
    pygpu_later(place->counter, now.counter, now.number / 4);
    place->number = now.number % 4;
    place->has_half = now.has_half;
    place->half = now.half;
}
#else

// What a kernel is told of the numbers it makes.
struct pygpu_task {
    pygpu_u64 k0, k1, range, threshold, base;
    double a, b;
};

// Numbers of an element's own, for those that need any number of them: of a part of the stream that nobody comes to.
static __device__ inline void pygpu_aside(pygpu_u64 *words, const pygpu_u64 *counter, int lane, pygpu_u64 attempt,
                                          const pygpu_task &task) {
    words[0] = counter[0];
    words[1] = counter[1];
    words[2] = attempt * 16 + lane;
    words[3] = 0xA51DEull << 44 ^ counter[2] ^ counter[3] << 8;
    pygpu_philox(words, task.k0, task.k1);
}

static __device__ __forceinline__ double pygpu_unit(pygpu_u64 x) { return (double)(x >> 11) * (1.0 / 9007199254740992.0); }
static __device__ __forceinline__ float pygpu_unit(unsigned x) { return (float)(x >> 8) * (1.0f / 16777216.0f); }
// Never 0.
static __device__ __forceinline__ double pygpu_open(pygpu_u64 x) {
    return ((double)(x >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}
static __device__ __forceinline__ float pygpu_open(unsigned x) { return (float)x * 0x1p-32f + 0x1p-33f; }

#if PYGPU_HALVES
typedef unsigned pygpu_unit_type;
#else
typedef pygpu_u64 pygpu_unit_type;
#endif

#if PYGPU_KIND == PYGPU_POISSON
static __device__ inline double pygpu_poisson(double mean, pygpu_u64 x, const pygpu_u64 *counter, int lane, const pygpu_task &task) {
    if (!(mean > 0)) return 0;
    if (mean < 10) {
        const double u = pygpu_unit(x);
        double count = 0, p = exp(-mean), sum = p;
        while (u > sum && count < 200) {
            count += 1;
            p *= mean / count;
            sum += p;
        }
        return count;
    }
    // Hoermann's transformed rejection (PTRS), as NumPy does it.
    mean = mean < 9e18 ? mean : 9e18;
    const double root = sqrt(mean), logarithm = log(mean);
    const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), least = 0.9277 - 3.6224 / (b - 2);
    for (pygpu_u64 attempt = 0;; attempt++) {
        pygpu_u64 words[4];
        pygpu_aside(words, counter, lane, attempt, task);
        const double u = pygpu_unit(words[0]) - 0.5, v = pygpu_unit(words[1]);
        const double us = 0.5 - fabs(u), count = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= least) return count;
        if (count < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse) - log(a / (us * us) + b) <= -mean + count * logarithm - lgamma(count + 1)) return count;
    }
}
#endif

// One element of one number or half of one.
static __device__ __forceinline__ pygpu_out pygpu_element(pygpu_unit_type x, const pygpu_u64 *counter, int lane,
                                                          const pygpu_task &task) {
#if PYGPU_KIND == PYGPU_RAW
    return (pygpu_out)(task.base + x);
#elif PYGPU_KIND == PYGPU_UNIFORM
    return (pygpu_out)task.a + (pygpu_out)task.b * (pygpu_out)pygpu_unit(x);
#elif PYGPU_KIND == PYGPU_EXPONENTIAL
#if PYGPU_HALVES
    return (pygpu_out)task.b * -logf(pygpu_open(x));
#else
    return (pygpu_out)task.b * -log(pygpu_open(x));
#endif
#elif PYGPU_KIND == PYGPU_BOUNDED
    // Lemire's: the high half of a product; what would make some more likely than others is drawn again.
#if PYGPU_HALVES
    pygpu_u64 product = (pygpu_u64)x * task.range;
    for (pygpu_u64 attempt = 0; (unsigned)product < task.threshold; attempt++) {
        pygpu_u64 words[4];
        pygpu_aside(words, counter, lane, attempt, task);
        product = (words[0] >> 32) * task.range;
    }
    return (pygpu_out)(task.base + (product >> 32));
#else
    pygpu_u64 high, low = pygpu_product(x, task.range, high);
    for (pygpu_u64 attempt = 0; low < task.threshold; attempt++) {
        pygpu_u64 words[4];
        pygpu_aside(words, counter, lane, attempt, task);
        low = pygpu_product(words[0], task.range, high);
    }
    return (pygpu_out)(task.base + high);
#endif
#else
    return (pygpu_out)0;
#endif
}

#if PYGPU_KIND == PYGPU_NORMAL
// Two elements of two numbers (Box and Muller).
static __device__ __forceinline__ void pygpu_pair(pygpu_unit_type x, pygpu_unit_type y, const pygpu_task &task, pygpu_out *to) {
    pygpu_out sine, cosine;
#if PYGPU_HALVES
    // The quick functions err by 2^-21 at most, so where the logarithm is near 0 it is a series in what u is short of 1.
    const float u = pygpu_open(~x), v = pygpu_open(x);
    const float near_1 = v * (2.0f + v * (1.0f + v * 0x1.555556p-1f));
    const float square = v < 0x1p-6f ? near_1 : -1.38629436f * __log2f(u);
    const float radius = square * rsqrtf(square);
    __sincosf((float)(int)y * 1.46291808e-9f, &sine, &cosine);
#else
    const double radius = sqrt(-2.0 * log(pygpu_open(x)));
    sincospi((double)(y >> 11) * (1.0 / 4503599627370496.0), &sine, &cosine);
#endif
    to[0] = (pygpu_out)task.a + (pygpu_out)task.b * (radius * cosine);
    to[1] = (pygpu_out)task.a + (pygpu_out)task.b * (radius * sine);
}
#endif

#define PYGPU_EACH (PYGPU_HALVES ? 8 : 4)
// Two stores of a thread are whole sectors if neighbours swap one each.
#if defined(__PYGPU_CPU__)
#define PYGPU_SWAPS 0
#elif defined(__HIP__)
#define PYGPU_SWAPS 1
#define PYGPU_SWAP(value) __shfl_xor(value, 1)
#else
#define PYGPU_SWAPS 1
#define PYGPU_SWAP(value) __shfl_xor_sync(~0u, value, 1)
#endif

struct __align__(16) pygpu_vector {
    unsigned part[4];
};

union pygpu_block_of_elements {
    pygpu_out element[PYGPU_EACH];
    pygpu_vector vector[PYGPU_EACH * sizeof(pygpu_out) < 16 ? 1 : PYGPU_EACH * sizeof(pygpu_out) / 16];
};

extern "C" __global__ void __launch_bounds__(PYGPU_THREADS)
    PYGPU_NAME(pygpu_out *out, pygpu_u64 count, const pygpu_place *kept, pygpu_place place, pygpu_task task, const pygpu_out *means) {
    __shared__ pygpu_out turned[PYGPU_THREADS * PYGPU_EACH];
    if (kept) place = *kept;
#if PYGPU_KIND == PYGPU_NORMAL && !PYGPU_HALVES
    place.number += place.number % 2;
#endif
    // Elements are numbered from the beginning of the first block, and begin at this one of it.
    long long first = (long long)place.number * (PYGPU_EACH / 4);
#if PYGPU_SHARES
    if (place.has_half) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            out[0] = pygpu_element((unsigned)place.half, place.counter, 15, task);
        first -= 1;
    }
    const long long least = (long long)place.has_half;
#else
    const long long least = 0;
#endif
    // Each of two threads that swap writes 16 bytes of one block and 16 of the other.
    const bool is_straight = first == 0 && least == 0 && PYGPU_EACH * sizeof(pygpu_out) == 32 && (size_t)out % 16 == 0;
    const pygpu_u64 blocks = (count + first + PYGPU_EACH - 1) / PYGPU_EACH;
    const pygpu_u64 step = (pygpu_u64)gridDim.x * PYGPU_THREADS;
    pygpu_upper upper = pygpu_begin(place.counter, task.k0, task.k1);
    for (pygpu_u64 start = (pygpu_u64)blockIdx.x * PYGPU_THREADS; start < blocks; start += step) {
        const pygpu_u64 own = start + threadIdx.x;
        pygpu_u64 c[4], counter[4];
        pygpu_later(counter, place.counter, own);
        if (counter[0] < own) upper = pygpu_begin(counter, task.k0, task.k1);
        pygpu_finish(c, upper, counter[0], task.k0, task.k1);
        pygpu_block_of_elements made;
#pragma unroll
        for (int i = 0; i < 4; i++) {
#if PYGPU_KIND == PYGPU_NORMAL && PYGPU_HALVES
            pygpu_pair((unsigned)c[i], (unsigned)(c[i] >> 32), task, made.element + 2 * i);
#elif PYGPU_KIND == PYGPU_NORMAL
            if (i % 2 == 0) pygpu_pair(c[i], c[i + 1], task, made.element + i);
#elif PYGPU_KIND == PYGPU_POISSON
            const long long at = (long long)own * 4 + i - first;
            const bool is_own = at >= 0 && (pygpu_u64)at < count;
            made.element[i] = (pygpu_out)pygpu_poisson(means && is_own ? (double)means[at] : task.a, c[i], counter, i, task);
#elif PYGPU_HALVES
            made.element[2 * i] = pygpu_element((unsigned)c[i], counter, 2 * i, task);
            made.element[2 * i + 1] = pygpu_element((unsigned)(c[i] >> 32), counter, 2 * i + 1, task);
#else
            made.element[i] = pygpu_element(c[i], counter, i, task);
#endif
        }
        if (is_straight && (start + PYGPU_THREADS) * PYGPU_EACH <= count) {
            pygpu_vector *to = (pygpu_vector *)out + start * 2;
#if PYGPU_SWAPS
            const bool is_odd = threadIdx.x % 2;
            pygpu_vector kept_back, given;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const unsigned low = made.vector[0].part[i], high = made.vector[1].part[i];
                kept_back.part[i] = is_odd ? high : low;
                given.part[i] = PYGPU_SWAP(is_odd ? low : high);
            }
            // The even thread has the first halves of both blocks, the odd one the second; they write one block, and then the other.
            to += threadIdx.x / 2 * 4 + is_odd;
            to[0] = is_odd ? given : kept_back;
            to[2] = is_odd ? kept_back : given;
#else
            to[threadIdx.x * 2] = made.vector[0];
            to[threadIdx.x * 2 + 1] = made.vector[1];
#endif
            continue;
        }
        // Elements that begin anywhere are put in their order by shared memory.
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
#endif
