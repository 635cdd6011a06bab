// Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) with NumPy's numbering: element i
// of a call is computed from number i after the stream's position, by any thread. A thread computes all elements of one
// block, which has four numbers.
typedef unsigned long long pygpu_u64;

// Position in a random stream. A captured launch reads it from memory: the counter, the index of the next number in the
// counter's block, and, if `has_half` is set, the unused half of the last number.
struct pygpu_place {
    pygpu_u64 counter[4], number, has_half, half, unused;
};

#if defined(__CUDA_ARCH__)
// Computes a product from four products of 32-bit halves with carries. Separate requests for the upper and the lower 64
// bits compile to slower code: this function writes 4 % more bytes per second (H200, CUDA 13.0).
static __device__ __forceinline__ pygpu_u64 pygpu_product(pygpu_u64 a, pygpu_u64 b, pygpu_u64 &high) {
    pygpu_u64 low;
    asm("{\n\t.reg .u32 a0, a1, b0, b1, u0, u1, u2, w0, w1, v0, v1;\n\t.reg .u64 t;\n\t"
        "mov.b64 {a0, a1}, %2;\n\tmov.b64 {b0, b1}, %3;\n\t"
        "mul.wide.u32 t, a1, b0;\n\tmov.b64 {u0, u1}, t;\n\t"
        "mad.lo.cc.u32 u0, a0, b1, u0;\n\tmadc.hi.cc.u32 u1, a0, b1, u1;\n\taddc.u32 u2, 0, 0;\n\t"
        "mul.wide.u32 t, a0, b0;\n\tmov.b64 {w0, w1}, t;\n\t"
        "add.cc.u32 w1, w1, u0;\n\t"
        "madc.lo.cc.u32 v0, a1, b1, u1;\n\tmadc.hi.u32 v1, a1, b1, u2;\n\t"
        "mov.b64 %0, {w0, w1};\n\tmov.b64 %1, {v0, v1};\n\t}"
        : "=l"(low), "=l"(high) : "l"(a), "l"(b));
    return low;
}
#else
static __device__ __forceinline__ pygpu_u64 pygpu_product(pygpu_u64 a, pygpu_u64 b, pygpu_u64 &high) {
    high = __umul64hi(a, b);
    return a * b;
}
#endif

#define PYGPU_FACTOR0 0xD2E7470EE14C6C93ull
#define PYGPU_FACTOR1 0xCA5A826395121157ull

// The keys of all rounds, in 32-bit halves.
struct pygpu_keys {
    unsigned of[10][4];
};

// Combines both 32-bit halves separately. The key is thus an operand in the kernel's parameters, which costs nothing.
static __device__ __forceinline__ pygpu_u64 pygpu_mixed(pygpu_u64 a, pygpu_u64 b, const unsigned *key) {
    const unsigned low = (unsigned)a ^ (unsigned)b ^ key[0], high = (unsigned)(a >> 32) ^ (unsigned)(b >> 32) ^ key[1];
    return (pygpu_u64)high << 32 | low;
}

// Applies the rounds from `first` on to a counter, which becomes the four numbers of its block.
static __device__ __forceinline__ void pygpu_rounds(pygpu_u64 *c, const pygpu_keys &keys, int first) {
#pragma unroll
    for (int round = first; round < 10; round++) {
        pygpu_u64 high0, high1;
        const pygpu_u64 low0 = pygpu_product(PYGPU_FACTOR0, c[0], high0);
        const pygpu_u64 low1 = pygpu_product(PYGPU_FACTOR1, c[2], high1);
        c[0] = pygpu_mixed(high1, c[1], keys.of[round]);
        c[1] = low1;
        c[2] = pygpu_mixed(high0, c[3], keys.of[round] + 2);
        c[3] = low0;
    }
}

// Results of the first two rounds that depend on all words of a counter except the lowest. They are equal for nearly
// all blocks of a launch.
struct pygpu_upper {
    pygpu_u64 high, low, low1, mixed;
};

