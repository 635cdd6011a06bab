// Transforms columns of complex numbers whose rows are adjacent in memory. A thread block transforms PYGPU_COLUMNS columns:
// it loads them once, exchanges elements through shared memory between the stages of Stockham's algorithm, and stores them
// once. The preceding text defines
//   PYGPU_BITS, PYGPU_EACH_BITS, PYGPU_COLUMN_BITS: the binary logarithms of the number of points of a transform, of the
//     elements per thread, which is also the largest radix, and of PYGPU_COLUMNS;
//   PYGPU_THREADS: the number of threads of a block, PYGPU_POINTS * PYGPU_COLUMNS / PYGPU_EACH;
//   pygpu_real and PYGPU_BYTES: the type of a complex number's parts, and the number's size;
//   PYGPU_ROOTS: roots of unity, of which every PYGPU_ROOT_STEP-th is a power of the root of a transform;
//   PYGPU_FINE_ROOTS: if the results are multiplied by the factors of a longer transform, the first 2^10 powers of the
//     root of 2^20 points. Otherwise the macro is not defined.

#define PYGPU_POINTS (1 << PYGPU_BITS)
#define PYGPU_EACH (1 << PYGPU_EACH_BITS)
#define PYGPU_COLUMNS (1 << PYGPU_COLUMN_BITS)
// Number of threads that transform one column.
#define PYGPU_LANES (PYGPU_POINTS >> PYGPU_EACH_BITS)

struct __align__(PYGPU_BYTES) pygpu_complex {
    pygpu_real x, y;
};

static __device__ const pygpu_complex pygpu_roots[] = {PYGPU_ROOTS};
#ifdef PYGPU_FINE_ROOTS
static __device__ const pygpu_complex pygpu_fine_roots[] = {PYGPU_FINE_ROOTS};
#endif

// Layout of an array: distances between rows, and between columns that are not adjacent, in elements.
struct pygpu_side {
    long long row, middle, outer;
};

extern __shared__ double pygpu_room[];

static __device__ __forceinline__ pygpu_complex pygpu_times(pygpu_complex a, pygpu_complex b) {
    pygpu_complex made = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
    return made;
}

// The first pass over a piece of a long transform reads elements that no later kernel needs, and the second pass writes such
// elements. They must not displace the piece's intermediate results from the second-level cache.
#if defined(__CUDA_ARCH__)
#if PYGPU_BYTES == 8
typedef float2 pygpu_vector;
#else
typedef double2 pygpu_vector;
#endif
static __device__ __forceinline__ pygpu_complex pygpu_load_once(const pygpu_complex *at) {
    const pygpu_vector read = __ldcs((const pygpu_vector *)at);
    const pygpu_complex made = {read.x, read.y};
    return made;
}

static __device__ __forceinline__ void pygpu_store_once(pygpu_complex *at, pygpu_complex value) {
    pygpu_vector written;
    written.x = value.x;
    written.y = value.y;
    __stcs((pygpu_vector *)at, written);
}
#else
static __device__ __forceinline__ pygpu_complex pygpu_load_once(const pygpu_complex *at) { return *at; }
static __device__ __forceinline__ void pygpu_store_once(pygpu_complex *at, pygpu_complex value) { *at = value; }
#endif

// Returns `a` multiplied by the power `turn` of the root of 16 points, for `turn` from 0 to 7.
static __device__ __forceinline__ pygpu_complex pygpu_turned(pygpu_complex a, int turn) {
    const pygpu_real half = (pygpu_real)0.70710678118654752440, large = (pygpu_real)0.92387953251128675613,
                     small = (pygpu_real)0.38268343236508977173;
    if (turn & 4) {
        pygpu_complex made = {a.y, -a.x};
        a = made;
    }
    const int rest = turn & 3;
    if (rest == 0) return a;
    const pygpu_complex factor = {rest == 1 ? large : small, rest == 1 ? -small : -large};
    if (rest != 2) return pygpu_times(a, factor);
    pygpu_complex made = {half * (a.x + a.y), half * (a.y - a.x)};
    return made;
}

