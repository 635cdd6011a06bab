// Copies or fills long rows: a thread block copies THREADS * EACH units of up to 16 bytes of one row, and computes the
// row's address once. With AGAIN, thread blocks process the same part of all rows before the next part, so that rows
// with the same source find this source in the caches.
#define EACH (UNIT < 16 ? 8 : 4)

struct Move {
    char *to;                  // a pointer, so that compilers infer that the address is in global memory
    const char *from;
    move_i64 length;           // length of one array row, in units of UNIT bytes
    move_i64 to_step, from_step;
    move_u64 blocks;
    pygpu::divisor within;     // number of thread blocks per row, or with AGAIN number of rows
    Axes axes;                 // the axes along which rows repeat
    VALUE
};

extern "C" __global__ void __launch_bounds__(THREADS) move_lines(Move move) {
    for (move_u32 block = blockIdx.x; block < move.blocks; block += gridDim.x) {
        const move_u32 outer = move.within.quotient(block), inner = block - outer * move.within.length;
        const move_u32 line = AGAIN ? inner : outer, part = AGAIN ? outer : inner;
        move_i64 first = (move_i64)part * (THREADS * EACH) + threadIdx.x;
        char *to = move.to + first * move.to_step;
        const char *from = move.from + first * move.from_step;
        find(move.axes, line, to, from);
        const move_i64 to_stride = move.to_step * THREADS, from_stride = move.from_step * THREADS;
        Unit held[EACH];
        if (first + (EACH - 1) * THREADS < move.length) {
#pragma unroll
            for (int k = 0; k < EACH; k++) held[k] = UNIT_FROM(move, first + k * THREADS, from + k * from_stride);
#pragma unroll
            for (int k = 0; k < EACH; k++) *(Unit *)(to + k * to_stride) = held[k];
        } else {
#pragma unroll
            for (int k = 0; k < EACH; k++)
                if (first + k * THREADS < move.length) held[k] = UNIT_FROM(move, first + k * THREADS, from + k * from_stride);
#pragma unroll
            for (int k = 0; k < EACH; k++)
                if (first + k * THREADS < move.length) *(Unit *)(to + k * to_stride) = held[k];
        }
    }
}
