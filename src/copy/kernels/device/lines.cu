// Long lines: a block moves THREADS * EACH units of one line, and finds the line once. With AGAIN the same part of all lines comes
// before the next part: lines that repeat what is read find it in the caches.
#define EACH (UNIT < 16 ? 8 : 4)

struct Move {
    char *to;                  // pointers, so that compilers know the memory as global
    const char *from;
    move_i64 length;           // units of a line
    move_i64 to_step, from_step;
    move_u64 blocks;
    pygpu::divisor within;     // blocks of a line; with AGAIN lines
    Axes axes;                 // of lines
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