static __device__ __forceinline__ pygpu_upper pygpu_begin(const pygpu_u64 *c, const pygpu_keys &keys) {
    pygpu_upper upper;
    pygpu_u64 high1;
    upper.low1 = pygpu_mixed(pygpu_product(PYGPU_FACTOR1, c[2], high1), 0, keys.of[1]);
    upper.low = pygpu_product(PYGPU_FACTOR0, pygpu_mixed(high1, c[1], keys.of[0]), upper.high);
    upper.high = pygpu_mixed(upper.high, 0, keys.of[1] + 2);
    upper.mixed = pygpu_mixed(c[3], 0, keys.of[0] + 2);
    return upper;
}

// Computes the numbers of a counter from `upper` and the product of the counter's lowest word, `low0` and `high0`.
static __device__ __forceinline__ void pygpu_finish(pygpu_u64 *c, const pygpu_upper &upper, pygpu_u64 low0, pygpu_u64 high0,
                                                    const pygpu_keys &keys) {
    pygpu_u64 high1;
    c[1] = pygpu_product(PYGPU_FACTOR1, high0 ^ upper.mixed, high1);
    c[0] = high1 ^ upper.low1;
    c[2] = upper.high ^ low0;
    c[3] = upper.low;
    pygpu_rounds(c, keys, 2);
}

// Computes the counter that is `blocks` blocks after `from`.
static __device__ __forceinline__ void pygpu_later(pygpu_u64 *c, const pygpu_u64 *from, pygpu_u64 blocks) {
    c[0] = from[0] + blocks;
    const pygpu_u64 c1 = from[1] + (c[0] < blocks);
    const pygpu_u64 c2 = from[2] + (c1 < from[1]);
    c[1] = c1;
    c[2] = c2;
    c[3] = from[3] + (c2 < from[2]);
}

#if PYGPU_ADVANCE
// Advances a position by the numbers of a launch that has read it: `count` numbers, or `count` halves of numbers.
extern "C" __global__ void pygpu_random_advance(pygpu_place *place, pygpu_keys keys, pygpu_u64 count, pygpu_u64 is_halves,
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
            pygpu_rounds(last, keys, 0);
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

// Parameters that the elements are computed with.
struct pygpu_task {
    pygpu_keys keys;
    pygpu_u64 range, threshold, base;
    double a, b;
    float a32, b32;
};

// A block of numbers: the position of the launch, and the block's index after that position.
struct pygpu_block {
    const pygpu_place &place;
    pygpu_u64 number;
};

// Computes further numbers for an element, if a distribution needs an unlimited count of them. Their counters are
// outside the part of the stream that calls use.
static __device__ inline void pygpu_aside(pygpu_u64 *words, const pygpu_block &block, int lane, pygpu_u64 attempt,
                                          const pygpu_task &task) {
    pygpu_u64 counter[4];
    pygpu_later(counter, block.place.counter, block.number);
    words[0] = counter[0];
    words[1] = counter[1];
    words[2] = attempt * 16 + lane;
    words[3] = 0xA51DEull << 44 ^ counter[2] ^ counter[3] << 8;
    pygpu_rounds(words, task.keys, 0);
}

static __device__ __forceinline__ double pygpu_unit(pygpu_u64 x) { return (double)(x >> 11) * (1.0 / 9007199254740992.0); }
// Never returns 0.
static __device__ __forceinline__ double pygpu_open(pygpu_u64 x) {
    return ((double)(x >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}
static __device__ __forceinline__ float pygpu_open(unsigned x) { return fmaf((float)x, 0x1p-32f, 0x1p-33f); }

#if PYGPU_HALVES
typedef unsigned pygpu_unit_type;
#else
typedef pygpu_u64 pygpu_unit_type;
#endif

#if PYGPU_KIND == PYGPU_POISSON
static __device__ inline double pygpu_poisson(double mean, pygpu_u64 x, const pygpu_block &block, int lane, const pygpu_task &task) {
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
    // Hoermann's transformed rejection (PTRS), as in NumPy.
    mean = mean < 9e18 ? mean : 9e18;
    const double root = sqrt(mean), logarithm = log(mean);
    const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), least = 0.9277 - 3.6224 / (b - 2);
    for (pygpu_u64 attempt = 0;; attempt++) {
        pygpu_u64 words[4];
        pygpu_aside(words, block, lane, attempt, task);
        const double u = pygpu_unit(words[0]) - 0.5, v = pygpu_unit(words[1]);
        const double us = 0.5 - fabs(u), count = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= least) return count;
        if (count < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse) - log(a / (us * us) + b) <= -mean + count * logarithm - lgamma(count + 1)) return count;
    }
}
#endif

