// Converts index arrays to byte offsets, finds the last assignment to each position, and reports indices out of range.

#define SKIPPED ((move_i64)1 << 63)
struct Move {
    move_i64 *table;
    const char *from;  // the index array
    move_u64 *refused; // set to 1 if an index is out of range; the host reads it
    move_u64 count;
    move_i64 length, stride;  // length and stride of the indexed axis
    pygpu::wide_walk<DIMS, 1> axes; // axes of the index array
};

// Computes the byte offset of each index. If BEGUN is set, the table already contains offsets along other indexed axes,
// to which this kernel adds.
extern "C" __global__ void __launch_bounds__(THREADS) move_places(Move move) {
    const move_u64 stride = (move_u64)gridDim.x * THREADS;
    for (move_u64 number = (move_u64)blockIdx.x * THREADS + threadIdx.x; number < move.count; number += stride) {
        const char *from = move.from;
        move_u64 rest = number;
#pragma unroll
        for (int d = DIMS - 1; d >= 0; d--) from += move.axes.index(rest, d) * move.axes.step[0][d];
        const Index index = *(const Index *)from;
        bool is_refused = false;
        move_i64 place = move_place(index, move.length, is_refused);
        if (is_refused) *move.refused = 1; // the host then raises an IndexError
        place *= move.stride;
#if BEGUN
        place += move.table[number];
#endif
        move.table[number] = place;
    }
}

// Only the last assignment to a position is stored. `owners` receives, for each position, the highest number of an
// assignment to it, counted from 1. With WIDE these numbers have 64 bits, for 2^32 assignments or more.
#if WIDE
typedef move_u64 Owner;
#else
typedef move_u32 Owner;
#endif

extern "C" __global__ void __launch_bounds__(THREADS) move_claim(const move_i64 *places, Owner *owners, move_u64 count) {
    const move_u64 stride = (move_u64)gridDim.x * THREADS;
    for (move_u64 number = (move_u64)blockIdx.x * THREADS + threadIdx.x; number < count; number += stride)
        atomicMax(owners + places[number], (Owner)(number + 1));
}

extern "C" __global__ void __launch_bounds__(THREADS) move_settle(
    const move_i64 *places, const Owner *owners, move_i64 *table, move_u64 count) {
    const move_u64 stride = (move_u64)gridDim.x * THREADS;
    for (move_u64 number = (move_u64)blockIdx.x * THREADS + threadIdx.x; number < count; number += stride)
        if (owners[places[number]] != (Owner)(number + 1)) table[number] = SKIPPED;
}
