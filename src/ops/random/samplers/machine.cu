// Operations of the samplers, which machine.rs defines for the host. Each is exact or rounded once.
// Long samplers call shared functions instead of including them at each draw, which takes three times as long to compile.
#if PYGPU_IS_LONG
#define PYGPU_REFILL __device__ __noinline__
#define PYGPU_SHARED static __device__ __noinline__
#else
#define PYGPU_REFILL __device__ __forceinline__
#define PYGPU_SHARED static __device__ inline
#endif

struct pygpu_words {
    const pygpu_keys &keys;
    pygpu_u64 counter[4], words[4];
    int used;

    // The words of lane `lane` of the block `blocks` blocks after a position. Their counters are outside the part of
    // the stream that calls use.
    __device__ __forceinline__ pygpu_words(const pygpu_place &place, pygpu_u64 blocks, pygpu_u64 lane, const pygpu_keys &keys)
        : keys(keys), used(4) {
        pygpu_later(counter, place.counter, blocks);
        counter[3] = 0xA51DEull << 44 ^ counter[2] ^ counter[3] << 8;
        counter[2] = lane;
    }

    PYGPU_REFILL void refill() {
        for (int i = 0; i < 4; i++) words[i] = counter[i];
        pygpu_rounds(words, keys, 0);
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
};

namespace pygpu_random {
typedef unsigned long long u64;
typedef long long i64;
typedef pygpu_words Words;
struct Pair {
    double sine, cosine;
};
#define PYGPU_OPERATION static __device__ __forceinline__
#define PYGPU_FUNCTION static __device__ inline
PYGPU_OPERATION Pair pair(double sine, double cosine) { return Pair{sine, cosine}; }
PYGPU_OPERATION double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }
PYGPU_OPERATION double not_a_number() { return __longlong_as_double(0x7ff8000000000000ll); }
PYGPU_OPERATION double choose(bool condition, double a, double b) { return condition ? a : b; }
PYGPU_OPERATION float fma32(float a, float b, float c) { return fmaf(a, b, c); }
PYGPU_OPERATION float fabs32(float x) { return fabsf(x); }
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
