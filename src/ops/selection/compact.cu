// Processes the true elements of a mask, whose bytes are contiguous from `mask` on. The first tile begins `head` bytes
// before the mask, at a multiple of 16 bytes; a tile has 16 bytes for each thread.
#if PYGPU_STEP == 2
#define PYGPU_THREADS 1024
#else
#define PYGPU_THREADS 256
#endif
#define PYGPU_EACH 8
#define PYGPU_TILE 4096
#define PYGPU_TILES 4

typedef long long pygpu_long;

struct alignas(16) pygpu_marks { unsigned word[4]; };

// Returns a bit mask of the bytes of a word that are not 0; bit 0 stands for the lowest byte.
static __device__ inline unsigned pygpu_some(unsigned word) {
    const unsigned high = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
    return ((high >> 7) * 0x01020408u) >> 24;
}

// Returns a bit mask of the true elements among 16 elements; bit 0 stands for the first element. Elements outside the
// mask are not read.
static __device__ inline unsigned pygpu_true(const unsigned char *mask, pygpu_long first, pygpu_long count) {
    unsigned bits = 0;
    if (first >= 0 && first + 16 <= count) {
        const pygpu_marks marks = *(const pygpu_marks *)(mask + first);
#pragma unroll
        for (int at = 0; at < 4; at++) bits |= pygpu_some(marks.word[at]) << (4 * at);
    } else {
        for (int at = 0; at < 16; at++)
            if (first + at >= 0 && first + at < count && mask[first + at]) bits |= 1u << at;
    }
    return bits;
}

#if PYGPU_STEP == 1
// Counts the true elements of each tile.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_count_true(
    const unsigned char *mask, pygpu_long count, pygpu_long head, unsigned *counts, pygpu_long tiles) {
    __shared__ unsigned long long sums[PYGPU_THREADS];
    const unsigned tid = threadIdx.x;
    const pygpu_long tile = (pygpu_long)blockIdx.x * PYGPU_TILES;
    unsigned bits[PYGPU_TILES];
#pragma unroll
    for (int turn = 0; turn < PYGPU_TILES; turn++)
        bits[turn] = pygpu_true(mask, (tile + turn) * PYGPU_TILE + tid * 16 - head, count);
    unsigned long long sum = 0; // 16 bits suffice for the count of each tile, which has fewer than 2^16 elements
#pragma unroll
    for (int turn = 0; turn < PYGPU_TILES; turn++) sum |= (unsigned long long)__popc(bits[turn]) << (16 * turn);
    sums[tid] = sum;
    __syncthreads();
#pragma unroll
    for (unsigned half = PYGPU_THREADS / 2; half; half /= 2) {
        if (tid < half) sums[tid] += sums[tid + half];
        __syncthreads();
    }
    if (tid < PYGPU_TILES && tile + tid < tiles) counts[tile + tid] = (unsigned)(sums[0] >> (16 * tid)) & 0xffffu;
}
#else

// Returns the sum of the numbers `own` of all threads that precede this thread, and stores the sum over all threads in
// `all`. The numbers form rows. A few threads each add up one row, and each thread then adds the sums of all rows
// before its own row. This method needs only two barriers, and does not depend on the warp size.
#define PYGPU_ROW (PYGPU_THREADS > 256 ? 32 : 16)
#define PYGPU_ROWS (PYGPU_THREADS / PYGPU_ROW)
template <class T> static __device__ inline T pygpu_before(T own, T *numbers, T *rows, T &all) {
    const unsigned tid = threadIdx.x;
    T *const place = numbers + tid + tid / PYGPU_ROW;
    *place = own;
    __syncthreads();
    if (tid < PYGPU_ROWS) {
        T *const row = numbers + tid * (PYGPU_ROW + 1);
        T sum = 0;
#pragma unroll
        for (int at = 0; at < PYGPU_ROW; at++) {
            const T next = row[at];
            row[at] = sum;
            sum += next;
        }
        rows[tid] = sum;
    }
    __syncthreads();
    T before = *place;
    all = 0;
#pragma unroll
    for (int row = 0; row < PYGPU_ROWS; row++) {
        const T sum = rows[row];
        if (row < (int)tid / PYGPU_ROW) before += sum;
        all += sum;
    }
    return before;
}