#if PYGPU_KIND == PYGPU_BOUNDED
// Lemire's method: the upper half of a product. Numbers that would make some results more likely than others are
// rejected.
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

// Returns the first result that is not rejected, from number `x` or from further numbers of the element.
static __device__ __forceinline__ pygpu_out pygpu_accepted(pygpu_unit_type x, const pygpu_block &block, int lane,
                                                           const pygpu_task &task) {
    pygpu_unit_type low;
    pygpu_u64 found = pygpu_bounded(x, task.range, low);
#pragma unroll 1
    for (pygpu_u64 attempt = 0; low < (pygpu_unit_type)task.threshold; attempt++) {
        pygpu_u64 words[4];
        pygpu_aside(words, block, lane, attempt, task);
        found = pygpu_bounded(words[0] >> (PYGPU_HALVES ? 32 : 0), task.range, low);
    }
    return (pygpu_out)(task.base + found);
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
#elif PYGPU_KIND == PYGPU_EXPONENTIAL
#if PYGPU_HALVES
    return task.b32 * -logf(pygpu_open(x));
#else
    return task.b * -log(pygpu_open(x));
#endif
#elif PYGPU_KIND == PYGPU_BOUNDED
    return pygpu_accepted(x, block, lane, task);
#else
    return (pygpu_out)0;
#endif
}

