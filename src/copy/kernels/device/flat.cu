// Any layout: each unit's place is found from its number. WIDE where there are 2^31 units or more.
#define EACH 4

#if WIDE
typedef move_u64 Number;
#else
typedef move_u32 Number;
#endif

struct Move {
    char *to;                  // pointers, so that compilers know the memory as global
    const char *from;
    move_u64 units;
    Axis axes[DIMS];   // outermost first
    VALUE
};

// Where a unit is along the last axis.
__device__ inline move_u64 along_last(const Move &move, Number number) {
#if WIDE
    return number % move.axes[DIMS - 1].length.length;
#else
    return number - move.axes[DIMS - 1].length.quotient(number) * (Number)move.axes[DIMS - 1].length.length;
#endif
}

__device__ inline void find(const Move &move, Number number, char *&to, const char *&from) {
#pragma unroll
    for (int d = DIMS - 1; d > 0; d--) {
#if WIDE
        Number outer = number / move.axes[d].length.length;
#else
        Number outer = move.axes[d].length.quotient(number);
#endif
        move_i64 index = number - outer * (Number)move.axes[d].length.length;
        to += index * move.axes[d].to;
        from += index * move.axes[d].from;
        number = outer;
    }
    to += (move_i64)number * move.axes[0].to;
    from += (move_i64)number * move.axes[0].from;
}

extern "C" __global__ void __launch_bounds__(THREADS) move_flat(Move move) {
    const Number units = (Number)move.units, stride = (Number)gridDim.x * (THREADS * EACH);
    for (Number start = (Number)blockIdx.x * (THREADS * EACH); start < units; start += stride) {
        Unit held[EACH];
        char *to[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            Number number = start + k * THREADS + threadIdx.x;
            const char *from = move.from;
            to[k] = move.to;
            if (number < units) {
                find(move, number, to[k], from);
                held[k] = UNIT_FROM(move, along_last(move, number), from);
            }
        }
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (start + k * THREADS + threadIdx.x < units) *(Unit *)to[k] = held[k];
    }
}