#if PYGPU_STEP == 2
// Computes the index of each tile's first true element among all true elements, and the number of all true elements,
// which the host reads too.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_start_tiles(
    const unsigned *counts, pygpu_long *starts, pygpu_long tiles, pygpu_long *total) {
    __shared__ pygpu_long numbers[PYGPU_THREADS + PYGPU_ROWS], rows[PYGPU_ROWS];
    pygpu_long start = 0;
    for (pygpu_long tile = 0; tile < tiles; tile += PYGPU_THREADS * 16) {
        const pygpu_long first = tile + threadIdx.x * 16;
        unsigned own[16];
        pygpu_long sum = 0, all;
#pragma unroll
        for (int at = 0; at < 16; at++) {
            own[at] = first + at < tiles ? counts[first + at] : 0;
            sum += own[at];
        }
        pygpu_long before = start + pygpu_before(sum, numbers, rows, all);
#pragma unroll
        for (int at = 0; at < 16; at++) {
            if (first + at < tiles) starts[first + at] = before;
            before += own[at];
        }
        start += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        starts[tiles] = start;
        *total = start;
        __threadfence_system();
    }
}
#else

#if PYGPU_UNIT == 16
struct alignas(16) pygpu_unit { unsigned word[4]; };
#elif PYGPU_UNIT == 8
typedef unsigned long long pygpu_unit;
#elif PYGPU_UNIT == 4
typedef unsigned pygpu_unit;
#elif PYGPU_UNIT == 2
typedef unsigned short pygpu_unit;
#else
typedef unsigned char pygpu_unit;
#endif

// Moves the elements of one tile. `listed` contains the positions in the tile at which the mask is true. `base` is the
// index in the mask of the tile's first element; it is negative if the tile begins before the mask.
static __device__ inline void pygpu_move(const unsigned short *listed, unsigned listed_count, pygpu_long base, pygpu_long start,
                                         char *array, char *values, pygpu_long step, const pygpu_walk &walk) {
    for (unsigned from = threadIdx.x; from < listed_count; from += PYGPU_THREADS * PYGPU_EACH) {
#if PYGPU_TASK == 2
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++) {
            const unsigned at = from + turn * PYGPU_THREADS;
            if (at < listed_count) {
                pygpu_walk::number rest = (pygpu_walk::number)(base + listed[at]);
#pragma unroll
                for (int axis = PYGPU_DIMS - 1; axis >= 0; axis--)
                    *(pygpu_long *)(values + axis * step + (start + at) * 8) = (pygpu_long)walk.index(rest, axis);
            }
        }
#else
        pygpu_unit held[PYGPU_EACH];
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++) {
            const unsigned at = from + turn * PYGPU_THREADS;
            if (at < listed_count) {
#if PYGPU_TASK == 0
                held[turn] = *(const pygpu_unit *)(array + walk.offset((pygpu_walk::number)(base + listed[at]), 0));
#else
                held[turn] = *(const pygpu_unit *)(values + (start + at) * step);
#endif
            }
        }
#pragma unroll
        for (int turn = 0; turn < PYGPU_EACH; turn++) {
            const unsigned at = from + turn * PYGPU_THREADS;
            if (at < listed_count) {
#if PYGPU_TASK == 0
                *(pygpu_unit *)(values + (start + at) * step) = held[turn];
#else
                *(pygpu_unit *)(array + walk.offset((pygpu_walk::number)(base + listed[at]), 0)) = held[turn];
#endif
            }
        }
#endif
    }
}

// Task 0 copies the true elements of an array to `values`, task 1 assigns `values` to them, and task 2 computes their
// indices. If `starts` is not null, each thread block processes one tile. Otherwise a single block processes all tiles,
// and stores the number of true elements in `total`. Values are assigned only if the number of true elements equals
// `expected`.
extern "C" __global__ void __launch_bounds__(PYGPU_THREADS) pygpu_move_true(
    const unsigned char *mask, pygpu_long count, pygpu_long head, const pygpu_long *starts, pygpu_long tiles, pygpu_long *total,
    char *array, char *values, pygpu_long step, pygpu_long expected, pygpu_walk walk) {
    __shared__ unsigned numbers[PYGPU_THREADS + PYGPU_ROWS], rows[PYGPU_ROWS];
    __shared__ unsigned short listed[PYGPU_TILE];
    if (starts && expected >= 0 && starts[tiles] != expected) return;
    pygpu_long start = starts ? starts[blockIdx.x] : 0;
    for (pygpu_long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const unsigned bits = pygpu_true(mask, tile * PYGPU_TILE + threadIdx.x * 16 - head, count);
        unsigned all;
        unsigned rank = pygpu_before((unsigned)__popc(bits), numbers, rows, all);
#pragma unroll
        for (int at = 0; at < 16; at++)
            if (bits >> at & 1) listed[rank++] = (unsigned short)(threadIdx.x * 16 + at);
        __syncthreads();
        pygpu_move(listed, all, tile * PYGPU_TILE - head, start, array, values, step, walk);
        start += all;
        __syncthreads();
    }
    if (!starts && threadIdx.x == 0) {
        *total = start;
        __threadfence_system();
    }
}
#endif
#endif