// Transforms 2^bits elements in registers.
template <int bits>
struct pygpu_transform {
    static __device__ __forceinline__ void run(pygpu_complex *v) {
        const int half = 1 << (bits - 1);
        pygpu_complex even[half], odd[half];
#pragma unroll
        for (int i = 0; i < half; i++) {
            even[i] = v[2 * i];
            odd[i] = v[2 * i + 1];
        }
        pygpu_transform<bits - 1>::run(even);
        pygpu_transform<bits - 1>::run(odd);
#pragma unroll
        for (int i = 0; i < half; i++) {
            const pygpu_complex a = even[i], b = pygpu_turned(odd[i], i << (4 - bits));
            v[i].x = a.x + b.x;
            v[i].y = a.y + b.y;
            v[i + half].x = a.x - b.x;
            v[i + half].y = a.y - b.y;
        }
    }
};

template <>
struct pygpu_transform<0> {
    static __device__ __forceinline__ void run(pygpu_complex *) {}
};

// A stage: transforms of radix 2^bits, after stages whose radices have the product 2^done. Lane `lane` of a column has the
// elements `lane + i * PYGPU_LANES` of the stage's input in v[i].
template <int done, int bits>
struct pygpu_stage {
    // Number of transforms of a thread.
    static const int count = PYGPU_EACH >> bits;

    static __device__ __forceinline__ void run(pygpu_complex *v, int lane) {
        const int radix = 1 << bits;
#pragma unroll
        for (int i = 0; i < count; i++) {
            pygpu_complex part[radix], factor[radix];
#pragma unroll
            for (int r = 0; r < radix; r++) part[r] = v[i + r * count];
            if (done > 0) {
                const int turn = ((lane + i * PYGPU_LANES) & ((1 << done) - 1)) * (PYGPU_POINTS >> done >> bits) * PYGPU_ROOT_STEP;
                // Powers of two are loaded and other powers multiplied, because loads cost as much as the exchange.
#pragma unroll
                for (int r = 1; r < radix; r++) {
                    const int high = r >= 8 ? 8 : r >= 4 ? 4 : r >= 2 ? 2 : 1;
                    factor[r] = r == high ? pygpu_roots[turn * r] : pygpu_times(factor[high], factor[r - high]);
                    part[r] = pygpu_times(part[r], factor[r]);
                }
            }
            pygpu_transform<bits>::run(part);
#pragma unroll
            for (int r = 0; r < radix; r++) v[i + r * count] = part[r];
        }
    }

    // Index in shared memory of a row. In rows of 64 bytes, two threads of adjacent lanes must not use the same banks.
    static __device__ __forceinline__ int slot(int row) {
        const bool is_exchanged = PYGPU_COLUMNS * PYGPU_BYTES < 128;
        return (is_exchanged ? row ^ ((row >> PYGPU_EACH_BITS) & 1) : row) << PYGPU_COLUMN_BITS;
    }

    static __device__ __forceinline__ void store(const pygpu_complex *v, pygpu_complex *room, int lane) {
#pragma unroll
        for (int i = 0; i < count; i++) {
            const int at = lane + i * PYGPU_LANES, within = at & ((1 << done) - 1);
            const int first = ((at >> done) << (done + bits)) + within;
#pragma unroll
            for (int r = 0; r < (1 << bits); r++) room[slot(first + (r << done))] = v[i + r * count];
        }
    }

    static __device__ __forceinline__ void load(pygpu_complex *v, const pygpu_complex *room, int lane) {
#pragma unroll
        for (int i = 0; i < PYGPU_EACH; i++) v[i] = room[slot(lane + i * PYGPU_LANES)];
    }
};