#if PYGPU_KIND == PYGPU_NORMAL
// Approximations that treat subnormal numbers as 0, for arguments far from the smallest normal number.
#if defined(__CUDA_ARCH__)
static __device__ __forceinline__ float pygpu_log2(float x) {
    asm("lg2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
static __device__ __forceinline__ float pygpu_root(float x) {
    asm("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
#else
static __device__ __forceinline__ float pygpu_log2(float x) { return __log2f(x); }
static __device__ __forceinline__ float pygpu_root(float x) { return x * rsqrtf(x); }
#endif

// Computes two elements from two numbers (Box and Muller).
static __device__ __forceinline__ void pygpu_pair(pygpu_unit_type x, pygpu_unit_type y, const pygpu_task &task, pygpu_out *to) {
    pygpu_out sine, cosine;
#if PYGPU_HALVES
    // The fast functions have an error of up to 2^-21. Where the logarithm is near 0, a series in v = 1 - u replaces
    // it.
    const float u = pygpu_open(~x), v = pygpu_open(x);
    const float near_1 = v * fmaf(v, fmaf(v, 0x1.555556p-1f, 1.0f), 2.0f);
    const float square = v < 0x1p-6f ? near_1 : -1.38629436f * pygpu_log2(u);
    const float a = task.a32, radius = task.b32 * pygpu_root(square);
    __sincosf((float)(int)y * 1.46291808e-9f, &sine, &cosine);
#else
    const double a = task.a, radius = task.b * sqrt(-2.0 * log(pygpu_open(x)));
    sincospi((double)(y >> 11) * (1.0 / 4503599627370496.0), &sine, &cosine);
#endif
    to[0] = fma(radius, cosine, a);
    to[1] = fma(radius, sine, a);
}
#endif

#define PYGPU_EACH (PYGPU_HALVES ? 8 : 4)
// Number of 16-byte stores for the elements of a block of numbers.
#define PYGPU_VECTORS (PYGPU_EACH * PYGPU_BYTES / 16)
// Whether the fast loop is compiled. Poisson elements take so long to compute that the general loop suffices.
#define PYGPU_QUICK (PYGPU_VECTORS > 0 && PYGPU_KIND != PYGPU_POISSON)

struct __align__(16) pygpu_vector {
    unsigned part[4];
};

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

// Returns number `i` of a block, or half `i`.
static __device__ __forceinline__ pygpu_unit_type pygpu_unit_of(const pygpu_u64 *c, int i) {
#if PYGPU_HALVES
    return (unsigned)(c[i / 2] >> i % 2 * 32);
#else
    return c[i];
#endif
}

static __device__ __forceinline__ void pygpu_make(pygpu_block_of_elements &made, const pygpu_u64 *c, const pygpu_block &block,
                                                  const pygpu_task &task) {
#if PYGPU_KIND == PYGPU_NORMAL
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
    // Rejections are rare, so one copy of the code serves all elements.
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

// Adds a step to a 128-bit product.
static __device__ __forceinline__ void pygpu_add(pygpu_u64 &low, pygpu_u64 &high, pygpu_u64 more_low, pygpu_u64 more_high) {
#if defined(__CUDA_ARCH__)
    asm("add.cc.u64 %0, %0, %2;\n\taddc.u64 %1, %1, %3;" : "+&l"(low), "+l"(high) : "l"(more_low), "l"(more_high));
#else
    low += more_low;
    high += more_high + (low < more_low);
#endif
}

// The second number is the minimum of resident thread blocks. They gain more than the registers that they leave unused.
#if !defined(__CUDA_ARCH__)
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS)
#elif PYGPU_KIND == PYGPU_BOUNDED || PYGPU_KIND == PYGPU_POISSON || (PYGPU_KIND == PYGPU_NORMAL && !PYGPU_HALVES)
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS, 4)
#else
#define PYGPU_BOUNDS __launch_bounds__(PYGPU_THREADS, 6)
#endif

extern "C" __global__ void PYGPU_BOUNDS
    PYGPU_NAME(pygpu_out *out, pygpu_u64 count, const pygpu_place *kept, pygpu_place place, pygpu_task task, const pygpu_out *means) {
    __shared__ __align__(16) pygpu_out turned[PYGPU_THREADS * PYGPU_EACH];
    if (kept) place = *kept;
#if PYGPU_KIND == PYGPU_NORMAL && !PYGPU_HALVES
    place.number += place.number % 2;
#endif
    // Index of the first element, counted from the beginning of the first block of numbers.
    long long first = (long long)place.number * (PYGPU_EACH / 4);
#if PYGPU_SHARES
    if (place.has_half) {
        if (blockIdx.x == 0 && threadIdx.x == 0)
            out[0] = pygpu_element((unsigned)place.half, pygpu_block{place, 0}, 15, task);
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
    // Number of blocks for the fast loop: the upper words of the counter are equal for all of them, and the first block
    // begins at the start of the memory, which is aligned.
    const bool is_straight = first == 0 && least == 0 && (size_t)out % 16 == 0 && place.counter[0] + blocks >= blocks;
    const pygpu_u64 straight = is_straight ? count / PYGPU_EACH : 0;
    if (start + PYGPU_THREADS <= straight) {
        pygpu_u64 high, step_high;
        // The first product grows by a constant from one block of a thread to the next.
        const pygpu_u64 step_low = pygpu_product(PYGPU_FACTOR0, step, step_high);
        pygpu_u64 low = pygpu_product(PYGPU_FACTOR0, place.counter[0] + start + threadIdx.x, high);
        pygpu_vector *to = (pygpu_vector *)out + start * PYGPU_VECTORS;
        // Last address at which a whole thread block of the fast loop can begin.
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
            pygpu_make(made, c, pygpu_block{place, start + threadIdx.x}, task);
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
#if PYGPU_KIND == PYGPU_POISSON
        for (int i = 0; i < 4; i++) {
            const long long at = (long long)own * 4 + i - first;
            const bool is_own = at >= 0 && (pygpu_u64)at < count;
            const double mean = means && is_own ? (double)means[at] : task.a;
            made.element[i] = (pygpu_out)pygpu_poisson(mean, c[i], pygpu_block{place, own}, i, task);
        }
#else
        pygpu_make(made, c, pygpu_block{place, own}, task);
#endif
        // Shared memory moves the elements to their positions in the result, because a call may begin within a block.
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
