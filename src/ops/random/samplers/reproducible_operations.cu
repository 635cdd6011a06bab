// Elementary operations of the samplers on GPUs; reproducible_operations.rs defines the same operations for the host.
// Each result is exact or rounded once. Samplers with long code call shared functions instead of inlining them at each
// draw, because inlining takes up to three times as long to compile. Functions that draw random words are called only
// by the samplers with the most draws: a called function has the words in memory, which makes a gamma-distributed
// number take three times as long.
#if PYGPU_IS_LONG
#define PYGPU_SHARED static __device__ __noinline__
#else
#define PYGPU_SHARED static __device__ inline
#endif
#if PYGPU_CALLS_DRAWS
#define PYGPU_SHARED_DRAW static __device__ __noinline__
#else
#define PYGPU_SHARED_DRAW static __device__ inline
#endif

struct pygpu_four {
    pygpu_u64 of[4];
};

// Computes a block of four random words. The keys of later rounds are computed from the keys of the first round,
// because a called function would read all keys in the kernel's parameters from memory. A loop over the rounds compiles
// in less time than ten copies of a round.
PYGPU_SHARED pygpu_four pygpu_block_of(pygpu_u64 c0, pygpu_u64 c1, pygpu_u64 c2, pygpu_u64 c3, pygpu_u64 key0, pygpu_u64 key1) {
#pragma unroll 1
    for (int round = 0; round < 10; round++) {
        pygpu_u64 high0, high1;
        const pygpu_u64 low0 = pygpu_product(PYGPU_FACTOR0, c0, high0);
        const pygpu_u64 low1 = pygpu_product(PYGPU_FACTOR1, c2, high1);
        c0 = high1 ^ c1 ^ key0;
        c1 = low1;
        c2 = high0 ^ c3 ^ key1;
        c3 = low0;
        key0 += 0x9E3779B97F4A7C15ull;
        key1 += 0xBB67AE8584CAA73Bull;
    }
    return pygpu_four{{c0, c1, c2, c3}};
}

struct pygpu_words {
    pygpu_u64 key[2], counter[4], words[4];
    int used;
    bool is_sine;

    // Returns the words of an element: the words of lane `lane` in the block that is `blocks` blocks after a position.
    // The counters of these words are outside the part of the random stream that other calls use.
    __device__ __forceinline__ pygpu_words(const pygpu_place &place, pygpu_u64 blocks, pygpu_u64 lane, const pygpu_keys &keys)
        : used(4), is_sine(false) {
        for (int i = 0; i < 2; i++) key[i] = (pygpu_u64)keys.of[0][2 * i + 1] << 32 | keys.of[0][2 * i];
        pygpu_later(counter, place.counter, blocks);
        counter[3] = 0xA51DEull << 44 ^ counter[2] ^ counter[3] << 8;
        counter[2] = lane;
    }

    __device__ __forceinline__ void refill() {
        const pygpu_four block = pygpu_block_of(counter[0], counter[1], counter[2], counter[3], key[0], key[1]);
        for (int i = 0; i < 4; i++) words[i] = block.of[i];
        counter[2] += 16;
    }

    __device__ __forceinline__ pygpu_u64 next() {
        if (used == 4) {
            refill();
            used = 0;
        }
        const pygpu_u64 word = used < 2 ? (used ? words[1] : words[0]) : (used == 2 ? words[2] : words[3]);
        used++;
        return word;
    }

    // The Box-Muller method yields two normal numbers, one from the sine and one from the cosine of an angle. Returns
    // whether the next normal number is the one from the sine, and selects the cosine for the following numbers.
    __device__ __forceinline__ bool takes_sine() {
        const bool was_sine = is_sine;
        is_sine = false;
        return was_sine;
    }
};

namespace pygpu_random {
typedef unsigned long long u64;
typedef long long i64;
typedef pygpu_words Words;
struct Pair {
    double sine, cosine;
};
// Parameters of the enclosing function ("hat") in Hoermann's transformed rejection. The hat bounds the density of
// candidates.
struct Hat {
    double a, b, center, least;
};
// Constants of the method of Marsaglia and Tsang for gamma-distributed numbers.
struct Cube {
    double c, d;
};
#define PYGPU_OPERATION static __device__ __forceinline__
#define PYGPU_FUNCTION static __device__ inline
PYGPU_OPERATION Pair pair(double sine, double cosine) { return Pair{sine, cosine}; }
PYGPU_OPERATION Hat hat(double a, double b, double center, double least) { return Hat{a, b, center, least}; }
PYGPU_OPERATION Cube cube(double c, double d) { return Cube{c, d}; }
PYGPU_OPERATION double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
PYGPU_OPERATION double not_a_number() { return __longlong_as_double(0x7ff8000000000000ll); }
PYGPU_OPERATION double choose(bool condition, double a, double b) { return condition ? a : b; }
PYGPU_OPERATION float fma32(float a, float b, float c) { return fmaf(a, b, c); }
PYGPU_OPERATION float fabs32(float x) { return fabsf(x); }
// Quotient and square root for operands and results whose exponents are far from the limits. They are exactly rounded.
// The steps are those of CUDA's own functions, but without the branch for all other operands.
#if defined(__CUDA_ARCH__)
PYGPU_OPERATION double quotient(double a, double b) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    double e = fma(-b, r, 1.0);
    r = fma(r, fma(e, e, e), r);
    e = fma(-b, r, 1.0);
    r = fma(r, e, r);
    const double q = a * r;
    return fma(r, fma(-b, q, a), q);
}
PYGPU_OPERATION double root(double x) {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(x, -(y * y), 1.0);
    y = fma(fma(e, 0.375, 0.5), y * e, y);
    const double s = x * y;
    return fma(fma(-s, s, x), 0.5 * y, s);
}
#else
PYGPU_OPERATION double quotient(double a, double b) { return a / b; }
PYGPU_OPERATION double root(double x) { return sqrt(x); }
#endif
PYGPU_OPERATION double remainder_of(double a, double b) { return fmod(a, b); }
PYGPU_OPERATION u64 bits(double x) { return (u64)__double_as_longlong(x); }
PYGPU_OPERATION double from_bits(u64 x) { return __longlong_as_double((i64)x); }
PYGPU_OPERATION int bits32(float x) { return __float_as_int(x); }
PYGPU_OPERATION float from_bits32(int x) { return __int_as_float(x); }
PYGPU_OPERATION i64 signed_(u64 x) { return (i64)x; }
PYGPU_OPERATION u64 unsigned_(i64 x) { return (u64)x; }
PYGPU_OPERATION int signed32(unsigned x) { return (int)x; }
PYGPU_OPERATION double real(i64 x) { return (double)x; }
PYGPU_OPERATION i64 whole(double x) {
    if (!(x < 9223372036854775808.0)) return x > 0 ? 0x7fffffffffffffffll : 0;
    return x > -9223372036854775808.0 ? (i64)x : -0x7fffffffffffffffll - 1;
}
PYGPU_OPERATION u64 plus(u64 a, u64 b) { return a + b; }
PYGPU_OPERATION u64 less(u64 a, u64 b) { return a - b; }
PYGPU_OPERATION u64 low_product(u64 a, u64 b) { return a * b; }
PYGPU_OPERATION u64 high_product(u64 a, u64 b) { return __umul64hi(a, b); }
}