// Column `column` begins at `column % inner` + side.middle * (column / inner % middle) + side.outer * (column / inner /
// middle). The inverse transform is the transform of numbers with exchanged parts: bit 0 of `flags` exchanges the parts of the
// input, bit 1 those of the output. Bit 2 marks the second pass of a long transform. `scale` is the quotient of 2^20 by the
// length of the long transform, whose factors depend on the row and on column / inner % middle.
//
// Of the largest blocks, two must fit into a multiprocessor, so that one loads while the other computes.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS, PYGPU_BITS == 10 ? 2 : 1) pygpu_fft_columns(
    const pygpu_complex *in, pygpu_complex *out, pygpu_side from, pygpu_side to, unsigned columns, unsigned inner,
    unsigned middle, unsigned flags, unsigned scale, pygpu_real factor) {
    const int within = threadIdx.x & (PYGPU_COLUMNS - 1), lane = threadIdx.x >> PYGPU_COLUMN_BITS;
    const unsigned column = (blockIdx.x << PYGPU_COLUMN_BITS) + within;
    const bool is_inside = column < columns;
    const unsigned rest = column / inner, adjacent = column - rest * inner;
    const unsigned outer = rest / middle, place = rest - outer * middle;
    pygpu_complex v[PYGPU_EACH];
    if (is_inside) {
        const pygpu_complex *at = in + (adjacent + place * from.middle + outer * from.outer + lane * from.row);
#pragma unroll
        for (int i = 0; i < PYGPU_EACH; i++) {
            const pygpu_complex *one = at + i * (PYGPU_LANES * from.row);
#ifdef PYGPU_FINE_ROOTS
            v[i] = pygpu_load_once(one);
#else
            v[i] = *one;
#endif
        }
    } else {
        const pygpu_complex zero = {0, 0};
#pragma unroll
        for (int i = 0; i < PYGPU_EACH; i++) v[i] = zero;
    }
    if (flags & 1) {
#pragma unroll
        for (int i = 0; i < PYGPU_EACH; i++) {
            const pygpu_complex turned = {v[i].y, v[i].x};
            v[i] = turned;
        }
    }
#if PYGPU_BITS == PYGPU_EACH_BITS
    pygpu_stage<0, PYGPU_BITS>::run(v, lane);
#else
    pygpu_complex *room = (pygpu_complex *)pygpu_room + within;
    typedef pygpu_stage<0, PYGPU_EACH_BITS> pygpu_first;
    pygpu_first::run(v, lane);
    pygpu_first::store(v, room, lane);
    __syncthreads();
    pygpu_first::load(v, room, lane);
#if PYGPU_BITS <= 2 * PYGPU_EACH_BITS
    pygpu_stage<PYGPU_EACH_BITS, PYGPU_BITS - PYGPU_EACH_BITS>::run(v, lane);
#else
    typedef pygpu_stage<PYGPU_EACH_BITS, PYGPU_EACH_BITS> pygpu_second;
    pygpu_second::run(v, lane);
    __syncthreads();
    pygpu_second::store(v, room, lane);
    __syncthreads();
    pygpu_second::load(v, room, lane);
    pygpu_stage<2 * PYGPU_EACH_BITS, PYGPU_BITS - 2 * PYGPU_EACH_BITS>::run(v, lane);
#endif
#endif
    if (!is_inside) return;
    pygpu_complex *at = out + (adjacent + place * to.middle + outer * to.outer + lane * to.row);
#pragma unroll
    for (int i = 0; i < PYGPU_EACH; i++) {
        pygpu_complex one = v[i];
#ifdef PYGPU_FINE_ROOTS
        const unsigned turn = place * (lane + i * PYGPU_LANES) * scale;
        one = pygpu_times(one, pygpu_times(pygpu_roots[turn >> 10], pygpu_fine_roots[turn & 1023]));
#endif
        const pygpu_complex made = {factor * (flags & 2 ? one.y : one.x), factor * (flags & 2 ? one.x : one.y)};
        if (flags & 4)
            pygpu_store_once(at + i * (PYGPU_LANES * to.row), made);
        else
            at[i * (PYGPU_LANES * to.row)] = made;
    }
}
