// Copies like strided_copy.cu, but a table contains the byte offsets along one axis. The offsets apply to the source
// (`a[indices]`), or with WRITTEN to the target (`a[indices] = b`). With WRITTEN, the offset SKIPPED marks an
// assignment that a later assignment to the same position replaces. With DIRECT, the table is the index array itself,
// which must be contiguous and the only index array.
#define EACH 4
#define SKIPPED ((move_i64)1 << 63)

typedef Axes::number Number;

struct Move {
    char *to;
    const char *from;
#if DIRECT
    const Index *table;
    move_u64 units;
    move_u64 *refused;       // set to 1 if an index is out of range; the host reads it
    move_i64 length, stride; // length and stride of the indexed axis
#else
    const move_i64 *table;
    move_u64 units;
#endif
    Axes axes; // the array to which the table's offsets apply has step 0 along the table's axis
};

__device__ inline bool select(const Move &move, Number number, char *&to, const char *&from, bool &is_refused) {
    bool is_kept = true;
#pragma unroll
    for (int d = DIMS - 1; d >= 0; d--) {
        const move_i64 index = move.axes.index(number, d);
        to += index * move.axes.step[TO][d];
        from += index * move.axes.step[FROM][d];
        if (d == TABLE) {
#if WRITTEN
            const move_i64 place = move.table[index];
            is_kept = place != SKIPPED;
            to += is_kept ? place : 0;
#elif DIRECT
            from += move_place(move.table[index], move.length, is_refused) * move.stride;
#else
            from += move.table[index];
#endif
        }
    }
    return is_kept;
}

extern "C" __global__ void __launch_bounds__(THREADS) move_select(Move move) {
    bool is_refused = false;
    const Number units = (Number)move.units, stride = (Number)gridDim.x * (THREADS * EACH);
    for (Number start = (Number)blockIdx.x * (THREADS * EACH); start < units; start += stride) {
        Unit held[EACH];
        char *to[EACH];
        bool is_kept[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            Number number = start + k * THREADS + threadIdx.x;
            const char *from = move.from;
            to[k] = move.to;
            is_kept[k] = number < units;
            if (is_kept[k]) {
                is_kept[k] = select(move, number, to[k], from, is_refused);
                if (is_kept[k]) held[k] = *(const Unit *)from;
            }
        }
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (is_kept[k]) *(Unit *)to[k] = held[k];
    }
#if DIRECT
    if (is_refused) *move.refused = 1; // the host then raises an IndexError
#endif
}
