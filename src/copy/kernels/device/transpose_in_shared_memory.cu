// Transposes planes through shared memory, one unit of up to 16 bytes at a time, with any strides and lengths. Used if
// the kernel of transpose_in_registers.cu cannot be used.
#define AREA (TILE_X * TILE_Y)
#define EACH (AREA / THREADS)
#define READ_STEP (THREADS / TILE_Y)
#define WRITE_STEP (THREADS / TILE_X)
#define PAD (UNIT < 4 ? 4 / UNIT : 1)  // padding of a row, so that units adjacent along y are in different banks

struct Move {
    char *to;                  // a pointer, so that compilers infer that the address is in global memory
    const char *from;
    move_u64 length_x, length_y;
    move_i64 to_x, to_y, from_x, from_y;
    move_u64 tiles_x, tiles_y, blocks;
    pygpu::divisor tiles;      // number of tiles in a plane
    pygpu::divisor strip;      // number of tiles in a strip, which has GROUP rows of tiles
    Axes axes;                 // the axes along which planes repeat
};

extern "C" __global__ void __launch_bounds__(THREADS) move_tiles(Move move) {
    __shared__ Unit tile_units[TILE_Y * (TILE_X + PAD)];
    for (move_u32 block = blockIdx.x; block < move.blocks; block += gridDim.x) {
        move_u32 plane = move.tiles.quotient(block);
        move_u32 tile = block - plane * move.tiles.length;
        move_u32 strip = move.strip.quotient(tile), place = tile - strip * move.strip.length;
        move_u32 left = (move_u32)move.tiles_y - strip * GROUP, rows = left < GROUP ? left : GROUP;
        move_u32 tile_y = strip * GROUP + place % rows, tile_x = place / rows;
        char *to = move.to;
        const char *from = move.from;
        find(move.axes, plane, to, from);
        const move_i64 first_x = (move_i64)tile_x * TILE_X, first_y = (move_i64)tile_y * TILE_Y;
        const int long_x = move.length_x - first_x < TILE_X ? (int)(move.length_x - first_x) : TILE_X;
        const int long_y = move.length_y - first_y < TILE_Y ? (int)(move.length_y - first_y) : TILE_Y;
        to += first_x * move.to_x + first_y * move.to_y;
        from += first_x * move.from_x + first_y * move.from_y;
        // The lengths of a tile's sides are powers of two and at most THREADS. Therefore a thread reads all its units
        // at one index along y, and writes all its units at one index along x.
        const int read_y = threadIdx.x % TILE_Y, read_x = threadIdx.x / TILE_Y;
        const int write_x = threadIdx.x % TILE_X, write_y = threadIdx.x / TILE_X;
        const char *source = from + read_x * move.from_x + read_y * move.from_y;
        char *target = to + write_x * move.to_x + write_y * move.to_y;
        const move_i64 source_step = move.from_x * READ_STEP, target_step = move.to_y * WRITE_STEP;
        Unit held[EACH];
        if (long_x == TILE_X && long_y == TILE_Y) {
#pragma unroll
            for (int k = 0; k < EACH; k++) held[k] = *(const Unit *)(source + k * source_step);
        } else {
#pragma unroll
            for (int k = 0; k < EACH; k++)
                if (read_x + k * READ_STEP < long_x && read_y < long_y)
                    held[k] = *(const Unit *)(source + k * source_step);
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) tile_units[read_y * (TILE_X + PAD) + read_x + k * READ_STEP] = held[k];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (write_x < long_x && write_y + k * WRITE_STEP < long_y)
                *(Unit *)(target + k * target_step) = tile_units[(write_y + k * WRITE_STEP) * (TILE_X + PAD) + write_x];
        __syncthreads();
    }
}
