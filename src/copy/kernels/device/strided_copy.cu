// Copies or fills any layout in units (loads and stores of up to 16 bytes). Computes the address of each unit from the
// index of the unit. With WIDE, indices have 64 bits, for 2^31 units or more.
#define EACH 4

typedef Axes::number Number;

struct Move {
    char *to;                  // a pointer, so that compilers infer that the address is in global memory
    const char *from;
    move_u64 units;
    Axes axes;
    VALUE
};

// Returns the index that a unit has along the last axis.
__device__ inline move_u64 along_last(const Move &move, Number number) { return move.axes.index(number, DIMS - 1); }

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
                find(move.axes, number, to[k], from);
                held[k] = UNIT_FROM(move, along_last(move, number), from);
            }
        }
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (start + k * THREADS + threadIdx.x < units) *(Unit *)to[k] = held[k];
    }
}
