// Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) with NumPy's numbering: element i
// of a call is computed from number i after the stream's position, by any thread. A thread computes all elements of one
// block, which has four numbers.
typedef unsigned long long pygpu_u64;

// Position in a random stream. A captured launch reads the position from memory. It consists of the counter, the index
// of the next number in the counter's block, and, if `has_half` is set, the unused half of the last number.
struct pygpu_place {
    pygpu_u64 counter[4], number, has_half, half, unused;
};

#if defined(__CUDA_ARCH__)
// Computes a product from four products of 32-bit halves with carries. Two separate multiplications for the upper and
// the lower 64 bits compile to slower code: with this function a kernel writes 4 % more bytes per second (H200, CUDA
// 13.0).
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

// The keys of all Philox rounds, in 32-bit halves.
struct pygpu_keys {
    unsigned of[10][4];
};

// Returns the exclusive or of two numbers and a key, computed in 32-bit halves. An instruction can thus read the key
// directly from the kernel's parameters, which costs nothing.
static __device__ __forceinline__ pygpu_u64 pygpu_mixed(pygpu_u64 a, pygpu_u64 b, const unsigned *key) {
    const unsigned low = (unsigned)a ^ (unsigned)b ^ key[0], high = (unsigned)(a >> 32) ^ (unsigned)(b >> 32) ^ key[1];
    return (pygpu_u64)high << 32 | low;
}

// Applies Philox's rounds, from number `first` on, to a counter. The counter becomes the four random numbers of its
// block.
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

// Intermediate results of Philox's first two rounds that depend on all words of a counter except the lowest. They are
// equal for nearly all blocks of random numbers of a launch.
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

// Computes the counter of the block that is `blocks` blocks of four random numbers after the block of the counter
// `from`.
static __device__ __forceinline__ void pygpu_later(pygpu_u64 *c, const pygpu_u64 *from, pygpu_u64 blocks) {
    c[0] = from[0] + blocks;
    const pygpu_u64 c1 = from[1] + (c[0] < blocks);
    const pygpu_u64 c2 = from[2] + (c1 < from[1]);
    c[1] = c1;
    c[2] = c2;
    c[3] = from[3] + (c2 < from[2]);
}
